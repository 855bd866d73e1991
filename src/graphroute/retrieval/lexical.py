"""BM25 over passages."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from graphroute.retrieval.base import Backends
from graphroute.retrieval.passages import Attached, narrow, passage_hits
from graphroute.types.query import ParsedQuery
from graphroute.types.retrieval import RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import Limits
from graphroute.types.view import View


class Params(BaseModel):
    """`k`: passages at most. `attached_to`: only passages attached to what earlier retrievers found."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    k: int = Field(default=20, ge=1, le=1000)
    attached_to: Attached | None = None


class Lexical:
    """Passages by BM25 of the question's words, among sources in force at the instant asked about."""

    name = "lexical"

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
        """Passages best first, EMPTY if no readable one shares a term with the question."""
        begun = clock.monotonic()
        where = narrow(query, prior, self._params.attached_to, view=view, catalog=self._backends.catalog)
        if where.filter is None:
            return where.nothing(self.name, clock.monotonic() - begun)
        found = self._backends.lexical.search(
            query.text, view=view, k=self._params.k, where=where.filter, deadline=deadline
        )
        hits = passage_hits(found, ScoreKind.BM25, view=view, catalog=self._backends.catalog)
        return RetrievalResult(
            retriever=self.name,
            verdict=Verdict.EVIDENCE if hits else Verdict.EMPTY,
            hits=hits,
            instant=where.instant,
            reason="" if hits else "no passage in force shares a term with the question",
            seconds=clock.monotonic() - begun,
        )
