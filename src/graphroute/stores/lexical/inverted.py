"""LexicalStore on numpy postings with a visibility mask; the embedded default.

Postings hold all passages. What a reader gets is computed under the mask of the reader's view, so document frequencies and
lengths are those of a corpus that holds nothing else. S. Robertson and H. Zaragoza, The Probabilistic Relevance
Framework: BM25 and Beyond, 2009; the idf is the form that is never negative.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from graphroute.errors import DeadlineError
from graphroute.stores.bm25 import K1, B, idf
from graphroute.stores.database import Database
from graphroute.stores.lexical.base import NO_FILTER, PassageFilter, Scored
from graphroute.stores.lexical.passage_rows import Mask, PassageRows, Recent, check_k
from graphroute.text import query_terms
from graphroute.types.view import View

_KEPT_VIEWS = 16
_KEPT_IMPACTS = 4_000_000

Rows = NDArray[np.int64]


@dataclass(slots=True)
class Statistics:
    """What BM25 needs to know of the passages under one mask: their number and lengths, with impacts made so far."""

    mask: Mask
    documents: int
    norms: NDArray[np.float64]
    frequencies: dict[int, int] = field(default_factory=dict)
    impacts: dict[int, tuple[Rows, NDArray[np.float64]]] = field(default_factory=dict)
    kept: int = 0


class InvertedCore:
    """Postings of n documents. `lengths` has shape (n,); the postings of a term are its rows, ascending, and counts."""

    def __init__(
        self,
        lengths: NDArray[np.int64],
        term_ids: NDArray[np.int32],
        offsets: NDArray[np.int64],
        rows: NDArray[np.int32],
        counts: NDArray[np.int32],
    ) -> None:
        self.lengths = lengths
        self._term_ids = term_ids
        self._offsets = offsets
        self._rows = rows
        self._counts = counts

    @classmethod
    def build(cls, documents: Iterable[tuple[bytes, bytes]]) -> InvertedCore:
        """From (distinct term ids, counts) of each document, both as int32 little-endian bytes."""
        ids: list[bytes] = []
        numbers: list[bytes] = []
        for terms, counts in documents:
            ids.append(terms)
            numbers.append(counts)
        sizes = np.array([len(part) // 4 for part in ids], dtype=np.int64)
        flat_ids = np.frombuffer(b"".join(ids), dtype="<i4").astype(np.int32, copy=False)
        flat_counts = np.frombuffer(b"".join(numbers), dtype="<i4").astype(np.int32, copy=False)
        flat_rows = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        sums = np.concatenate([[0], np.cumsum(flat_counts, dtype=np.int64)])
        ends = np.cumsum(sizes)
        lengths = sums[ends] - sums[ends - sizes]
        order = _stable_order(flat_ids)
        sorted_ids = flat_ids[order]
        starts = np.flatnonzero(np.concatenate([[True], sorted_ids[1:] != sorted_ids[:-1]])) if len(order) else order
        offsets = np.concatenate([starts, [len(order)]]).astype(np.int64)
        return cls(lengths, sorted_ids[starts], offsets, flat_rows[order], flat_counts[order])

    def postings(self, term_id: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows and counts of a term, empty for one that no document has."""
        place = int(np.searchsorted(self._term_ids, term_id))
        if place == len(self._term_ids) or int(self._term_ids[place]) != term_id:
            return self._rows[:0], self._counts[:0]
        start, end = int(self._offsets[place]), int(self._offsets[place + 1])
        return self._rows[start:end], self._counts[start:end]

    def statistics(self, mask: Mask) -> Statistics:
        """Statistics over the documents under `mask`, shape (n,)."""
        documents = int(np.count_nonzero(mask))
        total = int(self.lengths[mask].sum())
        average = total / documents if total else 1.0
        norms = (K1 * (1.0 - B + B * self.lengths / average)).astype(np.float64)
        return Statistics(mask, documents, norms)

    def frequency(self, term_id: int, statistics: Statistics) -> int:
        """In how many documents under the mask the term occurs."""
        found = statistics.frequencies.get(term_id)
        if found is None:
            rows, _ = self.postings(term_id)
            found = statistics.frequencies[term_id] = int(np.count_nonzero(statistics.mask[rows]))
        return found

    def impacts(self, term_id: int, statistics: Statistics) -> tuple[Rows, NDArray[np.float64]]:
        """Rows under the mask that have the term, and what it adds to each one's score."""
        held = statistics.impacts.get(term_id)
        if held is not None:
            return held
        rows, counts = self.postings(term_id)
        seen = statistics.mask[rows]
        visible = rows[seen].astype(np.int64)
        frequency = statistics.frequencies[term_id] = len(visible)
        times = counts[seen].astype(np.float64)
        weight = idf(statistics.documents, frequency) if frequency else 0.0
        found = (visible, weight * (times * (K1 + 1.0)) / (times + statistics.norms[visible]))
        if statistics.kept + frequency > _KEPT_IMPACTS:
            statistics.impacts.clear()
            statistics.kept = 0
        statistics.impacts[term_id] = found
        statistics.kept += frequency
        return found

    def scores(
        self, term_ids: Sequence[int], statistics: Statistics, deadline: float | None = None
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Rows under the mask with any of the terms, ascending, and their scores, all above zero."""
        parts = []
        for term_id in term_ids:
            _check(deadline)
            part = self.impacts(term_id, statistics)
            if len(part[0]):
                parts.append(part)
        if not parts:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        # Terms are added in the order of the question on both ways, so that the sums are equal to the last bit.
        if sum(len(rows) for rows, _ in parts) * 16 < len(self.lengths):
            all_rows = np.concatenate([rows for rows, _ in parts])
            distinct, places = np.unique(all_rows, return_inverse=True)
            sums: NDArray[np.float64] = np.bincount(
                places, weights=np.concatenate([impact for _, impact in parts])
            ).astype(np.float64)
            return distinct, sums
        dense = np.zeros(len(self.lengths))
        for posting_rows, impact in parts:
            dense[posting_rows] += impact
        touched: Rows = np.flatnonzero(dense)
        return touched, dense[touched]


def _stable_order(values: NDArray[np.int32]) -> NDArray[np.int64]:
    """Stable ascending order of non-negative numbers, by two passes of 16 bits, which numpy sorts by radix."""
    order = np.argsort((values & 0xFFFF).astype(np.uint16), kind="stable")
    high = (values >> 16).astype(np.uint16)
    if len(high) and int(high.max()) > 0:
        order = order[np.argsort(high[order], kind="stable")]
    return order


def _check(deadline: float | None) -> None:
    if deadline is not None and time.monotonic() >= deadline:
        raise DeadlineError("lexical search did not end within the deadline")


@dataclass(frozen=True, slots=True)
class _Loaded:
    sequence: int
    rows: PassageRows
    core: InvertedCore
    views: Recent[Statistics]


class InvertedIndex:
    """BM25 over the store's own postings. Arrays are read once for each published snapshot and then shared by threads."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = Lock()
        self._loaded: _Loaded | None = None
        self._term_ids: dict[str, int] = {}

    def prepare(self, *, view: View) -> None:
        """Read the arrays that the first search of a snapshot would read."""
        self._statistics(view)

    def _load(self, view: View) -> _Loaded:
        with self._lock:
            held = self._loaded
            if held is None or held.sequence < view.sequence:
                rows, core = read_postings(self._db)
                held = self._loaded = _Loaded(view.sequence, rows, core, Recent(_KEPT_VIEWS))
            return held

    def _statistics(self, view: View) -> tuple[_Loaded, Statistics]:
        loaded = self._load(view)
        statistics = loaded.views.get(view.rows, lambda: loaded.core.statistics(loaded.rows.visible(view)))
        return loaded, statistics

    def _ids(self, terms: Sequence[str]) -> list[int | None]:
        found: list[int | None] = []
        for term in terms:
            number = self._term_ids.get(term)
            if number is None:
                row = self._db.connection.execute("SELECT id FROM term WHERE term = ?", (term,)).fetchone()
                if row is not None:
                    number = self._term_ids[term] = int(row[0])
            found.append(number)
        return found

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
        if not wanted or not view.scopes:
            return []
        loaded, statistics = self._statistics(view)
        _check(deadline)
        term_ids = [number for number in self._ids(wanted) if number is not None]
        rows, scores = loaded.core.scores(term_ids, statistics, deadline)
        matching = loaded.rows.matching(where)
        if matching is not None:
            kept = matching[rows]
            rows, scores = rows[kept], scores[kept]
        return loaded.rows.best(rows, scores, k)

    def document_frequencies(self, terms: Sequence[str], *, view: View) -> Sequence[int]:
        """In how many readable passages each analysed term occurs."""
        loaded, statistics = self._statistics(view)
        return [0 if number is None else loaded.core.frequency(number, statistics) for number in self._ids(terms)]


def read_postings(db: Database) -> tuple[PassageRows, InvertedCore]:
    """Rows and postings of the store, from one transaction."""
    connection = db.connection
    connection.execute("BEGIN")
    try:
        rows = PassageRows.read(connection)
        blobs = dict(connection.execute("SELECT passage, terms FROM passage_terms"))
    finally:
        connection.execute("COMMIT")
    found = (blobs.get(key, b"") for key in rows.keys.tolist())
    return rows, InvertedCore.build((blob[: len(blob) // 2], blob[len(blob) // 2 :]) for blob in found)
