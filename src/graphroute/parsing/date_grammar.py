"""Date grammar: ranges of dates and the words before and after that say what is asked of them, in English, Russian and Chinese."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from graphroute.parsing.calendar import DAY, EPOCH, start_of_day, start_of_month
from graphroute.parsing.date_atoms import Atom, AtomReader
from graphroute.parsing.date_words import (
    AND,
    EXCLUSIVE,
    FILLERS,
    ID_NOUNS,
    MEASURES,
    MONTHS,
    NUMBERS,
    PREFIXES,
    QUANTITIES,
    SINCE_WORDS,
    SUFFIXES,
    TO,
    UNITS,
    WEAK,
    WEEKDAYS,
    YEAR_SPAN,
    may_start_date,
)
from graphroute.parsing.lexing import Lexed, Match, Phrases, is_han


class Grammar(AtomReader):
    """Adds ranges and constraints to single dates."""

    def _year_span(self, index: int) -> Atom | None:
        """`1881-1882`, `1996/97`, `2010–12`."""
        if self._kind(index) != "number" or not self._starts_clean(index):
            return None
        symbol = self.symbols[index]
        match = YEAR_SPAN.match(self.lexed.text, symbol.start)
        if match is None or not self._ends_clean(match.end()):
            return None
        low = int(match[1])
        high = int(match[3]) if len(match[3]) == 4 else low - low % 100 + int(match[3])
        if not 1000 <= low <= 2199 or not low < high <= 2199:
            return None
        if len(match[3]) == 2 and (match[2] == "-" or (high - low != 1 and match[2] == "/")):
            return None
        if self._key(index + 3) in MEASURES:
            return None
        if self._previous(index) in ID_NOUNS or self._previous(index) in QUANTITIES:
            return None
        after = index + 4 if self._key(index + 3) in ("年", "годы", "годов", "годах") else index + 3
        return Atom(after, start_of_month(low, 1), start_of_month(high + 1, 1), "years")

    def _range(self, index: int, *, connectors: Phrases, prefixed: bool) -> Atom | None:
        """`X to Y`, `5 to 9 March 2024`, `March to May 2024`, with or without a word before it."""
        span = self._year_span(index)
        if span is not None:
            return span
        first: Atom | None = None
        partial = self._partial(index)
        if partial is not None:
            connector = self._phrase(connectors, partial[1])
            if connector is not None:
                second = self.atom(connector.last, prefixed=True)
                if second is not None and not second.problem and second.rule in partial[2]:
                    return self._join_partial(partial, second)
        first = self.atom(index, prefixed=prefixed)
        if first is None or first.problem:
            return first if first is not None and first.problem else None
        connector = self._phrase(connectors, first.after)
        if connector is None:
            return None
        second = self.atom(connector.last, prefixed=prefixed or self._key(connector.last - 1) == "-")
        if second is None:
            return None
        if second.problem:
            return second
        if first.rule == "now" or (not prefixed and first.rule == "relative_month"):
            return None
        text = self._between(index, second.after)
        if second.high <= first.low:
            return Atom(second.after, 0, 0, "range", problem=f"{text!r} ends before it starts")
        return Atom(
            second.after,
            first.low,
            second.low + 1 if second.rule == "now" else second.high,
            f"{first.rule}_range" if first.rule == second.rule else "range",
            ambiguous=first.ambiguous or second.ambiguous,
        )

    def _partial(self, index: int) -> tuple[str, int, tuple[str, ...], int] | None:
        """The first end of a range that leaves its month or year to the second."""
        month = self._month_name(index)
        if month is not None and self._kind(month[1]) != "number":
            return "month", month[1], ("month_year",), month[0]
        day = self._day_number(index)
        if day is not None and 1 <= day[0] <= 31:
            named = self._month_name(day[1])
            if named is not None and self._kind(named[1]) != "number":
                return "day_month", named[1], ("day_month_year",), named[0] * 100 + day[0]
            return "day", day[1], ("day_month_year",), day[0]
        if self._key(index) in ("q", "h") and self._kind(index + 1) == "number" and self._glued(index + 1):
            piece = self._key(index + 1)
            if piece in ("1", "2", "3", "4") and self._word_start(index):
                return self._key(index), index + 2, ("quarter", "half_year"), int(piece)
        return None

    def _join_partial(self, partial: tuple[str, int, tuple[str, ...], int], second: Atom) -> Atom | None:
        last = date.fromordinal(second.low // DAY + EPOCH)
        kind, _, _, value = partial
        try:
            if kind == "month":
                low = start_of_month(last.year, value)
            elif kind == "day_month":
                low = start_of_day(date(last.year, value // 100, value % 100))
            elif kind == "day":
                low = start_of_day(date(last.year, last.month, value))
            else:
                low = start_of_month(last.year, (3 if kind == "q" else 6) * (value - 1) + 1)
        except ValueError:
            return Atom(second.after, 0, 0, "range", problem=f"day {value} is not a date of the calendar")
        if low >= second.high:
            return Atom(second.after, 0, 0, "range", problem="a range of dates ends before it starts")
        return Atom(second.after, low, second.high, f"{second.rule}_range", ambiguous=second.ambiguous)

    def constraint(self, index: int) -> tuple[Atom, str] | None:
        """The longest dated phrase at symbol `index` and the operation it stands for."""
        symbol = self.symbols[index]
        if symbol.kind != "number" and not may_start_date(symbol.key):
            return None
        if symbol.kind == "word" and not self._word_start(index):
            return None
        prefix = self._phrase(PREFIXES, index)
        if prefix is not None:
            found = self._prefixed(prefix)
            if found is not None:
                return found
        ranged = self._range(index, connectors=TO, prefixed=False)
        if ranged is not None:
            return ranged, "range"
        atom = self.atom(index)
        if atom is None:
            return None
        return atom, ""

    def _prefixed(self, prefix: Match) -> tuple[Atom, str] | None:
        operation = prefix.value
        start = prefix.last
        spaced = not self._glued(prefix.last) or is_han(self.flat[self.symbols[prefix.first].start])
        if not spaced and self._key(prefix.last - 1) != "-":
            return None
        filler = self._phrase(FILLERS, start)
        if filler is not None:
            start = filler.last
        nested = self._phrase(PREFIXES, start)
        if nested is not None and nested.value in ("from", "between") and operation == "in":
            return self._prefixed(nested)
        if operation in ("from", "between"):
            ranged = self._range(start, connectors=TO if operation == "from" else AND, prefixed=True)
            if ranged is not None and self._quantity_range(prefix.first, ranged):
                return replace(ranged, rule="quantity"), "skip"
            if ranged is not None:
                return ranged, "range"
            if operation == "between":
                return None
        elif operation in ("in", "on", "as_of", "since"):
            ranged = self._range(start, connectors=TO, prefixed=True)
            if ranged is not None and not ranged.problem:
                return ranged, "range"
        first = self._key(prefix.first)
        weak = first in WEAK and filler is None and prefix.last - prefix.first == 1
        atom = self.atom(start, prefixed=not weak)
        if atom is None:
            month = self._month_name(start)
            named = month is not None and self._capital(start) and self._kind(month[1]) not in ("word", "number")
            if (
                named
                and month is not None
                and operation in ("in", "since", "until", "before", "after", "from", "as_of")
            ):
                return self._without_year(start, month[1]), operation
            return None
        if filler is not None and self._key(start - 1) in ("'", '"') and self._key(atom.after) == self._key(start - 1):
            atom = replace(atom, after=atom.after + 1)
        if operation == "as_of" and first == "на" and not atom.fine:
            operation = "in"
        if operation == "from" and first in SINCE_WORDS:
            operation = "since"
        if atom.rule == "now" and operation not in ("as_of", "in", "on", "since", "until", "from"):
            return None
        if atom.rule == "now" and operation in ("in", "on", "from") and self._key(prefix.first) not in ("на", "в"):
            return None
        return atom, operation

    def _quantity_range(self, index: int, atom: Atom) -> bool:
        """`price between 1000 and 2000` is no date."""
        if not atom.rule.startswith("year"):
            return False
        nearby = {self.symbols[near].key for near in range(max(index - 2, 0), index)}
        return bool(nearby & QUANTITIES)

    def finish(self, atom: Atom, operation: str) -> tuple[Atom, str]:
        """Words after the date: `onwards`, `之前`, `(not including that day)`."""
        after = atom.after
        suffix = self._phrase(SUFFIXES, after)
        if suffix is not None:
            han = is_han(self.flat[self.symbols[after].start])
            lone_on = suffix.last - suffix.first == 1 and self._key(after) == "on"
            allowed = (not han or self._glued(after)) and (not lone_on or operation in ("from", "since"))
            if self._key(suffix.last - 1) in ("before", "after") and self.atom(suffix.last, prefixed=True) is not None:
                allowed = False  # "after 2010 and before 2015"
            if allowed and suffix.value == "during":
                after = suffix.last
            elif allowed:
                operation, after = suffix.value, suffix.last
        exclusive_at = after
        while self._key(exclusive_at) in ("(", ",", "（"):
            exclusive_at += 1
        exclusive = self._phrase(EXCLUSIVE, exclusive_at)
        if exclusive is not None and operation in ("until", "since", "before", "after"):
            after = exclusive.last
            if self._key(after) in (")", "）") and self._key(exclusive_at - 1) in ("(", "（"):
                after += 1
            if exclusive.value == "exclusive":
                operation = {"until": "before", "since": "after"}.get(operation, operation)
            else:
                operation = {"before": "until", "after": "since"}.get(operation, operation)
        return replace(atom, after=after), operation


def is_dated_word(lexed: Lexed, first: int, last: int) -> bool:
    """True if `last`, `first` or `later` at symbols `[first, last)` begins or ends a date: "last week", "no later than"."""
    symbols = lexed.symbols
    following = symbols[last].key if last < len(symbols) else ""
    head = symbols[first].key
    if head in ("later", "earlier") and following == "than":
        return True
    word = symbols[last - 1].key
    if word not in ("last", "first", "latest") and not word.startswith("последн"):
        return False
    if following in UNITS or following in WEEKDAYS or following in MONTHS:
        return True
    after = symbols[last + 1].key if last + 1 < len(symbols) else ""
    return (following.isdigit() or following in NUMBERS) and after in UNITS
