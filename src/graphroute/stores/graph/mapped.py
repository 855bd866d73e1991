"""Graph store over a Neo4j graph that graphroute did not write: level by level through a mapping, read-only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphroute.stores.graph.trails import EdgeRow, FactKey, StepRow, TrailGraph, countable
from graphroute.stores.mapped.elements import Elements, Row
from graphroute.stores.mapped.filters import passes
from graphroute.stores.mapped.printing import MappedSchema
from graphroute.stores.mapped.queries import MAX_HOPS
from graphroute.stores.mapped.values import bounds
from graphroute.types.graph import Direction, EndCount, HopPattern, PathPattern, TopEnds
from graphroute.types.time import ANY_TIME, MAX_INSTANT, MIN_INSTANT, Interval, TimeFilter
from graphroute.types.view import View

_DIFFERENT = 10_000
"""Different dates and values of one hop that are sent back to the server."""

_MANY: Mapping[str, Any] = {}


class MappedGraph(TrailGraph):
    """The graph port over mapped elements. Safe to share between threads.

    Types, relations, ends and access filter in Cypher; dates and attribute values, which a foreign graph may keep in any form, filter
    right behind it, before a level is expanded further. Counts are taken by the server: the different dates and values that a hop meets
    are read and tested here first, and those accepted go into the text that counts as a parameter.
    """

    def __init__(self, elements: Elements) -> None:
        super().__init__()
        self._elements = elements

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
        if not patterns or not all(countable(pattern, hops=MAX_HOPS) for pattern in patterns):
            return super().count_ends(patterns, united=united, first=first, view=view, deadline=deadline)
        walks = [self._walk(pattern, view, deadline) for pattern in patterns]
        if any(walk is _MANY for walk in walks):
            return super().count_ends(patterns, united=united, first=first, view=view, deadline=deadline)
        kept = [walk for walk in walks if walk is not None]
        if not kept or (len(kept) < len(walks) and not united):
            return EndCount(0)
        needed = 1 if united else len(kept)
        return self._elements.count_ends(kept, needed, max(first, 0), view=view, deadline=deadline)

    def top_ends(
        self, pattern: PathPattern, *, most: bool = True, view: View, deadline: float | None = None
    ) -> TopEnds:
        """The entities that the last hop reaches from the most (else the fewest) distinct entities, grouped and counted by the server."""
        before = replace(pattern, hops=pattern.hops[:-1])
        if len(pattern.hops) != 1 and not countable(before, hops=MAX_HOPS - 1):
            return super().top_ends(pattern, most=most, view=view, deadline=deadline)
        walk = self._walk(pattern, view, deadline)
        if walk is _MANY:
            return super().top_ends(pattern, most=most, view=view, deadline=deadline)
        if walk is None:
            return TopEnds()
        return self._elements.top_ends(walk, most=most, view=view, deadline=deadline)

    def plan_schema(self, *, view: View) -> MappedSchema:
        """The labels, types and properties of the mapping, for a printed plan."""
        return MappedSchema(self._elements.nodes, self._elements.relations, view)

    def _walk(self, pattern: PathPattern, view: View, deadline: float | None) -> Mapping[str, Any] | None:
        """The pattern for the texts that count; None where nothing passes, `_MANY` where a hop meets too many dates and values to send."""
        walk = self._elements.walk(pattern, deadline=deadline) if view.scopes else None
        if walk is None:
            return None
        order = self._elements.mapping.date_order
        for place, hop in enumerate(pattern.hops):
            if hop.time == ANY_TIME and not hop.filters:
                continue
            given = walk["hops"][place]
            met = self._elements.said(walk, place, _DIFFERENT + 1, view=view, deadline=deadline)
            if len(met) > _DIFFERENT:
                return _MANY
            for said, start, end, values in met:
                low, high = bounds(start, end, order) or (MIN_INSTANT, MAX_INSTANT)
                if hop.time.accepts(_interval(low, high)) and passes(
                    hop.filters, dict(zip(given["wanted"], values, strict=True)), order
                ):
                    given["accepted"][said] = True
            if not given["accepted"]:
                return None
            given["tested"] = True
        return walk

    def _edge_rows(self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None) -> list[EdgeRow]:
        rows = self._rows(nodes, hop, view, deadline)
        return list(dict.fromkeys((row.node, row.predicate, row.way, row.other, row.low, row.high) for row in rows))

    def _step_rows(self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None) -> list[StepRow]:
        return list(
            dict.fromkeys((row.node, row.predicate, row.other) for row in self._rows(nodes, hop, view, deadline))
        )

    def _end_rows(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None
    ) -> Iterable[tuple[str, str]]:
        return {(row.node, row.other) for row in self._rows(nodes, hop, view, deadline)}

    def _assertion_ids(
        self, keys: Collection[FactKey], view: View, deadline: float | None
    ) -> Mapping[FactKey, tuple[str, ...]]:
        found: dict[FactKey, set[str]] = defaultdict(set)
        wanted = set(keys)
        for row in self._elements.between(wanted, view=view, deadline=deadline):
            if row.key in wanted:
                found[row.key].add(row.assertion)
        return {key: tuple(sorted(ids)) for key, ids in found.items()}

    def _touching(self, nodes: Sequence[str], hop: HopPattern, limit: int, view: View) -> Iterable[FactKey]:
        rows = self._rows(nodes, hop, view, None, loops=True)
        return sorted({row.key for row in rows})[:limit]

    def _members(self, types: Sequence[str], view: View) -> Iterable[str]:
        labels = [self._elements.nodes[name].label for name in types if name in self._elements.nodes]
        return self._elements.scan(view, labels, ())

    def _stated(self, time: TimeFilter, view: View) -> Iterable[tuple[str, str, str, int, int, str]]:
        rows = self._elements.facts(view)
        return sorted((*row.key, row.assertion) for row in rows if time.accepts(_interval(row.low, row.high)))

    def _counted(self, view: View) -> Iterable[tuple[str, str, str, int]]:
        return self._elements.fact_counts(view)

    def _rows(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None, *, loops: bool = False
    ) -> list[Row]:
        ways = (0, 1) if hop.direction is None else (int(hop.direction is Direction.BACKWARD),)
        wanted = tuple(dict.fromkeys(test.key for test in hop.filters))
        rows = self._elements.level(
            nodes,
            hop.predicates,
            ways,
            view=view,
            types=hop.types,
            ends=sorted(set(hop.ends)) if hop.ends is not None else None,
            wanted=wanted,
            loops=loops,
            deadline=deadline,
        )
        if hop.time != ANY_TIME:
            rows = [row for row in rows if hop.time.accepts(_interval(row.low, row.high))]
        if hop.filters:
            order = self._elements.mapping.date_order
            rows = [row for row in rows if passes(hop.filters, dict(zip(wanted, row.values, strict=True)), order)]
        return rows


def _interval(low: int, high: int) -> Interval:
    return Interval(None if low == MIN_INSTANT else low, None if high == MAX_INSTANT else high)
