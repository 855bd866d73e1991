"""The whole path on the small world: real store, real systems, results files and their resumption."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphroute.errors import ConfigurationError, DataError, UsageError
from graphroute.evaluation.bundles import load_bundles
from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.report import Report
from graphroute.evaluation.result import load_results
from graphroute.evaluation.runner import evaluate, run_system
from graphroute.indexing.ingest import ingest
from graphroute.pipeline.engine import GraphRoute
from graphroute.types.reader import Reader
from graphroute.types.trace import Trace

SYSTEMS_DIR = Path(__file__).resolve().parents[2] / "evals" / "systems"
FIELDS = [
    "qid", "route", "retrievers", "sources", "edges", "answers", "as_of", "abstained", "reason", "latency_ms", "tokens", "fallback",
    "degraded",
]  # fmt: skip


@pytest.fixture(scope="module")
def store(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "world.sqlite"
    ingest(world, path, vectors=False)
    return path


@pytest.fixture
def system(store: Path) -> Iterator[GraphRoute]:
    with GraphRoute.open(store, routes=SYSTEMS_DIR / "lexical.yaml") as opened:
        yield opened


class Recorder:
    """Passes questions on and keeps what it was given; fails on the questions named."""

    def __init__(self, inner: GraphRoute, failing: str = "") -> None:
        self.inner = inner
        self.failing = failing
        self.given: list[tuple[str, Reader, str | None]] = []

    def explain(self, question: str, *, reader: Reader, as_of: str | None = None) -> Trace:
        self.given.append((question, reader, as_of))
        if question == self.failing:
            raise UsageError("refused")
        return self.inner.explain(question, reader=reader, as_of=as_of)


def run(world: Path, store: Path, out: Path, limit: int | None = None) -> tuple[Report, list[tuple[str, int, int]]]:
    heard: list[tuple[str, int, int]] = []
    report = evaluate(
        world, store, systems=["lexical", "routed_hybrid"], systems_dir=SYSTEMS_DIR, out=out, limit=limit,
        progress=lambda name, done, total: heard.append((name, done, total)),
    )  # fmt: skip
    return report, heard


def test_results_and_reports_are_written(
    world: Path, store: Path, tmp_path: Path, questions: dict[str, Question]
) -> None:
    report, heard = run(world, store, tmp_path)
    assert heard[-1] == ("routed_hybrid", len(questions), len(questions))
    for name in ("lexical", "routed_hybrid"):
        rows = [
            json.loads(line) for line in (tmp_path / f"{name}.results.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        assert [row["qid"] for row in rows] == list(questions)
        assert all(list(row) == FIELDS for row in rows)
        assert all(row["as_of"] for row in rows)
        assert all(group["permission_violations"].value == 0 for group in report.systems[name].families.values())
    assert report.errors == {"lexical": {}, "routed_hybrid": {}}
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["dataset"] == "world"
    assert "## Family bounded_path" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_an_interrupted_run_goes_on(world: Path, store: Path, tmp_path: Path) -> None:
    run(world, store, tmp_path, limit=3)
    path = tmp_path / "lexical.results.jsonl"
    before = path.read_text(encoding="utf-8").splitlines()
    marked = [json.dumps({**json.loads(line), "reason": "kept"}) for line in before]
    path.write_text("\n".join(marked) + '\n{"qid": "to', encoding="utf-8")
    run(world, store, tmp_path)
    after = load_results(path)
    assert [result.reason == "kept" for result in after.values()] == [True] * 3 + [False] * 5


def test_a_change_of_what_results_depend_on_starts_anew(world: Path, store: Path, tmp_path: Path) -> None:
    systems = tmp_path / "systems"
    systems.mkdir()
    routes = systems / "mine.yaml"
    routes.write_text("routes:\n  - otherwise: lexical\n", encoding="utf-8")

    def go() -> str:
        evaluate(world, store, systems=["mine"], systems_dir=systems, out=tmp_path, limit=2)
        reasons = [result.reason for result in load_results(tmp_path / "mine.results.jsonl").values()]
        path = tmp_path / "mine.results.jsonl"
        path.write_text(
            "".join(
                json.dumps({**json.loads(line), "reason": "kept"}) + "\n"
                for line in path.read_text(encoding="utf-8").splitlines()
            ),
            encoding="utf-8",
        )
        return ",".join(sorted(set(reasons)))

    assert go() != "kept"
    assert go() == "kept"
    routes.write_text("# another policy\nroutes:\n  - otherwise: lexical\n", encoding="utf-8")
    assert go() != "kept"


def test_a_system_is_given_question_reader_and_day_only(
    system: GraphRoute, dataset: Dataset, questions: dict[str, Question], tmp_path: Path
) -> None:
    recorder = Recorder(system)
    run_system("x", recorder, dataset, list(questions.values()), tmp_path / "x.results.jsonl", done={})
    given = {question: (reader, as_of) for question, reader, as_of in recorder.given}
    assert given["Who chairs the owner of KEP-12?"] == (Reader("public", ["public"]), "2024-06-01")
    assert recorder.given[-1] == ("Who approved KEP-12?", Reader("auditor", ["public", "secret"]), "2021-01-01")
    assert len(recorder.given) == len(questions)


def test_a_question_that_fails_has_no_result_and_the_run_goes_on(
    system: GraphRoute, dataset: Dataset, questions: dict[str, Question], tmp_path: Path
) -> None:
    asked = list(questions.values())
    results, errors = run_system(
        "x", Recorder(system, failing=asked[0].text), dataset, asked, tmp_path / "x.results.jsonl", done={}
    )
    assert errors == {"path": "UsageError: refused"}
    assert list(results) == [question.qid for question in asked[1:]]
    assert load_results(tmp_path / "x.results.jsonl") == results


def test_hidden_evidence_is_not_shown_and_the_control_shows_it(
    system: GraphRoute, dataset: Dataset, questions: dict[str, Question]
) -> None:
    """The same question with the auditor's labels finds the document, so the public reader's silence is the guard's doing."""
    text = questions["hidden"].text
    public = system.explain(text, reader=Reader("public", ["public"]), as_of="2024-06-01").bundle
    auditor = system.explain(text, reader=Reader("auditor", ["public", "secret"]), as_of="2024-06-01").bundle
    assert "d:secret" not in public.sources
    assert "d:secret" in auditor.sources


def test_unknown_system_and_missing_store(world: Path, store: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="routed_hybrid"):
        evaluate(world, store, systems=["none"], systems_dir=SYSTEMS_DIR, out=tmp_path)
    with pytest.raises(DataError, match="no such store"):
        evaluate(world, tmp_path / "none.sqlite", systems=["lexical"], systems_dir=SYSTEMS_DIR, out=tmp_path)


def test_bundles_are_recorded_once_for_each_question(world: Path, store: Path, tmp_path: Path) -> None:
    def recorded() -> list[str]:
        return [bundle.qid for bundle in load_bundles(tmp_path / "lexical.bundles.jsonl")]

    def again(**more: Any) -> None:
        evaluate(world, store, systems=["lexical"], systems_dir=SYSTEMS_DIR, out=tmp_path, **more)

    again(limit=2)
    assert not (tmp_path / "lexical.bundles.jsonl").exists()
    again(limit=2, record_bundles=True)
    first = recorded()
    assert len(first) == 2
    again(record_bundles=True)
    every = recorded()
    assert every[:2] == first
    assert sorted(every) == sorted(load_results(tmp_path / "lexical.results.jsonl"))
    again(record_bundles=True)
    assert recorded() == every
