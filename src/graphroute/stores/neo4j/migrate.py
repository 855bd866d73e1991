"""Migrations of a Neo4j database: each file once, in order, with its checksum kept, under a lease against two at once."""

from __future__ import annotations

import hashlib
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from graphroute.errors import BackendError, ConfigurationError, GraphRouteError
from graphroute.resources import resource
from graphroute.stores.neo4j.connection import Neo4jConnection, Query

SIMILARITIES = ("cosine", "euclidean")
LARGEST_VECTOR = 4096
LEASE = 30.0
"""Seconds after which the lease of a migration that does not renew it any more is free."""

_FILE = re.compile(r"(\d{4})_([a-z0-9_]+)\.cypher")
_MADE = re.compile(r"CREATE\s+(?:(CONSTRAINT)|(?:(\w+)\s+)?INDEX)\s+(\w+)\s+IF\s+NOT\s+EXISTS\b")
_REPEATABLE = re.compile(r"(?:CREATE\s[^;]*?\bIF\s+NOT\s+EXISTS|DROP\s[^;]*?\bIF\s+EXISTS)\b")
_STATEMENT_SECONDS = 6 * 3600.0
_ONLINE_SECONDS = 24 * 3600.0
_POLL = 0.2

_KEYS = (
    Query(
        "migration_key",
        "CYPHER 5 CREATE CONSTRAINT graphroute_migration IF NOT EXISTS FOR (n:GraphrouteMigration) REQUIRE n.number IS UNIQUE",
    ),
    Query(
        "lease_key",
        "CYPHER 5 CREATE CONSTRAINT graphroute_lease IF NOT EXISTS FOR (n:GraphrouteLease) REQUIRE n.id IS UNIQUE",
    ),
)
_APPLIED = Query(
    "migrations_applied",
    "CYPHER 5 MATCH (n:GraphrouteMigration) RETURN n.number, n.name, n.checksum, n.parts ORDER BY n.number",
)
_RECORD = Query(
    "migration_record",
    "CYPHER 5 MERGE (n:GraphrouteMigration {number: $number}) ON CREATE SET n.name = $name, n.checksum = $checksum, n.applied = timestamp() "
    "SET n.parts = $parts",
)
# The write to `seen` takes the lock before `until` is read.
_TAKE = Query(
    "lease_take",
    "CYPHER 5 MERGE (n:GraphrouteLease {id: 'migration'}) SET n.seen = timestamp() "
    "WITH n WHERE n.owner IS NULL OR n.owner = $owner OR n.until < timestamp() "
    "SET n.owner = $owner, n.until = timestamp() + $lease RETURN n.until",
)
_RENEW = Query(
    "lease_renew",
    "CYPHER 5 MATCH (n:GraphrouteLease {id: 'migration', owner: $owner}) SET n.until = timestamp() + $lease RETURN n.until",
)
_LEFT = Query(
    "lease_left", "CYPHER 5 MATCH (n:GraphrouteLease {id: 'migration'}) RETURN (n.until - timestamp()) / 1000.0"
)
_FREE = Query("lease_free", "CYPHER 5 MATCH (n:GraphrouteLease {id: 'migration', owner: $owner}) DELETE n")
_INDEXES = Query(
    "indexes",
    "SHOW INDEXES YIELD name, type, state, populationPercent, options RETURN name, type, state, populationPercent, options",
)
_CONSTRAINTS = Query("constraints", "SHOW CONSTRAINTS YIELD name, type RETURN name, type")


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: `statements` are run once, `templates` once for each size of vector."""

    number: int
    name: str
    checksum: str
    statements: tuple[str, ...]
    templates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What is left of one migration. `part`: "" for its statements, a size for its templates."""

    migration: Migration
    part: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """How far a database is. `defects`: indexes that are missing, failed or other than they should be."""

    version: int
    newest: int
    applied: tuple[str, ...]
    pending: tuple[Step, ...]
    defects: tuple[str, ...] = ()

    @property
    def current(self) -> bool:
        """Whether nothing is left to do."""
        return not self.pending and not self.defects


@dataclass(slots=True)
class Report:
    """What a run did. `repaired`: indexes that had been lost and were made again."""

    version: int
    applied: list[str] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    seconds: float = 0.0


Progress = Callable[[str, int, int], object]
"""Called with a stage, the steps done and all steps."""


def read_migrations(folder: Path | None = None) -> tuple[Migration, ...]:
    """The shipped files in order, or those of another folder. Raises ConfigurationError for a gap or a file that cannot be repeated."""
    folder = folder or resource("migrations/neo4j")
    found: list[Migration] = []
    for path in sorted(folder.glob("*.cypher")):
        match = _FILE.fullmatch(path.name)
        if match is None:
            raise ConfigurationError("not the name of a migration", where=path.name, allowed="NNNN_words.cypher")
        # A checkout may have changed the line ends.
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
        statements = _statements(text)
        for statement in statements:
            if not _REPEATABLE.match(statement):
                raise ConfigurationError(
                    f"a statement cannot be repeated: {statement.splitlines()[0][:60]!r}",
                    where=path.name,
                    allowed="CREATE ... IF NOT EXISTS, DROP ... IF EXISTS",
                )
        found.append(
            Migration(
                int(match[1]),
                match[2],
                hashlib.sha256(text.encode()).hexdigest(),
                tuple(statement for statement in statements if "$size" not in statement),
                tuple(statement for statement in statements if "$size" in statement),
            )
        )
    numbers = [migration.number for migration in found]
    if numbers != list(range(1, len(found) + 1)):
        raise ConfigurationError(
            f"migrations are numbered {numbers}", where=folder.name, allowed="0001, 0002, ... each once"
        )
    return tuple(found)


def _statements(text: str) -> list[str]:
    """Statements end with a semicolon at the end of a line; lines that begin with // are remarks."""
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("//")]
    return [part.strip() for part in re.split(r";[ \t]*(?:\n|$)", "\n".join(lines)) if part.strip()]


def status(
    connection: Neo4jConnection,
    sizes: Sequence[int] = (),
    *,
    similarity: str = "cosine",
    migrations: Sequence[Migration] | None = None,
) -> Status:
    """How far the database is, by reading only.

    Raises ConfigurationError if it was changed by a newer version, if an applied file was edited since, or if one between is missing.
    """
    known = tuple(migrations) if migrations is not None else read_migrations()
    _check_vectors(sizes, similarity)
    rows = connection.read(_APPLIED)
    where = connection.settings.uri
    numbers = [row[0] for row in rows]
    newest = known[-1].number if known else 0
    if numbers and numbers[-1] > newest:
        raise ConfigurationError(
            f"the database is at migration {numbers[-1]:04}, newer than this version of graphroute, which knows {newest:04}",
            where=where,
            hint="upgrade graphroute",
        )
    if numbers != list(range(1, len(numbers) + 1)):
        lost = next(number for number in range(1, numbers[-1]) if number not in numbers)
        raise ConfigurationError(
            f"migration {lost:04} was not applied and a later one was",
            where=where,
            hint="restore the database from a backup",
        )
    parts: dict[int, list[str]] = {}
    for number, name, checksum, done in rows:
        if checksum != known[number - 1].checksum:
            raise ConfigurationError(
                f"migration {number:04}_{name} was edited after it was applied",
                where=where,
                hint="restore the file and put the change into a new one",
            )
        parts[number] = list(done)
    pending = []
    for migration in known:
        wanted = {"": migration.statements, **{str(size): _filled(migration, size, similarity) for size in sizes}}
        for part, statements in wanted.items():
            if (statements or not part) and part not in parts.get(migration.number, []):
                pending.append(Step(migration, part, statements))
    made = [
        statement
        for migration in known
        for part in parts.get(migration.number, [])
        for statement in (_filled(migration, int(part), similarity) if part else migration.statements)
    ]
    return Status(
        len(numbers),
        newest,
        tuple(f"{number:04}_{name}" for number, name, _, _ in rows),
        tuple(pending),
        tuple(_defects(connection, made)),
    )


def require_current(connection: Neo4jConnection, sizes: Sequence[int] = (), *, similarity: str = "cosine") -> None:
    """Raises ConfigurationError unless every migration was applied and its indexes are there."""
    found = status(connection, sizes, similarity=similarity)
    if found.current:
        return
    what = "; ".join(found.defects) or f"{len(found.pending)} migrations were not applied"
    raise ConfigurationError(what, where=connection.settings.uri, hint="run graphroute migrate --store with its URI")


def migrate(
    connection: Neo4jConnection,
    sizes: Sequence[int] = (),
    *,
    similarity: str = "cosine",
    migrations: Sequence[Migration] | None = None,
    progress: Progress = lambda stage, done, total: None,
) -> Report:
    """Applies what is pending and makes lost indexes again, then waits until every index is online.

    Killed at any point, the next run goes on. Raises what `status` raises, BackendError if another run holds the lease or the server
    did not make what it was told to.
    """
    began = time.monotonic()
    known = tuple(migrations) if migrations is not None else read_migrations()
    found = status(connection, sizes, similarity=similarity, migrations=known)
    report = Report(found.version)
    if found.current:
        return report
    for query in _KEYS:
        _run_twice(connection, query)
    with _lease(connection) as held:
        # Somebody else may have done it until the lease was ours.
        found = status(connection, sizes, similarity=similarity, migrations=known)
        total = sum(len(step.statements) for step in found.pending) + len(found.defects)
        done = 0
        parts = {row[0]: list(row[3]) for row in connection.read(_APPLIED)}
        for step in found.pending:
            migration = step.migration
            for statement in step.statements:
                held()
                _run_twice(connection, Query(f"migration_{migration.number:04}", statement))
                done += 1
                progress(f"{migration.number:04}_{migration.name}", done, total)
            _wait_online(connection, step.statements, held, progress)
            held()
            parts.setdefault(migration.number, []).append(step.part)
            connection.write(
                _RECORD,
                {
                    "number": migration.number,
                    "name": migration.name,
                    "checksum": migration.checksum,
                    "parts": sorted(parts[migration.number]),
                },
            )
            report.applied.append(
                f"{migration.number:04}_{migration.name}" + (f" size {step.part}" if step.part else "")
            )
        if found.defects:
            _repair(connection, known, parts, similarity, report, held, progress)
        report.version = status(connection, sizes, similarity=similarity, migrations=known).version
    report.seconds = time.monotonic() - began
    return report


def _repair(
    connection: Neo4jConnection,
    known: Sequence[Migration],
    parts: dict[int, list[str]],
    similarity: str,
    report: Report,
    held: Callable[[], None],
    progress: Progress,
) -> None:
    there = {name for name, *_ in connection.read(_INDEXES)} | {name for name, _ in connection.read(_CONSTRAINTS)}
    statements = [
        statement
        for migration in known
        for part in parts.get(migration.number, [])
        for statement in (_filled(migration, int(part), similarity) if part else migration.statements)
    ]
    for statement in statements:
        match = _MADE.match(statement)
        if match is not None and match[3] not in there and not _dropped_later(match[3], statements):
            held()
            _run_twice(connection, Query("repair", statement))
            report.repaired.append(match[3])
    _wait_online(connection, statements, held, progress)


def _check_vectors(sizes: Sequence[int], similarity: str) -> None:
    for size in sizes:
        if not 1 <= size <= LARGEST_VECTOR:
            raise ConfigurationError(f"a vector index of size {size}", allowed=f"1 to {LARGEST_VECTOR}")
    if similarity not in SIMILARITIES:
        raise ConfigurationError(f"vector similarity {similarity[:20]!r}", allowed=" or ".join(SIMILARITIES))


def _filled(migration: Migration, size: int, similarity: str) -> tuple[str, ...]:
    """The templates for a size: a checked number and a word of a closed list."""
    return tuple(
        template.replace("$size", str(int(size))).replace("$similarity", similarity) for template in migration.templates
    )


def _run_twice(connection: Neo4jConnection, query: Query) -> None:
    """Schema changes of another process at the same moment make one fail; the second try finds them done."""
    end = time.monotonic() + _STATEMENT_SECONDS
    try:
        connection.write(query, deadline=end)
    except BackendError:
        time.sleep(_POLL)
        connection.write(query, deadline=end)


@contextmanager
def _lease(connection: Neo4jConnection) -> Iterator[Callable[[], None]]:
    """Holds the lease, renewed in the background; gives what raises BackendError once it is lost."""
    given = {"owner": uuid.uuid4().hex, "lease": int(LEASE * 1000)}
    if not connection.write(_TAKE, given):
        left = connection.read(_LEFT)
        raise BackendError(
            "another migration of this database runs",
            where=connection.settings.uri,
            hint=f"wait for it; if it was killed, the next run takes over in {max(left[0][0], 0) if left else 0:.0f} s",
        )
    over, lost = threading.Event(), threading.Event()

    def renew() -> None:
        last = time.monotonic()
        while not over.wait(LEASE / 4):
            try:
                if not connection.write(_RENEW, given, deadline=time.monotonic() + LEASE / 4):
                    lost.set()
                    return
                last = time.monotonic()
            except GraphRouteError:
                # One lost renewal is no harm as long as the lease has not run out.
                if time.monotonic() - last > LEASE:
                    lost.set()
                    return

    def held() -> None:
        if lost.is_set():
            raise BackendError(
                "the lease of this migration was lost",
                where=connection.settings.uri,
                hint="run it again; it goes on where it was",
            )

    thread = threading.Thread(target=renew, name="graphroute-lease", daemon=True)
    thread.start()
    try:
        yield held
    finally:
        over.set()
        thread.join()
        # It runs out by itself, and the error that led here matters more.
        with suppress(GraphRouteError):
            connection.write(_FREE, given, deadline=time.monotonic() + LEASE / 4)


def _wait_online(
    connection: Neo4jConnection, statements: Sequence[str], held: Callable[[], None], progress: Progress
) -> None:
    """Waits for the indexes that `statements` make. Raises BackendError if one fails or is another than was asked for."""
    names = {match[3] for match in map(_MADE.match, statements) if match is not None}
    until = time.monotonic() + _ONLINE_SECONDS
    while time.monotonic() < until:
        held()
        rows = [row for row in connection.read(_INDEXES) if row[0] in names]
        left = [row for row in rows if row[2] == "POPULATING"]
        if not left:
            break
        progress(f"populating {left[0][0]}", int(sum(row[3] for row in rows) / len(rows)), 100)
        time.sleep(_POLL)
    wrong = _defects(connection, statements)
    if wrong:
        raise BackendError(
            "; ".join(wrong),
            where=connection.settings.uri,
            hint="drop what stands in its place, then run the migration again",
        )


def _dropped_later(name: str, statements: Sequence[str]) -> bool:
    return any(re.match(rf"DROP\s+\w+\s+{name}\s", statement) for statement in statements)


def _defects(connection: Neo4jConnection, statements: Sequence[str]) -> list[str]:
    """What should be there and is not, or is of another kind: IF NOT EXISTS is silent where something else has the name or place."""
    wanted = [
        (match, statement)
        for statement in statements
        if (match := _MADE.match(statement)) is not None and not _dropped_later(match[3], statements)
    ]
    if not wanted:
        return []
    indexes = {name: (kind, state, options) for name, kind, state, _, options in connection.read(_INDEXES)}
    constraints = {name for name, _ in connection.read(_CONSTRAINTS)}
    found = []
    for match, statement in wanted:
        name, kind = match[3], match[2] or "RANGE"
        if match[1]:
            if name not in constraints:
                found.append(f"constraint {name} is missing")
            continue
        if name not in indexes:
            found.append(f"{kind} index {name} is missing")
            continue
        made, state, options = indexes[name]
        if made != kind:
            found.append(f"index {name} is {made}, not {kind}")
        elif state == "FAILED":
            found.append(f"{kind} index {name} failed")
        else:
            config = options.get("indexConfig", {})
            for key, value in re.findall(r"`([\w.]+)`:\s*'?([\w.-]+)'?", statement):
                if key in config and str(config[key]).lower() != value.lower():
                    found.append(f"{kind} index {name} has {key} {config[key]}, not {value}")
    return found
