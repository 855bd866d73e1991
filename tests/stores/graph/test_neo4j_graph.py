from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from graphroute.stores.catalog.base import Catalog
from graphroute.stores.graph.base import GraphStore
from graphroute.stores.neo4j.migrate import migrate
from graphroute.stores.neo4j.queries import COUNT_ENDS, PLANNED, TOP_ENDS
from graphroute.testing.graph_store import GraphStoreConformance
from graphroute.testing.neo4j import ServerWorlds
from graphroute.testing.strategies import World

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module", params=["5.26", "2026"])
def worlds(request: pytest.FixtureRequest, neo4j_lease: Callable[..., Any]) -> Iterator[ServerWorlds]:
    with neo4j_lease(request.param, migrated=True) as server, server.connect() as connection:
        migrate(connection)
        connection.warm((query, PLANNED) for query in (COUNT_ENDS, TOP_ENDS))
        yield ServerWorlds(connection)


class TestNeo4jGraph(GraphStoreConformance):
    cases = 3

    @pytest.fixture(autouse=True)
    def _server(self, worlds: ServerWorlds) -> None:
        self.worlds = worlds

    def opened(self, world: World) -> AbstractContextManager[tuple[Catalog, GraphStore]]:
        return self.worlds.opened(world)
