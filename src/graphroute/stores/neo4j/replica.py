"""Neo4jReplica: copies a record to a server batch by batch, switches readers to it at the end, and reads a lost record back."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import time
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from graphroute.errors import BackendError, BackendUnavailableError, DataError, GraphRouteError, OutcomeUnknownError
from graphroute.stores.database import Database
from graphroute.stores.neo4j import writes
from graphroute.stores.neo4j.connection import Neo4jConnection, Query
from graphroute.stores.neo4j.facts import LONGEST_ID
from graphroute.stores.neo4j.tables import CHANGING, TABLES, Properties, Table, properties_of
from graphroute.stores.neo4j.vectors import replicate_vectors
from graphroute.stores.schema import FORMAT_VERSION, LIVE, STORE_SETTING
from graphroute.stores.staging import COLUMNS

BATCH = 5_000
"""Most rows in a transaction."""
_BATCH_BYTES = 4_000_000
_LEASE = 120.0
_WIPED_AT_ONCE = 10_000
_WIPING = "wiping"


_TERMS = replace(next(table for table in TABLES if table.name == "term"), page=writes.PAGE_TERM, first=0)
_VECTORS = replace(_TERMS, name="vector", page=writes.PAGE_VECTOR, first=-1)


class Progress(Protocol):
    """Hears how far a copy is: stages come one after another, with the rows of each."""

    def start(self, stage: str, total: int | None) -> None:
        """A stage begins; `total` steps if they are known."""
        ...

    def advance(self, amount: int = 1) -> None:
        """Steps of the stage are done."""
        ...

    def finish(self) -> None:
        """The stage is over."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicated:
    """What a copy did. `sequence`: the snapshot that readers of the server now get. `rows`: written, `ended`: marked as ended,
    `forgotten`: deleted with old snapshots. `rebuilt`: the server's data was dropped first."""

    sequence: int
    rows: int
    ended: int
    forgotten: int
    rebuilt: bool


@dataclass(frozen=True, slots=True)
class _Journal:
    """Where a copy is. `at`: when the target was published; `step`: index of the table, the ended rows after all born ones;
    `after`: the last row of the step that is on the server; `turn` makes each journal unlike the one before."""

    since: int
    target: int
    at: int
    step: int = 0
    after: tuple[Any, ...] | None = None
    turn: int = 0

    def text(self) -> str:
        after = (
            None if self.after is None else [value.hex() if isinstance(value, bytes) else value for value in self.after]
        )
        return json.dumps([self.since, self.target, self.at, self.step, after, self.turn], ensure_ascii=False)

    @classmethod
    def read(cls, text: str) -> _Journal:
        since, target, at, step, after, turn = json.loads(text)
        if after is not None:
            start = TABLES[step].start
            after = tuple(
                bytes.fromhex(value) if isinstance(first, bytes) else value
                for value, first in zip(after, start, strict=True)
            )
        return cls(since, target, at, step, after, turn)


class Neo4jReplica:
    """The copy of one record on one server. The server belongs to the record: its only data is this copy.

    Every row carries the snapshots in which it was born and died, so readers of the snapshot published before see nothing of a copy
    until its last transaction moves the pointer. A copy that was cut off anywhere goes on where it was, whatever became of its
    last transaction. One copier at a time: it holds a lease that each batch renews.
    """

    def __init__(self, connection: Neo4jConnection, db: Database, *, lease: float = _LEASE, batch: int = BATCH) -> None:
        self._connection = connection
        self._db = db
        self._lease = int(lease * 1000)
        self._batch = batch

    def replicate(self, *, replace: bool = False, rebuild: bool = True, progress: Progress | None = None) -> Replicated:
        """Bring the server to the record's newest complete snapshot, then drop what the record has forgotten.

        `replace`: a server that holds another store is emptied first. `rebuild`: so is one whose snapshot is not of the record's
        past; without it that is a BackendError. Raises DataError if it holds another store and `replace` is not set, if it
        holds data that is not ours, or if an id is too long to be indexed; BackendUnavailableError if another process copies.
        """
        copier = _Copier(self._connection, self._db, self._lease, self._batch, rebuild, progress)
        copier.take(replace)
        try:
            return copier.run()
        finally:
            copier.release()


class _Copier:
    """One run of a copy."""

    def __init__(
        self,
        connection: Neo4jConnection,
        db: Database,
        lease: int,
        batch: int,
        rebuild: bool,
        progress: Progress | None,
    ) -> None:
        self._connection = connection
        self._db = db
        self._store = db.store_id()
        self._lease = lease
        self._batch = batch
        self._rebuild = rebuild
        self._progress = progress
        self._owner = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex}"
        self._where = connection.settings.uri
        self._journal = ""
        self._published = 0
        self._replace = False
        self._rows = self._ended = self._forgotten = 0
        self._rebuilt = False

    # The lease ------------------------------------------------------------------------------------------------------------

    def take(self, replace: bool) -> None:
        """Find or found the store on the server and take the lease."""
        found = self._connection.read(writes.STORE)
        if not found:
            foreign = self._connection.read(writes.FOREIGN)
            if foreign:
                raise DataError(
                    f"the database holds nodes that are not of a store, such as {':'.join(foreign[0][0]) or 'one without a label'}",
                    where=self._where,
                    hint="give the store a database of its own, or read that graph: graphroute init --from",
                )
            self._sure(writes.FOUND, id=self._store, format=FORMAT_VERSION)
            found = self._connection.read(writes.STORE)
        store, format_, _, _, owner, _, _ = found[0]
        if store != self._store and not replace:
            raise DataError(
                "the database holds another store", where=self._where, hint="give each store a database of its own"
            )
        if store == self._store and format_ != FORMAT_VERSION:
            raise DataError(f"store format {format_}", where=self._where, allowed=f"format {FORMAT_VERSION}")
        self._replace = store != self._store
        dead = owner if _ended(owner) else "-"
        taken = self._sure(writes.LEASE, id=store, owner=self._owner, dead=dead, lease=self._lease)
        if not taken:
            left = max(0, int(self._connection.read(writes.STORE)[0][5])) / 1000
            raise BackendUnavailableError(
                f"another process is copying to the server; its lease ends in {left:.0f} s", where=self._where
            )
        self._published, self._journal = taken[0]

    def release(self) -> None:
        """Give the lease back, if the server can be reached."""
        with contextlib.suppress(GraphRouteError):
            self._connection.write(writes.RELEASE, {"p": {"owner": self._owner}})

    # The copy -----------------------------------------------------------------------------------------------------------

    def run(self) -> Replicated:
        """Copy until the server has what the record has."""
        with self._db.snapshot() as sql:
            snapshots = dict(sql.execute("SELECT sequence, published_at FROM snapshot").fetchall())
            target = max(snapshots)
            diverged = _diverged(self._connection, sql, self._published)
            if diverged and not self._rebuild:
                raise BackendError(
                    "the store was written from another machine meanwhile", where=self._where, hint="run it again"
                )
            if self._journal == _WIPING or self._replace or diverged:
                self._reset()
            if self._journal:
                journal = _Journal.read(self._journal)
                if snapshots.get(journal.target) != journal.at:
                    self._undo(journal.since)
                else:
                    self._copy(sql, journal, snapshots)
            if self._published != target:
                self._begin(sql, snapshots, target)
            self._forget(min(snapshots))
        return Replicated(
            sequence=self._published,
            rows=self._rows,
            ended=self._ended,
            forgotten=self._forgotten,
            rebuilt=self._rebuilt,
        )

    def _begin(self, sql: sqlite3.Connection, snapshots: Mapping[int, int], target: int) -> None:
        journal = _Journal(self._published, target, snapshots[target])
        self._advance(writes.JOURNAL, journal.text())
        self._copy(sql, journal, snapshots)

    def _copy(self, sql: sqlite3.Connection, journal: _Journal, snapshots: Mapping[int, int]) -> None:
        """From where the journal says to the switch of the pointer."""
        steps = len(TABLES)
        while journal.step < 2 * steps:
            if journal.step < steps:
                journal = self._copy_born(sql, TABLES[journal.step], journal)
            else:
                journal = self._copy_ended(sql, TABLES[journal.step - steps], journal)
        if min(snapshots) > journal.since > 0:
            journal = self._find_lost(sql, journal, min(snapshots))
        self._settle_vectors(sql, journal)
        self._put_vectors_on_passages(journal)
        settings = dict(sql.execute("SELECT key, value FROM setting").fetchall())
        rows = [
            {"sequence": sequence, "published_at": published_at}
            for sequence, published_at in sorted(snapshots.items())
            if sequence <= journal.target
        ]
        text = json.dumps({"sequence": journal.target, "values": settings}, ensure_ascii=False, sort_keys=True)
        self._advance(writes.PUBLISH, "", rows=rows, sequence=journal.target, settings=text)
        self._published = journal.target
        if not journal.since:
            self._rehearse()

    def _rehearse(self) -> None:
        """Have the server plan what later copies and erasures send: nobody waits for a plan at the end of a first copy.

        Without parameters no statement passes its guard. EXPLAIN would not do: what it prepares is not all that a run needs.
        """
        with contextlib.suppress(GraphRouteError):
            self._connection.transaction([(query, {"p": {}}) for query in CHANGING])

    def _copy_born(self, sql: sqlite3.Connection, table: Table, journal: _Journal) -> _Journal:
        after = journal.after
        if after is None:
            after = table.start
            if table.name in ("scope", "term"):
                held = self._connection.read(writes.HELD, deadline=_deadline(self._connection))[0]
                after = (held[0] if table.name == "scope" else held[1],)
        bound = {"since": journal.since, "target": journal.target, **{f"a{i}": value for i, value in enumerate(after)}}
        keys = len(table.start)
        self._stage(f"copy {table.name}")
        for rows, last in self._batches(sql.execute(table.later if journal.since else table.select, bound), table):
            journal = _Journal(journal.since, journal.target, journal.at, journal.step, last[:keys], journal.turn + 1)
            query = table.copy if isinstance(table.copy, Query) else table.copy(last[0])
            self._advance(query, journal.text(), rows=rows)
            self._rows += len(rows)
            self._moved(len(rows))
        self._staged()
        return self._next(journal)

    def _copy_ended(self, sql: sqlite3.Connection, table: Table, journal: _Journal) -> _Journal:
        if table.ended is not None and journal.since:
            cursor = sql.execute(table.ended, {"since": journal.since, "target": journal.target})
            columns = tuple(item[0] for item in cursor.description)
            self._stage(f"end {table.name}")
            while found := cursor.fetchmany(self._batch):
                journal = self._end(table, [properties_of(columns, row, table.make_ended) for row in found], journal)
            self._staged()
        return self._next(journal)

    def _end(self, table: Table, rows: Sequence[Properties], journal: _Journal) -> _Journal:
        """Mark rows as ended. Doing it again changes nothing, so a step that was cut off starts over."""
        assert table.end is not None
        journal = _Journal(journal.since, journal.target, journal.at, journal.step, None, journal.turn + 1)
        self._advance(table.end, journal.text(), rows=rows)
        self._ended += len(rows)
        self._moved(len(rows))
        return journal

    def _next(self, journal: _Journal) -> _Journal:
        # A step without rows is not worth a transaction; the next batch or the publish moves the journal.
        return _Journal(journal.since, journal.target, journal.at, journal.step + 1, None, journal.turn)

    def _find_lost(self, sql: sqlite3.Connection, journal: _Journal, oldest: int) -> _Journal:
        """End what the record has dropped after it ended: its ends can no longer be read there.

        It ended at the record's oldest snapshot at the latest, which is all that a reader can tell.
        """
        for table in TABLES:
            if table.exists is None or table.page is None:
                continue
            self._stage(f"compare {table.name}")
            for properties in _rows_of(self._connection, table, self._batch):
                lost = [
                    row
                    for row in properties
                    if row["born"] <= journal.since
                    and row["died"] > oldest
                    and sql.execute(table.exists, tuple(row[column] for column in table.identity)).fetchone() is None
                ]
                if lost:
                    rows = [_ended_row(table, {**row, "died": oldest}) for row in lost]
                    journal = self._end(table, rows, journal)
                self._moved(len(properties))
            self._staged()
        return journal

    def _settle_vectors(self, sql: sqlite3.Connection, journal: _Journal) -> None:
        """Vectors have no snapshots: those that the server lacks or has otherwise are copied, others dropped."""
        held = {
            (passage, identity): check
            for passage, identity, check in self._connection.read(writes.VECTORS, deadline=_deadline(self._connection))
        }
        batch: list[Properties] = []
        turn = 0

        def send() -> None:
            nonlocal batch, turn
            turn += 1
            text = _Journal(journal.since, journal.target, journal.at, journal.step, None, journal.turn + turn).text()
            self._advance(writes.COPY_VECTOR, text, rows=batch)
            self._rows += len(batch)
            self._moved(len(batch))
            batch = []

        self._stage("copy vector")
        cursor = sql.execute(
            "SELECT v.passage, v.identity, v.vector FROM vector v CROSS JOIN passage p ON p.key = v.passage "
            "WHERE p.born <= ? ORDER BY v.passage, v.identity",
            (journal.target,),
        )
        for passage, identity, vector in cursor:
            check = zlib.crc32(vector)
            if held.pop((passage, identity), None) != check:
                batch.append({"passage": passage, "identity": identity, "vector": vector, "check": check})
                if len(batch) * len(vector) >= _BATCH_BYTES or len(batch) >= self._batch:
                    send()
        if batch:
            send()
        gone = [{"passage": passage, "identity": identity} for passage, identity in sorted(held)]
        for begin in range(0, len(gone), self._batch):
            self._sure(writes.DROP_VECTORS, rows=gone[begin : begin + self._batch])
        self._staged()

    def _put_vectors_on_passages(self, journal: _Journal) -> None:
        """The vectors of the embedder in use, as lists that the server compares."""
        self._stage("index vector")
        before = 0

        def keep_lease(_: str, done: int, total: int) -> None:
            nonlocal before
            self._leased(writes.RENEW)
            self._moved(done - before)
            before = done

        self._rows += replicate_vectors(self._connection, self._db, target=journal.target, progress=keep_lease)
        self._staged()

    # Dropping -------------------------------------------------------------------------------------------------------------

    def _forget(self, oldest: int) -> None:
        """Delete what only snapshots older than `oldest` can read. Their views raise SnapshotError from then on."""
        if self._leased(writes.FORGET_SNAPSHOTS, oldest=oldest):
            for query in (writes.FORGET_FACTS, writes.FORGET_ROWS):
                self._repeat(query, oldest=oldest)

    def _reset(self) -> None:
        """Drop all data. Readers find no snapshot until the copy is whole."""
        self._advance(writes.RESET, _WIPING, id=self._store, format=FORMAT_VERSION)
        self._repeat(writes.WIPE, count=False)
        self._published = 0
        self._rebuilt = True
        self._advance(writes.RESET, "", id=self._store, format=FORMAT_VERSION)

    def _undo(self, since: int) -> None:
        """Drop what a copy to a snapshot that the record no longer has left on the server."""
        self._repeat(writes.UNDO_FACTS, count=False, since=since)
        self._repeat(writes.UNDO_ROWS, count=False, since=since)
        self._advance(writes.JOURNAL, "")

    def _repeat(self, query: Query, count: bool = True, **parameters: object) -> None:
        while True:
            size = self._leased(query, limit=_WIPED_AT_ONCE, **parameters)
            if count:
                self._forgotten += size
            if size < _WIPED_AT_ONCE:
                return

    # One transaction ------------------------------------------------------------------------------------------------------

    def _sure(self, query: Query, **parameters: object) -> list[tuple[Any, ...]]:
        """Run a statement that may be run twice; once more if nobody knows whether it was kept."""
        try:
            return self._connection.write(query, {"p": parameters})
        except OutcomeUnknownError:
            return self._connection.write(query, {"p": parameters})

    def _leased(self, query: Query, **parameters: object) -> Any:
        """Run a statement that renews the lease and may be run twice; its value."""
        done = self._sure(query, owner=self._owner, lease=self._lease, **parameters)
        if not done:
            raise BackendUnavailableError("another process has taken over the copy", where=self._where)
        return done[0][0]

    def _advance(self, query: Query, journal: str, rows: Sequence[Properties] = (), **more: object) -> None:
        """Run a guarded statement that moves the journal. If nobody knows whether it was kept, the journal does."""
        given = {
            "owner": self._owner,
            "before": self._journal,
            "after": journal,
            "lease": self._lease,
            "live": LIVE,
            "rows": list(rows),
            **more,
        }
        for _ in range(3):
            try:
                done = self._connection.write(query, {"p": given})
            except OutcomeUnknownError:
                now = self._connection.read(writes.STORE)[0]
                if now[4] == self._owner and now[3] == journal:
                    break
                if now[4] == self._owner and now[3] == self._journal:
                    continue
                done = []
            if done:
                break
            raise BackendUnavailableError("another process has taken over the copy", where=self._where)
        else:
            raise BackendUnavailableError("the server does not say whether it keeps what is written", where=self._where)
        self._journal = journal

    def _batches(
        self, cursor: Iterable[tuple[Any, ...]], table: Table
    ) -> Iterator[tuple[list[Properties], tuple[Any, ...]]]:
        batch: list[Properties] = []
        size = 0
        last: tuple[Any, ...] = ()
        for row in cursor:
            if batch and not isinstance(table.copy, Query) and row[0] != last[0]:
                yield batch, last
                batch, size = [], 0
            properties = properties_of(table.columns, row, table.make)
            for column in table.indexed:
                value = properties.get(column)
                if isinstance(value, str) and len(value) > LONGEST_ID // 4 and len(value.encode()) > LONGEST_ID:
                    raise DataError(
                        f"{table.name} has a {column} of {len(value.encode()):,} bytes, starting {value[:40]!r}",
                        where=self._where,
                        allowed=f"{LONGEST_ID:,} bytes",
                    )
            batch.append(properties)
            size += sum(len(value) for value in properties.values() if isinstance(value, (str, bytes)))
            last = row
            if len(batch) >= self._batch or size >= _BATCH_BYTES:
                yield batch, last
                batch, size = [], 0
        if batch:
            yield batch, last

    def _stage(self, name: str) -> None:
        if self._progress is not None:
            self._progress.start(name, None)

    def _moved(self, amount: int) -> None:
        if self._progress is not None:
            self._progress.advance(amount)

    def _staged(self) -> None:
        if self._progress is not None:
            self._progress.finish()


def _ended(owner: str) -> bool:
    """True if the owner of a lease was a process of this machine that runs no more."""
    host, _, rest = owner.partition("/")
    if host != socket.gethostname():
        return False
    pid = rest.partition("/")[0]
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (ValueError, OSError):
        return False
    return False


def _ended_row(table: Table, row: Properties) -> Properties:
    return table.make_ended(row) if table.make_ended is not None else row


def _rows_of(connection: Neo4jConnection, table: Table, size: int) -> Iterator[list[Properties]]:
    """All rows of a table on the server, with the columns of the record, page by page."""
    assert table.page is not None
    after, limit = table.first, size
    while True:
        rows = connection.read(table.page, {"p": {"after": after, "limit": limit}}, deadline=_deadline(connection))
        full = len(rows) == limit
        if table.name == "adjacency":
            page = [
                dict(zip(table.columns, (fact[0], node, *fact[1:]), strict=True))
                for node, facts in rows
                for fact in facts
            ]
        else:
            if full and rows[0][0] == rows[-1][0]:
                limit *= 2
                continue
            if full:
                # The last group may go on on the next page.
                end = rows[-1][0]
                rows = [row for row in rows if row[0] != end]
            page = [row[1] for row in rows]
        if page:
            yield page
        if not full:
            return
        after, limit = rows[-1][0], size


def _deadline(connection: Neo4jConnection) -> float:
    return time.monotonic() + connection.settings.write_timeout


def _diverged(connection: Neo4jConnection, sql: sqlite3.Connection, published: int) -> bool:
    """True if the server's published snapshot is not one of the record's past: one of them was built again, put back, or
    written from elsewhere."""
    if not published:
        return False
    snapshots = dict(sql.execute("SELECT sequence, published_at FROM snapshot").fetchall())
    if published > max(snapshots):
        return True
    _, _, held, digests = connection.read(writes.HELD, deadline=_deadline(connection))[0]
    for sequence, published_at in held:
        if sequence and snapshots.get(sequence, published_at) != published_at:
            return True
    known = {(scope, sequence): bytes(digest) for scope, sequence, digest in digests}
    rows = sql.execute("SELECT scope, sequence, digest FROM scope_digest WHERE sequence <= ?", (published,))
    return any(known.get((scope, sequence)) != bytes(digest) for scope, sequence, digest in rows)


def is_behind(connection: Neo4jConnection, db: Database) -> bool:
    """True if the server has a snapshot of the same store that the record does not: another machine has written it."""
    found = connection.read(writes.STORE)
    if not found or found[0][0] != db.store_id() or found[0][3] == _WIPING:
        return False
    # The server was asked first: a process of this machine completes a snapshot in the record before the server has it.
    with db.snapshot() as sql:
        return _diverged(connection, sql, found[0][2])


def fetch(connection: Neo4jConnection, path: str | Path, *, replace: bool = False) -> int:
    """Write the record that the server holds a copy of to a store file; its published snapshot.

    A copy that is under way is left out: the file has what readers of the server get. Raises DataError if there is no
    store on the server, or if the file exists and `replace` is not set; a new file is there only when it is whole.
    """
    target = Path(path)
    if target.exists() and not replace:
        raise DataError("the file exists", where=str(target))
    found = connection.read(writes.STORE)
    if not found:
        raise DataError("the database holds no store", where=connection.settings.uri, hint="run: graphroute ingest")
    store, format_, sequence, _, _, _, settings = found[0]
    if format_ != FORMAT_VERSION:
        raise DataError(f"store format {format_}", where=connection.settings.uri, allowed=f"format {FORMAT_VERSION}")
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    _remove(part)
    try:
        with Database(part) as db:
            sql = db.writing_connection()
            sql.execute("BEGIN IMMEDIATE")
            _fill(connection, sql, int(sequence))
            kept = {**json.loads(settings).get("values", {}), STORE_SETTING: store}
            sql.executemany("INSERT INTO setting VALUES (?, ?)", sorted(kept.items()))
            sql.execute("COMMIT")
            sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        now = connection.read(writes.STORE)[0]
        if now[2] != sequence:
            raise BackendError(
                "the store was written while it was read", where=connection.settings.uri, hint="try again"
            )
        # What is left of the old file's log must not be read into the new one.
        for end in ("-wal", "-shm"):
            target.with_name(target.name + end).unlink(missing_ok=True)
        os.replace(part, target)
    finally:
        _remove(part)
    return int(sequence)


def _fill(connection: Neo4jConnection, sql: sqlite3.Connection, sequence: int) -> None:
    """Insert everything that was published up to a snapshot, row by row as it was."""

    def insert(name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        for table, columns in COLUMNS.items():
            if table == name:
                names = columns.split(", ")
                places = ",".join("?" * (columns.count(",") + 1))
                sql.executemany(
                    f"INSERT INTO {table} ({columns}) VALUES ({places})",
                    ([row.get(column) for column in names] for row in rows),
                )

    deadline = _deadline(connection)
    for query, statement in (
        (writes.PAGE_SCOPE, "INSERT INTO scope VALUES (?, ?)"),
        (writes.PAGE_SCOPE_DIGEST, "INSERT INTO scope_digest VALUES (?, ?, ?)"),
        (writes.PAGE_SNAPSHOT, "INSERT OR REPLACE INTO snapshot VALUES (?, ?)"),
        (writes.PAGE_TOMBSTONE, "INSERT INTO tombstone VALUES (?, ?, ?)"),
    ):
        rows = connection.read(query, deadline=deadline)
        if query is writes.PAGE_SCOPE_DIGEST:
            rows = [row for row in rows if row[1] <= sequence]
        elif query is writes.PAGE_TOMBSTONE:
            rows = [row for row in rows if row[2] <= sequence]
        elif query is writes.PAGE_SNAPSHOT:
            sql.execute("DELETE FROM snapshot")
        sql.executemany(statement, sorted(rows))
    sql.execute("UPDATE pointer SET sequence = ?", (sequence,))
    for table in (_TERMS, *TABLES):
        if table.page is None:
            continue
        for page in _rows_of(connection, table, BATCH):
            if table.name == "term":
                insert("term", page)
                continue
            rows_now = [
                {**row, "died": LIVE if row["died"] > sequence else row["died"]}
                for row in page
                if row["born"] <= sequence
            ]
            if table.name == "support_set":
                insert("support_set", {row["key"]: row for row in rows_now}.values())
                insert("support_member", ({**row, "support_set": row["key"]} for row in rows_now))
            elif table.name == "adjacency":
                insert("adjacency", ({**row, "direction": 0} for row in rows_now))
                mirrored = ({**row, "node": row["other"], "direction": 1, "other": row["node"]} for row in rows_now)
                insert("adjacency", mirrored)
            else:
                insert(table.name, rows_now)
            if table.name == "passage":
                insert(
                    "passage_terms",
                    ({"passage": row["key"], "terms": row["terms"]} for row in rows_now if "terms" in row),
                )
    for page in _rows_of(connection, _VECTORS, BATCH):
        sql.executemany(
            "INSERT INTO vector SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM passage WHERE key = ?)",
            ((row["passage"], row["identity"], row["vector"], row["passage"]) for row in page),
        )


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
