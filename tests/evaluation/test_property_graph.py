from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphroute.errors import DataError
from graphroute.evaluation.dataset import load_dataset
from graphroute.evaluation.question_set import parse_question

NODES = [
    {"id": "Person/1", "labels": ["Person"], "props": {"id": 1, "name": "Ann"}},
    {"id": "Order/7", "labels": ["Order"], "props": {"id": 7}},
]
RELATIONS = [{"id": "PLACED/1/7", "type": "PLACED", "start": "Person/1", "end": "Order/7", "props": {}}]


def write(folder: Path, nodes: list[dict[str, Any]], relations: list[dict[str, Any]]) -> Path:
    for name, rows in (("nodes", nodes), ("rels", relations)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_each_element_is_the_document_that_proves_it(tmp_path: Path) -> None:
    dataset = load_dataset(write(tmp_path, NODES, RELATIONS))
    edge = dataset.edges["PLACED/1/7"]
    assert (edge.subject, edge.object) == ("Person/1", "Order/7")
    question = parse_question(
        {"qid": "q", "question": "who", "answer": ["Ann"], "answerable": True, "reader": "public", "family": "neighbourhood",
         "required_edges": ["PLACED/1/7"]},
        "here",
    )  # fmt: skip
    reader = dataset.reader(question)
    assert dataset.proven(edge, reader.labels)
    assert dataset.readable("Person/1", reader.labels)
    assert not dataset.readable("Person/2", reader.labels)
    assert not dataset.proven(edge, frozenset({"other"}))
    assert dataset.needs_path(question)


def test_a_relationship_without_its_node_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"rels.jsonl:1: relationship 'PLACED/1/7' ends at 'Order/7'"):
        load_dataset(write(tmp_path, NODES[:1], RELATIONS))


def test_labels_and_readers_are_those_of_its_settings(tmp_path: Path) -> None:
    write(tmp_path, NODES, RELATIONS)
    (tmp_path / "dataset.yaml").write_text(
        "name: shop\ndefault_labels: [staff]\nreaders: {bob: [staff]}\n", encoding="utf-8"
    )
    dataset = load_dataset(tmp_path)
    assert dataset.name == "shop"
    assert dataset.readers == {"bob": ("staff",)}
    assert dataset.readable("PLACED/1/7", frozenset({"staff"}))
    assert not dataset.readable("PLACED/1/7", frozenset({"public"}))
