"""VectorStore on Neo4j: the exact scan of what a reader may read while that is small, the VECTOR index above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphroute.errors import BackendUnavailableError, DataError, ModelMismatchError
from graphroute.stores.lexical.base import NO_FILTER, PassageFilter, Scored
from graphroute.stores.lexical.passage_rows import Recent, check_k
from graphroute.stores.neo4j.connection import Neo4jConnection
from graphroute.stores.neo4j.queries_search import NEAREST_VECTORS, VECTOR_STATE, VISIBLE_VECTORS
from graphroute.stores.neo4j.reading import StoreCheck
from graphroute.stores.neo4j.search_filters import check_scope, filter_parameters, view_parameters
from graphroute.stores.neo4j.vectors import vector_index, vector_property
from graphroute.stores.vector_checks import question_vector
from graphroute.types.view import View

_KEPT_VIEWS = 64
_MORE = 16
_SCANNED = 5_000
"""Readable vectors up to which every one is compared."""
_SCANNED_SHARE = 0.10
"""Share of all vectors below which the index would mostly return what the reader may not read."""
_AHEAD = 10
"""How many times k neighbours are taken from the index for each readable one expected among them."""
_FARTHEST = 20_000


@dataclass(frozen=True, slots=True)
class _Held:
    identity: str
    total: int
    readable: int


class Neo4jVectors:
    """Cosine similarity in Neo4j over the vectors that `replicate_vectors` copied.

    Candidates are scored here in double precision, so that order and scores equal those of `ExactVectors`. `identity` is that of
    the configured embedder. Raises ModelMismatchError if the server holds another's vectors.
    """

    def __init__(self, connection: Neo4jConnection, identity: str | None = None) -> None:
        self._connection = connection
        self._identity = identity
        self._check = StoreCheck(connection)
        self._views: Recent[_Held] = Recent(_KEPT_VIEWS)
        held = self.model
        if identity is not None and held is not None and held != identity:
            raise self._mismatch(held)

    def _mismatch(self, held: str) -> ModelMismatchError:
        return ModelMismatchError(
            f"the store's vectors were made by {held}, the configured embedder is {self._identity}",
            where=self._connection.settings.uri,
            hint=f"configure {held}, or ingest again into a new store with {self._identity}",
        )

    @property
    def model(self) -> str | None:
        """`name@revision/size` of the vectors copied, known also while there is none; None if nothing was copied."""
        rows = self._connection.read(
            VECTOR_STATE, {"p": {"scopes": [], "sequence": 0, "property": vector_property("")}}
        )
        return str(rows[0][0]) if rows and rows[0][0] else None

    def is_exact(self, *, view: View, deadline: float | None = None) -> bool:
        """True if a search by this view compares every readable vector."""
        return not view.scopes or _scans(self._held(view, deadline))

    def _held(self, view: View, deadline: float | None) -> _Held:
        self._check.require(view, deadline)

        def read() -> _Held:
            # The size is that of the configured embedder; without one, that of the vectors held.
            identity = self._identity or self.model or ""
            parameters = {"p": {**view_parameters(view), "property": vector_property(identity)}}
            rows = self._connection.read(VECTOR_STATE, parameters, deadline=deadline)
            if not rows or rows[0][1] < view.sequence:
                raise BackendUnavailableError(
                    "the store's vectors are not copied to Neo4j"
                    if not rows
                    else "the vectors in Neo4j are older than the store",
                    where=self._connection.settings.uri,
                    hint="copy the store again",
                )
            held_identity, _, total, readable = rows[0]
            return _Held(str(held_identity), int(total), int(readable))

        held = self._views.get(view.rows, read)
        if self._identity is not None and held.identity != self._identity:
            raise self._mismatch(held.identity)
        return held

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
        narrowed = filter_parameters(where)
        if self._identity is not None or not view.scopes:
            question = question_vector(vector, self._identity)
        if not view.scopes or narrowed is None:
            return []
        held = self._held(view, deadline)
        question = question_vector(vector, held.identity)
        if not held.readable:
            return []
        parameters = {
            **view_parameters(view),
            **narrowed,
            "vector": question.astype(np.float32).tolist(),
            "property": vector_property(held.identity),
            "index": vector_index(held.identity),
        }
        scans = _scans(held)
        limit = min(k + _MORE, held.readable)
        reach = min(_FARTHEST, held.total, max(64, round(_AHEAD * limit * held.total / held.readable)))
        margin = 4.0 * len(question) * float(np.finfo(np.float32).eps)
        while True:
            if scans:
                rows = self._connection.read(VISIBLE_VECTORS, {"p": {**parameters, "limit": limit}}, deadline=deadline)
            else:
                asked = {**parameters, "limit": limit, "reach": reach}
                rows = self._connection.read(NEAREST_VECTORS, {"p": asked}, deadline=deadline)
            best = self._scored(rows, question, view)[:k]
            # Neo4j states (1 + cosine) / 2; what was cut off is at most as near as the last row.
            if len(rows) == limit < held.readable and not (
                len(best) == k and best[-1].score > 2.0 * rows[-1][2] - 1.0 + margin
            ):
                limit = min(4 * limit, held.readable)
                reach = max(reach, min(_FARTHEST, held.total, 4 * reach))
            elif not scans and len(best) < min(k, held.readable) and reach < min(_FARTHEST, held.total):
                reach = min(_FARTHEST, held.total, 4 * reach)
            else:
                return best

    def _scored(self, rows: Sequence[tuple[object, ...]], question: NDArray[np.float64], view: View) -> list[Scored]:
        found: list[tuple[float, str]] = []
        for passage_id, scope, _, embedding in rows:
            check_scope(scope, view, self._connection.settings.uri)
            stored = np.asarray(embedding, dtype=np.float64)
            if stored.shape != question.shape or not np.isfinite(stored).all():
                raise DataError("a stored vector is damaged", where=self._connection.settings.uri, hint="copy again")
            found.append((-float((stored[None, :] * question).sum(axis=1)[0]), str(passage_id)))
        return [Scored(passage_id, -score) for score, passage_id in sorted(found)]


def _scans(held: _Held) -> bool:
    return held.readable <= max(_SCANNED, _SCANNED_SHARE * held.total)
