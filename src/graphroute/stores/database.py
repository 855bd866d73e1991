"""Database: one SQLite file, a connection for each thread, the format check and the scope filter of a view."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import threading
import time
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from graphroute.cancellation import check, current
from graphroute.errors import BackendUnavailableError, DataError, DeadlineError, UsageError
from graphroute.stores.schema import FORMAT_VERSION, SCHEMA, STORE_SETTING
from graphroute.text import fold
from graphroute.types.graph import AttributeFilter
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, TimeFilter, TimeMode
from graphroute.types.view import View

_INDEX = re.compile(r"\s*(?:--[^\n]*\n\s*)*CREATE (?:UNIQUE )?INDEX (\w+)")
_INLINE_SCOPES = 500
_KEPT_SCOPE_TABLES = 8
_OPCODES_BETWEEN_CHECKS = 2_000
_BLANKS = "char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 8203, 8232, 8233, 12288, 65279)"
NOT_BLANK = f"trim(p.text, {_BLANKS}) <> ''"
"""SQL condition on a passage `p`. A blank text has a vector that means nothing and is near to anything."""


class Database:
    """The store file. Safe to share between threads: each thread reads through a connection of its own.

    `read_only`: the file must exist and is never written. Raises DataError for a file of another format,
    BackendUnavailableError if it cannot be opened.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.read_only = read_only
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections: list[tuple[weakref.ref[threading.Thread], sqlite3.Connection]] = []
        self._closed = False
        if read_only and not self.path.exists():
            raise BackendUnavailableError(
                "the store does not exist", where=str(self.path), hint="run: graphroute ingest"
            )
        if not read_only:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        self._prepare()

    def _open(self, owner: threading.Thread) -> sqlite3.Connection:
        uri = self.path.resolve().as_uri() + ("?mode=ro" if self.read_only else "")
        try:
            connection = sqlite3.connect(
                uri, uri=True, timeout=10.0, isolation_level=None, check_same_thread=False, cached_statements=512
            )
            try:
                connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
            except sqlite3.OperationalError:
                # A store on a read-only medium has no place for the shared-memory file; without a log it is whole.
                log = self.path.with_name(self.path.name + "-wal")
                if not self.read_only or log.exists():
                    raise
                connection.close()
                connection = sqlite3.connect(
                    uri + "&immutable=1", uri=True, isolation_level=None, check_same_thread=False, cached_statements=512
                )
                connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise BackendUnavailableError(f"cannot open the store: {error}", where=str(self.path)) from error
            raise DataError(f"not a store: {error}", where=str(self.path)) from error
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA mmap_size = 268435456")
        connection.execute("PRAGMA cache_size = -32768")
        connection.execute("PRAGMA temp_store = MEMORY")
        with self._lock:
            # Threads come and go; what an ended one left behind is closed when the next one opens.
            ended = [opened for thread, opened in self._connections if not _runs(thread())]
            self._connections = [item for item in self._connections if _runs(item[0]())]
            self._connections.append((weakref.ref(owner), connection))
        for opened in ended:
            opened.close()
        return connection

    def _prepare(self) -> None:
        connection = self.connection
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version == FORMAT_VERSION:
            if not self.read_only:
                self._index(connection)
            return
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version == 0 and tables == 0 and not self.read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            try:
                # Two processes may create the file at once; the second finds it made.
                if int(connection.execute("PRAGMA user_version").fetchone()[0]) == 0:
                    for statement in _statements(SCHEMA):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {FORMAT_VERSION:d}")
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            return
        self.close()
        raise DataError(
            f"store format {version}" if version else "not a store",
            where=str(self.path),
            allowed=f"format {FORMAT_VERSION}",
            hint="ingest the data again into a new store: graphroute ingest",
        )

    def _index(self, connection: sqlite3.Connection) -> None:
        """Make the indexes that a file of the same format, written by an older version, does not have yet."""
        held = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
        wanted = [(found[1], text) for text in _statements(SCHEMA) if (found := _INDEX.match(text))]
        missing = [text for name, text in wanted if name not in held]
        with contextlib.suppress(sqlite3.OperationalError):
            # Another process may write, or have made them by now; without them reads are as right, only slower.
            for text in missing:
                connection.execute(text)

    @property
    def connection(self) -> sqlite3.Connection:
        """The calling thread's connection, in autocommit mode."""
        if self._closed:
            raise BackendUnavailableError("the store is closed", where=str(self.path))
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = self._open(threading.current_thread())
            self._local.connection = found
        return found

    def writing_connection(self) -> sqlite3.Connection:
        """A connection of its own for a writer, so that its transaction is not seen by this thread's reads."""
        # A writer may move between threads, so no thread's end closes it.
        connection = self._open(threading.main_thread())
        # WAL with FULL: a commit is on disk when it returns.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA cache_size = -131072")
        return connection

    def close(self) -> None:
        """Close the connections of all threads. Later reads raise BackendUnavailableError."""
        self._closed = True
        with self._lock:
            for _, connection in self._connections:
                connection.close()
            self._connections.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def sequence(self) -> int:
        """The published snapshot, for the operator."""
        return int(self.connection.execute("SELECT sequence FROM pointer").fetchone()[0])

    def staged(self) -> int:
        """The newest complete snapshot, published or about to be; what copies in other stores are brought to."""
        return int(self.connection.execute("SELECT max(sequence) FROM snapshot").fetchone()[0])

    def store_id(self) -> str:
        """What tells this store from all others; given once. Raises UsageError for a read-only store that has none yet."""
        found = self.known_id()
        if found is None:
            if self.read_only:
                raise UsageError("the store has no id yet and was opened read-only", where=str(self.path))
            connection = self.writing_connection()
            try:
                connection.execute("INSERT OR IGNORE INTO setting VALUES (?, ?)", (STORE_SETTING, uuid.uuid4().hex))
            except sqlite3.OperationalError as error:
                raise BackendUnavailableError(
                    f"the store is being written by another process: {error}", where=str(self.path)
                ) from error
            found = self.known_id()
            assert found is not None
        return found

    def known_id(self) -> str | None:
        """The store's id, or None for one that was never copied to a server."""
        row = self.connection.execute("SELECT value FROM setting WHERE key = ?", (STORE_SETTING,)).fetchone()
        return None if row is None else str(row[0])

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own that sees the store as it is now, whatever is written meanwhile."""
        connection = self._open(threading.current_thread())
        # It may sort whole tables.
        connection.execute("PRAGMA temp_store = FILE")
        connection.execute("BEGIN")
        try:
            connection.execute("SELECT 1 FROM pointer").fetchone()
            yield connection
        finally:
            connection.execute("ROLLBACK")
            with self._lock:
                self._connections = [item for item in self._connections if item[1] is not connection]
            connection.close()

    def in_scopes(self, view: View, column: str = "scope") -> str:
        """SQL condition that `column` is a scope the view may read. A view without scopes reads nothing."""
        if not view.scopes:
            return "0"
        if len(view.scopes) <= _INLINE_SCOPES:
            return f"{column} IN ({','.join(map(str, sorted(view.scopes)))})"
        return f"{column} IN temp.{self._scope_table(view.scopes)}"

    def _scope_table(self, scopes: frozenset[int]) -> str:
        tables: dict[frozenset[int], str] | None = getattr(self._local, "tables", None)
        if tables is None:
            tables = self._local.tables = {}
            self._local.made = 0
        name = tables.get(scopes)
        if name is None:
            connection = self.connection
            if len(tables) >= _KEPT_SCOPE_TABLES:
                oldest = next(iter(tables))
                connection.execute(f"DROP TABLE temp.{tables.pop(oldest)}")
            self._local.made += 1
            name = tables[scopes] = f"readable_{self._local.made:d}"
            connection.execute(f"CREATE TEMP TABLE {name} (scope INTEGER PRIMARY KEY)")
            connection.execute("BEGIN")
            connection.executemany(f"INSERT INTO temp.{name} VALUES (?)", ((scope,) for scope in sorted(scopes)))
            connection.execute("COMMIT")
        return name

    @contextmanager
    def reading(self, deadline: float | None = None) -> Iterator[sqlite3.Connection]:
        """The thread's connection under a deadline in `time.monotonic` seconds; past it DeadlineError."""
        connection = self.connection
        if deadline is None:
            yield connection
            return
        if time.monotonic() >= deadline:
            raise DeadlineError("the store did not answer within the deadline")
        token = current()

        def ends() -> int:
            return int(time.monotonic() >= deadline or (token is not None and token.cancelled))

        connection.set_progress_handler(ends, _OPCODES_BETWEEN_CHECKS)
        try:
            yield connection
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            check()
            raise DeadlineError("the store did not answer within the deadline") from error
        finally:
            connection.set_progress_handler(None, 0)


def _runs(thread: threading.Thread | None) -> bool:
    return thread is not None and thread.is_alive()


def alive(view: View, table: str = "") -> str:
    """SQL condition that a row is known at the view's snapshot."""
    prefix = f"{table}." if table else ""
    return f"{prefix}born <= {view.sequence:d} AND {prefix}died > {view.sequence:d}"


def typed(db: Database, view: View, table: str = "y") -> str:
    """SQL condition that a row of `entity_type` tells the view a type: readable, and none of a lower basis is."""
    told = (
        f"EXISTS (SELECT 1 FROM entity_type lower WHERE lower.entity = {table}.entity AND lower.basis < {table}.basis "
        f"AND {alive(view, 'lower')} AND {db.in_scopes(view, 'lower.scope')})"
    )
    readable = f"({table}.scope = 0 OR {db.in_scopes(view, f'{table}.scope')})"
    return f"{alive(view, table)} AND ({table}.basis = 0 OR ({readable} AND NOT {told}))"


def time_condition(time_filter: TimeFilter, low: str = "low", high: str = "high") -> str:
    """SQL form of `TimeFilter.accepts` on two columns."""
    start, end = time_filter.interval.low, time_filter.interval.high
    if time_filter.mode is TimeMode.ANY:
        return "1"
    if time_filter.mode is TimeMode.OVERLAPS:
        return f"({low} < {end:d} AND {high} > {start:d})"
    if time_filter.mode is TimeMode.STARTS_IN:
        return f"({low} > {MIN_INSTANT:d} AND {low} >= {start:d} AND {low} < {end:d})"
    return f"({high} < {MAX_INSTANT:d} AND {high} >= {start:d} AND {high} < {end:d})"


def attribute_condition(test: AttributeFilter, scoped: str, entity: str) -> tuple[str, list[object]]:
    """SQL condition that the entity passes the filter, and its parameters.

    `scoped`: conditions that make a row of `attribute` (as `t`) readable and in force. `ne` asks for an entity that has the
    attribute and not this value. A filter that cannot be read as its operator needs passes nothing.
    """
    base = f"SELECT 1 FROM attribute t WHERE t.entity = {entity} AND t.key = ? AND {scoped}"
    if test.operator == "eq":
        return f"EXISTS ({base} AND t.folded = ?)", [test.key, fold(test.value)]
    if test.operator == "ne":
        parameters: list[object] = [test.key, test.key, fold(test.value)]
        return f"(EXISTS ({base}) AND NOT EXISTS ({base} AND t.folded = ?))", parameters
    try:
        if test.operator == "in_range":
            low, high = test.value.split("..")
            bounds: list[object] = [int(low) if low else MIN_INSTANT, int(high) if high else MAX_INSTANT]
            return f"EXISTS ({base} AND t.instant >= ? AND t.instant < ?)", [test.key, *bounds]
        sign = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}[test.operator]
        return f"EXISTS ({base} AND t.number {sign} ?)", [test.key, float(test.value)]
    except (KeyError, ValueError):
        return "0", []


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, since executescript would commit between them."""
    lines: list[str] = []
    for line in script.splitlines():
        lines.append(line)
        if sqlite3.complete_statement("\n".join(lines)):
            yield "\n".join(lines)
            lines = []
