"""Reads property values of a foreign graph: dates in several forms, and keys as parts of ids."""

from __future__ import annotations

import re

from graphroute.text.dates import parse_moment, parse_record_date
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, Instant

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_OFFSET_NAME = re.compile(r"\[[\w/+-]+\]\Z")
_SECOND = 1_000_000


def parse_date(text: str, order: str = "MDY") -> Instant | None:
    """The first moment of a date as graphs keep it, or None.

    Dates and date-times in ISO form (Neo4j's own types among them), as people write them (`parse_record_date`), years, `YYYYMMDD`, and epoch
    numbers: below 1e11 seconds, below 1e14 milliseconds, else microseconds.
    """
    text = _OFFSET_NAME.sub("", text.strip())
    if _NUMBER.fullmatch(text):
        return _number_date(text)
    try:
        return parse_moment(text)
    except ValueError:
        pass
    cut = text[:-1] if text.endswith("Z") else text
    if len(text) > 10 and text[10:11] in "T " and cut.count(":") == 1:
        try:
            return parse_moment(text)
        except ValueError:
            return None
    return parse_record_date(text, order)


def _number_date(text: str) -> Instant | None:
    number = float(text)
    if number.is_integer() and 1000 <= number <= 2999:
        return parse_moment(f"{int(number):04d}")
    if number.is_integer() and 1000_01_01 <= number <= 2999_12_31:
        digits = str(int(number))
        try:
            return parse_moment(f"{digits[:4]}-{digits[4:6]}-{digits[6:]}")
        except ValueError:
            pass
    size = abs(number)
    moment = int(number * _SECOND) if size < 1e11 else int(number * 1_000) if size < 1e14 else int(number)
    # No date of a person or a business lies outside the years 0001 to 9999.
    return moment if -62_135_596_800 * _SECOND <= moment < 253_402_300_800 * _SECOND else None


def part(key: str) -> str:
    """A key or name as one part of an id, so that "/" only ever parts them."""
    return key.replace("%", "%25").replace("/", "%2F")


def whole(text: str) -> str:
    """The key or name of a part."""
    return text.replace("%2F", "/").replace("%25", "%")


def bounds(start: str | None, end: str | None, order: str) -> tuple[Instant, Instant] | None:
    """Low and high of an interval from its two dates as text; None where a date is there and cannot be read."""
    low = high = None
    if start is not None:
        low = parse_date(start, order)
        if low is None:
            return None
    if end is not None:
        high = parse_date(end, order)
        if high is None:
            return None
    low = MIN_INSTANT if low is None else low
    high = MAX_INSTANT if high is None else high
    return (low, high) if low < high else None
