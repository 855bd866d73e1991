"""LexicalStore on rank-bm25, over the reader's own passages; the oracle in tests, and a choice for small corpora."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from graphroute.errors import DeadlineError
from graphroute.stores.database import Database
from graphroute.stores.lexical.base import NO_FILTER, PassageFilter, Scored
from graphroute.stores.lexical.passage_rows import PassageRows, Recent, check_k
from graphroute.stores.schema import unpack_terms
from graphroute.text import query_terms
from graphroute.types.view import View

_KEPT_VIEWS = 4


@lru_cache(maxsize=1)
def _bm25() -> Any:
    """rank-bm25's Okapi scorer with the idf that is never negative (its own is zero or below for a common term)."""
    import math

    from rank_bm25 import BM25Okapi

    class AlwaysPositive(BM25Okapi):  # type: ignore[misc]
        def _calc_idf(self, nd: dict[str, int]) -> None:
            for word, frequency in nd.items():
                self.idf[word] = math.log(1.0 + (self.corpus_size - frequency + 0.5) / (frequency + 0.5))

    return AlwaysPositive


@dataclass(frozen=True, slots=True)
class _Corpus:
    rows: PassageRows
    places: np.ndarray[Any, np.dtype[np.int64]]
    documents: list[set[str]]
    scorer: Any


class RankBM25:
    """Builds rank-bm25's index for each view from the terms the store keeps; nothing of other readers enters it.

    A search costs time in proportion to the corpus (about 15 ms for 10,000 passages).
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._views: Recent[_Corpus] = Recent(_KEPT_VIEWS)

    def _corpus(self, view: View) -> _Corpus:
        def make() -> _Corpus:
            connection = self._db.connection
            connection.execute("BEGIN")
            try:
                rows = PassageRows.read(connection)
                names: dict[int, str] = dict(connection.execute("SELECT id, term FROM term"))
                blobs: dict[int, bytes] = dict(connection.execute("SELECT passage, terms FROM passage_terms"))
            finally:
                connection.execute("COMMIT")
            places = np.flatnonzero(rows.visible(view))
            documents = []
            for key in rows.keys[places].tolist():
                terms, counts = unpack_terms(blobs.get(key, b""))
                documents.append([names[term] for term in np.repeat(terms, counts).tolist()])
            scorer = _bm25()(documents, k1=1.5, b=0.75) if any(documents) else None
            return _Corpus(rows, places, [set(document) for document in documents], scorer)

        return self._views.get(view.rows, make)

    def search(
        self,
        query: str,
        *,
        view: View,
        k: int,
        where: PassageFilter = NO_FILTER,
        deadline: float | None = None,
    ) -> Sequence[Scored]:
        """The k best readable passages; empty for a query of stop words only (`graphroute.text.query_terms`).

        Raises DeadlineError past the deadline, UsageError for k below 1.
        """
        check_k(k)
        wanted = query_terms(query)
        if not wanted:
            return []
        corpus = self._corpus(view)
        if deadline is not None and time.monotonic() >= deadline:
            raise DeadlineError("lexical search did not end within the deadline")
        if corpus.scorer is None:
            return []
        scores = np.asarray(corpus.scorer.get_scores(wanted), dtype=np.float64)
        kept = scores > 0.0  # the idf is positive, so zero means that no term occurs
        matching = corpus.rows.matching(where)
        if matching is not None:
            kept &= matching[corpus.places]
        return corpus.rows.best(corpus.places[kept], scores[kept], k)

    def document_frequencies(self, terms: Sequence[str], *, view: View) -> Sequence[int]:
        """In how many readable passages each analysed term occurs."""
        documents = self._corpus(view).documents
        return [sum(term in document for document in documents) for term in terms]
