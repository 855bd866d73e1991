"""LexicalStore on Neo4j: FULLTEXT indexes find candidates inside the reader's scopes, exact BM25 of the reader decides.

Lucene ranks with statistics over everything, so its order is used for nothing that can be had otherwise. Passages with one of
the question's rarer terms are all fetched and scored here; if the k-th of them beats what the remaining, common
terms can add at most, no other passage matters (MaxScore: H. Turtle and J. Flood, Query Evaluation: Strategies and
Optimizations, 1995). Else Lucene's best of the whole question are added, and the answer may miss a passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from graphroute.errors import BackendUnavailableError
from graphroute.stores.bm25 import K1, B, idf
from graphroute.stores.lexical.base import NO_FILTER, PassageFilter, Scored
from graphroute.stores.lexical.passage_rows import Recent, check_k
from graphroute.stores.neo4j.connection import Neo4jConnection
from graphroute.stores.neo4j.queries_search import LEXICAL_CANDIDATES, PASSAGE_STATISTICS, TERM_FREQUENCIES
from graphroute.stores.neo4j.reading import StoreCheck
from graphroute.stores.neo4j.search_fields import lucene_searches, read_counts
from graphroute.stores.neo4j.search_filters import check_scope, filter_parameters, view_parameters
from graphroute.stores.term_hash import term_hash
from graphroute.text import query_terms
from graphroute.types.view import View

_KEPT_VIEWS = 64
_ALL = 10**9
_WHOLE = 4_000
"""Passages of rarer terms that are fetched whole."""
_BEST = 4_000
"""Passages that Lucene ranks first, fetched where the bound does not settle the answer."""


@dataclass(frozen=True, slots=True)
class _Corpus:
    """What the view may read: passages, their average length, and document frequencies so far."""

    documents: int
    average: float
    frequencies: dict[str, int] = field(default_factory=dict)


class Neo4jLexical:
    """BM25 over the passages in Neo4j, with frequencies and lengths of the view alone. Scores equal those of `InvertedIndex`."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection
        self._check = StoreCheck(connection)
        self._views: Recent[_Corpus] = Recent(_KEPT_VIEWS)

    def prepare(self, *, view: View) -> None:
        """Count the view's passages and their lengths, once for all that see the same."""
        if view.scopes:
            self._corpus(view, None)

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

        Raises DeadlineError past the deadline, BackendUnavailableError if the server's copy is older than the view, UsageError
        for k below 1.
        """
        check_k(k)
        wanted = query_terms(query)
        narrowed = filter_parameters(where)
        if not wanted or not view.scopes or narrowed is None:
            return []
        corpus = self._corpus(view, deadline)
        frequencies = self._frequencies(wanted, corpus, view, deadline)
        weights = {term: idf(corpus.documents, frequencies[term]) for term in wanted if frequencies[term]}
        if not weights:
            return []
        rarest = sorted(weights, key=lambda term: (frequencies[term], term))
        rare: list[str] = []
        rows = 0
        for term in rarest:
            if rare and rows + frequencies[term] > max(_WHOLE, k):
                break
            rare.append(term)
            rows += frequencies[term]
        scores: dict[str, float] = {}
        if rows <= max(_WHOLE, k):
            scores = self._candidates(rare, weights, corpus, view, narrowed, _ALL, deadline)
            rest = sum(weights[term] * (K1 + 1.0) for term in rarest[len(rare) :])
            best = _best(scores, k)
            if not rest or (len(best) == k and best[-1].score > rest):
                return best
        limit = max(_BEST, 4 * min(k, _WHOLE))
        scores |= self._candidates(list(weights), weights, corpus, view, narrowed, limit, deadline)
        return _best(scores, k)

    def document_frequencies(self, terms: Sequence[str], *, view: View) -> Sequence[int]:
        """In how many readable passages each analysed term occurs."""
        if not view.scopes:
            return [0] * len(terms)
        found = self._frequencies(terms, self._corpus(view, None), view, None)
        return [found[term] for term in terms]

    def _corpus(self, view: View, deadline: float | None) -> _Corpus:
        self._check.require(view, deadline)

        def read() -> _Corpus:
            held, documents, total = self._connection.read(
                PASSAGE_STATISTICS, {"p": view_parameters(view)}, deadline=deadline
            )[0]
            if held is None or held < view.sequence:
                raise BackendUnavailableError(
                    "the store is not copied to Neo4j" if held is None else "the copy in Neo4j is older than the store",
                    where=self._connection.settings.uri,
                    hint="copy the store again",
                )
            return _Corpus(documents, total / documents if total else 1.0)

        return self._views.get(view.rows, read)

    def _frequencies(self, terms: Sequence[str], corpus: _Corpus, view: View, deadline: float | None) -> dict[str, int]:
        missing = {term: term_hash(term) for term in terms if term not in corpus.frequencies}
        if missing:
            scopes = sorted(view.scopes)
            searches: list[dict[str, object]] = [
                {**search, "term": number}
                for term, number in missing.items()
                for search in lucene_searches([term], scopes)
            ]
            parameters = {**view_parameters(view), "searches": searches, "limit": len(searches)}
            counted: dict[int, int] = dict(
                self._connection.read(TERM_FREQUENCIES, {"p": parameters}, deadline=deadline)
            )
            corpus.frequencies.update({term: counted.get(number, 0) for term, number in missing.items()})
        return corpus.frequencies

    def _candidates(
        self,
        terms: Sequence[str],
        weights: dict[str, float],
        corpus: _Corpus,
        view: View,
        narrowed: dict[str, object],
        limit: int,
        deadline: float | None,
    ) -> dict[str, float]:
        """Exact scores, by passage id, of the readable passages that Lucene finds for any of the terms, `limit` of each index."""
        hashes = sorted((term_hash(term), term) for term in weights)
        numbers = np.array([number for number, _ in hashes], dtype=np.int64)
        parameters = {
            **view_parameters(view),
            **narrowed,
            "searches": lucene_searches(terms, sorted(view.scopes)),
            "limit": limit,
            "rows": _ALL,
        }
        scores: dict[str, float] = {}
        counts: dict[str, int]
        for passage_id, scope, length, packed in self._connection.read(
            LEXICAL_CANDIDATES, {"p": parameters}, deadline=deadline
        ):
            check_scope(scope, view, self._connection.settings.uri)
            counts = dict(zip((term for _, term in hashes), read_counts(packed, numbers), strict=True))
            norm = K1 * (1.0 - B + B * length / corpus.average)
            score = 0.0
            # In the order of the question, as the embedded index adds them.
            for term, weight in weights.items():
                times = counts.get(term)
                if times:
                    score += weight * (float(times) * (K1 + 1.0)) / (float(times) + norm)
            if score > 0.0:
                scores[passage_id] = score
        return scores


def _best(scores: dict[str, float], k: int) -> list[Scored]:
    pairs = sorted((-score, passage_id) for passage_id, score in scores.items())
    return [Scored(passage_id, -score) for score, passage_id in pairs[:k]]
