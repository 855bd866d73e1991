"""What only a Qdrant server shows. Runs when GRAPHROUTE_TEST_QDRANT_URL is given (GRAPHROUTE_QDRANT_API_KEY if it has a key)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from numpy.typing import NDArray

from graphroute.errors import BackendError, ConfigurationError, GraphRouteError
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.lexical.base import LexicalStore, PassageFilter
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.stores.lexical.qdrant import QdrantLexical
from graphroute.stores.qdrant.collection import TERMS
from graphroute.stores.qdrant.connection import QdrantConnection, QdrantSettings
from graphroute.stores.qdrant.filters import scoped_filter
from graphroute.stores.qdrant.replica import QdrantReplica
from graphroute.stores.qdrant.term_dimensions import natural_dimension
from graphroute.stores.term_hash import term_hash
from graphroute.stores.vector.base import VectorStore
from graphroute.stores.vector.exact import ExactVectors
from graphroute.stores.vector.qdrant import QdrantVectors
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.documents import EVERYONE, Document, ViewOf, random_corpus, write_documents
from graphroute.testing.lexical_store import LexicalStoreTests
from graphroute.testing.vector_store import MODEL, READERS, SIZE, VectorStoreTests, vectors_of
from graphroute.types.source import Passage, Source

URL = os.environ.get("GRAPHROUTE_TEST_QDRANT_URL", "")

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        not URL,
        reason="no Qdrant server: no registry carries one; give the URL of one as GRAPHROUTE_TEST_QDRANT_URL",
    ),
]


class Servers:
    """Connections with a prefix each, whose collections are deleted at the end."""

    def __init__(self) -> None:
        self.opened: list[tuple[QdrantConnection, Database | None]] = []

    def connect(self, database: Database | None = None, **changes: object) -> QdrantConnection:
        prefix = f"graphroute-test-{uuid4().hex[:12]}"
        settings = replace(QdrantSettings.from_environment(URL, prefix=prefix), **changes)  # type: ignore[arg-type]
        connection = QdrantConnection(settings)
        self.opened.append((connection, database))
        return connection

    def close(self) -> None:
        for connection, database in self.opened:
            if database is not None:
                QdrantReplica(connection, database).drop()
            connection.close()


@pytest.fixture
def servers() -> Iterator[Servers]:
    found = Servers()
    yield found
    found.close()


class TestQdrantLexicalOnAServer(LexicalStoreTests):
    @pytest.fixture(autouse=True)
    def _servers(self, servers: Servers) -> None:
        self.servers = servers

    def build(self, directory: Path, corpus: Sequence[Document]) -> tuple[LexicalStore, ViewOf]:
        database, view_of = write_documents(directory / "store.db", corpus)
        connection = self.servers.connect(database)
        QdrantReplica(connection, database).copy()
        return QdrantLexical(connection), view_of


class TestQdrantVectorsOnAServer(VectorStoreTests):
    @pytest.fixture(autouse=True)
    def _servers(self, servers: Servers) -> None:
        self.servers = servers
        self.connections: dict[Path, QdrantConnection] = {}

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
        connection = self.connections[directory] = self.servers.connect(database)
        QdrantReplica(connection, database).copy()
        return QdrantVectors(connection, configured or model), view_of

    def reopen(self, directory: Path, configured: str) -> tuple[VectorStore, ViewOf]:
        catalog = SqliteCatalog(Database(directory / "store.db"))
        return QdrantVectors(self.connections[directory], configured), lambda reader: catalog.view(reader=reader)


def store_of(tmp_path: Path, size: int, seed: int = 1) -> tuple[Database, ViewOf]:
    corpus = random_corpus(seed, size=size)
    return write_documents(tmp_path / "s.db", corpus, vectors=vectors_of(corpus, seed), identity=MODEL)


def test_the_idf_is_that_of_the_access_filter_and_the_control_is_not(servers: Servers, tmp_path: Path) -> None:
    from qdrant_client import models

    from graphroute.stores.bm25 import idf

    database, view_of = store_of(tmp_path, 120)
    connection = servers.connect(database)
    name = QdrantReplica(connection, database).copy()[0].collection
    embedded = InvertedIndex(database)
    differing = 0
    for reader in READERS[:3]:
        view = view_of(reader)
        scoped = scoped_filter(view)
        assert scoped is not None
        documents = int(connection.call("count", collection_name=name, count_filter=scoped.access, exact=True).count)
        for term in ("pump", "насос", "泵", "monday", "secret"):
            frequency = embedded.document_frequencies([term], view=view)[0]
            if not frequency:
                continue
            question = models.SparseVector(indices=[natural_dimension(term_hash(term))], values=[1.0])

            def ratio(
                params: models.SearchParams | None,
                question: models.SparseVector = question,
                filter_: models.Filter = scoped.filter,
            ) -> float:
                point = connection.call(
                    "query_points",
                    collection_name=name,
                    query=question,
                    using=TERMS,
                    query_filter=filter_,
                    search_params=params,
                    limit=1,
                    with_vectors=[TERMS],
                ).points[0]
                stored = dict(zip(point.vector[TERMS].indices, point.vector[TERMS].values, strict=True))
                return float(point.score) / float(stored[question.indices[0]])

            own = ratio(models.SearchParams(idf=models.IdfCorpusParams(corpus=scoped.access)))
            assert own == pytest.approx(idf(documents, frequency), rel=1e-4)
            differing += abs(ratio(None) - own) > 1e-3
    assert differing, "the control: without the corpus, hidden passages count"


def test_the_graph_is_searched_above_the_bound_and_keeps_its_recall(servers: Servers, tmp_path: Path) -> None:
    """Labels follow topics, the hard case: each scope's vectors lie together."""
    size, count = 64, 12_000
    model = f"mini-a@1/{size}"
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(24, size))
    labels = ["public", *(f"t{number}" for number in range(23))]
    corpus, vectors = [], {}
    for number in range(count):
        topic = int(rng.integers(24))
        vector = centres[topic] + 0.6 * rng.normal(size=size)
        corpus.append(Document(id=f"d{number}", text="pump", labels=frozenset({labels[topic]})))
        vectors[f"d{number}"] = (vector / np.linalg.norm(vector)).astype(np.float32)
    database, view_of = write_documents(tmp_path / "s.db", corpus, vectors=vectors, identity=model)
    exact_connection = servers.connect(database)
    QdrantReplica(exact_connection, database).copy()
    above = QdrantConnection(replace(exact_connection.settings, exact_up_to=0))
    try:
        wait_until_indexed(above)
        view = view_of(EVERYONE)
        exactly, approximate = QdrantVectors(exact_connection, model), QdrantVectors(above, model)
        assert exactly.is_exact(view=view)
        assert not approximate.is_exact(view=view)
        embedded = ExactVectors(database, model)
        hits = 0
        for question in rng.normal(size=(40, size)).astype(np.float32):
            wanted = list(embedded.search(question, view=view, k=10))
            assert list(exactly.search(question, view=view, k=10)) == wanted
            found = {hit.passage_id for hit in approximate.search(question, view=view, k=10)}
            hits += len(found & {hit.passage_id for hit in wanted})
        assert hits / 400 >= 0.95
    finally:
        above.close()


def wait_until_indexed(connection: QdrantConnection) -> None:
    ends = time.monotonic() + 120
    while time.monotonic() < ends:
        found = connection.call("get_collection", collection_name=f"{connection.settings.prefix}_vectors")
        if str(found.status) in {"green", "CollectionStatus.GREEN"}:
            return
        time.sleep(0.5)


def test_payload_indexes_are_there_before_the_first_row(servers: Servers, tmp_path: Path) -> None:
    database, _ = store_of(tmp_path, 20)
    connection = servers.connect(database)
    for copied in QdrantReplica(connection, database).copy():
        schema = connection.call("get_collection", collection_name=copied.collection).payload_schema
        wanted = {"scope", "source", "born", "died", "low", "high", "node", "kind"}
        wanted |= {"terms", "length"} if copied.kind == "lexical" else set()
        assert wanted <= set(schema)


def test_readers_see_whole_snapshots_while_one_is_copied_and_rebuilt(servers: Servers, tmp_path: Path) -> None:
    database, view_of = store_of(tmp_path, 300)
    connection = servers.connect(database)
    replica = QdrantReplica(connection, database)
    replica.copy()
    view = view_of(EVERYONE)
    question = np.ones(SIZE, dtype=np.float32)
    wanted = (
        list(InvertedIndex(database).search("pump насос", view=view, k=20)),
        list(ExactVectors(database, MODEL).search(question, view=view, k=20)),
    )
    lexical, vectors = QdrantLexical(connection), QdrantVectors(connection, MODEL)
    stop, asked, wrong = threading.Event(), [0], list[str]()

    def ask() -> None:
        while not stop.is_set():
            try:
                found = (
                    list(lexical.search("pump насос", view=view, k=20)),
                    list(vectors.search(question, view=view, k=20)),
                )
            except GraphRouteError as error:
                wrong.append(str(error))
                return
            asked[0] += 1
            if found != wanted:
                wrong.append("another answer")
                return

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for round_ in range(4):
        writer = SnapshotWriter(database)
        writer.begin()
        for number in range(20):
            name = f"new{round_}-{number}"
            writer.put_source(Source(id=name, text="pump насос", labels=frozenset({"public"})))
            writer.put_passages([Passage(id=name, source_id=name, start=0, end=10, text="pump насос")])
        writer.publish(replica.copy)
        replica.rebuild()
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert asked[0] > 10


def test_strict_mode_is_kept(servers: Servers, tmp_path: Path) -> None:
    """Every filter is on an indexed field and every limit within bounds, so the strictest collection serves."""
    from qdrant_client import models

    database, view_of = store_of(tmp_path, 60)
    connection = servers.connect(database)
    strict = models.StrictModeConfig(
        enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False, search_allow_exact=True
    )
    replica = QdrantReplica(connection, database)
    for copied in replica.copy():
        connection.call("update_collection", writes=True, collection_name=copied.collection, strict_mode_config=strict)
    where = PassageFilter(kinds=("note",), nodes=("kep:1",))
    for reader in READERS[:3]:
        view = view_of(reader)
        assert list(QdrantLexical(connection).search("pump насос", view=view, k=5, where=where)) == list(
            InvertedIndex(database).search("pump насос", view=view, k=5, where=where)
        )
        question = np.ones(SIZE, dtype=np.float32)
        assert list(QdrantVectors(connection, MODEL).search(question, view=view, k=5, where=where)) == list(
            ExactVectors(database, MODEL).search(question, view=view, k=5, where=where)
        )
    replica.purge(["nothing-of-that-name"])
    replica.copy()


def test_the_server_refuses_what_our_checks_refuse_before(servers: Servers, tmp_path: Path) -> None:
    database, _ = store_of(tmp_path, 5)
    connection = servers.connect(database)
    name = QdrantReplica(connection, database).copy()[1].collection
    with pytest.raises(BackendError):
        connection.call("query_points", collection_name=name, query=[1.0] * (SIZE + 1), using="dense", limit=1)


def test_a_wrong_key_is_a_matter_of_configuration() -> None:
    if not os.environ.get("GRAPHROUTE_QDRANT_API_KEY"):
        pytest.skip("the server asks for no key: GRAPHROUTE_QDRANT_API_KEY is not set")
    connection = QdrantConnection(QdrantSettings(url=URL, api_key="wrong-key"))
    with pytest.raises(ConfigurationError, match="refused the key") as caught:
        connection.call("get_aliases")
    assert "wrong-key" not in str(caught.value)
    connection.close()
