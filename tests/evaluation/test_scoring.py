from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphroute.errors import DataError
from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics import TABLE, all_metrics
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question, load_questions, parse_question
from graphroute.evaluation.result import dump_result, load_results, parse_result
from graphroute.evaluation.scoring import NO_RESULT, score, score_results
from graphroute.evaluation.statistics import quantile, wilson

CASES = yaml.safe_load((Path(__file__).parent / "scoring_cases.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_scores_of_one_question(case: dict[str, Any], dataset: Dataset, questions: dict[str, Question]) -> None:
    question = questions[case["question"]]
    results = {}
    if case["result"] is not None:
        results[question.qid] = parse_result({"qid": question.qid, **case["result"]}, case["name"])
    scored = score(dataset, [question], results).questions[question.qid]
    assert {name: round(scored[name], 6) for name in case["scores"]} == case["scores"]
    assert not set(case.get("absent", ())) & scored.keys()


def test_every_metric_is_exercised_by_a_case() -> None:
    exercised = {name for case in CASES for name in case["scores"]}
    assert set(TABLE) - exercised == {"graph_calls", "latency", "tokens"}


def test_the_worst_result_is_the_default(dataset: Dataset, questions: dict[str, Question]) -> None:
    """No result can score below a missing one, so a system cannot look better by answering less."""
    for metric in all_metrics():
        if metric.default is None or metric.kind is Kind.COUNT:
            continue
        worse_is_higher = metric.name in {"degraded", "false_abstention", "forbidden_sources", "freshness_violations"}
        assert metric.default == (1.0 if worse_is_higher else 0.0), metric.name


def test_a_results_file_alone(world: Path, tmp_path: Path) -> None:
    rows = [
        {"qid": "path", "route": "facts", "retrievers": ["local_graph"], "edges": ["e:own", "e:ann", "e:bea"], "latency_ms": 10, "tokens": 5},
        {"qid": "one_path", "route": "text", "retrievers": ["lexical"], "sources": ["d:1"], "latency_ms": 30, "tokens": 7},
        {"qid": "stranger", "route": "text"},
    ]  # fmt: skip
    path = tmp_path / "x.results.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    scores = score_results(world, world / "questions.dev.jsonl", path)
    assert scores.unknown == 1
    assert scores.missing == ("count", "id", "prose", "oracle", "hidden", "seen")
    assert scores.families["bounded_path"]["complete_path"].value == 0.5
    assert scores.families["bounded_path"]["graph_calls"].value == 0.5
    assert scores.families["bounded_path"]["latency"].value == 10
    assert scores.families["bounded_path"]["latency"].high == 30
    assert scores.families["aggregation"]["complete_path"].value == 0.0
    assert "latency" not in scores.families["aggregation"]
    assert scores.routes["facts"]["complete_path"].value == 1.0
    assert scores.routes[NO_RESULT]["permission_violations"].value == 6
    assert scores.sizes == {
        "aggregation": 1, "bounded_path": 2, "exact_id": 1, "neighbourhood": 1, "single_fragment": 2, "unanswerable": 1,
    }  # fmt: skip


def test_any_of_in_every_place_it_may_stand() -> None:
    def groups(**row: Any) -> tuple[tuple[str, ...], ...]:
        return parse_question({"qid": "q", "question": "?", **row}, "here").required_sources

    assert groups(required_sources=["a", "b"]) == (("a",), ("b",))
    assert groups(required_sources=["a", {"any_of": ["b", "c"]}]) == (("a",), ("b", "c"))
    assert groups(required_sources={"any_of": ["a", "b"]}) == (("a", "b"),)
    assert groups(required_sources=[["a", "b"], "c"]) == (("a", "b"), ("c",))
    assert groups(required_sources=["a", "b"], any_of=True) == (("a", "b"),)
    assert groups(required_sources=["a"], any_of=["b", "c"]) == (("a",), ("b", "c"))
    assert groups() == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "x.jsonl:1: not JSON"),
        ("[]", "x.jsonl:1: a list"),
        ('\n{"qid": 1}', "x.jsonl:2: qid is 1"),
        ('{"qid": "a"}\n{"qid": "a"}', "x.jsonl:2: qid 'a' comes twice"),
        ('{"qid": "a", "edges": "e"}', "x.jsonl:1: edges is a str"),
        ('{"qid": "a", "answers": [null]}', "x.jsonl:1: answer None"),
    ],
)
def test_bad_results_name_the_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load_results(path)
    assert message in str(caught.value)


def test_bad_questions_name_the_place(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"qid": "a", "question": "x"}\n{"qid": "a", "question": "y"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"q\.jsonl:2: qid 'a' comes twice"):
        load_questions([path])
    path.write_text('{"qid": "a", "question": " "}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"q\.jsonl:1: question is ' '"):
        load_questions([path])


def test_a_result_survives_its_line() -> None:
    row = {
        "qid": "вопрос", "route": "facts", "retrievers": ["local_graph"], "sources": ["文件"], "edges": ["e"],
        "answers": [{"id": "p:1", "display": "Ёж"}], "as_of": "2024-01-01", "abstained": False, "reason": "r", "latency_ms": 1.5,
        "tokens": 3, "fallback": True, "degraded": [{"stage": "vector", "reason": "down"}],
    }  # fmt: skip
    result = parse_result(row, "here")
    assert json.loads(dump_result(result)) == row


def test_wilson_and_quantiles_against_known_values() -> None:
    # Wilson 95 % for 8 of 10: 0.4902, 0.9433 (R, prop.test without continuity correction)
    assert [round(bound, 4) for bound in wilson(0.8, 10)] == [0.4902, 0.9433]
    assert wilson(0.0, 20)[0] == 0.0
    assert wilson(1.0, 20)[1] == pytest.approx(1.0)
    assert wilson(0.0, 0) == (0.0, 1.0)
    assert quantile([4, 1, 3, 2], 0.5) == 2
    assert quantile(list(range(1, 101)), 0.95) == 95
    assert quantile([7], 0.95) == 7
