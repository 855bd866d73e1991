"""Evidence bundle as flat records and back to the numbers that tie them together; shared by all formats."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from graphroute.errors import DataError
from graphroute.types.evidence import Degradation, EvidenceBundle, EvidenceUnit, Omission
from graphroute.types.graph import Direction
from graphroute.types.retrieval import Binding
from graphroute.types.source import SourceSpan
from graphroute.types.time import ALWAYS, Instant, Interval, format_instant, instant_of

UNIT_ID = re.compile(r"U[1-9][0-9]{0,8}")
CHECKSUM_DIGITS = 8
BLANK_CHECKSUM = "0" * CHECKSUM_DIGITS


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord:
    """A source that is cited. `title` and `date` are given where its text is shown; `date`: its own, else in force since."""

    id: str
    title: str | None = None
    date: Instant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecord:
    """An entity named by a fact or an answer."""

    id: str
    types: tuple[str, ...] = ()
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionRecord:
    """An assertion that states a fact, and the spans that prove it together."""

    id: str
    spans: tuple[SourceSpan, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRecord:
    """A fact; `subject` and `object` are ids of node records."""

    subject: str
    predicate: str
    object: str
    validity: Interval = ALWAYS
    assertions: tuple[AssertionRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRecord:
    """A unit: hops as (index into the fact records, direction walked)."""

    id: str
    hops: tuple[tuple[int, Direction], ...]
    binding: str | None = None
    conflict: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRecord:
    """A unit: `text` is `[start, end)` of a source."""

    id: str
    source_id: str
    start: int
    end: int
    text: str
    conflict: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRecord:
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

    `total_answers`: how many answers there are, `answers` may be cut; `left_out`: units that did not fit. Every id used is
    declared once, in order of first use.
    """

    snapshot: str
    as_of: Instant
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

    @property
    def count(self) -> int:
        """Number of records behind the header."""
        return sum(
            map(
                len,
                (
                    self.degraded,
                    self.flags,
                    self.answers,
                    self.sources,
                    self.nodes,
                    self.facts,
                    self.units,
                    self.omissions,
                ),
            )
        )


@dataclass(slots=True)
class _Builder:
    bundle: EvidenceBundle
    sources: dict[str, SourceRecord] = field(default_factory=dict)
    nodes: dict[str, NodeRecord] = field(default_factory=dict)
    facts: dict[tuple[str, str, str, int, int], tuple[int, FactRecord]] = field(default_factory=dict)

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

    def unit(self, unit: EvidenceUnit) -> UnitRecord:
        if unit.path is not None:
            hops = []
            for hop in unit.path.hops:
                fact = hop.fact
                if fact.key not in self.facts:
                    self.node(fact.subject)
                    self.node(fact.object)
                    assertions = []
                    for assertion_id in fact.assertion_ids:
                        spans = tuple(support.span for support in self.bundle.supports.get(assertion_id, ()))
                        for span in spans:
                            self.source(span.source_id)
                        assertions.append(AssertionRecord(id=assertion_id, spans=spans))
                    record = FactRecord(
                        subject=fact.subject,
                        predicate=fact.predicate,
                        object=fact.object,
                        validity=fact.validity,
                        assertions=tuple(assertions),
                    )
                    self.facts[fact.key] = (len(self.facts), record)
                hops.append((self.facts[fact.key][0], hop.direction))
            return PathRecord(
                id=unit.id, hops=tuple(hops), binding=unit.binding, conflict=unit.conflict, note=unit.note
            )
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
    unit_records = tuple(builder.unit(unit) for unit in chosen)
    return Records(
        snapshot=bundle.snapshot,
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
        facts=tuple(record for _, record in builder.facts.values()),
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
            for span in assertion.spans:
                yield span.source_id
    for unit in records.units:
        if isinstance(unit, PassageRecord):
            yield unit.source_id
        elif isinstance(unit, ReportRecord):
            yield from unit.source_ids


def check(records: Records) -> Records:
    """The same records. Raises DataError if an id is declared twice, undeclared, unused, or a unit id is malformed."""
    _unique("source", (source.id for source in records.sources))
    _unique("node", (node.id for node in records.nodes))
    _unique("unit", (unit.id for unit in records.units))
    _same("source", {source.id for source in records.sources}, set(used_sources(records)))
    _same("node", {node.id for node in records.nodes}, set(used_nodes(records)))
    walked: set[int] = set()
    for unit in records.units:
        if not UNIT_ID.fullmatch(unit.id):
            raise DataError(f"unit id {unit.id!r}", allowed="U1, U2, ...")
        if isinstance(unit, PathRecord):
            if not unit.hops:
                raise DataError(f"path {unit.id} has no hops")
            walked.update(index for index, _ in unit.hops)
    if walked != set(range(len(records.facts))):
        raise DataError("facts and paths do not fit: a fact is undeclared or unused")
    if len(records.answers) > records.total_answers or records.left_out < 0:
        raise DataError("more answers than their total")
    for span in (span for fact in records.facts for assertion in fact.assertions for span in assertion.spans):
        if (span.start is None) != (span.end is None) or (span.start or 0) < 0 or (span.end or 0) < (span.start or 0):
            raise DataError(f"span {span.start}-{span.end} of {span.source_id!r}", allowed="0 <= start <= end, or none")
    return records


def _unique(kind: str, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for id in ids:
        if id in seen:
            raise DataError(f"{kind} {id!r} is declared twice")
        seen.add(id)


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


def seal(template: str, marker: str) -> str:
    """`template` with the first `marker` + zeros replaced by `marker` + checksum of the template."""
    blank = marker + BLANK_CHECKSUM
    digest = hashlib.sha256(template.encode()).hexdigest()[:CHECKSUM_DIGITS]
    return template.replace(blank, marker + digest, 1)


def unsealed(text: str, marker: str) -> bool:
    """True if the checksum behind the first `marker` does not fit the text."""
    at = text.find(marker)
    if at < 0:
        return True
    start = at + len(marker)
    blank = text[:start] + BLANK_CHECKSUM + text[start + CHECKSUM_DIGITS :]
    try:
        return seal(blank, marker) != text
    except UnicodeEncodeError:
        return True
