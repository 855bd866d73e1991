"""A store that several machines write by its address: no published snapshot is lost to a stale working copy."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphroute.errors import BackendError, BackendUnavailableError, DataError
from graphroute.stores.catalog.neo4j import Neo4jCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.neo4j import Neo4jGraph
from graphroute.stores.lexical.neo4j import Neo4jLexical
from graphroute.stores.lexical.qdrant import QdrantLexical
from graphroute.stores.neo4j.connection import Neo4jConnection, Query
from graphroute.stores.neo4j.migrate import migrate
from graphroute.stores.opening import StorePlan, open_stores
from graphroute.stores.qdrant.connection import MEMORY, QdrantConnection, QdrantSettings
from graphroute.stores.qdrant.replica import QdrantReplica
from graphroute.stores.replication import replication
from graphroute.stores.writer import SnapshotWriter
from graphroute.types.graph import Assertion
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source, SourceSpan

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module", params=["5.26", "2026"])
def server(request: pytest.FixtureRequest, neo4j_lease: Callable[..., Any]) -> Iterator[Any]:
    with neo4j_lease(request.param, migrated=True) as found:
        with found.connect() as connection:
            migrate(connection, [4])
        yield found


@pytest.fixture
def connection(server: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Neo4jConnection]:
    for key, value in server.environment().items():
        monkeypatch.setenv(key, value)
    with server.connect() as opened:
        opened.write(Query("all", "MATCH (n) WHERE NOT n:GraphrouteMigration DETACH DELETE n"))
        yield opened


READER = Reader("r", frozenset({"public"}))


def put_and_copy(server: Any, file: Path, put: Callable[[SnapshotWriter], object]) -> None:
    """What an ingest by the server's address does on a machine whose working copy is `file`."""
    with replication(StorePlan.of(server.uri, {}), file=file) as copies, Database(file) as database:
        writer = SnapshotWriter(database)
        writer.begin()
        put(writer)
        writer.publish(lambda: copies.copy(database))


def add(server: Any, file: Path, *names: str, label: str = "public") -> None:
    """Ingest sources that hold their own names."""

    def put(writer: SnapshotWriter) -> None:
        for name in names:
            writer.put_source(Source(id=name, text=name, labels=frozenset({label})))

    put_and_copy(server, file, put)


def held(connection: Neo4jConnection) -> list[str]:
    """Sources that readers of the server see."""
    catalog = Neo4jCatalog(connection)
    view = catalog.view(reader=READER)
    return sorted(catalog.sources(["a", "b", "c", "d"], view=view))


def test_a_stale_working_copy_is_fetched_again(server: Any, connection: Neo4jConnection, tmp_path: Path) -> None:
    one, other = tmp_path / "one" / "record.sqlite", tmp_path / "other" / "record.sqlite"
    one.parent.mkdir()
    add(server, one, "a")
    add(server, other)
    add(server, one, "b")
    add(server, other, "c")
    assert held(connection) == ["a", "b", "c"]
    add(server, one, "d")
    assert held(connection) == ["a", "b", "c", "d"]
    with sqlite3.connect(one) as sql:
        assert [row[0] for row in sql.execute("SELECT id FROM source ORDER BY id")] == ["a", "b", "c", "d"]


def test_two_machines_that_write_at_once(server: Any, connection: Neo4jConnection, tmp_path: Path) -> None:
    one, other = tmp_path / "one.sqlite", tmp_path / "other.sqlite"
    add(server, one, "a")
    add(server, other)
    with replication(StorePlan.of(server.uri, {}), file=one) as copies, Database(one) as database:
        add(server, other, "b")
        writer = SnapshotWriter(database)
        writer.begin()
        writer.put_source(Source(id="c", text="c", labels=frozenset({"public"})))
        with pytest.raises(BackendError, match="another machine"):
            writer.publish(lambda: copies.copy(database))
    assert held(connection) == ["a", "b"]
    add(server, one, "c")
    assert held(connection) == ["a", "b", "c"]


def test_a_working_copy_that_is_ahead_is_kept(server: Any, connection: Neo4jConnection, tmp_path: Path) -> None:
    file = tmp_path / "record.sqlite"
    add(server, file, "a")
    with Database(file) as database:
        writer = SnapshotWriter(database)
        writer.begin()
        writer.put_source(Source(id="b", text="b", labels=frozenset({"public"})))
        writer.publish()
    add(server, file)
    assert held(connection) == ["a", "b"]
    connection.write(Query("all", "MATCH (n) WHERE NOT n:GraphrouteMigration DETACH DELETE n"))
    add(server, file)
    assert held(connection) == ["a", "b"]


def test_a_working_copy_of_another_store_is_not_touched(
    server: Any, connection: Neo4jConnection, tmp_path: Path
) -> None:
    file = tmp_path / "record.sqlite"
    add(server, file, "a")
    connection.write(Query("all", "MATCH (n) WHERE NOT n:GraphrouteMigration DETACH DELETE n"))
    add(server, tmp_path / "other.sqlite", "b")
    with pytest.raises(DataError, match="another store"):
        add(server, file, "c")
    assert held(connection) == ["b"]
    file.unlink()
    add(server, file, "c")
    assert held(connection) == ["b", "c"]


def test_a_copy_that_was_never_whole_is_no_empty_store(
    server: Any, connection: Neo4jConnection, tmp_path: Path
) -> None:
    add(server, tmp_path / "record.sqlite", "a")
    connection.write(Query("unpublished", "MATCH (g:GraphrouteStore) SET g.sequence = 0"))
    with pytest.raises(BackendUnavailableError, match="not complete"):
        held(connection)


def test_a_file_is_never_read_with_the_server_of_another_store(
    server: Any, connection: Neo4jConnection, tmp_path: Path
) -> None:
    """Scopes are numbers of a store: those that are readable in one mean other labels in the other."""
    add(server, tmp_path / "theirs.sqlite", "a", label="secret")
    file = tmp_path / "record.sqlite"
    with Database(file) as database:
        writer = SnapshotWriter(database)
        writer.begin()
        writer.put_source(Source(id="b", text="b", labels=frozenset({"public"})))
        writer.publish()
    plan = StorePlan.of(file, {"graph": "neo4j", "lexical": "neo4j", "vector": "neo4j", "neo4j": server.uri})
    with closing(open_stores(plan)) as stores:
        view = stores.catalog.view(reader=READER)
        assert view.scopes
        reads: list[Callable[[], object]] = [
            lambda: stores.graph.fact_counts(view=view),
            lambda: stores.graph.all_facts(view=view),
            lambda: stores.lexical.search("secrets", view=view, k=3),
        ]
        for read in reads:
            with pytest.raises(BackendUnavailableError, match="another store"):
                read()


def test_a_store_that_was_built_again_gets_new_scopes(server: Any, connection: Neo4jConnection, tmp_path: Path) -> None:
    """The same snapshot number of another store, under a catalog that stays open."""
    catalog = Neo4jCatalog(connection)
    add(server, tmp_path / "one.sqlite", "a")
    before = catalog.view(reader=READER)
    assert sorted(catalog.sources(["a", "b"], view=before)) == ["a"]
    connection.write(Query("all", "MATCH (n) WHERE NOT n:GraphrouteMigration DETACH DELETE n"))
    add(server, tmp_path / "other.sqlite", "b", label="secret")
    after = catalog.view(reader=READER)
    assert after.sequence == before.sequence
    assert not after.scopes
    assert not catalog.sources(["a", "b"], view=after)


def test_what_was_counted_for_a_store_is_not_used_for_one_built_again(
    server: Any, connection: Neo4jConnection, tmp_path: Path
) -> None:
    """The same snapshot number, scopes and labels; other texts and facts."""
    catalog, graph, lexical = Neo4jCatalog(connection), Neo4jGraph(connection), Neo4jLexical(connection)

    def seen() -> tuple[object, ...]:
        view = catalog.view(reader=READER)
        return (
            view.sequence,
            view.scopes,
            lexical.document_frequencies(["pump"], view=view),
            graph.fact_counts(view=view),
        )

    def build(name: str, text: str, predicate: str) -> None:
        def put(writer: SnapshotWriter) -> None:
            writer.put_source(Source(id="s", text=text, labels=frozenset({"public"})))
            writer.put_passages([Passage(id="s#0", source_id="s", start=0, end=len(text), text=text)])
            support = ((SourceSpan("s", 0, 4),),)
            writer.put_assertion(Assertion(id="f", subject="x:1", predicate=predicate, object="x:2", supports=support))

        put_and_copy(server, tmp_path / name, put)

    build("one.sqlite", "pump of the mill", "OWNS")
    before = seen()
    connection.write(Query("all", "MATCH (n) WHERE NOT n:GraphrouteMigration DETACH DELETE n"))
    build("other.sqlite", "mill without one", "SELLS")
    after = seen()
    assert before == (before[0], before[1], [1], [("", "OWNS", "", 1)])
    assert after == (before[0], before[1], [0], [("", "SELLS", "", 1)])


def test_qdrant_is_not_read_with_the_view_of_another_store(
    server: Any, connection: Neo4jConnection, tmp_path: Path
) -> None:
    """The view comes from Neo4j, the passages from the copy of another store."""
    add(server, tmp_path / "one.sqlite", "a")
    with Database(tmp_path / "other.sqlite") as other:
        writer = SnapshotWriter(other)
        writer.begin()
        writer.put_source(Source(id="b", text="secrets", labels=frozenset({"secret"})))
        writer.publish()
        assert other.store_id()
        with closing(QdrantConnection(QdrantSettings(url=MEMORY))) as qdrant:
            QdrantReplica(qdrant, other).copy()
            view = Neo4jCatalog(connection).view(reader=READER)
            with pytest.raises(BackendUnavailableError, match="another store"):
                QdrantLexical(qdrant).search("secrets", view=view, k=3)
