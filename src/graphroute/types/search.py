"""What a passage search is narrowed by, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass

from graphroute.types.time import ANY_TIME, TimeFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageFilter:
    """Narrows a search inside the view. None: no restriction; an empty tuple: nothing."""

    source_ids: tuple[str, ...] | None = None
    nodes: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    time: TimeFilter = ANY_TIME


NO_FILTER = PassageFilter()


@dataclass(frozen=True, slots=True)
class Scored:
    """A passage id and its score; equal scores are ordered by id."""

    passage_id: str
    score: float
