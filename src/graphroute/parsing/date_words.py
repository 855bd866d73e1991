"""Words and patterns of dates in English, Russian and Chinese."""

from __future__ import annotations

import re
from functools import lru_cache

from graphroute.parsing.lexing import Phrases, word_set


def _by_word(table: dict[str, int]) -> dict[str, int]:
    return {word: value for words, value in table.items() for word in words.split()}


MONTHS = _by_word(
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
WEEKDAYS = _by_word(
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
UNITS = {
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
NUMBERS = _by_word(
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
ORDINALS = _by_word(
    {
        "first первый первом первого i": 1,
        "second второй втором второго ii": 2,
        "third третий третьем третьего iii": 3,
        "fourth last четвертый четвертом четвертого iv": 4,
    }
)
HAN_DIGITS = {character: value for value, character in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
DECADE_WORDS = {
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

PREFIXES = Phrases(
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
FILLERS = Phrases({"": "the year|the years|year|years|the month of|the year of|the period|the date|'|\""})
WEAK = frozenset(("of", "for", "about", "around", "к", "на", "за", "at", "by", "with", "through"))
"""Prepositions before a bare number that need not be a year."""
SINCE_WORDS = frozenset(("с", "со", "从", "由"))
TO = Phrases({"to": "to|until|till|through|up to|thru|-|~|по|до|至|到|~|直到"})
AND = Phrases({"and": "and|-|to|и|和|与|至|到"})
SUFFIXES = Phrases(
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
EXCLUSIVE = Phrases(
    {
        "exclusive": (
            "not including that day|not including that date|not including that month|not including that year|"
            "not including it|excluding that day|excluding that date|excluding that month|"
            "excluding that year|exclusive|exclusively|не включая|исключительно|不含|不包括"
        ),
        "inclusive": "including that day|including that date|inclusive|inclusively|включительно|含",
    }
)
PARTS = Phrases(
    {
        "early": "early|the early|в начале|начало|начале|начала",
        "mid": "mid|mid-|the mid|the mid-|middle of|the middle of|middle|в середине|середине|середины",
        "late": "late|the late|в конце|конце|конца",
        "start": "the beginning of|beginning of|the start of|start of|the first day of",
        "end": "the end of|end of|the last day of",
    }
)
NOW = Phrases(
    {
        "now": (
            "now|right now|as of now|currently|current|at present|presently|at the moment|at this moment|"
            "these days|nowadays|at this time|as of today|as of this moment|сейчас|теперь|ныне|"
            "в настоящее время|на данный момент|в данный момент|нынешн*|текущ*|действующ*|на сегодня|"
            "на сегодняшний день|现在|目前|当前|如今|现任|现时|眼下|現在|當前"
        ),
    }
)
DAYS_AWAY = Phrases(
    {
        "0": "today|today's|сегодня|今天|今日",
        "-1": "yesterday|yesterday's|вчера|昨天|昨日",
        "1": "tomorrow|завтра|明天|明日",
        "-2": "the day before yesterday|day before yesterday|позавчера|前天",
        "2": "the day after tomorrow|day after tomorrow|послезавтра|后天",
    }
)
SHIFTS = Phrases(
    {
        "-1": "last|previous|past|the previous|the preceding|prior|прошл*|предыдущ*|минувш*|上|上个|上一|去",
        "0": "this|the current|current|текущ*|нынешн*|этот|эту|этом|эта|этой|это|本|这|这个|今|本个",
        "1": "next|coming|the coming|следующ*|будущ*|下|下个|明",
        "-2": "前",
    }
)
ROLLING = Phrases(
    {
        "-1": "the last|the past|last|past|the previous|за последн*|последн*|за прошедш*|过去|最近|近",
        "1": "the next|the coming|未来|ближайш*",
    }
)
HAN_WEEKDAYS = "一二三四五六日天"
HAN_UNITS = Phrases(
    {
        "day": "天|日",
        "week": "周|个星期|星期|个礼拜|礼拜",
        "month": "个月|月",
        "quarter": "个季度|季度",
        "year": "年",
    }
)
ID_NOUNS = word_set(
    "ticket tickets order number numbers no nr id ids section sec rule rules article art part page room build builds version versions "
    "release port case chapter clause paragraph para issue bug pr account customer user invoice item step line table figure code "
    "error pin model flight apartment suite box phone ext extension iso rfc windows level row record transaction ref reference "
    "batch serial sku isbn seat locker gate route than over under above below exceeding least most exactly score top first "
    "last equals equal only nearly almost approximately roughly плюс номер заявка тикет раздел пункт статья более менее "
    "свыше больше меньше около версия сборка заказ"
)
"""Words before a bare number that make it a number of something, not a year."""
RU_ID_NOUNS = (
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
CLAUSE_WORDS = word_set("is are was were in on at by for from to and or with of that which who")
MEASURES = word_set(
    "dollars dollar usd eur euro euros rub rubles pounds gbp yuan rmb km kilometers kilometres meters metres miles minutes minute mins "
    "hours hour seconds seconds days weeks months years people persons users votes points percent mb gb kb kg tons tonnes "
    "inhabitants employees times characters words tokens lines rows bytes members copies units calories watts volts "
    "рублей долларов евро человек метров километров минут часов раз штук процентов шт"
)
"""Words after a bare number that make it a quantity."""
QUANTITIES = word_set(
    "price prices amount amounts cost costs runtime budget revenue votes count salary score size weight number value total population "
    "distance height length width rating reputation views balance cpu ram memory storage age id ids port ports цена сумма"
)
MEASURE_HAN = frozenset("元人个名枚岁米次万亿只条座位公里件台")
CURRENCY = frozenset("$€£¥₽₹#№§@&=")

ISO = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:(?:T|\x20(?:at\x20)?)([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r"(?:\x20?(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?)?",
    re.IGNORECASE,
)
YMD = re.compile(r"([0-9]{4})([/.])([0-9]{1,2})\2([0-9]{1,2})")
DMY = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")
SHORT_YEAR = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{2})")
YM = re.compile(r"([0-9]{4})-([0-9]{2})")
ISO_WEEK = re.compile(r"([0-9]{4})-W([0-9]{2})", re.IGNORECASE)
YQ = re.compile(r"([0-9]{4})[-/\x20]?(Q[1-4]|H[12])", re.IGNORECASE)
QY = re.compile(r"(Q[1-4]|H[12])(?:\x20of)?[-/\x20,']{0,2}([0-9]{4})", re.IGNORECASE)
DECADE = re.compile(r"(?:the\x20)?([0-9]{3}0)(?:'?s|-?х|-е|年代)", re.IGNORECASE)
SHORT_DECADE = re.compile(r"'?([2-9]0)(?:s|-х)", re.IGNORECASE)
CENTURY = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)?(?:\x20century|-?\x20?(?:век|веке|века)|世纪)", re.IGNORECASE)
TAIL_DECADE = re.compile(r"([0-9]0)年代")
CLOCK = re.compile(
    r"(?:,?\x20(?:at\x20|в\x20)?)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:\x20?(Z|UTC|GMT))?", re.IGNORECASE
)
BC = re.compile(r"\x20?(?:bc|bce|b\.c\.|до н\.\x20?э\.)(?![A-Za-z])", re.IGNORECASE)
AD = re.compile(r"\x20?(?:ad|ce|a\.d\.)(?![A-Za-z])", re.IGNORECASE)
YEAR_SPAN = re.compile(r"([0-9]{4})(-|–|/|—)([0-9]{4}|[0-9]{2})")

STARTERS = frozenset((*MONTHS, *ORDINALS, *NUMBERS, *DECADE_WORDS, *HAN_DIGITS, "q", "h", "the", "'", "十"))
STARTING_PHRASES = (PREFIXES, PARTS, NOW, DAYS_AWAY, SHIFTS, ROLLING)


@lru_cache(maxsize=4096)
def may_start_date(key: str) -> bool:
    """False if no date begins with this symbol, so that the grammar need not look."""
    return key in STARTERS or any(phrases.may_start(key) for phrases in STARTING_PHRASES)
