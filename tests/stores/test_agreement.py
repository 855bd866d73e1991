"""Random sequences of writes, copied to a server step by step: every read of every reader is the same from both stores."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphroute.errors import BackendUnavailableError, SnapshotError
from graphroute.stores.catalog.neo4j import Neo4jCatalog
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.neo4j import Neo4jGraph
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.stores.neo4j.migrate import migrate
from graphroute.stores.neo4j.replica import Neo4jReplica
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.strategies import INFERRED, ONTOLOGY, READERS, World, differing, random_world, readout, seeded
from graphroute.types.reader import Reader

pytestmark = pytest.mark.integration

SEQUENCES = 200 if os.environ.get("GRAPHROUTE_ASSURE") == "1" else 4
STEPS = 4


@pytest.fixture(scope="module", params=["5.26", "2026"])
def connection(request: pytest.FixtureRequest, neo4j_lease: Callable[..., Any]) -> Iterator[Any]:
    with neo4j_lease(request.param, migrated=True) as server, server.connect() as opened:
        migrate(opened)
        yield opened


def write_some(writer: SnapshotWriter, rng: random.Random, worlds: Sequence[World]) -> str:
    """A few random operations of one session; what was done, for the message of a failure."""
    writer.begin()
    done: list[str] = []
    for _ in range(rng.choice((1, 2, 4))):
        world = rng.choice(worlds)
        match rng.randrange(9):
            case 0 | 1 | 2:
                part = rng.random()
                for source in world.sources:
                    if rng.random() < part:
                        writer.put_source(replace(source, text=f"{source.text} {rng.randrange(3)}"))
                        own = [passage for passage in world.passages if passage.source_id == source.id]
                        writer.put_passages(
                            [replace(one, text=f"{one.text}{rng.randrange(9)}", id=one.id) for one in own]
                        )
                done.append("sources")
            case 3 | 4:
                for assertion in rng.sample(world.assertions, len(world.assertions) // 2):
                    writer.put_assertion(replace(assertion, id=f"{assertion.id}.{rng.randrange(3)}"))
                done.append("assertions")
            case 5:
                for entity in rng.sample(world.entities, min(4, len(world.entities))):
                    writer.put_entity(*entity)
                for name in world.names:
                    writer.put_name(*name)
                for attribute in world.attributes:
                    writer.put_attribute(attribute)
                for record in world.records:
                    writer.put_entity_source(*record)
                done.append("entities")
            case 6:
                known = sorted(writer.source_ids())
                for source_id in rng.sample(known, min(2, len(known))):
                    writer.remove_source(source_id)
                done.append("remove sources")
            case 7:
                known = sorted(writer.assertion_ids())
                for assertion_id in rng.sample(known, min(3, len(known))):
                    writer.remove_assertion(assertion_id)
                done.append("remove assertions")
            case _:
                writer.put_ontology("x: y", rng.choice((ONTOLOGY, INFERRED)))
                writer.put_setting("as_of", str(rng.randrange(3)))
                done.append("ontology")
    writer.publish()
    return ", ".join(done)


def answers(catalog: Any, graph: Any, reader: Reader, sequence: int | None, world: World, seed: int) -> Any:
    """All that a reader gets, or that there is no such snapshot."""
    try:
        view = catalog.view(reader=reader, sequence=sequence)
    except SnapshotError as error:
        return [("view", str(error))]
    return [("view", repr(view)), *readout(catalog, graph, view=view, world=world, seed=seed)]


def put_once(writer: SnapshotWriter, rng: random.Random, worlds: Sequence[World]) -> str:
    """`write_some`, tried until what it puts does not contradict itself."""
    from graphroute.errors import DataError

    while True:
        try:
            return write_some(writer, rng, worlds)
        except DataError:
            writer.rollback()


def test_embedded_and_served_answers_are_equal(connection: Any, tmp_path: Path) -> None:
    compared = changes = 0
    for number in range(SEQUENCES):
        rng = seeded(number)
        worlds = [random_world(1_000 + number, size=6), random_world(2_000 + number, size=6)]
        with Database(tmp_path / f"{number}.db") as db:
            writer = SnapshotWriter(db)
            catalog, graph = SqliteCatalog(db), SqliteGraph(db)
            served, served_graph = Neo4jCatalog(connection), Neo4jGraph(connection)
            history: list[str] = []
            for step in range(STEPS):
                for _ in range(rng.choice((1, 1, 2))):
                    history.append(put_once(writer, rng, worlds))
                if rng.random() < 0.4:
                    writer.forget(keep=rng.choice((1, 2)))
                    history.append("forget")
                changes += Neo4jReplica(connection, db, batch=rng.choice((7, 5_000))).replicate(replace=step == 0).rows
                if not db.sequence():
                    # A server cannot tell a store with nothing published from the beginning of a copy, so it answers neither.
                    with pytest.raises(BackendUnavailableError, match="not complete"):
                        served.view(reader=READERS[0])
                    continue
                assert (served.settings(), served.ontology(), served.ontology_text()) == (
                    catalog.settings(),
                    catalog.ontology(),
                    catalog.ontology_text(),
                )
                for reader in rng.sample(READERS, 2):
                    sequence = rng.choice((None, None, rng.randrange(db.sequence() + 2)))
                    world = rng.choice(worlds)
                    world = replace(
                        world,
                        assertions=tuple(
                            replace(assertion, id=f"{assertion.id}.{part}")
                            for assertion in world.assertions
                            for part in range(3)
                        ),
                    )
                    left = answers(catalog, graph, reader, sequence, world, number)
                    right = answers(served, served_graph, reader, sequence, world, number)
                    assert len(left) == len(right), (number, history, left[0], right[0])
                    assert differing(left, right) == [], (number, history, reader.id)
                    compared += len(left)
    assert compared > SEQUENCES * 60
    assert changes
