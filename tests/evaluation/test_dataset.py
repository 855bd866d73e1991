from __future__ import annotations

from pathlib import Path

import pytest

from graphroute.errors import DataError
from graphroute.evaluation.dataset import Dataset, load_dataset
from graphroute.evaluation.question_set import Question, question_files
from graphroute.types.reader import Reader


def asks(reader: str | None) -> Question:
    return Question(qid="q", text="?", reader_id=reader)


@pytest.mark.parametrize(
    ("reader", "labels"),
    [
        ("auditor", {"public", "secret"}),
        ("user:7", {"public", "user:7"}),
        ("user:admin1", {"public", "secret", "user:admin1"}),
        ("Auditor", set()),
        ("user", set()),
        ("stranger", set()),
    ],
)
def test_labels_of_a_reader(dataset: Dataset, reader: str, labels: set[str]) -> None:
    assert dataset.reader(asks(reader)) == Reader(reader, labels)


def test_a_question_without_reader(dataset: Dataset) -> None:
    assert dataset.reader(asks(None)) == Reader("public", {"public"})
    without = Dataset(name="x", labels={}, edges={}, default_labels=("open",))
    assert without.reader(asks(None)) == Reader("public", {"open"})


def test_the_day_a_question_is_asked(dataset: Dataset, questions: dict[str, Question]) -> None:
    assert dataset.day(questions["path"]) == "2024-06-01"
    assert dataset.day(questions["seen"]) == "2021-01-01"
    assert Dataset(name="x", labels={}, edges={}).day(questions["path"]) is None


def test_the_oracle_is_not_loaded(dataset: Dataset) -> None:
    assert "e:oracle" not in dataset.edges
    assert len(dataset.edges) == 8


def test_questions_that_hold_after_a_deletion_are_not_asked_by_default(tmp_path: Path) -> None:
    for name in ("questions.dev.jsonl", "questions.after_delete.dev.jsonl", "questions.b.jsonl.gz", "questions.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in question_files(tmp_path)] == ["questions.b.jsonl.gz", "questions.dev.jsonl"]
    with pytest.raises(DataError, match="--questions"):
        question_files(tmp_path / "none")


def test_errors_name_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such directory"):
        load_dataset(tmp_path / "none")
    (tmp_path / "docs.jsonl").write_text('{"doc_id": "a"}\n{"doc_id": 3}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"docs\.jsonl:2: doc_id is 3"):
        load_dataset(tmp_path)


def test_a_directory_without_dataset_yaml(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text('{"doc_id": "a"}\n', encoding="utf-8")
    dataset = load_dataset(tmp_path)
    assert dataset.labels == {"a": frozenset()}
    assert dataset.name == tmp_path.name


def test_supports_in_every_shape(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text('{"doc_id": "a"}\n', encoding="utf-8")
    (tmp_path / "edges.jsonl").write_text(
        '{"edge_id": "1", "s": "x", "o": "y", "source_id": "a"}\n'
        '{"edge_id": "2", "s": "x", "o": "y", "src": ["a", "b"]}\n'
        '{"edge_id": "3", "s": "x", "o": "y", "supports": [["a", {"source": "b", "span": [0, 1]}], [{"source_id": "c"}]]}\n',
        encoding="utf-8",
    )
    edges = load_dataset(tmp_path).edges
    assert edges["1"].supports == (frozenset({"a"}),)
    assert edges["2"].supports == (frozenset({"a"}), frozenset({"b"}))
    assert edges["3"].supports == (frozenset({"a", "b"}), frozenset({"c"}))
    assert edges["3"].documents == {"a", "b", "c"}
    (tmp_path / "edges.jsonl").write_text('{"edge_id": "1", "s": "x", "o": "y"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"edges\.jsonl:1: source_id is None"):
        load_dataset(tmp_path)
