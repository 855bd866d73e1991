"""Lexing: fine-grained tokens of a question for cue grammars, and longest-phrase matching over them."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

Span = tuple[int, int]

_HAN = "\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(
    rf"(?P<han>[{_HAN}])"
    rf"|(?P<number>\d+)"
    rf"|(?P<word>(?:(?![{_HAN}])[^\W\d_])(?:(?![{_HAN}])[^\W\d_]|[\u0300-\u036f]|['’ʼ＇](?=[^\W\d_]))*)"
    rf"|(?P<mark>\S)"
)
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d"
_FLAT = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_FLAT.update({ord(dash): ord("-") for dash in _DASHES})
_FLAT.update(
    {0x2018: ord("'"), 0x2019: ord("'"), 0x02BC: ord("'"), 0x3000: ord(" "), 0x00A0: ord(" "), 0x202F: ord(" ")}
)


def flatten(text: str) -> str:
    """Full-width ASCII, dashes, apostrophes and wide spaces as ASCII, one code point for one: offsets stay."""
    return text.translate(_FLAT)


def is_han(character: str) -> bool:
    """True for Han and kana: characters that are words of their own."""
    code = ord(character)
    return (
        0x4E00 <= code <= 0x9FFF
        or 0x3040 <= code <= 0x30FF
        or 0x3400 <= code <= 0x4DBF
        or code == 0x3007
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x3FFFF
    )


def is_word_character(character: str) -> bool:
    """True for letters, digits and `_` of scripts that separate words by spaces."""
    return (character.isalnum() or character == "_") and not is_han(character)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A run of letters, a run of digits, one Han or kana character, or one mark. `key` is its folded form."""

    key: str
    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Lexed:
    """A text as symbols in order. `flat` has the same length as `text`."""

    text: str
    flat: str
    symbols: tuple[Symbol, ...]
    starts: tuple[int, ...]

    def index_at(self, position: int) -> int:
        """Index of the first symbol that starts at or after `position`."""
        return bisect_left(self.starts, position)


def _key(piece: str) -> str:
    if piece.isascii():
        return piece.lower()
    return unicodedata.normalize("NFKC", piece).casefold().replace("ё", "е").translate(_FLAT)


@lru_cache(maxsize=16)
def lex(text: str) -> Lexed:
    """Symbols of a text in one linear scan."""
    symbols = tuple(
        Symbol(_key(found[0]), found.lastgroup or "", found.start(), found.end()) for found in _TOKEN.finditer(text)
    )
    return Lexed(text, flatten(text), symbols, tuple(symbol.start for symbol in symbols))


def keys_of(phrase: str) -> tuple[str, ...]:
    """A phrase as symbol keys."""
    return tuple(_key(found[0]) for found in _TOKEN.finditer(phrase))


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase found: its payload and the symbols `[first, last)` it covers."""

    value: str
    rule: str
    first: int
    last: int


def word_set(words: str) -> frozenset[str]:
    """Words separated by spaces as a set."""
    return frozenset(words.split())


class Phrases:
    """A table of phrases, matched longest first. A phrase may end in `*`: the last word is then a prefix."""

    def __init__(self, table: Mapping[str, str]) -> None:
        """`table`: value -> phrases separated by `|`. The first value listed for a phrase wins."""
        self._exact: dict[tuple[str, ...], tuple[str, str]] = {}
        self._open: dict[tuple[str, ...], list[tuple[str, str, str]]] = {}
        lengths: dict[str, set[int]] = {}
        open_lengths: dict[str, set[int]] = {}
        for value, phrases in table.items():
            for phrase in phrases.split("|"):
                keys = keys_of(phrase.removesuffix("*"))
                if not phrase.endswith("*"):
                    self._exact.setdefault(keys, (value, phrase))
                    lengths.setdefault(keys[0], set()).add(len(keys))
                    continue
                self._open.setdefault(keys[:-1], []).append((keys[-1], value, phrase))
                if len(keys) > 1:
                    open_lengths.setdefault(keys[0], set()).add(len(keys))
        self._lengths = {key: sorted(found, reverse=True) for key, found in lengths.items()}
        self._open_lengths = {key: sorted(found, reverse=True) for key, found in open_lengths.items()}
        self._stems = tuple(stem for stem, _, _ in self._open.get((), ()))

    def may_start(self, key: str) -> bool:
        """True if a phrase begins with this symbol."""
        return key in self._lengths or key in self._open_lengths or key.startswith(self._stems)

    def at(self, symbols: Sequence[Symbol], index: int) -> Match | None:
        """The longest phrase that starts at symbol `index`."""
        first = symbols[index].key
        best: Match | None = None
        for length in self._lengths.get(first, ()):
            found = self._exact.get(tuple(symbol.key for symbol in symbols[index : index + length]))
            if found and index + length <= len(symbols):
                best = Match(found[0], found[1], index, index + length)
                break
        for length in self._open_lengths.get(first, ()):
            if index + length > len(symbols) or (best and length <= best.last - best.first):
                continue
            head = tuple(symbol.key for symbol in symbols[index : index + length - 1])
            for stem, value, phrase in self._open.get(head, ()):
                if symbols[index + length - 1].key.startswith(stem):
                    return Match(value, phrase, index, index + length)
        if best is None and first.startswith(self._stems):
            for stem, value, phrase in self._open[()]:
                if first.startswith(stem):
                    return Match(value, phrase, index, index + 1)
        return best

    def scan(self, symbols: Sequence[Symbol], blocked: Sequence[bool] = ()) -> list[Match]:
        """Non-overlapping longest phrases from left to right, none over a blocked symbol."""
        found: list[Match] = []
        index = 0
        while index < len(symbols):
            if blocked and blocked[index]:
                index += 1
                continue
            match = self.at(symbols, index)
            if match is None or (blocked and any(blocked[match.first : match.last])):
                index += 1
                continue
            found.append(match)
            index = match.last
        return found


def blocked_symbols(lexed: Lexed, spans: Iterable[Span]) -> list[bool]:
    """For each symbol: does one of the spans overlap it?"""
    blocked = [False] * len(lexed.symbols)
    for low, high in spans:
        index = max(lexed.index_at(low) - 1, 0)
        while index < len(blocked) and lexed.symbols[index].start < high:
            if lexed.symbols[index].end > low:
                blocked[index] = True
            index += 1
    return blocked
