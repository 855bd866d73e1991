"""Where the record of a store lies, and its copies in the servers that a plan names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from graphroute.errors import DataError
from graphroute.stores.database import Database
from graphroute.stores.opening import StorePlan

if TYPE_CHECKING:
    from graphroute.stores.neo4j.connection import Neo4jConnection


class Progress(Protocol):
    """Hears how far a copy is."""

    def start(self, stage: str, total: int | None) -> None:
        """A stage begins; `total` steps if they are known."""
        ...

    def advance(self, amount: int = 1) -> None:
        """Steps of the stage are done."""
        ...

    def finish(self) -> None:
        """The stage is over."""
        ...


def state_directory() -> Path:
    """Where working copies lie: `GRAPHROUTE_STATE`, else `graphroute` under `XDG_STATE_HOME`, else under `~/.local/state`."""
    own = os.environ.get("GRAPHROUTE_STATE")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_STATE_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "state") / "graphroute"


def working_copy(address: str) -> Path:
    """Where the record of a server's store is kept on this machine."""
    parts = urlsplit(address)
    database = os.environ.get("GRAPHROUTE_NEO4J_DATABASE") or "neo4j"
    name = f"{parts.hostname or ''}-{parts.port or 7687}-{database}"
    return state_directory() / "records" / (re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".sqlite")


class Replication:
    """Brings the servers of a plan to a record. Open while the record is written; see `replication`."""

    def __init__(
        self,
        steps: list[tuple[str, Callable[[Database, Progress | None], object]]],
        bookmarks: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self._steps = steps
        self._bookmarks = bookmarks

    @property
    def bookmarks(self) -> tuple[str, ...]:
        """Marks of what was written to Neo4j; a router that is opened with them sees it, on any member of a cluster."""
        return self._bookmarks()

    @property
    def names(self) -> tuple[str, ...]:
        """The servers, in the order they are brought up to date: the one with the catalog, which publishes, comes last."""
        return tuple(name for name, _ in self._steps)

    def copy(self, database: Database, progress: Progress | None = None) -> None:
        """Copy the newest complete snapshot. Raises BackendError where a server fails; run again it goes on."""
        for _, step in self._steps:
            step(database, progress)


@contextmanager
def replication(plan: StorePlan, *, file: Path, vector_sizes: Sequence[int] = ()) -> Iterator[Replication]:
    """The servers of the plan, connected and checked; where the record at `file` is lost it is fetched from Neo4j first.

    `vector_sizes`: of the vectors to be copied, each of which needs an index of its own.

    Raises ConfigurationError where the schema of a server is not up to date, BackendError where one is not there.
    """
    steps: list[tuple[str, Callable[[Database, Progress | None], object]]] = []
    with ExitStack() as opened:
        if "qdrant" in plan.servers:
            from graphroute.stores.qdrant.connection import QdrantConnection, QdrantSettings
            from graphroute.stores.qdrant.replica import QdrantReplica

            assert plan.qdrant is not None
            qdrant = QdrantConnection(QdrantSettings.from_environment(plan.qdrant))
            opened.callback(qdrant.close)

            def to_qdrant(database: Database, progress: Progress | None) -> None:
                # Without an id two stores under one prefix would not be told apart.
                database.store_id()
                QdrantReplica(qdrant, database).copy(progress=_counted(progress))

            steps.append(("Qdrant", to_qdrant))
        if "neo4j" in plan.servers:
            from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings
            from graphroute.stores.neo4j.migrate import require_current
            from graphroute.stores.neo4j.replica import Neo4jReplica

            assert plan.neo4j is not None
            neo4j = opened.enter_context(Neo4jConnection(Neo4jSettings.from_environment(plan.neo4j)))
            require_current(neo4j, vector_sizes)
            if plan.file is None:
                _refresh(neo4j, file)

            def to_neo4j(database: Database, progress: Progress | None) -> None:
                # The server's own pointer is the switch of the readers there. A working copy never overrules the server.
                Neo4jReplica(neo4j, database).replicate(rebuild=plan.file is not None, progress=progress)

            steps.append(("Neo4j", to_neo4j))
            yield Replication(steps, lambda: neo4j.bookmarks)
        else:
            yield Replication(steps)


def _refresh(neo4j: Neo4jConnection, file: Path) -> None:
    """Fetch the working copy where it is lost, or where another machine has written the store since.

    Raises DataError if it is of another store.
    """
    from graphroute.stores.neo4j.replica import fetch, is_behind
    from graphroute.stores.neo4j.writes import STORE

    held = neo4j.read(STORE)
    if not file.exists():
        if held:
            file.parent.mkdir(parents=True, exist_ok=True)
            fetch(neo4j, file)
        return
    with Database(file) as database:
        if held and held[0][0] != database.store_id():
            raise DataError(
                f"the working copy {str(file)!r} is of another store than the database holds",
                where=neo4j.settings.uri,
                hint="move the working copy away, and that of the database is fetched",
            )
        behind = is_behind(neo4j, database)
    if behind:
        fetch(neo4j, file, replace=True)


def _counted(progress: Progress | None) -> Callable[[str, int, int], None] | None:
    """Stages with rows done and rows in all, as a `Progress`."""
    if progress is None:
        return None
    stage, before = "", 0

    def tell(kind: str, done: int, total: int) -> None:
        nonlocal stage, before
        if kind != stage:
            progress.start(kind, total)
            stage, before = kind, 0
        progress.advance(done - before)
        before = done
        if done >= total:
            progress.finish()
            stage = ""

    return tell
