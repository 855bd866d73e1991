"""Entity passages: records and prose about the things the question names, best match first."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from graphroute.retrieval.base import Backends
from graphroute.retrieval.passages import narrow, passage_hits
from graphroute.types.query import ParsedQuery
from graphroute.types.retrieval import RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import Limits
from graphroute.types.view import View


class Params(BaseModel):
    """`k`: passages at most. `entities`: questions that name more things than this are left to the other retrievers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    k: int = Field(default=6, ge=1, le=1000)
    entities: int = Field(default=4, ge=1, le=100)


class EntityPassages:
    """Passages attached to a named entity, ranked by BM25 of the question."""

    name = "entity_passages"

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
        """Passages of the entities named; NOT_APPLICABLE where none or too many are."""
        begun = clock.monotonic()
        named = sorted({c.entity_id for m in (*query.identifiers, *query.mentions) if m.strong for c in m.candidates})
        if not 0 < len(named) <= self._params.entities:
            reason = "the question names nothing" if not named else f"the question names {len(named)} things"
            return RetrievalResult(retriever=self.name, verdict=Verdict.NOT_APPLICABLE, reason=reason)
        where = narrow(query, prior, None, view=view, catalog=self._backends.catalog)
        assert where.filter is not None
        found = self._backends.lexical.search(
            query.text, view=view, k=self._params.k, where=replace(where.filter, nodes=tuple(named)), deadline=deadline
        )
        hits = passage_hits(found, ScoreKind.BM25, view=view, catalog=self._backends.catalog)
        return RetrievalResult(
            retriever=self.name,
            verdict=Verdict.EVIDENCE if hits else Verdict.EMPTY,
            hits=hits,
            anchors=tuple(named),
            instant=where.instant,
            seconds=clock.monotonic() - begun,
        )
