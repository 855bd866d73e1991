"""The embedded stores over a temporary file that holds a given world."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.strategies import World, put_world


@contextmanager
def opened(world: World, database: type[Database] = Database) -> Iterator[tuple[SqliteCatalog, SqliteGraph]]:
    """A catalog and a graph store over a fresh file with the world in it."""
    with tempfile.TemporaryDirectory() as folder, database(Path(folder) / "store.db") as db:
        put_world(world, SnapshotWriter(db))
        yield SqliteCatalog(db), SqliteGraph(db)
