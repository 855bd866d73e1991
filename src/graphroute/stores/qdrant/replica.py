"""QdrantReplica: copies passages, vectors and terms of a store's record to Qdrant, and takes sources out again."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphroute.errors import BackendUnavailableError, DataError
from graphroute.stores.bm25 import K1, B
from graphroute.stores.database import NOT_BLANK, Database
from graphroute.stores.qdrant.collection import (
    DENSE,
    STATE_POINT,
    TERMS,
    Kind,
    State,
    alias_of,
    collection_behind,
    read_state,
)
from graphroute.stores.qdrant.connection import QdrantConnection
from graphroute.stores.qdrant.filters import source_filter
from graphroute.stores.qdrant.term_dimensions import SENTINEL, dimension, exceptions_of
from graphroute.stores.schema import LIVE, unpack_terms
from graphroute.stores.term_hash import term_hash
from graphroute.stores.vector_checks import embedder_of, unit_vector, vector_size, vectors_digest

Progress = Callable[[str, int, int], None]
"""Called with the kind of collection, the rows copied so far and the rows to copy."""

BATCH = 256
_PAGE = 2_000
_JOURNAL_EVERY = 8
_COLUMNS = "p.key, p.id, p.scope, s.id, p.born, p.died, p.low, p.high, p.node, p.kind"
_CHANGED = f"AND ((p.born > ? AND p.key > ?) OR (p.died > ? AND p.died < {LIVE:d}))"
_NAMES = ("id", "scope", "source", "born", "died", "low", "high", "node", "kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What one copy did. `rows`: points written, `removed`: points deleted, `sequence`: the snapshot now held."""

    kind: Kind
    collection: str
    rows: int
    removed: int
    sequence: int


class QdrantReplica:
    """The copy of one record in two collections: vectors of the embedder in use, and terms.

    Each row carries the snapshots in which it was born and died, so searches of older views go on unchanged while rows are
    written; a view is answered only once everything up to its snapshot is there. A copy that was cut off is run again: ids
    of points are keys of rows, and writing one twice changes nothing.
    """

    def __init__(self, connection: QdrantConnection, db: Database, *, store: str | None = None) -> None:
        self._connection = connection
        self._db = db
        self._store = store if store is not None else store_id(db)

    def copy(self, *, progress: Progress | None = None, deadline: float | None = None) -> list[Copied]:
        """Bring Qdrant to the record's newest complete snapshot and switch to it.

        Raises DataError if the collections hold another store, or a stored vector is damaged.
        """
        sql = self._db.connection
        sql.execute("BEGIN")
        try:
            identity = embedder_of(sql)
            done = [self._bring(_Terms(sql), False, progress, deadline)]
            if identity:
                done.append(self._bring(_Vectors(sql, identity), False, progress, deadline))
            return done
        finally:
            sql.execute("COMMIT")

    def rebuild(self, *, progress: Progress | None = None, deadline: float | None = None) -> list[Copied]:
        """Copy everything into new collections, switch the aliases to them and delete the old ones.

        Qdrant keeps the bytes of deleted points in its segments and log for some time; a rebuild is the sure purge.
        """
        sql = self._db.connection
        sql.execute("BEGIN")
        try:
            identity = embedder_of(sql)
            done = [self._bring(_Terms(sql), True, progress, deadline)]
            if identity:
                done.append(self._bring(_Vectors(sql, identity), True, progress, deadline))
            return done
        finally:
            sql.execute("COMMIT")

    def purge(self, source_ids: Sequence[str], *, deadline: float | None = None) -> None:
        """Take sources out of both collections at once, for every snapshot. Raises UsageError for an empty list."""
        selector = source_filter(source_ids)
        for kind in ("lexical", "vectors"):
            name = collection_behind(self._connection, alias_of(self._connection.settings.prefix, kind), deadline)
            if name is not None:
                self._write("delete", deadline, collection_name=name, points_selector=_by_filter(selector), wait=True)

    def drop(self) -> None:
        """Delete the collections and aliases of this store."""
        for name in self._own_collections("lexical") + self._own_collections("vectors"):
            self._write("delete_collection", None, collection_name=name)

    # Copying ----------------------------------------------------------------------------------------------------------

    def _bring(self, rows: _Terms | _Vectors, anew: bool, progress: Progress | None, deadline: float | None) -> Copied:
        kind: Kind = rows.kind
        prefix = self._connection.settings.prefix
        alias = alias_of(prefix, kind)
        used = collection_behind(self._connection, alias, deadline)
        held = None
        if used is not None:
            held = read_state(self._connection, used, deadline)
            if held is not None and held.store != self._store:
                raise DataError(
                    "the collections hold another store",
                    where=f"{self._connection.settings.where}, {alias}",
                    hint="give each store a prefix of its own",
                )
            if held is None or held.identity != rows.identity:
                anew, held = True, None
        sequence = self._db.staged()
        if used is not None and held is not None and not anew:
            name = used
            state, since = rows.start(held, self._store)
        else:
            name, held, since = self._free_name(rows, used), None, -1
            state = self._begin(name, rows, deadline)
        oldest = int(rows.sql.execute("SELECT min(sequence) FROM snapshot").fetchone()[0])
        written = self._upsert_all(name, rows, state, since, progress, deadline)
        removed = self._remove_ended(name, oldest, deadline) if held is not None else 0
        expected = rows.count()
        if self._count_rows(name, deadline) != expected:
            # Something was purged or deleted in one of the two places; compare key by key.
            added, deleted = self._reconcile(name, rows, state, deadline)
            written, removed = written + added, removed + deleted
            if self._count_rows(name, deadline) != expected:
                raise BackendUnavailableError(
                    "Qdrant holds other rows than were written", where=f"{self._connection.settings.where}, {name}"
                )
        self._publish(name, alias, used, replace(state, sequence=sequence, copied=0), deadline)
        for other in self._own_collections(kind):
            if other != name:
                self._write("delete_collection", deadline, collection_name=other)
        return Copied(kind=kind, collection=name, rows=written, removed=removed, sequence=sequence)

    def _own_collections(self, kind: Kind) -> list[str]:
        found = self._connection.call("get_collections", writes=True)
        own = re.compile(
            f"{re.escape(alias_of(self._connection.settings.prefix, kind))}_(?:bm25|[0-9a-f]{{12}})_[0-9]+"
        )
        return sorted(str(one.name) for one in found.collections if own.fullmatch(str(one.name)))

    def _free_name(self, rows: _Terms | _Vectors, used: str | None) -> str:
        """A name for the next build; a collection of that name is the rest of a copy that was cut off and is written over."""
        start = f"{alias_of(self._connection.settings.prefix, rows.kind)}_{rows.tag}"
        number = 1
        while f"{start}_{number}" == used:
            number += 1
        return f"{start}_{number}"

    def _begin(self, name: str, rows: _Terms | _Vectors, deadline: float | None) -> State:
        """A collection for a whole copy: that of a copy that was cut off, if it can go on, else an empty one."""
        fresh, _ = rows.start(None, self._store)
        if self._connection.call("collection_exists", writes=True, deadline=deadline, collection_name=name):
            begun = read_state(self._connection, name, deadline)
            if begun is not None and begun.sequence < 0 and begun.store == self._store and begun.digest == fresh.digest:
                return rows.start(begun, self._store)[0]
            self._write("delete_collection", deadline, collection_name=name)
        self._create(name, rows)
        self._put_state(name, fresh, deadline)
        return fresh

    def _create(self, name: str, rows: _Terms | _Vectors) -> None:
        from qdrant_client import models

        self._write(
            "create_collection",
            None,
            collection_name=name,
            vectors_config={}
            if rows.size is None
            else {DENSE: models.VectorParams(size=rows.size, distance=models.Distance.DOT)},
            sparse_vectors_config={TERMS: models.SparseVectorParams(modifier=models.Modifier.IDF)}
            if rows.size is None
            else None,
        )
        if self._connection.is_local:
            return
        # Before the first row: a graph built earlier would know nothing of the scopes. Only they steer its links.
        integer, keyword = models.IntegerIndexType.INTEGER, models.KeywordIndexType.KEYWORD
        indexes: dict[str, object] = {
            "scope": models.IntegerIndexParams(type=integer, lookup=True, range=False, enable_hnsw=True),
        }
        for key in ("born", "died", "low", "high"):
            indexes[key] = models.IntegerIndexParams(type=integer, lookup=False, range=True, enable_hnsw=False)
        for key in ("source", "node", "kind"):
            indexes[key] = models.KeywordIndexParams(type=keyword, enable_hnsw=False)
        for key in rows.counted:
            indexes[key] = models.IntegerIndexParams(type=integer, lookup=True, range=False, enable_hnsw=False)
        for key, schema in indexes.items():
            self._write(
                "create_payload_index", None, collection_name=name, field_name=key, field_schema=schema, wait=True
            )

    def _upsert_all(
        self,
        name: str,
        rows: _Terms | _Vectors,
        state: State,
        since: int,
        progress: Progress | None,
        deadline: float | None,
    ) -> int:
        total, done = rows.changed_count(since, state.copied), 0
        batch: list[Any] = []
        for row in rows.changed(since, state.copied):
            batch.append(rows.point(row, state))
            if len(batch) == BATCH:
                self._upsert(name, batch, deadline)
                done += len(batch)
                batch = []
                if state.sequence < 0 and done % (BATCH * _JOURNAL_EVERY) == 0:
                    self._put_state(name, replace(state, copied=max(state.copied, row[0])), deadline)
                if progress is not None:
                    progress(rows.kind, done, total)
        if batch:
            self._upsert(name, batch, deadline)
        done += len(batch)
        if progress is not None:
            progress(rows.kind, done, total)
        return done

    def _upsert(self, name: str, points: list[Any], deadline: float | None) -> None:
        self._write("upsert", deadline, collection_name=name, points=points, wait=True)

    def _remove_ended(self, name: str, oldest: int, deadline: float | None) -> int:
        """Delete what only forgotten snapshots can read."""
        from qdrant_client import models

        ended = models.Filter(must=[models.FieldCondition(key="died", range=models.Range(lte=oldest))])
        found = self._connection.call(
            "count", writes=True, deadline=deadline, collection_name=name, count_filter=ended, exact=True
        )
        if found.count:
            self._write("delete", deadline, collection_name=name, points_selector=_by_filter(ended), wait=True)
        return int(found.count)

    def _count_rows(self, name: str, deadline: float | None) -> int:
        from qdrant_client import models

        rows = models.Filter(must=[models.FieldCondition(key="born", range=models.Range(gte=0))])
        found = self._connection.call(
            "count", writes=True, deadline=deadline, collection_name=name, count_filter=rows, exact=True
        )
        return int(found.count)

    def _reconcile(self, name: str, rows: _Terms | _Vectors, state: State, deadline: float | None) -> tuple[int, int]:
        wanted, held = rows.keys(), set(self._keys(name, deadline))
        extra = sorted(held - wanted)
        for start in range(0, len(extra), BATCH):
            self._write(
                "delete", deadline, collection_name=name, points_selector=extra[start : start + BATCH], wait=True
            )
        missing = wanted - held
        batch: list[Any] = []
        for row in rows.changed(-1) if missing else ():
            if row[0] in missing:
                batch.append(rows.point(row, state))
            if len(batch) == BATCH:
                self._upsert(name, batch, deadline)
                batch = []
        if batch:
            self._upsert(name, batch, deadline)
        return len(missing), len(extra)

    def _keys(self, name: str, deadline: float | None) -> Iterator[int]:
        after: object = None
        while True:
            points, after = self._connection.call(
                "scroll",
                writes=True,
                deadline=deadline,
                collection_name=name,
                limit=_PAGE,
                offset=after,
                with_payload=False,
                with_vectors=False,
            )
            yield from (int(one.id) for one in points if int(one.id) != STATE_POINT)
            if after is None:
                return

    def _publish(self, name: str, alias: str, used: str | None, state: State, deadline: float | None) -> None:
        """The state first: an alias never points to a collection that is not whole."""
        from qdrant_client import models

        self._put_state(name, state, deadline)
        if used != name:
            # One operation, which replaces the alias; a list that deletes first could leave none behind.
            switch = models.CreateAliasOperation(
                create_alias=models.CreateAlias(collection_name=name, alias_name=alias)
            )
            self._write("update_collection_aliases", deadline, change_aliases_operations=[switch])

    def _put_state(self, name: str, state: State, deadline: float | None) -> None:
        from qdrant_client import models

        self._upsert(name, [models.PointStruct(id=STATE_POINT, vector={}, payload=state.payload())], deadline)

    def _write(self, method: str, deadline: float | None, **arguments: object) -> Any:
        """A write, tried again where the server was not reached in time: every write here may be repeated."""
        for pause in (0.2, 1.0):
            try:
                return self._connection.call(method, writes=True, deadline=deadline, **arguments)
            except BackendUnavailableError:
                if deadline is not None and time.monotonic() + pause >= deadline:
                    raise
                time.sleep(pause)
        return self._connection.call(method, writes=True, deadline=deadline, **arguments)


class _Rows:
    """Rows of the record that make points of one collection."""

    kind: Kind
    tag: str
    identity = ""
    size: int | None = None
    counted: tuple[str, ...] = ()
    _from: str

    def __init__(self, sql: sqlite3.Connection) -> None:
        self.sql = sql

    def _values(self) -> tuple[object, ...]:
        return ()

    def changed(self, since: int, copied: int = 0) -> Iterator[tuple[Any, ...]]:
        """Rows born after snapshot `since` with a key above `copied`, and all that ended after it; in key order."""
        return self.sql.execute(f"{self._from} {_CHANGED} ORDER BY p.key", (*self._values(), since, copied, since))

    def changed_count(self, since: int, copied: int = 0) -> int:
        """How many rows `changed` gives."""
        counted = f"SELECT count(*) FROM ({self._from} {_CHANGED})"
        return int(self.sql.execute(counted, (*self._values(), since, copied, since)).fetchone()[0])

    def count(self) -> int:
        """How many rows the record has at any snapshot."""
        return int(self.sql.execute(f"SELECT count(*) FROM ({self._from})", self._values()).fetchone()[0])

    def keys(self) -> set[int]:
        """Keys of all rows."""
        return {row[0] for row in self.sql.execute(self._from, self._values())}


class _Terms(_Rows):
    kind = "lexical"
    tag = "bm25"
    counted = ("terms", "length")
    _from = (
        f"SELECT {_COLUMNS}, t.terms FROM passage p CROSS JOIN source s ON s.key = p.source "
        "LEFT JOIN passage_terms t ON t.passage = p.key WHERE 1"
    )

    def __init__(self, sql: sqlite3.Connection) -> None:
        super().__init__(sql)
        self._hashes: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def start(self, held: State | None, store: str) -> tuple[State, int]:
        """The state to write with, and the snapshot from which rows are copied."""
        terms = self.sql.execute("SELECT id, term FROM term ORDER BY id").fetchall()
        self._hashes = np.zeros(1 + max((row[0] for row in terms), default=0), dtype=np.int64)
        for number, term in terms:
            self._hashes[number] = term_hash(term)
        exceptions = exceptions_of((term for _, term in terms), held.dimensions if held else {})
        if held is not None:
            return replace(held, dimensions=exceptions), held.sequence
        lengths = [int(unpack_terms(blob)[1].sum()) for (blob,) in self.sql.execute("SELECT terms FROM passage_terms")]
        average = float(np.mean(lengths)) if any(lengths) else 1.0
        return State(store=store, sequence=-1, average=average, dimensions=exceptions), -1

    def point(self, row: tuple[Any, ...], state: State) -> Any:
        from qdrant_client import models

        ids, counts = unpack_terms(row[10] or b"")
        hashes = self._hashes[ids].tolist()
        length = int(counts.sum())
        weights: dict[int, float] = {SENTINEL: 1.0}
        norm = K1 * (1.0 - B + B * length / state.average)
        for term, count in zip(hashes, counts.tolist(), strict=True):
            place = dimension(term, state.dimensions)
            weights[place] = weights.get(place, 0.0) + count * (K1 + 1.0) / (count + norm)
        payload = dict(zip(_NAMES, row[1:10], strict=True))
        payload |= {"length": length, "terms": hashes, "counts": counts.tolist()}
        vector = models.SparseVector(indices=list(weights), values=list(weights.values()))
        return models.PointStruct(id=row[0], vector={TERMS: vector}, payload=_set(payload))


class _Vectors(_Rows):
    kind = "vectors"
    _from = (
        f"SELECT {_COLUMNS}, v.vector FROM vector v CROSS JOIN passage p ON p.key = v.passage "
        f"CROSS JOIN source s ON s.key = p.source WHERE v.identity = ? AND {NOT_BLANK}"
    )

    def __init__(self, sql: sqlite3.Connection, identity: str) -> None:
        super().__init__(sql)
        self.identity = identity
        self.size = vector_size(identity)
        self.tag = hashlib.blake2b(identity.encode(), digest_size=6).hexdigest()

    def _values(self) -> tuple[object, ...]:
        return (self.identity,)

    def start(self, held: State | None, store: str) -> tuple[State, int]:
        """The state to write with, and the snapshot from which rows are copied.

        Vectors are not versioned: where those of rows already copied changed, everything is copied again.
        """
        digest = vectors_digest(self.sql, self.identity)
        if held is not None and (
            held.sequence < 0 or held.digest == vectors_digest(self.sql, self.identity, held.sequence)
        ):
            return replace(held, digest=digest), held.sequence
        return State(store=store, sequence=-1, identity=self.identity, digest=digest), -1

    def point(self, row: tuple[Any, ...], state: State) -> Any:
        from qdrant_client import models

        vector = unit_vector(row[10], self.size or 0, row[1])
        payload = dict(zip(_NAMES, row[1:10], strict=True))
        return models.PointStruct(id=row[0], vector={DENSE: vector.tolist()}, payload=_set(payload))


def store_id(db: Database) -> str:
    """What tells one record from another: its own id if it has one, else the empty string, which is not compared."""
    row = db.connection.execute("SELECT value FROM setting WHERE key = '_store'").fetchone()
    return str(row[0]) if row is not None else ""


def _set(payload: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in payload.items() if value is not None}


def _by_filter(filter_: Any) -> Any:
    from qdrant_client import models

    return models.FilterSelector(filter=filter_)
