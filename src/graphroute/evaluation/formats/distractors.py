"""Larger graphs around a base graph: seeded branches that look like its own and change no answer and no path."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphroute.errors import DataError, UsageError
from graphroute.evaluation.formats.gold import check_gold, stored_path_holds
from graphroute.evaluation.formats.graph import BenchGraph, Edge, Node
from graphroute.evaluation.formats.walk import EdgeIndex, solve

LARGE_FACTS = 1_200
"""Facts of a large graph where nothing else is said."""

_TRIES = 12


@dataclass(frozen=True, slots=True)
class Size:
    """Branches begun at each start of a question, from least to most; with `facts`, more of them anywhere until there are that many facts."""

    least: int
    most: int
    facts: int | None = None


SIZES: Mapping[str, Size] = {
    "base": Size(0, 0),
    "small": Size(2, 4),
    "medium": Size(10, 20),
    "large": Size(10, 20, LARGE_FACTS),
}
"""`base` is the graph as it is."""


def enlarged(graph: BenchGraph, size: str, *, seed: int, facts: int | None = None) -> BenchGraph:
    """The graph with distractors behind its own facts, the same for the same seed. `facts`: how many a large one has.

    Every branch is kept only as far as each task has the answers and paths it had. Raises UsageError for an unknown size, DataError if the
    graph admits no branches.
    """
    if size not in SIZES:
        raise UsageError(f"unknown size {size!r}", allowed=", ".join(SIZES))
    wanted = SIZES[size]
    name = graph.name if size == "base" else f"{graph.name}-{size}"
    if size == "base":
        return replace(graph, base=graph.name, size=size)
    growth = _Growth(graph, random.Random(f"{graph.name}:{size}:{seed}"))  # noqa: S311 - repeatable, nothing secret
    starts = dict.fromkeys(start for task in graph.tasks for start in task.query.starts)
    for start in starts or dict.fromkeys(node.id for node in graph.nodes):
        for _ in range(growth.rng.randint(wanted.least, wanted.most)):
            # A start that admits no further fact leaves its branch to another node.
            if not growth.branch(start):
                growth.branch(growth.rng.choice(growth.nodes).id)
    target = (facts or wanted.facts or 0) if wanted.facts else 0
    idle = 0
    while len(growth.edges) < target:
        idle = 0 if growth.branch(growth.rng.choice(growth.nodes).id) else idle + 1
        if idle > 1_000:
            raise DataError(f"{graph.name}: no further branch leaves the answers as they are", where=f"size {size}")
    grown = replace(
        graph,
        name=name,
        nodes=tuple(growth.nodes),
        edges=tuple(growth.edges),
        base=graph.name,
        size=size,
        seed=seed,
    )
    check_gold(grown)
    return grown


class _Growth:
    def __init__(self, graph: BenchGraph, rng: random.Random) -> None:
        self.graph = graph
        self.rng = rng
        self.nodes = list(graph.nodes)
        self.edges = list(graph.edges)
        self._types = {node.id: node.type for node in self.nodes}
        self._index = EdgeIndex(enumerate(self.edges), self._types)
        self._counts: dict[str, int] = {}
        self._extra: dict[str, list[str]] = {}
        self._triples = {edge.triple for edge in self.edges}
        signatures = {(self._types[e.source], e.relation, self._types[e.target]) for e in self.edges}
        self._signatures = sorted(signatures)
        self._tasks = [(task, solve(self._index, task.query)) for task in self.graph.tasks]

    def branch(self, start: str) -> bool:
        """One to four facts away from a node, each joined to the one before; False if not even one is possible.

        What would change an answer is tried another way, then left.
        """
        at, before = start, len(self.edges)
        for _ in range(self.rng.randint(1, 4)):
            for _ in range(_TRIES):
                fact, node = self._fact(at)
                if fact is not None and fact.triple not in self._triples and self._add(fact, node):
                    at = fact.target if fact.source == at else fact.source
                    break
            else:
                break
        return len(self.edges) > before

    def _add(self, fact: Edge, node: Node | None) -> bool:
        """Adds the fact and its new node; False, and nothing is added, if a task would then be answered otherwise."""
        place = len(self.edges)
        if node is not None:
            self._types[node.id] = node.type
        self._index.add(place, fact)
        if not self._same():
            self._index.remove(place)
            if node is not None:
                del self._types[node.id]
            return False
        self.edges.append(fact)
        self._triples.add(fact.triple)
        if node is not None:
            self.nodes.append(node)
            self._counts[node.type] = self._counts.get(node.type, 0) + 1
            self._extra.setdefault(node.type, []).append(node.id)
        return True

    def _fact(self, at: str) -> tuple[Edge | None, Node | None]:
        """A fact between a node and a new one, or now and then another distractor, as the base graph's own facts go."""
        type = self._types[at]
        choices = [(signature, forward) for signature in self._signatures for forward in (True, False)]
        choices = [(s, forward) for s, forward in choices if (s[0] if forward else s[2]) == type]
        if not choices:
            return None, None
        (source, relation, target), forward = self.rng.choice(choices)
        other = target if forward else source
        known = self._extra.get(other, [])
        node = None
        if known and self.rng.random() < 0.3:
            end = self.rng.choice(known)
            if end == at:
                return None, None
        else:
            node = self._node(other)
            end = node.id
        return Edge(source=at if forward else end, relation=relation, target=end if forward else at), node

    def _node(self, type: str) -> Node:
        number = self._counts.get(type, 0)
        pool: Sequence[str] = self.graph.pools.get(type) or (type,)
        name = pool[number % len(pool)]
        if number >= len(pool) or not self.graph.pools.get(type):
            name = f"{name} {number // len(pool) + 1}"
        # Ids go on as those of the base graph do.
        sample = next(node.id for node in self.graph.nodes if node.type == type)
        mark = next((sign for sign in "_-:" if sign in sample), "_")
        return Node(id=f"{sample.split(mark)[0]}{mark}{number + 1:04d}", name=name, type=type)

    def _same(self) -> bool:
        for task, before in self._tasks:
            now = solve(self._index, task.query)
            if now.answers != before.answers or now.mapping != before.mapping or now.paths != before.paths:
                return False
            if not stored_path_holds(task, now):
                return False
        return True
