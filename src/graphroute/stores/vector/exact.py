"""Exact scan over vectors kept in the SQLite file; the embedded default and the reference."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from graphroute.errors import DataError, DeadlineError, ModelMismatchError
from graphroute.stores.database import NOT_BLANK, Database
from graphroute.stores.lexical.base import NO_FILTER, PassageFilter, Scored
from graphroute.stores.lexical.passage_rows import PassageRows, Recent, check_k
from graphroute.stores.vector_checks import question_vector
from graphroute.types.view import View

_KEPT_VIEWS = 8
_OWN_COPY_BELOW = 0.25
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Readable:
    """Rows a view may read, and their vectors where they are few enough to be worth a copy."""

    rows: Rows
    matrix: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class _Loaded:
    """`matrix` of shape (n, size) holds the vectors of the passages `rows`, at the places given by `position`."""

    sequence: int
    passages: PassageRows
    has_vector: NDArray[np.bool_]
    position: Rows
    matrix: NDArray[np.float32]
    views: Recent[_Readable]


class ExactVectors:
    """Cosine similarity with every readable vector of one model; recall is 1 whatever the reader may see.

    `identity` is that of the configured embedder. Raises ModelMismatchError if the store holds another's vectors.
    """

    def __init__(self, db: Database, identity: str | None = None) -> None:
        self._db = db
        self._lock = Lock()
        self._loaded: _Loaded | None = None
        held = self.model
        if identity is not None and held is not None and held != identity:
            raise ModelMismatchError(
                f"the store's vectors were made by {held}, the configured embedder is {identity}",
                where=str(db.path),
                hint=f"configure {held}, or ingest again into a new store with {identity}",
            )
        self._identity = identity

    @property
    def model(self) -> str | None:
        """`name@revision/size` the store was built with, known also while it holds no vector; None if there is none."""
        connection = self._db.connection
        row = connection.execute("SELECT identity FROM vector LIMIT 1").fetchone()
        if row is None:
            row = connection.execute("SELECT value FROM setting WHERE key = 'embedder'").fetchone()
        return str(row[0]) if row is not None and row[0] else None

    def prepare(self, *, view: View) -> None:
        """Read the arrays that the first search of a snapshot would read."""
        self._readable(view)

    def is_exact(self, *, view: View, deadline: float | None = None) -> bool:
        """True: every readable vector is compared."""
        return True

    def _load(self, view: View) -> _Loaded:
        with self._lock:
            held = self._loaded
            if held is None or held.sequence < view.sequence:
                held = self._loaded = self._read(view.sequence)
            return held

    def _read(self, sequence: int) -> _Loaded:
        identity = self._identity or self.model or ""
        size = int(identity.rpartition("/")[2] or 0)
        connection = self._db.connection
        connection.execute("BEGIN")
        try:
            passages = PassageRows.read(connection)
            found = connection.execute(
                "SELECT v.passage, v.vector FROM vector v CROSS JOIN passage p ON p.key = v.passage "
                f"WHERE v.identity = ? AND {NOT_BLANK} ORDER BY v.passage",
                (identity,),
            ).fetchall()
        finally:
            connection.execute("COMMIT")
        for key, blob in found:
            if len(blob) != 4 * size:
                raise DataError(
                    f"the vector of passage {passages.ids[int(np.searchsorted(passages.keys, key))]!r} is damaged",
                    where=str(self._db.path),
                    allowed=f"{size} numbers",
                )
        matrix = np.frombuffer(b"".join(blob for _, blob in found), dtype="<f4").astype(np.float32)
        matrix = matrix.reshape(len(found), size)
        lengths = np.sqrt((matrix.astype(np.float64) ** 2).sum(axis=1)) if len(found) else np.ones(0)
        if not (np.isfinite(lengths) & (lengths > 0.0)).all():
            raise DataError("a stored vector is zero or not finite", where=str(self._db.path), hint="ingest again")
        off = np.abs(lengths - 1.0) > 1e-4
        matrix[off] = (matrix[off] / lengths[off, None]).astype(np.float32)
        rows = np.searchsorted(passages.keys, np.array([key for key, _ in found], dtype=np.int64))
        has_vector = np.zeros(len(passages), dtype=np.bool_)
        has_vector[rows] = True
        position = np.full(len(passages), -1, dtype=np.int64)
        position[rows] = np.arange(len(rows))
        return _Loaded(sequence, passages, has_vector, position, matrix, Recent(_KEPT_VIEWS))

    def _readable(self, view: View) -> tuple[_Loaded, _Readable]:
        loaded = self._load(view)

        def make() -> _Readable:
            rows = np.flatnonzero(loaded.passages.visible(view) & loaded.has_vector)
            few = len(rows) < _OWN_COPY_BELOW * len(loaded.matrix)
            return _Readable(rows, loaded.matrix[loaded.position[rows]] if few else None)

        return loaded, loaded.views.get(view.rows, make)

    def search(
        self,
        vector: NDArray[np.float32],
        *,
        view: View,
        k: int,
        where: PassageFilter = NO_FILTER,
        deadline: float | None = None,
    ) -> Sequence[Scored]:
        """The k nearest readable passages by cosine, in [-1, 1]. `vector` has shape (size,).

        Raises ModelMismatchError for a vector of another size, BackendError for one that is zero or not finite,
        DeadlineError past the deadline, UsageError for k below 1.
        """
        check_k(k)
        question = question_vector(vector, self._identity or self.model)
        if not view.scopes:
            return []
        loaded, readable = self._readable(view)
        if deadline is not None and time.monotonic() >= deadline:
            raise DeadlineError("vector search did not end within the deadline")
        rows = readable.rows
        matching = loaded.passages.matching(where)
        kept = None if matching is None else np.flatnonzero(matching[rows])
        if kept is not None:
            rows = rows[kept]
        if not len(rows):
            return []
        single = question.astype(np.float32)
        if readable.matrix is not None:
            rough = _products(readable.matrix if kept is None else readable.matrix[kept], single)
        elif len(rows) < _OWN_COPY_BELOW * len(loaded.matrix):
            rough = _products(loaded.matrix[loaded.position[rows]], single)
        else:
            rough = _products(loaded.matrix, single)[loaded.position[rows]]
        if k < len(rows):
            # Single precision only selects, so that the result does not hang on its last bits; the margin covers its
            # rounding error (Higham, Accuracy and Stability of Numerical Algorithms, 2002, 3.5).
            margin = 4.0 * len(single) * float(np.finfo(np.float32).eps)
            bound = float(np.partition(rough, len(rough) - k)[len(rough) - k]) - margin
            rows = rows[rough >= bound]
        chosen = loaded.matrix[loaded.position[rows]].astype(np.float64)
        scores = (chosen * question).sum(axis=1)
        return loaded.passages.best(rows, scores, k)


def _products(matrix: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Dot product of each row. The scan is bound by memory, and BLAS would start threads that wait for busy cores."""
    found: NDArray[np.float32] = np.einsum("ij,j->i", matrix, vector)
    return found
