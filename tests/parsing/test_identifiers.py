from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphroute.errors import ConfigurationError
from graphroute.parsing.identifiers import MAX_PATTERN_CHARACTERS, compile_patterns, find_identifiers

EVIL = [
    r"(a+)+$",
    r"(a|aa)+b",
    r"(a|a?)+b",
    r"a|a.*b",
    r"(x+x+)+y",
    r"(?:a?){50}a{50}",
    r"([a-z]+)*\d",
    r"(\w+\s?)*!",
    r"^(([a-z])+.)+[A-Z]([a-z])+",
    r"(.*)(.*)(.*)z",
    r"(?:.*,){20}P",
    r"a*a*a*a*a*b",
    r"(a*)*b",
    r"(?i)(ab|ba)+c",
    r"\d+\d+\d+x",
    r"(a{1,30}){1,30}c",
    r"(?:a|b|ab)*c",
    r"[^z]*z",
    r"(?s).*end",
    r"(\p{L}+\p{N}*)+-",
]


@pytest.mark.parametrize("pattern", EVIL)
def test_evil_patterns_are_refused_or_quick(pattern: str) -> None:
    """Bounded work per pattern: CPU time, since wall time depends on the neighbours."""
    try:
        compile_patterns([pattern])
    except ConfigurationError:
        return
    for unit in ("a", "a ", "ab,", "x1"):
        text = (unit * 50_000)[:50_000]
        start = time.process_time()
        find_identifiers(text, [pattern])
        assert time.process_time() - start < 0.4


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(a)\1", "back-references"),
        (r"(?=a)b", "look-around"),
        ("[", "not valid"),
        ("a)(b", "not valid"),
        ("a{1000}{1000}", "not valid"),
        ("", "empty"),
        ("a*", "matches the empty text"),
        ("x" * (MAX_PATTERN_CHARACTERS + 1), "at most 500 characters"),
    ],
)
def test_bad_patterns_name_their_place(pattern: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason) as caught:
        compile_patterns([r"ok-\d", pattern], "types.change.patterns")
    assert caught.value.where == "types.change.patterns[1]"


def test_spans_are_code_points_of_the_text() -> None:
    text = "Ünï 𝔘 中CHG-482, ＣＨＧ－７"
    found = find_identifiers(text, [r"CHG-\d+"])
    assert [(text[cue.start : cue.end], cue.text, cue.value) for cue in found] == [
        ("CHG-482", "CHG-482", "CHG-482"),
        ("ＣＨＧ－７", "ＣＨＧ－７", "CHG-7"),
    ]


def test_the_longest_of_overlapping_matches_wins() -> None:
    found = find_identifiers("see COBS 20.3.1 now", [r"COBS \d+", r"COBS \d+(?:\.\d+)*"])
    assert [cue.value for cue in found] == ["COBS 20.3.1"]


@given(st.text(alphabet="CHG-4820 _./中a", max_size=40))
def test_a_match_is_never_inside_a_longer_word(text: str) -> None:
    for cue in find_identifiers(text, [r"CHG-\d+"]):
        assert cue.text == text[cue.start : cue.end]
        before, after = text[: cue.start][-1:], text[cue.end :][:1]
        assert not (before.isascii() and (before.isalnum() or before == "_"))
        assert not (after.isascii() and (after.isalnum() or after == "_"))
