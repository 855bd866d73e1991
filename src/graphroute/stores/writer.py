"""SnapshotWriter: stages sources, passages and assertions, and publishes them as one snapshot."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphroute.access import scope_form
from graphroute.errors import BackendUnavailableError, DataError, UsageError
from graphroute.stores.database import Database
from graphroute.stores.schema import LIVE, UNREADABLE, pack_terms
from graphroute.text import alias_key, fold, terms
from graphroute.types.graph import Assertion, Attribute
from graphroute.types.ontology import UNTYPED, Ontology
from graphroute.types.source import Passage, Source, SourceSpan
from graphroute.types.time import ALWAYS, Interval

_MODULUS = 2**128
_BATCH = 5_000
_STATED, _BY_RECORD, _BY_FACT, _BY_OPEN_FACT, _BY_NOTHING = range(5)

Member = tuple[str, int | None, int | None]
Members = tuple[Member, ...]
Row = tuple[Any, ...]

COLUMNS = {
    "source": "key, id, generation, hash, labels, scope, parent, kind, node, lang, low, high, timestamp, origin, extra, "
    "born, died, title, text",
    "passage": "key, id, source, scope, kind, node, low, high, timestamp, start, end, born, died, hash, title, text",
    "passage_terms": "passage, terms",
    "term": "id, term",
    "assertion": "key, id, subject, predicate, object, low, high, hash, attributes, extraction_version, review_status, "
    "born, died",
    "support_set": "key, assertion, scope, born, died",
    "support_member": "support_set, source, start, end, ordinal",
    "name": "key, entity, name, source, start, end, scope, born, died",
    "attribute": "row, entity, key, value, folded, number, instant, low, high, source, start, end, scope, born, died",
    "entity_source": "key, entity, source, type, scope, born, died",
    "entity": "id, types, names, hash, born, died",
    "entity_type": "entity, type, basis, scope, born, died",
    "entity_scope": "entity, scope, via, born, died",
    "alias": "key, entity, via, basis, scope, born, died",
    "adjacency": "node, predicate, direction, other, low, high, scope, born, died",
    "scope_digest": "scope, sequence, digest",
}
"""Columns of the tables that are written row by row; parents come before children."""
_KEYS = {
    "source": "key",
    "passage": "key",
    "assertion": "key",
    "support_set": "key",
    "name": "key",
    "attribute": "row",
    "entity_source": "key",
    "term": "id",
}


def local_part(entity_id: str) -> str:
    """The id without its prefix: after the first ":", else after the last "/", else all of it."""
    head, colon, tail = entity_id.partition(":")
    if colon and head and tail and not tail.startswith("//"):
        return tail
    tail = entity_id.rpartition("/")[2]
    return tail or entity_id


def read_ontology(text: str | None) -> Ontology:
    """The ontology from the JSON that a store keeps; an empty one from None."""
    if text is None:
        return Ontology()
    from pydantic import TypeAdapter

    return TypeAdapter(Ontology).validate_json(text)


@dataclass(slots=True)
class _PutAssertion:
    """An assertion of this write: its row, its support sets so far, and the sets the store already had."""

    key: int
    hash: bytes
    put: set[Members]
    existing: dict[Members, int] = field(default_factory=dict)


class SnapshotWriter:
    """All writes of a store. `begin`, any number of `put_*`, then `publish` or `rollback`.

    One writer at a time; readers are never blocked and see nothing until `publish`. Everything between is one
    transaction, so a process killed at any point leaves the published snapshot as it was, and running the same
    puts again gives the same store. Putting unchanged content again changes nothing. The order of puts inside a
    session does not matter, except that a source is put before its passages.

    A changed source is a new generation: its passages, names, attributes and the support sets it takes part in end with the
    old one unless they are put again in the same session.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._connection: sqlite3.Connection | None = None
        self._open = False

    # Session ----------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start a session. Raises BackendUnavailableError while another writer has one open."""
        if self._open:
            raise UsageError("a session is open", hint="publish or roll back first")
        if self._db.read_only:
            raise UsageError("the store was opened read-only")
        if self._connection is None:
            self._connection = self._db.writing_connection()
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise BackendUnavailableError(
                f"the store is being written by another process: {error}", where=str(self._db.path)
            ) from error
        self._open = True
        self._published = int(self._one("SELECT sequence FROM pointer") or 0)
        # A snapshot that was staged and never published is complete; the next one goes on from it.
        self._staged = int(self._one("SELECT max(sequence) FROM snapshot") or 0)
        self._next = self._staged + 1
        self._scopes: dict[str, int] = dict(self._sql.execute("SELECT form, id FROM scope"))
        self._unreadable = self._scope(UNREADABLE)
        self._counter = {
            table: int(self._one(f"SELECT coalesce(max({key}), 0) FROM {table}") or 0) for table, key in _KEYS.items()
        }
        self._first_key = dict(self._counter)
        self._buffers: dict[str, list[Row]] = defaultdict(list)
        self._killed: dict[str, set[int]] = defaultdict(set)
        self._terms: dict[str, int] | None = None
        self._other_changes = False
        self._ontology_changed = False

        self._put_sources: dict[str, tuple[bytes, bool]] = {}
        self._source_keys: dict[str, int] = {}
        self._changed: set[str] = set()
        self._new: set[str] = set()
        self._refreshed: set[str] = set()
        self._put_passages: dict[str, tuple[bytes, int]] = {}
        self._entities: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
        self._names: set[tuple[str, str, Member]] = set()
        self._entity_sources: set[tuple[str, str, str | None]] = set()
        self._attributes: set[Row] = set()
        self._assertions: dict[str, _PutAssertion] = {}

    def rollback(self) -> None:
        """Drop everything since `begin`."""
        if self._open:
            self._sql.execute("ROLLBACK")
            self._open = False

    @property
    def _sql(self) -> sqlite3.Connection:
        self._require_session()
        assert self._connection is not None
        return self._connection

    def _require_session(self) -> None:
        if not self._open:
            raise UsageError("no session is open", hint="call begin() first")

    def _one(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        row = self._sql.execute(sql, parameters).fetchone()
        return row[0] if row else None

    def _key(self, table: str) -> int:
        self._counter[table] += 1
        return self._counter[table]

    def _add(self, table: str, row: Row) -> None:
        buffer = self._buffers[table]
        buffer.append(row)
        if len(buffer) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        # In the order of the columns table, parents come before children.
        for table, columns in COLUMNS.items():
            rows = self._buffers.get(table)
            if rows:
                places = ",".join("?" * (columns.count(",") + 1))
                self._sql.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)
                rows.clear()

    def _kill(self, table: str, keys: Iterable[int]) -> None:
        found = [key for key in keys if key not in self._killed[table]]
        column = _KEYS[table]
        self._sql.executemany(f"UPDATE {table} SET died = ? WHERE {column} = ?", ((self._next, key) for key in found))
        self._killed[table].update(found)

    def _scope(self, form: str) -> int:
        found = self._scopes.get(form)
        if found is None:
            found = self._scopes[form] = len(self._scopes) + 1
            self._sql.execute("INSERT INTO scope (id, form) VALUES (?, ?)", (found, form))
        return found

    # Sources and what is made of them -----------------------------------------------------------------------------------

    def put_source(self, source: Source) -> bool:
        """Stage a source. False if the published one is the same; then nothing of it needs to be put again.

        Raises DataError if the session already holds the id with other content.
        """
        self._require_session()
        if not source.id:
            raise DataError("a source has an empty id")
        _check_interval(source.validity, f"source {source.id!r}")
        labels = sorted(source.labels)
        content = _digest(
            "source", source.id, source.title, source.text, labels, source.parent, source.kind, source.node, source.lang,
            source.validity.low, source.validity.high, source.timestamp, source.origin, sorted(source.extra.items()),
        )  # fmt: skip
        before = self._put_sources.get(source.id)
        if before is not None:
            if before[0] != content:
                raise DataError(f"source {source.id!r} is given twice with different content")
            return before[1]
        row = self._sql.execute("SELECT key, hash FROM source WHERE id = ? AND died = ?", (source.id, LIVE)).fetchone()
        if row is not None and bytes(row[1]) == content:
            self._put_sources[source.id] = (content, False)
            self._source_keys[source.id] = row[0]
            return False
        if row is not None:
            self._kill("source", (row[0],))
            self._changed.add(source.id)
            self.refresh(source.id)
        elif source.id not in self._changed:
            self._new.add(source.id)
        generation = 1 + max(
            int(self._one("SELECT coalesce(max(generation), 0) FROM source WHERE id = ?", (source.id,))),
            int(self._one("SELECT generation FROM tombstone WHERE hash = ?", (_digest("id", source.id),)) or 0),
        )
        key = self._key("source")
        self._sql.execute(
            f"INSERT INTO source ({COLUMNS['source']}) VALUES ({','.join('?' * 19)})",
            (
                key, source.id, generation, content, _json(labels), self._scope(scope_form([labels])), source.parent,
                source.kind, source.node, source.lang, source.validity.low, source.validity.high, source.timestamp,
                source.origin, _json(dict(sorted(source.extra.items()))), self._next, LIVE, source.title, source.text,
            ),
        )  # fmt: skip
        self._put_sources[source.id] = (content, True)
        self._source_keys[source.id] = key
        if source.node:
            self.put_entity_source(source.node, source.id)
        return True

    def refresh(self, source_id: str) -> None:
        """Everything made of the source will be put again: its passages, names, attributes and entity links.

        What is not put again before the publish ends. Implied for a changed source; to be called for an unchanged one
        after the chunker or the record mappings changed.
        """
        self._require_session()
        self._refreshed.add(source_id)

    def remove_source(self, source_id: str) -> bool:
        """Stage the removal of a source and everything only it proves. False if there is no such source.

        The id is marked, so that a source of the same id put later is a new generation.
        """
        row = self._sql.execute(
            "SELECT key, generation FROM source WHERE id = ? AND died = ?", (source_id, LIVE)
        ).fetchone()
        if row is None:
            return False
        self._sql.execute(
            "INSERT INTO tombstone VALUES (?, ?, ?) "
            "ON CONFLICT (hash) DO UPDATE SET generation = excluded.generation, sequence = excluded.sequence",
            (_digest("id", source_id), row[1], self._next),
        )
        self._changed.add(source_id)
        self.refresh(source_id)
        self._flush()
        self._kill("source", (row[0],))
        own = {
            key for (key,) in self._sql.execute("SELECT key FROM passage WHERE source = ? AND died = ?", (row[0], LIVE))
        }
        self._put_sources.pop(source_id, None)
        self._source_keys.pop(source_id, None)
        self._new.discard(source_id)
        self._put_passages = {
            passage: (content, key) for passage, (content, key) in self._put_passages.items()
            if key not in own
        }  # fmt: skip
        self._names = {item for item in self._names if item[2][0] != source_id}
        self._entity_sources = {item for item in self._entity_sources if item[1] != source_id}
        self._attributes = {item for item in self._attributes if item[9] != source_id}
        return True

    def put_passages(self, passages: Sequence[Passage]) -> None:
        """Stage passages of sources already put, and their search terms.

        Raises DataError for an unknown source, or an id given twice with different content.
        """
        self._require_session()
        for passage in passages:
            source_key = self._source_key(passage.source_id)
            content = _digest(
                "passage", passage.id, passage.source_id, passage.start, passage.end, passage.text, passage.title,
                passage.validity.low, passage.validity.high, passage.timestamp, passage.kind, passage.node,
            )  # fmt: skip
            before = self._put_passages.get(passage.id)
            if before is not None:
                if before[0] != content:
                    raise DataError(f"passage {passage.id!r} is given twice with different content")
                continue
            if self._first_key["passage"]:
                row = self._sql.execute(
                    "SELECT key, hash, source FROM passage WHERE id = ? AND died = ? AND born < ?",
                    (passage.id, LIVE, self._next),
                ).fetchone()
                if row is not None and bytes(row[1]) == content and row[2] == source_key:
                    self._put_passages[passage.id] = (content, row[0])
                    continue
                if row is not None:
                    self._kill("passage", (row[0],))
            key = self._key("passage")
            scope = self._one("SELECT scope FROM source WHERE key = ?", (source_key,))
            self._add(
                "passage",
                (
                    key, passage.id, source_key, scope, passage.kind, passage.node, passage.validity.low,
                    passage.validity.high, passage.timestamp, passage.start, passage.end, self._next, LIVE, content,
                    passage.title, passage.text,
                ),
            )  # fmt: skip
            self._put_passages[passage.id] = (content, key)
            self._add_terms(key, terms(f"{passage.title}\n{passage.text}"))

    def _add_terms(self, key: int, analysed: Iterable[str]) -> None:
        if self._terms is None:
            self._flush()
            self._terms = dict(self._sql.execute("SELECT term, id FROM term"))
        ids: list[int] = []
        for term in analysed:
            number = self._terms.get(term)
            if number is None:
                number = self._terms[term] = self._key("term")
                self._add("term", (number, term))
            ids.append(number)
        self._add("passage_terms", (key, pack_terms(ids)))

    def put_vectors(self, identity: str, items: Sequence[tuple[str, NDArray[np.float32]]]) -> None:
        """Stage unit vectors of shape (size,) for passages. `identity` is `name@revision/size`.

        Raises DataError for a vector that is not finite, is zero, or has another size than `identity` states.
        """
        self._require_session()
        size = identity.rpartition("/")[2]
        self._flush()
        for passage_id, vector in items:
            array = np.ascontiguousarray(vector, dtype="<f4")
            if array.ndim != 1 or str(array.size) != size or not np.isfinite(array).all() or not array.any():
                raise DataError(
                    f"vector of passage {passage_id!r} of shape {array.shape} is zero, not finite or of another size",
                    allowed=f"finite, non-zero, shape ({size},)",
                )
            key, blob = self._passage_key(passage_id), array.tobytes()
            if self._one("SELECT vector FROM vector WHERE passage = ? AND identity = ?", (key, identity)) != blob:
                self._sql.execute("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", (key, identity, blob))
                self._other_changes = True

    def _source_key(self, source_id: str) -> int:
        key = self._source_keys.get(source_id)
        if key is None:
            key = self._one("SELECT key FROM source WHERE id = ? AND died = ?", (source_id, LIVE))
            if key is None:
                raise DataError(f"source {source_id!r} is not known", hint="put the source before its passages")
            self._source_keys[source_id] = key
        return key

    def _passage_key(self, passage_id: str) -> int:
        before = self._put_passages.get(passage_id)
        if before is not None:
            return before[1]
        key = self._one("SELECT key FROM passage WHERE id = ? AND died = ?", (passage_id, LIVE))
        if key is None:
            raise DataError(f"passage {passage_id!r} is not known", hint="put the passage first")
        return int(key)

    # Entities and facts -------------------------------------------------------------------------------------------------

    def put_entity(self, entity_id: str, types: Sequence[str], names: Sequence[str]) -> None:
        """Stage what an entities file says. The names are readable wherever one fact of the entity is.

        Types given here hold for all who see the entity. Without any, each reader gets those that readable records about it
        tell, else those of the places it takes in readable facts by the ontology, else `UNTYPED` if that is declared.
        """
        self._require_session()
        if not entity_id:
            raise DataError("an entity has an empty id")
        known = self._entities.setdefault(entity_id, ({}, {}))
        known[0].update(dict.fromkeys(types))
        known[1].update(dict.fromkeys(name for name in names if name.strip()))

    def put_entity_source(self, entity_id: str, source_id: str, type_: str | None = None) -> None:
        """Stage that a source is a record of, or prose about, an entity, of the type it tells. `Source.node` does it as well."""
        self._require_session()
        self._entity_sources.add((entity_id, source_id, type_))

    def put_name(self, entity_id: str, name: str, span: SourceSpan) -> None:
        """Stage a name of an entity that a source states."""
        self._require_session()
        if not name.strip():
            raise DataError(f"entity {entity_id!r} has an empty name", where=span.source_id)
        self._names.add((entity_id, name, (span.source_id, span.start, span.end)))

    def put_attribute(self, attribute: Attribute) -> None:
        """Stage an attribute of an entity that a source states. Validity `ALWAYS` means that of the source."""
        self._require_session()
        _check_interval(attribute.validity, f"attribute {attribute.key!r} of {attribute.entity_id!r}")
        span = attribute.span
        self._attributes.add(
            (
                attribute.entity_id, attribute.key, attribute.value, fold(attribute.value), attribute.number,
                attribute.instant, attribute.validity.low, attribute.validity.high, attribute.validity == ALWAYS,
                span.source_id, span.start, span.end,
            )
        )  # fmt: skip

    def put_assertion(self, assertion: Assertion) -> None:
        """Stage an assertion with its support sets. Sources need not be known yet: it becomes readable with them.

        Its support sets replace those of the published one. Put twice in a session, the sets are united; DataError
        if anything else differs, if an id is empty or if it ends before it starts.
        """
        self._require_session()
        if not (assertion.id and assertion.subject and assertion.predicate and assertion.object):
            raise DataError(f"assertion {assertion.id!r} lacks an id, subject, predicate or object")
        _check_interval(assertion.validity, f"assertion {assertion.id!r}")
        low, high = assertion.validity.low, assertion.validity.high
        content = _digest(
            "assertion", assertion.id, assertion.subject, assertion.predicate, assertion.object, low, high,
            sorted(assertion.attributes.items()), assertion.extraction_version, assertion.review_status,
        )  # fmt: skip
        supports = {_members(members) for members in assertion.supports if members}
        before = self._assertions.get(assertion.id)
        if before is not None:
            if before.hash != content:
                raise DataError(f"assertion {assertion.id!r} is given twice with different content")
            before.put |= supports
            return
        if self._first_key["assertion"]:
            row = self._sql.execute(
                "SELECT key, hash FROM assertion WHERE id = ? AND died = ?", (assertion.id, LIVE)
            ).fetchone()
            if row is not None and bytes(row[1]) == content:
                existing = self._support_sets(row[0])
                self._assertions[assertion.id] = _PutAssertion(row[0], content, supports, existing)
                return
            if row is not None:
                self._kill("assertion", (row[0],))
                self._kill("support_set", self._support_sets(row[0]).values())
        key = self._key("assertion")
        self._assertions[assertion.id] = _PutAssertion(key, content, supports)
        self._add(
            "assertion",
            (
                key, assertion.id, assertion.subject, assertion.predicate, assertion.object, low, high, content,
                _json(dict(sorted(assertion.attributes.items()))), assertion.extraction_version,
                assertion.review_status, self._next, LIVE,
            ),
        )  # fmt: skip

    def _support_sets(self, assertion_key: int) -> dict[Members, int]:
        rows = self._sql.execute(
            "SELECT s.key, m.source, m.start, m.end FROM support_set s JOIN support_member m ON m.support_set = s.key "
            "WHERE s.assertion = ? AND s.died = ? ORDER BY s.key, m.ordinal",
            (assertion_key, LIVE),
        )
        members: dict[int, list[Member]] = defaultdict(list)
        for key, source, start, end in rows:
            members[key].append((source, start, end))
        return {tuple(found): key for key, found in members.items()}

    def remove_assertion(self, assertion_id: str) -> bool:
        """Stage the end of an assertion whatever its sources say. False if there is no such assertion."""
        self._require_session()
        self._flush()
        self._assertions.pop(assertion_id, None)
        key = self._one("SELECT key FROM assertion WHERE id = ? AND died = ?", (assertion_id, LIVE))
        if key is None:
            return False
        self._kill("assertion", (key,))
        self._kill("support_set", self._support_sets(key).values())
        return True

    def source_ids(self) -> frozenset[str]:
        """Ids of the sources in force, for an ingest that removes what its input no longer has."""
        return frozenset(row[0] for row in self._sql.execute("SELECT id FROM source WHERE died = ?", (LIVE,)))

    def assertion_ids(self) -> frozenset[str]:
        """Ids of the assertions in force, for an ingest that removes what its input no longer has."""
        self._flush()
        return frozenset(row[0] for row in self._sql.execute("SELECT id FROM assertion WHERE died = ?", (LIVE,)))

    def put_setting(self, key: str, value: str) -> None:
        """Stage a setting of the store. Keys that start with "_" are the store's own."""
        self._require_session()
        if self._one("SELECT value FROM setting WHERE key = ?", (key,)) != value:
            self._sql.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, value))
            self._other_changes = True

    def put_ontology(self, text: str, ontology: Ontology) -> None:
        """Stage the ontology in force: its YAML as the operator reads it, and the ontology itself."""
        from pydantic import TypeAdapter

        kept = TypeAdapter(Ontology).dump_json(ontology).decode()
        self._ontology_changed |= self._one("SELECT value FROM setting WHERE key = '_ontology'") != kept
        self.put_setting("_ontology_text", text)
        self.put_setting("_ontology", kept)

    # Publishing ---------------------------------------------------------------------------------------------------------

    def publish(self, stage: Callable[[], object] | None = None) -> int:
        """Make everything since `begin` visible at once, durably, and return the snapshot's sequence number.

        Without any change the published snapshot stays. For the operator; a reader's snapshot is `View.token`. `stage` copies the
        snapshot, complete and on disk but not yet published, to other stores; where it raises nothing is published, and the next
        session that publishes takes the snapshot with it.
        """
        self._require_session()
        self._flush()
        labels = _Labels(self._sql)
        deltas: dict[int, int] = defaultdict(int)
        for source_id in sorted(self._refreshed - self._changed):
            node = self._one("SELECT node FROM source WHERE id = ? AND died = ?", (source_id, LIVE))
            if node:
                self.put_entity_source(node, source_id)
        self._settle_sources()
        touched = self._settle_supports(labels)
        facts_of = self._settle_adjacency(touched)
        self._settle_entities(facts_of, deltas)
        self._flush()
        self._add_up(deltas)
        changed = self._other_changes or any(
            self._counter[table] > self._first_key[table] or self._killed[table] for table in _KEYS if table != "term"
        )
        changed = changed or self._entity_changes
        if not changed:
            self.rollback()
            if stage is not None:
                stage()
            if self._staged > self._published:
                self._switch(self._staged)
            return self._staged
        self._write_digests(deltas)
        self._sweep()
        sql = self._sql
        sql.execute("INSERT INTO snapshot VALUES (?, ?)", (self._next, time.time_ns() // 1000))
        if stage is None:
            sql.execute("UPDATE pointer SET sequence = ?", (self._next,))
        sql.execute("COMMIT")
        self._open = False
        if stage is not None:
            stage()
            self._switch(self._next)
        # Moves the log into the file; a busy reader only delays it.
        sql_connection = self._connection
        assert sql_connection is not None
        sql_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return self._next

    def _switch(self, sequence: int) -> None:
        """Publish a staged snapshot, unless a later one is published by now."""
        assert self._connection is not None
        self._connection.execute("UPDATE pointer SET sequence = ? WHERE sequence < ?", (sequence, sequence))

    def _settle_sources(self) -> None:
        """Bring passages, names, attributes and records of sources up to date, and give each row its source's scope."""
        kept: dict[str, set[int]] = {"passage": {key for _, key in self._put_passages.values()}}
        for table in ("name", "attribute", "entity_source"):
            kept[table] = set()
        for entity_id, source_id, type_ in sorted(self._entity_sources, key=lambda i: (i[0], i[1], i[2] or "")):
            row = (entity_id, source_id, type_, 0)
            self._keep_or_add(kept, "entity_source", source_id, "entity = ? AND type IS ?", (entity_id, type_), row)
        for entity_id, name, member in sorted(self._names, key=lambda i: (i[0], i[1], *_member_order((i[2],)))):
            where = "entity = ? AND name = ? AND start IS ? AND end IS ?"
            values = (entity_id, name, *member[1:])
            self._keep_or_add(kept, "name", member[0], where, values, (entity_id, name, *member, 0))
        for item in sorted(self._attributes, key=repr):
            *stated, inherits, source_id, start, end = item
            where = "entity = ? AND key = ? AND value = ? AND number IS ? AND instant IS ? AND start IS ? AND end IS ?"
            values = (*stated[:3], *stated[4:6], start, end)
            if not inherits:
                where += " AND low = ? AND high = ?"
                values += tuple(stated[6:8])
            self._keep_or_add(kept, "attribute", source_id, where, values, (*stated, source_id, start, end, 0))
        self._flush()
        if self._refreshed:
            self._end_refreshed(kept)
        for table in ("name", "attribute", "entity_source"):
            self._scope_rows(table)

    def _keep_or_add(
        self, kept: dict[str, set[int]], table: str, source_id: str, where: str, values: Row, row: Row
    ) -> None:
        """Keep the published row of an unchanged source, or add one."""
        if self._first_key[table] and source_id not in self._changed:
            found = self._one(
                f"SELECT {_KEYS[table]} FROM {table} WHERE source = ? AND {where} AND died = ? AND born < ?",
                (source_id, *values, LIVE, self._next),
            )
            if found is not None:
                kept[table].add(found)
                return
        self._add(table, (self._key(table), *row, self._next, LIVE))

    def _end_refreshed(self, kept: Mapping[str, set[int]]) -> None:
        """End what was made of refreshed sources and not put again."""
        for source_id in sorted(self._refreshed):
            passages = self._sql.execute(
                "SELECT p.key FROM source s JOIN passage p ON p.source = s.key WHERE s.id = ? AND p.died = ?",
                (source_id, LIVE),
            ).fetchall()
            self._kill("passage", sorted({key for (key,) in passages} - kept["passage"]))
            for table in ("name", "attribute", "entity_source"):
                rows = self._sql.execute(
                    f"SELECT {_KEYS[table]} FROM {table} WHERE source = ? AND died = ? AND born < ?",
                    (source_id, LIVE, self._next),
                ).fetchall()
                self._kill(table, sorted({key for (key,) in rows} - kept[table]))

    def _scope_rows(self, table: str) -> None:
        """Give new rows, and older ones whose source has only now appeared, the scope of their source."""
        key, first = _KEYS[table], self._first_key[table]
        late: list[Row] = []
        if first:
            for source_id in sorted(self._new):
                late.extend(
                    self._sql.execute(
                        f"SELECT {COLUMNS[table]} FROM {table} WHERE source = ? AND died = ? AND born < ? AND scope = ?",
                        (source_id, LIVE, self._next, self._unreadable),
                    )
                )
        self._kill(table, [row[0] for row in late])
        for row in late:
            self._add(table, (self._key(table), *row[1:-2], self._next, LIVE))
        self._flush()
        self._sql.execute(
            f"UPDATE {table} SET scope = coalesce((SELECT s.scope FROM source s WHERE s.id = {table}.source "
            f"AND s.died = {LIVE}), {self._unreadable}) WHERE {key} > ?",
            (first,),
        )
        if table == "attribute":
            self._sql.execute(
                "UPDATE attribute SET (low, high) = (SELECT s.low, s.high FROM source s WHERE s.id = attribute.source "
                f"AND s.died = {LIVE}) WHERE row > ? AND low = ? AND high = ? AND scope <> ?",
                (first, ALWAYS.low, ALWAYS.high, self._unreadable),
            )

    def _settle_supports(self, labels: _Labels) -> set[int]:
        """Write the support sets with their scopes; the keys of all assertions whose sets changed."""
        touched: set[int] = set()
        wanted: list[tuple[int, Members]] = []
        ended: set[int] = set()
        kept: set[int] = set()
        for put in self._assertions.values():
            wanted.extend((put.key, members) for members in sorted(put.put - put.existing.keys(), key=_member_order))
            ended.update(key for members, key in put.existing.items() if members not in put.put)
            kept.update(key for members, key in put.existing.items() if members in put.put)
            if put.put - put.existing.keys():
                touched.add(put.key)
        emptied: set[int] = set()
        if self._first_key["support_set"]:
            for source_id in sorted(self._changed | self._new):
                rows = self._sql.execute(
                    "SELECT s.key, s.assertion, s.scope FROM support_member m CROSS JOIN support_set s "
                    "ON s.key = m.support_set WHERE m.source = ? AND s.died = ? AND s.born < ?",
                    (source_id, LIVE, self._next),
                ).fetchall()
                for key, assertion, scope in rows:
                    if key in ended:
                        continue
                    if source_id in self._changed and key not in kept:
                        ended.add(key)
                        emptied.add(assertion)
                        continue
                    members = tuple(
                        self._sql.execute(
                            "SELECT source, start, end FROM support_member WHERE support_set = ? ORDER BY ordinal",
                            (key,),
                        )
                    )
                    if self._scope(labels.form(members)) != scope:
                        ended.add(key)
                        wanted.append((assertion, members))
                        touched.add(assertion)
        for key in sorted(ended):
            touched.add(int(self._one("SELECT assertion FROM support_set WHERE key = ?", (key,))))
        self._kill("support_set", sorted(ended))
        # Support sets of replaced assertions were ended when the new content came.
        for key in sorted(self._killed["support_set"] - ended):
            touched.add(int(self._one("SELECT assertion FROM support_set WHERE key = ?", (key,))))
        forms = {members: labels.form(members) for _, members in wanted}
        for form in sorted(set(forms.values())):
            self._scope(form)
        for assertion, members in wanted:
            key = self._key("support_set")
            self._add("support_set", (key, assertion, self._scopes[forms[members]], self._next, LIVE))
            for ordinal, member in enumerate(members):
                self._add("support_member", (key, *member, ordinal))
        self._flush()
        put_keys = {put.key for put in self._assertions.values()}
        for assertion in sorted(emptied - put_keys):
            left = self._one("SELECT 1 FROM support_set WHERE assertion = ? AND died = ? LIMIT 1", (assertion, LIVE))
            if left is None:
                self._kill("assertion", (assertion,))
        return touched

    def _settle_adjacency(self, touched: set[int]) -> set[str]:
        """Bring the adjacency rows of the touched assertions' facts up to date; the entities whose facts changed."""
        sql = self._sql
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
                (LIVE, LIVE, self._unreadable),
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
                    (self._next, node, predicate, direction, other, low, high, scope, LIVE),
                )
        rows: list[Row] = []
        for subject, predicate, object_, low, high, scope in wanted - current:
            tail = (low, high, scope, self._next, LIVE)
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

    def _settle_entities(self, ends: set[str], deltas: dict[int, int]) -> None:
        """Bring types, visibility and aliases of the changed entities up to date."""
        sql, staged = self._sql, self._next
        self._entity_changes = False
        old: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        renamed: set[str] = set()
        for entity_id in sorted(self._entities):
            types, names = (tuple(part) for part in self._entities[entity_id])
            content = _digest("entity", entity_id, types, names)
            row = sql.execute(
                "SELECT types, names, hash, born FROM entity WHERE id = ? AND died = ?", (entity_id, LIVE)
            ).fetchone()
            if row is not None:
                if bytes(row[2]) == content:
                    continue
                sql.execute("UPDATE entity SET died = ? WHERE id = ? AND born = ?", (staged, entity_id, row[3]))
                old[entity_id] = (tuple(json.loads(row[0])), tuple(json.loads(row[1])))
            self._entity_changes = True
            renamed.add(entity_id)
            self._add("entity", (entity_id, _json(types), _json(names), content, staged, LIVE))
        self._flush()

        dirty = ends | renamed
        for table in ("entity_source", "name", "attribute"):
            key = _KEYS[table]
            dirty.update(
                row[0] for row in sql.execute(f"SELECT entity FROM {table} WHERE {key} > ?", (self._first_key[table],))
            )
            for killed in self._killed[table]:
                dirty.add(self._one(f"SELECT entity FROM {table} WHERE {key} = ?", (killed,)))
        if self._ontology_changed:
            dirty.update(
                row[0]
                for row in sql.execute(
                    "SELECT DISTINCT x.entity FROM entity_scope x WHERE x.died = ? AND NOT EXISTS "
                    "(SELECT 1 FROM entity_type y WHERE y.entity = x.entity AND y.basis = 0 AND y.died = ?)",
                    (LIVE, LIVE),
                )
            )
        ontology = read_ontology(self._one("SELECT value FROM setting WHERE key = '_ontology'"))
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
                    (entity_id, LIVE, self._unreadable),
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
                self._add("entity_scope", (entity_id, scope, via, staged, LIVE))
            row = sql.execute("SELECT types, names FROM entity WHERE id = ? AND died = ?", (entity_id, LIVE)).fetchone()
            types, names = (tuple(json.loads(part)) for part in row) if row else ((), ())
            before = old.get(entity_id, ((), ()) if entity_id in renamed else (types, names))
            self._settle_types(entity_id, types, ontology, deltas)
            for (said_types, said_names), scopes, sign in ((before, current, -1), ((types, names), wanted, 1)):
                for scope, via in scopes:
                    content = _digest("seen", entity_id, said_types, () if via else said_names, via)
                    deltas[scope] += sign * int.from_bytes(content, "big")
            self._settle_aliases(entity_id, names)

    def _settle_types(self, entity_id: str, stated: Sequence[str], ontology: Ontology, deltas: dict[int, int]) -> None:
        sql = self._sql
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
                    (entity_id, LIVE, self._unreadable),
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
                (self._next, entity_id, type_, basis, scope, LIVE),
            )
        for type_, basis, scope in sorted(wanted - current):
            self._add("entity_type", (entity_id, type_, basis, scope, self._next, LIVE))
        for sign, changed in ((-1, current - wanted), (1, wanted - current)):
            for type_, basis, scope in changed:
                if scope:
                    deltas[scope] += sign * int.from_bytes(_digest("type", entity_id, type_, basis), "big")

    def _settle_aliases(self, entity_id: str, names: tuple[str, ...]) -> None:
        sql = self._sql
        wanted: set[tuple[str, str, int, int]] = {(alias_key(entity_id), "id", 0, 0)}
        local = local_part(entity_id)
        if local != entity_id:
            wanted.add((alias_key(local), "local", 0, 0))
        wanted.update((alias_key(name), "name", 1, 0) for name in names)
        stated = sql.execute(
            "SELECT DISTINCT name, scope FROM name WHERE entity = ? AND died = ? AND scope <> ?",
            (entity_id, LIVE, self._unreadable),
        )
        wanted.update((alias_key(name), "name", 2, scope) for name, scope in stated)
        current = set(
            sql.execute("SELECT key, via, basis, scope FROM alias WHERE entity = ? AND died = ?", (entity_id, LIVE))
        )
        for key, via, basis, scope in sorted(current - wanted):
            sql.execute(
                "UPDATE alias SET died = ? WHERE key = ? AND entity = ? AND via = ? AND basis = ? AND scope = ? AND died = ?",
                (self._next, key, entity_id, via, basis, scope, LIVE),
            )
        for key, via, basis, scope in sorted(wanted - current):
            self._add("alias", (key, entity_id, via, basis, scope, self._next, LIVE))

    def _add_up(self, deltas: dict[int, int]) -> None:
        """Add the hashes of born rows to their scopes and take off those of dead ones."""
        for table, hashed in (
            ("source", "hash"),
            ("passage", "hash"),
            ("name", "'name', entity, name, source, start, end"),
            ("attribute", "'attribute', entity, key, value, number, instant, low, high, source, start, end"),
            ("entity_source", "'record', entity, source, type"),
        ):
            for sign, row in self._born_and_dead(table, f"scope, {hashed}"):
                content = bytes(row[1]) if hashed == "hash" else _digest(*row[1:])
                deltas[row[0]] += sign * int.from_bytes(content, "big")
        sql = self._sql
        for sign, where, keys in (
            (1, "s.key > ?", [self._first_key["support_set"]]),
            *((-1, "s.key = ?", [key]) for key in sorted(self._killed["support_set"])),
        ):
            current: tuple[int, int, bytes] | None = None
            members: list[Row] = []
            rows = sql.execute(
                "SELECT s.key, s.scope, a.hash, m.source, m.start, m.end FROM support_set s "
                "CROSS JOIN assertion a ON a.key = s.assertion CROSS JOIN support_member m ON m.support_set = s.key "
                f"WHERE {where} ORDER BY s.key, m.ordinal",
                keys,
            )
            for key, scope, content, *member in rows:
                if current is not None and current[0] != key:
                    deltas[current[1]] += sign * _support_hash(current[2], members)
                    members = []
                current = (key, scope, bytes(content))
                members.append(tuple(member))
            if current is not None:
                deltas[current[1]] += sign * _support_hash(current[2], members)

    def _born_and_dead(self, table: str, columns: str) -> Iterator[tuple[int, Row]]:
        key, first = _KEYS[table], self._first_key[table]
        for row in self._sql.execute(f"SELECT {columns} FROM {table} WHERE {key} > ? AND died = ?", (first, LIVE)):
            yield 1, row
        for killed in sorted(self._killed[table]):
            if killed <= first:
                yield -1, self._sql.execute(f"SELECT {columns} FROM {table} WHERE {key} = ?", (killed,)).fetchone()

    def _write_digests(self, deltas: Mapping[int, int]) -> None:
        for scope in sorted(deltas):
            delta = deltas[scope] % _MODULUS
            if scope == self._unreadable or not delta:
                continue
            before = self._one(
                "SELECT digest FROM scope_digest WHERE scope = ? ORDER BY sequence DESC LIMIT 1", (scope,)
            )
            total = (int.from_bytes(before or b"", "big") + delta) % _MODULUS
            self._sql.execute(
                "INSERT INTO scope_digest VALUES (?, ?, ?)", (scope, self._next, total.to_bytes(16, "big"))
            )

    def _sweep(self) -> None:
        """Drop rows that were staged and withdrawn in one write."""
        for table in ("passage", "source", "name", "attribute", "entity_source", "assertion"):
            first = self._first_key[table]
            withdrawn = [(key,) for key in sorted(self._killed[table]) if key > first]
            self._sql.executemany(f"DELETE FROM {table} WHERE {_KEYS[table]} = ?", withdrawn)

    def forget(self, keep: int = 1) -> None:
        """Delete what only snapshots older than the newest `keep` can read. Their views raise SnapshotError from then on.

        Runs as a transaction of its own, outside a session; deleted bytes are overwritten.
        """
        if keep < 1:
            raise UsageError(f"keep is {keep}", allowed="1 or more")
        self.begin()
        sql = self._sql
        rows = sql.execute(
            "SELECT sequence FROM snapshot WHERE sequence <= (SELECT sequence FROM pointer) ORDER BY sequence DESC LIMIT ?",
            (keep,),
        ).fetchall()
        oldest = int(rows[-1][0])
        # The second condition is that of the index.
        dead = f"died <= ? AND died < {LIVE:d}"
        sql.execute(
            f"DELETE FROM support_member WHERE support_set IN (SELECT key FROM support_set WHERE {dead})", (oldest,)
        )
        for table in (
            "support_set", "assertion", "passage", "source", "name", "attribute", "entity_source", "entity",
            "entity_type", "entity_scope", "alias", "adjacency",
        ):  # fmt: skip
            sql.execute(f"DELETE FROM {table} WHERE {dead}", (oldest,))
        sql.execute("DELETE FROM snapshot WHERE sequence < ?", (oldest,))
        sql.execute(
            "DELETE FROM scope_digest WHERE sequence < (SELECT max(d.sequence) FROM scope_digest d "
            "WHERE d.scope = scope_digest.scope AND d.sequence <= ?)",
            (oldest,),
        )
        sql.execute("COMMIT")
        self._open = False
        assert self._connection is not None
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


class _Labels:
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


def _members(spans: Iterable[SourceSpan]) -> Members:
    found = {(span.source_id, span.start, span.end) for span in spans}
    return tuple(sorted(found, key=lambda item: (item[0], _bound(item[1]), _bound(item[2]))))


def _member_order(members: Members) -> tuple[tuple[str, int, int], ...]:
    return tuple((source, _bound(start), _bound(end)) for source, start, end in members)


def _bound(offset: int | None) -> int:
    return -1 if offset is None else offset


def _support_hash(assertion: bytes, members: Iterable[Row]) -> int:
    return int.from_bytes(_digest("support", assertion.hex(), list(members)), "big")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _json(value: object) -> str:
    return _ENCODER.encode(value)


def _digest(*parts: object) -> bytes:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).digest()


def _check_interval(interval: Interval, what: str) -> None:
    if interval.high < interval.low:
        raise DataError(f"{what} ends before it starts: {interval.format()}", allowed="start before end")
