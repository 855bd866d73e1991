"""VectorStore on Qdrant: exact search while the readable part allows, a graph above; scores are ours, to the bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphroute.errors import DataError, ModelMismatchError
from graphroute.stores.lexical.base import NO_FILTER, PassageFilter, Scored
from graphroute.stores.lexical.passage_rows import Recent, check_k
from graphroute.stores.qdrant.collection import DENSE, FILTERED, Collection
from graphroute.stores.qdrant.connection import NotFoundError, QdrantConnection
from graphroute.stores.qdrant.filters import ScopedFilter, is_wanted, scoped_filter
from graphroute.stores.vector_checks import question_vector
from graphroute.types.view import View

_KEPT_VIEWS = 64
_MORE = 16
"""Hits asked for beyond k, to settle what the server's single precision cannot."""
_BEAM = 128


class QdrantVectors:
    """Cosine similarity in Qdrant over the vectors that `QdrantReplica` copied.

    The server selects candidates under the view's filter; their vectors come back and are scored here in double precision, so
    that order and scores equal those of `ExactVectors`. `identity` is that of the configured embedder. Raises
    ModelMismatchError if the collection holds another's vectors.
    """

    def __init__(self, connection: QdrantConnection, identity: str | None = None) -> None:
        self._connection = connection
        self._collection = Collection(connection, "vectors")
        self._counts: Recent[int] = Recent(_KEPT_VIEWS)
        self._identity = identity
        held = self.model
        if identity is not None and held is not None and held != identity:
            raise self._mismatch(held)

    def _mismatch(self, held: str) -> ModelMismatchError:
        return ModelMismatchError(
            f"the store's vectors were made by {held}, the configured embedder is {self._identity}",
            where=self._collection.where,
            hint=f"configure {held}, or ingest again into a new store with {self._identity}",
        )

    @property
    def model(self) -> str | None:
        """`name@revision/size` of the vectors copied, known also while there is none; None if nothing was copied."""
        found = self._collection.find()
        return found[1].identity or None if found is not None else None

    def is_exact(self, *, view: View, deadline: float | None = None) -> bool:
        """True if a search by this view compares every readable vector."""
        scoped = scoped_filter(view)
        return scoped is None or self._readable(scoped, deadline) <= self._connection.settings.exact_up_to

    def _readable(self, scoped: ScopedFilter, deadline: float | None) -> int:
        view = scoped.view

        def count() -> int:
            name, _ = self._collection.current(view, deadline)
            return self._collection.count(name, scoped, deadline)

        return self._counts.get(view.rows, count)

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

        Raises ModelMismatchError for a vector of another size or model, BackendError for one that is zero or not finite,
        DeadlineError past the deadline, BackendUnavailableError if the copy is older than the view, UsageError for k below 1.
        """
        check_k(k)
        question = question_vector(vector, self._identity or self._known_identity(view, deadline))
        scoped = scoped_filter(view, where)
        if scoped is None:
            return []
        try:
            return self._search(question, scoped, k, deadline)
        except NotFoundError:
            # The collection was replaced by a rebuild.
            self._collection.forget()
            return self._search(question, scoped, k, deadline)

    def _known_identity(self, view: View, deadline: float | None) -> str:
        return self._collection.current(view, deadline)[1].identity

    def _search(
        self, question: NDArray[np.float64], scoped: ScopedFilter, k: int, deadline: float | None
    ) -> list[Scored]:
        from qdrant_client import models

        name, state = self._collection.current(scoped.view, deadline)
        if self._identity is not None and state.identity != self._identity:
            raise self._mismatch(state.identity)
        readable = self._readable(scoped, deadline)
        if not readable:
            return []
        params: models.SearchParams | None = None
        if not self._connection.is_local:
            if readable <= self._connection.settings.exact_up_to:
                params = models.SearchParams(exact=True)
            else:
                params = models.SearchParams(
                    hnsw_ef=max(_BEAM, 2 * k), acorn=models.AcornSearchParams(enable=True, max_selectivity=1.0)
                )
        single = question.astype(np.float32)
        margin = 4.0 * len(single) * float(np.finfo(np.float32).eps)
        limit = min(k + _MORE, readable)
        while True:
            points = self._collection.query(
                name,
                scoped,
                single.tolist(),
                using=DENSE,
                limit=limit,
                payload=FILTERED,
                params=params,
                vectors=True,
                deadline=deadline,
            )
            wanted = [point for point in points if is_wanted(point.payload or {}, scoped)]
            rows = [self._row(point.vector, len(single)) for point in wanted]
            scores = (np.array(rows, dtype=np.float64).reshape(len(rows), len(single)) * question).sum(axis=1)
            best = sorted(
                (-score, str((point.payload or {})["id"])) for score, point in zip(scores.tolist(), wanted, strict=True)
            )[:k]
            settled = len(points) < limit or limit >= readable
            # What was not returned scores at most like the last one here.
            if settled or (len(best) == k and -best[-1][0] > float(points[-1].score) + margin):
                return [Scored(passage_id, -score) for score, passage_id in best]
            limit = min(4 * limit, readable)

    def _row(self, vector: object, size: int) -> NDArray[np.float32]:
        held = vector.get(DENSE) if isinstance(vector, dict) else None
        row = np.asarray(held if held is not None else [], dtype=np.float32)
        if row.shape != (size,) or not np.isfinite(row).all():
            raise DataError("a stored vector is damaged", where=self._collection.where, hint="copy the store again")
        return row
