from __future__ import annotations

from contextlib import AbstractContextManager

from graphroute.stores.catalog.base import Catalog
from graphroute.stores.database import Database
from graphroute.stores.graph.base import GraphStore
from graphroute.testing.catalog import CatalogConformance
from graphroute.testing.sqlite import opened
from graphroute.testing.strategies import READERS, World, differing, random_world, readout, visible_world
from graphroute.types.view import View


class TestSqliteCatalog(CatalogConformance):
    def opened(self, world: World) -> AbstractContextManager[tuple[Catalog, GraphStore]]:
        return opened(world)


class UnguardedDatabase(Database):
    """The control: a store that forgot the scope filter."""

    def in_scopes(self, view: View, column: str = "scope") -> str:
        return "1"


def test_control_without_the_scope_filter_hidden_content_shows() -> None:
    world, reader = random_world(1), READERS[1]
    with (
        opened(world, UnguardedDatabase) as (catalog, graph),
        opened(visible_world(world, reader.labels)) as (small_catalog, small_graph),
    ):
        full = readout(catalog, graph, view=catalog.view(reader=reader), world=world)
        small = readout(small_catalog, small_graph, view=small_catalog.view(reader=reader), world=world)
    assert len(differing(full, small)) >= 10


class UnguardedTypes(Database):
    """The control: a store that forgot the scopes of types."""

    def in_scopes(self, view: View, column: str = "scope") -> str:
        return "1" if column in ("y.scope", "lower.scope") else super().in_scopes(view, column)


def test_control_without_the_scopes_of_types_every_read_of_types_shows_hidden_ones() -> None:
    shown: set[str] = set()
    for seed in range(12):
        world = random_world(seed)
        with opened(world, UnguardedTypes) as (catalog, graph):
            for reader in (READERS[1], READERS[6], READERS[7]):
                with opened(visible_world(world, reader.labels)) as (small_catalog, small_graph):
                    full = readout(catalog, graph, view=catalog.view(reader=reader), world=world, seed=seed)
                    view = small_catalog.view(reader=reader)
                    small = readout(small_catalog, small_graph, view=view, world=world, seed=seed)
                shown.update(name.partition(" ")[0] for name in differing(full, small))
    wanted = {"aliases", "entities", "attribute_values", "entities_where", "entities_of_type", "fact_counts"}
    wanted |= {"paths", "reach"}
    assert wanted <= shown
    assert "token" not in shown
