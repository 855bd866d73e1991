"""Orders and what is in them: verbs that stand for their own nodes, nouns of the anchor, verbs before nouns, words inside names."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from graphroute.indexing.ingest import ingest
from graphroute.ontology.load import load_ontology
from graphroute.pipeline.engine import GraphRoute
from graphroute.types.reader import Reader

ONTOLOGY = """
types:
  customer: {nouns: [customer, client], agent: true, prefix: c}
  supplier: {nouns: [supplier], agent: true, prefix: s}
  order: {nouns: [order, purchase order, purchase], display: "Order {local}", prefix: o, patterns: ["(?i)\\\\bOrder[- _#:]?\\\\d+\\\\b"]}
  product: {nouns: [product, item], prefix: p}
relations:
  PURCHASED: {from: customer, to: order, kind: event, forward: [purchase, buy, order, place], object_nouns: [purchase, order]}
  ORDERS: {from: order, to: product, kind: event, forward: [order, contain, include, buy], object_nouns: [product, item, content]}
  SUPPLIES: {from: supplier, to: product, forward: [supply, deliver], object_nouns: [product], subject_nouns: [supplier]}
"""
NAMES = {
    "c:1": "QUICK-Stop",
    "c:2": "Ernst Handel",
    "p:1": "Pavlova",
    "p:2": "Chai",
    "p:3": "Tofu",
    "s:1": "Pavlova",
    "s:2": "Exotic Liquids",
}
EDGES = [
    ("c:1", "PURCHASED", "o:100", "1997-02-01"), ("o:100", "ORDERS", "p:1", "1997-02-01"), ("o:100", "ORDERS", "p:2", "1997-02-01"),
    ("c:2", "PURCHASED", "o:101", "1996-05-01"), ("o:101", "ORDERS", "p:3", "1996-05-01"),
    ("s:1", "SUPPLIES", "p:1", None), ("s:1", "SUPPLIES", "p:3", None), ("s:2", "SUPPLIES", "p:2", None),
]  # fmt: skip


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphRoute]:
    folder = tmp_path_factory.mktemp("orders")
    rows = {
        "docs": [{"doc_id": "d", "text": "All rows.", "labels": ["public"]}],
        "entities": [
            *({"id": i, "type": {"c": "customer", "p": "product", "s": "supplier"}[i[0]], "names": [n]} for i, n in NAMES.items()),
            *({"id": i, "type": "order", "names": [f"Order {i[2:]}"]} for i in ("o:100", "o:101")),
        ],
        "edges": [
            {"edge_id": f"e{n}", "s": s, "r": r, "o": o, "source_id": "d", **({"valid_from": day} if day else {})}
            for n, (s, r, o, day) in enumerate(EDGES)
        ],
    }  # fmt: skip
    data = folder / "data"
    data.mkdir()
    for name, lines in rows.items():
        (data / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (folder / "ontology.yaml").write_text(ONTOLOGY, encoding="utf-8")
    ingest(data, folder / "store.sqlite", ontology=load_ontology(folder / "ontology.yaml"), vectors=False)
    with GraphRoute.open(folder / "store.sqlite") as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("List everything QUICK-Stop had ordered", {"Pavlova", "Chai"}),
        ("What did QUICK-Stop order?", {"Pavlova", "Chai"}),
        ("What did Ernst Handel order before 1997?", {"Tofu"}),
        ("Which orders did QUICK-Stop place?", {"Order 100"}),
        ("Which customers purchased orders that contain Chai?", {"QUICK-Stop"}),
        ("List customers with orders of products from Pavlova", {"QUICK-Stop", "Ernst Handel"}),
        ("Who supplies Pavlova?", {"Pavlova"}),
        ("What is on order 101?", {"Tofu"}),
        ("What does order 100 contain?", {"Pavlova", "Chai"}),
        ("How often did QUICK-Stop order in 1997?", {"1"}),
    ],
)
def test_answers(router: GraphRoute, question: str, answers: set[str]) -> None:
    bundle = router.retrieve(question, reader=Reader("x", ["public"]))
    assert {answer.display for answer in bundle.answers} == answers
