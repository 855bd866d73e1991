"""What the passage retrievers share: which sources count, what survives earlier retrievers, and scores to hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graphroute.stores.catalog.base import Catalog
from graphroute.stores.lexical.base import PassageFilter, Scored
from graphroute.types.query import ParsedQuery
from graphroute.types.retrieval import Hit, RetrievalResult, ScoreKind, Verdict
from graphroute.types.time import Instant, Interval, TimeFilter, TimeMode
from graphroute.types.view import View

Attached = Literal["survivors"]
"""Sources attached to the entities that earlier retrievers reached on paths or bound."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Where to search; no filter: nowhere, for the reason given."""

    filter: PassageFilter | None
    instant: Instant
    reason: str = ""

    def nothing(self, retriever: str, seconds: float) -> RetrievalResult:
        """The result of searching nowhere."""
        return RetrievalResult(
            retriever=retriever,
            verdict=Verdict.EMPTY,
            instant=self.instant,
            reason=self.reason,
            seconds=seconds,
        )


def source_time(query: ParsedQuery, prior: Sequence[RetrievalResult] = ()) -> tuple[Instant, TimeFilter]:
    """The instant sources are read at and the test of their validity; an answer found at another instant moves both."""
    for result in prior:
        if result.verdict is Verdict.ANSWERED and result.instant is not None and result.instant != query.instant:
            return result.instant, TimeFilter(TimeMode.OVERLAPS, Interval(result.instant, result.instant + 1))
    return query.instant, query.source_time


def survivors(prior: Sequence[RetrievalResult]) -> tuple[str, ...]:
    """Entities bound or on paths of earlier results, without the anchors they start from; in id order."""
    found: set[str] = set()
    anchors: set[str] = set()
    for result in prior:
        anchors.update(result.anchors)
        found.update(binding.id for binding in result.bindings if binding.id is not None)
        for hit in result.hits:
            if hit.path is not None:
                found.update(hit.path.nodes)
    return tuple(sorted(found - anchors or found))


def narrow(
    query: ParsedQuery,
    prior: Sequence[RetrievalResult],
    attached_to: Attached | None,
    *,
    view: View,
    catalog: Catalog,
) -> Narrowed:
    """Sources in force, and with `attached_to` only those attached to survivors."""
    instant, time = source_time(query, prior)
    if attached_to is None:
        return Narrowed(PassageFilter(time=time), instant)
    entities = survivors(prior)
    if not entities:
        return Narrowed(None, instant, "no entity survived the retrievers before")
    attached = catalog.source_ids_of(entities, view=view)
    sources = sorted({source for ids in attached.values() for source in ids})
    if not sources:
        return Narrowed(None, instant, "no source is attached to the entities that survived")
    return Narrowed(PassageFilter(source_ids=tuple(sources), time=time), instant)


def passage_hits(
    found: Sequence[Scored], kind: ScoreKind, *, view: View, catalog: Catalog, note: str | None = None
) -> tuple[Hit, ...]:
    """Scored passages as hits, in the order given."""
    passages = catalog.passages([one.passage_id for one in found], view=view)
    return tuple(
        Hit(score=one.score, kind=kind, passage=passages[one.passage_id], note=note)
        for one in found
        if one.passage_id in passages
    )
