from __future__ import annotations

import json

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.report import Report
from graphroute.evaluation.result import Result
from graphroute.evaluation.scoring import score


def report(dataset: Dataset, questions: dict[str, Question]) -> Report:
    asked = list(questions.values())
    whole = Result(qid="path", route="a|b", sources=("d:1", "d:2"), edges=("e:own", "e:ann", "e:bea"))
    poor = Result(qid="path", route="text", sources=("d:old",))
    return Report(
        dataset=dataset.name,
        questions=asked,
        systems={
            "vector_lexical": score(dataset, asked, {"path": poor}),
            "routed_hybrid": score(dataset, asked, {"path": whole}),
        },
        runs={"routed_hybrid": {"routes": "abc"}},
        errors={"routed_hybrid": {"seen": "BackendError: down"}},
    )


def test_json_has_families_routes_and_comparisons(dataset: Dataset, questions: dict[str, Question]) -> None:
    data = json.loads(report(dataset, questions).dumps())
    hybrid = data["systems"]["routed_hybrid"]
    assert hybrid["families"]["bounded_path"]["complete_path"]["mean"] == 0.5
    assert hybrid["routes"]["a|b"]["complete_path"] == {"n": 1, "mean": 1.0, "low": 0.206549, "high": 1.0}
    assert hybrid["families"]["unanswerable"]["permission_violations"] == {"n": 1, "sum": 1.0}
    assert len(hybrid["missing"]) == len(questions) - 1
    assert hybrid["errors"] == {"seen": "BackendError: down"}
    won = {row["family"]: row["won"] for row in hybrid["against_better"]}
    assert won["bounded_path"] == ["path"]
    assert data["systems"]["vector_lexical"]["against_better"] == []
    assert "overall" not in json.dumps(data)


def test_markdown_has_a_table_a_family_and_a_route(dataset: Dataset, questions: dict[str, Question]) -> None:
    text = report(dataset, questions).to_markdown()
    assert "## Family bounded_path (2)" in text
    assert "## Routes of routed_hybrid" in text
    assert "| a\\|b |" in text
    assert "0.50 [0.09, 0.91] (2)" in text
    assert "`routed_hybrid`: 7 questions without a result." in text
