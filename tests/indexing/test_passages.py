"""Passages cover the text exactly and end where a reader would cut."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from graphroute.indexing.passages import MAX_PASSAGE_CHARACTERS, passages_of, split
from graphroute.types.source import Source
from graphroute.types.time import Interval

CASES = yaml.safe_load((Path(__file__).parent / "passages.yaml").read_text(encoding="utf-8"))
PIECES = st.sampled_from(
    [
        "word ",
        "слово ",
        "漢字",
        "。",
        ". ",
        "A. ",
        "т. е. ",
        "\n",
        "\n\n",
        "\r\n",
        "e\u0301",
        "👩\u200d💻",
        "\u2028",
        "x" * 9,
        "?! ",
    ]
)


@given(st.lists(PIECES, max_size=80).map("".join) | st.text(max_size=200), st.integers(1, 60))
def test_spans_cover_the_text_in_order(text: str, limit: int) -> None:
    spans = list(split(text, limit=limit))
    assert "".join(text[start:end] for start, end in spans) == text
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
    assert spans[-1][1] == len(text)
    assert all(0 < end - start <= limit for start, end in spans) or spans == [(0, 0)]


@given(
    st.lists(st.sampled_from(["Words here. ", "Ещё одно. ", "又一句。", "\n\n"]), min_size=1, max_size=400).map("".join)
)
def test_cuts_fall_on_borders(text: str) -> None:
    """Where borders are close together, no cut is made inside a sentence, and no passage is tiny."""
    spans = list(split(text, limit=100))
    for start, end in spans[:-1]:
        assert text[end - 1] in "\n 。"
        assert end - start >= 25


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_cases(case: dict) -> None:
    assert [case["text"][start:end] for start, end in split(case["text"], limit=case["limit"])] == case["passages"]


def test_a_short_document_is_one_passage() -> None:
    source = Source(
        id="d:1",
        title="T",
        text="a\n\nb",
        labels=frozenset(),
        kind="kb",
        node="n",
        validity=Interval(1, 2),
        timestamp=5,
    )
    (passage,) = passages_of(source)
    assert (passage.id, passage.start, passage.end, passage.text) == ("d:1#0", 0, 4, "a\n\nb")
    assert (passage.title, passage.kind, passage.node, passage.validity, passage.timestamp) == (
        "T",
        "kb",
        "n",
        Interval(1, 2),
        5,
    )


def test_an_empty_document_has_its_title_to_be_found_by() -> None:
    (passage,) = passages_of(Source(id="d", title="Only a title", text="", labels=frozenset()))
    assert (passage.start, passage.end, passage.text, passage.title) == (0, 0, "", "Only a title")


def test_a_long_text_takes_time_in_proportion() -> None:
    """2 MB without any border, and with nothing but borders."""
    for text in ("x" * 2_000_000, "。" * 2_000_000, "\n" * 2_000_000, "а. " * 700_000):
        assert all(end - start <= MAX_PASSAGE_CHARACTERS for start, end in split(text))
