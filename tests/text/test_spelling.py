"""British and American spellings meet; words that only look British stay."""

from __future__ import annotations

import pytest

from graphroute.text import stem, terms
from graphroute.text.spelling import american

PAIRS = (
    "authorised authorized, organisations organizations, analysed analyzed, behaviour behavior, colouring coloring, centre center, "
    "kilometres kilometers, labelled labeled, cancelling canceling, licence license, programmes programs, catalogue catalog, "
    "haemoglobin hemoglobin, paediatric pediatric, archaeology archeology, cheques checks, organiser organizer"
)


@pytest.mark.parametrize("pair", PAIRS.split(", "))
def test_both_spellings_are_one_word_to_search_and_matching(pair: str) -> None:
    british, other = pair.split()
    assert american(british) == other == american(other)
    assert stem(british) == stem(other)
    assert set(terms(british)) & set(terms(other))


@pytest.mark.parametrize(
    "word",
    [
        "promise",
        "exercised",
        "raise",
        "wise",
        "four",
        "hour",
        "flour",
        "tour",
        "noise",
        "advise",
        "premises",
        "levels",
        "metered",
        "visa",
    ],
)
def test_other_words_stay(word: str) -> None:
    assert american(word) == word
