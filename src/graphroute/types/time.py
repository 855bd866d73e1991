"""Instants and half-open intervals in UTC: one representation for facts, sources and questions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

Instant = int
"""Microseconds since 1970-01-01T00:00:00Z. Total order, no naive or aware mix; finer fractions are cut."""

MIN_INSTANT: Instant = -(2**62)
MAX_INSTANT: Instant = 2**62
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_DAY = 86_400_000_000


def instant_of(moment: datetime) -> Instant:
    """The instant of an aware `datetime`. Raises ValueError for a naive one."""
    if moment.tzinfo is None:
        raise ValueError(f"naive datetime {moment.isoformat()!r}: a time zone is required")
    return (moment - _EPOCH) // timedelta(microseconds=1)


def datetime_of(instant: Instant) -> datetime:
    """The aware UTC `datetime` of an instant."""
    return _EPOCH + timedelta(microseconds=instant)


def format_instant(instant: Instant | None) -> str | None:
    """ISO 8601: the date alone at midnight UTC, else with time and `Z`; None stays None. Raises OverflowError outside the years 1 to 9999."""
    if instant is None:
        return None
    # By integers: a third of what aware datetimes take.
    days, rest = divmod(instant, _DAY)
    try:
        day = date.fromordinal(_EPOCH_ORDINAL + days).isoformat()
    except ValueError as error:
        raise OverflowError("date value out of range") from error
    if not rest:
        return day
    seconds, fraction = divmod(rest, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{day}T{hour:02}:{minute:02}:{second:02}{f'.{fraction:06}' if fraction else ''}Z"


@dataclass(frozen=True, slots=True)
class Interval:
    """Half-open `[start, end)`. `start=None`: start unknown, read as unbounded. `end=None`: still in force."""

    start: Instant | None = None
    end: Instant | None = None

    @property
    def low(self) -> Instant:
        """The start for comparisons."""
        return MIN_INSTANT if self.start is None else self.start

    @property
    def high(self) -> Instant:
        """The exclusive end for comparisons."""
        return MAX_INSTANT if self.end is None else self.end

    def contains(self, instant: Instant) -> bool:
        """True if the instant lies inside."""
        return self.low <= instant < self.high

    def overlaps(self, other: Interval) -> bool:
        """True if the two share an instant."""
        return self.low < other.high and other.low < self.high

    def intersection(self, other: Interval) -> Interval | None:
        """The shared part, or None if there is none."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low >= high:
            return None
        return Interval(None if low == MIN_INSTANT else low, None if high == MAX_INSTANT else high)

    def format(self) -> str:
        """`2024-01-01..2024-04-01`, with an empty side where it is unknown or open."""
        return f"{format_instant(self.start) or ''}..{format_instant(self.end) or ''}"


ALWAYS = Interval()


class TimeMode(StrEnum):
    """How a fact's interval is tested against the interval asked about (semantics: Time)."""

    ANY = "any"
    OVERLAPS = "overlaps"
    STARTS_IN = "starts_in"
    ENDS_IN = "ends_in"


@dataclass(frozen=True, slots=True)
class TimeFilter:
    """A test on a fact's interval. A point in time is an interval one microsecond or one day wide."""

    mode: TimeMode = TimeMode.ANY
    interval: Interval = ALWAYS

    def accepts(self, interval: Interval) -> bool:
        """True if a fact valid in `interval` passes."""
        if self.mode is TimeMode.ANY:
            return True
        if self.mode is TimeMode.OVERLAPS:
            return interval.overlaps(self.interval)
        if self.mode is TimeMode.STARTS_IN:
            return interval.start is not None and self.interval.contains(interval.start)
        return interval.end is not None and self.interval.contains(interval.end)


ANY_TIME = TimeFilter()
