"""Entities, assertions, facts and paths, each with the support that proves it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from graphroute.types.source import SourceSpan
from graphroute.types.time import ALWAYS, ANY_TIME, Instant, Interval, TimeFilter


class Direction(StrEnum):
    """How a hop walks a fact: along it (subject to object) or against it."""

    FORWARD = "forward"
    BACKWARD = "backward"


SupportSet = tuple[SourceSpan, ...]
"""Sources that prove an assertion together. An assertion has alternatives of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A thing with an opaque, case-sensitive id. `name` is the display form for the reader it was read for."""

    id: str
    types: tuple[str, ...]
    name: str
    names: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        """The first type, or an empty string."""
        return self.types[0] if self.types else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One statement of one or more sources, as ingested."""

    id: str
    subject: str
    predicate: str
    object: str
    validity: Interval = ALWAYS
    supports: tuple[SupportSet, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    extraction_version: str | None = None
    review_status: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """A readable support of a fact: the source, where in it, and how old it is.

    `group`: which of the assertion's readable support sets the span belongs to, 0 for the newest; spans of one
    group prove the assertion together.
    """

    assertion_id: str
    span: SourceSpan
    source_validity: Interval = ALWAYS
    source_timestamp: Instant | None = None
    source_kind: str | None = None
    group: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """(subject, predicate, object, interval) with the readable assertions that state it, in id order.

    `negated`: the assertions state that it did not hold in the interval; it is another fact than the one that it denies.
    """

    subject: str
    predicate: str
    object: str
    validity: Interval = ALWAYS
    assertion_ids: tuple[str, ...]
    negated: bool = False

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """Total, deterministic order and identity of a fact."""
        predicate = f"not {self.predicate}" if self.negated else self.predicate
        return (self.subject, predicate, self.object, self.validity.low, self.validity.high)


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a path: the fact and the direction in which it is walked."""

    fact: Fact
    direction: Direction

    @property
    def start(self) -> str:
        """The entity the hop leaves."""
        return self.fact.subject if self.direction is Direction.FORWARD else self.fact.object

    @property
    def end(self) -> str:
        """The entity the hop reaches."""
        return self.fact.object if self.direction is Direction.FORWARD else self.fact.subject


@dataclass(frozen=True, slots=True)
class Path:
    """A trail: hops where each starts at the entity the one before reached, and no fact twice."""

    hops: tuple[Hop, ...]

    @property
    def start(self) -> str:
        """The anchor."""
        return self.hops[0].start

    @property
    def end(self) -> str:
        """The entity reached."""
        return self.hops[-1].end

    @property
    def nodes(self) -> tuple[str, ...]:
        """All entities in order, the start first."""
        return (self.start, *(hop.end for hop in self.hops))

    @property
    def key(self) -> tuple[int, tuple[tuple[str, str, str, int, int], ...]]:
        """Deterministic order: fewer hops first, then ids."""
        return (len(self.hops), tuple(hop.fact.key for hop in self.hops))


@dataclass(frozen=True, slots=True)
class AttributeFilter:
    """`key` of an entity compared with a value. `operator` is one of eq, ne, lt, le, gt, ge, in_range.

    eq and ne compare folded text; the others compare numbers, or instants for `in_range` (value "low..high"
    in microseconds, half-open).
    """

    key: str
    operator: str
    value: str


@dataclass(frozen=True, slots=True)
class HopPattern:
    """One step of a pattern. Empty `predicates` or `types` mean any; `ends` restricts the entities reached."""

    predicates: tuple[str, ...]
    direction: Direction | None
    types: tuple[str, ...] = ()
    time: TimeFilter = ANY_TIME
    ends: tuple[str, ...] | None = None
    filters: tuple[AttributeFilter, ...] = ()


@dataclass(frozen=True, slots=True)
class PathPattern:
    """Fixed-length pattern from given entities. `limit` bounds the paths returned, shortest and lowest ids first."""

    starts: tuple[str, ...]
    hops: tuple[HopPattern, ...]
    limit: int


@dataclass(frozen=True, slots=True)
class PathSet:
    """Paths found, in canonical order; `truncated` if more exist than the limit."""

    paths: tuple[Path, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class EndCount:
    """How many entities trails end at. `first`: the lowest ids of them, as many as were asked for."""

    number: int
    first: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TopEnds:
    """The entities with the most or fewest distinct entities one hop before them, in id order.

    `size`: that number, 0 if nothing is reached; `groups`: how many entities were compared.
    """

    ends: tuple[str, ...] = ()
    size: int = 0
    groups: int = 0

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]], *, most: bool, places: int = 1) -> Self:
        """Of pairs of an entity and the one that a hop reaches from it.

        `places`: how many ends at least, in the order of their sizes; `size` is that of the last, and what ties with it is there too.
        """
        sizes = Counter(end for _, end in set(pairs))
        if not sizes:
            return cls()
        sign = -1 if most else 1
        ranked = sorted(sizes, key=lambda end: (sign * sizes[end], end))
        size = sizes[ranked[min(places, len(ranked)) - 1]]
        return cls(tuple(end for end in ranked if sign * sizes[end] <= sign * size), size, len(sizes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """A typed attribute of an entity as one source states it. `number` and `instant` are set where it parses as one."""

    entity_id: str
    key: str
    value: str
    span: SourceSpan
    number: float | None = None
    instant: Instant | None = None
    validity: Interval = ALWAYS
