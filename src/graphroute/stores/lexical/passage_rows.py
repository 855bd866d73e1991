"""Columns of all passages as arrays, and the masks of a view and of a filter over them."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphroute.errors import UsageError
from graphroute.stores.lexical.base import PassageFilter, Scored
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, TimeFilter, TimeMode
from graphroute.types.view import View

T = TypeVar("T")
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PassageRows:
    """One row for each passage the store has at any snapshot, in key order; all arrays have shape (n,).

    `sources`, `nodes` and `kinds` hold codes of the strings in the mappings of the same name; -1 is no value.
    """

    keys: NDArray[np.int64]
    ids: list[str]
    scopes: NDArray[np.int64]
    born: NDArray[np.int64]
    died: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    sources: NDArray[np.int64]
    nodes: NDArray[np.int64]
    kinds: NDArray[np.int64]
    source_codes: dict[str, int]
    node_codes: dict[str, int]
    kind_codes: dict[str, int]

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> PassageRows:
        """All rows, as of the connection's transaction."""
        rows = connection.execute(
            "SELECT p.key, p.id, p.scope, p.born, p.died, p.low, p.high, s.id, p.node, p.kind "
            "FROM passage p CROSS JOIN source s ON s.key = p.source ORDER BY p.key"
        ).fetchall()
        columns = list(zip(*rows, strict=True)) if rows else [()] * 10
        coded = [_encode(columns[place]) for place in (7, 8, 9)]
        return cls(
            keys=_integers(columns[0]),
            ids=list(columns[1]),
            scopes=_integers(columns[2]),
            born=_integers(columns[3]),
            died=_integers(columns[4]),
            low=_integers(columns[5]),
            high=_integers(columns[6]),
            sources=coded[0][0],
            nodes=coded[1][0],
            kinds=coded[2][0],
            source_codes=coded[0][1],
            node_codes=coded[1][1],
            kind_codes=coded[2][1],
        )

    def __len__(self) -> int:
        return len(self.ids)

    def visible(self, view: View) -> Mask:
        """Rows that are known at the view's snapshot and lie in one of its scopes."""
        scopes = np.fromiter(sorted(view.scopes), dtype=np.int64, count=len(view.scopes))
        alive = (self.born <= view.sequence) & (self.died > view.sequence)
        return alive & np.isin(self.scopes, scopes)

    def matching(self, where: PassageFilter) -> Mask | None:
        """Rows that pass a filter, or None where it restricts nothing."""
        mask: Mask | None = None
        for wanted, values, codes in (
            (where.source_ids, self.sources, self.source_codes),
            (where.nodes, self.nodes, self.node_codes),
            (where.kinds, self.kinds, self.kind_codes),
        ):
            if wanted is not None:
                known = np.array(sorted({codes[name] for name in wanted if name in codes}), dtype=np.int64)
                part = np.isin(values, known)
                mask = part if mask is None else mask & part
        time = self._in_time(where.time)
        if time is not None:
            mask = time if mask is None else mask & time
        return mask

    def _in_time(self, time: TimeFilter) -> Mask | None:
        low, high = time.interval.low, time.interval.high
        if time.mode is TimeMode.ANY:
            return None
        found: Mask
        if time.mode is TimeMode.OVERLAPS:
            found = (self.low < high) & (low < self.high)
        elif time.mode is TimeMode.STARTS_IN:
            found = (self.low != MIN_INSTANT) & (low <= self.low) & (self.low < high)
        else:
            found = (self.high != MAX_INSTANT) & (low <= self.high) & (self.high < high)
        return found

    def best(self, rows: NDArray[np.int64], scores: NDArray[np.float64], k: int) -> list[Scored]:
        """The k best of `rows` with `scores` of the same shape, best first, equal scores by passage id."""
        if k < len(rows):
            # Everything that ties with the last place stays in until ids decide.
            bound = np.partition(scores, len(scores) - k)[len(scores) - k]
            kept = np.flatnonzero(scores >= bound)
            rows, scores = rows[kept], scores[kept]
        pairs = [(-score, self.ids[row]) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]
        pairs.sort()
        return [Scored(passage_id, -score) for score, passage_id in pairs[:k]]


def check_k(k: int) -> None:
    """Raises UsageError unless `k` is a number of hits."""
    if k < 1:
        raise UsageError(f"k is {k}", allowed="1 or more")


def _integers(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _encode(values: Sequence[str | None]) -> tuple[NDArray[np.int64], dict[str, int]]:
    codes: dict[str, int] = {}
    found = [-1 if value is None else codes.setdefault(value, len(codes)) for value in values]
    return np.array(found, dtype=np.int64), codes


class Recent(Generic[T]):
    """The values of the last few keys, made when missing. Safe to share between threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = Lock()
        self._values: OrderedDict[object, T] = OrderedDict()

    def get(self, key: object, make: Callable[[], T]) -> T:
        """The value of `key`; `make` may run twice if two threads ask at once."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._size:
                self._values.popitem(last=False)
        return value
