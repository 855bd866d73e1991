"""The property graph of the data sets, straight from `init`: no file edited but for the default label."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import load_property_graph
from graphroute.evaluation.runner import evaluate
from graphroute.indexing.graph_inference import infer_graph
from graphroute.ontology.load import dump_ontology
from graphroute.ontology.mapping import FILE_NAME, dump_mapping
from graphroute.resources import resource
from graphroute.stores.mapped.schema import is_unique, read_schema

REAL = Path(os.environ.get("GRAPHROUTE_REALDATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
DATA = REAL / "n_northwind"

pytestmark = pytest.mark.realdata


def test_nine_of_ten_questions_straight_from_init(
    neo4j_5: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not DATA.is_dir():
        pytest.skip(f"no data set at {DATA}")
    import neo4j

    for name, value in neo4j_5.environment().items():
        monkeypatch.setenv(name, value)
    with neo4j.GraphDatabase.driver(neo4j_5.uri, auth=("neo4j", neo4j_5.password)) as driver:
        assert load_property_graph.load_directory(driver, DATA) == (1104, 4909)
    with neo4j_5.connect() as connection:
        schema = read_schema(connection)
        found = infer_graph(schema, lambda label, name: is_unique(connection, label, name), default_labels=["public"])
    (tmp_path / "ontology.yaml").write_text(dump_ontology(found.ontology), encoding="utf-8")
    (tmp_path / FILE_NAME).write_text(dump_mapping(found.mapping), encoding="utf-8")
    report = evaluate(
        DATA,
        neo4j_5.uri,
        systems=["routed_hybrid"],
        systems_dir=resource("evals/systems"),
        out=tmp_path / "out",
        ontology=tmp_path / "ontology.yaml",
    )
    scores = report.to_json()["systems"]["routed_hybrid"]["families"]
    exact = [score["answer_exactness"] for score in scores.values() if "answer_exactness" in score]
    right = sum(score["mean"] * score["n"] for score in exact)
    asked = sum(score["n"] for score in exact)
    assert asked == 66
    assert right / asked >= 0.9
    assert scores["unanswerable"]["abstention"]["mean"] == 1.0
    assert all(score["permission_violations"]["sum"] == 0 for score in scores.values())
