"""The `formats` commands, and bundles recorded by `eval` for them."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphroute.serialization.formats import FORMATS

SMALL = (
    "--graphs",
    "projects",
    "--sizes",
    "base",
    "--formats",
    "edge_list,pretty_json",
    "--budgets",
    "512,1024",
    "--quiet",
)


def test_list_names_every_format(run: Any) -> None:
    listed = json.loads(run("formats", "list", "--json").out)
    assert [row["name"] for row in listed] == list(FORMATS.names)
    assert all(row["grammar_tokens"] > 20 for row in listed)
    assert "edge_list" in run("formats", "list").out


@pytest.mark.parametrize("name", FORMATS.names)
def test_show_prints_the_grammar(run: Any, name: str) -> None:
    form = FORMATS.load(name)()
    shown = run("formats", "show", name)
    assert shown.code == 0
    assert f"{name}/{form.version}" in shown.out
    assert form.grammar in shown.out
    assert json.loads(run("formats", "show", name, "--json").out)["grammar"] == form.grammar


def test_an_unknown_format_is_refused_with_the_nearest(run: Any) -> None:
    refused = run("formats", "show", "edgelist")
    assert refused.code == 3
    assert "edge_list" in refused.err


def test_bench_writes_a_report(run: Any, tmp_path: Path) -> None:
    done = run("formats", "bench", "--out", tmp_path, *SMALL)
    assert done.code == 0, done.err
    assert "edge_list:lean" in done.out
    for name in ("report.json", "report.md", "report.html", "measurements.json", "graphs/projects.json"):
        assert (tmp_path / name).is_file()
    priced = run("formats", "bench", "--out", tmp_path, *SMALL, "--price-in", "2", "--json")
    assert json.loads(priced.out)["sizes"][0]["input_cost"] > 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--endpoint", "http://127.0.0.1:9/v1"), 2),
        (("--model", "m"), 2),
        (("--budgets", "none"), 2),
        (("--budgets", "0"), 2),
        (("--formats", "xml"), 3),
        (("--tokenizer", "abacus"), 3),
        (("--sizes", "huge"), 2),
        (("--dataset", "absent"), 4),
        (("--bundles", "absent.jsonl"), 4),
    ],
)
def test_wrong_arguments_have_their_exit_code(run: Any, tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    done = run("formats", "bench", "--out", tmp_path, *SMALL, *arguments)
    assert done.code == code
    assert "Traceback" not in done.err


def test_an_endpoint_that_is_away_ends_with_its_code(run: Any, tmp_path: Path) -> None:
    asked = ("--endpoint", "http://127.0.0.1:9/v1", "--model", "m", "--profiles", "lean")
    done = run("formats", "bench", "--out", tmp_path, *SMALL, *asked)
    assert done.code == 5
    assert "run the same command again" in done.err
    assert len((tmp_path / "replies.jsonl").read_text(encoding="utf-8").splitlines()) == 3
