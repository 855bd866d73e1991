"""Single dates of a question, read by recursive descent over its symbols, in English, Russian and Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

from graphroute.parsing.calendar import (
    DAY,
    EPOCH,
    FIRST_YEAR,
    LAST_YEAR,
    shift_month,
    start_of_day,
    start_of_month,
    valid_year,
)
from graphroute.parsing.date_words import (
    AD,
    BC,
    CENTURY,
    CLAUSE_WORDS,
    CLOCK,
    CURRENCY,
    DAYS_AWAY,
    DECADE,
    DECADE_WORDS,
    DMY,
    HAN_DIGITS,
    HAN_UNITS,
    HAN_WEEKDAYS,
    ID_NOUNS,
    ISO,
    ISO_WEEK,
    MEASURE_HAN,
    MEASURES,
    MONTHS,
    NOW,
    NUMBERS,
    ORDINALS,
    PARTS,
    QUANTITIES,
    QY,
    ROLLING,
    RU_ID_NOUNS,
    SHIFTS,
    SHORT_DECADE,
    SHORT_YEAR,
    TAIL_DECADE,
    TO,
    UNITS,
    WEEKDAYS,
    YM,
    YMD,
    YQ,
)
from graphroute.parsing.lexing import Lexed, Match, Phrases, is_han, is_word_character
from graphroute.types.time import Instant, datetime_of


@dataclass(frozen=True, slots=True)
class Atom:
    """One date: symbols up to `after`, interval in microseconds; `problem` if it cannot be read."""

    after: int
    low: Instant
    high: Instant
    rule: str
    fine: bool = False
    ambiguous: bool = False
    problem: str = ""
    operation: str = ""


class AtomReader:
    """Recursive descent with bounded look-ahead over the symbols of one question."""

    def __init__(self, lexed: Lexed, blocked: list[bool], instant: Instant, order: str) -> None:
        self.lexed = lexed
        self.flat = lexed.flat
        self.symbols = lexed.symbols
        self.blocked = blocked
        self.instant = instant
        self.today = datetime_of(instant).date()
        self.order = order
        self._trusted = -1

    # Positions

    def _free(self, index: int) -> bool:
        return 0 <= index < len(self.symbols) and not self.blocked[index]

    def _key(self, index: int) -> str:
        return self.symbols[index].key if self._free(index) else ""

    def _kind(self, index: int) -> str:
        return self.symbols[index].kind if self._free(index) else ""

    def _glued(self, index: int) -> bool:
        """True if symbol `index` touches the one before it."""
        return index > 0 and index < len(self.symbols) and self.symbols[index].start == self.symbols[index - 1].end

    def _phrase(self, phrases: Phrases, index: int) -> Match | None:
        if not self._free(index):
            return None
        match = phrases.at(self.symbols, index)
        if match is None or any(self.blocked[match.first : match.last]):
            return None
        return match

    def _starts_clean(self, index: int) -> bool:
        position = self.symbols[index].start
        if position == 0 or index == self._trusted:
            return True
        before = self.flat[position - 1]
        if is_word_character(before):
            return False
        if before in CURRENCY or before == "+":
            return False
        earlier = self.flat[position - 2] if position > 1 else " "
        return not (before in "-/.:,'_~" and is_word_character(earlier))

    def _ends_clean(self, position: int) -> bool:
        if position >= len(self.flat):
            return True
        after = self.flat[position]
        if is_word_character(after) or after in "%°$€£¥₽":
            return False
        following = self.flat[position + 1] if position + 1 < len(self.flat) else " "
        if after in "./:,_" and following.isdigit():
            return False
        return not (after in "-/_" and (following.isdigit() or following.isupper()))

    def _after(self, position: int) -> int:
        return self.lexed.index_at(position)

    # Intervals

    def _day(
        self, after: int, year: int, month: int, day: int, rule: str, text: str, *, ambiguous: bool = False
    ) -> Atom:
        try:
            if not valid_year(year):
                raise ValueError(f"year {year}")
            low = start_of_day(date(year, month, day))
        except ValueError:
            return Atom(after, 0, 0, rule, problem=f"{text!r} is not a date of the calendar")
        return Atom(after, low, low + DAY, rule, fine=True, ambiguous=ambiguous)

    def _months(self, after: int, year: int, month: int, count: int, rule: str, text: str) -> Atom:
        if not valid_year(year) or not 1 <= month <= 12:
            return Atom(after, 0, 0, rule, problem=f"{text!r} is not a date of the calendar")
        return Atom(after, start_of_month(year, month), start_of_month(year, month + count), rule)

    def _years(self, after: int, year: int, count: int, rule: str, text: str, *, ambiguous: bool = False) -> Atom:
        if not valid_year(year) or not valid_year(year + count):
            return Atom(after, 0, 0, rule, problem=f"{text!r} is outside the years {FIRST_YEAR}..{LAST_YEAR}")
        return replace(self._months(after, year, 1, 12 * count, rule, text), ambiguous=ambiguous)

    def _part(self, atom: Atom, part: str, after: int) -> Atom:
        """The early, middle or late part of a period, its first or its last day."""
        if atom.problem or atom.fine:
            return atom
        low, high = atom.low, atom.high
        if part == "start":
            return replace(atom, high=low + DAY, fine=True, rule=f"start_of_{atom.rule}", after=after)
        if part == "end":
            return replace(atom, low=high - DAY, fine=True, rule=f"end_of_{atom.rule}", after=after)
        first = date.fromordinal(low // DAY + EPOCH)
        last = date.fromordinal(high // DAY + EPOCH)
        if atom.rule in ("decade", "century"):
            ten = (last.year - first.year) // 10
            cuts = {"early": (0, 5 * ten), "mid": (3 * ten, 7 * ten), "late": (5 * ten, 10 * ten)}[part]
            low, high = start_of_month(first.year + cuts[0], 1), start_of_month(first.year + cuts[1], 1)
        elif (last.year - first.year) * 12 + last.month - first.month == 12:
            start = {"early": 1, "mid": 5, "late": 9}[part]
            low, high = start_of_month(first.year, start), start_of_month(first.year, start + 4)
        else:
            third = (high - low) // DAY // 3
            start = {"early": 0, "mid": third, "late": 2 * third}[part]
            low, high = low + start * DAY, high if part == "late" else low + (start + third) * DAY
        return replace(atom, low=low, high=high, ambiguous=False, rule=f"{part}_{atom.rule}", after=after)

    # Atoms

    def atom(self, index: int, *, prefixed: bool = False) -> Atom | None:
        """The date that starts at symbol `index`. `prefixed`: a word before it says that a date follows."""
        if not self._free(index):
            return None
        if self._key(index - 1) == "-" and prefixed:
            self._trusted = index
        part = self._phrase(PARTS, index)
        if part is not None:
            if self._key(part.last - 1) == "-":
                self._trusted = part.last
            inner = self._plain(part.last, prefixed=True)
            if inner is not None:
                return self._part(inner, part.value, inner.after)
        found = self._plain(index, prefixed=prefixed)
        if found is not None and not found.problem:
            for offset, part_name in (
                ("初", "early"),
                ("中期", "mid"),
                ("末期", "late"),
                ("末", "late"),
                ("底", "late"),
            ):
                if offset == "底" and self._key(found.after + 1) in ("特", "部", "层", "下", "线"):
                    continue
                if all(self._key(found.after + step) == sign for step, sign in enumerate(offset)):
                    return self._part(found, part_name, found.after + len(offset))
        return found

    def _plain(self, index: int, *, prefixed: bool) -> Atom | None:
        if not self._free(index):
            return None
        readers: tuple[Callable[[int], Atom | None], ...] = (self._numeric, self._chinese, self._named, self._relative)
        for reader in readers:
            found = reader(index)
            if found is not None:
                if found.rule == "decade" and self._key(found.after) in ("годов", "годы", "годах", "годам", "years"):
                    found = replace(found, after=found.after + 1)
                return None if any(self.blocked[index : found.after]) else found
        return self._year(index, prefixed=prefixed)

    def _numeric(self, index: int) -> Atom | None:
        symbol = self.symbols[index]
        position = symbol.start
        if symbol.kind == "word" and symbol.key in ("q", "h"):
            if not self._starts_clean(index):
                return None
            match = QY.match(self.flat, position)
            return self._quarter(match[2], match[1], match) if match and self._ends_clean(match.end()) else None
        if symbol.kind == "word" and symbol.key == "the":
            match = SHORT_DECADE.match(self.flat, position + 4)
            if match and self.flat[position + 3 : position + 4] == " " and self._ends_clean(match.end()):
                return self._years(self._after(match.end()), 1900 + int(match[1]), 10, "decade", match[0])
            match = CENTURY.match(self.flat, position + 4)
            if match and self._ends_clean(match.end()):
                return self._century(match)
        if symbol.kind == "mark" and symbol.key == "'":
            match = SHORT_DECADE.match(self.flat, position)
            if match and self._ends_clean(match.end()):
                return self._years(self._after(match.end()), 1900 + int(match[1]), 10, "decade", match[0])
        if symbol.kind != "number" and symbol.key != "the":
            return None
        if not self._starts_clean(index):
            return None
        match = DECADE.match(self.flat, position)
        if match and self._ends_clean(match.end()):
            year = int(match[1])
            return self._years(self._after(match.end()), year, 10, "decade", match[0], ambiguous=year % 100 == 0)
        if symbol.kind != "number":
            return None
        match = ISO.match(self.flat, position)
        if match and self._ends_clean(match.end()):
            return self._iso(match)
        match = ISO_WEEK.match(self.flat, position)
        if match and self._ends_clean(match.end()):
            try:
                low = start_of_day(date.fromisocalendar(int(match[1]), int(match[2]), 1))
            except ValueError:
                return Atom(
                    self._after(match.end()), 0, 0, "week", problem=f"{match[0]!r} is not a week of the calendar"
                )
            return Atom(self._after(match.end()), low, low + 7 * DAY, "week")
        match = YMD.match(self.flat, position)
        if match and self._ends_clean(match.end()):
            return self._day(self._after(match.end()), int(match[1]), int(match[3]), int(match[4]), "numeric", match[0])
        match = DMY.match(self.flat, position)
        if match and self._ends_clean(match.end()):
            return self._by_order(match)
        match = SHORT_YEAR.match(self.flat, position)
        if match and self._ends_clean(match.end()) and max(int(match[1]), int(match[2])) <= 31:
            problem = f"{match[0]!r} has a year of two digits"
            return Atom(self._after(match.end()), 0, 0, "numeric", problem=problem)
        match = YQ.match(self.flat, position)
        if match and self._ends_clean(match.end()):
            return self._quarter(match[1], match[2], match)
        match = YM.match(self.flat, position)
        if (
            match
            and self._ends_clean(match.end())
            and self.lexed.text[position + 4] == "-"
            and 1 <= int(match[2]) <= 12
        ):
            return self._months(self._after(match.end()), int(match[1]), int(match[2]), 1, "iso_month", match[0])
        match = CENTURY.match(self.flat, position)
        if match and (match[0].endswith("纪") or self._ends_clean(match.end())):
            return self._century(match)
        return None

    def _century(self, match: re.Match[str]) -> Atom | None:
        century = int(match[1])
        if not 1 <= century <= 30:
            return None
        after = self._after(match.end())
        base = (century - 1) * 100
        # Chinese names a decade inside a century: 20世纪90年代.
        tail = TAIL_DECADE.match(self.flat, match.end())
        if tail:
            return self._years(self._after(tail.end()), base + int(tail[1]), 10, "decade", match[0] + tail[0])
        return self._years(after, base + 1, 100, "century", match[0])

    def _quarter(self, year: str, name: str, match: re.Match[str]) -> Atom:
        length = 3 if name[0] in "Qq" else 6
        month = 1 + length * (int(name[1]) - 1)
        rule = "quarter" if length == 3 else "half_year"
        return self._months(self._after(match.end()), int(year), month, length, rule, match[0])

    def _by_order(self, match: re.Match[str]) -> Atom:
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        after = self._after(match.end())
        order = "DMY" if match[2] == "." else self.order
        if first > 12 >= second:
            order = "DMY"
        elif second > 12 >= first:
            order = "MDY"
        day, month = (first, second) if order == "DMY" else (second, first)
        ambiguous = match[2] != "." and first <= 12 and second <= 12 and first != second
        return self._day(after, year, month, day, "numeric", match[0], ambiguous=ambiguous)

    def _iso(self, match: re.Match[str]) -> Atom:
        after = self._after(match.end())
        atom = self._day(after, int(match[1]), int(match[2]), int(match[3]), "iso", match[0])
        if atom.problem or match[4] is None:
            return atom
        return self._clock(atom, match[4], match[5], match[6], match[7], match[8], match[0], after)

    def _clock(
        self,
        atom: Atom,
        hour: str,
        minute: str,
        second: str | None,
        fraction: str | None,
        zone: str | None,
        text: str,
        after: int,
    ) -> Atom:
        """A day narrowed to a time of it: one minute, second or microsecond wide; no zone means UTC."""
        if int(hour) > 23 or int(minute) > 59 or int(second or 0) > 59:
            return replace(atom, problem=f"{text!r} is not a time of day", after=after)
        width = 60_000_000 if second is None else 1_000_000 if fraction is None else 1
        low = atom.low + ((int(hour) * 60 + int(minute)) * 60 + int(second or 0)) * 1_000_000
        if fraction:
            low += int(fraction[:6].ljust(6, "0"))
        if zone and zone[0] in "+-":
            digits = zone[1:].replace(":", "")
            offset = int(digits[:2]) * 60 + int(digits[2:])
            low += (-offset if zone[0] == "+" else offset) * 60_000_000
        return Atom(after, low, low + width, "date_time", fine=True)

    def _with_clock(self, atom: Atom) -> Atom:
        if atom.problem or not atom.fine or atom.after == 0 or atom.rule not in ("iso", "day_month_year", "numeric"):
            return atom
        match = CLOCK.match(self.flat, self.symbols[atom.after - 1].end)
        if match is None or not self._ends_clean(match.end()):
            return atom
        after = self._after(match.end())
        if any(self.blocked[atom.after : after]):
            return atom
        return self._clock(atom, match[1], match[2], match[3], None, match[4], match[0].strip(), after)

    def _four_digits(self, index: int) -> int | None:
        """A year of four digits at `index`, bounded on its right."""
        if self._kind(index) != "number":
            return None
        symbol = self.symbols[index]
        piece = self.flat[symbol.start : symbol.end]
        if len(piece) != 4 or not piece.isascii() or not self._ends_clean_year(symbol.end):
            return None
        return int(piece)

    def _ends_clean_year(self, position: int) -> bool:
        return self._ends_clean(position) or self.flat[position : position + 1] == "-"

    def _day_number(self, index: int) -> tuple[int, int] | None:
        """A day of the month at `index`, with its ordinal ending: (day, symbol after)."""
        if self._kind(index) != "number" or not self._starts_clean(index):
            return None
        symbol = self.symbols[index]
        if symbol.end - symbol.start > 2 or not self.flat[symbol.start : symbol.end].isascii():
            return None
        after = index + 1
        if self._glued(after):
            if self._key(after) in ("st", "nd", "rd", "th"):
                after += 1
            elif self._key(after) != "-" and self._kind(after) != "mark":
                return None
            elif self._key(after) in (".", ":", "/", "%", "_"):
                if not (self._key(after) == "." and self._key(after + 1) in MONTHS):
                    return None
                after += 1
        return int(self.flat[symbol.start : symbol.end]), after

    def _month_name(self, index: int) -> tuple[int, int] | None:
        key = self._key(index)
        month = MONTHS.get(key) if key else None
        if month is None or self.symbols[index].kind != "word":
            return None
        after = index + 1
        if self._key(after) == "." and self._glued(after) and len(key) <= 4 and self._kind(after + 1) == "number":
            after += 1
        return month, after

    def _year_after(self, index: int) -> tuple[int, int] | None:
        """`, of` and a year of four digits: (year, symbol after), with a closing `года`."""
        if self._key(index) in (",", "of", "-", "/"):
            index += 1
        year = self._four_digits(index)
        if year is None:
            year = self._early_year(index)
        elif year < 1000:
            return None
        if year is None:
            return None
        after = index + 1
        if self._key(after) in ("г", "года", "год", "году"):
            after += 1
            if self._key(after) == "." and self._glued(after) and self._key(after - 1) == "г":
                after += 1
        return year, after

    def _named(self, index: int) -> Atom | None:
        """Dates with a month name, a named quarter or half, or a decade word."""
        start = index + 1 if self._key(index) == "the" else index
        day = self._day_number(start)
        if day is not None:
            after = day[1] + 1 if self._key(day[1]) == "of" else day[1]
            if self._key(after) == "-":
                after += 1
            month = self._month_name(after)
            if month is not None:
                year = self._year_after(month[1])
                if year is None:
                    if 1 <= day[0] <= 31 and self._kind(month[1]) != "number" and self._capital(after):
                        return self._without_year(index, month[1])
                    return None
                return self._with_clock(
                    self._day(year[1], year[0], month[0], day[0], "day_month_year", self._between(start, year[1]))
                )
        month = self._month_name(index)
        if month is not None:
            return self._after_month(index, month)
        ordinal = self._ordinal(start)
        if ordinal is not None:
            return ordinal
        decade = DECADE_WORDS.get(self._key(start))
        if decade is not None and (start > index or (self._kind(start) == "word" and self._key(start).endswith("ых"))):
            return self._years(start + 1, decade, 10, "decade", self._between(start, start + 1))
        return None

    def _after_month(self, index: int, month: tuple[int, int]) -> Atom | None:
        number, after = month
        day = self._day_number(after)
        if day is not None and self._kind(after) == "number":
            year = self._year_after(day[1])
            if year is not None:
                text = self._between(index, year[1])
                return self._with_clock(self._day(year[1], year[0], number, day[0], "day_month_year", text))
            connector = self._phrase(TO, day[1])
            if connector is not None:
                if self._key(connector.last - 1) == "-":
                    self._trusted = connector.last
                last = self._day_number(connector.last)
                year = self._year_after(last[1]) if last else None
                if last is not None and year is not None:
                    text = self._between(index, year[1])
                    low = self._day(year[1], year[0], number, day[0], "day_month_year_range", text)
                    high = self._day(year[1], year[0], number, last[0], "day_month_year_range", text)
                    if low.problem or high.problem or high.high <= low.low:
                        return replace(low, problem=f"{text!r} is not a range of the calendar")
                    return replace(low, high=high.high, fine=False)
            if self._capital(index) and 1 <= day[0] <= 31 and self._ends_clean(self.symbols[day[1] - 1].end):
                return self._without_year(index, day[1])
        year = self._year_after(after)
        if year is not None:
            return self._months(year[1], year[0], number, 1, "month_year", self._between(index, year[1]))
        return None

    def _without_year(self, index: int, after: int) -> Atom:
        return Atom(after, 0, 0, "day_month", problem=f"{self._between(index, after)!r} has no year")

    def _ordinal(self, index: int) -> Atom | None:
        """`first quarter of 2024`, `second half of 2024`, `1st quarter 2024`, `в первом квартале 2024 года`."""
        number = ORDINALS.get(self._key(index))
        after = index + 1
        if number is None:
            day = self._day_number(index)
            if (
                day is None
                or day[0] > 4
                or (day[1] == index + 1 and self._key(day[1]) not in ("квартал", "квартале", "квартала"))
            ):
                return None
            number, after = day
        if self._key(after) in ("quarter", "квартал", "квартале", "квартала"):
            length, rule = 3, "quarter"
        elif self._key(after) in ("half", "полугодие", "полугодии") and number in (1, 2, 4):
            length, rule = 6, "half_year"
            number = min(number, 2)
        else:
            return None
        after += 1
        if self._key(after) == "of":
            after += 1
        year = self._year_after(after)
        if year is None:
            return None
        return self._months(year[1], year[0], 1 + length * (number - 1), length, rule, self._between(index, year[1]))

    def _han_number(self, index: int) -> tuple[int, int] | None:
        """Arabic digits or Chinese numerals at `index`: (value, symbol after)."""
        if self._kind(index) == "number":
            symbol = self.symbols[index]
            if symbol.end - symbol.start > 4 or not self._starts_clean(index):
                return None
            return int(self.flat[symbol.start : symbol.end]), index + 1
        values: list[int] = []
        after = index
        tens = -1
        while after < index + 5 and (self._key(after) in HAN_DIGITS or self._key(after) == "十"):
            if self._key(after) == "十":
                tens = len(values)
            else:
                values.append(HAN_DIGITS[self._key(after)])
            after += 1
        if after == index:
            return None
        if tens >= 0:
            high = values[0] if tens == 1 else 1
            low = values[tens] if len(values) > tens else 0
            return high * 10 + low, after
        number = 0
        for value in values:
            number = number * 10 + value
        return number, after

    def _chinese(self, index: int) -> Atom | None:
        """`2024年3月1日`, `二〇二四年三月`, `2024年第一季度`, `90年代`."""
        first = self._han_number(index)
        if first is None:
            return None
        number, after = first
        digits = self.symbols[after - 1].end - self.symbols[index].start
        if self._key(after) != "年":
            return None
        if self._key(after + 1) == "代" and number in range(20, 100, 10) and digits == 2:
            return self._years(after + 2, 1900 + number, 10, "decade", self._between(index, after + 2))
        era = self._key(index - 1) == "元" and self._key(index - 2) == "公"
        if digits != 4 and not (era and digits == 3):
            return None
        end = after + 1
        if self._key(end) == "第":
            quarter = self._han_number(end + 1)
            if quarter and 1 <= quarter[0] <= 4 and self._key(quarter[1]) == "季" and self._key(quarter[1] + 1) == "度":
                text = self._between(index, quarter[1] + 2)
                return self._months(quarter[1] + 2, number, 3 * quarter[0] - 2, 3, "quarter", text)
        month = self._han_number(end)
        if month and self._key(month[1]) in ("月",):
            end = month[1] + 1
            day = self._han_number(end)
            if day and self._key(day[1]) in ("日", "号", "號"):
                return self._day(
                    day[1] + 1, number, month[0], day[0], "day_month_year", self._between(index, day[1] + 1)
                )
            return self._months(end, number, month[0], 1, "month_year", self._between(index, end))
        return self._years(end, number, 1, "year", self._between(index, end))

    # Relative dates

    def _relative(self, index: int) -> Atom | None:
        if not self._free(index):
            return None
        han = is_han(self.flat[self.symbols[index].start])
        if not han and not self._word_start(index):
            return None
        try:
            return self._relative_at(index)
        except (ValueError, OverflowError):
            return Atom(index + 1, 0, 0, "relative", problem=f"{self._between(index, index + 1)!r} is out of range")

    def _relative_at(self, index: int) -> Atom | None:
        now = self._phrase(NOW, index)
        shifted = self._shifted(index)
        if shifted is not None and (now is None or shifted.after > now.last):
            return shifted
        away = self._phrase(DAYS_AWAY, index)
        if now is not None and (away is None or now.last > away.last):
            return Atom(now.last, self.instant, self.instant + 1, "now", fine=True)
        if away is not None:
            low = start_of_day(self.today + timedelta(days=int(away.value)))
            return Atom(away.last, low, low + DAY, "relative_day", fine=True)
        return self._ago(index)

    def _word_start(self, index: int) -> bool:
        position = self.symbols[index].start
        if position == 0:
            return True
        before = self.flat[position - 1]
        return not (is_word_character(before) or (before in "-_/.@" and not self.flat[max(position - 2, 0)].isspace()))

    def _unit(self, index: int) -> tuple[str, int] | None:
        unit = UNITS.get(self._key(index).removesuffix("'s").removesuffix("’s"))
        if unit is not None:
            return unit, index + 1
        match = self._phrase(HAN_UNITS, index)
        return (match.value, match.last) if match else None

    def _count(self, index: int) -> tuple[int, int] | None:
        number = NUMBERS.get(self._key(index))
        if number is not None:
            return number, index + 1
        if self._kind(index) == "number" and self._starts_clean(index):
            symbol = self.symbols[index]
            if symbol.end - symbol.start <= 4 and (
                symbol.end >= len(self.flat) or not is_word_character(self.flat[symbol.end])
            ):
                return int(self.flat[symbol.start : symbol.end]), index + 1
        return self._han_number(index) if self._kind(index) == "han" else None

    def _back(self, count: int, unit: str) -> date:
        if unit == "day":
            return self.today + timedelta(days=count)
        if unit == "week":
            return self.today + timedelta(weeks=count)
        return shift_month(self.today, count * {"month": 1, "quarter": 3, "year": 12}[unit])

    def _calendar(self, day: date, unit: str) -> tuple[Instant, Instant]:
        """The calendar unit that holds a day."""
        if unit == "day":
            return start_of_day(day), start_of_day(day) + DAY
        if unit == "week":
            low = start_of_day(day - timedelta(days=day.weekday()))
            return low, low + 7 * DAY
        if unit == "month":
            return start_of_month(day.year, day.month), start_of_month(day.year, day.month + 1)
        if unit == "quarter":
            month = 3 * ((day.month - 1) // 3) + 1
            return start_of_month(day.year, month), start_of_month(day.year, month + 3)
        return start_of_month(day.year, 1), start_of_month(day.year + 1, 1)

    def _shifted(self, index: int) -> Atom | None:
        """`last week`, `this Friday`, `next March`, `上个月`, `the last 30 days`."""
        rolling = self._phrase(ROLLING, index)
        if rolling is not None:
            count = self._count(rolling.last)
            unit = self._unit(count[1]) if count else None
            article = self._key(index) in ("the", "за") or self._key(index).startswith("последн")
            if count is None and article:
                unit = self._unit(rolling.last)
                count = (1, rolling.last) if unit else None
            if count is not None and unit is not None and count[0] > 0:
                edge = self._back(count[0] * int(rolling.value), unit[0])
                moment = self.instant - start_of_day(self.today) + start_of_day(edge)
                low, high = (moment, self.instant) if rolling.value == "-1" else (self.instant, moment)
                return Atom(unit[1], low, high, "last_units" if rolling.value == "-1" else "next_units")
        shift = self._phrase(SHIFTS, index)
        if shift is None:
            return None
        amount, after = int(shift.value), shift.last
        unit = self._unit(after)
        if unit is not None:
            if self._key(after) in ("days", "weeks", "months", "quarters", "years"):
                return None
            if self._key(index) == "本" and self._key(index - 1) == "日":
                return None
            if is_han(self.flat[self.symbols[index].start]) and not self._han_pair(self._key(index), unit[0], shift):
                return None
            low, high = self._calendar(self._back(amount, unit[0]), unit[0])
            han_day = HAN_WEEKDAYS.find(self._key(unit[1])) if unit[0] == "week" and self._key(unit[1]) else -1
            if han_day >= 0 and self._kind(unit[1]) == "han":
                low += min(han_day, 6) * DAY
                return Atom(unit[1] + 1, low, low + DAY, "relative_weekday", fine=True)
            return Atom(unit[1], low, high, f"relative_{unit[0]}", fine=unit[0] == "day")
        weekday = WEEKDAYS.get(self._key(after).removesuffix("'s"))
        if weekday is not None:
            ahead = (weekday - self.today.weekday()) % 7
            if amount < 0:
                ahead = ahead - 7 if ahead else -7
            elif amount > 0:
                ahead = ahead or 7
            else:
                ahead = weekday - self.today.weekday()
            low = start_of_day(self.today + timedelta(days=ahead))
            return Atom(after + 1, low, low + DAY, "relative_weekday", fine=True, ambiguous=amount > 0)
        month = self._month_name(after)
        if month is not None and (self._capital(after) or self._key(after) not in ("may", "march", "mar")):
            year = self.today.year
            if amount < 0 and month[0] >= self.today.month:
                year -= 1
            elif amount > 0 and month[0] <= self.today.month:
                year += 1
            return self._months(month[1], year, month[0], 1, "relative_month", self._between(index, month[1]))
        return None

    @staticmethod
    def _han_pair(first: str, unit: str, shift: Match) -> bool:
        """Chinese names the year by 去 今 明 前 and the other units by 上 本 下 这."""
        if first in ("去", "今", "明", "前"):
            return unit == "year"
        if unit == "year":
            return first == "本"
        return unit != "day"

    def _ago(self, index: int) -> Atom | None:
        count = self._count(index)
        if count is None:
            return None
        unit = self._unit(count[1])
        if unit is None:
            return None
        if self._key(unit[1]) == "以" and self._key(unit[1] + 1) == "前":
            unit = (unit[0], unit[1] + 1)
        if self._key(unit[1]) not in ("ago", "назад", "前"):
            return None
        if count[0] > 200 and self._key(unit[1]) == "前":
            return None  # 2024年前 is "before 2024"
        low, high = self._calendar(self._back(-count[0], unit[0]), unit[0])
        return Atom(unit[1] + 1, low, high, "ago", fine=unit[0] == "day")

    # Bare years

    def _year(self, index: int, *, prefixed: bool) -> Atom | None:
        if self._kind(index) != "number":
            return None
        symbol = self.symbols[index]
        piece = self.flat[symbol.start : symbol.end]
        if not piece.isascii() or not self._starts_clean(index):
            return None
        era = BC.match(self.flat, symbol.end)
        if era and len(piece) <= 4:
            text = self.flat[symbol.start : era.end()]
            return Atom(self._after(era.end()), 0, 0, "year", problem=f"{text!r} is before the year 1")
        era = AD.match(self.flat, symbol.end)
        if era and len(piece) <= 4:
            return self._years(self._after(era.end()), int(piece), 1, "year", piece)
        if not self._ends_clean(symbol.end):
            return None
        following = self._key(index + 1)
        glued_next = self._glued(index + 1)
        if following in MEASURES or (glued_next and following in MEASURE_HAN) or following in ("%", "$", "€"):
            return None
        if following == "-" and glued_next and self._key(index + 2) in MEASURES | {"day", "year", "month", "person"}:
            return None
        number = int(piece)
        if len(piece) == 3 and prefixed:
            year = self._early_year(index)
            return None if year is None else self._years(index + 1, year, 1, "year", piece)
        if len(piece) != 4 or not 1000 <= number <= 2199:
            return None
        after = index + 1
        if following in ("году", "года", "год", "г", "годах", "годы", "годов"):
            after += 1
            if self._key(after) == "." and self._glued(after) and following == "г":
                after += 1
            prefixed = True
        if not prefixed and not self._bare_year(index, number):
            return None
        return self._years(after, number, 1, "year", piece)

    def _early_year(self, index: int) -> int | None:
        """A year of three digits: at the end of a clause or as the first end of a range of years."""
        if self._kind(index) != "number":
            return None
        symbol = self.symbols[index]
        piece = self.flat[symbol.start : symbol.end]
        if len(piece) != 3 or not piece.isascii() or int(piece) < 100 or not self._ends_clean(symbol.end):
            return None
        if index + 1 >= len(self.symbols) or self._key(index + 1) in (",", "?", ".", "!", ";"):
            return int(piece)
        connector = self._phrase(TO, index + 1)
        if connector is None or connector.last - connector.first > 1 or self._key(index - 1) not in ("from", "с", "从"):
            return None
        closing = self._key(connector.last)
        return (
            int(piece)
            if closing.isdigit() and len(closing) in (3, 4) and self._key(connector.last + 1) not in MEASURES
            else None
        )

    def _bare_year(self, index: int, number: int) -> bool:
        """A year without a preposition: not numbered by a noun before it, not part of a name."""
        if not 1800 <= number <= 2100:
            return False
        if index == 0:
            return True
        before = self.symbols[index - 1]
        if self.blocked[index - 1]:
            return True
        if before.key in ("(", "（"):
            return False
        if (
            before.key in ID_NOUNS
            or before.key.startswith(RU_ID_NOUNS)
            or before.key in QUANTITIES
            or before.key in ("'", '"', "*", "=", "<", ">", "-", "/", ":")
        ):
            return False
        if before.key == "." and index > 1 and self.symbols[index - 2].key in ("no", "nr", "sec", "art"):
            return False
        if before.key in ("of", "for", "by", "at") and self._previous(index - 1) in QUANTITIES | ID_NOUNS:
            # "number of 1998 orders" counts orders; "the number of 1998" is a number.
            counting = before.key == "of" and self._previous(index - 1) in ("number", "count", "total")
            return counting and self._kind(index + 1) == "word" and self._key(index + 1) not in CLAUSE_WORDS
        raw = self.lexed.text[before.start : before.end]
        if before.kind != "word":
            return True
        return not (len(raw) > 1 and raw.isupper()) and not (index > 1 and raw[0].isupper())

    def _capital(self, index: int) -> bool:
        first = self.lexed.text[self.symbols[index].start]
        return first.isupper() or first.lower() == first.upper() or not first.isascii()

    def _between(self, index: int, after: int) -> str:
        return self.lexed.text[self.symbols[index].start : self.symbols[min(after, len(self.symbols)) - 1].end]

    def _previous(self, index: int) -> str:
        return self.symbols[index - 1].key if index > 0 else ""
