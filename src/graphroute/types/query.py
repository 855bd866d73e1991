"""ParsedQuery: what was found in a question, each cue with its span and the rule that set it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from graphroute.types.graph import AttributeFilter, Direction
from graphroute.types.time import ANY_TIME, MAX_INSTANT, MIN_INSTANT, Instant, Interval, TimeFilter, TimeMode


class CueKind(StrEnum):
    """What a cue says."""

    IDENTIFIER = "identifier"
    MENTION = "mention"
    RELATION = "relation"
    TYPE = "type"
    ATTRIBUTE = "attribute"
    VALUE = "value"
    DATE = "date"
    AGGREGATION = "aggregation"
    MODIFIER = "modifier"
    NEGATION = "negation"
    QUOTE = "quote"
    QUESTION = "question"
    SCOPE = "scope"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """A finding: `[start, end)` in the question's cleaned text, in code points, and the rule that set it."""

    kind: CueKind
    value: str
    start: int
    end: int
    rule: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One entity a mention may stand for. `via`: id, local, name, pattern or description."""

    entity_id: str
    types: tuple[str, ...]
    name: str
    via: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A mention with all its candidates. `strong`: looks like a name, not like an ordinary word."""

    cue: Cue
    candidates: tuple[Candidate, ...]
    strong: bool = True

    @property
    def ambiguous(self) -> bool:
        """More than one candidate."""
        return len(self.candidates) > 1


class Role(StrEnum):
    """Which words of a relation a cue used (RelationType)."""

    FORWARD = "forward"
    INVERSE = "inverse"
    OBJECT_NOUN = "object_noun"
    SUBJECT_NOUN = "subject_noun"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationCue:
    """A relation word. `options` are the (predicate, role) pairs the longest phrase stands for."""

    cue: Cue
    options: tuple[tuple[str, Role], ...]


class DateMode(StrEnum):
    """How a date constrains facts."""

    AT = "at"
    DURING = "during"
    BEFORE = "before"
    AFTER = "after"
    STARTED = "started"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class DateConstraint:
    """A date of the question as an interval of its precision. `ambiguous`: read by the configured order."""

    cue: Cue
    mode: DateMode
    interval: Interval
    ambiguous: bool = False


class Operation(StrEnum):
    """What is done with the bindings of the asked-for slot."""

    LIST = "list"
    COUNT = "count"
    MOST = "most"
    LEAST = "least"
    FIRST = "first"
    LAST = "last"
    COMPARE = "compare"
    EXISTS = "exists"
    VALUE = "value"
    DATE = "date"


class Family(StrEnum):
    """Query families of the evaluation."""

    SINGLE_FRAGMENT = "single_fragment"
    EXACT_ID = "exact_id"
    NEIGHBOURHOOD = "neighbourhood"
    BOUNDED_PATH = "bounded_path"
    TEMPORAL_PATH = "temporal_path"
    MULTI_DOCUMENT = "multi_document"
    AGGREGATION = "aggregation"
    UNANSWERABLE = "unanswerable"


@dataclass(frozen=True, slots=True, kw_only=True)
class HopReading:
    """One step of a reading: the relation, the way it is walked and the cue that named it (None: implied)."""

    predicate: str
    direction: Direction
    types: tuple[str, ...]
    cue: Cue | None = None
    filters: tuple[AttributeFilter, ...] = ()
    time: TimeFilter = ANY_TIME


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A meta-path from an anchor to the asked-for slot.

    No `anchors`: starts at all entities of `start_types` that pass `start_filters`. `ends`: the slot must be one of these (yes-no questions).
    """

    anchors: tuple[str, ...]
    start_types: tuple[str, ...]
    hops: tuple[HopReading, ...]
    mention: Cue | None = None
    start_filters: tuple[AttributeFilter, ...] = ()
    ends: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventAnchor:
    """A clause such as "when release R17 was approved": the facts whose start sets the instant of the main clause."""

    cue: Cue
    anchors: tuple[str, ...]
    predicates: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    mode: DateMode = DateMode.AT


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One way to read a question as a query over facts: branches joined on the asked-for slot.

    `combine`: "all" intersects the branches, "any" unites them. `filters` test the asked-for entity.
    `attribute`: the attribute asked for (VALUE) or compared: FIRST and LEAST pick the smallest value, LAST, MOST and COMPARE the
    largest; MOST and LEAST without one count the distinct starts of the last hop for each binding and give the first `places` of
    them with all that tie with the last. `cost`: lower is better; `reasons` say what the cost is made of.
    """

    operation: Operation
    target_types: tuple[str, ...]
    branches: tuple[Branch, ...]
    combine: str = "all"
    filters: tuple[AttributeFilter, ...] = ()
    attribute: str | None = None
    places: int = 1
    time: TimeFilter = ANY_TIME
    cost: float = 0.0
    reasons: tuple[str, ...] = ()
    unexplained: tuple[str, ...] = ()
    event: EventAnchor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    """A question taken apart. `text` is the cleaned question that all spans refer to.

    `instant`: the moment "now" means for this question; `moved` if a date in the question set it. `notes` say what cleaning
    removed and what could not be read. `readings`: best first; empty if the question is not relational.
    `unresolved`: named slots for which nothing the reader may see was found.
    """

    text: str
    language: str
    instant: Instant
    moved: bool = False
    identifiers: tuple[Mention, ...] = ()
    mentions: tuple[Mention, ...] = ()
    relations: tuple[RelationCue, ...] = ()
    types: tuple[Cue, ...] = ()
    attributes: tuple[Cue, ...] = ()
    values: tuple[Cue, ...] = ()
    dates: tuple[DateConstraint, ...] = ()
    aggregations: tuple[Cue, ...] = ()
    modifiers: tuple[Cue, ...] = ()
    negations: tuple[Cue, ...] = ()
    quotes: tuple[Cue, ...] = ()
    scope: tuple[Cue, ...] = ()
    question: Cue | None = None
    unresolved: tuple[Cue, ...] = ()
    readings: tuple[Reading, ...] = ()
    family: Family = Family.SINGLE_FRAGMENT
    notes: tuple[str, ...] = ()

    @property
    def unresolved_reason(self) -> str:
        """Why the question cannot be answered; empty if nothing is unresolved."""
        if not self.unresolved:
            return ""
        cue = self.unresolved[0]
        if cue.rule == "date:nowhere":
            return f"nothing asked about has a date that {cue.text!r} could test"
        if cue.rule == "word:unknown":
            return f"nothing in the graph explains {cue.text!r}"
        return f"nothing readable is named {cue.text!r}"

    @property
    def source_time(self) -> TimeFilter:
        """The test of a source's validity: in force at `instant`, or within the whole range a question asks about."""
        ranges = [date.interval for date in self.dates if date.mode is not DateMode.AT]
        if not ranges:
            return TimeFilter(TimeMode.OVERLAPS, Interval(self.instant, self.instant + 1))
        low, high = min(span.low for span in ranges), max(span.high for span in ranges)
        return TimeFilter(
            TimeMode.OVERLAPS, Interval(None if low == MIN_INSTANT else low, None if high == MAX_INSTANT else high)
        )

    @property
    def cues(self) -> tuple[Cue, ...]:
        """Every cue, by position."""
        found: list[Cue] = []
        for mention in (*self.identifiers, *self.mentions):
            found.append(mention.cue)
        found.extend(relation.cue for relation in self.relations)
        found.extend(date.cue for date in self.dates)
        for group in (
            self.types,
            self.attributes,
            self.values,
            self.aggregations,
            self.modifiers,
            self.negations,
            self.quotes,
            self.scope,
            self.unresolved,
        ):
            found.extend(group)
        if self.question:
            found.append(self.question)
        return tuple(sorted(found, key=lambda cue: (cue.start, cue.end, cue.kind, cue.value)))
