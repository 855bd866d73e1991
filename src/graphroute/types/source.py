"""Source, span and passage: what was read, and where in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphroute.types.time import ALWAYS, Instant, Interval


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A half-open range of Unicode code points in a source's stored text; `None` bounds: the whole source."""

    source_id: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One citable document. `id` is its external id; `labels` alone decide who may read it (any one suffices)."""

    id: str
    title: str = ""
    text: str
    labels: frozenset[str]
    parent: str | None = None
    kind: str | None = None
    node: str | None = None
    lang: str | None = None
    validity: Interval = ALWAYS
    timestamp: Instant | None = None
    origin: str | None = None
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a source that is searched and cited as one: `[start, end)` in the source's text."""

    id: str
    source_id: str
    start: int
    end: int
    text: str
    title: str = ""
    validity: Interval = ALWAYS
    timestamp: Instant | None = None
    kind: str | None = None
    node: str | None = None
