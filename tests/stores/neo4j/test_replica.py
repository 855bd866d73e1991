"""The copy of a record on a server: cut off anywhere it goes on, nobody sees half of it, and a lost record is read back from it."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import neo4j
import numpy as np
import pytest

from graphroute.errors import BackendUnavailableError, DataError, OutcomeUnknownError, SnapshotError
from graphroute.stores.catalog.neo4j import Neo4jCatalog
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.neo4j import Neo4jGraph
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.stores.neo4j import writes
from graphroute.stores.neo4j.connection import Neo4jConnection, Query
from graphroute.stores.neo4j.migrate import migrate
from graphroute.stores.neo4j.replica import Neo4jReplica, fetch
from graphroute.stores.neo4j.tables import CHANGING
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.strategies import READERS, World, differing, put_world, random_world, readout
from graphroute.types.graph import Assertion, Attribute
from graphroute.types.source import Passage, Source, SourceSpan

pytestmark = pytest.mark.integration

CHECKSUM = Query(
    "checksum",
    """CYPHER 5
MATCH (n) WHERE NOT n:GraphrouteStore AND NOT n:GraphrouteMigration AND NOT n:GraphrouteLease
WITH count(*) AS nodes, sum(size(toString(coalesce(n.died, 0))) + coalesce(n.born, 0) * 31) AS sum
MATCH ()-[r]->()
RETURN nodes, sum, count(r), sum(r.born * 31 + r.scope), sum(r.died / 1000)""",
)


@pytest.fixture(scope="module", params=["5.26", "2026"])
def server(request: pytest.FixtureRequest, neo4j_lease: Callable[..., Any]) -> Iterator[Any]:
    with neo4j_lease(request.param, migrated=True) as found:
        with found.connect() as connection:
            migrate(connection, [4])
        yield found


@pytest.fixture
def connection(server: Any) -> Iterator[Neo4jConnection]:
    with server.connect() as opened:
        for query in (Query("all", "MATCH (n) WHERE NOT n:GraphrouteMigration DETACH DELETE n"),):
            opened.write(query)
        yield opened


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "record.db") as db:
        yield db


def rows_of(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, in order."""
    with sqlite3.connect(path) as sql:
        tables = [row[0] for row in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {table: sorted(sql.execute(f"SELECT * FROM {table}"), key=repr) for table in tables}


def check(connection: Neo4jConnection, record: Database, world: World) -> None:
    """Every read of every reader is the same from both."""
    catalog, graph = SqliteCatalog(record), SqliteGraph(record)
    served, server_graph = Neo4jCatalog(connection), Neo4jGraph(connection)
    for reader in (READERS[1], READERS[2], READERS[7]):
        one, other = catalog.view(reader=reader), served.view(reader=reader)
        assert one == other
        left = readout(catalog, graph, view=one, world=world)
        assert differing(left, readout(served, server_graph, view=other, world=world)) == [], reader.id


def changed(world: World, seed: int) -> World:
    """The world with sources gone, changed and new."""
    rng = random.Random(seed)
    other = random_world(seed + 1_000)
    sources = tuple(
        replace(source, text=source.text + " again") if rng.random() < 0.3 else source for source in world.sources
    )
    return replace(
        world, sources=sources, assertions=world.assertions[::2], names=other.names, records=world.records[:1]
    )


def rewrite(record: Database, before: World, after: World) -> None:
    """One snapshot that makes one world of another."""
    writer = SnapshotWriter(record)
    writer.begin()
    for source in before.sources[:2]:
        writer.remove_source(source.id)
    kept = {assertion.id for assertion in after.assertions}
    for assertion in before.assertions:
        if assertion.id not in kept:
            writer.remove_assertion(assertion.id)
    for source in after.sources[2:]:
        writer.put_source(source)
    for assertion in after.assertions:
        writer.put_assertion(assertion)
    for name in after.names:
        writer.put_name(*name)
    writer.publish()


class Flaky(Neo4jConnection):
    """A connection that fails at the given writes: before they are sent, or after the commit without an answer."""

    def fail_at(self, numbers: Mapping[int, str]) -> None:
        self.numbers = dict(numbers)
        self.seen = 0

    def write(self, query: Query, parameters: Any = None, *, deadline: float | None = None) -> Any:
        number, self.seen = self.seen, self.seen + 1
        how = self.numbers.pop(number, "")
        if how == "before":
            raise BackendUnavailableError("the connection was lost")
        if how == "never":
            raise OutcomeUnknownError("no answer came")
        done = super().write(query, parameters or {}, deadline=deadline)
        if how == "after":
            raise OutcomeUnknownError("no answer came")
        return done


def test_a_second_copy_changes_nothing(connection: Neo4jConnection, record: Database) -> None:
    world = random_world(3)
    put_world(world, SnapshotWriter(record), sessions=3)
    first = Neo4jReplica(connection, record).replicate()
    assert first.rows > 100
    before = connection.read(CHECKSUM)
    again = Neo4jReplica(connection, record).replicate()
    assert (again.rows, again.ended, again.forgotten, again.sequence) == (0, 0, 0, first.sequence)
    assert connection.read(CHECKSUM) == before
    check(connection, record, world)


@pytest.mark.parametrize("how", ["before", "never", "after"])
def test_a_copy_cut_off_at_any_write_goes_on_without_doubles(
    server: Any, connection: Neo4jConnection, record: Database, how: str
) -> None:
    world = random_world(4, size=5)
    put_world(world, SnapshotWriter(record))
    counted = Flaky(server.settings())
    counted.fail_at({})
    Neo4jReplica(counted, record, batch=9).replicate()
    writes_of_a_copy = counted.seen
    whole = connection.read(CHECKSUM)
    counted.close()
    assert writes_of_a_copy > 30
    for number in range(2, writes_of_a_copy - 5, 7 if how == "before" else 11):
        connection.write(Query("all", "MATCH (n) WHERE NOT n:GraphrouteMigration DETACH DELETE n"))
        with Flaky(server.settings()) as flaky:
            flaky.fail_at({number: how})
            replica = Neo4jReplica(flaky, record, batch=9)
            if how == "before":
                with pytest.raises(BackendUnavailableError):
                    replica.replicate()
            replica.replicate()
        assert connection.read(CHECKSUM) == whole, number
    check(connection, record, world)


def test_a_reader_sees_the_old_snapshot_whole_until_the_switch(
    server: Any, connection: Neo4jConnection, record: Database
) -> None:
    world = random_world(5)
    put_world(world, SnapshotWriter(record))
    Neo4jReplica(connection, record).replicate()
    catalog, graph = Neo4jCatalog(connection), Neo4jGraph(connection)
    reader = READERS[2]
    view = catalog.view(reader=reader)
    old = readout(catalog, graph, view=view, world=world)
    after = changed(world, 5)
    rewrite(record, world, after)
    looked = 0

    class Watched(Flaky):
        def write(self, query: Query, parameters: Any = None, *, deadline: float | None = None) -> Any:
            nonlocal looked
            if query.name == "publish" or (query.name.startswith(("copy_", "end_")) and self.seen % 4 == 0):
                fresh, fresh_graph = Neo4jCatalog(connection), Neo4jGraph(connection)
                seen = fresh.view(reader=reader)
                assert seen == view
                names = differing(old, readout(fresh, fresh_graph, view=seen, world=world))
                assert names == []
                looked += 1
            return super().write(query, parameters, deadline=deadline)

    with Watched(server.settings()) as watched:
        watched.fail_at({})
        assert Neo4jReplica(watched, record, batch=7).replicate().ended > 0
    assert looked > 5
    assert differing(old, readout(catalog, graph, view=view, world=world)) == [], "a pinned view stays as it was"
    assert catalog.view(reader=reader) != view
    check(connection, record, after)


def scans(driver: Any, query: Query) -> set[str]:
    """What a statement reads whole: the operators of its plan that are not look-ups, with what they read."""
    found: set[str] = set()

    def walk(plan: Mapping[str, Any]) -> None:
        if "Scan" in plan["operatorType"]:
            found.add(f"{plan['operatorType'].partition('@')[0]} {plan['args']['Details']}")
        for child in plan.get("children", ()):
            walk(child)

    with driver.session() as session:
        walk(session.run(f"EXPLAIN {query.text}", {"p": {}}).consume().plan)
    return found


def test_what_changes_a_store_finds_its_rows_by_an_index(
    server: Any, connection: Neo4jConnection, record: Database
) -> None:
    settings = server.settings()
    with neo4j.GraphDatabase.driver(
        settings.uri, auth=(settings.user, settings.password), notifications_min_severity="OFF"
    ) as driver:

        def check_plans() -> None:
            found = {query.name: scans(driver, query) for query in CHANGING}
            # Digests are as many as scopes, not as rows.
            assert found.pop("forget_snapshots") <= {"NodeByLabelScan d:ScopeDigest"}
            assert found == {query.name: set() for query in CHANGING if query.name != "forget_snapshots"}

        # The plans hold where the server knows of no rows, and where it knows of some.
        check_plans()
        put_world(random_world(4, size=5), SnapshotWriter(record))
        Neo4jReplica(connection, record).replicate()
        check_plans()
        assert scans(driver, writes.UNDO_ROWS), "a scan is noticed"


def test_a_later_copy_and_an_erasure_send_what_the_first_copy_has_planned(
    server: Any, connection: Neo4jConnection, record: Database
) -> None:
    sent: list[tuple[str, tuple[str, ...]]] = []

    class Watched(Neo4jConnection):
        def transaction(self, statements: Any, *, deadline: float | None = None) -> Any:
            sent.extend((query.text, tuple(parameters)) for query, parameters in statements)
            return super().transaction(statements, deadline=deadline)

    world = random_world(4, size=5)
    put_world(world, SnapshotWriter(record))
    with Watched(server.settings()) as watched:
        Neo4jReplica(watched, record).replicate()
        first = set(sent)
        sent.clear()
        writer = SnapshotWriter(record)
        writer.begin()
        for source in world.sources[:3]:
            writer.remove_source(source.id)
        writer.publish()
        done = Neo4jReplica(watched, record).replicate()
        writer.forget()
        assert done.ended > 0
        assert Neo4jReplica(watched, record).replicate().forgotten > 0
    assert len(set(sent)) > 10
    # A plan is kept by text and by types and sizes of parameters; a map has no size.
    assert {names for _, names in sent} == {("p",)}
    facts = {writes.copy_fact(assertion.predicate).text for assertion in world.assertions}
    assert {text for text, _ in sent} - facts <= {text for text, _ in first}
    check(connection, record, world)


def test_forgotten_snapshots_go_and_what_only_they_held(connection: Neo4jConnection, record: Database) -> None:
    world = random_world(6)
    put_world(world, SnapshotWriter(record))
    Neo4jReplica(connection, record).replicate()
    catalog = Neo4jCatalog(connection)
    pinned = catalog.view(reader=READERS[2]).sequence
    rewrite(record, world, changed(world, 6))
    Neo4jReplica(connection, record).replicate()
    assert catalog.view(reader=READERS[2], sequence=pinned).sequence == pinned
    SnapshotWriter(record).forget()
    assert Neo4jReplica(connection, record).replicate().forgotten > 0
    with pytest.raises(SnapshotError):
        catalog.view(reader=READERS[2], sequence=pinned)
    left = connection.read(
        Query(
            "left",
            "MATCH (n) WHERE n:Ended OR n:EndedFact RETURN count(*) AS n UNION ALL MATCH ()-[r]->() WHERE r.died < 2^61 RETURN count(*) AS n",
        )
    )
    assert left == [(0,), (0,)]
    check(connection, record, changed(world, 6))


def test_ends_that_the_record_forgot_before_they_were_copied_are_found(
    connection: Neo4jConnection, record: Database
) -> None:
    world = random_world(7)
    put_world(world, SnapshotWriter(record))
    Neo4jReplica(connection, record).replicate()
    after = changed(world, 7)
    rewrite(record, world, after)
    rewrite(record, after, changed(world, 8))
    SnapshotWriter(record).forget()
    assert Neo4jReplica(connection, record).replicate().ended > 0
    check(connection, record, world)
    target = Path(str(record.path) + ".copy")
    fetch(connection, target)
    assert rows_of(target) == rows_of(record.path)


def test_a_lost_record_is_read_back_row_by_row(connection: Neo4jConnection, record: Database, tmp_path: Path) -> None:
    world = random_world(8)
    put_world(world, SnapshotWriter(record), sessions=2)
    writer = SnapshotWriter(record)
    writer.begin()
    writer.put_setting("dataset", "данные 数据")
    writer.put_vectors("test@1/4", [(world.passages[0].id, np.array([0.6, 0.8, 0, 0], dtype=np.float32))])
    writer.publish()
    rewrite(record, world, changed(world, 8))
    Neo4jReplica(connection, record, batch=13).replicate()
    target = tmp_path / "found" / "record.db"
    target.parent.mkdir()
    assert fetch(connection, target) == record.sequence()
    assert rows_of(target) == rows_of(record.path)
    with pytest.raises(DataError, match="exists"):
        fetch(connection, target)
    with Database(target) as copy:
        put_world(random_world(9), SnapshotWriter(copy))
        Neo4jReplica(connection, copy).replicate()
        check(connection, copy, random_world(9))


def test_a_copy_under_way_is_not_read_back(
    server: Any, connection: Neo4jConnection, record: Database, tmp_path: Path
) -> None:
    world = random_world(9)
    put_world(world, SnapshotWriter(record))
    Neo4jReplica(connection, record).replicate()
    before = rows_of(record.path)
    rewrite(record, world, changed(world, 9))
    with Flaky(server.settings()) as flaky:
        flaky.fail_at({60: "before"})
        with pytest.raises(BackendUnavailableError):
            Neo4jReplica(flaky, record, batch=1).replicate()
    target = tmp_path / "copy.db"
    fetch(connection, target)
    found = rows_of(target)
    for table in ("scope", "term"):
        assert set(before[table]) <= set(found[table])
        del before[table], found[table]
    assert found == before


def test_a_record_put_back_from_an_older_state_is_followed(
    connection: Neo4jConnection, record: Database, tmp_path: Path
) -> None:
    world = random_world(10)
    put_world(world, SnapshotWriter(record))
    Neo4jReplica(connection, record).replicate()
    old = tmp_path / "old.db"
    with sqlite3.connect(record.path) as sql:
        sql.execute("VACUUM INTO ?", (str(old),))
    rewrite(record, world, changed(world, 10))
    Neo4jReplica(connection, record).replicate()
    with Database(old) as restored:
        put_world(random_world(11), SnapshotWriter(restored))
        assert Neo4jReplica(connection, restored).replicate().rebuilt
        check(connection, restored, random_world(11))


def test_a_foreign_graph_and_another_store_are_refused(
    connection: Neo4jConnection, record: Database, tmp_path: Path
) -> None:
    put_world(random_world(1), SnapshotWriter(record))
    connection.write(Query("theirs", "CREATE (:Customer {name: 'x'})"))
    with pytest.raises(DataError, match="Customer"):
        Neo4jReplica(connection, record).replicate(replace=True)
    connection.write(Query("theirs", "MATCH (n:Customer) DELETE n"))
    Neo4jReplica(connection, record).replicate()
    with Database(tmp_path / "other.db") as other:
        put_world(random_world(2), SnapshotWriter(other))
        with pytest.raises(DataError, match="another store"):
            Neo4jReplica(connection, other).replicate()
        check(connection, record, random_world(1))
        assert Neo4jReplica(connection, other).replicate(replace=True).rebuilt
        check(connection, other, random_world(2))


def test_one_copier_at_a_time(connection: Neo4jConnection, record: Database) -> None:
    put_world(random_world(1), SnapshotWriter(record))
    Neo4jReplica(connection, record).replicate()
    given = {"p": {"id": record.store_id(), "owner": "elsewhere/1/x", "dead": "-", "lease": 60_000}}
    assert connection.write(writes.LEASE, given)
    with pytest.raises(BackendUnavailableError, match="another process"):
        Neo4jReplica(connection, record).replicate()
    connection.write(writes.RELEASE, {"p": {"owner": "elsewhere/1/x"}})
    Neo4jReplica(connection, record).replicate()


def test_texts_of_every_kind_come_through(connection: Neo4jConnection, record: Database) -> None:
    hostile = ["a`b", "\\u0060]->() DELETE r //", "тип", "关系 a", "$(x)", "\u2028x", "😀", "`", "\\"]
    long = "слово " * 4_000
    sources = tuple(Source(id=f"s{i}`'\"\\", text=long, labels=frozenset({"red"})) for i in range(2))
    world = World(
        sources=sources,
        passages=(Passage(id="p`", source_id=sources[0].id, start=0, end=4, text=long, title="t"),),
        entities=tuple((f"e{i}", ("a`type",), (long if i == 0 else f"имя {i}",)) for i in range(len(hostile) + 1)),
        names=(("e1", long + "x", SourceSpan(sources[0].id)),),
        attributes=(
            Attribute(entity_id="e1", key="ключ`", value=long, span=SourceSpan(sources[0].id)),
            Attribute(entity_id="e1", key="n", value="1e300", number=1e300, span=SourceSpan(sources[0].id)),
        ),
        assertions=tuple(
            Assertion(
                id=f"a{i}",
                subject=f"e{i}",
                predicate=predicate,
                object=f"e{i + 1}",
                supports=((SourceSpan(sources[i % 2].id),),),
            )
            for i, predicate in enumerate(hostile)
        ),
    )
    put_world(world, SnapshotWriter(record))
    Neo4jReplica(connection, record).replicate()
    check(connection, record, world)
    types = {row[0] for row in connection.read(Query("types", "MATCH (:Entity)-[r]->(:Entity) RETURN type(r)"))}
    assert types == set(hostile)
    too_long = replace(
        world, entities=(("x" * 3_000, ("t",), ()),), assertions=(replace(world.assertions[0], subject="x" * 3_000),)
    )
    put_world(too_long, SnapshotWriter(record))
    with pytest.raises(DataError, match="3,000 bytes"):
        Neo4jReplica(connection, record).replicate()
