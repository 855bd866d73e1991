from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphroute.errors import UsageError
from graphroute.parsing.cleaning import MAX_CHARACTERS, clean


@pytest.mark.parametrize(
    ("given_text", "text", "notes"),
    [
        ("who owns Relay?", "who owns Relay?", ()),
        ("who\x00 owns\x1b[31m Relay", "who owns[31m Relay", ("removed 1 ESC character", "removed 1 NUL character")),
        ("\u202ewho\u202c owns", "who owns", ("removed 2 bidirectional control characters",)),
        ("Re\u200blay\ufeff", "Relay", ("removed 2 zero-width characters",)),
        ("a\x0bb\x07", "a b", ("removed 2 control characters",)),
        ("a\U000e0041b", "ab", ("removed 1 tag character",)),
        ("A\ufe0f", "A", ("removed 1 variation selector character",)),
        ("x \ud800 y", "x \ufffd y", ("replaced 1 lone surrogate by U+FFFD",)),
        ("\ud83d\ude00 ok", "\U0001f600 ok", ()),
        ("  two  spaces\n\tkept ", "  two  spaces\n\tkept ", ()),
        ("Zoe\u0308, й, ﬁ", "Zoe\u0308, й, ﬁ", ()),
    ],
)
def test_clean(given_text: str, text: str, notes: tuple[str, ...]) -> None:
    assert clean(given_text) == (text, notes)


@pytest.mark.parametrize("question", ["", "   \n", "\x00\x1b", "\u200b\u202e"])
def test_empty_question_is_a_usage_error(question: str) -> None:
    with pytest.raises(UsageError, match="question is empty"):
        clean(question)


def test_long_question_is_refused_with_the_limit() -> None:
    assert clean("x" * MAX_CHARACTERS)[0] == "x" * MAX_CHARACTERS
    with pytest.raises(UsageError, match="at most 8,000 characters"):
        clean("x" * (MAX_CHARACTERS + 1))


def test_a_question_is_text() -> None:
    with pytest.raises(UsageError, match="allowed: text"):
        clean(b"who")  # type: ignore[arg-type]


@given(st.text(alphabet=st.characters(), min_size=1, max_size=60))
def test_cleaned_text_can_be_printed_and_is_stable(question: str) -> None:
    try:
        text, _ = clean(question)
    except UsageError:
        return
    text.encode("utf-8")
    assert clean(text) == (text, ())
    assert not set(text) & set("\x00\x1b\u202e\u200b\ufeff")
