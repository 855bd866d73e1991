"""Graph store on SQLite: clustered adjacency, every filter inside the query."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from graphroute.stores.database import Database, alive, attribute_condition, time_condition, typed
from graphroute.stores.graph.trails import EdgeRow, FactKey, StepRow, TrailGraph
from graphroute.types.graph import Direction, HopPattern
from graphroute.types.time import ANY_TIME, TimeFilter, TimeMode
from graphroute.types.view import View


class SqliteGraph(TrailGraph):
    """The graph port over one store file. Safe to share between threads."""

    def __init__(self, db: Database) -> None:
        super().__init__()
        self._db = db

    def _edge_rows(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None
    ) -> Sequence[EdgeRow]:
        columns = "DISTINCT a.node, a.predicate, a.direction, a.other, a.low, a.high"
        return self._level(nodes, hop, view, deadline, columns, "a.other <> a.node")

    def _step_rows(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None
    ) -> Sequence[StepRow]:
        return self._level(nodes, hop, view, deadline, "DISTINCT a.node, a.predicate, a.other", "a.other <> a.node")

    def _end_rows(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None
    ) -> Iterable[tuple[str, str]]:
        return self._level(nodes, hop, view, deadline, "DISTINCT a.node, a.other", "a.other <> a.node")

    def _touching(self, nodes: Sequence[str], hop: HopPattern, limit: int, view: View) -> Iterable[FactKey]:
        return self._level(
            nodes,
            hop,
            view,
            None,
            "DISTINCT CASE a.direction WHEN 0 THEN a.node ELSE a.other END AS s, a.predicate AS p, "
            "CASE a.direction WHEN 0 THEN a.other ELSE a.node END AS o, a.low AS l, a.high AS h",
            order=f" ORDER BY s, p, o, l, h LIMIT {limit:d}",
        )

    def _members(self, types: Sequence[str], view: View) -> Iterable[str]:
        rows = self._db.connection.execute(
            "SELECT DISTINCT y.entity FROM json_each(?) j CROSS JOIN entity_type y ON y.type = j.value "
            f"WHERE {typed(self._db, view)} AND EXISTS (SELECT 1 FROM entity_scope x WHERE x.entity = y.entity "
            f"AND {alive(view, 'x')} AND {self._db.in_scopes(view, 'x.scope')})",
            (json.dumps(types),),
        )
        return [row[0] for row in rows]

    def _stated(self, time: TimeFilter, view: View) -> Iterable[tuple[str, str, str, int, int, str]]:
        return self._db.connection.execute(
            "SELECT a.subject, a.predicate, a.object, a.low, a.high, a.id FROM assertion a "
            f"WHERE {alive(view, 'a')} AND {time_condition(time, 'a.low', 'a.high')} AND EXISTS "
            f"(SELECT 1 FROM support_set s WHERE s.assertion = a.key AND {alive(view, 's')} "
            f"AND {self._db.in_scopes(view, 's.scope')}) ORDER BY 1, 2, 3, 4, 5, 6"
        )

    def _counted(self, view: View) -> Iterable[tuple[str, str, str, int]]:
        readable = f"{alive(view, 'a')} AND {self._db.in_scopes(view, 'a.scope')}"
        return self._db.connection.execute(
            # One row for each type, however many scopes tell it.
            f"WITH told AS MATERIALIZED (SELECT DISTINCT y.entity, y.type FROM entity_type y WHERE {typed(self._db, view)}) "
            "SELECT coalesce(t.type, ''), f.predicate, coalesce(u.type, ''), count(*) FROM "
            "(SELECT DISTINCT a.node, a.predicate, a.other, a.low, a.high FROM adjacency a "
            f"WHERE a.direction = 0 AND {readable}) f "
            "LEFT JOIN told t ON t.entity = f.node LEFT JOIN told u ON u.entity = f.other GROUP BY 1, 2, 3"
        )

    def _assertion_ids(
        self, keys: Collection[FactKey], view: View, deadline: float | None
    ) -> Mapping[FactKey, tuple[str, ...]]:
        sql = (
            "SELECT DISTINCT a.id FROM assertion a CROSS JOIN support_set s ON s.assertion = a.key "
            "WHERE a.subject = ? AND a.predicate = ? AND a.object = ? AND a.low = ? AND a.high = ? "
            f"AND {alive(view, 'a')} AND {alive(view, 's')} AND {self._db.in_scopes(view, 's.scope')} ORDER BY a.id"
        )
        connection = self._db.connection
        return {key: tuple(row[0] for row in connection.execute(sql, key)) for key in sorted(keys)}

    def _level(
        self,
        nodes: Sequence[str],
        hop: HopPattern,
        view: View,
        deadline: float | None,
        columns: str,
        extra: str = "1",
        order: str = "",
    ) -> list[tuple[Any, ...]]:
        """Adjacency rows that one hop may walk from the nodes. All filters of the hop and the view act here."""
        conditions = [alive(view, "a"), self._db.in_scopes(view, "a.scope"), extra]
        parameters: list[object] = []
        if len(nodes) == 1:
            source, node = "adjacency a", "a.node = ?"
            parameters.append(nodes[0])
        else:
            source, node = "json_each(?) n CROSS JOIN adjacency a", "a.node = n.value"
            parameters.append(json.dumps(nodes))
        if hop.predicates:
            predicates = sorted(set(hop.predicates))
            conditions.append(f"a.predicate IN ({','.join('?' * len(predicates))})")
            parameters.extend(predicates)
        if hop.direction is not None:
            conditions.append(f"a.direction = {int(hop.direction is Direction.BACKWARD)}")
        conditions.append(time_condition(hop.time, "a.low", "a.high"))
        if hop.ends is not None:
            ends = sorted(set(hop.ends))
            if len(ends) == 1:
                conditions.append("a.other = ?")
                parameters.append(ends[0])
            else:
                conditions.append("a.other IN (SELECT value FROM json_each(?))")
                parameters.append(json.dumps(ends))
        if hop.types:
            types = sorted(set(hop.types))
            conditions.append(
                f"EXISTS (SELECT 1 FROM entity_type y WHERE y.entity = a.other AND y.type IN ({','.join('?' * len(types))}) "
                f"AND {typed(self._db, view)})"
            )
            parameters.extend(types)
        # The moment asked about also picks the attribute values in force; when a fact started does not.
        moment = hop.time if hop.time.mode is TimeMode.OVERLAPS else ANY_TIME
        scoped = f"{alive(view, 't')} AND {self._db.in_scopes(view, 't.scope')} AND {time_condition(moment, 't.low', 't.high')}"
        for test in hop.filters:
            condition, values = attribute_condition(test, scoped, "a.other")
            conditions.append(condition)
            parameters.extend(values)
        sql = f"SELECT {columns} FROM {source} WHERE {node} AND {' AND '.join(conditions)}{order}"
        with self._db.reading(deadline) as connection:
            return connection.execute(sql, parameters).fetchall()
