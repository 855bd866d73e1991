"""Local graph: bounded paths from the question's anchors, and exact counts, lists and comparisons over facts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict, Field

from graphroute.retrieval.base import Backends
from graphroute.retrieval.plan import before_now, cypher_of, describe, pattern_of
from graphroute.stores.graph.base import HARD_MAX_PATHS
from graphroute.stores.neo4j.printing import ReplicatedSchema
from graphroute.stores.printing import Printable, Statement
from graphroute.types.graph import Attribute, Direction, Fact, Hop, Path, PathPattern, TopEnds
from graphroute.types.ontology import RelationKind
from graphroute.types.query import Branch, DateMode, HopReading, Operation, ParsedQuery, Reading
from graphroute.types.retrieval import Binding, Hit, RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import Limits
from graphroute.types.source import Passage
from graphroute.types.time import Instant, Interval, TimeFilter, TimeMode, format_instant
from graphroute.types.view import View

_DAY = 86_400_000_000
_COMPARED = (Operation.FIRST, Operation.LAST, Operation.MOST, Operation.LEAST, Operation.COMPARE)
"""Operations that pick among the values of an attribute."""


class Params(BaseModel):
    """`next_reading_within`: a reading that finds nothing is followed by the next one within this cost of the best.

    `after_absence`: the same once a closed-world reading was empty. `confident_cost`: an empty reading that costs more proves no absence.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    next_reading_within: float = Field(default=0.55, ge=0, le=5)
    after_absence: float = Field(default=0.1, ge=0, le=5)
    confident_cost: float = Field(default=0.95, ge=0, le=5)


@dataclass(slots=True)
class _Outcome:
    """What a reading found. `expired`: it held once; `unknown`: the facts cannot tell, so nothing is proved absent. `reading`: as it was
    run, with the instant of its event clause in its hops."""

    bindings: tuple[Binding, ...]
    hits: tuple[Hit, ...]
    anchors: tuple[str, ...]
    truncated_by: str | None = None
    evidence_truncated: bool = False
    stale: int = 0
    instant: Instant | None = None
    reason: str = ""
    expired: bool = False
    unknown: bool = False
    reading: Reading | None = None


class LocalGraph:
    """Runs the readings of a question over the graph store, best first, until one finds something."""

    name = "local_graph"

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
        """Paths and bindings. ABSENT only if everything resolved and the relations are closed-world, or the answer held once and expired.

        Facts without the date that the question turns on prove nothing: EMPTY. `truncated_by` is set where bindings had to be read off
        paths (stale sources, ranges of time, orders) and there were more than the store gives; they are then a lower bound.
        """
        began = time.perf_counter()
        fitting = [
            reading
            for reading in query.readings
            if all(len(branch.hops) <= limits.max_hops for branch in reading.branches)
        ]
        if not fitting:
            verdict = Verdict.UNRESOLVED if query.unresolved else Verdict.NOT_APPLICABLE
            reason = (
                query.unresolved_reason
                if query.unresolved
                else "the question names no path within max_hops"
                if query.readings
                else "no relation of the ontology restricts the result"
            )
            return RetrievalResult(
                retriever=self.name, verdict=verdict, reason=reason, seconds=time.perf_counter() - began
            )
        best = fitting[0]
        first: tuple[Reading, _Outcome] | None = None
        for reading in fitting:
            if reading.cost > best.cost + self._margin(reading, first):
                break
            outcome = self._run(reading, query, view=view, limits=limits, deadline=deadline)
            if outcome.bindings:
                return self._result(reading, outcome, Verdict.ANSWERED, limits, began, view=view)
            if first is None:
                first = (reading, outcome)
        assert first is not None
        reading, outcome = first
        verdict = self._empty_verdict(reading, outcome)
        return self._result(reading, outcome, verdict, limits, began, view=view)

    def _margin(self, reading: Reading, first: tuple[Reading, _Outcome] | None) -> float:
        """How much dearer the next reading may be: hardly, once a reading of the same question has proved an absence."""
        if first is None or self._empty_verdict(*first) is not Verdict.ABSENT or _same_relations(reading, first[0]):
            return self._params.next_reading_within
        return self._params.after_absence

    def _result(
        self, reading: Reading, outcome: _Outcome, verdict: Verdict, limits: Limits, began: float, *, view: View
    ) -> RetrievalResult:
        statement = self._statement(outcome.reading or reading, view=view, limits=limits)
        return RetrievalResult(
            retriever=self.name,
            verdict=verdict,
            hits=outcome.hits,
            bindings=outcome.bindings,
            reading=reading,
            anchors=outcome.anchors,
            plan=describe(reading),
            cypher=statement.text,
            cypher_parameters=statement.setting,
            truncated_by=outcome.truncated_by,
            evidence_truncated=outcome.evidence_truncated,
            instant=outcome.instant,
            stale_paths=outcome.stale,
            stale_reason="supporting source older than its maximum age" if outcome.stale else None,
            reason=outcome.reason,
            seconds=time.perf_counter() - began,
        )

    def _statement(self, reading: Reading, *, view: View, limits: Limits) -> Statement:
        """What to run on the server for the same paths, in the schema of the store: the graph's own, or that of a copy on Neo4j."""
        graph = self._backends.graph
        schema = graph.plan_schema(view=view) if isinstance(graph, Printable) else ReplicatedSchema()
        return cypher_of(reading, schema, ontology=self._backends.ontology, limit=limits.max_paths)

    def _empty_verdict(self, reading: Reading, outcome: _Outcome) -> Verdict:
        if reading.cost > self._params.confident_cost or outcome.unknown:
            return Verdict.EMPTY
        if outcome.expired or outcome.stale:
            return Verdict.ABSENT
        if reading.attribute is not None and not any(branch.hops for branch in reading.branches):
            return Verdict.ABSENT
        relations = [
            self._backends.ontology.relations.get(hop.predicate) for branch in reading.branches for hop in branch.hops
        ]
        if relations and all(relation is not None and relation.complete for relation in relations):
            return Verdict.ABSENT
        return Verdict.EMPTY

    # One reading

    def _run(
        self, reading: Reading, query: ParsedQuery, *, view: View, limits: Limits, deadline: float | None
    ) -> _Outcome:
        event_hits: tuple[Hit, ...] = ()
        instant: Instant | None = None
        if reading.event is not None:
            resolved = self._event_instant(reading, view=view, deadline=deadline)
            if resolved is None:
                reason = f"no date for {reading.event.cue.text!r}"
                return _Outcome((), (), reading.event.anchors, reason=reason, unknown=True)
            instant, event_hits = resolved
            reading = _moved(reading, reading.event.mode, instant, self._kinds())
        if reading.attribute is not None:
            outcome = self._attributes(reading, query, view=view, deadline=deadline)
        elif reading.operation in (Operation.MOST, Operation.LEAST):
            outcome = self._extreme(reading, query, view=view, limits=limits, deadline=deadline)
        else:
            outcome = self._join(reading, query, view=view, limits=limits, deadline=deadline)
        outcome.instant = instant
        outcome.reading = reading
        if outcome.bindings:
            outcome.anchors = (*outcome.anchors, *self._given(reading, view=view, deadline=deadline))
        outcome.hits = (*event_hits, *outcome.hits) if outcome.bindings else outcome.hits
        return outcome

    def _given(self, reading: Reading, *, view: View, deadline: float | None) -> tuple[str, ...]:
        """What a described record names itself: the ticket gives the clusters it touched."""
        found: set[str] = set()
        for branch, pattern in self._patterns(reading, view=view):
            described = branch.mention is not None and branch.mention.rule.startswith("description")
            if described and len(pattern.hops) > 1:
                first = replace(pattern, hops=pattern.hops[:1])
                found |= set(self._backends.graph.reach(first, view=view, deadline=deadline))
        return tuple(sorted(found))

    def _starts(self, branch: Branch, *, view: View) -> tuple[str, ...]:
        if branch.anchors:
            return branch.anchors
        if branch.start_filters:
            return self._backends.catalog.entities_where(branch.start_types, branch.start_filters, view=view)
        return self._backends.graph.entities_of_type(branch.start_types, view=view)

    def _patterns(self, reading: Reading, *, view: View) -> list[tuple[Branch, PathPattern]]:
        found = []
        for branch in reading.branches:
            if not branch.hops:
                continue
            pattern = pattern_of(
                branch,
                self._starts(branch, view=view),
                ontology=self._backends.ontology,
                final_filters=reading.filters,
                limit=HARD_MAX_PATHS,
            )
            found.append((branch, pattern))
        return found

    def _join(
        self,
        reading: Reading,
        query: ParsedQuery,
        *,
        view: View,
        limits: Limits,
        deadline: float | None,
    ) -> _Outcome:
        graph = self._backends.graph
        anchors = tuple(dict.fromkeys(a for branch in reading.branches for a in branch.anchors))
        patterns = self._patterns(reading, view=view)
        if not patterns:
            branch = reading.branches[0]
            if reading.operation is Operation.COUNT:
                number = self._backends.catalog.count_where(branch.start_types, reading.filters, view=view)
                return _counted(number, (), anchors)
            ids = self._backends.catalog.entities_where(branch.start_types, reading.filters, view=view)
            return self._answer(reading, ids, (), anchors, view=view)
        exact = self._needs_paths(reading, patterns)
        if reading.operation is Operation.COUNT and not exact:
            return self._count(reading, patterns, anchors, view=view, limits=limits, deadline=deadline)
        paths_by_branch: list[tuple[Path, ...]] = []
        sets: list[set[str]] = []
        stale = 0
        truncated: str | None = None
        for _, pattern in patterns:
            if exact:
                kept, old, limit = self._valid_paths(pattern, query, view=view, deadline=deadline)
                stale += old
                truncated = truncated or limit
                paths_by_branch.append(kept)
                sets.append({path.end for path in kept})
            else:
                sets.append(set(graph.reach(pattern, view=view, deadline=deadline)))
        ends = _combined(sets, reading)
        bindings = tuple(sorted(ends))
        if not bindings:
            expired = not stale and self._expired(patterns, reading, view=view, deadline=deadline)
            reason = "every path rests on a source past its maximum age" if stale else "no valid readable fact"
            if expired:
                reason = "no fact in force at the instant asked about"
            return _Outcome(
                (), (), anchors, truncated, stale=stale, reason=reason, expired=expired, unknown=truncated is not None
            )
        if not exact:
            paths_by_branch = self._paths_to(bindings, patterns, view=view, deadline=deadline)
        chosen_ends = bindings
        if reading.operation in (Operation.FIRST, Operation.LAST) and reading.attribute is None:
            chosen_ends, paths_by_branch = _extreme_by_time(reading.operation, paths_by_branch)
            if not chosen_ends:
                return _Outcome((), (), anchors, truncated, stale=stale, reason="no date is known", unknown=True)
        hits, cut = _choose(paths_by_branch, chosen_ends, limits.max_paths, joined=reading.combine == "all")
        if reading.operation is Operation.DATE:
            outcome = self._dates(paths_by_branch, hits, anchors)
        else:
            outcome = self._answer(reading, chosen_ends, hits, anchors, view=view)
        outcome.stale = stale
        outcome.truncated_by = truncated
        outcome.evidence_truncated = cut
        return outcome

    def _count(
        self,
        reading: Reading,
        patterns: Sequence[tuple[Branch, PathPattern]],
        anchors: tuple[str, ...],
        *,
        view: View,
        limits: Limits,
        deadline: float | None,
    ) -> _Outcome:
        """The store counts; its evidence is read for no more of the entities counted than there may be paths."""
        found = self._backends.graph.count_ends(
            [pattern for _, pattern in patterns],
            united=reading.combine != "all",
            first=limits.max_paths,
            view=view,
            deadline=deadline,
        )
        if not found.number:
            expired = self._expired(patterns, reading, view=view, deadline=deadline)
            reason = "no fact in force at the instant asked about" if expired else "no valid readable fact"
            return _Outcome((), (), anchors, reason=reason, expired=expired)
        paths = self._paths_to(found.first, patterns, view=view, deadline=deadline)
        hits, cut = _choose(paths, found.first, limits.max_paths, joined=reading.combine == "all")
        outcome = _counted(found.number, hits, anchors)
        outcome.evidence_truncated = cut or found.number > len(found.first)
        return outcome

    def _paths_to(
        self,
        ends: tuple[str, ...],
        patterns: Sequence[tuple[Branch, PathPattern]],
        *,
        view: View,
        deadline: float | None,
    ) -> list[tuple[Path, ...]]:
        """For each branch the paths to some of the entities that it reaches."""
        paths = []
        for _, pattern in patterns:
            last = replace(pattern.hops[-1], ends=ends)
            narrowed = replace(pattern, hops=(*pattern.hops[:-1], last))
            found = self._backends.graph.paths(narrowed, view=view, deadline=deadline)
            paths.append(tuple(p for p in found.paths if _share_instant(p, self._kinds())))
        return paths

    def _needs_paths(self, reading: Reading, patterns: Sequence[tuple[Branch, PathPattern]]) -> bool:
        """Bindings need whole paths where facts may be stale, must be ordered, or must share an instant inside a range."""
        if reading.operation in (Operation.FIRST, Operation.LAST, Operation.DATE):
            return True
        for branch, pattern in patterns:
            if self._ages(hop.predicate for hop in branch.hops):
                return True
            wide = any(
                hop.time.mode is not TimeMode.ANY and hop.time.interval.high - hop.time.interval.low > _DAY
                for hop in pattern.hops
            )
            if len(pattern.hops) > 1 and wide:
                return True
        return False

    def _ages(self, predicates: Iterable[str]) -> bool:
        relations = (self._backends.ontology.relations.get(predicate) for predicate in predicates)
        return any(relation is not None and relation.max_age_days is not None for relation in relations)

    def _kinds(self) -> Mapping[str, RelationKind]:
        return {name: relation.kind for name, relation in self._backends.ontology.relations.items()}

    def _fresh(self, paths: tuple[Path, ...], query: ParsedQuery, *, view: View) -> tuple[tuple[Path, ...], int]:
        """Paths whose every fact has a readable support younger than its relation's maximum age, and how many have not."""
        ages = {
            name: relation.max_age_days
            for name, relation in self._backends.ontology.relations.items()
            if relation.max_age_days is not None
        }
        aged: dict[str, float] = {}
        for path in paths:
            for hop in path.hops:
                limit = ages.get(hop.fact.predicate)
                if limit is not None:
                    for assertion_id in hop.fact.assertion_ids:
                        aged[assertion_id] = limit
        if not aged:
            return paths, 0
        supports = self._backends.catalog.supports(sorted(aged), view=view)

        def fresh(fact: Fact) -> bool:
            limit = ages.get(fact.predicate)
            if limit is None:
                return True
            for assertion_id in fact.assertion_ids:
                for support in supports.get(assertion_id, ()):
                    dated = support.source_timestamp or support.source_validity.start
                    if dated is None or query.instant - dated <= limit * _DAY:
                        return True
            return False

        kept = tuple(path for path in paths if all(fresh(hop.fact) for hop in path.hops))
        return kept, len(paths) - len(kept)

    def _valid_paths(
        self, pattern: PathPattern, query: ParsedQuery, *, view: View, deadline: float | None
    ) -> tuple[tuple[Path, ...], int, str | None]:
        """Fresh paths whose states share an instant, how many are stale, and what cut them if the store had more."""
        found = self._backends.graph.paths(pattern, view=view, deadline=deadline)
        kept, stale = self._fresh(found.paths, query, view=view)
        shared = tuple(path for path in kept if _share_instant(path, self._kinds()))
        return shared, stale, "hard path limit" if found.truncated else None

    def _expired(
        self,
        patterns: Sequence[tuple[Branch, PathPattern]],
        reading: Reading,
        *,
        view: View,
        deadline: float | None,
    ) -> bool:
        """The question had an answer at some instant before the one asked about: all branches met, each by facts that shared an instant."""
        if all(hop.time.mode is TimeMode.ANY for _, pattern in patterns for hop in pattern.hops):
            return False
        sets = []
        for _, pattern in patterns:
            earlier = before_now(pattern)
            if len(pattern.hops) == 1:
                sets.append(set(self._backends.graph.reach(earlier, view=view, deadline=deadline)))
                continue
            found = self._backends.graph.paths(earlier, view=view, deadline=deadline)
            sets.append({path.end for path in found.paths if _share_instant(path, self._kinds())})
        return bool(_combined(sets, reading))

    def _answer(
        self, reading: Reading, ends: Iterable[str], hits: tuple[Hit, ...], anchors: tuple[str, ...], *, view: View
    ) -> _Outcome:
        ids = tuple(ends)
        if reading.operation is Operation.COUNT:
            return _counted(len(ids), hits, anchors)
        if reading.operation is Operation.EXISTS:
            return _Outcome((Binding(id=None, display="yes"),), hits, anchors, reason="a path exists")
        names = self._backends.catalog.entities(ids, view=view)
        bindings = tuple(Binding(id=i, display=names[i].name if i in names else i) for i in ids)
        return _Outcome(bindings, hits, anchors, reason=f"{len(ids)} bindings")

    def _dates(self, paths: Sequence[tuple[Path, ...]], hits: tuple[Hit, ...], anchors: tuple[str, ...]) -> _Outcome:
        starts = sorted(
            {
                path.hops[-1].fact.validity.start
                for group in paths
                for path in group
                if path.hops[-1].fact.validity.start is not None
            }
        )
        bindings = tuple(Binding(id=None, display=format_instant(start) or "") for start in starts)
        if not bindings:
            return _Outcome((), (), anchors, reason="no date is known", unknown=True)
        return _Outcome(bindings, hits, anchors, reason="dates of the facts")

    def _extreme(
        self,
        reading: Reading,
        query: ParsedQuery,
        *,
        view: View,
        limits: Limits,
        deadline: float | None,
    ) -> _Outcome:
        """Group and count: for each value of the slot the distinct entities one hop before it on a valid path."""
        graph = self._backends.graph
        anchors = tuple(dict.fromkeys(a for branch in reading.branches for a in branch.anchors))
        patterns = self._patterns(reading, view=view)
        if not patterns:
            return _Outcome((), (), anchors, reason="nothing to count")
        _, pattern = patterns[0]
        stale = 0
        truncated: str | None = None
        most = reading.operation is Operation.MOST
        if self._needs_paths(reading, patterns[:1]):
            kept, stale, truncated = self._valid_paths(pattern, query, view=view, deadline=deadline)
            pairs = ((path.nodes[-2], path.end) for path in kept)
            top = TopEnds.of(pairs, most=most, places=reading.places)
        elif reading.places > 1:
            top = self._leading(pattern, reading, view=view, deadline=deadline)
        else:
            top = graph.top_ends(pattern, most=most, view=view, deadline=deadline)
        winners = top.ends
        if not winners:
            reason = "every path rests on a source past its maximum age" if stale else "nothing to count"
            return _Outcome((), (), anchors, truncated, stale=stale, reason=reason, unknown=truncated is not None)
        narrowed = replace(pattern, hops=(*pattern.hops[:-1], replace(pattern.hops[-1], ends=winners)))
        shown, _, _ = self._valid_paths(narrowed, query, view=view, deadline=deadline)
        hits, cut = _choose([shown], winners, limits.max_paths, joined=False)
        outcome = self._answer(reading, winners, hits, anchors, view=view)
        outcome.stale = stale
        outcome.truncated_by = truncated
        least = ("at least " if most else "at most ") if reading.places > 1 else ""
        outcome.reason = f"{least}{top.size} each of {top.groups} candidates"
        outcome.evidence_truncated = cut
        return outcome

    def _leading(self, pattern: PathPattern, reading: Reading, *, view: View, deadline: float | None) -> TopEnds:
        """The first places of all groups, counted over every pair that the last hop joins."""
        graph = self._backends.graph
        before = pattern.starts
        if len(pattern.hops) > 1:
            before = graph.reach(replace(pattern, hops=pattern.hops[:-1]), view=view, deadline=deadline)
        if not before:
            return TopEnds()
        last = replace(pattern, starts=before, hops=pattern.hops[-1:])
        reached = graph.reach_from(last, view=view, deadline=deadline)
        pairs = ((start, end) for start, ends in reached for end in ends)
        return TopEnds.of(pairs, most=reading.operation is Operation.MOST, places=reading.places)

    # Attributes

    def _attributes(self, reading: Reading, query: ParsedQuery, *, view: View, deadline: float | None) -> _Outcome:
        assert reading.attribute is not None
        holders = tuple(dict.fromkeys(a for branch in reading.branches for a in branch.anchors))
        ids = holders
        if reading.operation in _COMPARED and not holders and not any(branch.hops for branch in reading.branches):
            return self._compare_all(reading, query, view=view)
        if any(branch.hops for branch in reading.branches):
            found: set[str] = set()
            for _, pattern in self._patterns(reading, view=view):
                found |= set(self._backends.graph.reach(pattern, view=view, deadline=deadline))
            ids = tuple(sorted(found))
        attributes = self._in_force(
            self._backends.catalog.attributes(ids, (reading.attribute,), view=view), query.instant
        )
        if not attributes:
            return _Outcome((), (), holders, reason=f"no readable {reading.attribute}")
        if reading.operation in _COMPARED:
            return self._compare(reading, attributes, ids, holders, view=view)
        shown = self._value_hits(attributes, view=view)
        values = tuple(dict.fromkeys(attribute.value for attribute in attributes))
        return _Outcome(
            tuple(Binding(id=None, display=value) for value in values), shown, holders, reason=reading.attribute
        )

    def _compare_all(self, reading: Reading, query: ParsedQuery, *, view: View) -> _Outcome:
        """All entities of a type that have the attribute."""
        assert reading.attribute is not None
        (branch,) = reading.branches
        ids = self._backends.catalog.entities_where(branch.start_types, branch.start_filters, view=view)
        found = self._backends.catalog.attributes(ids, (reading.attribute,), view=view)
        known = [a for a in self._in_force(found, query.instant) if a.instant is not None or a.number is not None]
        if not known:
            return _Outcome((), (), (), reason=f"no readable {reading.attribute}")
        outcome = self._compare(reading, known, tuple({a.entity_id for a in known}), (), view=view)
        won = {binding.id for binding in outcome.bindings}
        outcome.hits = self._value_hits([a for a in known if a.entity_id in won], view=view)
        return outcome

    def _in_force(self, attributes: Sequence[Attribute], instant: Instant) -> tuple[Attribute, ...]:
        """Per entity and key the values of the newest source in force at the instant, else of the newest before it."""
        groups: dict[tuple[str, str], list[Attribute]] = {}
        for attribute in attributes:
            groups.setdefault((attribute.entity_id, attribute.key), []).append(attribute)
        kept: list[Attribute] = []
        for key in sorted(groups):
            current = [a for a in groups[key] if a.validity.contains(instant)]
            if not current:
                continue
            newest = max((a.validity.low, a.span.source_id) for a in current)
            kept.extend(a for a in current if (a.validity.low, a.span.source_id) == newest)
        return tuple(kept)

    def _compare(
        self,
        reading: Reading,
        attributes: Sequence[Attribute],
        compared: tuple[str, ...],
        anchors: tuple[str, ...],
        *,
        view: View,
    ) -> _Outcome:
        """The entities with the smallest value for FIRST and LEAST, the largest for LAST, MOST and COMPARE; every value must be known."""

        def measure(attribute: Attribute) -> float | None:
            return attribute.instant if attribute.instant is not None else attribute.number

        values = {a.entity_id: value for a in attributes if (value := measure(a)) is not None}
        if set(values) != set(compared):
            return _Outcome((), (), anchors, reason=f"{reading.attribute} is not known of all")
        smallest = reading.operation in (Operation.FIRST, Operation.LEAST)
        pick = min(values.values()) if smallest else max(values.values())
        winners = tuple(sorted(entity for entity, value in values.items() if value == pick))
        names = self._backends.catalog.entities(winners, view=view)
        bindings = tuple(Binding(id=i, display=names[i].name if i in names else i) for i in winners)
        return _Outcome(bindings, self._value_hits(attributes, view=view), anchors, reason=f"by {reading.attribute}")

    def _value_hits(self, attributes: Sequence[Attribute], *, view: View) -> tuple[Hit, ...]:
        """The passages that state the values, in the order of the entities."""
        sources = tuple(dict.fromkeys(attribute.span.source_id for attribute in attributes))
        passages: dict[str, list[Passage]] = {}
        for passage in self._backends.catalog.passages_of(sources, view=view):
            passages.setdefault(passage.source_id, []).append(passage)
        hits = []
        seen: set[str] = set()
        for attribute in attributes:
            for passage in passages.get(attribute.span.source_id, ()):
                start = attribute.span.start
                if start is not None and not passage.start <= start < max(passage.end, passage.start + 1):
                    continue
                if passage.id not in seen:
                    seen.add(passage.id)
                    hits.append(
                        Hit(
                            score=1.0,
                            kind=ScoreKind.EXACT,
                            passage=passage,
                            binding=attribute.entity_id,
                            note=f"{attribute.key}: {attribute.value}",
                        )
                    )
                break
        return tuple(hits)

    # Event clauses

    def _event_instant(
        self, reading: Reading, *, view: View, deadline: float | None
    ) -> tuple[Instant, tuple[Hit, ...]] | None:
        assert reading.event is not None
        event = reading.event
        facts = self._backends.graph.facts(event.anchors, event.predicates, view=view) if event.predicates else ()
        dated = [fact for fact in facts if fact.validity.start is not None]
        if dated:
            fact = min(dated, key=lambda f: (f.validity.low, f.key))
            direction = Direction.FORWARD if fact.subject in event.anchors else Direction.BACKWARD
            hit = Hit(score=1.0, kind=ScoreKind.PATH, path=Path((Hop(fact, direction),)), note="sets the instant")
            return fact.validity.low, (hit,)
        if event.attributes:
            attributes = self._backends.catalog.attributes(event.anchors, event.attributes, view=view)
            moments = [a for a in attributes if a.instant is not None]
            if moments:
                first = min(moments, key=lambda a: (a.instant or 0, a.span.source_id))
                assert first.instant is not None
                return first.instant, self._value_hits([first], view=view)
        return None


def _counted(number: int, hits: tuple[Hit, ...], anchors: tuple[str, ...]) -> _Outcome:
    if not number:
        return _Outcome((), (), anchors, reason="nothing to count")
    return _Outcome((Binding(id=None, display=str(number)),), hits, anchors, reason=f"{number} counted")


def _same_relations(one: Reading, other: Reading) -> bool:
    return {h.predicate for b in one.branches for h in b.hops} == {h.predicate for b in other.branches for h in b.hops}


def _combined(sets: Sequence[set[str]], reading: Reading) -> set[str]:
    return set.intersection(*sets) if reading.combine == "all" else set.union(*sets)


def _moved(reading: Reading, mode: DateMode, instant: Instant, kinds: Mapping[str, RelationKind]) -> Reading:
    """The reading with every hop tested against the instant of its event clause (semantics: Time).

    At it, facts in force. Before or after it, events that start there and states that overlap; a state whose cue asks for its start or
    end keeps that test.
    """

    def test(hop: HopReading) -> TimeFilter:
        if mode not in (DateMode.AFTER, DateMode.BEFORE):
            return TimeFilter(TimeMode.OVERLAPS, Interval(instant, instant + 1))
        span = Interval(instant, None) if mode is DateMode.AFTER else Interval(None, instant)
        if kinds.get(hop.predicate) is RelationKind.EVENT:
            return TimeFilter(TimeMode.STARTS_IN, span)
        return TimeFilter(TimeMode.OVERLAPS if hop.time.mode is TimeMode.ANY else hop.time.mode, span)

    branches = tuple(
        replace(branch, hops=tuple(replace(hop, time=test(hop)) for hop in branch.hops)) for branch in reading.branches
    )
    return replace(reading, branches=branches)


def _share_instant(path: Path, kinds: Mapping[str, RelationKind]) -> bool:
    """A path of states answers only if all its facts hold at one moment (semantics: Time); events are exempt."""
    shared: Interval | None = Interval()
    for hop in path.hops:
        if kinds.get(hop.fact.predicate) is RelationKind.EVENT:
            continue
        assert shared is not None
        shared = shared.intersection(hop.fact.validity)
        if shared is None:
            return False
    return True


def _extreme_by_time(
    operation: Operation, paths: list[tuple[Path, ...]]
) -> tuple[tuple[str, ...], list[tuple[Path, ...]]]:
    """The entities whose last fact started first (or last), and their paths; none if no fact is dated."""
    starts: dict[str, int] = {}
    for group in paths:
        for path in group:
            start = path.hops[-1].fact.validity.start
            if start is None:
                continue
            known = starts.get(path.end)
            better = known is None or (start < known if operation is Operation.FIRST else start > known)
            if better:
                starts[path.end] = start
    if not starts:
        return (), []
    extreme = min(starts.values()) if operation is Operation.FIRST else max(starts.values())
    chosen = tuple(sorted(end for end, start in starts.items() if start == extreme))
    kept = [tuple(p for p in group if p.end in chosen and p.hops[-1].fact.validity.start == extreme) for group in paths]
    return chosen, kept


def _choose(
    branches: Sequence[tuple[Path, ...]], ends: Sequence[str], limit: int, *, joined: bool
) -> tuple[tuple[Hit, ...], bool]:
    """At most `limit` paths: first one for each binding (from every branch where branches are joined), then the others."""
    wanted = set(ends)
    by_end: dict[str, list[list[Path]]] = {}
    for group in branches:
        seen: dict[str, list[Path]] = {}
        for path in sorted(group, key=lambda p: p.key):
            if path.end in wanted:
                seen.setdefault(path.end, []).append(path)
        for end, paths in seen.items():
            by_end.setdefault(end, []).append(paths)
    first: list[Path] = []
    rest: list[Path] = []
    for end in ends:
        for paths in by_end.get(end, ()):
            first.append(paths[0])
            rest.extend(paths[1:])
    rest.sort(key=lambda p: p.key)
    chosen = list(dict.fromkeys([*first, *rest]))
    hits = tuple(
        Hit(score=1.0 / len(path.hops), kind=ScoreKind.PATH, path=path, binding=path.end) for path in chosen[:limit]
    )
    return hits, len(chosen) > limit
