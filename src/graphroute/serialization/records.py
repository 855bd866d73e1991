"""Evidence bundle as flat records, in full or as the generator needs them; shared by all formats."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from graphroute.errors import DataError
from graphroute.types.evidence import Degradation, EvidenceBundle, EvidenceUnit, Omission
from graphroute.types.graph import Direction, Fact
from graphroute.types.retrieval import Binding
from graphroute.types.source import SourceSpan
from graphroute.types.time import ALWAYS, Instant, Interval, format_instant, instant_of

UNIT_ID = re.compile(r"U[1-9][0-9]{0,8}")
CHECKSUM_DIGITS = 9
BLANK_CHECKSUM = "0" * CHECKSUM_DIGITS


class Profile(StrEnum):
    """How much of the records a text carries."""

    FULL = "full"
    LEAN = "lean"


class SourceRecord(NamedTuple):
    """A source that is cited. `title` and `date` are given where its text is shown; `date`: its own, else in force since."""

    id: str
    title: str | None = None
    date: Instant | None = None


class NodeRecord(NamedTuple):
    """An entity."""

    id: str
    name: str
    types: tuple[str, ...] = ()


class AssertionRecord(NamedTuple):
    """An assertion that states a fact. Each support set proves it by itself; the spans of one set prove it together."""

    id: str
    supports: tuple[tuple[SourceSpan, ...], ...] = ()


class FactRecord(NamedTuple):
    """A fact; `subject` and `object` are ids of node records. `negated`: stated not to hold in that time."""

    subject: str
    predicate: str
    object: str
    validity: Interval = ALWAYS
    negated: bool = False
    assertions: tuple[AssertionRecord, ...] = ()


class PathRecord(NamedTuple):
    """A unit: hops as (index into the fact records, direction walked), each from where the one before arrived."""

    id: str
    hops: tuple[tuple[int, Direction], ...]
    binding: str | None = None
    conflict: bool = False
    note: str | None = None


class PassageRecord(NamedTuple):
    """A unit: `text` is `[start, end)` of a source; lean records leave the bounds to the bundle."""

    id: str
    source_id: str
    start: int | None
    end: int | None
    text: str
    conflict: bool = False
    note: str | None = None


class ReportRecord(NamedTuple):
    """A unit: a community report and the sources it was made from."""

    id: str
    community: str
    title: str
    text: str
    source_ids: tuple[str, ...] = ()
    note: str | None = None


UnitRecord = PathRecord | PassageRecord | ReportRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """What a format carries, in order.

    `access`: names the readable scope without naming its labels. `total_answers`: how many answers there are, `answers` may be cut;
    `left_out`: units that did not fit. Every id used is declared once. `interleaved`: node and fact records are written as they are first
    used, by formats that can; it is no part of what is carried.
    """

    profile: Profile = Profile.FULL
    snapshot: str = ""
    access: str = ""
    as_of: Instant | None = None
    abstained: bool = False
    reason: str = ""
    truncated: bool = False
    evidence_truncated: bool = False
    left_out: int = 0
    total_answers: int = 0
    degraded: tuple[Degradation, ...] = ()
    flags: tuple[str, ...] = ()
    answers: tuple[Binding, ...] = ()
    sources: tuple[SourceRecord, ...] = ()
    nodes: tuple[NodeRecord, ...] = ()
    facts: tuple[FactRecord, ...] = ()
    units: tuple[UnitRecord, ...] = ()
    omissions: tuple[Omission, ...] = ()
    interleaved: bool = field(default=False, compare=False)
    checked: bool = field(default=False, init=False, compare=False, repr=False)

    @property
    def count(self) -> int:
        """Number of records behind the header. A source that is no more than its number has none."""
        return sum(
            map(
                len,
                (
                    self.degraded,
                    self.flags,
                    self.answers,
                    stated_sources(self),
                    self.nodes,
                    self.facts,
                    self.units,
                    self.omissions,
                ),
            )
        )


def stated_sources(records: Records) -> Sequence[tuple[int, SourceRecord]]:
    """Number and record of each source that is written: all in full, in lean those with a title or date."""
    numbered = enumerate(records.sources, start=1)
    if records.profile is Profile.FULL:
        return list(numbered)
    return [(number, one) for number, one in numbered if one.title is not None or one.date is not None]


@dataclass(slots=True)
class _Builder:
    bundle: EvidenceBundle
    sources: dict[str, SourceRecord] = field(default_factory=dict)
    nodes: dict[str, NodeRecord] = field(default_factory=dict)
    facts: dict[tuple[str, str, str, int, int], int] = field(default_factory=dict)
    fact_records: list[FactRecord] = field(default_factory=list)

    def source(self, source_id: str, *, date: Instant | None = None, shown: bool = False) -> None:
        known = self.sources.get(source_id)
        if known is not None and (known.title is not None or not shown):
            return
        title = self.bundle.source_titles.get(source_id, "") if shown else None
        self.sources[source_id] = SourceRecord(id=source_id, title=title, date=date)

    def node(self, entity_id: str, display: str | None = None) -> None:
        if entity_id in self.nodes:
            return
        entity = self.bundle.entities.get(entity_id)
        name = entity.name if entity else display if display is not None else entity_id
        self.nodes[entity_id] = NodeRecord(id=entity_id, types=entity.types if entity else (), name=name)

    def fact(self, fact: Fact) -> int:
        """Number of a fact's record, from 0."""
        key = fact.key
        known = self.facts.get(key)
        if known is not None:
            return known
        subject, target, nodes = fact.subject, fact.object, self.nodes
        if subject not in nodes:
            self.node(subject)
        if target not in nodes:
            self.node(target)
        assertions = tuple(map(self.assertion, fact.assertion_ids))
        self.facts[key] = index = len(self.fact_records)
        self.fact_records.append(FactRecord(subject, fact.predicate, target, fact.validity, fact.negated, assertions))
        return index

    def assertion(self, assertion_id: str) -> AssertionRecord:
        supports = self.bundle.supports.get(assertion_id, ())
        sources = self.sources
        for support in supports:
            id = support.span.source_id
            if id not in sources:
                sources[id] = SourceRecord(id)
        if len(supports) == 1:
            return AssertionRecord(assertion_id, ((supports[0].span,),))
        sets: dict[int, list[SourceSpan]] = {}
        for support in supports:
            sets.setdefault(support.group, []).append(support.span)
        return AssertionRecord(assertion_id, tuple(map(tuple, sets.values())))

    def unit(self, unit: EvidenceUnit) -> UnitRecord:
        if unit.path is not None:
            hops = tuple([(self.fact(hop.fact), hop.direction) for hop in unit.path.hops])
            return PathRecord(unit.id, hops, unit.binding, unit.conflict, unit.note)
        if unit.passage is not None:
            passage = unit.passage
            date = passage.timestamp if passage.timestamp is not None else passage.validity.start
            self.source(passage.source_id, date=date, shown=True)
            return PassageRecord(
                id=unit.id,
                source_id=passage.source_id,
                start=passage.start,
                end=passage.end,
                text=passage.text,
                conflict=unit.conflict,
                note=unit.note,
            )
        report = unit.report
        if report is None:
            raise DataError(f"unit {unit.id!r} has neither path, passage nor report")
        for source_id in report.source_ids:
            self.source(source_id)
        return ReportRecord(
            id=unit.id,
            community=report.id,
            title=report.title,
            text=report.text,
            source_ids=report.source_ids,
            note=unit.note,
        )


def records_of(
    bundle: EvidenceBundle,
    *,
    units: Sequence[EvidenceUnit] | None = None,
    answers: int | None = None,
    omissions: Sequence[Omission] | None = None,
) -> Records:
    """Records of a bundle, or of some of its units, the first `answers` answers and some omissions.

    Only sources, nodes and facts that these use are declared.
    """
    chosen = bundle.units if units is None else tuple(units)
    shown = bundle.answers if answers is None else bundle.answers[:answers]
    builder = _Builder(bundle)
    for answer in shown:
        if answer.id is not None:
            builder.node(answer.id, answer.display)
    unit_records = tuple(map(builder.unit, chosen))
    return Records(
        snapshot=bundle.snapshot,
        access=bundle.access,
        as_of=bundle.as_of,
        abstained=bundle.abstained,
        reason=bundle.reason,
        truncated=bundle.truncated,
        evidence_truncated=bundle.evidence_truncated,
        left_out=len(bundle.units) - len(chosen),
        total_answers=len(bundle.answers),
        degraded=bundle.degraded,
        flags=bundle.flags,
        answers=shown,
        sources=tuple(builder.sources.values()),
        nodes=tuple(builder.nodes.values()),
        facts=tuple(builder.fact_records),
        units=unit_records,
        omissions=bundle.omissions if omissions is None else tuple(omissions),
    )


def used_nodes(records: Records) -> Iterator[str]:
    """Ids of nodes in order of use, with repeats."""
    for answer in records.answers:
        if answer.id is not None:
            yield answer.id
    for fact in records.facts:
        yield fact.subject
        yield fact.object


def used_sources(records: Records) -> Iterator[str]:
    """Ids of sources used by facts and units, with repeats."""
    for fact in records.facts:
        for assertion in fact.assertions:
            for support in assertion.supports:
                for span in support:
                    yield span.source_id
    for unit in records.units:
        if isinstance(unit, PassageRecord):
            yield unit.source_id
        elif isinstance(unit, ReportRecord):
            yield from unit.source_ids


def project(records: Records, profile: Profile) -> Records:
    """What a text of that profile carries of the records. Lean records cannot be made full again.

    Lean keeps what an answer is drawn from: names, types, facts with direction, negation and validity, which sources prove each fact,
    paths, texts, omissions. Ids of nodes and sources give way to their numbers (`N1`, `S1`), assertions and spans to the sources that
    stand behind them; `EvidenceBundle` and `local_ids` lead back.
    """
    if records.profile is profile:
        return records
    if profile is Profile.FULL:
        raise DataError("lean records do not hold what full ones do")
    nodes, sources = local_ids(records)
    spans = {id: SourceSpan(local) for id, local in sources.items()}

    def lean_proof(assertions: tuple[AssertionRecord, ...]) -> tuple[AssertionRecord, ...]:
        if len(assertions) == 1 and len(assertions[0].supports) == 1 and len(assertions[0].supports[0]) == 1:
            return (AssertionRecord("", ((spans[assertions[0].supports[0][0].source_id],),)),)
        sets = dict.fromkeys(
            tuple(dict.fromkeys([spans[span.source_id] for span in support]))
            for assertion in assertions
            for support in assertion.supports
        )
        return (AssertionRecord("", tuple(sets)),) if sets else ()

    facts = [
        FactRecord(nodes[subject], predicate, nodes[target], validity, negated, lean_proof(assertions))
        for subject, predicate, target, validity, negated, assertions in records.facts
    ]
    lean = replace(
        records,
        profile=profile,
        snapshot="",
        access="",
        answers=tuple(one if one.id is None else replace(one, id=nodes[one.id]) for one in records.answers),
        sources=tuple([SourceRecord(sources[one.id], one.title, one.date) for one in records.sources]),
        nodes=tuple([NodeRecord(nodes[one.id], one.name, one.types) for one in records.nodes]),
        facts=tuple(facts),
        units=tuple([_lean_unit(unit, nodes, sources) for unit in records.units]),
    )
    return as_checked(lean) if records.checked else lean


def as_checked(records: Records) -> Records:
    """Marks records that fit together because they were made from such."""
    object.__setattr__(records, "checked", True)
    return records


def local_ids(records: Records) -> tuple[dict[str, str], dict[str, str]]:
    """Local ids of nodes and of sources by their ids: `N1`, `N2`, ... and `S1`, `S2`, ... in the order of the records."""
    return (
        {node.id: f"N{number}" for number, node in enumerate(records.nodes, start=1)},
        {source.id: f"S{number}" for number, source in enumerate(records.sources, start=1)},
    )


def _lean_unit(unit: UnitRecord, nodes: Mapping[str, str], sources: Mapping[str, str]) -> UnitRecord:
    if isinstance(unit, PathRecord):
        return unit if unit.binding is None else unit._replace(binding=nodes.get(unit.binding, unit.binding))
    if isinstance(unit, PassageRecord):
        return unit._replace(source_id=sources[unit.source_id], start=None, end=None)
    return unit._replace(community="", source_ids=tuple(sources[one] for one in unit.source_ids))


def check(records: Records) -> Records:
    """The same records. Raises DataError if they do not fit together.

    An id declared twice or not at all, a source that nothing cites, a path that jumps, a malformed unit id or span; in lean records
    whatever only full ones may hold.
    """
    if records.checked:
        return records
    _unique("source", (source.id for source in records.sources))
    nodes = _unique("node", (node.id for node in records.nodes))
    _unique("unit", (unit.id for unit in records.units))
    for id in used_nodes(records):
        if id not in nodes:
            raise DataError(f"node {id!r} is undeclared")
    _same("source", {source.id for source in records.sources}, set(used_sources(records)))
    facts, lean = records.facts, records.profile is Profile.LEAN
    for unit in records.units:
        if not UNIT_ID.fullmatch(unit.id):
            raise DataError(f"unit id {unit.id!r}", allowed="U1, U2, ...")
        if isinstance(unit, PathRecord):
            _walk(unit, facts)
        elif isinstance(unit, PassageRecord):
            if (unit.start is None) != lean or (unit.end is None) != lean:
                raise DataError(f"span {unit.start}-{unit.end} of {unit.id}", allowed="bounds in full records only")
        elif lean and unit.community:
            raise DataError(f"community of {unit.id}", allowed="full records only")
    if len(records.answers) > records.total_answers or records.left_out < 0:
        raise DataError("more answers than their total")
    for fact in facts:
        for assertion in fact.assertions:
            for support in assertion.supports:
                if not support:
                    raise DataError("a support set is empty")
                for span in support:
                    if span.start is not None or span.end is not None:
                        _bounds(span)
    if lean:
        _check_lean(records)
    return as_checked(records)


def _walk(unit: PathRecord, facts: Sequence[FactRecord]) -> None:
    if not unit.hops:
        raise DataError(f"path {unit.id} has no hops")
    at = None
    for index, way in unit.hops:
        if not 0 <= index < len(facts):
            raise DataError(f"path {unit.id} walks a fact that is undeclared")
        fact = facts[index]
        start, end = (fact.subject, fact.object) if way is Direction.FORWARD else (fact.object, fact.subject)
        if at is not None and start != at:
            raise DataError(f"path {unit.id} jumps from {at!r} to {start!r}")
        at = end


def _bounds(span: SourceSpan) -> None:
    if span.start is None or span.end is None or not 0 <= span.start <= span.end:
        raise DataError(f"span {span.start}-{span.end} of {span.source_id!r}", allowed="0 <= start <= end, or none")


def _check_lean(records: Records) -> None:
    if records.snapshot or records.access:
        raise DataError("snapshot and access label", allowed="full records only")
    for letter, ids in (("N", [one.id for one in records.nodes]), ("S", [one.id for one in records.sources])):
        if ids != [f"{letter}{number}" for number in range(1, len(ids) + 1)]:
            raise DataError(f"ids of lean records are {letter}1, {letter}2, ...")
    for fact in records.facts:
        if len(fact.assertions) > 1 or any(
            one.id or not one.supports or len(set(one.supports)) < len(one.supports) for one in fact.assertions
        ):
            raise DataError("lean facts name the sources that prove them, no assertion")
        for support in (support for one in fact.assertions for support in one.supports):
            if len(set(support)) < len(support) or any(span.start is not None for span in support):
                raise DataError("lean facts name whole sources, each once")


def _unique(kind: str, ids: Iterable[str]) -> set[str]:
    seen: set[str] = set()
    for id in ids:
        if id in seen:
            raise DataError(f"{kind} {id!r} is declared twice")
        seen.add(id)
    return seen


def _same(kind: str, declared: set[str], used: set[str]) -> None:
    if declared != used:
        raise DataError(f"{kind} {min(declared ^ used)!r} is {'unused' if declared - used else 'undeclared'}")


@lru_cache(maxsize=4096)
def instant_text(instant: Instant) -> str:
    """ISO 8601, or `us` and the number of microseconds outside the years 1 to 9999."""
    try:
        text = format_instant(instant)
    except OverflowError:
        return f"us{instant}"
    assert text is not None
    return text


def parse_instant(text: str) -> Instant:
    """The inverse of `instant_text`. Raises ValueError for any other text."""
    if re.fullmatch(r"us-?[0-9]{1,19}", text):
        instant = int(text[2:])
    else:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
        instant = instant_of(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment)
    if instant_text(instant) != text:
        raise ValueError(f"not in canonical form: {text!r}")
    return instant


def interval_text(interval: Interval) -> str:
    """`low..high` with an empty side where unknown or open."""
    low = "" if interval.start is None else instant_text(interval.start)
    high = "" if interval.end is None else instant_text(interval.end)
    return f"{low}..{high}"


def parse_interval(text: str) -> Interval:
    """The inverse of `interval_text`. Raises ValueError for any other text."""
    low, dots, high = text.partition("..")
    if not dots:
        raise ValueError(f"no `..` in {text!r}")
    return Interval(parse_instant(low) if low else None, parse_instant(high) if high else None)


def checksum(template: str) -> str:
    """Nine digits, the first no zero, from the SHA-256 of a text whose own checksum stands as zeros: three tokens in the common encodings."""
    digest = hashlib.sha256(template.encode()).digest()
    return str(100_000_000 + int.from_bytes(digest[:8]) % 900_000_000)


def seal(template: str, marker: str) -> str:
    """`template` with the first `marker` + zeros replaced by `marker` + checksum of the template."""
    return template.replace(marker + BLANK_CHECKSUM, marker + checksum(template), 1)


def unsealed(text: str, marker: str) -> bool:
    """True if the checksum behind the first `marker` does not fit the text."""
    at = text.find(marker)
    if at < 0:
        return True
    start = at + len(marker)
    blank = text[:start] + BLANK_CHECKSUM + text[start + CHECKSUM_DIGITS :]
    try:
        return checksum(blank) != text[start : start + CHECKSUM_DIGITS]
    except UnicodeEncodeError:
        return True


def as_written(records: Records, text: str, dumps: Callable[[Records], str]) -> Records:
    """The records, if `text` is one that `dumps` writes for them. A value has many texts; only ours is taken, so that none is misread.

    Raises DataError with the first line that is otherwise.
    """
    line = 0
    for mixed in (records.interleaved, not records.interleaved):
        found = replace(records, interleaved=mixed)
        written = dumps(found)
        if written == text:
            return found
        pairs = zip_longest(text.split("\n"), written.split("\n"))
        line = max(line, next((number for number, (one, other) in enumerate(pairs, start=1) if one != other), 1))
    raise DataError("written otherwise than this format writes it", where=f"evidence text, line {line}")
