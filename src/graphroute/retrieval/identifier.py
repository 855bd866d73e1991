"""Exact look-up of identifiers: an entity's own records and prose, a source by id or title, a text that holds the identifier."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from graphroute.retrieval.base import Backends
from graphroute.retrieval.passages import source_time
from graphroute.stores.lexical.base import PassageFilter
from graphroute.text import alias_key, words
from graphroute.types.query import Mention, ParsedQuery
from graphroute.types.retrieval import Hit, RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import Limits
from graphroute.types.source import Passage
from graphroute.types.time import MIN_INSTANT, TimeFilter
from graphroute.types.view import View

FRAGMENT = "fragment"
"""Note of a hit found by a part of an identifier, such as 482 for CHG-482: a candidate, not an exact id."""


class Params(BaseModel):
    """`k`: passages per identifier at most. `exact`: how many of them rank as exact look-ups, before fused evidence."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    k: int = Field(default=12, ge=1, le=200)
    exact: int = Field(default=3, ge=1, le=200)


class Identifier:
    """What is known under the identifiers of a question, newest in force at the instant first."""

    name = "identifier"

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
        """Exact hits by identifier. UNRESOLVED if one of them names nothing, NOT_APPLICABLE for a question without any."""
        begun = clock.monotonic()
        if not query.identifiers:
            return RetrievalResult(
                retriever=self.name,
                verdict=Verdict.NOT_APPLICABLE,
                instant=query.instant,
                reason="the question names no identifier",
            )
        instant, time = source_time(query, prior)
        hits: dict[str, Hit] = {}
        anchors: dict[str, None] = {}
        missing = []
        for mention in query.identifiers:
            fragment = _is_fragment(mention)
            entities = [candidate.entity_id for candidate in mention.candidates]
            found = self._of_entities(query, entities, time=time, view=view, deadline=deadline)
            if not entities:
                found = self._of_text(mention, time=time, view=view, deadline=deadline)
            if not fragment:
                anchors.update(dict.fromkeys(entities))
            if not found and not entities:
                missing.append(mention.cue.text or mention.cue.value)
            for rank, passage in enumerate(found[: self._params.k]):
                exact = not fragment and rank < self._params.exact
                hit = Hit(
                    score=1.0 if exact else 0.0,
                    kind=ScoreKind.EXACT if exact else ScoreKind.BM25,
                    passage=passage,
                    note=FRAGMENT if fragment else None,
                )
                held = hits.get(passage.id)
                if held is None or (exact and held.kind is not ScoreKind.EXACT):
                    hits[passage.id] = hit
        ordered = sorted(hits.values(), key=lambda hit: hit.kind is not ScoreKind.EXACT)
        verdict = Verdict.UNRESOLVED if missing else Verdict.EVIDENCE if ordered else Verdict.EMPTY
        reason = f"nothing was found for {', '.join(missing)}" if missing else "" if ordered else "no source in force"
        return RetrievalResult(
            retriever=self.name,
            verdict=verdict,
            hits=tuple(ordered),
            anchors=tuple(anchors),
            instant=instant,
            reason=reason,
            seconds=clock.monotonic() - begun,
        )

    def _of_entities(
        self, query: ParsedQuery, entities: Sequence[str], *, time: TimeFilter, view: View, deadline: float | None
    ) -> list[Passage]:
        """Passages of the entities' own records and prose, those that fit the question first, then the newest.

        An entity without any is shown by the first sources of its facts.
        """
        if not entities:
            return []
        catalog = self._backends.catalog
        attached = catalog.source_ids_of(entities, view=view)
        wanted = set(entities)
        first: dict[str, None] = {}
        for entity in entities:
            first.update(dict.fromkeys(attached.get(entity, ())[: 4 * self._params.k]))
        passages = [one for one in catalog.passages_of(first, view=view) if time.accepts(one.validity)]
        own = [one for one in passages if one.node in wanted] or passages
        sources = tuple(sorted({one.source_id for one in own}))
        if not sources:
            return []
        ranked = self._backends.lexical.search(
            query.text,
            view=view,
            k=self._params.k,
            where=PassageFilter(source_ids=sources, time=time),
            deadline=deadline,
        )
        places = {one.passage_id: place for place, one in enumerate(ranked)}
        return sorted(own, key=lambda one: (places.get(one.id, len(places)), *_newest_first(one)))

    def _of_text(self, mention: Mention, *, time: TimeFilter, view: View, deadline: float | None) -> list[Passage]:
        """A source of that id, then passages with that title, then passages that hold the identifier as words of their text."""
        catalog = self._backends.catalog
        named = mention.cue.text or mention.cue.value
        key = alias_key(named)
        by_id = [
            one
            for one in catalog.passages_of(sorted({named, mention.cue.value}), view=view)
            if time.accepts(one.validity)
        ]
        scored = self._backends.lexical.search(
            named, view=view, k=4 * self._params.k, where=PassageFilter(time=time), deadline=deadline
        )
        held = catalog.passages([one.passage_id for one in scored], view=view)
        found = [held[one.passage_id] for one in scored if one.passage_id in held]
        by_title = [one for one in found if alias_key(one.title) == key]
        by_text = [one for one in found if _holds(f"{one.title}\n{one.text}", key)]
        unique = {one.id: one for one in (*by_id, *by_title, *by_text)}
        return list(unique.values())


def _is_fragment(mention: Mention) -> bool:
    """True if only a part of each candidate's identifier was written: bare digits that are its local part."""
    text = mention.cue.text or mention.cue.value
    return bool(mention.candidates) and text.strip().isdigit() and all(one.via == "local" for one in mention.candidates)


def _newest_first(passage: Passage) -> tuple[int, str, int]:
    date = passage.timestamp if passage.timestamp is not None else passage.validity.low
    return (-date if date != MIN_INSTANT else -MIN_INSTANT, passage.source_id, passage.start)


def _holds(text: str, key: str) -> bool:
    return f" {key} " in f" {' '.join(word.key for word in words(text))} "
