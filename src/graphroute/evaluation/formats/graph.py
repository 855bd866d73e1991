"""Benchmark graphs: nodes, facts and typed questions with gold, read from YAML or JSON and written as artefacts."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graphroute.errors import DataError
from graphroute.serialization.records import interval_text, parse_instant, parse_interval
from graphroute.strict_yaml import read_strict, validate
from graphroute.types.graph import Direction, SupportSet
from graphroute.types.source import SourceSpan
from graphroute.types.time import ALWAYS, Instant, Interval

Kind = Literal["one", "set", "mapping"]
"""What is asked for: one node, a set of nodes, or for each node of a step the nodes reached from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node with an opaque id; `name` is what people call it."""

    id: str
    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A directed fact. Its identity is its place in the graph's list, so equal facts may stand there twice.

    `assertion`: the id of what states it, if any, with the support sets that prove it. A `negated` fact says that the relation does not hold: it is carried, and never walked.
    """

    source: str
    relation: str
    target: str
    validity: Interval = ALWAYS
    negated: bool = False
    assertion: str = ""
    supports: tuple[SupportSet, ...] = ()

    @property
    def triple(self) -> tuple[str, str, str]:
        """Source, relation and target."""
        return (self.source, self.relation, self.target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One hop: the relation, whether it is walked along or against the fact, and whether it may be walked again and again."""

    relation: str
    direction: Direction
    types: tuple[str, ...] = ()
    repeat: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PathQuery:
    """A typed path from known nodes. `key_step`: how many steps lead to the key of each pair of a mapping."""

    starts: tuple[str, ...]
    steps: tuple[Step, ...]
    key_step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A question about a graph and its gold.

    `texts`: wording by language. `answers`: ids, sorted; empty where the graph holds no whole path, and then `path` is as far as it leads. `path`: places of
    the facts that prove the answer, in order of the walk for one answer, ascending for several.
    """

    id: str
    texts: Mapping[str, str]
    query: PathQuery
    kind: Kind = "one"
    answers: tuple[str, ...] = ()
    mapping: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    path: tuple[int, ...] = ()

    @property
    def insufficient(self) -> bool:
        """True if the right answer is that the graph does not tell."""
        return not self.answers

    def text(self, language: str) -> str:
        """The wording in a language, else the first one there is."""
        return self.texts.get(language) or next(iter(self.texts.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchGraph:
    """Nodes, facts and tasks. `base` and `size`: what it was made from and how large; `seed` of its distractors, if any."""

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    tasks: tuple[Task, ...]
    language: str = "en"
    as_of: Instant = 0
    semantics: tuple[str, ...] = ()
    pools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    base: str = ""
    size: str = "base"
    seed: int | None = None

    @property
    def by_id(self) -> dict[str, Node]:
        """Nodes by id."""
        return {node.id: node for node in self.nodes}

    @property
    def sha256(self) -> str:
        """Hash of nodes and facts in their order: the same graph in every run has the same."""
        value = [
            [[node.id, node.name, node.type] for node in self.nodes],
            [[*edge.triple, interval_text(edge.validity), edge.negated, edge.assertion] for edge in self.edges],
        ]
        return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Node(_Part):
    id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    type: str = Field(min_length=1)


class _Span(_Part):
    source: str
    start: int | None = None
    end: int | None = None


class _Edge(_Part):
    source: str
    relation: str = Field(min_length=1)
    target: str
    valid: str = ".."
    negated: bool = False
    assertion: str = ""
    supports: list[list[_Span]] = []


class _Step(_Part):
    relation: str
    direction: Literal["forward", "backward"]
    types: list[str] = []
    repeat: bool = False


class _Query(_Part):
    starts: list[str] = Field(min_length=1)
    steps: list[_Step] = Field(min_length=1)
    key_step: int | None = None


class _Task(_Part):
    id: str = Field(min_length=1)
    kind: Kind = "one"
    texts: dict[str, str] = Field(min_length=1)
    query: _Query
    answers: list[str] = []
    mapping: dict[str, list[str]] = {}
    path: list[int] = []


class GraphFile(_Part):
    """A graph file as it is written."""

    name: str = Field(min_length=1)
    language: str = "en"
    as_of: str = "1970-01-01"
    semantics: list[str] = []
    nodes: list[_Node] = Field(min_length=1)
    facts: list[_Edge] = Field(min_length=1)
    tasks: list[_Task] = []
    distractors: dict[str, list[str]] = {}
    base: str = ""
    size: str = "base"
    seed: int | None = None


def load_graph(path: Path) -> BenchGraph:
    """The graph of a YAML file, or of an artefact in JSON. Raises ConfigurationError or DataError for one that is wrong, with its place."""
    if path.suffix != ".json":
        return _graph(validate(read_strict(path), GraphFile), str(path))
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", where=str(path)) from error
    return parse_graph(text, str(path))


def parse_graph(text: str, where: str) -> BenchGraph:
    """The graph of a text in JSON. Raises DataError."""
    try:
        given = GraphFile.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise DataError(f"{place}: {first['msg']}" if place else first["msg"], where=where) from error
    return _graph(given, where)


def _graph(given: GraphFile, where: str) -> BenchGraph:
    try:
        graph = BenchGraph(
            name=given.name,
            language=given.language,
            as_of=parse_instant(given.as_of),
            semantics=tuple(given.semantics),
            nodes=tuple(Node(id=node.id, name=node.name, type=node.type) for node in given.nodes),
            edges=tuple(_edge(edge) for edge in given.facts),
            tasks=tuple(_task(task) for task in given.tasks),
            pools={type: tuple(names) for type, names in given.distractors.items()},
            base=given.base,
            size=given.size,
            seed=given.seed,
        )
    except ValueError as error:
        raise DataError(str(error), where=where) from error
    check_graph(graph, where)
    return graph


def _edge(edge: _Edge) -> Edge:
    return Edge(
        source=edge.source,
        relation=edge.relation,
        target=edge.target,
        validity=parse_interval(edge.valid),
        negated=edge.negated,
        assertion=edge.assertion,
        supports=tuple(
            tuple(SourceSpan(span.source, span.start, span.end) for span in support) for support in edge.supports
        ),
    )


def _task(task: _Task) -> Task:
    steps = tuple(
        Step(relation=step.relation, direction=Direction(step.direction), types=tuple(step.types), repeat=step.repeat)
        for step in task.query.steps
    )
    return Task(
        id=task.id,
        kind=task.kind,
        texts=task.texts,
        query=PathQuery(starts=tuple(task.query.starts), steps=steps, key_step=task.query.key_step),
        answers=tuple(sorted(task.answers)),
        mapping={key: tuple(sorted(values)) for key, values in sorted(task.mapping.items())},
        path=tuple(task.path),
    )


def check_graph(graph: BenchGraph, where: str) -> None:
    """Raises DataError for a node given twice, an end or answer that is no node, a node without a fact, or a path beyond the facts."""
    known: set[str] = set()
    for node in graph.nodes:
        if node.id in known:
            raise DataError(f"node {node.id!r} is given twice", where=where)
        known.add(node.id)
    ends = [end for edge in graph.edges for end in (edge.source, edge.target)]
    named = [id for task in graph.tasks for id in (*task.query.starts, *task.answers, *task.mapping)]
    for id in (*ends, *named):
        if id not in known:
            raise DataError(f"{id!r} is no node", where=where)
    if idle := known - set(ends):
        raise DataError(f"node {min(idle)!r} stands in no fact", where=where)
    ids = [task.id for task in graph.tasks]
    if len(set(ids)) != len(ids):
        raise DataError("a task id comes twice", where=where)
    for task in graph.tasks:
        if any(not 0 <= place < len(graph.edges) for place in task.path):
            raise DataError(f"the path of task {task.id} names a fact that is not there", where=where)
        key = task.query.key_step
        if (task.kind == "mapping") != (key is not None) or (key is not None and not 0 < key < len(task.query.steps)):
            raise DataError(
                f"task {task.id}: a mapping has a key_step inside its steps, and nothing else has", where=where
            )


def dump_graph(graph: BenchGraph) -> str:
    """The graph as JSON that `load_graph` reads back."""
    value: dict[str, Any] = {
        "name": graph.name,
        "language": graph.language,
        "as_of": interval_text(Interval(graph.as_of, None))[:-2],
        "semantics": list(graph.semantics),
        "base": graph.base,
        "size": graph.size,
        "seed": graph.seed,
        "nodes": [{"id": node.id, "name": node.name, "type": node.type} for node in graph.nodes],
        "facts": [_dumped(edge) for edge in graph.edges],
        "tasks": [
            {
                "id": task.id,
                "kind": task.kind,
                "texts": dict(task.texts),
                "query": {
                    "starts": list(task.query.starts),
                    "steps": [
                        {
                            "relation": step.relation,
                            "direction": step.direction.value,
                            "types": list(step.types),
                            "repeat": step.repeat,
                        }
                        for step in task.query.steps
                    ],
                    "key_step": task.query.key_step,
                },
                "answers": list(task.answers),
                "mapping": {key: list(values) for key, values in task.mapping.items()},
                "path": list(task.path),
            }
            for task in graph.tasks
        ],
        "distractors": {type: list(names) for type, names in graph.pools.items()},
    }
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _dumped(edge: Edge) -> dict[str, Any]:
    found: dict[str, Any] = {"source": edge.source, "relation": edge.relation, "target": edge.target}
    if edge.validity != ALWAYS:
        found["valid"] = interval_text(edge.validity)
    if edge.negated:
        found["negated"] = True
    if edge.assertion:
        found["assertion"] = edge.assertion
    if edge.supports:
        found["supports"] = [
            [{"source": span.source_id, "start": span.start, "end": span.end} for span in support]
            for support in edge.supports
        ]
    return found


def pseudonymized(graph: BenchGraph, seed: int) -> BenchGraph:
    """The same graph with ids that say nothing: `n` and a number, dealt out at random by the seed. Names stay."""
    order = [node.id for node in graph.nodes]
    random.Random(seed).shuffle(order)  # noqa: S311 - repeatable, nothing secret
    width = len(str(len(order)))
    new = {id: f"n{number:0{width}d}" for number, id in enumerate(order, start=1)}

    def renamed(ids: Sequence[str]) -> tuple[str, ...]:
        return tuple(new[id] for id in ids)

    return replace(
        graph,
        nodes=tuple(replace(node, id=new[node.id]) for node in graph.nodes),
        edges=tuple(replace(edge, source=new[edge.source], target=new[edge.target]) for edge in graph.edges),
        tasks=tuple(
            replace(
                task,
                query=replace(task.query, starts=renamed(task.query.starts)),
                answers=tuple(sorted(renamed(task.answers))),
                mapping={new[key]: tuple(sorted(renamed(values))) for key, values in task.mapping.items()},
            )
            for task in graph.tasks
        ),
    )
