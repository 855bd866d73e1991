"""The whole parser over real stores: cues, instants, families, and texts of any kind."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphroute.errors import UsageError
from graphroute.types.query import CueKind, Family, Operation, ParsedQuery
from graphroute.types.time import format_instant


@pytest.fixture
def parse(worlds: Mapping[str, Any]) -> Any:
    return worlds["company"].parse


def kinds(query: ParsedQuery) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for cue in query.cues:
        found.setdefault(cue.kind.value, []).append(cue.text)
    return found


def test_every_cue_of_a_question(parse: Any) -> None:
    query = parse("How many critical incidents affected Mail Gateway in May 2026?")
    shown = kinds(query)
    assert shown["aggregation"] == ["How many"]
    assert shown["value"] == ["critical"]
    assert shown["type"] == ["incidents"]
    assert shown["relation"] == ["affected"]
    assert shown["mention"] == ["Mail Gateway"]
    assert "May 2026" in shown["date"][0]
    assert (query.language, query.notes) == ("en", ())
    assert query.readings[0].operation is Operation.COUNT


def test_attributes_and_quotes_are_cues(parse: Any) -> None:
    query = parse('What is the severity of "INC-7"?')
    shown = kinds(query)
    assert shown["attribute"] == ["severity"]
    assert shown["quote"] == ['"INC-7"']


def test_negations_are_cues(parse: Any) -> None:
    query = parse("Which services are not owned by Payments?")
    assert query.negations
    assert query.readings == ()


@pytest.mark.parametrize(
    ("text", "moved", "instant"),
    [
        ("Who owns checkout?", False, "2026-06-01"),
        ("Who owned checkout on 2026-04-01?", True, "2026-04-01"),
        ("Who owned checkout as of 1 April 2026?", True, "2026-04-01"),
        ("Who owns checkout today?", False, "2026-06-01"),
        ("Who owned checkout in March 2026?", False, "2026-06-01"),
        ("Who owned checkout before May 2026?", False, "2026-06-01"),
    ],
)
def test_the_instant(parse: Any, text: str, moved: bool, instant: str) -> None:
    query = parse(text)
    assert (query.moved, format_instant(query.instant)) == (moved, instant)


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("Who owns checkout?", Family.NEIGHBOURHOOD),
        ("Who leads the team that owns checkout?", Family.BOUNDED_PATH),
        ("How many services does Payments own?", Family.AGGREGATION),
        ("Show INC-7", Family.EXACT_ID),
        ("How do I roll back a deployment?", Family.SINGLE_FRAGMENT),
        ("What is the severity of INC-999?", Family.UNANSWERABLE),
    ],
)
def test_families(parse: Any, text: str, family: Family) -> None:
    found = parse(text).family
    allowed = {family, Family.BOUNDED_PATH} if family is Family.NEIGHBOURHOOD else {family}
    assert found in allowed or (family is Family.UNANSWERABLE and found is Family.EXACT_ID)


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b", "x" * 8_001])
def test_a_question_that_is_none(parse: Any, text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


def test_cleaning_is_said(parse: Any) -> None:
    query = parse("Who\x00 owns \u202echeckout?")
    assert query.notes
    assert "\x00" not in query.text


_WORDS = st.sampled_from(
    [
        "who",
        "which",
        "what",
        "when",
        "how",
        "many",
        "is",
        "owned",
        "by",
        "the",
        "owner",
        "of",
        "checkout",
        "search",
        "Mail",
        "Gateway",
        "INC-7",
        "R17",
        "Payments",
        "and",
        "or",
        "not",
        "in",
        "March",
        "2026",
        "first",
        "most",
        "critical",
        "incidents",
        "services",
        "that",
        "depend",
        "on",
        "run",
        "eu-1",
        ",",
        "?",
        "'",
        '"',
        "S.",
        "Ortiz's",
        "кто",
        "владеет",
        "结账服务",
        "谁",
        "when",
        "R17",
        "was",
        "approved",
        "same",
        "team",
        "as",
        "(",
        ")",
        "-",
        "`]->()",
        "//",
        "1",
        "0",
    ]
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(_WORDS, _WORDS, st.text(max_size=6)), min_size=1, max_size=18))
def test_any_text_is_parsed(worlds: Mapping[str, Any], pieces: list[str]) -> None:
    try:
        query = worlds["company"].parse(" ".join(pieces))
    except UsageError:
        return
    for cue in query.cues:
        assert 0 <= cue.start <= cue.end <= len(query.text)
        assert cue.rule
    for reading in query.readings:
        assert reading.branches
        assert reading.cost >= 0
        assert len({id(branch) for branch in reading.branches}) == len(reading.branches)
        for branch in reading.branches:
            assert len(branch.hops) <= 4
            assert branch.anchors or branch.start_types
    assert all(cue.kind is CueKind.UNRESOLVED for cue in query.unresolved)


def seconds_of(parse: Any, text: str) -> float:
    """Processor time, so that other work on the machine does not count."""
    began = time.process_time()
    parse(text)
    return time.process_time() - began


NAMES = ("INC-7", "Mail Gateway", "R17", "Ledger API", "Payments", "eu-1", "Northwind", "Zeta Ltd", "Lena Park", "Acme Metrics")  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Which services depend on " + ", ".join(["Mail Gateway", "Ledger API"] * 40) + "?", id="80 names"),
        pytest.param("who owns the service that depends on " * 50 + "Mail Gateway?", id="50 relations"),
        pytest.param("which team owns " * 100 + "search?", id="100 verbs"),
        pytest.param("checkout search " * 240 + "?", id="480 weak names"),
        pytest.param("a" * 7_000 + "?", id="one word"),
        pytest.param("INC-7 " * 200, id="200 identifiers"),
        pytest.param("谁" * 1_500, id="1,500 Han characters"),
        pytest.param('"' * 1_000 + "who owns checkout", id="1,000 quotes"),
    ],
)
def test_no_question_keeps_the_parser_busy(parse: Any, text: str) -> None:
    """A guard against blow-ups, with processor time far above what any question needs."""
    assert seconds_of(parse, text) < 3


def test_the_work_grows_slowly_with_the_names(parse: Any) -> None:
    """Joining every path of every name with every other takes eight to the number of names: 2 s for seven."""
    assert seconds_of(parse, f"Which services did {' and '.join(NAMES[:7])} change?") < 0.6
    assert seconds_of(parse, f"Which services did {' and '.join(NAMES)} change?") < 2
