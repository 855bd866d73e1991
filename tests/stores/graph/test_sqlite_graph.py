from __future__ import annotations

from contextlib import AbstractContextManager

import pytest

from graphroute.stores.catalog.base import Catalog
from graphroute.stores.database import Database
from graphroute.stores.graph import trails
from graphroute.stores.graph.base import GraphStore
from graphroute.testing.graph_store import GraphStoreConformance
from graphroute.testing.sqlite import opened
from graphroute.testing.strategies import (
    READERS,
    World,
    facts_of,
    random_pattern,
    random_world,
    seeded,
    trails_of,
    visible_world,
)
from graphroute.types.view import View


class TestSqliteGraph(GraphStoreConformance):
    def opened(self, world: World) -> AbstractContextManager[tuple[Catalog, GraphStore]]:
        return opened(world)


class UnguardedDatabase(Database):
    """The control: a store that forgot the scope filter."""

    def in_scopes(self, view: View, column: str = "scope") -> str:
        return "1"


def test_control_without_the_scope_filter_the_oracle_objects() -> None:
    wrong = 0
    for seed in range(4):
        world = random_world(seed)
        rng = seeded(seed)
        with opened(world, UnguardedDatabase) as (catalog, graph):
            for reader in READERS[:2]:
                view = catalog.view(reader=reader)
                seen = visible_world(world, reader.labels)
                wrong += list(graph.all_facts(view=view)) != facts_of(seen)
                pattern = random_pattern(rng, world)
                wrong += graph.paths(pattern, view=view).paths != tuple(trails_of(seen, pattern)[: pattern.limit])
    assert wrong >= 8


def test_random_worlds_have_enough_joint_and_mixed_supports() -> None:
    joint = total = 0
    for seed in range(25):
        world = random_world(seed)
        labels = {source.id: source.labels for source in world.sources}
        for assertion in world.assertions:
            total += 1
            joint += (
                any(len({span.source_id for span in s}) > 1 for s in assertion.supports)
                or len({labels.get(span.source_id) for s in assertion.supports for span in s}) > 1
            )
    assert joint / total >= 0.3


def test_many_scopes_are_read_through_a_table() -> None:
    world = random_world(3)
    with opened(world) as (catalog, graph):
        for reader in READERS:
            view = catalog.view(reader=reader)
            few = graph.all_facts(view=view)
            scopes = view.scopes | frozenset(range(10_000, 10_600)) if view.scopes else view.scopes
            many = View(reader=reader, sequence=view.sequence, scopes=scopes, token=view.token)
            assert graph.all_facts(view=many) == few
            for pattern in (random_pattern(seeded(seed), world) for seed in range(10)):
                assert graph.paths(pattern, view=many) == graph.paths(pattern, view=view)


def test_control_with_one_state_kept_the_oracle_finds_missing_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trails, "_thin", lambda family, left: {trails._ordered(family)[0]})
    with pytest.raises(AssertionError):
        TestSqliteGraph().test_reach_equals_the_ends_of_all_trails_where_walks_are_many()


def test_control_with_walks_for_trails_the_oracle_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trails, "_allowed", lambda start, trail, edge: True)
    with pytest.raises(AssertionError):
        TestSqliteGraph().test_complete_graph_is_cut_shortest_first_then_by_id()
