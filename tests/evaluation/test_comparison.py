from __future__ import annotations

from collections.abc import Mapping

import pytest

from graphroute.evaluation.comparison import compare, compare_to_better, right
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.scoring import Scores

QUESTIONS = [Question(qid=f"{family}{number}", text="?", family=family) for family in "ab" for number in range(4)]


def scores(solved: str) -> Scores:
    wanted = set(solved.split())
    return Scores(
        questions={question.qid: {"complete_path": float(question.qid in wanted)} for question in QUESTIONS},
        families={},
        routes={},
        sizes={},
        missing=(),
        unknown=0,
    )


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ({"abstention": 1.0, "source_completeness": 0.0}, True),
        ({"complete_path": 0.0, "source_completeness": 1.0}, False),
        ({"source_completeness": 1.0, "answer_exactness": 0.0}, True),
        ({"answer_exactness": 1.0}, True),
        ({"latency": 1.0}, None),
    ],
)
def test_what_right_means(row: Mapping[str, float], outcome: bool | None) -> None:
    assert right(row) is outcome


def test_won_and_lost() -> None:
    first, second = compare(scores("a0 a1 b0"), scores("a1 a2 a3 b0 b1"), "other", QUESTIONS)
    assert (first.family, first.won, first.lost, first.net_lost, first.kept) == ("a", ("a0",), ("a2", "a3"), 1, True)
    assert (second.family, second.won, second.lost, second.net_lost) == ("b", (), ("b1",), 1)


def test_more_than_one_question_lost_is_not_kept() -> None:
    row = compare(scores(""), scores("a0 a1"), "other", QUESTIONS)[0]
    assert (row.net_lost, row.allowed, row.kept) == (2, 1.0, False)


def test_the_better_baseline_is_chosen_by_family() -> None:
    text, graph = scores("a0 a1 a2 b0"), scores("a3 b0 b1 b2")
    rows = compare_to_better(scores("a0 b0"), {"vector_lexical": text, "graph_only": graph}, QUESTIONS)
    assert [(row.family, row.against, row.lost) for row in rows] == [
        ("a", "vector_lexical", ("a1", "a2")),
        ("b", "graph_only", ("b1", "b2")),
    ]
    assert compare_to_better(scores(""), {}, QUESTIONS) == []
