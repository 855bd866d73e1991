from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from graphroute.errors import BackendError, BackendUnavailableError, DataError, ModelMismatchError
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.neo4j import vectors as vectors_module
from graphroute.stores.neo4j.connection import Query
from graphroute.stores.neo4j.vectors import replicate_vectors
from graphroute.stores.vector import neo4j as neo4j_module
from graphroute.stores.vector.base import VectorStore
from graphroute.stores.vector.exact import ExactVectors
from graphroute.stores.vector.neo4j import Neo4jVectors
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.documents import EVERYONE, Document, ViewOf, documents, random_corpus, write_documents
from graphroute.testing.vector_store import MODEL, READERS, SIZE, VectorStoreTests, vectors_of
from graphroute.types.view import View
from neo4j_search import VERSIONS, Lease, SearchServers, search_servers

STATE = Query("state", "CYPHER 5 MATCH (s:VectorState) RETURN s.copied, s.sequence, s.total")
HELD = Query(
    "held", "CYPHER 5 MATCH (p:Passage) WHERE p[$property] IS NOT NULL RETURN p.id, p[$property] ORDER BY p.id"
)


@pytest.fixture(scope="module")
def servers(neo4j_lease: Lease) -> Iterator[SearchServers]:
    with search_servers(neo4j_lease) as found:
        yield found


class TestNeo4jVectors(VectorStoreTests):
    """A server holds one store, so a second build of one test goes to the other release."""

    @pytest.fixture(autouse=True)
    def _servers(self, servers: SearchServers) -> None:
        self.servers = servers

    def build(
        self,
        directory: Path,
        corpus: Sequence[Document],
        vectors: Mapping[str, NDArray[np.float32]],
        *,
        model: str = MODEL,
        configured: str | None = None,
    ) -> tuple[VectorStore, ViewOf]:
        database, view_of = write_documents(directory / "store.db", corpus, vectors=vectors, identity=model)
        version = "2026" if directory.name.startswith("own") else "5.26"
        return Neo4jVectors(self.servers.copy(database, version), configured or model), view_of

    def reopen(self, directory: Path, configured: str) -> tuple[VectorStore, ViewOf]:
        catalog = SqliteCatalog(Database(directory / "store.db"))
        return Neo4jVectors(self.servers.connection(), configured), lambda reader: catalog.view(reader=reader)


EMPTY = Query("empty", "CYPHER 5 MATCH (n) WHERE NOT n:GraphrouteMigration DETACH DELETE n")


def view_now(database: Database) -> View:
    return SqliteCatalog(database).view(reader=EVERYONE)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_index_is_used_above_the_bound(
    servers: SearchServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    corpus = random_corpus(4, size=300)
    database, view_of = write_documents(tmp_path / "s.db", corpus, vectors=vectors_of(corpus, 4), identity=MODEL)
    exact = ExactVectors(database, MODEL)
    rng = np.random.default_rng(5)
    questions = rng.normal(size=(10, SIZE)).astype(np.float32)
    connection = servers.copy(database, version)
    connection.read(Query("await", "CALL db.awaitIndexes(60)"))
    store = Neo4jVectors(connection, MODEL)
    for reader in READERS:
        view = view_of(reader)
        assert store.is_exact(view=view)
        for question in questions[:3]:
            assert list(store.search(question, view=view, k=10)) == list(exact.search(question, view=view, k=10))
    monkeypatch.setattr(neo4j_module, "_SCANNED", 0)
    monkeypatch.setattr(neo4j_module, "_SCANNED_SHARE", 0.0)
    found = hits = 0
    for reader in READERS[:3]:
        view = view_of(reader)
        assert not store.is_exact(view=view)
        for question in questions:
            wanted = [hit.passage_id for hit in exact.search(question, view=view, k=10)]
            got = [hit.passage_id for hit in store.search(question, view=view, k=10)]
            assert len(got) == len(wanted)
            hits += len(set(wanted) & set(got))
            found += len(wanted)
    assert hits / found >= 0.95


def test_vectors_follow_the_record(servers: SearchServers, tmp_path: Path) -> None:
    corpus = documents("pump", "valve", " ")
    eye = np.eye(SIZE, dtype=np.float32)
    given = {document.id: eye[place] for place, document in enumerate(corpus)}
    database, view_of = write_documents(tmp_path / "s.db", corpus, vectors=given, identity=MODEL)
    connection = servers.connection()
    connection.write(EMPTY)
    store = Neo4jVectors(connection, MODEL)
    assert store.model is None
    with pytest.raises(BackendUnavailableError, match="not copied"):
        store.search(eye[0], view=view_of(EVERYONE), k=1)
    with pytest.raises(BackendError, match="not on Neo4j"):
        replicate_vectors(connection, database)
    connection.write(EMPTY)
    servers.copy(database)
    assert replicate_vectors(connection, database) == 0, "nothing changed"
    assert [row[0] for row in connection.read(HELD, {"property": f"vector_{SIZE}"})] == ["d0", "d1"]
    before = view_of(EVERYONE)
    assert store.search(eye[0], view=before, k=1)[0].passage_id == "d0"

    writer = SnapshotWriter(database)
    writer.begin()
    writer.put_vectors(MODEL, [("d0", eye[7])])
    writer.publish()
    with pytest.raises(BackendUnavailableError, match="older"):
        store.search(eye[0], view=view_now(database), k=1)
    servers.copy(database)
    assert store.search(eye[7], view=view_now(database), k=1)[0].passage_id == "d0"

    other = f"mini-b@1/{SIZE}"
    writer = SnapshotWriter(database)
    writer.begin()
    writer.put_setting("embedder", other)
    writer.put_vectors(other, [("d1", eye[2])])
    writer.publish()
    servers.copy(database)
    assert [row[0] for row in connection.read(HELD, {"property": f"vector_{SIZE}"})] == ["d1"]
    with pytest.raises(ModelMismatchError, match="mini-b"):
        store.search(eye[0], view=view_now(database), k=1)
    assert Neo4jVectors(connection, other).model == other


def test_a_copy_that_was_cut_off_goes_on(
    servers: SearchServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_module, "_BATCH", 4)
    corpus = random_corpus(6)
    database, view_of = write_documents(tmp_path / "s.db", corpus, vectors=vectors_of(corpus), identity=MODEL)

    def stop(stage: str, done: int, total: int) -> None:
        if done == 12:
            raise KeyboardInterrupt

    connection = servers.copy(database)
    whole = connection.read(HELD, {"property": f"vector_{SIZE}"})
    connection.write(Query("wipe", "CYPHER 5 MATCH (s:VectorState) DELETE s"))
    connection.write(Query("strip", f"CYPHER 5 MATCH (p:Passage) SET p.vector_{SIZE} = NULL"))
    with pytest.raises(KeyboardInterrupt):
        replicate_vectors(connection, database, progress=stop)
    copied, sequence, _ = connection.read(STATE)[0]
    assert copied > 0
    assert sequence == -1
    with pytest.raises(BackendUnavailableError, match="older"):
        Neo4jVectors(connection, MODEL).search(np.ones(SIZE, dtype=np.float32), view=view_of(EVERYONE), k=1)
    assert replicate_vectors(connection, database) == len(whole) - 12
    assert connection.read(HELD, {"property": f"vector_{SIZE}"}) == whole


@pytest.mark.parametrize("damage", ["x'0000'", f"zeroblob({4 * SIZE})", f"x'{'0000c07f' * SIZE}'"])
def test_a_damaged_vector_is_not_copied(servers: SearchServers, tmp_path: Path, damage: str) -> None:
    database, _ = write_documents(
        tmp_path / "s.db", documents("pump"), vectors={"d0": np.eye(SIZE, dtype=np.float32)[0]}, identity=MODEL
    )
    database.connection.execute(f"UPDATE vector SET vector = {damage}")
    with pytest.raises(DataError):
        servers.copy(database)
