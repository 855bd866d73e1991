"""Staging: one open write of a store: its transaction, the rows not yet written, and what was put so far."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphroute.stores.schema import LIVE, UNREADABLE
from graphroute.types.source import SourceSpan

_BATCH = 5_000

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
KEYS = {
    "source": "key",
    "passage": "key",
    "assertion": "key",
    "support_set": "key",
    "name": "key",
    "attribute": "row",
    "entity_source": "key",
    "term": "id",
}
"""The column that holds a row's number, of the tables that have one."""


@dataclass(slots=True)
class PutAssertion:
    """An assertion of this write: its row, its support sets so far, and the sets the store already had."""

    key: int
    hash: bytes
    put: set[Members]
    existing: dict[Members, int] = field(default_factory=dict)


class Staging:
    """Made once the transaction is open; ends with it. Rows are born in and die with the snapshot `next`."""

    def __init__(self, sql: sqlite3.Connection) -> None:
        self.sql = sql
        self.published = int(self.first_value("SELECT sequence FROM pointer") or 0)
        # A snapshot that was staged and never published is complete; the next one goes on from it.
        self.staged = int(self.first_value("SELECT max(sequence) FROM snapshot") or 0)
        self.next = self.staged + 1
        self.scopes: dict[str, int] = dict(sql.execute("SELECT form, id FROM scope"))
        self.unreadable = self.scope(UNREADABLE)
        self.counter = {
            table: int(self.first_value(f"SELECT coalesce(max({key}), 0) FROM {table}") or 0)
            for table, key in KEYS.items()
        }
        self.first_key = dict(self.counter)
        self.killed: dict[str, set[int]] = defaultdict(set)
        self.terms: dict[str, int] | None = None
        self.other_changes = False
        self.ontology_changed = False
        self.entity_changes = False

        self.put_sources: dict[str, tuple[bytes, bool]] = {}
        self.source_keys: dict[str, int] = {}
        self.changed: set[str] = set()
        self.new: set[str] = set()
        self.refreshed: set[str] = set()
        self.put_passages: dict[str, tuple[bytes, int]] = {}
        self.entities: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
        self.names: set[tuple[str, str, Member]] = set()
        self.entity_sources: set[tuple[str, str, str | None]] = set()
        self.attributes: set[Row] = set()
        self.assertions: dict[str, PutAssertion] = {}
        self._buffers: dict[str, list[Row]] = defaultdict(list)

    def first_value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first value of the first row, None without one."""
        row = self.sql.execute(sql, parameters).fetchone()
        return row[0] if row else None

    def key(self, table: str) -> int:
        """A new number for a row."""
        self.counter[table] += 1
        return self.counter[table]

    def add(self, table: str, row: Row) -> None:
        """Stage a row, in the order of `COLUMNS`; written with others at the next `flush`."""
        buffer = self._buffers[table]
        buffer.append(row)
        if len(buffer) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the rows staged so far."""
        # In the order of the columns table, parents come before children.
        for table, columns in COLUMNS.items():
            rows = self._buffers.get(table)
            if rows:
                places = ",".join("?" * (columns.count(",") + 1))
                self.sql.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)
                rows.clear()

    def end_rows(self, table: str, keys: Iterable[int]) -> None:
        """End rows with this snapshot."""
        found = [key for key in keys if key not in self.killed[table]]
        column = KEYS[table]
        self.sql.executemany(f"UPDATE {table} SET died = ? WHERE {column} = ?", ((self.next, key) for key in found))
        self.killed[table].update(found)

    def sweep(self) -> None:
        """Drop rows that were staged and withdrawn in one write."""
        for table in ("passage", "source", "name", "attribute", "entity_source", "assertion"):
            first = self.first_key[table]
            withdrawn = [(key,) for key in sorted(self.killed[table]) if key > first]
            self.sql.executemany(f"DELETE FROM {table} WHERE {KEYS[table]} = ?", withdrawn)

    def scope(self, form: str) -> int:
        """The number of a scope, given its canonical form."""
        found = self.scopes.get(form)
        if found is None:
            found = self.scopes[form] = len(self.scopes) + 1
            self.sql.execute("INSERT INTO scope (id, form) VALUES (?, ?)", (found, form))
        return found

    def support_sets(self, assertion_key: int) -> dict[Members, int]:
        """Keys of the support sets in force of an assertion, by their members."""
        rows = self.sql.execute(
            "SELECT s.key, m.source, m.start, m.end FROM support_set s JOIN support_member m ON m.support_set = s.key "
            "WHERE s.assertion = ? AND s.died = ? ORDER BY s.key, m.ordinal",
            (assertion_key, LIVE),
        )
        members: dict[int, list[Member]] = defaultdict(list)
        for key, source, start, end in rows:
            members[key].append((source, start, end))
        return {tuple(found): key for key, found in members.items()}

    def rows_changed(self) -> bool:
        """Whether publishing would change anything."""
        if self.other_changes or self.entity_changes:
            return True
        return any(
            self.counter[table] > self.first_key[table] or self.killed[table] for table in KEYS if table != "term"
        )


def members_of(spans: Iterable[SourceSpan]) -> Members:
    """Members of a support set, each once, in `member_order`."""
    found = {(span.source_id, span.start, span.end) for span in spans}
    return tuple(sorted(found, key=lambda item: (item[0], _bound(item[1]), _bound(item[2]))))


def member_order(members: Members) -> tuple[tuple[str, int, int], ...]:
    """A sort key; no offset comes first."""
    return tuple((source, _bound(start), _bound(end)) for source, start, end in members)


def _bound(offset: int | None) -> int:
    return -1 if offset is None else offset


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def to_json(value: object) -> str:
    """Compact JSON as the store keeps it."""
    return _ENCODER.encode(value)


def digest(*parts: object) -> bytes:
    """16 bytes that stand for the content of a row."""
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).digest()
