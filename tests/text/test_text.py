from __future__ import annotations

import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from graphroute.text import (
    STOP_WORDS,
    alias_key,
    detect_language,
    fold,
    fold_with_offsets,
    query_terms,
    stem,
    terms,
    words,
)

CASES: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))
MIXED = st.text(
    st.sampled_from(
        "aZё ЁйЙ\u0308\u0306\u0301é\u00a0\t\n-–_:/@'’\"«.,ＡＢ１０ﾞｶ゛한\u1161\u11a8ßﬁİıΐŉ㈱…½张三カ\u3099\u200b\u00ad🙂\ud800"
    )
    | st.characters()
)


@pytest.mark.parametrize("names", CASES["same_name"])
def test_spellings_of_a_name_have_one_key(names: list[str]) -> None:
    assert len({alias_key(name) for name in names}) == 1


@pytest.mark.parametrize(("one", "other"), CASES["other_name"])
def test_names_stay_apart(one: str, other: str) -> None:
    assert alias_key(one) != alias_key(other)
    assert fold(one) != fold(other)


@pytest.mark.parametrize("case", CASES["words"], ids=lambda case: case["text"])
def test_words(case: dict[str, Any]) -> None:
    found = words(case["text"])
    assert [word.text for word in found] == case["words"]
    assert [word.key for word in found] == [fold(word) for word in case["words"]]


@pytest.mark.parametrize("case", CASES["terms"], ids=lambda case: case["text"])
def test_terms(case: dict[str, Any]) -> None:
    found = terms(case["text"])
    assert set(case["has"]) <= set(found)
    assert case.get("lacks") not in found


@pytest.mark.parametrize("case", CASES["query_terms"], ids=lambda case: case["text"])
def test_query_terms(case: dict[str, Any]) -> None:
    assert sorted(query_terms(case["text"])) == sorted(case["terms"])


@pytest.mark.parametrize("case", CASES["language"], ids=lambda case: case["text"])
def test_language(case: dict[str, Any]) -> None:
    assert detect_language(case["text"]) == case["is"]


def test_fold() -> None:
    assert fold("  Ёлка –\u00a0«Два»\n\tТРИ’s ") == 'елка - "два" три\'s'
    assert fold("Андрей") == "андрей" != fold("Андреи")
    assert fold("Андрей") == fold(unicodedata.normalize("NFD", "Андрей"))


def test_every_character_folds_to_something_that_stays() -> None:
    for code in range(sys.maxunicode + 1):
        if 0xAC00 < code < 0xD7A3 or 0x20000 < code < 0xE0000:
            continue
        character = chr(code)
        folded = fold(character)
        assert folded
        assert fold(folded) == folded


@given(MIXED)
def test_folding_is_stable_and_never_empties(text: str) -> None:
    folded = fold(text)
    assert fold(folded) == folded
    assert bool(folded) == bool(text)
    assert bool(alias_key(text)) == bool(text)


@given(MIXED)
def test_offsets_lead_back_to_the_text(text: str) -> None:
    folded, offsets = fold_with_offsets(text)
    assert folded == fold(text)
    assert len(offsets) == len(folded)
    assert offsets == sorted(offsets)
    assert all(0 <= offset < len(text) for offset in offsets)


def test_offsets_of_composed_and_wide_characters() -> None:
    text = " Zoe\u0308  ﬁn\u3000Фёд"
    folded, offsets = fold_with_offsets(text)
    assert folded == "zoë fin фед"
    assert [text[offset] for offset in offsets] == list("Zoe ﬁﬁn\u3000Фёд")


@given(MIXED)
def test_words_lie_where_they_say(text: str) -> None:
    end = 0
    for word in words(text):
        assert word.start >= end
        assert word.start < word.end
        end = word.end
        assert text[word.start : word.end] == word.text
        assert word.key == fold(word.text)


@given(MIXED)
def test_terms_are_words_without_spaces_and_the_same_for_each_spelling(text: str) -> None:
    found = terms(text)
    assert all(term and not term.isspace() and " " not in term for term in found)
    assert sorted(terms(unicodedata.normalize("NFD", text))) == sorted(terms(unicodedata.normalize("NFC", text)))
    assert set(query_terms(text)) <= set(found)


def test_latin_text_has_the_same_terms_beside_other_scripts() -> None:
    """A text in ASCII is read by a faster path."""
    text = "CHG-482 and node.js 18 aren't O'Brien's v1.18, 12,500; getUserName a__b --- x@y.z INC_2024/77"
    beside = [term for term in terms(f"{text} é") if term not in ("é", "e")]
    assert sorted(terms(text)) == sorted(beside)


def test_stems() -> None:
    assert stem("approvals") == stem("approval")
    assert stem("кассового", "ru") == stem("кассовый", "ru")
    assert stem("负责", "zh") == "负责"
    assert stem("отвечает") == "отвечает"


def test_stop_words_are_folded() -> None:
    for language in ("en", "ru", "zh"):
        assert STOP_WORDS[language]
        assert all(fold(word) == word for word in STOP_WORDS[language])


def test_a_long_run_takes_no_longer_than_its_length() -> None:
    start = time.perf_counter()
    for text in (
        "a" * 200_000,
        "aB" * 100_000,
        "a-" * 100_000,
        "1," * 100_000,
        "张" * 100_000,
        "'" * 200_000,
        "a#" * 100_000,
    ):
        terms(text)
        words(text)
        fold(text)
    assert time.perf_counter() - start < 10
