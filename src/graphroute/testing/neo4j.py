"""Stores on one Neo4j server for the suites: a server holds one world at a time, so an inner one is put in place and out again."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphroute.stores.catalog.neo4j import Neo4jCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.neo4j import Neo4jGraph
from graphroute.stores.neo4j.connection import Neo4jConnection
from graphroute.stores.neo4j.replica import Neo4jReplica
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.strategies import World, put_world


class ServerWorlds:
    """Worlds on a migrated server that holds nothing else."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection
        self._open: list[Database] = []

    @contextmanager
    def opened(self, world: World) -> Iterator[tuple[Neo4jCatalog, Neo4jGraph]]:
        """A catalog and a graph store over a copy of the world. What was open before is copied again at the end."""
        with tempfile.TemporaryDirectory() as folder, Database(Path(folder) / "store.db") as db:
            put_world(world, SnapshotWriter(db))
            self._show(db)
            self._open.append(db)
            try:
                yield Neo4jCatalog(self._connection), Neo4jGraph(self._connection)
            finally:
                self._open.pop()
                if self._open:
                    self._show(self._open[-1])

    def _show(self, db: Database) -> None:
        Neo4jReplica(self._connection, db).replicate(replace=True)
