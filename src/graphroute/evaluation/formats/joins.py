"""A second solver of typed path queries, by joining tables of facts from the last step to the first; it shares no code with the walk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from graphroute.evaluation.formats.graph import Edge, PathQuery, Step
from graphroute.types.graph import Direction

Row = tuple[str, str, frozenset[int]]
"""From, to, and the facts that must not be used again."""


def join(
    edges: Sequence[Edge], types: Mapping[str, str], query: PathQuery
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Sorted answers, and for a query with a key step the answers by key.

    Each step is a table of (from, to, facts). They are joined right to left on equal ends without a common fact, and the starts
    are chosen last.
    """
    tables = [_table(edges, types, step) for step in query.steps]
    # Rows of the joined tail: from, key or end, end, facts.
    tail = {(left, right, right, facts) for left, right, facts in tables[-1]}
    last = len(tables) - 1
    for number in range(last - 1, -1, -1):
        by_left = defaultdict(list)
        for row in tail:
            by_left[row[0]].append(row)
        joined = set()
        for left, right, facts in tables[number]:
            for _, key, end, used in by_left.get(right, ()):
                if not facts & used:
                    joined.add((left, right if query.key_step == number + 1 else key, end, facts | used))
        tail = joined
    chosen = {(key, end) for left, key, end, _ in tail if left in query.starts}
    answers = tuple(sorted({end for _, end in chosen}))
    mapping: dict[str, tuple[str, ...]] = {}
    if query.key_step is not None:
        for key in sorted({key for key, _ in chosen}):
            mapping[key] = tuple(sorted(end for at, end in chosen if at == key))
    return answers, mapping


def _table(edges: Sequence[Edge], types: Mapping[str, str], step: Step) -> set[Row]:
    rows: set[Row] = set()
    for place, edge in enumerate(edges):
        if edge.negated or edge.relation != step.relation:
            continue
        ends = (edge.source, edge.target) if step.direction is Direction.FORWARD else (edge.target, edge.source)
        rows.add((*ends, frozenset({place})))
    if step.repeat:
        pairs = _closure({(left, right) for left, right, _ in rows})
        # Which way was taken through a repeated step does not matter to the other steps.
        rows = {(left, right, frozenset()) for left, right in pairs if left != right}
    return {row for row in rows if not step.types or types.get(row[1]) in step.types}


def _closure(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Pairs joined by one or more of the given ones: squared until nothing is added."""
    reached = set(pairs)
    while True:
        following = defaultdict(set)
        for left, right in reached:
            following[left].add(right)
        grown = reached | {(left, far) for left, right in reached for far in following.get(right, ())}
        if grown == reached:
            return reached
        reached = grown
