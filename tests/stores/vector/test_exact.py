from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from graphroute.errors import DataError
from graphroute.models.embedders.hashing import HashingEmbedder
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.lexical.base import NO_FILTER, PassageFilter, Scored
from graphroute.stores.vector import VECTOR_STORES
from graphroute.stores.vector.base import VectorStore
from graphroute.stores.vector.exact import ExactVectors
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.documents import EVERYONE, Document, ViewOf, documents, random_corpus, write_documents
from graphroute.testing.vector_store import MODEL, SIZE, VectorStoreTests
from graphroute.types.reader import Reader
from graphroute.types.view import View


class TestExactVectors(VectorStoreTests):
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
        return ExactVectors(database, configured or model), view_of

    def reopen(self, directory: Path, configured: str) -> tuple[VectorStore, ViewOf]:
        database = Database(directory / "store.db")
        catalog = SqliteCatalog(database)
        return ExactVectors(database, configured), lambda reader: catalog.view(reader=reader)


class FilteredAfter(ExactVectors):
    """The guard removed: the nearest of all are taken first, and what the reader may not see is dropped after."""

    def search(
        self,
        vector: NDArray[np.float32],
        *,
        view: View,
        k: int,
        where: PassageFilter = NO_FILTER,
        deadline: float | None = None,
    ) -> Sequence[Scored]:
        everything = SqliteCatalog(self._db).view(reader=Reader("all", ("public", "red", "blue")))
        found = super().search(vector, view=everything, k=k, where=where)
        own = {hit.passage_id for hit in super().search(vector, view=view, k=10**6)}
        return [hit for hit in found if hit.passage_id in own]


class LeakySuite(TestExactVectors):
    __test__ = False

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
        return FilteredAfter(database, model), view_of


def test_control_a_filter_after_the_search_is_caught(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        LeakySuite().check_no_interference(tmp_path, random_corpus(200, size=60))


@pytest.mark.parametrize("rare", [False, True])
def test_scores_do_not_depend_on_the_size_of_the_store(tmp_path: Path, rare: bool) -> None:
    """Rows are at other places and are read in other ways, and the scores are equal to the bit."""
    size = 384
    rng = np.random.default_rng(2)
    labels = (frozenset({"public"}), frozenset({"red"}))
    corpus = [
        Document(id=f"d{number}", text="pump", labels=labels[int(number % 10 != 0) if rare else int(number % 10 == 0)])
        for number in range(700)
    ]
    vectors = {document.id: rng.normal(size=size).astype(np.float32) for document in corpus}
    vectors = {name: (vector / np.linalg.norm(vector)).astype(np.float32) for name, vector in vectors.items()}
    own = [document for document in corpus if "public" in document.labels]
    model = f"mini-a@1/{size}"
    full, full_views = write_documents(tmp_path / "full.db", corpus, vectors=vectors, identity=model)
    part, part_views = write_documents(
        tmp_path / "part.db", own, vectors={document.id: vectors[document.id] for document in own}, identity=model
    )
    question = rng.normal(size=size).astype(np.float32)
    for k in (5, 1000):
        found = ExactVectors(full, model).search(question, view=full_views(EVERYONE), k=k)
        assert list(found) == list(ExactVectors(part, model).search(question, view=part_views(EVERYONE), k=k))
        assert len(found) == min(k, len(own))


@pytest.mark.parametrize("damage", ["x'0000'", f"zeroblob({4 * SIZE})", f"x'{'0000c07f' * SIZE}'"])
def test_a_damaged_vector_is_an_error(tmp_path: Path, damage: str) -> None:
    corpus = documents("pump", "valve")
    vectors = {document.id: np.eye(SIZE, dtype=np.float32)[0] for document in corpus}
    database, view_of = write_documents(tmp_path / "store.db", corpus, vectors=vectors, identity=MODEL)
    database.connection.execute(f"UPDATE vector SET vector = {damage} WHERE passage = 1")
    with pytest.raises(DataError):
        ExactVectors(database, MODEL).search(np.ones(SIZE, dtype=np.float32), view=view_of(EVERYONE), k=1)


def test_a_store_without_vectors(tmp_path: Path) -> None:
    database, view_of = write_documents(tmp_path / "store.db", documents("pump"))
    store = ExactVectors(database, MODEL)
    assert store.model is None
    assert list(store.search(np.ones(SIZE, dtype=np.float32), view=view_of(EVERYONE), k=3)) == []


def test_a_new_snapshot_is_read(tmp_path: Path) -> None:
    corpus = documents("pump", "valve")
    embedder = HashingEmbedder()
    vectors = {document.id: embedder.embed_query(document.text) for document in corpus}
    database, view_of = write_documents(
        tmp_path / "store.db", corpus, vectors={"d0": vectors["d0"]}, identity=embedder.identity
    )
    store = ExactVectors(database, embedder.identity)
    before = view_of(EVERYONE)
    assert [hit.passage_id for hit in store.search(vectors["d1"], view=before, k=5)] == ["d0"]
    writer = SnapshotWriter(database)
    writer.begin()
    writer.put_vectors(embedder.identity, [("d1", vectors["d1"])])
    writer.publish()
    assert store.search(vectors["d1"], view=view_of(EVERYONE), k=1)[0].passage_id == "d1"


def test_stores_by_name() -> None:
    assert VECTOR_STORES.load("exact") is ExactVectors
