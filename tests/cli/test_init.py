"""`graphroute init` and questions over what it wrote, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphroute.resources import resource
from graphroute.testing.property_graph import PropertyGraph


def shop() -> PropertyGraph:
    """Three customers, who placed orders of products."""
    graph = PropertyGraph()
    for number, name in enumerate(["Ann Lee", "Борис Ким", "李雷"]):
        graph.node(f"c{number}", ["Customer"], customerId=number + 1, name=name)
    for number, name in enumerate(["Lamp", "Chair", "桌子"]):
        graph.node(f"p{number}", ["Product"], productId=number + 1, productName=name)
    for number, (customer, product, day) in enumerate(
        [(0, 0, "2024-01-05"), (0, 1, "05.02.2024"), (1, 2, "2024年3月1日")]
    ):
        order = graph.node(f"o{number}", ["Order"], orderId=100 + number, orderDate=day)
        graph.relate(f"c{customer}", "PLACED", order)
        graph.relate(order, "CONTAINS", f"p{product}")
    return graph


@pytest.fixture
def address(neo4j_5: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in neo4j_5.environment().items():
        monkeypatch.setenv(name, value)
    with neo4j_5.connect(read_timeout=60.0) as connection:
        shop().put(connection)
    return str(neo4j_5.uri)


def test_from_a_graph_to_answers(address: str, run: Any, tmp_path: Path) -> None:
    out = tmp_path / "shop"
    made = run("init", "--from", address, "--out", out, "--default-label", "public", "--json", "--quiet")
    assert made.code == 0
    said = json.loads(made.out)
    assert (said["types"], said["relations"]) == (3, 2)
    # What is asked about is the answer, not how fast a cold server of a busy machine gives it.
    routes = tmp_path / "routes.yaml"
    patient = "deadlines: {lexical: 60000, graph: 60000, vector: 60000, whole: 120000}"
    routes.write_text(f"{resource('routes.yaml').read_text(encoding='utf-8')}\n{patient}\n", encoding="utf-8")
    asked = ("--store", address, "--ontology", out / "ontology.yaml", "--routes", routes, "--json")
    explained = run("explain", "Who bought 桌子?", *asked, "--public")
    assert explained.code == 0
    assert "Борис Ким" in explained.out
    assert "PLACED/2/102" in explained.out
    hidden = run("explain", "Who bought 桌子?", *asked, "--reader", "x", "--label", "other")
    assert hidden.code == 0
    assert "Борис" not in hidden.out
    again = run("init", "--from", address, "--out", out, "--quiet")
    assert again.code == 2
    assert "there already" in again.err


def test_without_a_default_label_everything_is_hidden_and_that_is_said(address: str, run: Any, tmp_path: Path) -> None:
    made = run("init", "--from", address, "--out", tmp_path, "--quiet")
    assert made.code == 0
    assert "everything of theirs is hidden until `default_labels` names who may read it" in made.out
    assert "default_labels: []" in (tmp_path / "mapping.yaml").read_text(encoding="utf-8")
    explained = run(
        "explain",
        "Who bought Lamp?",
        "--store",
        address,
        "--ontology",
        tmp_path / "ontology.yaml",
        "--public",
        "--json",
    )
    assert explained.code == 0
    assert "Ann Lee" not in explained.out


def test_the_dataset_of_a_property_graph_is_scored(address: str, run: Any, tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "shop"
    data.mkdir()
    rows: dict[str, list[dict[str, Any]]] = {
        "nodes.jsonl": [{"id": "Customer/1"}, {"id": "Order/100"}, {"id": "Product/1"}],
        "rels.jsonl": [
            {"id": "PLACED/1/100", "start": "Customer/1", "end": "Order/100"},
            {"id": "CONTAINS/100/1", "start": "Order/100", "end": "Product/1"},
        ],
        "questions.dev.jsonl": [
            {"qid": "q1", "question": "Which customers bought Lamp?", "answer": ["Ann Lee"], "answerable": True, "reader": "public",
             "family": "bounded_path", "required_edges": ["PLACED/1/100", "CONTAINS/100/1"]},
        ],
    }  # fmt: skip
    for name, lines in rows.items():
        (data / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert run("init", "--from", address, "--out", out, "--default-label", "public", "--quiet").code == 0
    options = ("--store", address, "--ontology", out / "ontology.yaml", "--systems", "graph_only", "--quiet", "--json")
    scored = run("eval", data, *options, "--out", tmp_path / "results")
    assert scored.code == 0
    (line,) = (tmp_path / "results" / "graph_only.results.jsonl").read_text(encoding="utf-8").splitlines()
    result = json.loads(line)
    assert sorted(result["edges"]) == ["CONTAINS/100/1", "PLACED/1/100"]
    assert result["answers"]


def test_an_empty_graph_is_one_line_and_code_4(
    neo4j_5: Any, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in neo4j_5.environment().items():
        monkeypatch.setenv(name, value)
    ended = run("init", "--from", neo4j_5.uri, "--out", tmp_path, "--quiet")
    assert ended.code == 4
    assert ended.err.count("\n") == 1
    assert "the graph has no labelled node" in ended.err


@pytest.mark.parametrize(
    ("address", "password", "code"),
    [
        ("neo4j://user:secret@127.0.0.1:7687", "secret", 3),
        ("http://127.0.0.1:7474", "secret", 3),
        ("neo4j://127.0.0.1:7687", "", 3),
        ("bolt://127.0.0.1:1", "secret", 5),
    ],
)
def test_a_wrong_address_is_one_line(
    address: str, password: str, code: int, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHROUTE_NEO4J_PASSWORD", password)
    ended = run("init", "--from", address, "--out", tmp_path, "--quiet")
    assert ended.code == code
    assert ended.err.count("\n") == 1
    assert "secret" not in ended.err


def test_an_ontology_that_is_not_mapped_is_said(address: str, run: Any, tmp_path: Path) -> None:
    assert run("init", "--from", address, "--out", tmp_path, "--default-label", "public", "--quiet").code == 0
    path = tmp_path / "ontology.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("  PLACED:", "  BOUGHT:"), encoding="utf-8")
    ended = run("explain", "Who bought Lamp?", "--store", address, "--ontology", path, "--public")
    assert ended.code == 3
    assert "relation 'BOUGHT' of the ontology is not mapped" in ended.err
