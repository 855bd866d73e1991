"""LexicalStore on Qdrant: sparse vectors select under the reader's own IDF, exact BM25 of the reader decides.

BM25 divides a passage's length by the average length of what the reader may read, which no fixed vector can hold. So the stored
weights use one reference average and the server only selects: its idf is computed over the access filter
(`IdfCorpusParams`), and from the hits' own counts the exact score is computed here. More is asked for until what was not
returned cannot reach the k-th place (the threshold bound of R. Fagin, A. Lotem and M. Naor, Optimal Aggregation
Algorithms for Middleware, 2003), so the answer equals that of the embedded index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphroute.errors import BackendError
from graphroute.stores.bm25 import K1, B, idf
from graphroute.stores.lexical.base import NO_FILTER, PassageFilter, Scored
from graphroute.stores.lexical.passage_rows import Recent, check_k
from graphroute.stores.qdrant.collection import FILTERED, TERMS, Collection, State
from graphroute.stores.qdrant.connection import NotFoundError, QdrantConnection
from graphroute.stores.qdrant.filters import ScopedFilter, is_wanted, scoped_filter
from graphroute.stores.qdrant.term_dimensions import dimension
from graphroute.stores.term_hash import term_hash
from graphroute.text import query_terms
from graphroute.types.view import View

_KEPT_VIEWS = 64
_MORE = 32
_LENGTHS = 100_000
_ROUNDING = 1e-4
"""How far the server's single precision may lead its sums from ours, relative."""


@dataclass(frozen=True, slots=True)
class _Corpus:
    """What the view may read: how many passages, their average and greatest length, and document frequencies so far."""

    documents: int
    average: float
    longest: int
    frequencies: dict[int, int]


class _OtherStatisticsError(BackendError):
    """The server's idf is not that of the counts known here."""


class QdrantLexical:
    """BM25 over the terms that `QdrantReplica` copied, with statistics of the view alone. Scores equal `InvertedIndex`."""

    def __init__(self, connection: QdrantConnection) -> None:
        self._connection = connection
        self._collection = Collection(connection, "lexical")
        self._views: Recent[_Corpus] = Recent(_KEPT_VIEWS)

    def prepare(self, *, view: View) -> None:
        """Count the view's passages and their lengths, once for all that see the same."""
        scoped = scoped_filter(view)
        if scoped is not None:
            name, _ = self._collection.current(view)
            self._corpus(name, scoped, None)

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

        Raises DeadlineError past the deadline, BackendUnavailableError if the copy is older than the view, UsageError for k
        below 1.
        """
        check_k(k)
        wanted = query_terms(query)
        scoped = scoped_filter(view, where)
        if not wanted or scoped is None:
            return []
        try:
            return self._search(wanted, scoped, k, deadline)
        except (NotFoundError, _OtherStatisticsError):
            # The collection was replaced by a rebuild, or a source was purged since its terms were counted.
            self._collection.forget()
            self._views = Recent(_KEPT_VIEWS)
            return self._search(wanted, scoped, k, deadline)

    def document_frequencies(self, terms: Sequence[str], *, view: View) -> Sequence[int]:
        """In how many readable passages each analysed term occurs."""
        scoped = scoped_filter(view)
        if scoped is None:
            return [0] * len(terms)
        name, _ = self._collection.current(view)
        hashes = [term_hash(term) for term in terms]
        found = self._frequencies(name, scoped, self._corpus(name, scoped, None), hashes, None)
        return [found[term] for term in hashes]

    def _corpus(self, name: str, scoped: ScopedFilter, deadline: float | None) -> _Corpus:
        view = scoped.view

        def read() -> _Corpus:
            lengths = self._collection.values(name, scoped, "length", _LENGTHS, deadline)
            documents = sum(lengths.values())
            total = sum(length * count for length, count in lengths.items())
            return _Corpus(documents, total / documents if total else 1.0, max(lengths, default=0), {})

        return self._views.get(view.rows, read)

    def _frequencies(
        self, name: str, scoped: ScopedFilter, corpus: _Corpus, terms: Sequence[int], deadline: float | None
    ) -> dict[int, int]:
        missing = [term for term in dict.fromkeys(terms) if term not in corpus.frequencies]
        if missing:
            counted = self._collection.counts(name, scoped, "terms", missing, deadline)
            corpus.frequencies.update(zip(missing, counted, strict=True))
        return corpus.frequencies

    def _search(self, wanted: Sequence[str], scoped: ScopedFilter, k: int, deadline: float | None) -> list[Scored]:
        from qdrant_client import models

        name, state = self._collection.current(scoped.view, deadline)
        corpus = self._corpus(name, scoped, deadline)
        hashes = [term_hash(term) for term in wanted]
        frequencies = self._frequencies(name, scoped, corpus, hashes, deadline)
        weights = {term: idf(corpus.documents, frequencies[term]) for term in hashes if frequencies[term]}
        if not weights:
            return []
        places = sorted({dimension(term, state.dimensions) for term in weights})
        question = models.SparseVector(indices=places, values=[1.0] * len(places))
        params = models.SearchParams(idf=models.IdfCorpusParams(corpus=scoped.access))
        reach = _reach(corpus, state)
        limit = min(k + _MORE, corpus.documents)
        while True:
            points = self._collection.query(
                name,
                scoped,
                question,
                using=TERMS,
                limit=limit,
                payload=(*FILTERED, "length", "terms", "counts"),
                params=params,
                deadline=deadline,
            )
            scored: list[tuple[float, str]] = []
            for point in points:
                payload: dict[str, Any] = point.payload or {}
                if not is_wanted(payload, scoped):
                    continue
                self._check_server(payload, float(point.score), weights, state)
                score = _score(payload, weights, corpus.average)
                if score > 0.0:
                    scored.append((-score, str(payload["id"])))
            best = sorted(scored)[:k]
            settled = len(points) < limit or limit >= corpus.documents
            if settled or (len(best) == k and -best[-1][0] > float(points[-1].score) * reach * (1.0 + _ROUNDING)):
                return [Scored(passage_id, -score) for score, passage_id in best]
            limit = min(4 * limit, corpus.documents)

    def _check_server(self, payload: dict[str, Any], score: float, weights: dict[int, float], state: State) -> None:
        """The bound holds only if the server's idf is that of the reader: a server that knows no IDF corpus is refused."""
        if abs(score - _score(payload, weights, state.average)) > _ROUNDING * max(1.0, abs(score)):
            raise _OtherStatisticsError(
                "Qdrant did not compute the idf over the access filter",
                where=self._collection.where,
                allowed="Qdrant 1.19 or newer",
                hint="upgrade the server, or use the embedded lexical store",
            )


def _score(payload: dict[str, Any], weights: dict[int, float], average: float) -> float:
    """BM25 of one passage; terms are added in the order of the question, as the embedded index adds them."""
    counts = dict(zip(payload["terms"], payload["counts"], strict=True))
    norm = K1 * (1.0 - B + B * int(payload["length"]) / average)
    total = 0.0
    for term, weight in weights.items():
        times = counts.get(term)
        if times:
            total += weight * (float(times) * (K1 + 1.0)) / (float(times) + norm)
    return total


def _reach(corpus: _Corpus, state: State) -> float:
    """By how much at most an exact score exceeds the server's, which uses the reference average.

    The ratio of the two saturations grows with the length and falls with the count where the reader's average is the
    greater one; else it is at most 1.
    """
    if corpus.average <= state.average:
        return 1.0

    def norm(average: float) -> float:
        return K1 * (1.0 - B + B * corpus.longest / average)

    return (1.0 + norm(state.average)) / (1.0 + norm(corpus.average))
