"""One run from graphs to report: files, tables, plots, prices, fronts, and a model that goes on where it stopped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from graphroute.errors import DataError, UsageError
from graphroute.evaluation.formats.bench import ModelSettings, Settings, measure
from graphroute.evaluation.formats.fronts import Point, undominated, with_fronts
from graphroute.evaluation.formats.graph import BenchGraph, load_graph
from graphroute.evaluation.formats.html import to_html
from graphroute.evaluation.formats.markdown import to_markdown
from graphroute.evaluation.formats.model_runs import REPLIES, Sampling
from graphroute.evaluation.formats.prompt import digest
from graphroute.evaluation.formats.report import FormatReport, Prices
from graphroute.evaluation.formats.tables import tables_of
from graphroute.models.llm.openai import OpenAIChat
from graphroute.serialization.choice import choose, load_measurements

SMALL = Settings(
    sizes=("base", "small"),
    formats=("compact_json", "edge_list", "pretty_json"),
    budgets=(512, 1024),
    permutations=2,
)

Serve = Callable[[Any], tuple[str, list[dict[str, Any]]]]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FormatReport]:
    out = tmp_path_factory.mktemp("bench")
    return out, measure(SMALL, out)


def test_artefacts_are_what_was_measured(done: tuple[Path, FormatReport]) -> None:
    out, report = done
    for graph in report.graphs:
        assert load_graph(out / graph.file).sha256 == graph.sha256
    for row in report.sizes:
        text = (out / "texts" / row.graph / f"{row.variant.replace(':', '.')}.txt").read_text(encoding="utf-8")
        assert digest(text) == row.sha256
    assert json.loads((out / "report.json").read_text(encoding="utf-8")) == json.loads(report.dumps())
    assert not list(out.rglob("*.tmp"))


def test_the_same_run_gives_the_same_bytes(done: tuple[Path, FormatReport], tmp_path: Path) -> None:
    out, _ = done
    measure(SMALL, tmp_path)
    for name in ("report.json", "report.md", "report.html", "measurements.json"):
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()


def test_cells_stay_empty_where_nothing_was_measured(done: tuple[Path, FormatReport]) -> None:
    _, report = done
    table = next(table for table in tables_of(report) if table.title.startswith("Format, tokens"))
    assert {row[2] for row in table.rows} == {""}
    assert {cell for row in table.rows for cell in row[6:]} == {""}
    assert all(row["input_cost"] is None for row in report.to_json()["sizes"])
    assert not any(table.title == "Model runs" for table in tables_of(report))
    assert report.model == []


def test_costs_come_from_given_prices_only(done: tuple[Path, FormatReport]) -> None:
    from dataclasses import replace

    _, report = done
    priced = replace(report, prices=Prices(input=2.5))
    for row in priced.to_json()["sizes"]:
        assert row["input_cost"] == pytest.approx(row["prompt_tokens_mean"] / 1_000_000 * 2.5)


def test_the_two_budget_experiments_stand_apart(done: tuple[Path, FormatReport]) -> None:
    _, report = done
    value = report.to_json()
    assert {row["outcome"] for row in value["same_graph"]} == {"FITS", "CONTEXT_OVERFLOW"}
    assert {row["cut"] for row in value["same_budget"]} == {"records", "raw"}
    assert not any("outcome" in row for row in value["same_budget"])
    titles = [table.title for table in tables_of(report)]
    assert "The same graph in a window" in titles
    assert "The same budget" in titles


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "rect", "circle", "path", "line"):
            self.open.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_fetches_nothing(done: tuple[Path, FormatReport]) -> None:
    _, report = done
    text = to_html(report)
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert page.addresses == []
    assert "script" not in page.tags
    assert not re.search(r"https?://|@import|url\(", text)
    # Tokens of each graph, survival and a front for each budget and order.
    assert page.tags.count("svg") == 4 + 2 * 4 * 2 + 2 * 2
    for table in tables_of(report):
        assert table.title in text
    assert "NaN" not in text


def test_a_hostile_name_stays_text(done: tuple[Path, FormatReport]) -> None:
    from dataclasses import replace

    _, report = done
    name = '<script>alert(1)</script>|"&'
    graphs = [replace(graph, name=name) for graph in report.graphs[:1]]
    sizes = [replace(row, graph=name) for row in report.sizes[: len(report.variants)]]
    hostile = replace(report, graphs=graphs, sizes=sizes)
    assert "<script>" not in to_html(hostile)
    assert "alert(1)</script>\\|" in to_markdown(hostile)


def test_measurements_are_what_auto_reads(done: tuple[Path, FormatReport]) -> None:
    out, report = done
    found = load_measurements(out / "measurements.json")
    assert {graph.name: graph.sha256 for graph in report.graphs} == found.graphs
    assert {row.label for row in found.rows} == {
        f"{info.format}/{info.version} {info.profile}" for info in report.variants
    }
    choice = choose(found, model=None, tokenizer="o200k_base", budget=800)
    assert choice.format == "edge_list"
    ratios = {row.format: row.prompt_ratio for row in found.rows if row.profile == "full"}
    assert ratios["pretty_json"] == 1.0
    assert ratios["edge_list"] < ratios["compact_json"] < 1.0


def test_a_format_that_loses_something_stops_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from graphroute.serialization.formats.edge_list import EdgeList
    from graphroute.serialization.records import Profile, Records

    whole = EdgeList.dumps

    def forgetful(self: EdgeList, records: Records, profile: Profile | None = None) -> str:
        from dataclasses import replace

        return whole(self, replace(records, facts=records.facts[1:]), profile)

    monkeypatch.setattr(EdgeList, "dumps", forgetful)
    with pytest.raises(DataError, match="edge_list does not carry the graph"):
        measure(SMALL, tmp_path)
    assert not (tmp_path / "report.json").exists()


def test_gold_in_doubt_stops_the_run(projects: BenchGraph, tmp_path: Path) -> None:
    from dataclasses import replace

    from graphroute.evaluation.formats.graph import dump_graph

    wrong = replace(projects, tasks=(replace(projects.tasks[0], answers=("city_tomsk",)),))
    (tmp_path / "wrong.json").write_text(dump_graph(wrong), encoding="utf-8")
    with pytest.raises(DataError, match="stored answer"):
        measure(Settings(graphs=(str(tmp_path / "wrong.json"),)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_model_is_asked_once_and_marked_in_every_report(endpoint: Serve, walker: Any, tmp_path: Path) -> None:
    from dataclasses import replace

    url, seen = endpoint(walker)
    settings = replace(SMALL, sizes=("base",), profiles=("lean",), prices=Prices(input=1.0, output=3.0))
    model = ModelSettings(chat=OpenAIChat(base_url=url, model="walker"), sampling=Sampling())
    first = measure(settings, tmp_path, model=model)
    assert len(seen) == 2 * 3 * 6
    raw = (tmp_path / REPLIES).read_bytes()
    again = measure(settings, tmp_path, model=model)
    assert len(seen) == 2 * 3 * 6
    assert (tmp_path / REPLIES).read_bytes() == raw
    without = measure(settings, tmp_path)
    assert first.model == again.model == without.model
    assert all(row.correct is not None and row.correct.mean == 1.0 for row in without.model)
    assert without.model_cost(without.model[0]) == pytest.approx({"input_cost": 321e-6, "output_cost": 135e-6})
    table = next(table for table in tables_of(without) if table.title.startswith("Format, tokens"))
    assert {row[2] for row in table.rows} == {"walker"}
    assert all(row[6].startswith("1.00 [") for row in table.rows)
    assert [point.basis for point in without.points if point.basis != "walk"] == ["walker"] * 9
    found = load_measurements(tmp_path / "measurements.json")
    assert {row.model for row in found.rows} == {None, "walker"}


def test_ids_are_renamed_on_demand(tmp_path: Path) -> None:
    from dataclasses import replace

    report = measure(
        replace(SMALL, sizes=("base",), pseudonymize=True, formats=("edge_list",), baseline="edge_list"), tmp_path
    )
    text = (tmp_path / "texts" / "projects" / "edge_list.txt").read_text(encoding="utf-8")
    assert "city_kazan" not in text
    assert "Казань" in text
    assert not any(leak.where == "id" for leak in report.leaks)


def test_wrong_settings_are_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    for wrong in (
        replace(SMALL, sizes=("huge",)),
        replace(SMALL, graphs=()),
        replace(SMALL, graphs=("projects", "projects")),
        replace(SMALL, profiles=("thin",)),
    ):
        with pytest.raises(UsageError):
            measure(wrong, tmp_path / "out")


def _point(variant: str, tokens: float, accuracy: float, budget: int = 512) -> Point:
    return Point(
        scope="g", basis="walk", order="o", budget=budget, variant=variant,
        tokens=tokens, accuracy=accuracy, low=0.0, high=1.0, n=10,
    )  # fmt: skip


def test_fronts_are_drawn_at_each_budget_by_itself() -> None:
    points = [_point("a", 10, 0.5), _point("b", 20, 0.9), _point("c", 15, 0.4), _point("c", 5, 0.4, budget=1024)]
    assert [(p.variant, p.budget) for p in with_fronts(points) if p.on_front] == [("a", 512), ("b", 512), ("c", 1024)]


def test_a_variant_is_beaten_only_if_it_is_at_every_budget() -> None:
    points = [
        _point("a", 0, 0.5), _point("a", 0, 0.9, 1024),
        _point("b", 0, 0.5), _point("b", 0, 0.8, 1024),
        _point("c", 0, 0.6), _point("c", 0, 0.1, 1024),
    ]  # fmt: skip
    assert undominated(points, {"a": 10, "b": 10, "c": 20}) == ["a", "c"]
    assert undominated(points, {"a": 11, "b": 10, "c": 20}) == ["a", "b", "c"]
