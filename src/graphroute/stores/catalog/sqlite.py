"""Catalog on SQLite."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from graphroute.stores.catalog.rows import ENUMERATED, EntityRows, Row, RowCatalog
from graphroute.stores.database import Database, alive, attribute_condition, time_condition, typed
from graphroute.types.graph import AttributeFilter
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, Instant, TimeFilter
from graphroute.types.view import View

_PASSAGE = "p.id, s.id, p.start, p.end, p.text, p.title, p.low, p.high, p.timestamp, p.kind, p.node"


class SqliteCatalog(RowCatalog):
    """The catalog port over one store file. Safe to share between threads."""

    def __init__(self, db: Database) -> None:
        super().__init__()
        self._db = db
        self._id = ""

    def _store(self) -> str:
        # The first copy to a server gives the store its id; it never changes.
        self._id = self._id or self._db.known_id() or ""
        return self._id

    def _snapshot(self, sequence: int | None) -> tuple[int, bool]:
        published = self._db.sequence()
        pinned = published if sequence is None else sequence
        row = self._db.connection.execute("SELECT 1 FROM snapshot WHERE sequence = ?", (pinned,)).fetchone()
        return published, row is not None

    def _digests(self, sequence: int) -> Iterable[tuple[int, str, bytes]]:
        rows = self._db.connection.execute(
            "SELECT s.id, s.form, d.digest, max(d.sequence) FROM scope s JOIN scope_digest d ON d.scope = s.id "
            "WHERE d.sequence <= ? GROUP BY s.id",
            (sequence,),
        )
        return ((row[0], row[1], row[2]) for row in rows)

    def _setting_rows(self) -> Iterable[tuple[str, str]]:
        return self._db.connection.execute("SELECT key, value FROM setting").fetchall()

    def _setting(self, key: str) -> str | None:
        row = self._db.connection.execute("SELECT value FROM setting WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def _source_rows(self, ids: Sequence[str], view: View) -> Iterable[Row]:
        return self._db.connection.execute(
            "SELECT s.id, s.title, s.text, s.labels, s.parent, s.kind, s.node, s.lang, s.low, s.high, s.timestamp, "
            "s.origin, s.extra FROM json_each(?) j CROSS JOIN source s ON s.id = j.value "
            f"WHERE {alive(view, 's')} AND {self._db.in_scopes(view, 's.scope')}",
            (json.dumps(ids),),
        )

    def _passage_rows(self, ids: Sequence[str], view: View) -> Iterable[Row]:
        return self._db.connection.execute(
            f"SELECT {_PASSAGE} FROM json_each(?) j CROSS JOIN passage p ON p.id = j.value "
            f"CROSS JOIN source s ON s.key = p.source WHERE {alive(view, 'p')} AND {self._db.in_scopes(view, 'p.scope')}",
            (json.dumps(ids),),
        )

    def _passage_rows_of(self, source_ids: Sequence[str], view: View) -> Iterable[Row]:
        return self._db.connection.execute(
            f"SELECT {_PASSAGE} FROM json_each(?) j CROSS JOIN source s ON s.id = j.value "
            f"CROSS JOIN passage p ON p.source = s.key WHERE {alive(view, 'p')} "
            f"AND {self._db.in_scopes(view, 'p.scope')}",
            (json.dumps(source_ids),),
        )

    def _alias_rows(self, keys: Sequence[str], view: View) -> Iterable[Row]:
        seen = f"x.entity = a.entity AND {alive(view, 'x')} AND {self._db.in_scopes(view, 'x.scope')}"
        return self._db.connection.execute(
            "SELECT a.key, a.entity, a.via FROM json_each(?) j CROSS JOIN alias a ON a.key = j.value "
            f"WHERE {alive(view, 'a')} AND CASE a.basis WHEN 2 THEN {self._db.in_scopes(view, 'a.scope')} "
            f"ELSE EXISTS (SELECT 1 FROM entity_scope x WHERE {seen} AND x.via <= 1 - a.basis) END",
            (json.dumps(keys),),
        ).fetchall()

    def _entity_rows(self, ids: Sequence[str], view: View) -> EntityRows:
        wanted = (json.dumps(ids),)
        connection, scopes = self._db.connection, self._db.in_scopes
        return EntityRows(
            visible=connection.execute(
                "SELECT x.entity, min(x.via) FROM json_each(?) j CROSS JOIN entity_scope x ON x.entity = j.value "
                f"WHERE {alive(view, 'x')} AND {scopes(view, 'x.scope')} GROUP BY x.entity",
                wanted,
            ),
            said=connection.execute(
                "SELECT e.id, e.types, e.names FROM json_each(?) j CROSS JOIN entity e ON e.id = j.value "
                f"WHERE {alive(view, 'e')}",
                wanted,
            ),
            told=connection.execute(
                "SELECT DISTINCT y.entity, y.type FROM json_each(?) j CROSS JOIN entity_type y ON y.entity = j.value "
                f"WHERE y.basis > 0 AND {typed(self._db, view)}",
                wanted,
            ),
            stated=connection.execute(
                "SELECT n.entity, n.name, n.source, n.start, s.low, s.timestamp FROM json_each(?) j "
                "CROSS JOIN name n ON n.entity = j.value "
                f"LEFT JOIN source s ON s.id = n.source AND {alive(view, 's')} "
                f"WHERE {alive(view, 'n')} AND {scopes(view, 'n.scope')}",
                wanted,
            ),
        )

    def _attribute_rows(
        self, entity_ids: Sequence[str], keys: Sequence[str] | None, time: TimeFilter, view: View
    ) -> Iterable[Row]:
        narrowed = "" if keys is None else " AND t.key IN (SELECT value FROM json_each(?))"
        return self._db.connection.execute(
            "SELECT t.entity, t.key, t.value, t.source, t.start, t.end, t.number, t.instant, t.low, t.high, s.low, "
            "s.timestamp, t.row FROM json_each(?) j CROSS JOIN attribute t ON t.entity = j.value "
            f"LEFT JOIN source s ON s.id = t.source AND {alive(view, 's')} "
            f"WHERE {alive(view, 't')} AND {self._db.in_scopes(view, 't.scope')} "
            f"AND {time_condition(time, 't.low', 't.high')}{narrowed}",
            (json.dumps(entity_ids), *(() if keys is None else (json.dumps(keys),))),
        )

    def _value_rows(self, values: Sequence[str], view: View) -> Iterable[tuple[str, str, str]]:
        readable = f"{alive(view, 't')} AND {self._db.in_scopes(view, 't.scope')} AND {typed(self._db, view)}"
        connection = self._db.connection
        memo = self._memo(view)
        attribute_keys = memo.get("attribute keys")
        if attribute_keys is None:
            attribute_keys = memo["attribute keys"] = [
                row[0]
                for row in connection.execute(
                    "WITH RECURSIVE k(key) AS (SELECT min(key) FROM attribute UNION ALL "
                    "SELECT (SELECT min(t.key) FROM attribute t WHERE t.key > k.key) FROM k WHERE k.key IS NOT NULL) "
                    "SELECT key FROM k WHERE key IS NOT NULL"
                )
            ]
        return connection.execute(
            "SELECT DISTINCT t.folded, y.type, t.key FROM json_each(?) k CROSS JOIN json_each(?) j "
            "CROSS JOIN attribute t ON t.key = k.value AND t.folded = j.value "
            f"CROSS JOIN entity_type y ON y.entity = t.entity WHERE {readable}",
            (json.dumps(attribute_keys), json.dumps(values)),
        )

    def _distinct_values(self, type_: str, key: str, view: View) -> int:
        readable = f"{alive(view, 't')} AND {self._db.in_scopes(view, 't.scope')} AND {typed(self._db, view)}"
        row = self._db.connection.execute(
            "SELECT count(*) FROM (SELECT DISTINCT t.folded FROM attribute t "
            "CROSS JOIN entity_type y ON y.entity = t.entity AND y.type = ? "
            f"WHERE t.key = ? AND {readable} LIMIT {ENUMERATED + 1})",
            (type_, key),
        ).fetchone()
        return int(row[0])

    def _where_rows(
        self, types: Sequence[str], filters: Sequence[AttributeFilter], time: TimeFilter, view: View
    ) -> Iterable[str]:
        return [row[0] for row in self._where("DISTINCT y.entity", types, filters, time, view)]

    def _where_count(
        self, types: Sequence[str], filters: Sequence[AttributeFilter], time: TimeFilter, view: View
    ) -> int:
        [(number,)] = self._where("count(DISTINCT y.entity)", types, filters, time, view)
        return int(number)

    def _where(
        self, column: str, types: Sequence[str], filters: Sequence[AttributeFilter], time: TimeFilter, view: View
    ) -> Iterable[Row]:
        scoped = f"{alive(view, 't')} AND {self._db.in_scopes(view, 't.scope')} AND {time_condition(time, 't.low', 't.high')}"
        conditions: list[str] = []
        parameters: list[object] = [json.dumps(types)]
        for test in filters:
            condition, values = attribute_condition(test, scoped, "y.entity")
            conditions.append(f" AND {condition}")
            parameters.extend(values)
        return self._db.connection.execute(
            f"SELECT {column} FROM json_each(?) j CROSS JOIN entity_type y ON y.type = j.value "
            f"WHERE {typed(self._db, view)}{''.join(conditions)} AND EXISTS (SELECT 1 FROM entity_scope x "
            f"WHERE x.entity = y.entity AND {alive(view, 'x')} AND {self._db.in_scopes(view, 'x.scope')})",
            parameters,
        )

    def _support_rows(self, assertion_ids: Sequence[str], view: View) -> Iterable[Row]:
        return self._db.connection.execute(
            "SELECT a.id, z.key, m.ordinal, m.source, m.start, m.end, s.low, s.high, s.timestamp, s.kind "
            "FROM json_each(?) j CROSS JOIN assertion a ON a.id = j.value "
            "CROSS JOIN support_set z ON z.assertion = a.key CROSS JOIN support_member m ON m.support_set = z.key "
            f"CROSS JOIN source s ON s.id = m.source WHERE {alive(view, 'a')} AND {alive(view, 'z')} "
            f"AND {self._db.in_scopes(view, 'z.scope')} AND {alive(view, 's')}",
            (json.dumps(assertion_ids),),
        )

    def _supported_rows(self, source_ids: Sequence[str], view: View) -> Iterable[tuple[str, str]]:
        return self._db.connection.execute(
            "SELECT DISTINCT m.source, a.id FROM json_each(?) j CROSS JOIN support_member m ON m.source = j.value "
            "CROSS JOIN support_set z ON z.key = m.support_set CROSS JOIN assertion a ON a.key = z.assertion "
            f"WHERE {alive(view, 'z')} AND {self._db.in_scopes(view, 'z.scope')} AND {alive(view, 'a')}",
            (json.dumps(source_ids),),
        )

    def _attached_rows(self, entity_ids: Sequence[str], view: View) -> tuple[Iterable[Row], Iterable[Row]]:
        wanted = (json.dumps(entity_ids),)
        scopes = self._db.in_scopes
        own = self._db.connection.execute(
            "SELECT e.entity, e.source, s.low, s.timestamp FROM json_each(?) j "
            "CROSS JOIN entity_source e ON e.entity = j.value CROSS JOIN source s ON s.id = e.source "
            f"WHERE {alive(view, 'e')} AND {scopes(view, 'e.scope')} AND {alive(view, 's')}",
            wanted,
        )
        proving = self._db.connection.execute(
            "SELECT DISTINCT f.node, m.source, s.low, s.timestamp FROM "
            "(SELECT DISTINCT x.node, x.predicate, x.other, x.low, x.high, "
            "CASE x.direction WHEN 0 THEN x.node ELSE x.other END AS subject, "
            "CASE x.direction WHEN 0 THEN x.other ELSE x.node END AS object FROM json_each(?) j "
            f"CROSS JOIN adjacency x ON x.node = j.value WHERE {alive(view, 'x')} AND {scopes(view, 'x.scope')}) f "
            "CROSS JOIN assertion a ON a.subject = f.subject AND a.predicate = f.predicate AND a.object = f.object "
            "AND a.low = f.low AND a.high = f.high CROSS JOIN support_set z ON z.assertion = a.key "
            "CROSS JOIN support_member m ON m.support_set = z.key CROSS JOIN source s ON s.id = m.source "
            f"WHERE {alive(view, 'a')} AND {alive(view, 'z')} AND {scopes(view, 'z.scope')} AND {alive(view, 's')}",
            wanted,
        )
        return own, proving

    def _counts(self, view: View) -> Mapping[str, int]:
        readable = f"{alive(view)} AND {self._db.in_scopes(view)}"
        return {
            name: self._db.connection.execute(f"SELECT {what} FROM {table} WHERE {readable}").fetchone()[0]
            for name, what, table in (
                ("sources", "count(*)", "source"),
                ("passages", "count(*)", "passage"),
                ("entities", "count(DISTINCT entity)", "entity_scope"),
                ("assertions", "count(DISTINCT assertion)", "support_set"),
            )
        }

    def _span(self, view: View) -> tuple[Instant | None, Instant | None]:
        readable = f"{alive(view)} AND {self._db.in_scopes(view)}"
        rows = self._db.connection.execute(
            f"SELECT nullif(low, {MIN_INSTANT}) AS i FROM source WHERE {readable} "
            f"UNION SELECT nullif(high, {MAX_INSTANT}) FROM source WHERE {readable} "
            f"UNION SELECT timestamp FROM source WHERE {readable} "
            f"UNION SELECT nullif(low, {MIN_INSTANT}) FROM adjacency WHERE {readable} "
            f"UNION SELECT nullif(high, {MAX_INSTANT}) FROM adjacency WHERE {readable}"
        )
        instants = [row[0] for row in rows if row[0] is not None]
        return (min(instants), max(instants)) if instants else (None, None)
