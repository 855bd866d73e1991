from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.lexical.base import LexicalStore
from graphroute.stores.lexical.inverted import InvertedCore, InvertedIndex, Statistics, _Loaded
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.documents import EVERYONE, Document, ViewOf, documents, random_corpus, write_documents
from graphroute.testing.lexical_store import LexicalStoreTests, ids
from graphroute.types.source import Passage, Source
from graphroute.types.view import View


def core_of(*bags: dict[int, int]) -> InvertedCore:
    """Postings of documents given as term id to count."""
    return InvertedCore.build(
        (struct.pack(f"<{len(bag)}i", *sorted(bag)), struct.pack(f"<{len(bag)}i", *(bag[term] for term in sorted(bag))))
        for bag in bags
    )


class TestInvertedIndex(LexicalStoreTests):
    def build(self, directory: Path, corpus: Sequence[Document]) -> tuple[LexicalStore, ViewOf]:
        database, view_of = write_documents(directory / "store.db", corpus)
        return InvertedIndex(database), view_of


class StatisticsOfAll(InvertedIndex):
    """The guard removed: hits are filtered, but frequencies and lengths are those of the whole corpus."""

    def _statistics(self, view: View) -> tuple[_Loaded, Statistics]:
        loaded = self._load(view)
        statistics = loaded.core.statistics(np.ones(len(loaded.rows), dtype=np.bool_))
        for term in range(200):
            loaded.core.frequency(term, statistics)
        visible = loaded.rows.visible(view)
        for term in range(200):
            rows, impacts = loaded.core.impacts(term, statistics)
            statistics.impacts[term] = (rows[visible[rows]], impacts[visible[rows]])
        return loaded, statistics


class LeakySuite(LexicalStoreTests):
    __test__ = False

    def build(self, directory: Path, corpus: Sequence[Document]) -> tuple[LexicalStore, ViewOf]:
        database, view_of = write_documents(directory / "store.db", corpus)
        return StatisticsOfAll(database), view_of


def test_control_statistics_over_hidden_documents_are_caught(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        LeakySuite().check_no_interference(tmp_path, random_corpus(100))


def test_the_score_of_the_textbook() -> None:
    core = core_of({1: 1, 2: 1, 3: 1}, {4: 1, 5: 1, 6: 1})
    rows, scores = core.scores([2], core.statistics(np.ones(2, dtype=np.bool_)))
    assert rows.tolist() == [0]
    assert scores[0] == pytest.approx(0.6931, abs=1e-4)


def test_term_ids_of_more_than_16_bits() -> None:
    core = core_of({70_000: 2, 1: 1}, {1: 1}, {70_000: 1, 131_073: 4})
    assert [part.tolist() for part in core.postings(70_000)] == [[0, 2], [2, 1]]
    assert [part.tolist() for part in core.postings(1)] == [[0, 1], [1, 1]]
    assert [part.tolist() for part in core.postings(131_073)] == [[2], [4]]
    assert [part.tolist() for part in core.postings(2)] == [[], []]
    assert core.lengths.tolist() == [3, 1, 5]


@given(st.lists(st.dictionaries(st.integers(0, 200_000), st.integers(1, 9), max_size=6), max_size=12), st.data())
def test_postings_equal_a_plain_index(bags: list[dict[int, int]], data: st.DataObject) -> None:
    core = core_of(*bags)
    mask = np.array([data.draw(st.booleans()) for _ in bags], dtype=np.bool_)
    statistics = core.statistics(mask)
    assert statistics.documents == int(mask.sum())
    for term in sorted({term for bag in bags for term in bag} | {7}):
        rows, counts = core.postings(term)
        assert rows.tolist() == [row for row, bag in enumerate(bags) if term in bag]
        assert counts.tolist() == [bag[term] for bag in bags if term in bag]
        assert core.frequency(term, statistics) == sum(
            term in bag for bag, seen in zip(bags, mask, strict=True) if seen
        )


def test_few_and_many_postings_add_up_alike() -> None:
    bags: list[dict[int, int]] = [{9: 1} for _ in range(200)]
    bags[3] = {1: 2, 2: 1, 9: 5}
    bags[150] = {2: 3, 9: 1}
    core = core_of(*bags)
    statistics = core.statistics(np.ones(200, dtype=np.bool_))
    few_rows, few = core.scores([1, 2], statistics)
    dense = np.zeros(200)
    for term in (1, 2):
        rows, impacts = core.impacts(term, statistics)
        dense[rows] += impacts
    assert few_rows.tolist() == [3, 150]
    assert few.tolist() == dense[[3, 150]].tolist()


def test_a_view_keeps_its_snapshot(tmp_path: Path) -> None:
    database, view_of = write_documents(tmp_path / "store.db", documents("pump one", "valve"))
    index = InvertedIndex(database)
    before = view_of(EVERYONE)
    old = index.search("pump", view=before, k=5)
    writer = SnapshotWriter(database)
    writer.begin()
    writer.put_source(Source(id="new", text="pump two", labels=frozenset({"public"})))
    writer.put_passages([Passage(id="new", source_id="new", start=0, end=8, text="pump two")])
    writer.remove_source("d0")
    writer.publish()
    after = SqliteCatalog(database).view(reader=EVERYONE)
    assert ids(index.search("pump", view=after, k=5)) == ["new"]
    assert list(index.search("pump", view=before, k=5)) == list(old)
    assert ids(old) == ["d0"]
    assert list(index.document_frequencies(["pump", "one", "two"], view=after)) == [1, 0, 1]
