"""What `format: auto` picks, what it refuses, and the reason it gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphroute.errors import ConfigurationError
from graphroute.resources import resource
from graphroute.serialization.choice import FormatChoice, Measurements, choose, front, load_measurements
from graphroute.serialization.formats import FORMATS
from graphroute.serialization.records import Profile


def row(format: str, **values: Any) -> dict[str, Any]:
    defaults: dict[str, Any] = {
        "model": None,
        "format": format,
        "version": FORMATS.load(format).version,
        "profile": "full",
        "budget": 1024,
        "prompt_ratio": 1.0,
        "prompt_ratio_most": 1.0,
        "round_trip": 1.0,
        "valid_paths": 0.8,
        "abstention": 1.0,
        "accuracy": 0.8,
        "n": 40,
    }
    return {**defaults, **values}


def measured(*rows: dict[str, Any], **values: Any) -> Measurements:
    whole = {
        "schema": 1,
        "tokenizer": "o200k_base (tiktoken 0)",
        "overhead": 200,
        "baseline": "pretty_json",
        "graphs": {},
        "rows": list(rows),
    }
    return Measurements.model_validate_json(json.dumps({**whole, **values}))


BASE = row("pretty_json")


def chosen(*rows: dict[str, Any], model: str | None = None, budget: int = 900, **values: Any) -> FormatChoice:
    return choose(measured(BASE, *rows, **values), model=model, tokenizer="o200k_base", budget=budget)


def test_the_most_accurate_accepted_format_is_chosen() -> None:
    short = row("edge_list", prompt_ratio=0.4, prompt_ratio_most=0.6, accuracy=0.8)
    better = row("dsl", prompt_ratio=0.5, prompt_ratio_most=0.7, accuracy=0.9, valid_paths=0.9)
    found = chosen(short, better)
    assert (found.format, found.profile) == ("dsl", Profile.FULL)
    assert "accuracy 0.90 over 40 questions" in found.reason
    assert "0.50 of pretty_json's" in found.reason
    assert chosen(short).format == "edge_list"


@pytest.mark.parametrize(
    ("flaw", "reason"),
    [
        ({"round_trip": 0.99}, "round trip 0.99"),
        ({"valid_paths": 0.79}, "valid paths 0.79 against 0.80"),
        ({"abstention": 0.5}, "abstention 0.50 against 1.00"),
        ({"abstention": None}, "abstention not measured"),
        ({"prompt_ratio_most": 1.0}, "no saving on the whole prompt"),
    ],
)
def test_a_format_with_one_flaw_is_not_accepted(flaw: dict[str, Any], reason: str) -> None:
    good = {"prompt_ratio": 0.4, "prompt_ratio_most": 0.6, "accuracy": 0.95}
    assert chosen(row("edge_list", **good)).format == "edge_list"
    found = chosen(row("edge_list", **{**good, **flaw}))
    assert found.format == "pretty_json"
    assert "no accepted format is better" in found.reason
    assert reason in found.reason


def test_a_tolerance_is_stated_in_the_file() -> None:
    worse = row("edge_list", prompt_ratio=0.4, prompt_ratio_most=0.6, accuracy=0.9, valid_paths=0.75, abstention=0.9)
    assert chosen(worse).format == "pretty_json"
    assert chosen(worse, tolerance={"valid_paths": 0.1, "abstention": 0.1}).format == "edge_list"


def test_rows_of_the_model_come_before_the_walk() -> None:
    walk = row("dsl", prompt_ratio=0.4, prompt_ratio_most=0.6, accuracy=0.9)
    own = [
        row("pretty_json", model="m-7", budget=None, valid_paths=0.5, accuracy=0.5),
        row("csv", model="m-7", budget=None, prompt_ratio=0.5, prompt_ratio_most=0.6, valid_paths=0.6, accuracy=0.6),
    ]
    found = chosen(walk, *own, model="m-7")
    assert found.format == "csv"
    assert "measured with m-7, uncut" in found.reason
    other = chosen(walk, *own, model="m-8")
    assert other.format == "dsl"
    assert "nothing is measured with the configured model" in other.reason


def test_the_budget_decides_which_rows_are_looked_at() -> None:
    better_large = row("dsl", budget=4096, prompt_ratio=0.4, prompt_ratio_most=0.6, accuracy=0.9)
    base_large = row("pretty_json", budget=4096)
    small = row("csv", prompt_ratio=0.5, prompt_ratio_most=0.6, accuracy=0.85)
    for budget, expected in ((10, "csv"), (900, "csv"), (3895, "csv"), (3896, "dsl"), (100_000, "dsl")):
        assert chosen(better_large, base_large, small, budget=budget).format == expected


def test_measurements_of_another_version_or_profile_do_not_count() -> None:
    old = row("edge_list", version="0", prompt_ratio=0.4, prompt_ratio_most=0.6, accuracy=0.9)
    assert chosen(old).format == "pretty_json"
    lean = row("edge_list", profile="lean", prompt_ratio=0.4, prompt_ratio_most=0.6, accuracy=0.9)
    assert chosen(lean).format == "pretty_json"
    with pytest.raises(ConfigurationError, match="baseline"):
        choose(measured(lean), model=None, tokenizer="o200k_base", budget=900)


def test_another_tokenizer_is_said() -> None:
    found = choose(measured(BASE), model=None, tokenizer="cl100k_base", budget=900)
    assert "tokens counted by o200k_base (tiktoken 0), not cl100k_base" in found.reason


def test_the_front_keeps_what_nothing_beats() -> None:
    points = [(5, 0.5), (3, 0.5), (3, 0.5), (4, 0.4), (9, 0.9), (8, 0.7)]
    assert front(points, cost=lambda p: p[0], gain=lambda p: p[1]) == [(3, 0.5), (3, 0.5), (8, 0.7), (9, 0.9)]
    assert front([], cost=lambda p: p[0], gain=lambda p: p[1]) == []


@pytest.mark.parametrize("text", ["", "{}", '{"schema": 1, "rows": []}', json.dumps({"schema": 1, "tokenizer": 3})])
def test_a_wrong_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"m\.json"):
        load_measurements(path)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_measurements(tmp_path / "absent.json")


def test_another_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    value = measured(BASE).model_dump(mode="json", by_alias=True)
    path.write_text(json.dumps({**value, "schema": 2}), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="schema 2"):
        load_measurements(path)


@pytest.mark.parametrize("profile", ["full", "lean"])
@pytest.mark.parametrize("budget", [500, 2000, 4000, 9000])
def test_the_shipped_measurements_fit_the_installed_formats(profile: str, budget: int) -> None:
    shipped = load_measurements(resource("schema/benchmark/measurements.json"))
    found = choose(shipped, model=None, tokenizer="o200k_base", budget=budget, profile=profile)
    assert found.format in FORMATS
    assert found.profile == profile
    assert {row.format for row in shipped.rows} == set(FORMATS.names)
