"""What every VectorStore must pass: exact order for each reader, and no vector that means nothing."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from graphroute.errors import BackendError, DeadlineError, ModelMismatchError, UsageError
from graphroute.stores.lexical.base import PassageFilter
from graphroute.stores.vector.base import VectorStore
from graphroute.testing.documents import EVERYONE, Document, ViewOf, documents, random_corpus, readable
from graphroute.types.reader import Reader
from graphroute.types.time import Interval, TimeFilter, TimeMode

READERS = (EVERYONE, Reader("red", ("red",)), Reader("both", ("public", "blue")), Reader("nobody", ()))
SIZE = 12
MODEL = f"mini-a@1/{SIZE}"

Vector = NDArray[np.float32]


def vectors_of(corpus: Sequence[Document], seed: int = 0, size: int = SIZE) -> dict[str, Vector]:
    """A unit vector for each document, some of them equal."""
    rng = np.random.default_rng(seed)
    pool = rng.normal(size=(max(1, len(corpus) // 2), size))
    pool /= np.linalg.norm(pool, axis=1, keepdims=True)
    return {document.id: pool[rng.integers(len(pool))].astype(np.float32) for document in corpus}


class VectorStoreTests(ABC):
    """Subclass it in a test module and say how a store is built."""

    @abstractmethod
    def build(
        self,
        directory: Path,
        corpus: Sequence[Document],
        vectors: Mapping[str, Vector],
        *,
        model: str = MODEL,
        configured: str | None = None,
    ) -> tuple[VectorStore, ViewOf]:
        """A store made in an empty directory with vectors of `model`, opened for `configured` (the same if None)."""

    def pair(self, directory: Path, *texts: str) -> tuple[VectorStore, ViewOf]:
        """A store of the public documents d0, d1, ..., each the unit vector of its number."""
        corpus = documents(*texts)
        eye = np.eye(SIZE, dtype=np.float32)
        return self.build(directory, corpus, {document.id: eye[place] for place, document in enumerate(corpus)})

    @pytest.mark.parametrize("seed", range(3))
    def test_hits_are_the_nearest_of_the_readers_own(self, tmp_path: Path, seed: int) -> None:
        corpus = random_corpus(seed)
        vectors = vectors_of(corpus, seed)
        store, view_of = self.build(tmp_path, corpus, vectors)
        rng = np.random.default_rng(seed)
        for reader in READERS:
            own = [document for document in readable(corpus, reader) if document.text.strip()]
            for _ in range(4):
                question = rng.normal(size=SIZE).astype(np.float32)
                unit = question.astype(np.float64) / np.linalg.norm(question.astype(np.float64))
                cosines = {document.id: float(vectors[document.id].astype(np.float64) @ unit) for document in own}
                found = store.search(question, view=view_of(reader), k=100)
                assert {hit.passage_id: pytest.approx(hit.score, abs=1e-6) for hit in found} == cosines
                assert list(found) == sorted(found, key=lambda hit: (-hit.score, hit.passage_id))
                for k in (1, 3, 7):
                    assert list(store.search(question, view=view_of(reader), k=k)) == list(found)[:k]

    def test_the_model_is_known(self, tmp_path: Path) -> None:
        store, _ = self.pair(tmp_path, "pump")
        assert store.model == MODEL

    @pytest.mark.parametrize("other", [f"mini-b@1/{SIZE - 1}", f"mini-c@1/{SIZE}", f"mini-a@2/{SIZE}"])
    @pytest.mark.parametrize("texts", [("pump",), ()], ids=["filled", "empty"])
    def test_another_model_is_refused_at_open(self, tmp_path: Path, other: str, texts: tuple[str, ...]) -> None:
        corpus = documents(*texts)
        with pytest.raises(ModelMismatchError) as caught:
            self.build(tmp_path, corpus, vectors_of(corpus), configured=other)
        assert MODEL in str(caught.value)
        assert other in str(caught.value)
        assert caught.value.hint
        store, view_of = self.reopen(tmp_path, MODEL)
        question = np.ones(SIZE, dtype=np.float32)
        assert len(store.search(question, view=view_of(EVERYONE), k=9)) == len(texts), "nothing was deleted"

    @abstractmethod
    def reopen(self, directory: Path, configured: str) -> tuple[VectorStore, ViewOf]:
        """The store that `build` left in the directory, opened for the embedder `configured`."""

    @pytest.mark.parametrize("blank", ["   ", "\n\t", "\u3000", ""])
    def test_a_blank_passage_is_never_a_hit(self, tmp_path: Path, blank: str) -> None:
        store, view_of = self.pair(tmp_path, "pump", blank, "valve")
        for place in range(3):
            found = store.search(np.eye(SIZE, dtype=np.float32)[place], view=view_of(EVERYONE), k=9)
            assert sorted(hit.passage_id for hit in found) == ["d0", "d2"]
            assert all(np.isfinite(hit.score) for hit in found)

    @pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
    def test_a_question_without_direction_is_refused(self, tmp_path: Path, value: float) -> None:
        store, view_of = self.pair(tmp_path, "pump")
        with pytest.raises(BackendError):
            store.search(np.full(SIZE, value, dtype=np.float32), view=view_of(EVERYONE), k=1)

    @pytest.mark.parametrize("shape", [(SIZE - 1,), (SIZE + 1,), (1, SIZE), ()])
    def test_a_question_of_another_size_is_refused(self, tmp_path: Path, shape: tuple[int, ...]) -> None:
        store, view_of = self.pair(tmp_path, "pump")
        with pytest.raises(ModelMismatchError, match="mini-a"):
            store.search(np.ones(shape, dtype=np.float32), view=view_of(EVERYONE), k=1)

    def test_the_length_of_the_question_does_not_matter(self, tmp_path: Path) -> None:
        store, view_of = self.pair(tmp_path, "pump", "valve")
        question = np.eye(SIZE, dtype=np.float32)[1] * 7
        found = store.search(question, view=view_of(EVERYONE), k=1)
        assert [hit.passage_id for hit in found] == ["d1"]
        assert found[0].score == pytest.approx(1.0)

    def test_equal_vectors_are_ordered_by_id(self, tmp_path: Path) -> None:
        corpus = [Document(id=name, text="pump") for name in ("b", "é", "a", "B", "10", "9")]
        same = np.ones(SIZE, dtype=np.float32) / np.float32(np.sqrt(SIZE))
        store, view_of = self.build(tmp_path, corpus, {document.id: same for document in corpus})
        found = store.search(same, view=view_of(EVERYONE), k=4)
        assert [hit.passage_id for hit in found] == sorted(document.id for document in corpus)[:4]

    def test_bounds_of_a_search(self, tmp_path: Path) -> None:
        store, view_of = self.pair(tmp_path, "pump")
        question, view = np.ones(SIZE, dtype=np.float32), view_of(EVERYONE)
        assert len(store.search(question, view=view, k=10**9)) == 1
        with pytest.raises(UsageError):
            store.search(question, view=view, k=0)
        with pytest.raises(DeadlineError):
            store.search(question, view=view, k=1, deadline=time.monotonic() - 1)

    def test_a_filter_narrows(self, tmp_path: Path) -> None:
        corpus = random_corpus(5)
        store, view_of = self.build(tmp_path, corpus, vectors_of(corpus))
        view, question = view_of(EVERYONE), np.ones(SIZE, dtype=np.float32)
        by_id = {document.id: document for document in corpus}
        every = list(store.search(question, view=view, k=100))
        some = tuple(hit.passage_id for hit in every[::3])
        window = TimeFilter(TimeMode.OVERLAPS, Interval(20, 30))
        for where, kept in (
            (PassageFilter(source_ids=some), [hit for hit in every if hit.passage_id in some]),
            (PassageFilter(source_ids=()), []),
            (PassageFilter(kinds=("note",)), [hit for hit in every if by_id[hit.passage_id].kind == "note"]),
            (PassageFilter(nodes=("kep:1",)), [hit for hit in every if by_id[hit.passage_id].node == "kep:1"]),
            (PassageFilter(time=window), [hit for hit in every if window.accepts(by_id[hit.passage_id].validity)]),
        ):
            assert list(store.search(question, view=view, k=100, where=where)) == kept
            assert list(store.search(question, view=view, k=2, where=where)) == kept[:2]

    def check_no_interference(self, directory: Path, corpus: Sequence[Document]) -> None:
        """Each reader gets the same hits and scores, to the bit, as from a corpus without what is hidden."""
        vectors = vectors_of(corpus, 3)
        full, full_views = self.build(directory / "full", corpus, vectors)
        rng = np.random.default_rng(11)
        questions = rng.normal(size=(5, SIZE)).astype(np.float32)
        for number, reader in enumerate(READERS):
            mine = readable(corpus, reader)
            own, own_views = self.build(
                directory / f"own{number}", mine, {document.id: vectors[document.id] for document in mine}
            )
            for question in questions:
                for k in (2, 100):
                    assert list(full.search(question, view=full_views(reader), k=k)) == list(
                        own.search(question, view=own_views(reader), k=k)
                    )

    @pytest.mark.parametrize("seed", range(3))
    def test_hidden_documents_change_nothing(self, tmp_path: Path, seed: int) -> None:
        self.check_no_interference(tmp_path, random_corpus(200 + seed, size=60))

    def test_a_reader_without_labels_gets_nothing(self, tmp_path: Path) -> None:
        store, view_of = self.pair(tmp_path, "pump")
        question = np.ones(SIZE, dtype=np.float32)
        assert list(store.search(question, view=view_of(Reader("nobody", ())), k=5)) == []
