from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from graphroute.errors import ConfigurationError
from graphroute.stores.lexical import LEXICAL_STORES
from graphroute.stores.lexical.base import LexicalStore
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.stores.lexical.rank_bm25 import RankBM25
from graphroute.testing.documents import Document, ViewOf, random_corpus, write_documents
from graphroute.testing.lexical_store import QUESTIONS, READERS, LexicalStoreTests


class TestRankBM25(LexicalStoreTests):
    def build(self, directory: Path, corpus: Sequence[Document]) -> tuple[LexicalStore, ViewOf]:
        database, view_of = write_documents(directory / "store.db", corpus)
        return RankBM25(database), view_of


@pytest.mark.parametrize("seed", range(3))
def test_the_inverted_index_agrees_with_it(tmp_path: Path, seed: int) -> None:
    corpus = random_corpus(seed, size=60)
    database, view_of = write_documents(tmp_path / "store.db", corpus)
    oracle, index = RankBM25(database), InvertedIndex(database)
    compared = 0
    for reader in READERS:
        view = view_of(reader)
        for question in QUESTIONS:
            expected = {hit.passage_id: hit.score for hit in oracle.search(question, view=view, k=100)}
            found = {hit.passage_id: hit.score for hit in index.search(question, view=view, k=100)}
            assert found == pytest.approx(expected, rel=1e-9)
            compared += len(found)
    assert compared > 100


def test_engines_by_name() -> None:
    assert LEXICAL_STORES.load("inverted") is InvertedIndex
    assert LEXICAL_STORES.load("rank_bm25") is RankBM25
    with pytest.raises(ConfigurationError, match="rank_bm25"):
        LEXICAL_STORES.load("rank-bm25")
