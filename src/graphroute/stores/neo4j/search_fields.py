"""What full-text search needs on a passage's node, and the Lucene text of a search, built from our own terms.

The terms of a passage (`graphroute.text.terms`) stand in one property a script, each indexed with the analyser of a language.
A question reaches Lucene only as such terms in quotation marks. Lucene may stem further, so it finds a superset;
`term_ids` and `term_bytes` say what a passage really has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from graphroute.stores.term_hash import term_hash
from graphroute.text import terms

INDEX_OF = {
    "words_english": "graphroute_words_english",
    "words_russian": "graphroute_words_russian",
    "words_cjk": "graphroute_words_cjk",
}
"""FULLTEXT index by property."""

MAX_SCOPE_TOKENS = 500
"""Scopes up to which the allow-list is part of the Lucene text; its boolean queries end at 1,024 clauses."""

_HAN_KANA = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
_CYRILLIC = re.compile("[\u0400-\u052f]")
_PLAIN = re.compile("[0-9a-z\u00df-\u00f6\u00f8-\u024f\u0400-\u052f-]+")
# What the analysers english, russian and cjk drop, of the words that a question may search for.
_DROPPED = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "for",
        "if",
        "in",
        "into",
        "is",
        "it",
        "no",
        "not",
        "of",
        "on",
        "or",
        "s",
        "such",
        "t",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "will",
        "with",
        "www",
        "и",
        "в",
        "во",
        "не",
        "что",
        "он",
        "на",
        "я",
        "с",
        "со",
        "как",
        "а",
        "то",
        "все",
        "она",
        "так",
        "его",
        "но",
        "да",
        "ты",
        "к",
        "у",
        "же",
        "вы",
        "за",
        "бы",
        "по",
        "только",
        "ее",
        "мне",
        "было",
        "вот",
        "от",
        "меня",
        "еще",
        "нет",
        "о",
        "из",
        "ему",
        "теперь",
        "когда",
        "даже",
        "ну",
        "вдруг",
        "ли",
        "если",
        "уже",
        "или",
        "ни",
        "быть",
        "был",
        "него",
        "до",
        "вас",
        "нибудь",
        "опять",
        "уж",
        "вам",
        "ведь",
        "там",
        "потом",
        "себя",
        "ничего",
        "ей",
        "может",
        "они",
        "тут",
        "где",
        "есть",
        "надо",
        "ней",
        "для",
        "мы",
        "тебя",
        "их",
        "чем",
        "была",
        "сам",
        "чтоб",
        "без",
        "будто",
        "чего",
        "раз",
        "тоже",
        "себе",
        "под",
        "будет",
        "ж",
        "тогда",
        "кто",
        "этот",
        "того",
        "потому",
        "этого",
        "какой",
        "совсем",
        "ним",
        "здесь",
        "этом",
        "один",
        "почти",
        "мой",
        "тем",
        "чтобы",
        "нее",
        "сейчас",
        "были",
        "куда",
        "зачем",
        "всех",
        "никогда",
        "можно",
        "при",
        "наконец",
        "два",
        "об",
        "другой",
        "хоть",
        "после",
        "над",
        "больше",
        "тот",
        "через",
        "эти",
        "нас",
        "про",
        "всего",
        "них",
        "какая",
        "много",
        "разве",
        "три",
        "эту",
        "моя",
        "впрочем",
        "хорошо",
        "свою",
        "этой",
        "перед",
        "иногда",
        "лучше",
        "чуть",
        "том",
        "нельзя",
        "такой",
        "им",
        "более",
        "всегда",
        "конечно",
        "всю",
        "между",
    ]
)


def search_fields(row: Mapping[str, object]) -> dict[str, object]:
    """Properties of a passage's node beside the columns of its row.

    `row` has the columns `title`, `text` and `scope`. `term_ids` are 63-bit hashes, ascending, `term_bytes` the same with the
    occurrences of each; `length` is their sum.
    """
    found = terms(f"{row['title']}\n{row['text']}")
    counts = sorted((term_hash(term), number) for term, number in Counter(found).items())
    token = scope_token(int(str(row["scope"])))
    words: dict[str, list[str]] = {}
    for term in found:
        property_, word = indexed_form(term)
        words.setdefault(property_, [token]).append(word)
    return {
        "length": len(found),
        "term_ids": [term for term, _ in counts],
        "term_bytes": pack_counts(counts),
        **{property_: " ".join(held) for property_, held in words.items()},
    }


def pack_counts(counts: Sequence[tuple[int, int]]) -> bytes:
    """Hashes of terms, ascending, as int64 little-endian, then the count of each as int32."""
    hashes = np.array([term for term, _ in counts], dtype="<i8")
    return hashes.tobytes() + np.array([number for _, number in counts], dtype="<i4").tobytes()


def read_counts(packed: bytes, wanted: NDArray[np.int64]) -> list[int]:
    """How often each of the `wanted` hashes, ascending, occurs in what `pack_counts` made."""
    size = len(packed) // 12
    hashes = np.frombuffer(packed, dtype="<i8", count=size)
    places = np.searchsorted(hashes, wanted)
    counts = np.frombuffer(packed, dtype="<i4", offset=8 * size)
    return [
        int(counts[place]) if place < size and hashes[place] == term else 0
        for place, term in zip(places.tolist(), wanted.tolist(), strict=True)
    ]


def scope_token(scope: int) -> str:
    """The word that stands for a scope in the index; no other word starts so."""
    return f"_s{scope:d}"


def indexed_form(term: str) -> tuple[str, str]:
    """The property a term stands in, and the word it is there: one of Lucene's tokens, and never one that is dropped."""
    if _HAN_KANA.fullmatch(term):
        return "words_cjk", term
    if not _PLAIN.fullmatch(term):
        return "words_english", f"x{term.encode('utf-8', 'surrogatepass').hex()}"
    # A hyphen would make two tokens of it; a low line joins them.
    word = f"{term}_" if term in _DROPPED else term.replace("-", "_")
    return ("words_russian" if _CYRILLIC.search(term) else "words_english"), word


def lucene_searches(query_terms: Sequence[str], scopes: Sequence[int]) -> list[dict[str, str]]:
    """For each index that holds one of the terms: its name, and the Lucene text that asks for any of them in any scope."""
    words: dict[str, list[str]] = {}
    for term in query_terms:
        property_, word = indexed_form(term)
        words.setdefault(property_, []).append(f'"{word}"')
    allowed = ""
    if len(scopes) <= MAX_SCOPE_TOKENS:
        allowed = f" +({' OR '.join(scope_token(scope) for scope in scopes)})"
    return [
        {"index": INDEX_OF[property_], "text": f"+({' OR '.join(held)}){allowed}"} for property_, held in words.items()
    ]
