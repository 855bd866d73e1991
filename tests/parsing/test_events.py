"""Clauses that date a question by something that happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from graphroute.types.query import DateMode, EventAnchor, Operation


def event(worlds: Mapping[str, Any], text: str) -> EventAnchor | None:
    readings = worlds["company"].parse(text).readings
    return readings[0].event if readings else None


@pytest.mark.parametrize(
    ("text", "mode", "anchor", "predicates", "attributes"),
    [
        ("Who owned checkout when R17 was approved?", DateMode.AT, "release:R17", ("APPROVED_BY",), ()),
        ("Who owned checkout when release R17 was approved?", DateMode.AT, "release:R17", ("APPROVED_BY",), ()),
        ("Who owned checkout after INC-7 hit search?", DateMode.AFTER, "incident:INC-7", ("AFFECTED",), ()),
        ("Who owned checkout when INC-7 was opened?", DateMode.AT, "incident:INC-7", (), ("opened",)),
        ("When R17 was approved, who owned checkout?", DateMode.AT, "release:R17", ("APPROVED_BY",), ()),
        ("Who owned checkout at the time R17 was approved?", DateMode.AT, "release:R17", ("APPROVED_BY",), ()),
        ("Кто владел checkout, когда был утверждён R17?", DateMode.AT, "release:R17", ("APPROVED_BY",), ()),
        ("Когда был утверждён R17, кто владел checkout?", DateMode.AT, "release:R17", ("APPROVED_BY",), ()),
        ("Кто владел checkout на момент утверждения R17?", DateMode.AT, "release:R17", ("APPROVED_BY",), ()),
        ("R17 获批时谁拥有 checkout？", DateMode.AT, "release:R17", ("APPROVED_BY",), ()),
        ("在R17被批准的时候，checkout由谁拥有？", DateMode.AT, "release:R17", ("APPROVED_BY",), ()),
        ("谁在R17获批之前拥有checkout？", DateMode.BEFORE, "release:R17", ("APPROVED_BY",), ()),
    ],
)
def test_a_clause_sets_the_event(
    worlds: Mapping[str, Any],
    text: str,
    mode: DateMode,
    anchor: str,
    predicates: tuple[str, ...],
    attributes: tuple[str, ...],
) -> None:
    found = event(worlds, text)
    assert found is not None
    assert (found.mode, found.predicates, found.attributes) == (mode, predicates, attributes)
    assert anchor in found.anchors
    assert found.cue.rule.startswith("event:")
    assert text[found.cue.start : found.cue.end] == found.cue.text


def test_a_clause_at_the_beginning_does_not_say_what_is_asked_for(worlds: Mapping[str, Any]) -> None:
    reading = worlds["company"].parse("When R17 was approved, who owned checkout?").readings[0]
    assert (reading.operation, reading.target_types) == (Operation.LIST, ("team",))


@pytest.mark.parametrize(
    "text",
    [
        "When was R17 approved?",
        "When was R17 approved, and by whom?",
        "R17 是什么时候批准的？",
        "谁在2026年5月之前拥有checkout？",
        "Когда был утверждён R17?",
        "Who owned checkout when it rained?",
        "Who owned checkout before May 2026?",
        "Who owned checkout as of 2026-04-01?",
        "Which service is known as Mail Gateway?",
        "Who owns checkout?",
    ],
)
def test_no_event(worlds: Mapping[str, Any], text: str) -> None:
    assert event(worlds, text) is None


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("Who owned checkout when Lena Park approved R17?", "release:R17"),
        ("Who owned checkout before Lena Park raised INC-9?", "incident:INC-9"),
    ],
)
def test_a_clause_with_an_agent_is_about_what_was_done(worlds: Mapping[str, Any], text: str, anchor: str) -> None:
    """Lena raised INC-7 in April and INC-9 in May; the clause means the latter."""
    found = event(worlds, text)
    assert found is not None
    assert anchor in found.anchors
