"""Merges what the retrievers returned into one bundle: fuse, check, settle, deduplicate, bound, attach provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphroute.access import access_mark
from graphroute.errors import BackendError
from graphroute.merging.conflicts import FactKey, Verdict, settle
from graphroute.merging.fusion import Fused, fuse
from graphroute.merging.params import MergeParams
from graphroute.merging.supports import Wanted, choose, too_old
from graphroute.stores.catalog.base import Catalog
from graphroute.stores.graph.base import GraphStore
from graphroute.text import fold
from graphroute.types.evidence import Degradation, EvidenceBundle, EvidenceUnit, Omission
from graphroute.types.graph import Entity, Fact, Hop, Path, Support
from graphroute.types.ontology import Ontology
from graphroute.types.query import DateMode, Operation, ParsedQuery, Reading
from graphroute.types.retrieval import Binding, RetrievalResult, ScoreKind
from graphroute.types.retrieval import Verdict as Outcome
from graphroute.types.route import RouteDecision
from graphroute.types.source import Passage, SourceSpan
from graphroute.types.time import Instant, Interval, TimeFilter, TimeMode
from graphroute.types.trace import Attempt
from graphroute.types.view import View

NOTHING = "no readable evidence was found"


def merge(
    query: ParsedQuery,
    decision: RouteDecision,
    results: Sequence[RetrievalResult],
    *,
    attempts: Sequence[Attempt],
    view: View,
    catalog: Catalog,
    graph: GraphStore,
    ontology: Ontology,
    params: MergeParams,
    degraded: Sequence[Degradation],
    instant: Instant,
) -> EvidenceBundle:
    """The bundle of one question, equal to the byte for equal inputs.

    `results`: those of all attempts, earlier attempts first. Paths that answer come first in their own order, then exact look-ups, then the
    rest by fused rank. Everything is read again through `view`: what it does not show is left out, and a fact without readable
    assertion takes its path with it.

    The first attempt that answers, finds a closed-world absence or misses a named slot decides whether the bundle abstains; a later
    one adds context only.
    """
    groups = _groups(results, attempts)
    decided = _decide(groups, query)
    moment = next((result.instant for result in decided.answering if result.instant is not None), instant)
    answering = frozenset(
        number for number, result in enumerate(results) if any(result is one for one in decided.answering)
    )
    authority = {**ontology.source_authority, **params.authority}
    readings = tuple(result.reading for result in decided.answering if result.reading is not None)
    work = _Work(
        query=query,
        view=view,
        catalog=catalog,
        ontology=ontology,
        params=params,
        instant=moment,
        source_time=query.source_time
        if moment == query.instant
        else TimeFilter(TimeMode.OVERLAPS, Interval(moment, moment + 1)),
        readings=readings or query.readings[:1],
    )
    fused = fuse(results, k=params.k, weights=params.weights, answering=answering)
    work.read(fused)
    kept = [one for one in fused if work.admit(one)]
    unsettled: tuple[Degradation, ...] = ()
    verdicts: Mapping[FactKey, Verdict] = {}
    try:
        verdicts = settle(
            (hop.fact for one in kept if one.hit.path for hop in one.hit.path.hops),
            view=view,
            catalog=catalog,
            graph=graph,
            ontology=ontology,
            authority=authority,
            window=work.source_time.interval,
        )
    except BackendError as error:
        # What was found stands; whether other sources contradict it is not known, and that is said.
        unsettled = (Degradation(stage="conflicts", reason=error.message),)
    kept = work.without_beaten(kept, verdicts)
    kept = _ranked(kept, authority)
    kept = work.without_duplicates(kept)
    kept = work.bounded(kept, decision)
    units = work.units(kept, verdicts)
    answers = work.answers(decided.bindings, kept)
    stages_named = {one.stage for one in degraded}
    failed = (
        Degradation(stage=result.retriever, reason=result.reason or "failed")
        for result in results
        if result.verdict is Outcome.FAILED and result.retriever not in stages_named
    )
    trouble = tuple(dict.fromkeys((*degraded, *failed, *unsettled)))
    abstained, reason = decided.abstained, decided.reason
    if not abstained and not units and not answers:
        stages = ", ".join(dict.fromkeys(one.stage for one in trouble))
        abstained, reason = True, f"the search was not complete: {stages} failed" if stages else NOTHING
    anchors = tuple(dict.fromkeys(anchor for result in results for anchor in result.anchors))
    entities = work.entities_of(units, answers, anchors)
    stale = sum(result.stale_paths for result in results)
    truncated = [result for result in results if result.truncated_by]
    return EvidenceBundle(
        question=query.text,
        reader=view.reader.id,
        route=decision.route,
        retrievers=tuple(dict.fromkeys(result.retriever for result in results)),
        snapshot=view.token,
        access=access_mark(view.reader.labels),
        as_of=moment,
        units=units,
        answers=answers if not abstained else (),
        anchors=tuple(anchor for anchor in anchors if anchor in entities),
        entities=entities,
        supports=work.shown_supports(units),
        source_titles=work.titles(units),
        omissions=tuple(dict.fromkeys((*work.omissions, *_cuts(truncated)))),
        degraded=trouble,
        abstained=abstained,
        reason=reason,
        truncated=bool(truncated),
        evidence_truncated=work.cut or any(result.evidence_truncated for result in results),
        fallback=decision.fallback_from is not None or len(groups) > 1,
        flags=work.flags(verdicts, units, results),
        cypher=next((result.cypher for result in (*decided.answering, *results) if result.cypher), None),
        paths_returned=sum(1 for unit in units if unit.path) + stale + work.stale,
        paths_rejected_as_stale=stale + work.stale,
    )


@dataclass(frozen=True, slots=True)
class _Decision:
    answering: tuple[RetrievalResult, ...]
    bindings: tuple[Binding, ...]
    abstained: bool
    reason: str


def _groups(results: Sequence[RetrievalResult], attempts: Sequence[Attempt]) -> list[list[RetrievalResult]]:
    """Results by attempt; those of no attempt form the last group."""
    groups: list[list[RetrievalResult]] = []
    left = list(results)
    for attempt in attempts:
        members = [one for one in left if any(one is held for held in attempt.results)]
        left = [one for one in left if not any(one is held for held in attempt.results)]
        if members:
            groups.append(members)
    if left:
        groups.append(left)
    return groups


def _decide(groups: Sequence[Sequence[RetrievalResult]], query: ParsedQuery) -> _Decision:
    if query.unresolved:
        return _Decision((), (), True, query.unresolved_reason)
    for group in groups:
        answering = tuple(result for result in group if result.verdict is Outcome.ANSWERED)
        if answering:
            bindings = next((result.bindings for result in answering if result.bindings), ())
            return _Decision(answering, bindings, False, "")
        for result in group:
            if result.verdict in (Outcome.ABSENT, Outcome.UNRESOLVED):
                default = "no such fact holds" if result.verdict is Outcome.ABSENT else "a named slot was not found"
                return _Decision((), (), True, result.reason or default)
    return _Decision((), (), False, "")


def _cuts(truncated: Iterable[RetrievalResult]) -> Iterable[Omission]:
    for result in truncated:
        yield Omission(what="further paths", stage=result.retriever, reason=f"cut by {result.truncated_by}")


def _ranked(kept: Sequence[Fused], authority: Mapping[str, float]) -> list[Fused]:
    """Tiers in order, what is contradicted last in each; fused scores times the authority of their source's kind."""

    def weight(one: Fused) -> float:
        kind = one.hit.passage.kind if one.hit.passage else None
        return one.score * (authority.get(kind, 1.0) if kind else 1.0)

    numbered = list(enumerate(kept))
    numbered.sort(
        key=lambda pair: (pair[1].tier, pair[1].weak, -weight(pair[1]) if pair[1].tier == 2 else 0.0, pair[0])
    )
    return [one for _, one in numbered]


def _path_name(path: Path, entities: Mapping[str, Entity]) -> str:
    def name(entity_id: str) -> str:
        return entities[entity_id].name if entity_id in entities else entity_id

    parts = [name(path.start)]
    for hop in path.hops:
        forward = hop.start == hop.fact.subject
        parts.append(f"-{hop.fact.predicate}->" if forward else f"<-{hop.fact.predicate}-")
        parts.append(name(hop.end))
    return " ".join(parts)


@dataclass(slots=True)
class _Work:
    """State of one merge: what was read again through the view, and what was left out so far."""

    query: ParsedQuery
    view: View
    catalog: Catalog
    ontology: Ontology
    params: MergeParams
    instant: Instant
    source_time: TimeFilter
    readings: tuple[Reading, ...]
    supports: Mapping[str, tuple[Support, ...]] = field(default_factory=dict)
    passages: Mapping[str, Passage] = field(default_factory=dict)
    sources: set[str] = field(default_factory=set)
    entities: Mapping[str, Entity] = field(default_factory=dict)
    chosen: dict[str, tuple[Support, ...]] = field(default_factory=dict)
    omissions: list[Omission] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)
    stale: int = 0
    cut: bool = False

    def read(self, fused: Sequence[Fused]) -> None:
        paths = [one.hit.path for one in fused if one.hit.path]
        assertions = sorted({id for path in paths for hop in path.hops for id in hop.fact.assertion_ids})
        self.supports = self.catalog.supports(assertions, view=self.view) if assertions else {}
        nodes = sorted({node for path in paths for node in path.nodes})
        self.entities = self.catalog.entities(nodes, view=self.view) if nodes else {}
        passages = sorted({one.hit.passage.id for one in fused if one.hit.passage})
        self.passages = self.catalog.passages(passages, view=self.view) if passages else {}
        of_reports = sorted({id for one in fused if one.hit.report for id in one.hit.report.source_ids})
        self.sources = set(self.catalog.sources(of_reports, view=self.view)) if of_reports else set()

    def omit(self, what: str, reason: str) -> bool:
        self.omissions.append(Omission(what=what, stage="merging", reason=reason))
        return False

    def admit(self, one: Fused) -> bool:
        """False for what the view does not show, which is not named either, and for what is too old."""
        hit = one.hit
        if hit.path is not None:
            return self._admit_path(one, hit.path)
        if hit.passage is not None:
            passage = self.passages.get(hit.passage.id)
            if passage is None:
                return False
            if not self.source_time.accepts(passage.validity):
                return self.omit(
                    f"passage {passage.id}", "expired: its source was not in force at the time asked about"
                )
            one.hit = replace(hit, passage=passage)
            return True
        assert hit.report is not None
        return bool(hit.report.source_ids) and self.sources.issuperset(hit.report.source_ids)

    def _admit_path(self, one: Fused, path: Path) -> bool:
        hops = []
        for hop in path.hops:
            proven = tuple(id for id in hop.fact.assertion_ids if self.supports.get(id))
            if not proven or hop.fact.subject not in self.entities or hop.fact.object not in self.entities:
                self.dropped.update({path.end, one.hit.binding or path.end})
                return self.omit("a path", "no source for one of its facts")
            hops.append(Hop(replace(hop.fact, assertion_ids=proven), hop.direction))
            relation = self.ontology.relations.get(hop.fact.predicate)
            limit = relation.max_age_days if relation else None
            backing = [support for id in proven for support in self.supports[id]]
            if too_old(backing, max_age_days=limit, instant=self.instant):
                self.stale += 1
                self.dropped.update({path.end, one.hit.binding or path.end})
                name = _path_name(path, self.entities)
                return self.omit(
                    f"path {name}", f"stale: {hop.fact.predicate} rests on sources older than {limit:g} days"
                )
        one.hit = replace(one.hit, path=Path(tuple(hops)))
        return True

    def without_beaten(self, kept: Sequence[Fused], verdicts: Mapping[FactKey, Verdict]) -> list[Fused]:
        """Evidence without paths over facts that lost by precedence; those that lost by age alone are marked weak."""
        standing = []
        for one in kept:
            path = one.hit.path
            found = [verdicts[hop.fact.key] for hop in path.hops if hop.fact.key in verdicts] if path else []
            if path is not None and any(verdict.decisive for verdict in found):
                self.omit(f"path {_path_name(path, self.entities)}", "superseded by precedence")
                self.dropped.update({path.end, one.hit.binding or path.end})
                continue
            one.weak = any(verdict.beaten_by is not None for verdict in found)
            standing.append(one)
        return standing

    def without_duplicates(self, kept: Sequence[Fused]) -> list[Fused]:
        """One passage for each text: the first stays, the others are named."""
        seen: dict[tuple[str, str], str] = {}
        unique = []
        for one in kept:
            passage = one.hit.passage
            if passage is not None:
                key = (fold(passage.title), fold(passage.text))
                if key in seen:
                    self.omit(f"passage {passage.id} of {passage.source_id}", f"duplicate of {seen[key]}")
                    continue
                seen[key] = passage.id
            unique.append(one)
        return unique

    def bounded(self, kept: Sequence[Fused], decision: RouteDecision) -> list[Fused]:
        """Evidence within max_paths, max_source_spans and the share of one source."""
        limit = decision.limits.max_source_spans
        if self.params.max_source_spans is not None:
            limit = min(limit, self.params.max_source_spans)
        per_source = max(1, int(limit * self.params.max_source_share))
        per_lone = max(1, int(decision.limits.max_paths * self.params.max_path_share))
        spans: set[SourceSpan] = set()
        used: dict[str, int] = {}
        lone: dict[str, int] = {}
        paths = context = 0
        within = []
        cut_paths = cut_spans = 0
        answered = any(one.tier == 0 for one in kept)
        for one in kept:
            needed = self._spans(one)
            path, passage = one.hit.path, one.hit.passage
            if path is not None:
                if paths >= decision.limits.max_paths:
                    cut_paths += 1
                    continue
                sources = {span.source_id for span in needed}
                if self.params.max_path_share < 1.0 and len(sources) == 1:
                    source = next(iter(sources))
                    if lone.get(source, 0) >= per_lone:
                        self.omit(f"path {_path_name(path, self.entities)}", "share of one source reached")
                        continue
                    lone[source] = lone.get(source, 0) + 1
            if len(spans | needed) > limit:
                cut_spans += 1
                continue
            if passage is not None and answered and one.tier == 2:
                # Beside a proven answer passages are context: more of them only cost tokens.
                if context >= self.params.context_passages:
                    continue
                context += 1
            if passage is not None:
                if used.get(passage.source_id, 0) >= per_source:
                    self.omit(f"passage {passage.id}", "share of one source reached")
                    continue
                used[passage.source_id] = used.get(passage.source_id, 0) + 1
            spans |= needed
            paths += path is not None
            within.append(one)
        if cut_paths:
            self.omit(f"{cut_paths} paths", "truncated by max_paths")
        if cut_spans:
            self.omit(f"{cut_spans} pieces of evidence", "truncated by max_source_spans")
        self.cut = bool(cut_paths or cut_spans)
        return within

    def _spans(self, one: Fused) -> set[SourceSpan]:
        hit = one.hit
        if hit.path is not None:
            return {
                support.span
                for hop in hit.path.hops
                for id in hop.fact.assertion_ids
                for support in self._support(hop.fact, id)
            }
        if hit.passage is not None:
            return {SourceSpan(hit.passage.source_id, hit.passage.start, hit.passage.end)}
        assert hit.report is not None
        return {SourceSpan(hit.report.id)}

    def _support(self, fact: Fact, assertion_id: str) -> tuple[Support, ...]:
        if assertion_id not in self.chosen:
            if fact.assertion_ids.index(assertion_id) >= self.params.max_supports:
                self.chosen[assertion_id] = ()
            else:
                self.chosen[assertion_id] = choose(
                    self.supports[assertion_id],
                    validity=fact.validity,
                    instant=self.instant,
                    wanted=self._wanted(fact.predicate),
                )
        return self.chosen[assertion_id]

    def _wanted(self, predicate: str) -> Wanted:
        """EARLIEST where the question asks for, or by, the start of the relation; else NEWEST."""
        for reading in self.readings:
            if reading.operation is Operation.DATE:
                return Wanted.EARLIEST
            for hop in (hop for branch in reading.branches for hop in branch.hops):
                if hop.predicate == predicate and TimeMode.STARTS_IN in (hop.time.mode, reading.time.mode):
                    return Wanted.EARLIEST
        started = any(date.mode is DateMode.STARTED for date in self.query.dates)
        return Wanted.EARLIEST if started and not self.readings else Wanted.NEWEST

    def units(self, kept: Sequence[Fused], verdicts: Mapping[FactKey, Verdict]) -> tuple[EvidenceUnit, ...]:
        units = []
        for rank, one in enumerate(kept, start=1):
            hit = one.hit
            found = [verdicts[hop.fact.key] for hop in hit.path.hops if hop.fact.key in verdicts] if hit.path else []
            notes = [hit.note] if hit.note else []
            rivals = sorted({rival for verdict in found for rival in verdict.rivals})
            if rivals:
                notes.append(f"other sources say {', '.join(rivals)}")
            fused = one.tier == 2
            units.append(
                EvidenceUnit(
                    id=f"U{rank}",
                    rank=rank,
                    retrievers=tuple(one.retrievers),
                    score=one.score if fused else hit.score,
                    score_kind=ScoreKind.RRF if fused else hit.kind,
                    passage=hit.passage,
                    path=hit.path,
                    report=hit.report,
                    binding=hit.binding,
                    conflict=bool(found),
                    note="; ".join(notes) or None,
                )
            )
        return tuple(units)

    def answers(self, bindings: Sequence[Binding], kept: Sequence[Fused]) -> tuple[Binding, ...]:
        """Bindings that the view shows, without those that only dropped paths led to."""
        standing = {hit.binding or hit.path.end for hit in (one.hit for one in kept) if hit.path}
        gone = self.dropped - standing
        ids = sorted({one.id for one in bindings if one.id is not None})
        shown = self.catalog.entities(ids, view=self.view) if ids else {}
        return tuple(
            one
            for one in bindings
            if one.id is None or (one.id in shown and one.id not in gone and one.display not in gone)
        )

    def entities_of(
        self, units: Sequence[EvidenceUnit], answers: Sequence[Binding], anchors: Sequence[str]
    ) -> dict[str, Entity]:
        ids: dict[str, None] = {}
        for unit in units:
            if unit.path:
                ids.update(dict.fromkeys(unit.path.nodes))
        ids.update(dict.fromkeys(one.id for one in answers if one.id is not None))
        ids.update(dict.fromkeys(anchors))
        missing = sorted(id for id in ids if id not in self.entities)
        known = {**self.entities, **(self.catalog.entities(missing, view=self.view) if missing else {})}
        return {id: known[id] for id in sorted(ids) if id in known}

    def shown_supports(self, units: Sequence[EvidenceUnit]) -> dict[str, tuple[Support, ...]]:
        ids = {id for unit in units if unit.path for hop in unit.path.hops for id in hop.fact.assertion_ids}
        return {id: self.chosen[id] for id in sorted(ids)}

    def titles(self, units: Sequence[EvidenceUnit]) -> dict[str, str]:
        titles = {unit.passage.source_id: unit.passage.title for unit in units if unit.passage}
        wanted = {
            support.span.source_id
            for unit in units
            if unit.path
            for hop in unit.path.hops
            for id in hop.fact.assertion_ids
            for support in self.chosen[id]
        }
        wanted |= {source_id for unit in units if unit.report for source_id in unit.report.source_ids}
        missing = sorted(wanted - titles.keys())
        if missing:
            titles |= {id: source.title for id, source in self.catalog.sources(missing, view=self.view).items()}
        return dict(sorted(titles.items()))

    def flags(
        self,
        verdicts: Mapping[FactKey, Verdict],
        units: Sequence[EvidenceUnit],
        results: Iterable[RetrievalResult],
    ) -> tuple[str, ...]:
        flags = {flag for result in results for flag in result.flags}
        low, high = self.catalog.data_span(view=self.view)
        if (low is not None and self.instant < low) or (high is not None and self.instant > high and self.query.moved):
            flags.add("as_of_out_of_range")
        if any(unit.conflict for unit in units) or any(verdict.decisive for verdict in verdicts.values()):
            flags.add("conflict")
        if any(mention.ambiguous and mention.strong for mention in (*self.query.identifiers, *self.query.mentions)):
            flags.add("ambiguous")
        if self.stale:
            flags.add("stale_paths")
        return tuple(sorted(flags))
