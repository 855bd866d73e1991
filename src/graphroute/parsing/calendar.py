"""Calendar arithmetic of date phrases: instants of days and months, in microseconds."""

from __future__ import annotations

from datetime import date

from graphroute.types.time import Instant

DAY: Instant = 86_400_000_000
EPOCH = date(1970, 1, 1).toordinal()
FIRST_YEAR, LAST_YEAR = 1, 9998


def start_of_day(day: date) -> Instant:
    """Microseconds since 1970."""
    return (day.toordinal() - EPOCH) * DAY


def start_of_month(year: int, month: int) -> Instant:
    """Microseconds since 1970; month 13 is January of the next year."""
    extra, zero_based = divmod(month - 1, 12)
    return start_of_day(date(year + extra, zero_based + 1, 1))


def valid_year(year: int) -> bool:
    """True for a year that `date` knows, with one to spare on top."""
    return FIRST_YEAR <= year <= LAST_YEAR


def shift_month(day: date, months: int) -> date:
    """The same day months away, or the last one of a shorter month."""
    extra, zero_based = divmod(day.month - 1 + months, 12)
    year = day.year + extra
    for back in range(4):
        try:
            return date(year, zero_based + 1, day.day - back)
        except ValueError:
            continue
    raise ValueError(f"no such month {year}-{zero_based + 1}")
