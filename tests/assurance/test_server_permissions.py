"""Permissions on a real server against a brute force over the world: 500 cases, nothing too much and nothing too little.

The control asks with the scopes of the store's every source, as a store would that forgot the filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from graphroute.stores.neo4j.migrate import migrate
from graphroute.testing.graph_store import GraphStoreConformance
from graphroute.testing.neo4j import ServerWorlds
from graphroute.testing.strategies import (
    LABELS,
    READERS,
    facts_of,
    may_read,
    random_pattern,
    random_world,
    seeded,
    visible_world,
)
from graphroute.types.reader import Reader

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module", params=["5.26", "2026"])
def worlds(request: pytest.FixtureRequest, neo4j_lease: Callable[..., Any]) -> Iterator[ServerWorlds]:
    with neo4j_lease(request.param, migrated=True) as server, server.connect() as connection:
        migrate(connection)
        yield ServerWorlds(connection)


def test_every_case_equals_the_brute_force(worlds: ServerWorlds, scale: Callable[[int, int], int]) -> None:
    cases = control_cases = objections = 0
    seed = 5_000
    while cases < scale(120, 500):
        seed += 1
        world, rng = random_world(seed), seeded(seed)
        by_id = {source.id: source for source in world.sources}
        with worlds.opened(world) as (catalog, graph):
            everyone = catalog.view(reader=Reader("all", LABELS)).scopes
            for reader in READERS:
                view = catalog.view(reader=reader)
                seen = visible_world(world, reader.labels)
                for _ in range(3):
                    GraphStoreConformance.check(seen, random_pattern(rng, world), graph, view)
                    cases += 1
                facts = facts_of(seen)
                assert list(graph.all_facts(view=view)) == facts
                assert {source_id for source_id in by_id if may_read(by_id[source_id], reader.labels)} == set(
                    catalog.sources(by_id, view=view)
                )
                entities = {end for fact in facts for end in (fact.subject, fact.object)}
                assert entities <= set(catalog.entities([e[0] for e in world.entities] + sorted(entities), view=view))
                cases += 1
                if view.scopes != everyone:
                    unscoped = replace(view, scopes=everyone)
                    control_cases += 1
                    objections += list(graph.all_facts(view=unscoped)) != facts
    assert cases >= scale(120, 500)
    assert objections > control_cases * 0.9, "the brute force does not notice a store without the filter"
