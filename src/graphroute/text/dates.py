"""Reads the dates of data files and records into instants, by one stated rule each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone

from graphroute.types.time import Instant, datetime_of, instant_of

MOMENT_FORMS = "YYYY-MM-DD, YYYY-MM-DDThh:mm[:ss[.fff]][Z|+hh:mm], YYYY-MM or YYYY"

_MOMENT = re.compile(
    r"(?P<year>[0-9]{4})"
    r"(?:-(?P<month>[0-9]{2})"
    r"(?:-(?P<day>[0-9]{2})"
    r"(?:[T ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,12}))?)?"
    r"[ ]?(?P<zone>Z|z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?)?)?"
)
_NUMERIC = re.compile(r"([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4})")
_YEAR_FIRST = re.compile(r"([0-9]{4})([/.])([0-9]{1,2})\2([0-9]{1,2})")
_HAN = re.compile(r"([0-9]{4})年([0-9]{1,2})月(?:([0-9]{1,2})[日号])?")
_DAY_NAME_YEAR = re.compile(
    r"([0-9]{1,2})(?:st|nd|rd|th)?\.?[ -]([^\W\d_]{3,9})\.?,?[ -]([0-9]{4})(?: ?(?:г\.|года|год))?"
)
_NAME_DAY_YEAR = re.compile(r"([^\W\d_]{3,9})\.? ([0-9]{1,2})(?:st|nd|rd|th)?,? ([0-9]{4})")

_ENGLISH = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_RUSSIAN = (
    "января",
    "февраля",
    "марта",
    "апреля",
    "мая",
    "июня",
    "июля",
    "августа",
    "сентября",
    "октября",
    "ноября",
    "декабря",
)
_MONTHS = {name: number for names in (_ENGLISH, _RUSSIAN) for number, name in enumerate(names, 1)}
_MONTHS.update({name[:3]: number for number, name in enumerate(_ENGLISH, 1)})
_MONTHS["sept"] = 9


def parse_moment(text: str) -> Instant:
    """The instant a data file's date stands for.

    A date-time without zone is UTC; a shorter date stands for its first moment (a day: midnight UTC); fractions finer
    than a microsecond are cut. Raises ValueError, with the reason, for anything else.
    """
    match = _MOMENT.fullmatch(text)
    if match is None:
        raise ValueError(f"{_shown(text)} is not a date")
    part = match.groupdict()
    if part["hour"] is not None and int(part["hour"]) > 23:
        raise ValueError(f"{_shown(text)} has hour {part['hour']}")
    if part["second"] is not None and int(part["second"]) > 59:
        raise ValueError(f"{_shown(text)} has second {part['second']}; leap seconds are not kept")
    try:
        moment = datetime(
            int(part["year"]),
            int(part["month"] or 1),
            int(part["day"] or 1),
            int(part["hour"] or 0),
            int(part["minute"] or 0),
            int(part["second"] or 0),
            int((part["fraction"] or "0")[:6].ljust(6, "0")),
            tzinfo=_zone(part["zone"]),
        )
        instant = instant_of(moment)
        datetime_of(instant)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{_shown(text)} is no day or time there is ({error})") from None
    return instant


def parse_record_date(text: str, order: str = "MDY") -> Instant | None:
    """The first moment of a date as people write it in records, or None if `text` is not one date.

    ISO forms with at least a month; `11/05/2025` by `order` ("MDY" or "DMY"; any other order reads no such date) unless a part
    above 12 leaves one reading only; with dots (`05.11.2025`) the day comes first; English and Russian month names;
    `2025年11月5日`. Years have four digits.
    """
    text = text.strip()
    if not 7 <= len(text) <= 40:
        return None
    if text[4] in "-" and _MOMENT.fullmatch(text):
        try:
            return parse_moment(text)
        except ValueError:
            return None
    if match := _NUMERIC.fullmatch(text):
        first, mark, second, year = int(match[1]), match[2], int(match[3]), int(match[4])
        day_first = mark == "." or order == "DMY"
        if order not in ("MDY", "DMY") and mark != "." and first <= 12 and second <= 12:
            return None
        if first > 12:
            day_first = True
        elif second > 12:
            day_first = False
        return _day(year, second, first) if day_first else _day(year, first, second)
    if match := _YEAR_FIRST.fullmatch(text):
        return _day(int(match[1]), int(match[3]), int(match[4]))
    if match := _HAN.fullmatch(text):
        return _day(int(match[1]), int(match[2]), int(match[3] or 1))
    if match := _DAY_NAME_YEAR.fullmatch(text):
        month = _MONTHS.get(match[2].casefold())
        return _day(int(match[3]), month, int(match[1])) if month else None
    if match := _NAME_DAY_YEAR.fullmatch(text):
        month = _MONTHS.get(match[1].casefold())
        return _day(int(match[3]), month, int(match[2])) if month else None
    return None


def infer_date_order(values: Iterable[str]) -> str:
    """`MDY` or `DMY`: the order that reads the `a/b/yyyy` dates among `values`; `MDY` if both or neither do.

    One date whose first part is above 12 settles it for the whole field.
    """
    day_first = month_first = 0
    for value in values:
        match = _NUMERIC.fullmatch(value.strip())
        if match and match[2] != ".":
            day_first += int(match[1]) > 12
            month_first += int(match[3]) > 12
    return "DMY" if day_first > month_first else "MDY"


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    if hours > 23 or minutes > 59:
        raise ValueError(f"offset {text}")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)


def _day(year: int, month: int, day: int) -> Instant | None:
    try:
        return instant_of(datetime(year, month, day, tzinfo=UTC))
    except ValueError:
        return None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
