"""Folded keys: the form in which two spellings of the same characters are equal."""

from __future__ import annotations

import unicodedata

DASHES = "\u058a\u05be\u1400\u1806\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e17\u2e1a\u2e3a\u2e3b\u2e40\u301c\u3030\u30a0\ufe31\ufe32\ufe58\ufe63\uff0d\u02d7"
"""Dash variants, read as "-". The kana length mark is a letter and is not among them."""

HAN_KANA = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9d\U00020000-\U000323af"
)
"""Inside of a regular expression class: Han and kana, which are written without spaces."""

VOICING = "\u3099\u309a\uff9e\uff9f"

_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u02bc\uff07"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02"
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"

_TABLE: dict[int, str | None] = {
    **dict.fromkeys(map(ord, DASHES), "-"),
    **dict.fromkeys(map(ord, _SINGLE_QUOTES), "'"),
    **dict.fromkeys(map(ord, _DOUBLE_QUOTES), '"'),
    **dict.fromkeys(map(ord, _INVISIBLE), None),
    ord("ё"): "е",
}


def fold_characters(text: str) -> str:
    """NFKC, case fold and the table; white space is left alone."""
    if text.isascii():
        return text.lower()
    while True:
        folded = unicodedata.normalize("NFKC", text).casefold().translate(_TABLE)
        text = unicodedata.normalize("NFKC", folded)
        if "ё" not in text:  # a second diaeresis composes anew
            return text


def fold(text: str) -> str:
    """NFKC, case fold, ё as е, dashes as "-", curly quotes straight, white space runs as one space, ends trimmed.

    й stays й. Idempotent; a text that is not empty never folds to an empty key.
    """
    folded = " ".join(fold_characters(text).split())
    return folded or text


def _continues(character: str) -> bool:
    """True if the character may join the one before it when text is normalised."""
    if character.isascii():
        return False
    if character in _INVISIBLE:
        return True
    first = unicodedata.normalize("NFKC", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1161" <= first <= "\u11ff"


def fold_with_offsets(text: str) -> tuple[str, list[int]]:
    """`fold(text)` and, for each of its code points, the offset in `text` of the character it comes from.

    Characters that are composed into one come from the first of them.
    """
    pieces: list[str] = []
    offsets: list[int] = []
    length = len(text)
    start = 0
    pending_space: int | None = None
    while start < length:
        end = start + 1
        while end < length and _continues(text[end]):
            end += 1
        for character in fold_characters(text[start:end]):
            if character.isspace():
                if pieces and pending_space is None:
                    pending_space = start
                continue
            if pending_space is not None:
                pieces.append(" ")
                offsets.append(pending_space)
                pending_space = None
            pieces.append(character)
            offsets.append(start)
        start = end
    if not pieces:
        return text, list(range(length))
    return "".join(pieces), offsets
