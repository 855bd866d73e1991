"""Words of a text with their places in it, and the key under which a name is looked up."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from graphroute.text.folding import DASHES, HAN_KANA, VOICING, fold

_SEPARATORS = f"\\s\\-_:/{DASHES}\uff1a\uff0f\uff3f\ufe55"
_HAN_KANA = re.compile(f"[{HAN_KANA}{VOICING}]")
_RUN = re.compile(f"[{HAN_KANA}][{VOICING}]?|[^{_SEPARATORS}{HAN_KANA}]+")


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written, its folded key, and its half-open range of code points in the text."""

    text: str
    key: str
    start: int
    end: int


@lru_cache(maxsize=1 << 16)
def _key(text: str) -> str:
    return fold(text)


def _is_edge(character: str) -> bool:
    return not character.isalnum() and unicodedata.category(character)[0] in "PSC"


def words(text: str) -> list[Word]:
    """The words of a text, in order.

    Words end at white space and at `-`, `_`, `:`, `/` and their variants; each Han or kana character is a word.
    Punctuation at the ends of a word is cut, a leading "@" with it, unless nothing else would remain.
    """
    found = []
    for match in _RUN.finditer(text):
        start, end = match.span()
        low, high = start, end
        while low < high and _is_edge(text[low]):
            low += 1
        while high > low and _is_edge(text[high - 1]):
            high -= 1
        if low < high:
            start, end = low, high
        elif _HAN_KANA.match(text[start - 1 : start]) or _HAN_KANA.match(text[end : end + 1]):
            continue
        word = text[start:end]
        found.append(Word(word, _key(word), start, end))
    return found


def alias_key(name: str) -> str:
    """The key of a name: its words' keys joined by a space, or the folded name if it has no words.

    "KEP-4818", "kep:4818" and "Kep 4818" have one key. The same function is used at index and at query time.
    """
    return " ".join(word.key for word in words(name)) or fold(name)
