"""Which readable support of an assertion is shown, and whether a fact rests on sources that are too old."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import groupby

from graphroute.types.graph import Support
from graphroute.types.time import MIN_INSTANT, Instant, Interval

_DAY = 86_400_000_000


class Wanted(StrEnum):
    """Which support of a fact a question needs."""

    NEWEST = "newest"
    EARLIEST = "earliest"


def choose(supports: Sequence[Support], *, validity: Interval, instant: Instant, wanted: Wanted) -> tuple[Support, ...]:
    """One support set out of an assertion's readable ones, which the catalog numbers newest first.

    NEWEST: the newest in force at the instant; where none is, the newest in force while the fact holds, else the newest dated not after the
    instant, else the newest. EARLIEST: the first that states it.
    """
    sets = [tuple(members) for _, members in groupby(sorted(supports, key=_order), key=lambda one: one.group)]
    if not sets:
        return ()
    if wanted is Wanted.EARLIEST:
        return sets[-1]
    for test in (
        lambda one: one.source_validity.contains(instant),
        lambda one: one.source_validity.overlaps(validity),
        lambda one: one.source_timestamp is not None and one.source_timestamp <= instant,
    ):
        fitting = next((members for members in sets if all(map(test, members))), None)
        if fitting is not None:
            return fitting
    return sets[0]


def _order(support: Support) -> tuple[int, str, int, int]:
    span = support.span
    return (
        support.group,
        span.source_id,
        -1 if span.start is None else span.start,
        -1 if span.end is None else span.end,
    )


def dated(support: Support) -> Instant:
    """How new a source is: its own date, else the day it came into force, MIN_INSTANT if it has neither."""
    return support.source_timestamp if support.source_timestamp is not None else support.source_validity.low


def too_old(supports: Sequence[Support], *, max_age_days: float | None, instant: Instant) -> bool:
    """True if every support set of a fact is older at the instant than allowed; a set is as old as its oldest source.

    A set that holds a source without any date cannot prove its age and counts as too old.
    """
    if max_age_days is None:
        return False
    sets: dict[tuple[str, int], Instant] = {}
    for support in supports:
        key = (support.assertion_id, support.group)
        sets[key] = min(sets.get(key, dated(support)), dated(support))
    oldest = instant - max_age_days * _DAY
    return all(date == MIN_INSTANT or date < oldest for date in sets.values())
