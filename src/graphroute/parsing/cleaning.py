"""Cleaning: a question without invisible characters, and notes that say what was taken out."""

from __future__ import annotations

import re
import unicodedata

from graphroute.errors import UsageError

MAX_CHARACTERS = 8_000
"""Longest question accepted, in code points as given."""

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_KEPT = frozenset("\t\n\r")
_SPACES = frozenset("\x0b\x0c\x1c\x1d\x1e\x1f\x85")
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_ZERO_WIDTH = frozenset("\u00ad\u034f\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff")
_VISIBLE_FORMAT = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)  # Cf by category, but drawn
_SUSPECT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u070f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ufff9-\ufffb\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def _class_of(character: str) -> str:
    """Name of the class of invisible characters this one belongs to; empty if it is kept."""
    if character == "\x00":
        return "NUL"
    if character == "\x1b":
        return "ESC"
    if character in _BIDI:
        return "bidirectional control"
    if character in _ZERO_WIDTH:
        return "zero-width"
    code = ord(character)
    if 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF:
        return "variation selector"
    category = unicodedata.category(character)
    if category == "Cc":
        return "" if character in _KEPT else "control"
    if category == "Cf" and character not in _VISIBLE_FORMAT:
        return "tag" if 0xE0000 <= code <= 0xE007F else "format"
    return ""


def clean(question: str, *, limit: int = MAX_CHARACTERS) -> tuple[str, tuple[str, ...]]:
    """The question that all spans refer to, and what was changed.

    Removes NUL, ESC, other control characters except tab, line feed and carriage return, bidirectional controls, zero-width and
    other invisible format characters. Control characters that end a line or separate fields become a space, so
    that no two words are joined. A surrogate pair becomes its character; a lone surrogate becomes U+FFFD. Nothing else changes:
    no trimming, no case folding, no normal form.

    Raises UsageError if the question is no text, is empty or blank after cleaning, or is longer than `limit` code points
    as given (it is never cut).
    """
    if not isinstance(question, str):
        raise UsageError(f"question is a {type(question).__name__}", allowed="text")
    if len(question) > limit:
        raise UsageError(
            f"question has {len(question):,} characters",
            allowed=f"at most {limit:,} characters",
            hint="shorten the question; it is not cut silently",
        )
    text = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), question)
    text, lone = _SURROGATE.subn("\ufffd", text)
    counts: dict[str, int] = {}

    def replace(found: re.Match[str]) -> str:
        character = found[0]
        name = _class_of(character)
        if not name:
            return character
        counts[name] = counts.get(name, 0) + 1
        return " " if character in _SPACES else ""

    text = _SUSPECT.sub(replace, text)
    if not text.strip():
        raise UsageError("question is empty", hint="ask a question of at least one visible character")
    notes = [f"removed {count} {name} character{'s' if count > 1 else ''}" for name, count in sorted(counts.items())]
    if lone:
        notes.append(f"replaced {lone} lone surrogate{'s' if lone > 1 else ''} by U+FFFD")
    return text, tuple(notes)
