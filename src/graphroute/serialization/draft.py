"""Evidence with numbers in place of ids: what a format writes, made from a bundle or from records in one walk."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

from graphroute.errors import DataError
from graphroute.serialization.records import (
    UNIT_ID,
    PassageRecord,
    PathRecord,
    Profile,
    Records,
    ReportRecord,
    instant_text,
    interval_text,
)
from graphroute.types.evidence import Degradation, EvidenceBundle, EvidenceUnit, Omission
from graphroute.types.graph import Direction
from graphroute.types.source import SourceSpan
from graphroute.types.time import Instant, Interval

_UNIT_IDS = re.compile(r"U[1-9][0-9]{0,8}(?: U[1-9][0-9]{0,8})*+")
_FORWARD = Direction.FORWARD
_FEW = 128
"""So many local ids of a kind are not written anew for each text."""

Cited = tuple[int, SourceSpan]
"""Number of a source, from 1, and the span in it."""

Proof = list[tuple[str, list[list[Cited]]]]
"""Assertions by id, each with its support sets."""

FactDraft = tuple[int, int, int, str]
"""Index of the subject, of the relation and of the object, validity ("" where open on both sides)."""


class PathDraft(NamedTuple):
    """A path. `hops`: indexes of facts, inverted (`~index`) where walked from object to subject."""

    id: str
    hops: list[int]
    binding: str | None
    conflict: bool
    note: str | None


UnitDraft = PathDraft | PassageRecord | ReportRecord


class Proofs(Protocol):
    """How a format writes what proves a fact."""

    def single(self, ids: Sequence[str], numbers: Sequence[int], spans: Sequence[SourceSpan]) -> list[str]:
        """Of many facts, each with one assertion that has one span, by the number of its source."""
        ...

    def many(self, proof: Proof) -> str:
        """Of one fact, with any number of either."""
        ...


class Draft:
    """The parts of a text in their order. `facts` name nodes and `relations` (predicate, and whether denied) by index, `proofs` are theirs as the format writes them; `cited`: title and date by source index."""

    __slots__ = (
        "abstained",
        "access",
        "answers",
        "as_of",
        "cited",
        "degraded",
        "evidence_truncated",
        "facts",
        "flags",
        "interleaved",
        "lean",
        "left_out",
        "names",
        "node_at",
        "node_ids",
        "omissions",
        "profile",
        "proofs",
        "reason",
        "relations",
        "snapshot",
        "source_at",
        "source_ids",
        "total_answers",
        "truncated",
        "types",
        "units",
    )

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.lean = profile is Profile.LEAN
        self.snapshot = ""
        self.access = ""
        self.as_of: Instant | None = None
        self.abstained = False
        self.reason = ""
        self.truncated = False
        self.evidence_truncated = False
        self.left_out = 0
        self.total_answers = 0
        self.interleaved = False
        self.degraded: Sequence[Degradation] = ()
        self.flags: Sequence[str] = ()
        self.omissions: Sequence[Omission] = ()
        self.answers: list[tuple[int | None, str]] = []
        self.source_at: dict[str, int] = {}
        self.source_ids: list[str] = []
        self.cited: dict[int, tuple[str | None, Instant | None]] = {}
        self.node_at: dict[str, int] = {}
        self.node_ids: list[str] = []
        self.names: list[str] = []
        self.types: list[tuple[str, ...]] = []
        self.relations: list[tuple[str, bool]] = []
        self.facts: list[FactDraft] = []
        self.proofs: list[str] = []
        self.units: list[UnitDraft] = []

    @property
    def count(self) -> int:
        """Number of records behind the header. A source that is no more than its number has none."""
        stated = len(self.cited) if self.lean else len(self.source_ids)
        listed = len(self.degraded) + len(self.flags) + len(self.answers) + len(self.omissions)
        return listed + stated + len(self.node_ids) + len(self.facts) + len(self.units)

    def stated_sources(self) -> list[int]:
        """Indexes of the sources that are written: all in full, in lean those with a title or date."""
        return sorted(self.cited) if self.lean else list(range(len(self.source_ids)))

    def references(self) -> dict[str, str]:
        """Ids by local ids."""
        nodes, sources = self.node_ids, self.source_ids
        return dict(zip(numbered("N", len(nodes)) + numbered("S", len(sources)), nodes + sources, strict=True))

    def _source(self, id: str) -> int:
        """Number of a source, from 1."""
        number = self.source_at.get(id)
        if number is None:
            self.source_ids.append(id)
            self.source_at[id] = number = len(self.source_ids)
        return number

    def _node(self, id: str, name: str, types: tuple[str, ...]) -> int:
        self.node_at[id] = index = len(self.node_ids)
        self.node_ids.append(id)
        self.names.append(name)
        self.types.append(types)
        return index


def draft_of_records(records: Records, profile: Profile, proofs: Proofs) -> Draft:
    """Draft of records that fit together, in their order."""
    draft = Draft(profile)
    if not draft.lean:
        draft.snapshot, draft.access = records.snapshot, records.access
    draft.as_of = records.as_of
    draft.abstained, draft.reason = records.abstained, records.reason
    draft.truncated, draft.evidence_truncated = records.truncated, records.evidence_truncated
    draft.left_out, draft.total_answers = records.left_out, records.total_answers
    draft.interleaved = records.interleaved
    draft.degraded, draft.flags, draft.omissions = records.degraded, records.flags, records.omissions
    for index, source in enumerate(records.sources):
        draft._source(source.id)
        if source.title is not None or source.date is not None:
            draft.cited[index] = (source.title, source.date)
    for node in records.nodes:
        draft._node(node.id, node.name, node.types)
    node_at, source_at = draft.node_at, draft.source_at
    draft.answers = [(None if one.id is None else node_at[one.id], one.display) for one in records.answers]
    relations: dict[tuple[str, bool], int] = {}
    others: list[tuple[int, str]] = []
    proving: list[str] = []
    numbers: list[int] = []
    spans: list[SourceSpan] = []
    for number, (subject, predicate, target, validity, negated, assertions) in enumerate(records.facts):
        if len(assertions) == 1 and len(assertions[0].supports) == 1 and len(assertions[0].supports[0]) == 1:
            span = assertions[0].supports[0][0]
            proving.append(assertions[0].id)
            numbers.append(source_at[span.source_id])
            spans.append(span)
        else:
            proof = [
                (id, [[(source_at[span.source_id], span) for span in support] for support in supports])
                for id, supports in assertions
            ]
            others.append((number, proofs.many(proof) if proof else ""))
        relation = relations.setdefault((predicate, negated), len(relations))
        draft.facts.append((node_at[subject], relation, node_at[target], time_text(validity)))
    draft.proofs = _merged(proofs.single(proving, numbers, spans), others)
    draft.relations = list(relations)
    for unit in records.units:
        if isinstance(unit, PathRecord):
            hops = [index if way is _FORWARD else ~index for index, way in unit.hops]
            draft.units.append(PathDraft(unit.id, hops, unit.binding, unit.conflict, unit.note))
        else:
            draft.units.append(unit)
    return draft


def time_text(validity: Interval) -> str:
    """`low..high`, "" where open on both sides."""
    return "" if validity.start is None and validity.end is None else interval_text(validity)


def draft_of_bundle(
    bundle: EvidenceBundle,
    profile: Profile,
    proofs: Proofs,
    *,
    units: Sequence[EvidenceUnit],
    answers: int,
    omissions: Sequence[Omission],
) -> Draft:
    """Draft of some units of a bundle, the first `answers` answers and some omissions, in order of first use.

    What `records_of` gives, without the records: there are tens of thousands of facts where there are many. Raises DataError for units that do not fit together.
    """
    draft = Draft(profile)
    if not draft.lean:
        draft.snapshot, draft.access = bundle.snapshot, bundle.access
    draft.as_of = bundle.as_of
    draft.abstained, draft.reason = bundle.abstained, bundle.reason
    draft.truncated, draft.evidence_truncated = bundle.truncated, bundle.evidence_truncated
    draft.left_out, draft.total_answers = len(bundle.units) - len(units), len(bundle.answers)
    draft.degraded, draft.flags, draft.omissions = bundle.degraded, bundle.flags, omissions
    entities, node_at = bundle.entities, draft.node_at
    for answer in bundle.answers[:answers]:
        id = answer.id
        if id is not None and id not in node_at:
            entity = entities.get(id)
            draft._node(id, entity.name if entity else answer.display, entity.types if entity else ())
        draft.answers.append((None if id is None else node_at[id], answer.display))
    _units(draft, bundle, units, proofs)
    ids = [unit.id for unit in units]
    if ids and not _UNIT_IDS.fullmatch(" ".join(ids)):
        wrong = next(id for id in ids if not UNIT_ID.fullmatch(id))
        raise DataError(f"unit id {wrong!r}", allowed="U1, U2, ...")
    if len(set(ids)) < len(ids):
        raise DataError(f"unit {next(id for id in ids if ids.count(id) > 1)!r} is declared twice")
    return draft


def _units(draft: Draft, bundle: EvidenceBundle, units: Sequence[EvidenceUnit], proofs: Proofs) -> None:
    # One loop over all hops with everything in locals: calls and attributes are what it costs.
    entities, supports = bundle.entities, bundle.supports
    node_at, node_ids, names, types = draft.node_at, draft.node_ids, draft.names, draft.types
    source_at, source_ids, facts, found = draft.source_at, draft.source_ids, draft.facts, draft.units
    known: dict[tuple[str, str, str, Instant | None, Instant | None, bool], int] = {}
    affirmed: dict[str, int] = {}
    denied: dict[str, int] = {}
    relations = draft.relations
    proving: list[str] = []
    numbers: list[int] = []
    spans: list[SourceSpan] = []
    others: list[tuple[int, str]] = []
    new = tuple.__new__
    for unit in units:
        path = unit.path
        if path is None:
            found.append(_text_unit(draft, bundle, unit))
            continue
        walked = []
        at = None
        for hop in path.hops:
            fact = hop.fact
            subject = fact.subject
            predicate = fact.predicate
            target = fact.object
            validity = fact.validity
            low = validity.start
            high = validity.end
            negated = fact.negated
            key = (subject, predicate, target, low, high, negated)
            index = known.get(key)
            if index is None:
                known[key] = index = len(facts)
                start = node_at.get(subject)
                if start is None:
                    node_at[subject] = start = len(node_ids)
                    entity = entities.get(subject)
                    node_ids.append(subject)
                    names.append(subject if entity is None else entity.name)
                    types.append(() if entity is None else entity.types)
                end = node_at.get(target)
                if end is None:
                    node_at[target] = end = len(node_ids)
                    entity = entities.get(target)
                    node_ids.append(target)
                    names.append(target if entity is None else entity.name)
                    types.append(() if entity is None else entity.types)
                ids = fact.assertion_ids
                if len(ids) == 1 and len(held := supports.get(ids[0], ())) == 1:
                    span = held[0].span
                    id = span.source_id
                    source = source_at.get(id)
                    if source is None:
                        source_ids.append(id)
                        source_at[id] = source = len(source_ids)
                    proving.append(ids[0])
                    numbers.append(source)
                    spans.append(span)
                else:
                    others.append((index, proofs.many(_proof(draft, bundle, ids)) if ids else ""))
                relation = denied.get(predicate) if negated else affirmed.get(predicate)
                if relation is None:
                    (denied if negated else affirmed)[predicate] = relation = len(relations)
                    relations.append((predicate, negated))
                if high is not None:
                    facts.append((start, relation, end, interval_text(validity)))
                else:
                    facts.append((start, relation, end, "" if low is None else f"{instant_text(low)}.."))
            if hop.direction is _FORWARD:
                walked.append(index)
            else:
                walked.append(~index)
                subject, target = target, subject
            if at != subject and at is not None:
                raise DataError(f"path {unit.id} jumps from {at!r} to {subject!r}")
            at = target
        if at is None:
            raise DataError(f"path {unit.id} has no hops")
        found.append(new(PathDraft, (unit.id, walked, unit.binding, unit.conflict, unit.note)))
    draft.proofs = _merged(proofs.single(proving, numbers, spans), others)


def _merged(single: list[str], others: Sequence[tuple[int, str]]) -> list[str]:
    """Proofs in the order of the facts; `others` at the places that they name."""
    if not others:
        return single
    found, rest = [], iter(single)
    places = dict(others)
    for number in range(len(single) + len(others)):
        proof = places.get(number)
        found.append(next(rest) if proof is None else proof)
    return found


def _proof(draft: Draft, bundle: EvidenceBundle, assertion_ids: Sequence[str]) -> Proof:
    found: Proof = []
    for id in assertion_ids:
        sets: dict[int, list[Cited]] = {}
        for support in bundle.supports.get(id, ()):
            sets.setdefault(support.group, []).append((draft._source(support.span.source_id), support.span))
        found.append((id, list(sets.values())))
    return found


def _text_unit(draft: Draft, bundle: EvidenceBundle, unit: EvidenceUnit) -> UnitDraft:
    passage, report = unit.passage, unit.report
    if passage is not None:
        if passage.start is None or passage.end is None:
            raise DataError(f"span {passage.start}-{passage.end} of {unit.id}", allowed="bounds")
        index = draft._source(passage.source_id) - 1
        if index not in draft.cited:
            date = passage.timestamp if passage.timestamp is not None else passage.validity.start
            draft.cited[index] = (bundle.source_titles.get(passage.source_id, ""), date)
        return PassageRecord(
            unit.id, passage.source_id, passage.start, passage.end, passage.text, unit.conflict, unit.note
        )
    if report is None:
        raise DataError(f"unit {unit.id!r} has neither path, passage nor report")
    for id in report.source_ids:
        draft._source(id)
    return ReportRecord(unit.id, report.id, report.title, report.text, report.source_ids, unit.note)


def grouped(draft: Draft) -> None:
    """Puts nodes of one type beside each other and facts of one subject beside each other, both in order of first appearance."""
    if len(set(draft.types)) > 1:
        by_types: dict[tuple[str, ...], list[int]] = {}
        for index, types in enumerate(draft.types):
            members = by_types.get(types)
            if members is None:
                by_types[types] = [index]
            else:
                members.append(index)
        place = [0] * len(draft.node_ids)
        order = [index for members in by_types.values() for index in members]
        for number, index in enumerate(order):
            place[index] = number
        draft.node_ids = [draft.node_ids[index] for index in order]
        draft.names = [draft.names[index] for index in order]
        draft.types = [draft.types[index] for index in order]
        draft.node_at = {id: number for number, id in enumerate(draft.node_ids)}
        draft.answers = [(None if index is None else place[index], shown) for index, shown in draft.answers]
        draft.facts = [(place[start], relation, place[end], time) for start, relation, end, time in draft.facts]
    # Facts by subject, then by the first one with that subject and relation: both in one number.
    count, relations = len(draft.facts), len(draft.relations)
    first: dict[int, int] = {}
    first_at = first.setdefault
    keys = [
        start * count + first_at(start * relations + relation, number)
        for number, (start, relation, _, _) in enumerate(draft.facts)
    ]
    by_key = sorted(range(count), key=keys.__getitem__)
    draft.facts = [draft.facts[index] for index in by_key]
    draft.proofs = [draft.proofs[index] for index in by_key]
    moved = [0] * count
    for number, index in enumerate(by_key):
        moved[index] = number
    # Inverted indexes count from the end.
    moved += [~number for number in reversed(moved)]
    for unit in draft.units:
        if type(unit) is PathDraft:
            hops = unit[1]
            if len(hops) == 1:
                hops[0] = moved[hops[0]]
            else:
                hops[:] = [moved[index] for index in hops]


ARRANGED: Mapping[str, Callable[[Draft], None]] = {"given": lambda draft: None, "grouped": grouped}
"""Orderings that need no records."""


@dataclass(slots=True)
class Written:
    """A finished text and what it was joined from, sources by index, the other kinds in the order of the draft.

    `end`: what stands behind a part, `graph_end`: behind a node or fact."""

    text: str
    answers: Sequence[str]
    sources: Mapping[int, str]
    nodes: Sequence[str]
    facts: Sequence[str]
    units: Sequence[str]
    omissions: Sequence[str]
    end: str = "\n"
    graph_end: str = "\n"


def interleaved(draft: Draft, nodes: Sequence[str], facts: Sequence[str]) -> list[str]:
    """Nodes and facts as they are written: all nodes first, or each before the fact that first names it."""
    if not draft.interleaved:
        return [*nodes, *facts]
    found: list[str] = []
    shown = 0
    for fact, text in zip(draft.facts, facts, strict=True):
        upto = max(fact[0], fact[2]) + 1
        if shown < upto:
            found.extend(nodes[shown:upto])
            shown = upto
        found.append(text)
    found.extend(nodes[shown:])
    return found


def numbered(letter: str, count: int) -> list[str]:
    """`N1`, `N2`, ..."""
    if count <= _FEW:
        return _first_numbered(letter)[:count]
    return [f"{letter}{number}" for number in range(1, count + 1)]


@cache
def _first_numbered(letter: str) -> list[str]:
    return [f"{letter}{number}" for number in range(1, _FEW + 1)]


def bounds(span: SourceSpan) -> str:
    """`:a-b`, "" for a whole source. Raises DataError for any other span."""
    start, end = span.start, span.end
    if start is None and end is None:
        return ""
    if start is None or end is None or not 0 <= start <= end:
        raise DataError(f"span {start}-{end} of {span.source_id!r}", allowed="0 <= start <= end, or none")
    return f":{start}-{end}"


def lean_sets(proof: Proof) -> list[list[int]]:
    """Sets of source numbers, each once: what lean texts say of a proof."""
    return list(
        map(
            list,
            dict.fromkeys(
                tuple(dict.fromkeys([number for number, _ in support])) for _, sets in proof for support in sets
            ),
        )
    )
