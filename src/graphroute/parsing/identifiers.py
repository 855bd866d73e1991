"""Identifiers: configured patterns and generic shapes of ids, longest match, never inside a longer id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from graphroute.errors import ConfigurationError
from graphroute.parsing.lexing import flatten, is_word_character, word_set
from graphroute.types.query import Cue, CueKind

MAX_PATTERN_CHARACTERS = 500
"""Longest configured pattern."""

MAX_MATCHES = 200
"""Matches taken per pattern and question; bounds the time of patterns that look far ahead for each match."""

_BEFORE = r"(?:\A|[^\p{L}\p{N}_]|[\p{Han}\p{Hiragana}\p{Katakana}])"
_AFTER = r"(?:\z|[^\p{L}\p{N}_]|[\p{Han}\p{Hiragana}\p{Katakana}])"
_JOINERS = frozenset("-_./:")


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """A pattern with its word boundaries, over UTF-8 bytes."""

    source: str
    program: Any


@lru_cache(maxsize=64)
def _compile(patterns: tuple[str, ...], where: str | None) -> tuple[CompiledPattern, ...]:
    options = re2.Options()
    options.longest_match = True
    options.log_errors = False
    compiled: list[CompiledPattern] = []
    for position, source in enumerate(patterns):
        place = f"{where}[{position}]" if where else None
        if not isinstance(source, str):
            raise ConfigurationError(f"pattern is a {type(source).__name__}", where=place, allowed="text")
        if not source:
            raise ConfigurationError("pattern is empty", where=place)
        if len(source) > MAX_PATTERN_CHARACTERS:
            raise ConfigurationError(
                f"pattern of {len(source)} characters",
                where=place,
                allowed=f"at most {MAX_PATTERN_CHARACTERS} characters",
            )
        try:
            alone = re2.compile(source, options)
            program = re2.compile(f"{_BEFORE}({source}){_AFTER}", options)
        except (re2.error, UnicodeEncodeError) as error:
            reason = error.args[0] if error.args else error
            if isinstance(reason, bytes):
                reason = reason.decode("utf-8", "replace")
            raise ConfigurationError(
                f"pattern {source!r} is not valid: {reason}",
                where=place,
                allowed="RE2 syntax, which has no back-references and no look-around",
            ) from None
        if alone.fullmatch("") is not None:
            raise ConfigurationError(f"pattern {source!r} matches the empty text", where=place)
        compiled.append(CompiledPattern(source, program))
    return tuple(compiled)


def compile_patterns(patterns: Sequence[str], where: str | None = None) -> tuple[CompiledPattern, ...]:
    """Compile identifier patterns, cached. `where` names the place in the configuration for errors.

    Raises ConfigurationError for a pattern that is not RE2, is longer than `MAX_PATTERN_CHARACTERS` or matches the empty text.
    """
    return _compile(tuple(patterns), where)


def _inside_longer(text: str, start: int, end: int) -> bool:
    """True if a joiner and a digit continue the match on the side of a digit: `CHG-482` in `CHG-482-1`, `v1` in `v1.18`."""
    if end + 1 < len(text) and text[end] in _JOINERS and text[end + 1].isdigit() and is_word_character(text[end - 1]):
        return True
    return start >= 2 and text[start].isdigit() and text[start - 1] in _JOINERS and text[start - 2].isdigit()


def _configured(text: str, patterns: Sequence[CompiledPattern]) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    encoded = text.encode("utf-8", "replace")
    ascii_only = len(encoded) == len(text)
    for pattern in patterns:
        position = byte = character = 0
        for _ in range(MAX_MATCHES):
            match = pattern.program.search(encoded, position)
            if match is None:
                break
            low, high = match.span(1)
            if ascii_only:
                start, end = low, high
            else:
                start = character + len(encoded[byte:low].decode("utf-8", "replace"))
                end = start + len(encoded[low:high].decode("utf-8", "replace"))
                byte, character = high, end
            # The character after a match may be the boundary before the next one, so the search goes on from there.
            position = high
            if end > start and not _inside_longer(text, start, end):
                found.append((start, end, f"pattern:{pattern.source}"))
    return found


_CHUNK = re.compile(r"[A-Za-zА-Яа-яЁё0-9][A-Za-zА-Яа-яЁё0-9_\-:/.@]*")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_CODE = re.compile(r"[A-ZА-ЯЁ]{2,}[A-ZА-ЯЁ0-9]*[-_:][0-9][A-ZА-ЯЁ0-9]*(?:[-_:/][A-ZА-ЯЁ0-9]+)*")
_SNAKE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+")
_PREFIXED = re.compile(r"[a-z]{2,}[:-][0-9]{3,}")
_COMPACT = re.compile(r"[0-9a-z]{8,}|[0-9A-Z]{8,}")
_TURNS = re.compile(r"[0-9]+|[A-Za-z]+")
_NOT_PREFIXES = word_set(
    "pre post mid non top under over sub late early circa page rule section since until before after"
)


def _is_shape(chunk: str) -> bool:
    if _UUID.fullmatch(chunk) or _CODE.fullmatch(chunk):
        return True
    if _SNAKE.fullmatch(chunk):
        tail = chunk.split("_", 1)[1]
        return any(letter.isdigit() for letter in chunk) and (len(tail) >= 3 or tail.isdigit())
    if _PREFIXED.fullmatch(chunk):
        return re.split("[:-]", chunk)[0] not in _NOT_PREFIXES
    if _COMPACT.fullmatch(chunk):
        has_digit = any(letter.isdigit() for letter in chunk)
        has_letter = any(letter.isalpha() for letter in chunk)
        hexadecimal = all(letter in "0123456789abcdefABCDEF" for letter in chunk)
        return has_digit and has_letter and (hexadecimal or len(_TURNS.findall(chunk)) >= 4)
    return False


def _shapes(text: str) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    for match in _CHUNK.finditer(text):
        start = match.start()
        chunk = match[0].rstrip("-_:/.@")
        end = start + len(chunk)
        if "@" in chunk or "://" in chunk or len(chunk) > 200:
            continue
        if (start and is_word_character(text[start - 1])) or (end < len(text) and is_word_character(text[end])):
            continue
        if _is_shape(chunk):
            found.append((start, end, "shape"))
    return found


def find_identifiers(text: str, patterns: Sequence[str], *, where: str | None = None) -> tuple[Cue, ...]:
    """Identifiers in a question, in order, none overlapping another.

    `patterns` are configured RE2 patterns (rule `pattern:<source>`); they win over generic shapes (rule `shape`): capitals joined
    to a number (`CHG-482`), lower-case words joined by `_` with a digit, UUIDs, and runs of 8 or more characters that mix digits
    and letters. Of overlapping matches of one kind the longest is kept. A match is bounded by characters that are no
    letter, digit or `_`, and is not the head of a longer number (`CHG-482` is found neither in `CHG-4820` nor in `CHG-482-1`).
    Full-width characters and dash variants match their ASCII forms; `value` is the match so written, `text` as it stands.
    Time is linear in the text. Raises ConfigurationError for an invalid pattern.
    """
    flat = flatten(text)
    ranked = sorted(_configured(flat, compile_patterns(patterns, where)), key=lambda hit: (hit[0] - hit[1], hit[0]))
    ranked += sorted(_shapes(flat), key=lambda hit: (hit[0] - hit[1], hit[0]))
    taken = bytearray(len(text))
    kept: list[tuple[int, int, str]] = []
    for start, end, rule in ranked:
        if taken[start] or taken[end - 1] or any(taken[start:end]):
            continue
        taken[start:end] = b"\x01" * (end - start)
        kept.append((start, end, rule))
    return tuple(
        Cue(kind=CueKind.IDENTIFIER, value=flat[start:end], start=start, end=end, rule=rule, text=text[start:end])
        for start, end, rule in sorted(kept)
    )
