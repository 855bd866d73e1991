"""Any text: no exception, exact spans, linear time."""

from __future__ import annotations

import gc
import itertools
import random
import time
from collections.abc import Callable, Sequence

import pytest

from graphroute.errors import UsageError
from graphroute.parsing.aggregation import find_aggregations
from graphroute.parsing.cleaning import clean
from graphroute.parsing.dates import find_dates, find_inchoatives
from graphroute.parsing.identifiers import find_identifiers
from graphroute.parsing.lexing import lex
from graphroute.parsing.questions import read_question
from graphroute.parsing.scope import find_modifiers, find_negations, find_quotes
from graphroute.types.query import Cue

INSTANT = 1_709_726_400_000_000
PATTERNS = (r"CHG-\d+", r"INC_\d+/\d+")
WORDS = (
    "who which what when the first last most of in on from to between and or before after since until by as early mid late end "
    "2024 2024-03-01 2024-02-30 0000-00-00 9999-12-31 03/04/2024 99 1990s 19th century Q1 March May 5 may 12 days ago last week next "
    "month year now current today 44 BC T10:30 +02:00 don't not without both same each per count list how many 'x' \" “ « ' CHG-482 "
    "INC_2024/77 a@b.c марта 2024 года в с по до прошлом последние 3 дня назад 年 月 日 2024年 三月 之前 从 到 去年 上周 五 十 谁 什么 是 "
    "哪个 吗 有没有 не кто ли - – / . , ? : ; ( ) % $ _ \n \t 𝔘 é e\u0301 ª ² Ⅷ ① ٣ ๓ ७ 〇 零"
)
PIECES = WORDS.split(" ")
PLANES = (
    (0x20, 0x2FFF),
    (0x3000, 0xD7FF),
    (0xE000, 0xFFFF),
    (0x10000, 0x1FFFF),
    (0x20000, 0x3FFFF),
    (0xE0000, 0x10FFFF),
)


def _all_cues(text: str) -> list[tuple[Cue, ...]]:
    identifiers = find_identifiers(text, PATTERNS)
    masked = [(cue.start, cue.end) for cue in identifiers]
    dates, _ = find_dates(text, instant=INSTANT, masked=masked)
    question = read_question(text)
    nouns = tuple(cue for cue in (question.cue, question.noun) if cue) if question else ()
    return [
        identifiers,
        tuple(date.cue for date in dates),
        find_inchoatives(text),
        find_aggregations(text),
        find_quotes(text),
        find_negations(text),
        find_modifiers(text),
        nouns,
    ]


def _random_text(source: random.Random) -> str:
    parts: list[str] = []
    for _ in range(source.randint(1, 9)):
        if source.random() < 0.75:
            parts.append(source.choice(PIECES))
        else:
            low, high = source.choice(PLANES)
            parts.append("".join(chr(source.randint(low, high)) for _ in range(source.randint(1, 4))))
        if source.random() < 0.8:
            parts.append(" ")
    return "".join(parts)


def _check(count: int, seed: int) -> None:
    source = random.Random(seed)
    for _ in range(count):
        try:
            text, _ = clean(_random_text(source))
        except UsageError:
            continue
        for group in _all_cues(text):
            for cue in group:
                assert 0 <= cue.start < cue.end <= len(text), (text, cue)
                assert text[cue.start : cue.end] == cue.text, (text, cue)
                assert cue.rule


def test_any_text_is_read_without_exception() -> None:
    _check(4_000, seed=1)


@pytest.mark.slow
def test_50_000_texts_of_all_planes() -> None:
    _check(50_000, seed=2)


def test_dates_do_not_overlap_and_hold_an_instant() -> None:
    source = random.Random(3)
    for _ in range(1_500):
        text = _random_text(source)
        dates, _ = find_dates(text, instant=INSTANT)
        for one, following in itertools.pairwise(dates):
            assert one.cue.end <= following.cue.start
        for date in dates:
            assert date.interval.low < date.interval.high, (text, date)


def test_masked_spans_are_never_dates() -> None:
    text = "who owned Relay in March 2024 or on 2024-03-01?"
    dates, _ = find_dates(text, instant=INSTANT)
    assert len(dates) == 2
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1, 7):
            if text[start:end].isspace():
                continue
            found, _ = find_dates(text, instant=INSTANT, masked=[(start, end)])
            for date in found:
                assert date.cue.end <= start or end <= date.cue.start


EXTRACTORS: dict[str, Callable[[str], object]] = {
    "clean": lambda text: clean(text, limit=len(text)),
    "identifiers": lambda text: find_identifiers(text, PATTERNS),
    "dates": lambda text: find_dates(text, instant=INSTANT),
    "aggregations": find_aggregations,
    "quotes": find_quotes,
    "negations": find_negations,
    "modifiers": find_modifiers,
    "questions": read_question,
}
UNITS = (
    "Who became chair of SIG Node in March 2024 and not before 2019, or which 'KEP-12' had the most \"owners\" from 2010 to 2015? ",
    "'a ",
    "from 2010 and ",
    "2024年之前不是什么",
    "what who that is ",
)


def _seconds(read: Callable[[str], object], text: str) -> float:
    lex.cache_clear()
    # A collection walks all that other tests left in this process, more often the longer the text.
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        read(text)
        return time.process_time() - start
    finally:
        gc.enable()


@pytest.mark.parametrize("name", sorted(EXTRACTORS))
def test_time_is_linear(name: str) -> None:
    """Twice the text takes at most 2.6 times as long, over all shapes of text together."""
    read = EXTRACTORS[name]
    repeated: Sequence[str] = [(unit * (65_536 // len(unit) + 1))[:65_536] for unit in UNITS]
    for attempt in range(6):
        half = sum(_seconds(read, text[:32_768]) for text in repeated)
        whole = sum(_seconds(read, text) for text in repeated)
        if whole <= 2.6 * half or whole < 0.02:
            return
        assert attempt < 5, f"{name}: {half:.3f} s for 32 KiB, {whole:.3f} s for 64 KiB"
