"""Store files copied to Neo4j servers, for tests of search there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from graphroute.stores.database import Database
from graphroute.stores.neo4j.connection import Neo4jConnection
from graphroute.stores.neo4j.migrate import migrate
from graphroute.stores.neo4j.replica import Neo4jReplica
from graphroute.testing.vector_store import SIZE
from neo4j_fixtures import VERSIONS, Neo4jServer

Lease = Callable[[str], AbstractContextManager[Neo4jServer]]


class SearchServers:
    """Connections to servers whose schema is made once; each copy takes the place of the one before."""

    def __init__(self, lease: Lease, stack: ExitStack) -> None:
        self._lease = lease
        self._stack = stack
        self._open: dict[str, Neo4jConnection] = {}

    def connection(self, version: str = "5.26") -> Neo4jConnection:
        """The connection to a release, with a schema for vectors of the size that the suites use."""
        if version not in self._open:
            server = self._stack.enter_context(self._lease(version, migrated=True))
            self._open[version] = self._stack.enter_context(server.connect())
            migrate(self._open[version], [SIZE])
        return self._open[version]

    def copy(self, database: Database, version: str = "5.26") -> Neo4jConnection:
        """The server after `graphroute replicate` of the record."""
        connection = self.connection(version)
        Neo4jReplica(connection, database).replicate(replace=True)
        return connection


@contextmanager
def search_servers(lease: Lease) -> Iterator[SearchServers]:
    """For a fixture of a module."""
    with ExitStack() as stack:
        yield SearchServers(lease, stack)


__all__ = ["VERSIONS", "Lease", "SearchServers", "search_servers"]
