"""Catalog on SQLite."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphroute.access import admits, scope_clauses
from graphroute.errors import SnapshotError
from graphroute.stores.database import Database, alive, attribute_condition, time_condition, typed
from graphroute.stores.writer import local_part, read_ontology
from graphroute.types.graph import Attribute, AttributeFilter, Entity, Support
from graphroute.types.ontology import Ontology
from graphroute.types.query import Candidate
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source, SourceSpan
from graphroute.types.time import ANY_TIME, MAX_INSTANT, MIN_INSTANT, Instant, Interval, TimeFilter
from graphroute.types.view import View

_KEPT_VIEWS = 64
_ENUMERATED = 200
_VIA = {"id": 0, "local": 1, "name": 2}
_RECENCY = f"CASE WHEN s.low > {MIN_INSTANT} THEN s.low ELSE coalesce(s.timestamp, {MIN_INSTANT}) END"


class SqliteCatalog:
    """The catalog port over one store file. Safe to share between threads."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = threading.Lock()
        self._views: OrderedDict[tuple[int, frozenset[str]], tuple[frozenset[int], str]] = OrderedDict()
        self._facts_about: OrderedDict[tuple[int, frozenset[int]], dict[Any, Any]] = OrderedDict()
        self._ontology: tuple[str | None, Ontology] | None = None

    def view(self, *, reader: Reader, sequence: int | None = None) -> View:
        """The reader's world at a snapshot (the published one if None). Raises SnapshotError if it is gone."""
        pinned = self._db.sequence() if sequence is None else sequence
        key = (pinned, reader.labels)
        with self._lock:
            known = self._views.get(key)
            if known is not None and sequence is None:
                self._views.move_to_end(key)
        if known is None or sequence is not None:
            row = self._db.connection.execute("SELECT 1 FROM snapshot WHERE sequence = ?", (pinned,)).fetchone()
            if row is None or pinned > self._db.sequence():
                raise SnapshotError(f"snapshot {pinned} is not there", hint="ask against the published one")
        if known is None:
            known = self._readable(pinned, reader.labels)
            with self._lock:
                self._views[key] = known
                while len(self._views) > _KEPT_VIEWS:
                    self._views.popitem(last=False)
        return View(reader=reader, sequence=pinned, scopes=known[0], token=known[1])

    def _readable(self, sequence: int, labels: frozenset[str]) -> tuple[frozenset[int], str]:
        """Readable scopes that hold something at the snapshot, and the token made of their digests alone."""
        scopes: set[int] = set()
        digests: list[tuple[str, bytes]] = []
        rows = self._db.connection.execute(
            "SELECT s.id, s.form, d.digest, max(d.sequence) FROM scope s JOIN scope_digest d ON d.scope = s.id "
            "WHERE d.sequence <= ? GROUP BY s.id",
            (sequence,),
        )
        for scope, form, digest, _ in rows:
            if any(digest) and admits(scope_clauses(form), labels):
                scopes.add(scope)
                digests.append((form, digest))
        total = hashlib.blake2b(digest_size=8)
        for form, digest in sorted(digests):
            total.update(hashlib.blake2b(form.encode(), digest_size=16).digest() + digest)
        return frozenset(scopes), total.hexdigest()

    def _memo(self, view: View) -> dict[Any, Any]:
        """What was computed for all views that read the same rows."""
        key = (view.sequence, view.scopes)
        with self._lock:
            memo = self._facts_about.setdefault(key, {})
            self._facts_about.move_to_end(key)
            while len(self._facts_about) > _KEPT_VIEWS:
                self._facts_about.popitem(last=False)
        return memo

    def settings(self) -> Mapping[str, str]:
        """Dataset name, `as_of` day, embedder, default labels: the operator's configuration kept in the store."""
        rows = self._db.connection.execute("SELECT key, value FROM setting ORDER BY key")
        return {key: value for key, value in rows if not key.startswith("_")}

    def ontology(self) -> Ontology:
        """The ontology the store was ingested with."""
        row = self._db.connection.execute("SELECT value FROM setting WHERE key = '_ontology'").fetchone()
        text = row[0] if row else None
        known = self._ontology
        if known is None or known[0] != text:
            known = self._ontology = (text, read_ontology(text))
        return known[1]

    def ontology_text(self) -> str:
        """The ontology as YAML, as the operator wrote it or inference did; empty if none was put."""
        row = self._db.connection.execute("SELECT value FROM setting WHERE key = '_ontology_text'").fetchone()
        return str(row[0]) if row else ""

    def sources(self, ids: Iterable[str], *, view: View) -> Mapping[str, Source]:
        """Readable sources by external id; hidden and absent ones are left out alike."""
        rows = self._db.connection.execute(
            "SELECT s.id, s.title, s.text, s.labels, s.parent, s.kind, s.node, s.lang, s.low, s.high, s.timestamp, "
            "s.origin, s.extra FROM json_each(?) j CROSS JOIN source s ON s.id = j.value "
            f"WHERE {alive(view, 's')} AND {self._db.in_scopes(view, 's.scope')}",
            (_ids(ids),),
        )
        return {
            row[0]: Source(
                id=row[0],
                title=row[1],
                text=row[2],
                labels=frozenset(json.loads(row[3])),
                parent=row[4],
                kind=row[5],
                node=row[6],
                lang=row[7],
                validity=_interval(row[8], row[9]),
                timestamp=row[10],
                origin=row[11],
                extra=json.loads(row[12]),
            )
            for row in rows
        }

    def passages(self, ids: Iterable[str], *, view: View) -> Mapping[str, Passage]:
        """Readable passages by id."""
        rows = self._db.connection.execute(
            f"SELECT {_PASSAGE} FROM json_each(?) j CROSS JOIN passage p ON p.id = j.value "
            f"CROSS JOIN source s ON s.key = p.source WHERE {alive(view, 'p')} AND {self._db.in_scopes(view, 'p.scope')}",
            (_ids(ids),),
        )
        return {row[0]: _passage(row) for row in rows}

    def passages_of(self, source_ids: Iterable[str], *, view: View) -> Sequence[Passage]:
        """Readable passages of sources, in source then start order."""
        rows = self._db.connection.execute(
            f"SELECT {_PASSAGE} FROM json_each(?) j CROSS JOIN source s ON s.id = j.value "
            f"CROSS JOIN passage p ON p.source = s.key WHERE {alive(view, 'p')} "
            f"AND {self._db.in_scopes(view, 'p.scope')} ORDER BY s.id, p.start, p.end, p.id",
            (_ids(source_ids),),
        )
        return [_passage(row) for row in rows]

    def aliases(self, keys: Iterable[str], *, view: View) -> Mapping[str, tuple[Candidate, ...]]:
        """Entities by folded alias (`graphroute.text.alias_key`), in id order; names by their own supports."""
        seen = f"x.entity = a.entity AND {alive(view, 'x')} AND {self._db.in_scopes(view, 'x.scope')}"
        rows = self._db.connection.execute(
            "SELECT a.key, a.entity, a.via FROM json_each(?) j CROSS JOIN alias a ON a.key = j.value "
            f"WHERE {alive(view, 'a')} AND CASE a.basis WHEN 2 THEN {self._db.in_scopes(view, 'a.scope')} "
            f"ELSE EXISTS (SELECT 1 FROM entity_scope x WHERE {seen} AND x.via <= 1 - a.basis) END",
            (_ids(keys),),
        ).fetchall()
        best: dict[str, dict[str, str]] = defaultdict(dict)
        for key, entity_id, via in rows:
            before = best[key].get(entity_id)
            if before is None or _VIA[via] < _VIA[before]:
                best[key][entity_id] = via
        entities = self.entities({entity_id for found in best.values() for entity_id in found}, view=view)
        return {
            key: tuple(
                Candidate(
                    entity_id=entity_id,
                    types=entities[entity_id].types,
                    name=entities[entity_id].name,
                    via=best[key][entity_id],
                )
                for entity_id in sorted(best[key])
            )
            for key in sorted(best)
        }

    def entities(self, ids: Iterable[str], *, view: View) -> Mapping[str, Entity]:
        """Readable entities with their display form for this reader."""
        wanted = _ids(ids)
        if wanted == "[]":
            return {}
        connection, scopes = self._db.connection, self._db.in_scopes
        visible = dict(
            connection.execute(
                "SELECT x.entity, min(x.via) FROM json_each(?) j CROSS JOIN entity_scope x ON x.entity = j.value "
                f"WHERE {alive(view, 'x')} AND {scopes(view, 'x.scope')} GROUP BY x.entity",
                (wanted,),
            )
        )
        said = {
            entity_id: (json.loads(types), json.loads(names))
            for entity_id, types, names in connection.execute(
                "SELECT e.id, e.types, e.names FROM json_each(?) j CROSS JOIN entity e ON e.id = j.value "
                f"WHERE {alive(view, 'e')}",
                (wanted,),
            )
        }
        told: dict[str, list[str]] = defaultdict(list)
        for entity_id, type_ in connection.execute(
            "SELECT DISTINCT y.entity, y.type FROM json_each(?) j CROSS JOIN entity_type y ON y.entity = j.value "
            f"WHERE y.basis > 0 AND {typed(self._db, view)} ORDER BY y.entity, y.type",
            (wanted,),
        ):
            told[entity_id].append(type_)
        stated: dict[str, list[str]] = defaultdict(list)
        for entity_id, name in connection.execute(
            "SELECT n.entity, n.name FROM json_each(?) j CROSS JOIN name n ON n.entity = j.value "
            f"LEFT JOIN source s ON s.id = n.source AND {alive(view, 's')} "
            f"WHERE {alive(view, 'n')} AND {scopes(view, 'n.scope')} "
            f"ORDER BY n.entity, {_RECENCY} DESC, n.source, n.start, n.name",
            (wanted,),
        ):
            stated[entity_id].append(name)
        ontology = self.ontology()
        found: dict[str, Entity] = {}
        for entity_id in sorted(visible):
            types, names = said.get(entity_id, ((), ()))
            types = types or told.get(entity_id, ())
            readable = tuple(dict.fromkeys([*(names if visible[entity_id] == 0 else ()), *stated.get(entity_id, ())]))
            found[entity_id] = Entity(
                id=entity_id, types=tuple(types), name=_display(entity_id, types, readable, ontology), names=readable
            )
        return found

    def attributes(
        self,
        entity_ids: Iterable[str],
        keys: Iterable[str] | None = None,
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
    ) -> Sequence[Attribute]:
        """Readable attributes, tested on the validity of their source, in (entity, key, newest first) order."""
        wanted = None if keys is None else sorted(set(keys))
        narrowed = "" if wanted is None else " AND t.key IN (SELECT value FROM json_each(?))"
        rows = self._db.connection.execute(
            "SELECT t.entity, t.key, t.value, t.source, t.start, t.end, t.number, t.instant, t.low, t.high "
            "FROM json_each(?) j CROSS JOIN attribute t ON t.entity = j.value "
            f"LEFT JOIN source s ON s.id = t.source AND {alive(view, 's')} "
            f"WHERE {alive(view, 't')} AND {self._db.in_scopes(view, 't.scope')} "
            f"AND {time_condition(time, 't.low', 't.high')}{narrowed} "
            f"ORDER BY t.entity, t.key, {_RECENCY} DESC, t.source, t.start, t.value, t.end",
            (_ids(entity_ids), *(() if wanted is None else (json.dumps(wanted),))),
        )
        return [
            Attribute(
                entity_id=row[0],
                key=row[1],
                value=row[2],
                span=SourceSpan(row[3], row[4], row[5]),
                number=row[6],
                instant=row[7],
                validity=_interval(row[8], row[9]),
            )
            for row in rows
        ]

    def attribute_values(self, keys: Iterable[str], *, view: View) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """For each folded value found: the (entity type, attribute key) pairs that have it, for enumerated attributes.

        Enumerated is what the ontology marks so, and else an attribute of a type with at most 200 distinct readable values.
        """
        wanted = _ids(keys)
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
        rows = connection.execute(
            "SELECT DISTINCT t.folded, y.type, t.key FROM json_each(?) k CROSS JOIN json_each(?) j "
            "CROSS JOIN attribute t ON t.key = k.value AND t.folded = j.value "
            f"CROSS JOIN entity_type y ON y.entity = t.entity WHERE {readable}",
            (json.dumps(attribute_keys), wanted),
        ).fetchall()
        ontology = self.ontology()
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for folded, type_, key in sorted(rows):
            enumerated = memo.get(("enumerated", type_, key))
            if enumerated is None:
                if any(kind.key == key and kind.enumerated for kind in ontology.attributes.get(type_, ())):
                    enumerated = True
                else:
                    count = connection.execute(
                        "SELECT count(*) FROM (SELECT DISTINCT t.folded FROM attribute t "
                        "CROSS JOIN entity_type y ON y.entity = t.entity AND y.type = ? "
                        f"WHERE t.key = ? AND {readable} LIMIT {_ENUMERATED + 1})",
                        (type_, key),
                    ).fetchone()[0]
                    enumerated = count <= _ENUMERATED
                memo["enumerated", type_, key] = enumerated
            if enumerated:
                found[folded].append((type_, key))
        return {folded: tuple(pairs) for folded, pairs in sorted(found.items())}

    def entities_where(
        self,
        types: Sequence[str],
        filters: Sequence[AttributeFilter],
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
    ) -> tuple[str, ...]:
        """Ids of readable entities of the types that pass all filters, in id order."""
        scoped = f"{alive(view, 't')} AND {self._db.in_scopes(view, 't.scope')} AND {time_condition(time, 't.low', 't.high')}"
        conditions: list[str] = []
        parameters: list[object] = [json.dumps(sorted(set(types)))]
        for test in filters:
            condition, values = attribute_condition(test, scoped, "y.entity")
            conditions.append(f" AND {condition}")
            parameters.extend(values)
        rows = self._db.connection.execute(
            "SELECT DISTINCT y.entity FROM json_each(?) j CROSS JOIN entity_type y ON y.type = j.value "
            f"WHERE {typed(self._db, view)}{''.join(conditions)} AND EXISTS (SELECT 1 FROM entity_scope x "
            f"WHERE x.entity = y.entity AND {alive(view, 'x')} AND {self._db.in_scopes(view, 'x.scope')}) "
            "ORDER BY y.entity",
            parameters,
        )
        return tuple(row[0] for row in rows)

    def supports(self, assertion_ids: Iterable[str], *, view: View) -> Mapping[str, tuple[Support, ...]]:
        """For each assertion the spans of its readable support sets: sets newest first, members of a set together.

        A set is as new as its newest member: by the start of the source's validity, else by its timestamp.
        """
        rows = self._db.connection.execute(
            f"SELECT a.id, z.key, m.source, m.start, m.end, s.low, s.high, s.timestamp, s.kind, {_RECENCY} "
            "FROM json_each(?) j CROSS JOIN assertion a ON a.id = j.value "
            "CROSS JOIN support_set z ON z.assertion = a.key CROSS JOIN support_member m ON m.support_set = z.key "
            f"CROSS JOIN source s ON s.id = m.source WHERE {alive(view, 'a')} AND {alive(view, 'z')} "
            f"AND {self._db.in_scopes(view, 'z.scope')} AND {alive(view, 's')} ORDER BY a.id, z.key, m.ordinal",
            (_ids(assertion_ids),),
        )
        sets: dict[str, dict[int, list[tuple[int, Support]]]] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            support = Support(
                assertion_id=row[0],
                span=SourceSpan(row[2], row[3], row[4]),
                source_validity=_interval(row[5], row[6]),
                source_timestamp=row[7],
                source_kind=row[8],
            )
            sets[row[0]][row[1]].append((row[9], support))
        found: dict[str, tuple[Support, ...]] = {}
        for assertion_id in sorted(sets):
            ordered = sorted(
                sets[assertion_id].values(),
                key=lambda members: (
                    -max(age for age, _ in members),
                    [(s.span.source_id, s.span.start or 0, s.span.end or 0) for _, s in members],
                ),
            )
            found[assertion_id] = tuple(
                replace(support, group=group) for group, members in enumerate(ordered) for _, support in members
            )
        return found

    def facts_of_sources(self, source_ids: Iterable[str], *, view: View) -> Mapping[str, tuple[str, ...]]:
        """For each source the ids of the readable assertions it supports, in id order."""
        found: dict[str, list[str]] = defaultdict(list)
        for source_id, assertion_id in self._db.connection.execute(
            "SELECT DISTINCT m.source, a.id FROM json_each(?) j CROSS JOIN support_member m ON m.source = j.value "
            "CROSS JOIN support_set z ON z.key = m.support_set CROSS JOIN assertion a ON a.key = z.assertion "
            f"WHERE {alive(view, 'z')} AND {self._db.in_scopes(view, 'z.scope')} AND {alive(view, 'a')} "
            "ORDER BY m.source, a.id",
            (_ids(source_ids),),
        ):
            found[source_id].append(assertion_id)
        return {source_id: tuple(assertions) for source_id, assertions in found.items()}

    def source_ids_of(self, entity_ids: Iterable[str], *, view: View) -> Mapping[str, tuple[str, ...]]:
        """For each entity the readable sources attached to it: its own record or prose, then sources of its facts.

        Each part newest first, then by id.
        """
        wanted = _ids(entity_ids)
        found: dict[str, dict[str, None]] = defaultdict(dict)
        scopes = self._db.in_scopes
        own = self._db.connection.execute(
            "SELECT e.entity, e.source FROM json_each(?) j CROSS JOIN entity_source e ON e.entity = j.value "
            f"CROSS JOIN source s ON s.id = e.source WHERE {alive(view, 'e')} AND {scopes(view, 'e.scope')} "
            f"AND {alive(view, 's')} ORDER BY e.entity, {_RECENCY} DESC, s.id",
            (wanted,),
        )
        for entity_id, source_id in own:
            found[entity_id].setdefault(source_id)
        proving = self._db.connection.execute(
            "SELECT DISTINCT f.node, m.source, "
            f"{_RECENCY} AS age FROM (SELECT DISTINCT x.node, x.predicate, x.other, x.low, x.high, "
            "CASE x.direction WHEN 0 THEN x.node ELSE x.other END AS subject, "
            "CASE x.direction WHEN 0 THEN x.other ELSE x.node END AS object FROM json_each(?) j "
            f"CROSS JOIN adjacency x ON x.node = j.value WHERE {alive(view, 'x')} AND {scopes(view, 'x.scope')}) f "
            "CROSS JOIN assertion a ON a.subject = f.subject AND a.predicate = f.predicate AND a.object = f.object "
            "AND a.low = f.low AND a.high = f.high CROSS JOIN support_set z ON z.assertion = a.key "
            "CROSS JOIN support_member m ON m.support_set = z.key CROSS JOIN source s ON s.id = m.source "
            f"WHERE {alive(view, 'a')} AND {alive(view, 'z')} AND {scopes(view, 'z.scope')} AND {alive(view, 's')} "
            "ORDER BY f.node, age DESC, m.source",
            (wanted,),
        )
        for entity_id, source_id, _ in proving:
            found[entity_id].setdefault(source_id)
        return {entity_id: tuple(found[entity_id]) for entity_id in sorted(found)}

    def counts(self, *, view: View) -> Mapping[str, int]:
        """Readable sources, passages, entities and assertions."""
        memo = self._memo(view)
        if "counts" not in memo:
            readable = f"{alive(view)} AND {self._db.in_scopes(view)}"
            memo["counts"] = {
                name: self._db.connection.execute(f"SELECT {what} FROM {table} WHERE {readable}").fetchone()[0]
                for name, what, table in (
                    ("sources", "count(*)", "source"),
                    ("passages", "count(*)", "passage"),
                    ("entities", "count(DISTINCT entity)", "entity_scope"),
                    ("assertions", "count(DISTINCT assertion)", "support_set"),
                )
            }
        return dict(memo["counts"])

    def data_span(self, *, view: View) -> tuple[Instant | None, Instant | None]:
        """Earliest and latest instant named by readable sources and facts."""
        memo = self._memo(view)
        if "span" not in memo:
            readable = f"{alive(view)} AND {self._db.in_scopes(view)}"
            rows = self._db.connection.execute(
                f"SELECT nullif(low, {MIN_INSTANT}) AS i FROM source WHERE {readable} "
                f"UNION SELECT nullif(high, {MAX_INSTANT}) FROM source WHERE {readable} "
                f"UNION SELECT timestamp FROM source WHERE {readable} "
                f"UNION SELECT nullif(low, {MIN_INSTANT}) FROM adjacency WHERE {readable} "
                f"UNION SELECT nullif(high, {MAX_INSTANT}) FROM adjacency WHERE {readable}"
            )
            instants = [row[0] for row in rows if row[0] is not None]
            memo["span"] = (min(instants), max(instants)) if instants else (None, None)
        span: tuple[Instant | None, Instant | None] = memo["span"]
        return span


_PASSAGE = "p.id, s.id, p.start, p.end, p.text, p.title, p.low, p.high, p.timestamp, p.kind, p.node"


def _passage(row: tuple[Any, ...]) -> Passage:
    return Passage(
        id=row[0],
        source_id=row[1],
        start=row[2],
        end=row[3],
        text=row[4],
        title=row[5],
        validity=_interval(row[6], row[7]),
        timestamp=row[8],
        kind=row[9],
        node=row[10],
    )


def _ids(ids: Iterable[str]) -> str:
    return json.dumps(sorted(set(ids)))


def _interval(low: int, high: int) -> Interval:
    return Interval(None if low == MIN_INSTANT else low, None if high == MAX_INSTANT else high)


def _display(entity_id: str, types: Sequence[str], names: Sequence[str], ontology: Ontology) -> str:
    local = local_part(entity_id)
    for type_ in types:
        declared = ontology.types.get(type_)
        if declared is not None and declared.display:
            text = declared.display
            for place, value in (("{id}", entity_id), ("{local}", local), ("{name}", names[0] if names else local)):
                text = text.replace(place, value)
            return text
    return names[0] if names else local
