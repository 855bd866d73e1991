r"""Values inside a line: bare, quoted or to the end of it; shared by the formats that have a line for each record.

A *word* is bare if it starts with a letter, digit or `@`, goes on with these or `_ : @ . / + -`, and does not look like a local id; any
other stands in double quotes. A *tail* runs to the end of the line. Escapes in both: `\\`, `\n`, `\t`, `\r`, `\u{hex}`, in quotes also `\"`.
Every control, format, private and unassigned character, every blank other than the space, spaces at either end of a tail, and `<` where it
could open or close a tag are written as `\u{hex}`. So no value can start a line, and no header, record or closing tag can stand inside one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from graphroute.serialization.visible import harmless, visible

BARE = re.compile(r"[\w@:./+-]+")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_LOCAL = re.compile(r"[NSFU][0-9]")
_ASCII_BARE = re.compile(r"(?![NSFU][0-9])[A-Za-z0-9@][\w@:./+-]*")
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-f]{1,6})\}|(.)|$)")
_ASCII_BARE_LINES = re.compile(r"(?:(?![NSFU][0-9])[A-Za-z0-9@][A-Za-z0-9_@:./+-]*+\n)*+")
_DECODED = {"\\": "\\", "n": "\n", "t": "\t", "r": "\r", '"': '"'}
_SHORT = str.maketrans({"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"})
MAX_CACHED = 256
"""Longest value whose written form is kept: names and ids come again, texts do not."""
_KEPT = 32_768
"""How many of them are kept."""


def by_number(character: str) -> str:
    """`\\u{hex}`."""
    return f"\\u{{{ord(character):x}}}"


def is_bare(text: str) -> bool:
    """True if a word is written as it is."""
    if text.isascii():
        return bool(_ASCII_BARE.fullmatch(text))
    if not (text[0].isalnum() or text[0] == "@"):
        return False
    return bool(BARE.fullmatch(text)) and not _LOCAL.match(text) and harmless(text)


@lru_cache(maxsize=_KEPT)
def _word(text: str) -> str:
    if is_bare(text):
        return text
    body = text.translate(_SHORT).replace('"', '\\"')
    return f'"{visible(body, by_number)}"'


def word(text: str) -> str:
    """A value as a field of a line: bare where that is safe, else quoted."""
    return _word(text) if len(text) <= MAX_CACHED else _word.__wrapped__(text)


def words(texts: Sequence[str]) -> Sequence[str]:
    """Values as fields of a line, tested together where they are many."""
    joined = "\n".join(texts) + "\n"
    if _ASCII_BARE_LINES.fullmatch(joined) and joined.count("\n") == len(texts):
        return texts
    return list(map(word, texts))


def is_plain(texts: Sequence[str], separators: str) -> bool:
    """True if none of the texts needs an escape as a cell between these separators; tested together, and False for some that need none."""
    joined = "\n".join(texts)
    return (
        joined.count("\n") == len(texts) - 1
        and "\\" not in joined
        and "<" not in joined
        and not any(one in joined for one in separators)
        and "\n " not in joined
        and " \n" not in joined
        and joined[:1] not in ("", " ", "\n")
        and joined[-1] not in " \n"
        and "\n\n" not in joined
        and harmless(joined.replace("\n", ""))
    )


def escaped(text: str) -> str:
    """A value with its escapes and without quotes."""
    return visible(text.translate(_SHORT), by_number)


def tail(text: str) -> str:
    """A text as the rest of a line."""
    body = text.translate(_SHORT)
    if body.startswith(" "):
        body = by_number(" ") + body[1:]
    if body.endswith(" "):
        body = body[:-1] + by_number(" ")
    return visible(body, by_number)


def unescape(text: str) -> str:
    """The value of an escaped text. Raises ValueError for an unknown escape."""

    def one(match: re.Match[str]) -> str:
        number, character = match.groups()
        if number:
            point = int(number, 16)
            if point > 0x10FFFF:
                raise ValueError(f"no such code point: {match.group()}")
            return chr(point)
        if character not in _DECODED:
            raise ValueError(f"unknown escape {match.group()!r}")
        return _DECODED[character]

    return _ESCAPE.sub(one, text) if "\\" in text else text
