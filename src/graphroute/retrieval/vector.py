"""Embedding similarity over passages."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from graphroute.errors import ModelMismatchError
from graphroute.retrieval.base import Backends
from graphroute.retrieval.passages import Attached, narrow, passage_hits
from graphroute.types.query import ParsedQuery
from graphroute.types.retrieval import RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import Limits
from graphroute.types.view import View

APPROXIMATE = "approximate_vectors"
"""Flag of a bundle: the vector index of a server was searched by its graph, which may miss near passages."""


class Params(BaseModel):
    """`k`: passages at most. `attached_to`: only passages attached to what earlier retrievers found."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    k: int = Field(default=20, ge=1, le=1000)
    attached_to: Attached | None = None


class Vector:
    """Passages nearest to the question by cosine, among sources in force at the instant asked about."""

    name = "vector"

    def __init__(self, backends: Backends, params: Params | None = None) -> None:
        self._backends = backends
        self._params = params or Params()

    def retrieve(
        self,
        query: ParsedQuery,
        *,
        view: View,
        limits: Limits,
        prior: Sequence[RetrievalResult] = (),
        deadline: float | None = None,
    ) -> RetrievalResult:
        """Passages best first. NOT_APPLICABLE if the store was ingested without vectors.

        Raises ModelMismatchError if its vectors are of another model than the embedder.
        """
        begun = clock.monotonic()
        vectors, embedder = self._backends.vectors, self._backends.embedder
        if vectors is None or embedder is None or vectors.model is None:
            return RetrievalResult(
                retriever=self.name,
                verdict=Verdict.NOT_APPLICABLE,
                instant=query.instant,
                reason="the store holds no vectors",
            )
        if vectors.model != embedder.identity:
            raise ModelMismatchError(
                f"the store's vectors are of {vectors.model}, the embedder is {embedder.identity}",
                hint="ingest again with this embedder, or configure the one of the store",
            )
        where = narrow(query, prior, self._params.attached_to, view=view, catalog=self._backends.catalog)
        if where.filter is None:
            return where.nothing(self.name, clock.monotonic() - begun)
        vector = embedder.embed_query(query.text)
        if not np.isfinite(vector).all() or not vector.any():
            return RetrievalResult(
                retriever=self.name,
                verdict=Verdict.EMPTY,
                instant=where.instant,
                reason="the question has no embedding",
                seconds=clock.monotonic() - begun,
            )
        found = vectors.search(vector, view=view, k=self._params.k, where=where.filter, deadline=deadline)
        hits = passage_hits(found, ScoreKind.COSINE, view=view, catalog=self._backends.catalog)
        return RetrievalResult(
            retriever=self.name,
            verdict=Verdict.EVIDENCE if hits else Verdict.EMPTY,
            hits=hits,
            instant=where.instant,
            reason="" if hits else "no readable passage in force has a vector",
            flags=() if vectors.is_exact(view=view, deadline=deadline) else (APPROXIMATE,),
            seconds=clock.monotonic() - begun,
        )
