"""The analyser of lexical search, the same at index and at query time."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

from graphroute.text.folding import HAN_KANA, VOICING, fold_characters
from graphroute.text.languages import stem
from graphroute.text.stop_words import STOP_WORDS

_LETTER = f"[^\\W_{HAN_KANA}]"
_WORD = f"(?:{_LETTER}[\u0300-\u036f]*)+"
_ASCII_CHUNK = re.compile("[a-z0-9]+(?:[-_.:/@'&,+]+[a-z0-9]+)*")
_CHUNK = re.compile(f"{_WORD}(?:[-_.:/@'&,+]+{_WORD})*")
_HAN_RUN = re.compile(f"[{HAN_KANA}{VOICING}]+")
_STRESS = re.compile("(?<=[\u0430-\u044f])[\u0300\u0301]")
_CAMEL = re.compile("(?<![A-Za-z0-9])[A-Z]*[a-z0-9]+[A-Z][A-Za-z0-9]*")
_CAMEL_PART = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SPACED_PAIR = re.compile("(?<![^\\W_])([^\\W\\d_]{2,})[ #]+([0-9]+)(?![^\\W_])")
_GROUPED = re.compile("[0-9]{1,3}(?:,[0-9]{3})+")
_SEGMENT_SEPARATOR = re.compile("[/:@]+")
_PART_SEPARATOR = re.compile("[-_.:/@&+]+")
_GLUED = re.compile("([^\\W\\d_]+)([0-9]+)")
_VERSION = re.compile("v([0-9].*)")

_ALL_STOP_WORDS = frozenset().union(*STOP_WORDS.values())


def _word_terms(word: str) -> list[str]:
    """A word form, its form without Latin accents, and its stem."""
    if word in _ALL_STOP_WORDS:
        return [word]
    if "'" in word:
        if word.endswith("'s"):
            word = word[:-2]
        pieces = [piece for piece in word.split("'") if piece]
        if len(pieces) > 1:
            return ["".join(pieces), *(piece for piece in pieces if len(piece) > 2)]
        word = pieces[0] if pieces else word.replace("'", "")
        if word in _ALL_STOP_WORDS:
            return [word]
    found = [word]
    if word.isdigit() or len(word) < 3:
        return found
    form = word
    if not word.isascii():
        if "\u0400" <= word[0] <= "\u052f":
            form = stem(word, "ru")
            return found if form == word else [word, form]
        form = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
        if not form.isascii():
            return found
        found.append(form)
    if form.isalpha():
        stemmed = stem(form, "en")
        if stemmed != form:
            found.append(stemmed)
    return found


def _part_terms(part: str) -> list[str]:
    """Terms of an unbroken run of letters and digits."""
    glued = _GLUED.fullmatch(part)
    if glued is None:
        return _word_terms(part)
    letters, digits = glued.groups()
    found = [part, f"{letters}-{digits}"]
    if len(letters) > 1:
        found += [letters, digits]
    return found


@lru_cache(maxsize=1 << 17)
def _chunk_terms(chunk: str) -> tuple[str, ...]:
    """Terms of a run without white space: the whole and its parts, joined by "-" whatever stood between."""
    if chunk.isalpha():
        return tuple(_word_terms(chunk))
    found: list[str] = []
    if "," in chunk:
        for piece in _GROUPED.findall(chunk):
            found.append(piece.replace(",", ""))
        for piece in chunk.split(","):
            if piece:
                found += _chunk_terms(piece)
        return tuple(found)
    parts = [part for part in _PART_SEPARATOR.split(chunk) if part]
    if len(parts) == 1:
        return tuple(_part_terms(parts[0]))
    wholes = ["-".join(parts)]
    segments = _SEGMENT_SEPARATOR.split(chunk)
    if len(segments) > 1:
        for segment in segments:
            pieces = [piece for piece in _PART_SEPARATOR.split(segment) if piece]
            if len(pieces) > 1:
                wholes.append("-".join(pieces))
    version = _VERSION.fullmatch(wholes[0])
    if version:
        wholes.append(version.group(1))
    wholes += [
        f"{left}-{right}" for left, right in pairwise(parts) if right.isdigit() and left.isalpha() and len(left) > 1
    ]
    found += dict.fromkeys(wholes)
    for part in parts:
        found += _part_terms(part)
    return tuple(found)


def terms(text: str) -> list[str]:
    """The search terms of a text, with repetitions, in no meaningful order.

    Word forms and their English or Russian stems; Han and kana characters and pairs of neighbours; identifiers whole
    ("chg-482" for `CHG-482`, `chg 482`, `CHG_482` and `chg482`) and by parts; camel case by parts.
    """
    found: list[str] = []
    if text.isascii():
        cased = text
        folded = text.lower()
        chunks = _ASCII_CHUNK.findall(folded)
    else:
        cased = unicodedata.normalize("NFKC", text)
        folded = fold_characters(text)
        if "\u0301" in folded or "\u0300" in folded:
            folded = _STRESS.sub("", folded)
        chunks = _CHUNK.findall(folded)
        for run in _HAN_RUN.findall(folded):
            found += run
            found += map("".join, pairwise(run))
    for chunk in chunks:
        found += _chunk_terms(chunk)
    for left, right in _SPACED_PAIR.findall(folded):
        if left not in _ALL_STOP_WORDS:
            found.append(f"{left}-{right}")
    for name in _CAMEL.findall(cased):
        parts = _CAMEL_PART.findall(name)
        if len(parts) > 1:
            for part in parts:
                if len(part) > 1:
                    found += _word_terms(part.lower())
    return found


def _is_searchable(term: str) -> bool:
    if term in _ALL_STOP_WORDS:
        return False
    return not (len(term) == 2 and term[0] in STOP_WORDS["zh"] and term[1] in STOP_WORDS["zh"])


def query_terms(text: str) -> list[str]:
    """The terms of a question that are worth a search, each once; empty if it has only stop words."""
    return [term for term in dict.fromkeys(terms(text)) if _is_searchable(term)]
