"""Date grammar: recursive descent over the symbols of a question, in English, Russian and Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache

from graphroute.parsing.lexing import (
    Lexed,
    Match,
    Phrases,
    is_han,
    is_word_character,
    word_set,
)
from graphroute.types.time import Instant, datetime_of

_DAY: Instant = 86_400_000_000
_EPOCH = date(1970, 1, 1).toordinal()
_FIRST_YEAR, _LAST_YEAR = 1, 9998


def _by_word(table: dict[str, int]) -> dict[str, int]:
    return {word: value for words, value in table.items() for word in words.split()}


_MONTHS = _by_word(
    {
        "january jan январь января январе янв": 1,
        "february feb февраль февраля феврале фев": 2,
        "march mar март марта марте мар": 3,
        "april apr апрель апреля апреле апр": 4,
        "may май мая мае": 5,
        "june jun июнь июня июне июн": 6,
        "july jul июль июля июле июл": 7,
        "august aug август августа августе авг": 8,
        "september sep sept сентябрь сентября сентябре сен сент": 9,
        "october oct октябрь октября октябре окт": 10,
        "november nov ноябрь ноября ноябре ноя": 11,
        "december dec декабрь декабря декабре дек": 12,
    }
)
_WEEKDAYS = _by_word(
    {
        "monday понедельник": 0,
        "tuesday вторник": 1,
        "wednesday среда среду": 2,
        "thursday четверг": 3,
        "friday пятница пятницу": 4,
        "saturday суббота субботу": 5,
        "sunday воскресенье": 6,
    }
)
_UNITS = {
    word: unit
    for words, unit in (
        ("day days день дня дней", "day"),
        ("week weeks неделя неделю недели недель неделе", "week"),
        ("month months месяц месяца месяцев месяце", "month"),
        ("quarter quarters квартал квартала кварталов квартале", "quarter"),
        ("year years год года лет году", "year"),
    )
    for word in words.split()
}
_NUMBERS = _by_word(
    {
        "a an one один одну": 1,
        "two два две": 2,
        "three три": 3,
        "four четыре": 4,
        "five пять": 5,
        "six шесть": 6,
        "seven семь": 7,
        "eight восемь": 8,
        "nine девять": 9,
        "ten десять": 10,
        "eleven одиннадцать": 11,
        "twelve двенадцать": 12,
    }
)
_ORDINALS = _by_word(
    {
        "first первый первом первого i": 1,
        "second второй втором второго ii": 2,
        "third третий третьем третьего iii": 3,
        "fourth last четвертый четвертом четвертого iv": 4,
    }
)
_HAN_DIGITS = {character: value for value, character in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_DECADE_WORDS = {
    word: 1900 + ten
    for ten, words in (
        (20, "twenties двадцатых"),
        (30, "thirties тридцатых"),
        (40, "forties сороковых"),
        (50, "fifties пятидесятых"),
        (60, "sixties шестидесятых"),
        (70, "seventies семидесятых"),
        (80, "eighties восьмидесятых"),
        (90, "nineties девяностых"),
    )
    for word in words.split()
}

_PREFIXES = Phrases(
    {
        "before": "before|prior to|earlier than|ahead of|pre-|preceding|not after|до|раньше|ранее|перед|早于|先于",
        "after": "after|later than|following|post-|subsequent to|после|позже|позднее|晚于",
        "since": (
            "since|ever since|starting from|starting in|starting on|starting|beginning in|on or after|"
            "beginning on|as from|from on or after|not before|no earlier than|not earlier than|начиная с|"
            "начиная со|не ранее|自从|自"
        ),
        "until": (
            "until|till|up to|up until|through|by|no later than|not later than|on or before|by the end of|"
            "until the end of|through the end of|up to and including|not later than on|к|вплоть до|"
            "не позднее|直到|直至|不晚于"
        ),
        "as_of": "as of|as at|as on|effective|effective as of|as per|по состоянию на|на|截至|截止|截止到|截至到",
        "on": "on|dated|at",
        "in": (
            "in|during|throughout|within|in the course of|over the course of|of|for|around|about|in the year|"
            "in the years|in the year of|the year|the years|in the month of|during the year|during the years|"
            "for the year|of the year|year|years|circa|in about|in around|в|во|за|в течение|около|в период|"
            "на протяжении|在|于|於"
        ),
        "from": "from|in the period from|с|со|从|由",
        "between": "between|in between|между",
    }
)
_FILLERS = Phrases({"": "the year|the years|year|years|the month of|the year of|the period|the date|'|\""})
_WEAK = frozenset(("of", "for", "about", "around", "к", "на", "за", "at", "by", "with", "through"))
"""Prepositions before a bare number that need not be a year."""
_SINCE_WORDS = frozenset(("с", "со", "从", "由"))
_TO = Phrases({"to": "to|until|till|through|up to|thru|-|~|по|до|至|到|~|直到"})
_AND = Phrases({"and": "and|-|to|и|和|与|至|到"})
_SUFFIXES = Phrases(
    {
        "since": (
            "onwards|onward|and onwards|on|and after|or after|and later|or later|or newer|and newer|以来|起|以後|"
            "开始|и позже|и позднее"
        ),
        "until": "and before|or before|and earlier|or earlier|or older|and older|и ранее|и раньше",
        "before": "之前|以前|前",
        "after": "之后|以后|之後|后|後",
        "during": "期间|間|间",
    }
)
_EXCLUSIVE = Phrases(
    {
        "exclusive": (
            "not including that day|not including that date|not including that month|not including that year|"
            "not including it|excluding that day|excluding that date|excluding that month|"
            "excluding that year|exclusive|exclusively|не включая|исключительно|不含|不包括"
        ),
        "inclusive": "including that day|including that date|inclusive|inclusively|включительно|含",
    }
)
_PARTS = Phrases(
    {
        "early": "early|the early|в начале|начало|начале|начала",
        "mid": "mid|mid-|the mid|the mid-|middle of|the middle of|middle|в середине|середине|середины",
        "late": "late|the late|в конце|конце|конца",
        "start": "the beginning of|beginning of|the start of|start of|the first day of",
        "end": "the end of|end of|the last day of",
    }
)
_NOW = Phrases(
    {
        "now": (
            "now|right now|as of now|currently|current|at present|presently|at the moment|at this moment|"
            "these days|nowadays|at this time|as of today|as of this moment|сейчас|теперь|ныне|"
            "в настоящее время|на данный момент|в данный момент|нынешн*|текущ*|действующ*|на сегодня|"
            "на сегодняшний день|现在|目前|当前|如今|现任|现时|眼下|現在|當前"
        ),
    }
)
_DAYS_AWAY = Phrases(
    {
        "0": "today|today's|сегодня|今天|今日",
        "-1": "yesterday|yesterday's|вчера|昨天|昨日",
        "1": "tomorrow|завтра|明天|明日",
        "-2": "the day before yesterday|day before yesterday|позавчера|前天",
        "2": "the day after tomorrow|day after tomorrow|послезавтра|后天",
    }
)
_SHIFTS = Phrases(
    {
        "-1": "last|previous|past|the previous|the preceding|prior|прошл*|предыдущ*|минувш*|上|上个|上一|去",
        "0": "this|the current|current|текущ*|нынешн*|этот|эту|этом|эта|этой|это|本|这|这个|今|本个",
        "1": "next|coming|the coming|следующ*|будущ*|下|下个|明",
        "-2": "前",
    }
)
_ROLLING = Phrases(
    {
        "-1": "the last|the past|last|past|the previous|за последн*|последн*|за прошедш*|过去|最近|近",
        "1": "the next|the coming|未来|ближайш*",
    }
)
_HAN_WEEKDAYS = "一二三四五六日天"
_HAN_UNITS = Phrases(
    {
        "day": "天|日",
        "week": "周|个星期|星期|个礼拜|礼拜",
        "month": "个月|月",
        "quarter": "个季度|季度",
        "year": "年",
    }
)
_ID_NOUNS = word_set(
    "ticket tickets order number numbers no nr id ids section sec rule rules article art part page room build builds version versions "
    "release port case chapter clause paragraph para issue bug pr account customer user invoice item step line table figure code "
    "error pin model flight apartment suite box phone ext extension iso rfc windows level row record transaction ref reference "
    "batch serial sku isbn seat locker gate route than over under above below exceeding least most exactly score top first "
    "last equals equal only nearly almost approximately roughly плюс номер заявка тикет раздел пункт статья более менее "
    "свыше больше меньше около версия сборка заказ"
)
"""Words before a bare number that make it a number of something, not a year."""
_RU_ID_NOUNS = (
    "номер",
    "раздел",
    "пункт",
    "стать",
    "верси",
    "сборк",
    "заказ",
    "заявк",
    "тикет",
    "страниц",
    "глав",
    "комнат",
)
_CLAUSE_WORDS = word_set("is are was were in on at by for from to and or with of that which who")
_MEASURES = word_set(
    "dollars dollar usd eur euro euros rub rubles pounds gbp yuan rmb km kilometers kilometres meters metres miles minutes minute mins "
    "hours hour seconds seconds days weeks months years people persons users votes points percent mb gb kb kg tons tonnes "
    "inhabitants employees times characters words tokens lines rows bytes members copies units calories watts volts "
    "рублей долларов евро человек метров километров минут часов раз штук процентов шт"
)
"""Words after a bare number that make it a quantity."""
_QUANTITIES = word_set(
    "price prices amount amounts cost costs runtime budget revenue votes count salary score size weight number value total population "
    "distance height length width rating reputation views balance cpu ram memory storage age id ids port ports цена сумма"
)
_MEASURE_HAN = frozenset("元人个名枚岁米次万亿只条座位公里件台")
_CURRENCY = frozenset("$€£¥₽₹#№§@&=")

_ISO = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:(?:T|\x20(?:at\x20)?)([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r"(?:\x20?(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?)?",
    re.IGNORECASE,
)
_YMD = re.compile(r"([0-9]{4})([/.])([0-9]{1,2})\2([0-9]{1,2})")
_DMY = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")
_SHORT_YEAR = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{2})")
_YM = re.compile(r"([0-9]{4})-([0-9]{2})")
_ISO_WEEK = re.compile(r"([0-9]{4})-W([0-9]{2})", re.IGNORECASE)
_YQ = re.compile(r"([0-9]{4})[-/\x20]?(Q[1-4]|H[12])", re.IGNORECASE)
_QY = re.compile(r"(Q[1-4]|H[12])(?:\x20of)?[-/\x20,']{0,2}([0-9]{4})", re.IGNORECASE)
_DECADE = re.compile(r"(?:the\x20)?([0-9]{3}0)(?:'?s|-?х|-е|年代)", re.IGNORECASE)
_SHORT_DECADE = re.compile(r"'?([2-9]0)(?:s|-х)", re.IGNORECASE)
_CENTURY = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)?(?:\x20century|-?\x20?(?:век|веке|века)|世纪)", re.IGNORECASE)
_TAIL_DECADE = re.compile(r"([0-9]0)年代")
_CLOCK = re.compile(
    r"(?:,?\x20(?:at\x20|в\x20)?)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:\x20?(Z|UTC|GMT))?", re.IGNORECASE
)
_BC = re.compile(r"\x20?(?:bc|bce|b\.c\.|до н\.\x20?э\.)(?![A-Za-z])", re.IGNORECASE)
_AD = re.compile(r"\x20?(?:ad|ce|a\.d\.)(?![A-Za-z])", re.IGNORECASE)
_YEAR_SPAN = re.compile(r"([0-9]{4})(-|–|/|—)([0-9]{4}|[0-9]{2})")


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


def _instant(day: date) -> Instant:
    return (day.toordinal() - _EPOCH) * _DAY


def _month_low(year: int, month: int) -> Instant:
    extra, zero_based = divmod(month - 1, 12)
    return _instant(date(year + extra, zero_based + 1, 1))


def _valid_year(year: int) -> bool:
    return _FIRST_YEAR <= year <= _LAST_YEAR


def _shift_month(day: date, months: int) -> date:
    extra, zero_based = divmod(day.month - 1 + months, 12)
    year = day.year + extra
    for back in range(4):
        try:
            return date(year, zero_based + 1, day.day - back)
        except ValueError:
            continue
    raise ValueError(f"no such month {year}-{zero_based + 1}")


_STARTERS = frozenset((*_MONTHS, *_ORDINALS, *_NUMBERS, *_DECADE_WORDS, *_HAN_DIGITS, "q", "h", "the", "'", "十"))
_STARTING_PHRASES = (_PREFIXES, _PARTS, _NOW, _DAYS_AWAY, _SHIFTS, _ROLLING)


@lru_cache(maxsize=4096)
def may_start_date(key: str) -> bool:
    """False if no date begins with this symbol, so that the grammar need not look."""
    return key in _STARTERS or any(phrases.may_start(key) for phrases in _STARTING_PHRASES)


class Grammar:
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
        if before in _CURRENCY or before == "+":
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
            if not _valid_year(year):
                raise ValueError(f"year {year}")
            low = _instant(date(year, month, day))
        except ValueError:
            return Atom(after, 0, 0, rule, problem=f"{text!r} is not a date of the calendar")
        return Atom(after, low, low + _DAY, rule, fine=True, ambiguous=ambiguous)

    def _months(self, after: int, year: int, month: int, count: int, rule: str, text: str) -> Atom:
        if not _valid_year(year) or not 1 <= month <= 12:
            return Atom(after, 0, 0, rule, problem=f"{text!r} is not a date of the calendar")
        return Atom(after, _month_low(year, month), _month_low(year, month + count), rule)

    def _years(self, after: int, year: int, count: int, rule: str, text: str, *, ambiguous: bool = False) -> Atom:
        if not _valid_year(year) or not _valid_year(year + count):
            return Atom(after, 0, 0, rule, problem=f"{text!r} is outside the years {_FIRST_YEAR}..{_LAST_YEAR}")
        return replace(self._months(after, year, 1, 12 * count, rule, text), ambiguous=ambiguous)

    def _part(self, atom: Atom, part: str, after: int) -> Atom:
        """The early, middle or late part of a period, its first or its last day."""
        if atom.problem or atom.fine:
            return atom
        low, high = atom.low, atom.high
        if part == "start":
            return replace(atom, high=low + _DAY, fine=True, rule=f"start_of_{atom.rule}", after=after)
        if part == "end":
            return replace(atom, low=high - _DAY, fine=True, rule=f"end_of_{atom.rule}", after=after)
        first = date.fromordinal(low // _DAY + _EPOCH)
        last = date.fromordinal(high // _DAY + _EPOCH)
        if atom.rule in ("decade", "century"):
            ten = (last.year - first.year) // 10
            cuts = {"early": (0, 5 * ten), "mid": (3 * ten, 7 * ten), "late": (5 * ten, 10 * ten)}[part]
            low, high = _month_low(first.year + cuts[0], 1), _month_low(first.year + cuts[1], 1)
        elif (last.year - first.year) * 12 + last.month - first.month == 12:
            start = {"early": 1, "mid": 5, "late": 9}[part]
            low, high = _month_low(first.year, start), _month_low(first.year, start + 4)
        else:
            third = (high - low) // _DAY // 3
            start = {"early": 0, "mid": third, "late": 2 * third}[part]
            low, high = low + start * _DAY, high if part == "late" else low + (start + third) * _DAY
        return replace(atom, low=low, high=high, ambiguous=False, rule=f"{part}_{atom.rule}", after=after)

    # Atoms

    def atom(self, index: int, *, prefixed: bool = False) -> Atom | None:
        """The date that starts at symbol `index`. `prefixed`: a word before it says that a date follows."""
        if not self._free(index):
            return None
        if self._key(index - 1) == "-" and prefixed:
            self._trusted = index
        part = self._phrase(_PARTS, index)
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
            match = _QY.match(self.flat, position)
            return self._quarter(match[2], match[1], match) if match and self._ends_clean(match.end()) else None
        if symbol.kind == "word" and symbol.key == "the":
            match = _SHORT_DECADE.match(self.flat, position + 4)
            if match and self.flat[position + 3 : position + 4] == " " and self._ends_clean(match.end()):
                return self._years(self._after(match.end()), 1900 + int(match[1]), 10, "decade", match[0])
            match = _CENTURY.match(self.flat, position + 4)
            if match and self._ends_clean(match.end()):
                return self._century(match)
        if symbol.kind == "mark" and symbol.key == "'":
            match = _SHORT_DECADE.match(self.flat, position)
            if match and self._ends_clean(match.end()):
                return self._years(self._after(match.end()), 1900 + int(match[1]), 10, "decade", match[0])
        if symbol.kind != "number" and symbol.key != "the":
            return None
        if not self._starts_clean(index):
            return None
        match = _DECADE.match(self.flat, position)
        if match and self._ends_clean(match.end()):
            year = int(match[1])
            return self._years(self._after(match.end()), year, 10, "decade", match[0], ambiguous=year % 100 == 0)
        if symbol.kind != "number":
            return None
        match = _ISO.match(self.flat, position)
        if match and self._ends_clean(match.end()):
            return self._iso(match)
        match = _ISO_WEEK.match(self.flat, position)
        if match and self._ends_clean(match.end()):
            try:
                low = _instant(date.fromisocalendar(int(match[1]), int(match[2]), 1))
            except ValueError:
                return Atom(
                    self._after(match.end()), 0, 0, "week", problem=f"{match[0]!r} is not a week of the calendar"
                )
            return Atom(self._after(match.end()), low, low + 7 * _DAY, "week")
        match = _YMD.match(self.flat, position)
        if match and self._ends_clean(match.end()):
            return self._day(self._after(match.end()), int(match[1]), int(match[3]), int(match[4]), "numeric", match[0])
        match = _DMY.match(self.flat, position)
        if match and self._ends_clean(match.end()):
            return self._by_order(match)
        match = _SHORT_YEAR.match(self.flat, position)
        if match and self._ends_clean(match.end()) and max(int(match[1]), int(match[2])) <= 31:
            problem = f"{match[0]!r} has a year of two digits"
            return Atom(self._after(match.end()), 0, 0, "numeric", problem=problem)
        match = _YQ.match(self.flat, position)
        if match and self._ends_clean(match.end()):
            return self._quarter(match[1], match[2], match)
        match = _YM.match(self.flat, position)
        if (
            match
            and self._ends_clean(match.end())
            and self.lexed.text[position + 4] == "-"
            and 1 <= int(match[2]) <= 12
        ):
            return self._months(self._after(match.end()), int(match[1]), int(match[2]), 1, "iso_month", match[0])
        match = _CENTURY.match(self.flat, position)
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
        tail = _TAIL_DECADE.match(self.flat, match.end())
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
        match = _CLOCK.match(self.flat, self.symbols[atom.after - 1].end)
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
                if not (self._key(after) == "." and self._key(after + 1) in _MONTHS):
                    return None
                after += 1
        return int(self.flat[symbol.start : symbol.end]), after

    def _month_name(self, index: int) -> tuple[int, int] | None:
        key = self._key(index)
        month = _MONTHS.get(key) if key else None
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
        decade = _DECADE_WORDS.get(self._key(start))
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
            connector = self._phrase(_TO, day[1])
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
        number = _ORDINALS.get(self._key(index))
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
        while after < index + 5 and (self._key(after) in _HAN_DIGITS or self._key(after) == "十"):
            if self._key(after) == "十":
                tens = len(values)
            else:
                values.append(_HAN_DIGITS[self._key(after)])
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
        now = self._phrase(_NOW, index)
        shifted = self._shifted(index)
        if shifted is not None and (now is None or shifted.after > now.last):
            return shifted
        away = self._phrase(_DAYS_AWAY, index)
        if now is not None and (away is None or now.last > away.last):
            return Atom(now.last, self.instant, self.instant + 1, "now", fine=True)
        if away is not None:
            low = _instant(self.today + timedelta(days=int(away.value)))
            return Atom(away.last, low, low + _DAY, "relative_day", fine=True)
        return self._ago(index)

    def _word_start(self, index: int) -> bool:
        position = self.symbols[index].start
        if position == 0:
            return True
        before = self.flat[position - 1]
        return not (is_word_character(before) or (before in "-_/.@" and not self.flat[max(position - 2, 0)].isspace()))

    def _unit(self, index: int) -> tuple[str, int] | None:
        unit = _UNITS.get(self._key(index).removesuffix("'s").removesuffix("’s"))
        if unit is not None:
            return unit, index + 1
        match = self._phrase(_HAN_UNITS, index)
        return (match.value, match.last) if match else None

    def _count(self, index: int) -> tuple[int, int] | None:
        number = _NUMBERS.get(self._key(index))
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
        return _shift_month(self.today, count * {"month": 1, "quarter": 3, "year": 12}[unit])

    def _calendar(self, day: date, unit: str) -> tuple[Instant, Instant]:
        """The calendar unit that holds a day."""
        if unit == "day":
            return _instant(day), _instant(day) + _DAY
        if unit == "week":
            low = _instant(day - timedelta(days=day.weekday()))
            return low, low + 7 * _DAY
        if unit == "month":
            return _month_low(day.year, day.month), _month_low(day.year, day.month + 1)
        if unit == "quarter":
            month = 3 * ((day.month - 1) // 3) + 1
            return _month_low(day.year, month), _month_low(day.year, month + 3)
        return _month_low(day.year, 1), _month_low(day.year + 1, 1)

    def _shifted(self, index: int) -> Atom | None:
        """`last week`, `this Friday`, `next March`, `上个月`, `the last 30 days`."""
        rolling = self._phrase(_ROLLING, index)
        if rolling is not None:
            count = self._count(rolling.last)
            unit = self._unit(count[1]) if count else None
            article = self._key(index) in ("the", "за") or self._key(index).startswith("последн")
            if count is None and article:
                unit = self._unit(rolling.last)
                count = (1, rolling.last) if unit else None
            if count is not None and unit is not None and count[0] > 0:
                edge = self._back(count[0] * int(rolling.value), unit[0])
                moment = self.instant - _instant(self.today) + _instant(edge)
                low, high = (moment, self.instant) if rolling.value == "-1" else (self.instant, moment)
                return Atom(unit[1], low, high, "last_units" if rolling.value == "-1" else "next_units")
        shift = self._phrase(_SHIFTS, index)
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
            han_day = _HAN_WEEKDAYS.find(self._key(unit[1])) if unit[0] == "week" and self._key(unit[1]) else -1
            if han_day >= 0 and self._kind(unit[1]) == "han":
                low += min(han_day, 6) * _DAY
                return Atom(unit[1] + 1, low, low + _DAY, "relative_weekday", fine=True)
            return Atom(unit[1], low, high, f"relative_{unit[0]}", fine=unit[0] == "day")
        weekday = _WEEKDAYS.get(self._key(after).removesuffix("'s"))
        if weekday is not None:
            ahead = (weekday - self.today.weekday()) % 7
            if amount < 0:
                ahead = ahead - 7 if ahead else -7
            elif amount > 0:
                ahead = ahead or 7
            else:
                ahead = weekday - self.today.weekday()
            low = _instant(self.today + timedelta(days=ahead))
            return Atom(after + 1, low, low + _DAY, "relative_weekday", fine=True, ambiguous=amount > 0)
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
        era = _BC.match(self.flat, symbol.end)
        if era and len(piece) <= 4:
            text = self.flat[symbol.start : era.end()]
            return Atom(self._after(era.end()), 0, 0, "year", problem=f"{text!r} is before the year 1")
        era = _AD.match(self.flat, symbol.end)
        if era and len(piece) <= 4:
            return self._years(self._after(era.end()), int(piece), 1, "year", piece)
        if not self._ends_clean(symbol.end):
            return None
        following = self._key(index + 1)
        glued_next = self._glued(index + 1)
        if following in _MEASURES or (glued_next and following in _MEASURE_HAN) or following in ("%", "$", "€"):
            return None
        if following == "-" and glued_next and self._key(index + 2) in _MEASURES | {"day", "year", "month", "person"}:
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
        connector = self._phrase(_TO, index + 1)
        if connector is None or connector.last - connector.first > 1 or self._key(index - 1) not in ("from", "с", "从"):
            return None
        closing = self._key(connector.last)
        return (
            int(piece)
            if closing.isdigit() and len(closing) in (3, 4) and self._key(connector.last + 1) not in _MEASURES
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
            before.key in _ID_NOUNS
            or before.key.startswith(_RU_ID_NOUNS)
            or before.key in _QUANTITIES
            or before.key in ("'", '"', "*", "=", "<", ">", "-", "/", ":")
        ):
            return False
        if before.key == "." and index > 1 and self.symbols[index - 2].key in ("no", "nr", "sec", "art"):
            return False
        if before.key in ("of", "for", "by", "at") and self._previous(index - 1) in _QUANTITIES | _ID_NOUNS:
            # "number of 1998 orders" counts orders; "the number of 1998" is a number.
            counting = before.key == "of" and self._previous(index - 1) in ("number", "count", "total")
            return counting and self._kind(index + 1) == "word" and self._key(index + 1) not in _CLAUSE_WORDS
        raw = self.lexed.text[before.start : before.end]
        if before.kind != "word":
            return True
        return not (len(raw) > 1 and raw.isupper()) and not (index > 1 and raw[0].isupper())

    # Ranges and constraints

    def _capital(self, index: int) -> bool:
        first = self.lexed.text[self.symbols[index].start]
        return first.isupper() or first.lower() == first.upper() or not first.isascii()

    def _between(self, index: int, after: int) -> str:
        return self.lexed.text[self.symbols[index].start : self.symbols[min(after, len(self.symbols)) - 1].end]

    def _year_span(self, index: int) -> Atom | None:
        """`1881-1882`, `1996/97`, `2010–12`."""
        if self._kind(index) != "number" or not self._starts_clean(index):
            return None
        symbol = self.symbols[index]
        match = _YEAR_SPAN.match(self.lexed.text, symbol.start)
        if match is None or not self._ends_clean(match.end()):
            return None
        low = int(match[1])
        high = int(match[3]) if len(match[3]) == 4 else low - low % 100 + int(match[3])
        if not 1000 <= low <= 2199 or not low < high <= 2199:
            return None
        if len(match[3]) == 2 and (match[2] == "-" or (high - low != 1 and match[2] == "/")):
            return None
        if self._key(index + 3) in _MEASURES:
            return None
        if self._previous(index) in _ID_NOUNS or self._previous(index) in _QUANTITIES:
            return None
        after = index + 4 if self._key(index + 3) in ("年", "годы", "годов", "годах") else index + 3
        return Atom(after, _month_low(low, 1), _month_low(high + 1, 1), "years")

    def _previous(self, index: int) -> str:
        return self.symbols[index - 1].key if index > 0 else ""

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
        last = date.fromordinal(second.low // _DAY + _EPOCH)
        kind, _, _, value = partial
        try:
            if kind == "month":
                low = _month_low(last.year, value)
            elif kind == "day_month":
                low = _instant(date(last.year, value // 100, value % 100))
            elif kind == "day":
                low = _instant(date(last.year, last.month, value))
            else:
                low = _month_low(last.year, (3 if kind == "q" else 6) * (value - 1) + 1)
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
        prefix = self._phrase(_PREFIXES, index)
        if prefix is not None:
            found = self._prefixed(prefix)
            if found is not None:
                return found
        ranged = self._range(index, connectors=_TO, prefixed=False)
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
        filler = self._phrase(_FILLERS, start)
        if filler is not None:
            start = filler.last
        nested = self._phrase(_PREFIXES, start)
        if nested is not None and nested.value in ("from", "between") and operation == "in":
            return self._prefixed(nested)
        if operation in ("from", "between"):
            ranged = self._range(start, connectors=_TO if operation == "from" else _AND, prefixed=True)
            if ranged is not None and self._quantity_range(prefix.first, ranged):
                return replace(ranged, rule="quantity"), "skip"
            if ranged is not None:
                return ranged, "range"
            if operation == "between":
                return None
        elif operation in ("in", "on", "as_of", "since"):
            ranged = self._range(start, connectors=_TO, prefixed=True)
            if ranged is not None and not ranged.problem:
                return ranged, "range"
        first = self._key(prefix.first)
        weak = first in _WEAK and filler is None and prefix.last - prefix.first == 1
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
        if operation == "from" and first in _SINCE_WORDS:
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
        return bool(nearby & _QUANTITIES)

    def finish(self, atom: Atom, operation: str) -> tuple[Atom, str]:
        """Words after the date: `onwards`, `之前`, `(not including that day)`."""
        after = atom.after
        suffix = self._phrase(_SUFFIXES, after)
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
        exclusive = self._phrase(_EXCLUSIVE, exclusive_at)
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
    if following in _UNITS or following in _WEEKDAYS or following in _MONTHS:
        return True
    after = symbols[last + 1].key if last + 1 < len(symbols) else ""
    return (following.isdigit() or following in _NUMBERS) and after in _UNITS
