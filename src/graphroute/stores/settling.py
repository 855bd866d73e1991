"""What a write leaves to be worked out when it is published: scopes of rows, support sets, adjacency, types and aliases of entities."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence

from graphroute.access import scope_form
from graphroute.stores.kept import local_part, read_ontology
from graphroute.stores.schema import LIVE
from graphroute.stores.staging import COLUMNS, KEYS, Members, Row, Staging, digest, member_order, to_json
from graphroute.text import alias_key
from graphroute.types.ontology import UNTYPED, Ontology
from graphroute.types.time import ALWAYS

_STATED, _BY_RECORD, _BY_FACT, _BY_OPEN_FACT, _BY_NOTHING = range(5)


class Labels:
    """Labels of the sources in force, looked up once each."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[str, tuple[str, ...]] = {}
        self._forms: dict[tuple[str, ...], str] = {}

    def of(self, source_id: str) -> tuple[str, ...]:
        found = self._known.get(source_id)
        if found is None:
            row = self._connection.execute(
                "SELECT labels FROM source WHERE id = ? AND died = ?", (source_id, LIVE)
            ).fetchone()
            found = self._known[source_id] = tuple(json.loads(row[0])) if row else ()
        return found

    def form(self, members: Members) -> str:
        """Canonical scope form of a support set."""
        if len(members) == 1:
            labels = self.of(members[0][0])
            found = self._forms.get(labels)
            if found is None:
                found = self._forms[labels] = scope_form([labels])
            return found
        return scope_form(self.of(member[0]) for member in members)


def settle_sources(staging: Staging) -> None:
    """Bring passages, names, attributes and records of sources up to date, and give each row its source's scope."""
    kept: dict[str, set[int]] = {"passage": {key for _, key in staging.put_passages.values()}}
    for table in ("name", "attribute", "entity_source"):
        kept[table] = set()
    for entity_id, source_id, type_ in sorted(staging.entity_sources, key=lambda i: (i[0], i[1], i[2] or "")):
        row = (entity_id, source_id, type_, 0)
        _keep_or_add(staging, kept, "entity_source", source_id, "entity = ? AND type IS ?", (entity_id, type_), row)
    for entity_id, name, member in sorted(staging.names, key=lambda i: (i[0], i[1], *member_order((i[2],)))):
        where = "entity = ? AND name = ? AND start IS ? AND end IS ?"
        values = (entity_id, name, *member[1:])
        _keep_or_add(staging, kept, "name", member[0], where, values, (entity_id, name, *member, 0))
    for item in sorted(staging.attributes, key=repr):
        *stated, inherits, source_id, start, end = item
        where = "entity = ? AND key = ? AND value = ? AND number IS ? AND instant IS ? AND start IS ? AND end IS ?"
        values = (*stated[:3], *stated[4:6], start, end)
        if not inherits:
            where += " AND low = ? AND high = ?"
            values += tuple(stated[6:8])
        _keep_or_add(staging, kept, "attribute", source_id, where, values, (*stated, source_id, start, end, 0))
    staging.flush()
    if staging.refreshed:
        _end_refreshed(staging, kept)
    for table in ("name", "attribute", "entity_source"):
        _scope_rows(staging, table)


def _keep_or_add(
    staging: Staging, kept: dict[str, set[int]], table: str, source_id: str, where: str, values: Row, row: Row
) -> None:
    """Keep the published row of an unchanged source, or add one."""
    if staging.first_key[table] and source_id not in staging.changed:
        found = staging.first_value(
            f"SELECT {KEYS[table]} FROM {table} WHERE source = ? AND {where} AND died = ? AND born < ?",
            (source_id, *values, LIVE, staging.next),
        )
        if found is not None:
            kept[table].add(found)
            return
    staging.add(table, (staging.key(table), *row, staging.next, LIVE))


def _end_refreshed(staging: Staging, kept: Mapping[str, set[int]]) -> None:
    """End what was made of refreshed sources and not put again."""
    for source_id in sorted(staging.refreshed):
        passages = staging.sql.execute(
            "SELECT p.key FROM source s JOIN passage p ON p.source = s.key WHERE s.id = ? AND p.died = ?",
            (source_id, LIVE),
        ).fetchall()
        staging.end_rows("passage", sorted({key for (key,) in passages} - kept["passage"]))
        for table in ("name", "attribute", "entity_source"):
            rows = staging.sql.execute(
                f"SELECT {KEYS[table]} FROM {table} WHERE source = ? AND died = ? AND born < ?",
                (source_id, LIVE, staging.next),
            ).fetchall()
            staging.end_rows(table, sorted({key for (key,) in rows} - kept[table]))


def _scope_rows(staging: Staging, table: str) -> None:
    """Give new rows, and older ones whose source has only now appeared, the scope of their source."""
    key, first = KEYS[table], staging.first_key[table]
    late: list[Row] = []
    if first:
        for source_id in sorted(staging.new):
            late.extend(
                staging.sql.execute(
                    f"SELECT {COLUMNS[table]} FROM {table} WHERE source = ? AND died = ? AND born < ? AND scope = ?",
                    (source_id, LIVE, staging.next, staging.unreadable),
                )
            )
    staging.end_rows(table, [row[0] for row in late])
    for row in late:
        staging.add(table, (staging.key(table), *row[1:-2], staging.next, LIVE))
    staging.flush()
    staging.sql.execute(
        f"UPDATE {table} SET scope = coalesce((SELECT s.scope FROM source s WHERE s.id = {table}.source "
        f"AND s.died = {LIVE}), {staging.unreadable}) WHERE {key} > ?",
        (first,),
    )
    if table == "attribute":
        staging.sql.execute(
            "UPDATE attribute SET (low, high) = (SELECT s.low, s.high FROM source s WHERE s.id = attribute.source "
            f"AND s.died = {LIVE}) WHERE row > ? AND low = ? AND high = ? AND scope <> ?",
            (first, ALWAYS.low, ALWAYS.high, staging.unreadable),
        )


def settle_supports(staging: Staging, labels: Labels) -> set[int]:
    """Write the support sets with their scopes; the keys of all assertions whose sets changed."""
    touched: set[int] = set()
    wanted: list[tuple[int, Members]] = []
    ended: set[int] = set()
    kept: set[int] = set()
    for put in staging.assertions.values():
        wanted.extend((put.key, members) for members in sorted(put.put - put.existing.keys(), key=member_order))
        ended.update(key for members, key in put.existing.items() if members not in put.put)
        kept.update(key for members, key in put.existing.items() if members in put.put)
        if put.put - put.existing.keys():
            touched.add(put.key)
    emptied: set[int] = set()
    if staging.first_key["support_set"]:
        for source_id in sorted(staging.changed | staging.new):
            rows = staging.sql.execute(
                "SELECT s.key, s.assertion, s.scope FROM support_member m CROSS JOIN support_set s "
                "ON s.key = m.support_set WHERE m.source = ? AND s.died = ? AND s.born < ?",
                (source_id, LIVE, staging.next),
            ).fetchall()
            for key, assertion, scope in rows:
                if key in ended:
                    continue
                if source_id in staging.changed and key not in kept:
                    ended.add(key)
                    emptied.add(assertion)
                    continue
                members = tuple(
                    staging.sql.execute(
                        "SELECT source, start, end FROM support_member WHERE support_set = ? ORDER BY ordinal",
                        (key,),
                    )
                )
                if staging.scope(labels.form(members)) != scope:
                    ended.add(key)
                    wanted.append((assertion, members))
                    touched.add(assertion)
    for key in sorted(ended):
        touched.add(int(staging.first_value("SELECT assertion FROM support_set WHERE key = ?", (key,))))
    staging.end_rows("support_set", sorted(ended))
    # Support sets of replaced assertions were ended when the new content came.
    for key in sorted(staging.killed["support_set"] - ended):
        touched.add(int(staging.first_value("SELECT assertion FROM support_set WHERE key = ?", (key,))))
    forms = {members: labels.form(members) for _, members in wanted}
    for form in sorted(set(forms.values())):
        staging.scope(form)
    for assertion, members in wanted:
        key = staging.key("support_set")
        staging.add("support_set", (key, assertion, staging.scopes[forms[members]], staging.next, LIVE))
        for ordinal, member in enumerate(members):
            staging.add("support_member", (key, *member, ordinal))
    staging.flush()
    put_keys = {put.key for put in staging.assertions.values()}
    for assertion in sorted(emptied - put_keys):
        left = staging.first_value(
            "SELECT 1 FROM support_set WHERE assertion = ? AND died = ? LIMIT 1", (assertion, LIVE)
        )
        if left is None:
            staging.end_rows("assertion", (assertion,))
    return touched


def settle_adjacency(staging: Staging, touched: set[int]) -> set[str]:
    """Bring the adjacency rows of the touched assertions' facts up to date; the entities whose facts changed."""
    sql = staging.sql
    sql.execute("CREATE TEMP TABLE IF NOT EXISTS touched (key INTEGER PRIMARY KEY)")
    sql.execute("DELETE FROM temp.touched")
    sql.executemany("INSERT INTO temp.touched VALUES (?)", ((key,) for key in sorted(touched)))
    sql.execute(
        "CREATE TEMP TABLE IF NOT EXISTS dirty_fact (subject TEXT, predicate TEXT, object TEXT, low INTEGER, "
        "high INTEGER, PRIMARY KEY (subject, predicate, object, low, high)) WITHOUT ROWID"
    )
    sql.execute("DELETE FROM temp.dirty_fact")
    sql.execute(
        "INSERT OR IGNORE INTO temp.dirty_fact SELECT a.subject, a.predicate, a.object, a.low, a.high "
        "FROM temp.touched t CROSS JOIN assertion a ON a.key = t.key"
    )
    wanted = set(
        sql.execute(
            "SELECT a.subject, a.predicate, a.object, a.low, a.high, s.scope FROM temp.dirty_fact d "
            "CROSS JOIN assertion a ON a.subject = d.subject AND a.predicate = d.predicate AND a.object = d.object "
            "AND a.low = d.low AND a.high = d.high CROSS JOIN support_set s ON s.assertion = a.key "
            "WHERE a.died = ? AND s.died = ? AND s.scope <> ?",
            (LIVE, LIVE, staging.unreadable),
        )
    )
    current = set(
        sql.execute(
            "SELECT d.subject, d.predicate, d.object, d.low, d.high, x.scope FROM temp.dirty_fact d "
            "CROSS JOIN adjacency x ON x.node = d.subject AND x.predicate = d.predicate AND x.direction = 0 "
            "AND x.other = d.object AND x.low = d.low AND x.high = d.high WHERE x.died = ?",
            (LIVE,),
        )
    )
    for subject, predicate, object_, low, high, scope in sorted(current - wanted):
        for node, direction, other in ((subject, 0, object_), (object_, 1, subject)):
            sql.execute(
                "UPDATE adjacency SET died = ? WHERE node = ? AND predicate = ? AND direction = ? AND other = ? "
                "AND low = ? AND high = ? AND scope = ? AND died = ?",
                (staging.next, node, predicate, direction, other, low, high, scope, LIVE),
            )
    rows: list[Row] = []
    for subject, predicate, object_, low, high, scope in wanted - current:
        tail = (low, high, scope, staging.next, LIVE)
        rows.append((subject, predicate, 0, object_, *tail))
        rows.append((object_, predicate, 1, subject, *tail))
    rows.sort()
    sql.executemany(f"INSERT INTO adjacency ({COLUMNS['adjacency']}) VALUES (?,?,?,?,?,?,?,?,?)", rows)
    ends = {fact[0] for fact in wanted ^ current} | {fact[2] for fact in wanted ^ current}
    # Entities that no reader reaches yet still get their aliases, so that a later source makes them findable.
    for subject, object_ in sql.execute("SELECT DISTINCT subject, object FROM temp.dirty_fact"):
        ends.add(subject)
        ends.add(object_)
    return ends


def settle_entities(staging: Staging, ends: set[str], deltas: dict[int, int]) -> None:
    """Bring types, visibility and aliases of the changed entities up to date."""
    sql, staged = staging.sql, staging.next
    staging.entity_changes = False
    old: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    renamed: set[str] = set()
    for entity_id in sorted(staging.entities):
        types, names = (tuple(part) for part in staging.entities[entity_id])
        content = digest("entity", entity_id, types, names)
        row = sql.execute(
            "SELECT types, names, hash, born FROM entity WHERE id = ? AND died = ?", (entity_id, LIVE)
        ).fetchone()
        if row is not None:
            if bytes(row[2]) == content:
                continue
            sql.execute("UPDATE entity SET died = ? WHERE id = ? AND born = ?", (staged, entity_id, row[3]))
            old[entity_id] = (tuple(json.loads(row[0])), tuple(json.loads(row[1])))
        staging.entity_changes = True
        renamed.add(entity_id)
        staging.add("entity", (entity_id, to_json(types), to_json(names), content, staged, LIVE))
    staging.flush()

    dirty = ends | renamed
    for table in ("entity_source", "name", "attribute"):
        key = KEYS[table]
        dirty.update(
            row[0] for row in sql.execute(f"SELECT entity FROM {table} WHERE {key} > ?", (staging.first_key[table],))
        )
        for killed in staging.killed[table]:
            dirty.add(staging.first_value(f"SELECT entity FROM {table} WHERE {key} = ?", (killed,)))
    if staging.ontology_changed:
        dirty.update(
            row[0]
            for row in sql.execute(
                "SELECT DISTINCT x.entity FROM entity_scope x WHERE x.died = ? AND NOT EXISTS "
                "(SELECT 1 FROM entity_type y WHERE y.entity = x.entity AND y.basis = 0 AND y.died = ?)",
                (LIVE, LIVE),
            )
        )
    ontology = read_ontology(staging.first_value("SELECT value FROM setting WHERE key = '_ontology'"))
    for entity_id in sorted(dirty):
        wanted = {
            (scope, 0)
            for (scope,) in sql.execute(
                "SELECT DISTINCT scope FROM adjacency WHERE node = ? AND died = ?", (entity_id, LIVE)
            )
        }
        # A source that states a name or an attribute of an entity is a source of it.
        wanted |= {
            (scope, 1)
            for table in ("entity_source", "name", "attribute")
            for (scope,) in sql.execute(
                f"SELECT DISTINCT scope FROM {table} WHERE entity = ? AND died = ? AND scope <> ?",
                (entity_id, LIVE, staging.unreadable),
            )
        }
        current = set(
            sql.execute("SELECT scope, via FROM entity_scope WHERE entity = ? AND died = ?", (entity_id, LIVE))
        )
        for scope, via in sorted(current - wanted):
            sql.execute(
                "UPDATE entity_scope SET died = ? WHERE entity = ? AND scope = ? AND via = ? AND died = ?",
                (staged, entity_id, scope, via, LIVE),
            )
        for scope, via in sorted(wanted - current):
            staging.add("entity_scope", (entity_id, scope, via, staged, LIVE))
        row = sql.execute("SELECT types, names FROM entity WHERE id = ? AND died = ?", (entity_id, LIVE)).fetchone()
        types, names = (tuple(json.loads(part)) for part in row) if row else ((), ())
        before = old.get(entity_id, ((), ()) if entity_id in renamed else (types, names))
        _settle_types(staging, entity_id, types, ontology, deltas)
        for (said_types, said_names), scopes, sign in ((before, current, -1), ((types, names), wanted, 1)):
            for scope, via in scopes:
                content = digest("seen", entity_id, said_types, () if via else said_names, via)
                deltas[scope] += sign * int.from_bytes(content, "big")
        _settle_aliases(staging, entity_id, names)


def _settle_types(
    staging: Staging, entity_id: str, stated: Sequence[str], ontology: Ontology, deltas: dict[int, int]
) -> None:
    sql = staging.sql
    # Told types are kept by what tells them, so that a reader's types come from what the reader sees.
    wanted: set[tuple[str, int, int]] = {(type_, _STATED, 0) for type_ in stated}
    if not stated:
        if UNTYPED in ontology.types:
            wanted.add((UNTYPED, _BY_NOTHING, 0))
        wanted.update(
            (type_, _BY_RECORD, scope)
            for type_, scope in sql.execute(
                "SELECT DISTINCT type, scope FROM entity_source WHERE entity = ? AND died = ? AND type IS NOT NULL "
                "AND scope <> ?",
                (entity_id, LIVE, staging.unreadable),
            )
        )
        for predicate, direction, scope in sql.execute(
            "SELECT DISTINCT predicate, direction, scope FROM adjacency WHERE node = ? AND died = ?",
            (entity_id, LIVE),
        ):
            relation = ontology.relations.get(predicate)
            types = () if relation is None else relation.range if direction else relation.domain
            if len(types) == 1:
                wanted.add((types[0], _BY_FACT, scope))
            elif types and ontology.inferred:
                # Inferred types of a place are listed by their number of facts.
                wanted.add((types[0], _BY_OPEN_FACT, scope))
    current = set(
        sql.execute("SELECT type, basis, scope FROM entity_type WHERE entity = ? AND died = ?", (entity_id, LIVE))
    )
    for type_, basis, scope in sorted(current - wanted):
        sql.execute(
            "UPDATE entity_type SET died = ? WHERE entity = ? AND type = ? AND basis = ? AND scope = ? AND died = ?",
            (staging.next, entity_id, type_, basis, scope, LIVE),
        )
    for type_, basis, scope in sorted(wanted - current):
        staging.add("entity_type", (entity_id, type_, basis, scope, staging.next, LIVE))
    for sign, changed in ((-1, current - wanted), (1, wanted - current)):
        for type_, basis, scope in changed:
            if scope:
                deltas[scope] += sign * int.from_bytes(digest("type", entity_id, type_, basis), "big")


def _settle_aliases(staging: Staging, entity_id: str, names: tuple[str, ...]) -> None:
    sql = staging.sql
    wanted: set[tuple[str, str, int, int]] = {(alias_key(entity_id), "id", 0, 0)}
    local = local_part(entity_id)
    if local != entity_id:
        wanted.add((alias_key(local), "local", 0, 0))
    wanted.update((alias_key(name), "name", 1, 0) for name in names)
    stated = sql.execute(
        "SELECT DISTINCT name, scope FROM name WHERE entity = ? AND died = ? AND scope <> ?",
        (entity_id, LIVE, staging.unreadable),
    )
    wanted.update((alias_key(name), "name", 2, scope) for name, scope in stated)
    current = set(
        sql.execute("SELECT key, via, basis, scope FROM alias WHERE entity = ? AND died = ?", (entity_id, LIVE))
    )
    for key, via, basis, scope in sorted(current - wanted):
        sql.execute(
            "UPDATE alias SET died = ? WHERE key = ? AND entity = ? AND via = ? AND basis = ? AND scope = ? AND died = ?",
            (staging.next, key, entity_id, via, basis, scope, LIVE),
        )
    for key, via, basis, scope in sorted(wanted - current):
        staging.add("alias", (key, entity_id, via, basis, scope, staging.next, LIVE))
