"""How many annotated time constraints of the TimeQA dev questions the date grammar reads exactly."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphroute.parsing.dates import find_dates
from graphroute.types.time import Instant, Interval, instant_of

DATA = Path(os.environ.get("GRAPHROUTE_REALDATA", Path(__file__).parents[3] / "shared" / "data"))
QUESTIONS = DATA / "c_timeqa" / "questions.dev.jsonl"
FLOOR = 0.98

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not QUESTIONS.exists(), reason=f"no TimeQA questions at {QUESTIONS}"),
]


def _low(stated: str) -> Instant:
    year, *month = stated.split("-")
    return instant_of(datetime(int(year), int(month[0]) if month else 1, 1, tzinfo=UTC))


def _high(stated: str) -> Instant:
    year, *months = stated.split("-")
    month = int(months[0]) if months else 12
    return instant_of(datetime(int(year) + (month == 12), month % 12 + 1, 1, tzinfo=UTC))


def _gold(time: Mapping[str, str]) -> Interval:
    operation, start = time["op"], time["start"]
    if operation == "interval":
        return Interval(_low(start), _high(time["end"]))
    if operation == "at":
        return Interval(_low(start), _high(start))
    if operation == "before":
        return Interval(None, _low(start))
    if operation == "after":
        return Interval(_high(start), None)
    part, decade = start.split()
    first = int(decade[:4]) + (5 if part == "late" else 0)
    return Interval(_low(str(first)), _high(str(first + 4)))


def test_time_constraints_are_read_as_annotated(capsys: pytest.CaptureFixture[str]) -> None:
    asked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    instant = instant_of(datetime(2024, 3, 6, tzinfo=UTC))
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        time = question.get("time")
        if not time:
            continue
        asked[time["op"]] += 1
        dates, _ = find_dates(question["question"], instant=instant, order="MDY")
        right[time["op"]] += _gold(time) in [date.interval for date in dates]
    shown = ", ".join(f"{name} {right[name]}/{asked[name]}" for name in sorted(asked))
    share = right.total() / asked.total()
    with capsys.disabled():
        print(f"\nTimeQA dev time constraints read exactly: {share:.4f} ({shown})")  # noqa: T201
    assert share >= FLOOR, shown
