"""Community reports for questions about the whole corpus."""

from __future__ import annotations

import math
import threading
import time as clock
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from graphroute.retrieval.base import Backends
from graphroute.retrieval.communities import Community, detect, inner_facts, profile, report
from graphroute.retrieval.passages import source_time
from graphroute.stores.lexical.base import PassageFilter
from graphroute.text import STOP_WORDS, terms
from graphroute.types.graph import Entity, Fact
from graphroute.types.query import ParsedQuery
from graphroute.types.retrieval import CommunityReport, Hit, RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import Limits
from graphroute.types.time import TimeFilter
from graphroute.types.view import View

_STOP = frozenset().union(*STOP_WORDS.values())
_CACHED_VIEWS = 4
_CANDIDATE_PASSAGES = 200
_SOURCES_PER_REPORT = 60
_FACT_SOURCES = 12
_OWN_SOURCES = 4


class Params(BaseModel):
    """`k`: reports at most. `max_size`: entities of a community that is not divided again. `sentences` of a report.

    `level`: only communities of that level; the undivided ones where not given.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    k: int = Field(default=5, ge=1, le=100)
    max_size: int = Field(default=60, ge=2, le=10_000)
    resolution: float = Field(default=1.0, gt=0.0, le=100.0)
    level: int | None = Field(default=None, ge=0)
    sentences: int = Field(default=8, ge=1, le=50)


@dataclass(frozen=True, slots=True)
class _World:
    """The readable graph of one view, divided."""

    communities: tuple[Community, ...]
    facts: Mapping[str, Sequence[Fact]]
    by_entity: Mapping[str, tuple[int, ...]]
    by_assertion: Mapping[str, tuple[int, ...]]
    profiles: tuple[Counter[str], ...]
    spread: Counter[str]
    entities: Mapping[str, Entity]


class GlobalCommunity:
    """Extractive reports over communities of the facts a reader may see.

    Built over the view's facts alone, so a report shows nothing its reader may not read; divisions are kept for the last few
    views by their token.
    """

    name = "global_community"

    def __init__(self, backends: Backends, params: Params | None = None) -> None:
        self._backends = backends
        self._params = params or Params()
        self._worlds: OrderedDict[str, _World] = OrderedDict()
        self._lock = threading.Lock()

    def retrieve(
        self,
        query: ParsedQuery,
        *,
        view: View,
        limits: Limits,
        prior: Sequence[RetrievalResult] = (),
        deadline: float | None = None,
    ) -> RetrievalResult:
        """Reports, best first: communities whose passages or names match the question, then the largest. EMPTY without readable facts."""
        begun = clock.monotonic()
        instant, time = source_time(query, prior)
        world = self._world(view)
        ranked = self._rank(world, query, time=time, view=view, deadline=deadline) if world.communities else []
        focus = frozenset(terms(query.text)) - _STOP
        hits = []
        for score, index in ranked:
            built = self._report(world, index, focus, time=time, view=view)
            if built is not None:
                hits.append(Hit(score=score, kind=ScoreKind.REPORT, report=built))
            if len(hits) == self._params.k:
                break
        return RetrievalResult(
            retriever=self.name,
            verdict=Verdict.EVIDENCE if hits else Verdict.EMPTY,
            hits=tuple(hits),
            instant=instant,
            reason="" if hits else "no readable facts to report on",
            seconds=clock.monotonic() - begun,
        )

    def _world(self, view: View) -> _World:
        with self._lock:
            held = self._worlds.get(view.token)
            if held is not None:
                self._worlds.move_to_end(view.token)
                return held
        built = self._divide(view)
        with self._lock:
            self._worlds[view.token] = built
            while len(self._worlds) > _CACHED_VIEWS:
                self._worlds.popitem(last=False)
        return built

    def _divide(self, view: View) -> _World:
        facts = self._backends.graph.all_facts(view=view)
        found = detect(facts, max_size=self._params.max_size, resolution=self._params.resolution)
        level = self._params.level
        communities = tuple(one for one in found if (one.leaf if level is None else one.level == level))
        touching: defaultdict[str, list[Fact]] = defaultdict(list)
        for fact in facts:
            touching[fact.subject].append(fact)
            if fact.object != fact.subject:
                touching[fact.object].append(fact)
        by_entity: defaultdict[str, list[int]] = defaultdict(list)
        for index, community in enumerate(communities):
            for member in community.members:
                by_entity[member].append(index)
        entities = self._backends.catalog.entities(sorted(by_entity), view=view)
        by_assertion: defaultdict[str, list[int]] = defaultdict(list)
        profiles = []
        for index, community in enumerate(communities):
            inner = inner_facts(community, touching)
            for fact in inner:
                for assertion_id in fact.assertion_ids:
                    by_assertion[assertion_id].append(index)
            profiles.append(profile(community, inner, entities))
        spread: Counter[str] = Counter()
        for one in profiles:
            spread.update(one.keys())
        return _World(
            communities=communities,
            facts=dict(touching),
            by_entity={key: tuple(value) for key, value in by_entity.items()},
            by_assertion={key: tuple(value) for key, value in by_assertion.items()},
            profiles=tuple(profiles),
            spread=spread,
            entities=entities,
        )

    def _rank(
        self, world: _World, query: ParsedQuery, *, time: TimeFilter, view: View, deadline: float | None
    ) -> list[tuple[float, int]]:
        """Communities by score: reciprocal ranks of the question's best passages that prove facts inside them, plus the share of the
        question's terms among their names (weighted by rarity), plus a small part for size so that a question without content words gets the largest.
        """
        scores: defaultdict[int, float] = defaultdict(float)
        catalog = self._backends.catalog
        scored = self._backends.lexical.search(
            query.text, view=view, k=_CANDIDATE_PASSAGES, where=PassageFilter(time=time), deadline=deadline
        )
        passages = catalog.passages([one.passage_id for one in scored], view=view)
        ranks: dict[str, int] = {}
        for rank, one in enumerate(scored):
            if one.passage_id in passages:
                ranks.setdefault(passages[one.passage_id].source_id, rank)
        proven = catalog.facts_of_sources(sorted(ranks), view=view)
        for source_id, rank in ranks.items():
            counted = Counter(
                index
                for assertion_id in proven.get(source_id, ())
                for index in world.by_assertion.get(assertion_id, ())
            )
            total = sum(counted.values())
            for index, number in sorted(counted.items()):
                scores[index] += number / total / (10.0 + rank)
        asked = sorted(frozenset(terms(query.text)) - _STOP)
        number = len(world.communities)
        rarity = {term: math.log(1 + number / world.spread[term]) for term in asked if world.spread[term]}
        whole = sum(rarity.values())
        for index, names in enumerate(world.profiles):
            if whole:
                scores[index] += 0.5 * sum(weight for term, weight in rarity.items() if term in names) / whole
            scores[index] += 0.01 * len(world.communities[index].members) / max(1, len(world.by_entity))
        return sorted(
            ((score, index) for index, score in scores.items()),
            key=lambda pair: (-round(pair[0], 12), world.communities[pair[1]].id),
        )

    def _report(
        self, world: _World, index: int, focus: frozenset[str], *, time: TimeFilter, view: View
    ) -> CommunityReport | None:
        """The report, drawn from sources in force; None if no readable source in force proves any of its facts."""
        catalog = self._backends.catalog
        community = world.communities[index]
        facts = [fact for fact in inner_facts(community, world.facts) if time.accepts(fact.validity)]
        if not facts:
            return None
        supports = catalog.supports(sorted({id for fact in facts for id in fact.assertion_ids}), view=view)
        proving: Counter[str] = Counter()
        for fact in facts:
            for assertion_id in fact.assertion_ids:
                inside = [one for one in supports.get(assertion_id, ()) if time.accepts(one.source_validity)]
                proving.update({one.span.source_id for one in inside})
        if not proving:
            return None
        sources = sorted(proving, key=lambda id: (-proving[id], id))[:_SOURCES_PER_REPORT]
        attached = catalog.source_ids_of(community.members, view=view)
        own = {id for member in community.members for id in attached.get(member, ())[:_OWN_SOURCES]}
        read = catalog.passages_of(sorted({*sources, *own}), view=view)
        passages = [one for one in read if time.accepts(one.validity)]
        return report(
            community,
            facts,
            world.entities,
            passages,
            sources[:_FACT_SOURCES],
            focus=focus,
            sentences=self._params.sentences,
        )
