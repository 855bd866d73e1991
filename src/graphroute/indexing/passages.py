"""Cuts a source's text into the passages that are searched and cited, without overlap and with exact spans."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graphroute.types.source import Passage, Source

MAX_PASSAGE_CHARACTERS = 1600
"""Code points of one passage; about what small embedding models take."""

_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
_LINE = re.compile(r"\n\s*")
# An ideographic full stop ends a sentence by itself; a Western one only before space and a word that may start one.
_SENTENCE = re.compile(
    r"[。！？｡…]+[”’」』）】》\"')]*\s*"
    r"|(?<![\s.][^\W\d_])[.!?…]+[\"'”’»)\]]*\s+(?=[\"'“‘«(\[—–-]?\s?[^\W_a-zа-яё])"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'«“])(?:"
    r"mr|mrs|ms|dr|prof|st|no|nos|vs|etc|cf|fig|figs|eq|sec|art|al|inc|ltd|co|corp|jr|sr|gen|col|rev|hon|ed|eds|vol|pp|p"
    r"|e\.g|i\.e|u\.s|u\.k|a\.m|p\.m|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
    r"|г|гг|в|вв|т|ул|им|проф|акад|руб|коп|млн|млрд|тыс|см|стр|рис|табл|ст|п|пп|др|пр|н\.э|т\.е|т\.к|т\.д|т\.п|т\. ?е|т\. ?к"
    r")\.\s+$",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")
_JOINING = re.compile(r"[\u0300-\u036f\u0483-\u0487\u200c\u200d\u3099\u309a\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")


def passages_of(source: Source, *, limit: int = MAX_PASSAGE_CHARACTERS) -> tuple[Passage, ...]:
    """The passages of a source in text order, ids `<source id>#0`, `#1`, ...; a source without text has one, empty.

    Joined, their texts are the source's text; each has at most `limit` code points.
    """
    return tuple(
        Passage(
            id=f"{source.id}#{number}",
            source_id=source.id,
            start=start,
            end=end,
            text=source.text[start:end],
            title=source.title,
            validity=source.validity,
            timestamp=source.timestamp,
            kind=source.kind,
            node=source.node,
        )
        for number, (start, end) in enumerate(split(source.text, limit=limit))
    )


def split(text: str, *, limit: int = MAX_PASSAGE_CHARACTERS) -> Iterator[tuple[int, int]]:
    """Spans of at most `limit` code points that cover `text` in order.

    A cut falls on the last border in the window that leaves at least a quarter of it, of the best kind there is:
    between paragraphs, lines, sentences (English, Russian, Chinese), words; else after `limit` code points.
    """
    start = 0
    while len(text) - start > limit:
        end = _cut(text, start, limit)
        yield start, end
        start = end
    if start < len(text) or not text:
        yield start, len(text)


def _cut(text: str, start: int, limit: int) -> int:
    least, most = start + max(limit // 4, 1), start + limit
    for border in (_PARAGRAPH, _LINE):
        end = _last(border, text, start, least, most)
        if end:
            return end
    end = 0
    for match in _SENTENCE.finditer(text, start, most):
        if match.end() >= least and not _ABBREVIATION.search(text[max(start, match.end() - 16) : match.end()]):
            end = match.end()
    if end:
        return end
    end = _last(_SPACE, text, start, least, most)
    if end:
        return end
    end = most
    while end > least and _JOINING.match(text, end):
        end -= 1
    return end


def _last(border: re.Pattern[str], text: str, start: int, least: int, most: int) -> int:
    end = 0
    for match in border.finditer(text, start, most):
        if match.end() >= least:
            end = match.end()
    return end
