"""The bundled corpus: what is committed is what the generator writes, it holds together, and it runs end to end."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphroute import GraphRoute
from graphroute.config.load import load_routes
from graphroute.evaluation.dataset import Dataset, load_dataset
from graphroute.evaluation.question_set import Question, load_questions
from graphroute.indexing.ingest import ingest
from graphroute.ontology.load import load_ontology
from graphroute.pipeline.assembly import assemble
from graphroute.pipeline.engine import parse_as_of
from graphroute.retrieval.contract import Contract, ContractResult, load_contracts, run_contract
from graphroute.types.ontology import Ontology, RelationKind
from graphroute.types.reader import Reader

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "evals" / "datasets" / "meridian"
ONTOLOGY = ROOT / "schema" / "ontology.yaml"
CONTRACTS = ROOT / "schema" / "contracts"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(FOLDER)


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return load_questions([FOLDER / "questions.dev.jsonl"])


@pytest.fixture(scope="module")
def ontology() -> Ontology:
    return load_ontology(ONTOLOGY)


@pytest.fixture(scope="module")
def documents() -> dict[str, dict[str, Any]]:
    return {row["doc_id"]: row for row in rows("docs.jsonl")}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "store.sqlite"
    report = ingest(FOLDER, path, ontology=load_ontology(ONTOLOGY), vectors=False)
    assert not report.bad_rows
    assert not report.hidden
    assert not report.unmapped
    return path


# Generation


def check(folder: Path, seed: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "corpus.py"), "--check", "--out", str(folder)]
    environment = os.environ | {"PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, check=False)


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_the_generator_writes_the_committed_bytes(seed: str) -> None:
    done = check(FOLDER, seed)
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_changed_byte_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "meridian"
    shutil.copytree(FOLDER, folder)
    text = (folder / "docs.jsonl").read_bytes()
    (folder / "docs.jsonl").write_bytes(text.replace(b"Meridian", b"meridian", 1))
    done = check(folder, "0")
    assert done.returncode == 1
    assert "docs.jsonl is not what" in done.stdout


def test_the_generator_knows_the_ontology(ontology: Ontology, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    gold, build = importlib.import_module("meridian.gold"), importlib.import_module("meridian.build")
    events = {name for name, relation in ontology.relations.items() if relation.kind is RelationKind.EVENT}
    assert events == gold.EVENTS
    ages = {name: relation.max_age_days for name, relation in ontology.relations.items() if relation.max_age_days}
    assert ages == build.MAX_AGE_DAYS


def test_its_size() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_500_000
    assert len(rows("docs.jsonl")) >= 300
    assert len(rows("edges.jsonl")) >= 1500


# Facts


def test_every_document_has_labels_and_text(documents: dict[str, dict[str, Any]]) -> None:
    for row in documents.values():
        assert row["labels"], row["doc_id"]
        assert row["text"].strip(), row["doc_id"]
        assert row["title"].strip(), row["doc_id"]


def spans(edge: dict[str, Any]) -> list[tuple[str, int, int]]:
    if "source_id" in edge:
        return [(edge["source_id"], *edge["source_span"])]
    return [(member["source"], *member["span"]) for group in edge["supports"] for member in group]


def test_facts_fit_the_ontology_and_their_spans_the_texts(
    ontology: Ontology, documents: dict[str, dict[str, Any]]
) -> None:
    types = {row["id"]: row["type"] for row in rows("entities.jsonl")}
    assert set(types.values()) == set(ontology.types)
    used = set()
    for edge in rows("edges.jsonl"):
        relation = ontology.relations[edge["r"]]
        used.add(edge["r"])
        assert types[edge["s"]] in relation.domain, edge["edge_id"]
        assert types[edge["o"]] in relation.range, edge["edge_id"]
        for source, low, high in spans(edge):
            row = documents[source]
            assert row["text"][low:high].strip(), edge["edge_id"]
            assert not relation.sources or row["kind"] in relation.sources, edge["edge_id"]
    assert used == set(ontology.relations)


def test_it_has_joint_and_mixed_supports(dataset: Dataset) -> None:
    joint = [edge for edge in dataset.edges.values() if any(len(group) > 1 for group in edge.supports)]
    mixed = [
        edge
        for edge in dataset.edges.values()
        if len({dataset.labels[next(iter(group))] for group in edge.supports if len(group) == 1}) > 1
    ]
    assert len(joint) >= 20
    assert len(mixed) >= 10


def test_the_confidential_project_is_named_where_it_may_be_read_only(documents: dict[str, dict[str, Any]]) -> None:
    naming = [row for row in documents.values() if "lyra" in (row["title"] + row["text"]).casefold()]
    assert len(naming) == 2
    assert all(row["labels"] == ["lyra"] for row in naming)


# Questions


def test_families_and_languages(questions: list[Question]) -> None:
    families = Counter(question.family for question in questions)
    assert len(questions) >= 120
    assert len(families) == 8
    assert min(families.values()) >= 12
    foreign = [
        question
        for question in questions
        if question.family in {"single_fragment", "exact_id"}
        and any("\u0400" <= letter <= "\u04ff" or "\u4e00" <= letter <= "\u9fff" for letter in question.text)
    ]
    assert len(foreign) >= 20


def test_gold_can_be_reached_by_its_reader(dataset: Dataset, questions: list[Question]) -> None:
    for question in questions:
        labels = dataset.reader(question).labels
        assert labels, question.qid
        for group in question.required_sources:
            assert all(dataset.readable(document, labels) for document in group), question.qid
        for edge in question.required_edges:
            assert dataset.proven(dataset.edges[edge], labels), question.qid
        for path in question.one_path.values():
            assert set(path) <= set(question.required_edges), question.qid
        for document in question.stale_sources:
            assert dataset.readable(document, labels), question.qid
            assert not any(document in group for group in question.required_sources), question.qid
        for document in question.forbidden_sources - question.stale_sources:
            assert not dataset.readable(document, labels), question.qid
        known = {*dataset.names}
        assert set(question.answer_ids) <= known, question.qid
        assert {topic for topic in question.topics if ":" in topic} <= known, question.qid


def test_denied_questions_have_answers_for_others(dataset: Dataset, questions: list[Question]) -> None:
    """Somebody may know what the reader of a denied question may not; that is what tells them from absent ones."""
    director = Reader("director", dataset.readers["director"])
    denied = [question for question in questions if question.subtype == "denied"]
    assert len(denied) >= 8
    for question in denied:
        for document in question.forbidden_sources:
            assert dataset.readable(document, director.labels)


# Running


def run(store: Path, name: str, labels: list[str], **arguments: str) -> tuple[Contract, ContractResult]:
    parts = assemble(store, load_routes(None), ontology=None, log=None)
    try:
        contract = load_contracts(CONTRACTS, parts.ontology)[name]
        view = parts.backends.catalog.view(reader=Reader("reader", labels))
        instant = parse_as_of("2026-06-15")
        return contract, run_contract(contract, arguments, backends=parts.backends, view=view, instant=instant)
    finally:
        parts.close()


def test_vendors_with_an_open_critical_issue(store: Path, questions: list[Question]) -> None:
    question = next(question for question in questions if question.subtype == "contract")
    _, result = run(
        store, "vendors_with_open_critical_issue", ["public", "staff", "support", "security", "procurement"]
    )
    assert {row.ids["vendor"] for row in result.rows} == set(question.answer_ids)
    assert all(spans for row in result.rows for _, spans in row.evidence)
    _, none = run(store, "vendors_with_open_critical_issue", ["public"])
    assert not none.rows


def test_the_walk_through_has_seven_paths_before_age_is_looked_at(store: Path) -> None:
    _, result = run(store, "customers_touched_by_change", ["public", "staff", "support"], change="change:CHG-482")
    assert len(result.rows) == 7
    assert {row.ids["cluster"] for row in result.rows} == {"cluster:db-eu-3"}
    assert {"customer:harrow-and-pike", "customer:medwell-supply"} < {row.ids["customer"] for row in result.rows}
    _, inactive = run(
        store,
        "customers_touched_by_change",
        ["public", "staff", "support"],
        change="change:CHG-482",
        status="suspended",
    )
    assert {row.ids["customer"] for row in inactive.rows} == {"customer:volzhskaya-manufaktura"}


# The whole path


def test_the_walk_through_holds_in_the_bundle(store: Path) -> None:
    """Seven paths lead from the described change to active enterprise customers, two rest on records past their age."""
    question = (
        "Which active enterprise customers depend on services touched by last Friday's database certificate change?"
    )
    labels = ["public", "staff", "support"]
    with GraphRoute.open(store) as router:
        trace = router.explain(question, reader=Reader("support-agent", labels), as_of="2026-06-15")
    bundle = trace.bundle
    assert {answer.display for answer in bundle.answers} == {
        "Brightwater Foods",
        "Castellane Parfums",
        "Oakhollow Outfitters",
        "青岚物流",
        "Северный экспресс",
    }
    assert (bundle.paths_returned, bundle.paths_rejected_as_stale) == (7, 2)
    assert set(bundle.anchors) >= {"change:CHG-482", "cluster:db-eu-3"}
    assert "policy:POL-07@2024-01-01" not in bundle.sources
    assert not bundle.abstained
    assert trace.attempts[0].decision.route == "facts"


def test_the_confidential_project_is_unknown_to_readers_without_its_label(store: Path) -> None:
    with GraphRoute.open(store) as router:
        asked = [
            router.retrieve("Who works on Project Lyra?", reader=Reader("x", labels), as_of="2026-06-15")
            for labels in (["public", "staff"], ["public", "staff", "lyra"])
        ]
    assert not asked[0].answers
    assert asked[0].abstained
    assert "project:lyra" not in repr(asked[0]).casefold()
    assert asked[1].answers
    assert not asked[1].abstained


def test_the_owner_is_the_one_of_the_moment_of_the_approval(store: Path) -> None:
    question = "Who owned checkout when release R17 was approved?"
    with GraphRoute.open(store) as router:
        bundle = router.retrieve(question, reader=Reader("x", ["public", "staff"]), as_of="2026-06-15")
    assert [answer.id for answer in bundle.answers] == ["person:mara-okafor"]
    assert "directory:current" not in bundle.sources
    assert {"deploy:R17", "directory:2026-05-12"} <= set(bundle.sources)
