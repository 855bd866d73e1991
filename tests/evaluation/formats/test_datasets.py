"""A graph out of a dataset directory, with the questions that its facts prove."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphroute.errors import DataError
from graphroute.evaluation.formats.datasets import graph_of_dataset
from graphroute.evaluation.formats.gold import check_gold
from graphroute.types.graph import Direction

ROOT = Path(__file__).resolve().parents[3]

EDGES = [
    ("e1", "svc:pay", "USES", "db:main"),
    ("e2", "svc:ship", "USES", "db:main"),
    ("e3", "svc:pay", "OWNED_BY", "team:a"),
    ("e4", "svc:ship", "OWNED_BY", "team:б"),
    ("e5", "svc:far", "OWNED_BY", "team:a"),
]


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    (folder / name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write(tmp_path, "docs.jsonl", [{"doc_id": "d", "title": "D", "text": "x", "labels": ["public"]}])
    write(
        tmp_path,
        "edges.jsonl",
        [{"edge_id": id, "s": s, "r": r, "o": o, "source_id": "d", "valid_from": "2024"} for id, s, r, o in EDGES],
    )
    write(tmp_path, "entities.jsonl", [{"id": "team:б", "type": "team", "names": ["Команда Б"]}])
    return tmp_path


def question(**values: Any) -> dict[str, Any]:
    return {"question": "?", "answerable": True, "topic_entities": ["db:main"], "required_sources": [], **values}


def test_a_question_becomes_a_typed_path_with_its_answers(directory: Path) -> None:
    write(
        directory,
        "questions.dev.jsonl",
        [question(qid="owners", answer=["a", "команда б"], required_edges=["e1", "e2", "e3", "e4"])],
    )
    made = graph_of_dataset(directory)
    check_gold(made.graph)
    (task,) = made.graph.tasks
    assert (task.kind, task.answers) == ("set", ("team:a", "team:б"))
    assert [(step.relation, step.direction) for step in task.query.steps] == [
        ("USES", Direction.BACKWARD), ("OWNED_BY", Direction.FORWARD),
    ]  # fmt: skip
    assert len(made.graph.edges) == 5
    assert all(edge.validity.start is not None and edge.supports for edge in made.graph.edges)
    assert made.graph.by_id["team:б"].name == "Команда Б"
    assert (made.looked_at, made.left_out) == (1, 0)


def test_questions_that_are_no_path_to_their_answers_are_counted(directory: Path) -> None:
    write(
        directory,
        "questions.dev.jsonl",
        [
            question(qid="right", answer=["main"], topic_entities=["svc:pay"], required_edges=["e1"]),
            question(qid="other", answer=["z"], required_edges=["e1"]),
            # The path would lead to both services, and only one is the stored answer.
            question(qid="part", answer=["pay"], required_edges=["e1"]),
        ],
    )
    made = graph_of_dataset(directory)
    assert [task.id for task in made.graph.tasks] == ["right"]
    assert (made.looked_at, made.left_out) == (3, 2)


def test_a_dataset_without_such_questions_is_refused(directory: Path) -> None:
    write(directory, "questions.dev.jsonl", [question(qid="q", answer=["z"], required_edges=["e1"])])
    with pytest.raises(DataError, match="none of 1 questions"):
        graph_of_dataset(directory)


def test_the_bundled_corpus_is_drawn_by_the_seed() -> None:
    corpus = ROOT / "evals" / "datasets" / "meridian"
    first, again = graph_of_dataset(corpus, seed=1), graph_of_dataset(corpus, seed=1)
    assert first == again
    assert len(first.graph.edges) == 300
    assert len(first.graph.tasks) >= 5
    assert graph_of_dataset(corpus, seed=2).graph.sha256 != first.graph.sha256
