"""Graph store over a Neo4j graph that graphroute did not write: level by level through a mapping, read-only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from graphroute.stores.graph.trails import EdgeRow, FactKey, StepRow, TrailGraph
from graphroute.stores.mapped.elements import Elements, Row
from graphroute.stores.mapped.filters import passes
from graphroute.types.graph import Direction, HopPattern
from graphroute.types.time import ANY_TIME, MAX_INSTANT, MIN_INSTANT, Interval, TimeFilter
from graphroute.types.view import View


class MappedGraph(TrailGraph):
    """The graph port over mapped elements. Safe to share between threads.

    Types, relations, ends and access filter in Cypher; dates and attribute values, which a foreign graph may keep in any form, filter
    right behind it, before a level is expanded further.
    """

    def __init__(self, elements: Elements) -> None:
        super().__init__()
        self._elements = elements

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
