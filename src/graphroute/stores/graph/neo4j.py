"""Graph store on Neo4j: facts as relationships, one query a level, every filter inside the query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from graphroute.stores.graph.trails import EdgeRow, FactKey, StepRow, TrailGraph, countable
from graphroute.stores.neo4j import queries
from graphroute.stores.neo4j.connection import Neo4jConnection, Query
from graphroute.stores.neo4j.facts import fact_hash
from graphroute.stores.neo4j.reading import StoreCheck, Values, ask, ask_long, bounds, scoped, tests
from graphroute.types.graph import Direction, EndCount, HopPattern, PathPattern, TopEnds
from graphroute.types.time import ANY_TIME, TimeFilter, TimeMode
from graphroute.types.view import View

_HOPS: Final[Mapping[tuple[Direction | None, bool], Query]] = {
    (Direction.FORWARD, True): queries.HOP_FORWARD,
    (Direction.BACKWARD, True): queries.HOP_BACKWARD,
    (None, True): queries.HOP_EITHER,
    (Direction.FORWARD, False): queries.HOP_FORWARD_ANY,
    (Direction.BACKWARD, False): queries.HOP_BACKWARD_ANY,
    (None, False): queries.HOP_EITHER_ANY,
}
"""By direction, and whether the predicates are given."""


class Neo4jGraph(TrailGraph):
    """The graph port over a store's copy on a server. Safe to share between threads."""

    def __init__(self, connection: Neo4jConnection) -> None:
        super().__init__()
        self._connection = connection
        self._check = StoreCheck(connection)

    def count_ends(
        self,
        patterns: Sequence[PathPattern],
        *,
        united: bool = False,
        first: int = 0,
        view: View,
        deadline: float | None = None,
    ) -> EndCount:
        """How many entities trails of every pattern (`united`: of any) end at, counted by the server where walks can be (`countable`)."""
        if not patterns or not all(_counted(pattern) for pattern in patterns):
            return super().count_ends(patterns, united=united, first=first, view=view, deadline=deadline)
        self._check.require(view, deadline)
        walks = [_walk(pattern) for pattern in patterns] if view.scopes else []
        if not walks:
            return EndCount(0)
        needed = 1 if united else len(walks)
        values: Values = {**scoped(view), "patterns": walks, "needed": needed, "first": max(first, 0)}
        [(number, ids)] = ask(self._connection, queries.COUNT_ENDS, values, deadline)
        return EndCount(number, tuple(ids))

    def top_ends(
        self, pattern: PathPattern, *, most: bool = True, view: View, deadline: float | None = None
    ) -> TopEnds:
        """The entities that the last hop reaches from the most (else the fewest) distinct entities, grouped and counted by the server."""
        if not _counted(pattern, grouped=True):
            return super().top_ends(pattern, most=most, view=view, deadline=deadline)
        self._check.require(view, deadline)
        if not view.scopes:
            return TopEnds()
        values: Values = {**scoped(view), "patterns": [_walk(pattern)], "most": most}
        rows = ask(self._connection, queries.TOP_ENDS, values, deadline)
        return TopEnds(tuple(row[0] for row in rows), rows[0][1], rows[0][2]) if rows else TopEnds()

    def _edge_rows(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None
    ) -> Sequence[EdgeRow]:
        return self._level(nodes, hop, view, deadline)

    def _step_rows(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None
    ) -> Sequence[StepRow]:
        rows = self._level(nodes, hop, view, deadline)
        return list(dict.fromkeys((node, predicate, other) for node, predicate, _, other, _, _ in rows))

    def _end_rows(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None
    ) -> Iterable[tuple[str, str]]:
        rows = self._level(nodes, hop, view, deadline)
        return dict.fromkeys((node, other) for node, _, _, other, _, _ in rows)

    def _level(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None
    ) -> list[tuple[Any, ...]]:
        self._check.require(view, deadline)
        # The moment asked about also picks the attribute values in force; when a fact started does not.
        moment = hop.time if hop.time.mode is TimeMode.OVERLAPS else ANY_TIME
        values: Values = {
            **scoped(view),
            **bounds(hop.time),
            **bounds(moment, "value_"),
            "nodes": list(nodes),
            "predicates": sorted(set(hop.predicates)),
            "types": sorted(set(hop.types)),
            "bounded": hop.ends is not None,
            "ends": sorted(set(hop.ends or ())),
            "filters": tests(hop.filters),
        }
        return ask(self._connection, _HOPS[hop.direction, bool(hop.predicates)], values, deadline)

    def _touching(self, nodes: Sequence[str], hop: HopPattern, limit: int, view: View) -> Iterable[FactKey]:
        self._check.require(view)
        query = queries.TOUCHING if hop.predicates else queries.TOUCHING_ANY
        values: Values = {
            **scoped(view),
            **bounds(hop.time),
            "nodes": list(nodes),
            "predicates": sorted(set(hop.predicates)),
            "limit": limit,
        }
        return [(row[0], row[1], row[2], row[3], row[4]) for row in ask(self._connection, query, values)]

    def _members(self, types: Sequence[str], view: View) -> Iterable[str]:
        self._check.require(view)
        values: Values = {**scoped(view), **bounds(ANY_TIME, "value_"), "types": list(types), "filters": []}
        return [row[0] for row in ask(self._connection, queries.ENTITIES_WHERE, values)]

    def _stated(self, time: TimeFilter, view: View) -> Iterable[tuple[str, str, str, int, int, str]]:
        self._check.require(view)
        values: Values = {**scoped(view), **bounds(time)}
        rows = ask_long(self._connection, queries.ALL_FACTS, values)
        return sorted((row[0], row[1], row[2], row[3], row[4], row[5]) for row in rows)

    def _counted(self, view: View) -> Iterable[tuple[str, str, str, int]]:
        self._check.require(view)
        rows = ask_long(self._connection, queries.FACT_COUNTS, scoped(view))
        return [(row[0], row[1], row[2], row[3]) for row in rows]

    def _assertion_ids(
        self, keys: Collection[FactKey], view: View, deadline: float | None
    ) -> Mapping[FactKey, tuple[str, ...]]:
        self._check.require(view, deadline)
        named = {fact_hash(*key): key for key in keys}
        values: Values = {**scoped(view), "facts": sorted(named)}
        found: dict[FactKey, list[str]] = defaultdict(list)
        for fact, assertion_id in ask(self._connection, queries.ASSERTIONS_OF_FACTS, values, deadline):
            found[named[fact]].append(assertion_id)
        return {key: tuple(sorted(ids)) for key, ids in found.items()}


def _counted(pattern: PathPattern, *, grouped: bool = False) -> bool:
    """Whether the texts that count can walk it: they test attributes behind the last hop only.

    `grouped`: the last hop starts anew, from whatever the hops before it reach.
    """
    if not all(hop.predicates for hop in pattern.hops) or any(hop.filters for hop in pattern.hops[:-1]):
        return False
    if not grouped:
        return countable(pattern, hops=queries.MAX_HOPS)
    before = replace(pattern, hops=pattern.hops[:-1])
    return len(pattern.hops) == 1 or countable(before, hops=queries.MAX_HOPS - 1)


def _walk(pattern: PathPattern) -> Values:
    """A pattern as the texts that count take it: its last hop is in the last place."""
    *inner, last = map(_hop, pattern.hops)
    return {
        "nodes": sorted(set(pattern.starts)),
        "hops": [*inner, *([None] * (queries.MAX_HOPS - len(pattern.hops))), last],
    }


def _hop(hop: HopPattern) -> Values:
    # The moment asked about also picks the attribute values in force; when a fact started does not.
    moment = hop.time if hop.time.mode is TimeMode.OVERLAPS else ANY_TIME
    return {
        **bounds(hop.time),
        **bounds(moment, "value_"),
        "forward": hop.direction is not Direction.BACKWARD,
        "backward": hop.direction is not Direction.FORWARD,
        "predicates": sorted(set(hop.predicates)),
        "types": sorted(set(hop.types)),
        "bounded": hop.ends is not None,
        "ends": sorted(set(hop.ends or ())),
        "filters": tests(hop.filters),
    }
