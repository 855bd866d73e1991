"""What the search for readings knows about one question: what it asks for, what it names, the paths found so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphroute.parsing.lexing import word_set
from graphroute.parsing.reading_costs import MAX_HOPS
from graphroute.parsing.relations import WordCue
from graphroute.parsing.tokens import Token
from graphroute.types.graph import Direction
from graphroute.types.ontology import RelationKind, RelationType
from graphroute.types.query import Cue, DateConstraint, DateMode, EventAnchor, Mention, Operation, Reading, Role
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, Instant, Interval, TimeFilter, TimeMode

LINKING = frozenset({"the", "a", "an", "named", "called", "is", "are", "was", "were"})
PERSONAL = frozenset({"i", "my", "me", "we", "our", "you", "your"})
ADVICE = frozenset({"can", "could", "should", "may", "must", "shall", "would"})
AND = frozenset({"and", "и", "和", "与", "及"})
_ROLE_WORDS = word_set("by from for with to of on in у от для к с на в 被 由 向 从 给")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the question asks for: the question word, the operation, and the word cue that names the slot."""

    kind: str
    operation: Operation
    start: int
    end: int
    target: int | None = None
    counted: int | None = None
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class Anchor:
    """A mention, or several coordinated ones, read as entities of certain types."""

    mentions: tuple[Mention, ...]
    types: tuple[str, ...]
    start: int
    end: int
    strong: bool

    def ids(self, index: int) -> tuple[str, ...]:
        """Entity ids of one mention that have one of the types."""
        return tuple(c.entity_id for c in self.mentions[index].candidates if set(c.types) & set(self.types))


@dataclass(slots=True)
class Step:
    """One hop of a path, the word that names it and whether another hop has used that word."""

    predicate: str
    direction: Direction
    types: tuple[str, ...]
    cue: int | None
    reused: bool


@dataclass(slots=True)
class Path:
    """A walk from an anchor, its cost so far and why."""

    steps: tuple[Step, ...]
    start_types: tuple[str, ...]
    used: frozenset[int]
    cost: float
    reasons: tuple[str, ...]
    types_seen: tuple[tuple[str, ...], ...]


@dataclass(slots=True)
class Question:
    """Everything the search needs to know about one question."""

    text: str
    tokens: Sequence[Token]
    mentions: Sequence[Mention]
    words: list[WordCue]
    values: Sequence[tuple[Cue, tuple[tuple[str, str], ...]]]
    dates: Sequence[DateConstraint]
    asked: Asked
    instant: Instant
    modifiers: frozenset[str] = frozenset()
    event: EventAnchor | None = None
    excluded: tuple[tuple[int, int], ...] = ()
    unresolved: bool = False
    membership: bool = False
    limit_hops: int = MAX_HOPS
    walked: dict[tuple[object, ...], list[Path]] = field(default_factory=dict)


def time_filter(
    relation: RelationType, dates: Sequence[DateConstraint], instant: Instant, word: WordCue | None = None
) -> TimeFilter:
    """How facts of a relation are tested for a question's dates (semantics: Time).

    No date: a state must hold at the instant, an event must have begun by then. A date or range: an event starts inside, a
    state overlaps, unless the cue is inchoative.
    """
    if not dates:
        if relation.kind is RelationKind.EVENT:
            return TimeFilter(TimeMode.OVERLAPS, Interval(None, instant + 1))
        return TimeFilter(TimeMode.OVERLAPS, Interval(instant, instant + 1))
    interval = asked_interval(dates)
    inchoative = next((date for date in dates if date.mode in (DateMode.STARTED, DateMode.ENDED)), None)
    if inchoative is not None and (word is not None or relation.kind is RelationKind.EVENT):
        mode = TimeMode.STARTS_IN if inchoative.mode is DateMode.STARTED else TimeMode.ENDS_IN
        return TimeFilter(mode, interval)
    if relation.kind is RelationKind.EVENT:
        return TimeFilter(TimeMode.STARTS_IN, interval)
    return TimeFilter(TimeMode.OVERLAPS, interval)


def are_apart(dates: Sequence[DateConstraint]) -> bool:
    """No moment fits all the dates: they are said of different things."""
    return max(date.interval.low for date in dates) >= min(date.interval.high for date in dates)


def asked_interval(dates: Sequence[DateConstraint]) -> Interval:
    """What all the dates have in common; the first where they have nothing."""
    low, high = MIN_INSTANT, MAX_INSTANT
    for date in dates:
        low, high = max(low, date.interval.low), min(high, date.interval.high)
    if low >= high:
        return dates[0].interval
    return Interval(None if low == MIN_INSTANT else low, None if high == MAX_INSTANT else high)


def noun_side(role: Role) -> Direction | None:
    """The direction in which a noun of a relation is reached; None for a verb."""
    if role is Role.OBJECT_NOUN:
        return Direction.FORWARD
    if role is Role.SUBJECT_NOUN:
        return Direction.BACKWARD
    return None


def reverse(direction: Direction) -> Direction:
    """The other way."""
    return Direction.BACKWARD if direction is Direction.FORWARD else Direction.FORWARD


def plain_gap(question: Question, start: int, end: int) -> bool:
    """True if nothing but linking words stands between two positions."""
    gap = question.text[start:end]
    return not any(char in gap for char in ",;:?") and all(
        t.key in LINKING for t in question.tokens if start <= t.start and t.end <= end
    )


def governed_alike(question: Question, anchor: Anchor) -> bool:
    """ "by X and by Y": a preposition repeated before each name asks for what fits all of them."""
    words: list[str] = []
    for mention in anchor.mentions:
        before = [token for token in question.tokens if token.end <= mention.cue.start]
        if not before or question.text[before[-1].end : mention.cue.start].strip():
            return False
        words.append(before[-1].key)
        if len(words) > 1 and not any(token.key in AND for token in before[-3:-1]):
            return False
    return len(set(words)) == 1 and words[0] in _ROLE_WORDS


def copula_between(question: Question, near_start: int, word: WordCue) -> bool:
    """ "X is a part of", "which is X a part of": X fills the noun."""
    before = [t for t in question.tokens if t.end <= near_start]
    rest = [t for t in question.tokens if t.start >= word.end]
    if before and before[-1].key in {"is", "was", "are", "were"} and len(rest) == 1 and rest[0].function:
        return True
    return any(t.key in {"is", "was", "are", "were"} and near_start < t.start < word.start for t in question.tokens)


def to_question(question: Question, index: int) -> int:
    """Characters from a word to what asks."""
    word = question.words[index]
    return min(abs(word.start - question.asked.end), abs(question.asked.start - word.end))


def hop_count(reading: Reading) -> int:
    """Hops of all branches."""
    return sum(len(branch.hops) for branch in reading.branches)


def signature(reading: Reading) -> str:
    """Readings that differ in nothing but cost have the same."""
    return "|".join(
        ",".join((*branch.anchors, *(f"{h.predicate}{h.direction}" for h in branch.hops)))
        for branch in reading.branches
    )
