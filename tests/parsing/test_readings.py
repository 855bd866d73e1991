"""Readings a domain expert can check: tests/parsing/cases/readings/*.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphroute.retrieval.local_graph import LocalGraph
from graphroute.types.graph import AttributeFilter, Direction
from graphroute.types.query import Branch, Reading
from graphroute.types.reader import Reader
from graphroute.types.route import Limits
from graphroute.types.time import Instant, Interval, TimeFilter, TimeMode

FOLDER = Path(__file__).parent / "cases" / "readings"
READER = Reader("ann", ["public"])


def narrowed(filters: Sequence[AttributeFilter]) -> str:
    return "".join(f"[{test.key}{_tested(test)}]" for test in filters)


def _tested(test: AttributeFilter) -> str:
    if test.operator == "in_range":
        low, high = (int(end) if end else None for end in test.value.split(".."))
        return f" in {Interval(low, high).format()}"
    return f"={test.value}" if test.operator == "eq" else f" {test.operator} {test.value}"


def branch_line(branch: Branch) -> str:
    parts = [", ".join(branch.anchors) or f"every {'|'.join(branch.start_types)}{narrowed(branch.start_filters)}"]
    for hop in branch.hops:
        arrow = f"-{hop.predicate}->" if hop.direction is Direction.FORWARD else f"<-{hop.predicate}-"
        parts.append(f"{arrow} {'|'.join(hop.types)}{narrowed(hop.filters)}")
    if branch.ends is not None:
        parts.append(f"which is {', '.join(branch.ends)}")
    return " ".join(parts)


def time_line(time: TimeFilter, instant: Instant) -> str:
    if time == TimeFilter(TimeMode.OVERLAPS, Interval(instant, instant + 1)):
        return "now"
    if time == TimeFilter(TimeMode.OVERLAPS, Interval(None, instant + 1)):
        return "until now"
    return f"{time.mode.value.replace('_', ' ')} {time.interval.format()}"


def shown(reading: Reading, instant: Instant) -> dict[str, Any]:
    """A reading in the form the YAML files use."""
    joined = f" of {reading.combine}" if len(reading.branches) > 1 else ""
    asked = f" {reading.attribute} of" if reading.attribute else ""
    event = reading.event
    places = f" {reading.places}" if reading.places > 1 else ""
    return {
        "plan": [branch_line(branch) for branch in reading.branches],
        "asks": f"{reading.operation.value}{places}{asked} {'|'.join(reading.target_types)}{narrowed(reading.filters)}{joined}",
        "when": [time_line(hop.time, instant) for branch in reading.branches[:1] for hop in branch.hops],
        "event": f"{event.mode.value} {', '.join((*event.predicates, *event.attributes))} of {', '.join(event.anchors)}"
        if event
        else None,
    }


WORLDS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yaml"))}
KEYS = {"ask", "plan", "asks", "when", "event", "answers", "no_reading", "unresolved", "names", "defect"}


def cases() -> list[Any]:
    """Every case; a known `defect` is expected to fail, and the mark falls with the defect."""
    found = []
    for world, document in WORLDS.items():
        for case in document["cases"]:
            marks = [pytest.mark.xfail(reason=case["defect"], raises=AssertionError)] if "defect" in case else []
            found.append(pytest.param(world, case, id=f"{world}: {case['ask'][:60]}", marks=marks))
    return found


@pytest.mark.parametrize(("world", "case"), cases())
def test_reading(world: str, case: Mapping[str, Any], worlds: Mapping[str, Any]) -> None:
    asking = worlds[world]
    query = asking.parse(case["ask"])
    if case.get("no_reading"):
        assert query.readings == ()
    if "unresolved" in case:
        assert [cue.text for cue in query.unresolved] == case["unresolved"]
    for name, ids in case.get("names", {}).items():
        found = {m.cue.text: [c.entity_id for c in m.candidates] for m in (*query.identifiers, *query.mentions)}
        assert found.get(name) == ids, found
    if "plan" not in case:
        return
    assert query.readings
    best = shown(query.readings[0], query.instant)
    # Branches join on the same thing, so their order says nothing.
    assert sorted(best["plan"]) == sorted(case["plan"])
    assert best["asks"] == case["asks"]
    if "when" in case:
        assert best["when"] == case["when"]
    assert best["event"] == case.get("event")
    view = asking.backends.catalog.view(reader=READER)
    result = LocalGraph(asking.backends).retrieve(query, view=view, limits=Limits())
    assert [binding.id or binding.display for binding in result.bindings] == case["answers"]


def test_cases_say_something() -> None:
    count = 0
    for document in WORLDS.values():
        asked = [case["ask"] for case in document["cases"]]
        assert len(asked) == len(set(asked))
        for case in document["cases"]:
            assert set(case) <= KEYS
            assert {"no_reading", "unresolved", "names"} & set(case) or {"plan", "asks", "answers"} <= set(case)
            count += 1
    assert count >= 150


@pytest.mark.parametrize("world", sorted(WORLDS))
def test_every_span_and_rule_is_there(world: str, worlds: Mapping[str, Any]) -> None:
    for case in WORLDS[world]["cases"]:
        query = worlds[world].parse(case["ask"])
        for cue in query.cues:
            assert 0 <= cue.start < cue.end <= len(query.text)
            assert cue.rule
            assert query.text[cue.start : cue.end] == cue.text
        costs = [round(reading.cost, 6) for reading in query.readings]
        assert costs == sorted(costs)
        assert len(costs) <= 8


@pytest.mark.parametrize("world", sorted(WORLDS))
def test_a_reader_of_nothing_learns_no_names(world: str, worlds: Mapping[str, Any]) -> None:
    for case in WORLDS[world]["cases"]:
        query = worlds[world].parse(case["ask"], reader=Reader("eve", ["other"]))
        assert all(not m.candidates for m in (*query.identifiers, *query.mentions))
        assert all(not branch.anchors for reading in query.readings for branch in reading.branches)
        assert query.values == ()


def test_parsing_twice_gives_the_same(worlds: Mapping[str, Any]) -> None:
    for world, document in WORLDS.items():
        for case in document["cases"][::7]:
            assert worlds[world].parse(case["ask"]) == worlds[world].parse(case["ask"])
