"""A graph in three languages, with odd names, dates and values: from `init` to answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from graphroute.config.load import load_routes
from graphroute.indexing.graph_inference import InferredGraph, infer_graph
from graphroute.ontology.load import dump_ontology
from graphroute.ontology.mapping import FILE_NAME, dump_mapping
from graphroute.pipeline.engine import GraphRoute
from graphroute.stores.mapped.schema import is_unique, read_schema
from graphroute.testing.property_graph import clinic
from graphroute.types.mapping import DateOwner
from graphroute.types.ontology import RelationKind
from graphroute.types.reader import Reader

PUBLIC = Reader("public", ["public"])


@pytest.fixture(scope="module", params=["5.26", "2026"])
def opened(
    request: pytest.FixtureRequest,
    neo4j_lease: Callable[[str], AbstractContextManager[Any]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[InferredGraph, GraphRoute]]:
    """The clinic on a server of each release, its inferred ontology and mapping, and a router over it."""
    with neo4j_lease(request.param) as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment().items():
            patch.setenv(name, value)
        with server.connect() as connection:
            clinic().put(connection)
            schema = read_schema(connection)
            found = infer_graph(
                schema, lambda label, name: is_unique(connection, label, name), default_labels=["public"]
            )
        folder = tmp_path_factory.mktemp("clinic")
        (folder / "ontology.yaml").write_text(dump_ontology(found.ontology), encoding="utf-8")
        (folder / FILE_NAME).write_text(dump_mapping(found.mapping, found.unclear), encoding="utf-8")
        shipped = load_routes(None)
        patient = shipped.model_copy(update={"deadlines": shipped.deadlines.model_copy(update={"graph": 20_000})})
        with GraphRoute.open(server.uri, ontology=folder / "ontology.yaml", routes=patient) as router:
            yield found, router


def test_keys_names_and_dates_are_found(opened: tuple[InferredGraph, GraphRoute]) -> None:
    mapping = opened[0].mapping
    assert {name: node.key for name, node in mapping.nodes.items()} == {
        "Clinic `Visit`": "visitId",
        "Patient": "patientNumber",
        "Doctor": "doctor_id",
        "Drug": "drug_code",
        "Ward": "code",
        "Surgeon": "doctor_id",
    }
    assert mapping.nodes["Doctor"].names[0] == ("first_name", "last_name")
    assert mapping.nodes["Patient"].names == (("fullName",),)
    assert mapping.nodes["Drug"].names == (("title",),)
    treated = mapping.relations["TREATED_BY"].date
    assert treated is not None
    assert (treated.of, treated.start) == (DateOwner.START, "visitDate")
    supervised = mapping.relations["SUPERVISED_BY"].date
    assert supervised is not None
    assert (supervised.of, supervised.start, supervised.end) == (DateOwner.RELATION, "since", "until")
    kinds = {name: relation.kind for name, relation in opened[0].ontology.relations.items()}
    assert kinds["TREATED_BY"] is RelationKind.EVENT
    assert kinds["SUPERVISED_BY"] is RelationKind.STATE


@pytest.mark.parametrize(
    "part",
    [
        "'Orphan': no property identifies its 2 nodes",
        "notes holds up to 10 MB",
        "price has values of several types (FLOAT 3, STRING 1)",
    ],
)
def test_what_is_unclear_is_said(opened: tuple[InferredGraph, GraphRoute], part: str) -> None:
    assert any(part in doubt for doubt in opened[0].unclear)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which doctors treated Сергей Волков?", {"Анна Петрова", "Иван Сидоров"}),
        ("Who treated 李娜?", {"王伟"}),
        ("Which patients did 王伟 treat?", {"李娜", "张伟"}),
        ("Which patients were treated by Анна Петрова in June 2024?", {"Дмитрий Орлов"}),
        ("Which patients were treated by Анна Петрова?", {"Сергей Волков", "Дмитрий Орлов", "Emma Stone"}),
        ("Which patients did Maria Lopez treat before March 2024?", {"Chloe Martin"}),
        ("Which patients were treated by 王伟 in May 2024?", {"张伟"}),
        ("What was prescribed in visit 1000?", {"Aspirin", "Ибупрофен"}),
        ("Which drugs were prescribed to Сергей Волков?", {"Aspirin", "Ибупрофен"}),
        ("Which patients got 阿莫西林?", {"李娜", "张伟"}),
        ("Who supervises Иван Сидоров?", {"Анна Петрова"}),
        ("Who was the supervisor of Maria Lopez in 2021?", {"Анна Петрова"}),
        ("Who is the supervisor of Maria Lopez?", set()),
        ("Which wards did Chloe Martin visit?", {"North Ward"}),
        ("How many patients are in 儿科病房?", {"2"}),
        ("Which patients from Lyon were treated by Иван Сидоров?", {"Наталья Крылова"}),
        ("Which surgeons treated Наталья Крылова?", {"Иван Сидоров"}),
        ("What is the specialty of John Smith?", {"pediatrics"}),
        ("Who sued John Smith?", set()),
        ("Who treated Fabio Nessuno?", set()),
    ],
)
def test_answers(opened: tuple[InferredGraph, GraphRoute], question: str, answers: set[str]) -> None:
    bundle = opened[1].retrieve(question, reader=PUBLIC)
    assert not bundle.degraded
    assert {answer.display for answer in bundle.answers} == answers
    assert bundle.abstained is not bool(answers)


def test_evidence_names_relationships_by_type_and_keys(opened: tuple[InferredGraph, GraphRoute]) -> None:
    bundle = opened[1].retrieve("Who supervises Иван Сидоров?", reader=PUBLIC)
    (unit,) = bundle.units
    assert unit.path is not None
    assert [hop.fact.assertion_ids for hop in unit.path.hops] == [("SUPERVISED_BY/2/1",)]
    assert unit.path.nodes == ("Doctor/2", "Doctor/1")
    assert bundle.supports["SUPERVISED_BY/2/1"][0].span.source_id == "SUPERVISED_BY/2/1"


def test_a_value_is_shown_in_the_record_of_its_node(opened: tuple[InferredGraph, GraphRoute]) -> None:
    bundle = opened[1].retrieve("What is the specialty of John Smith?", reader=PUBLIC)
    (unit,) = bundle.units
    assert unit.passage is not None
    assert unit.passage.source_id == "Doctor/5"
    assert "specialty: pediatrics" in unit.passage.text


@pytest.mark.parametrize("labels", [(), ("other",), ("Public",), ("*",)])
def test_nobody_else_sees_anything(opened: tuple[InferredGraph, GraphRoute], labels: tuple[str, ...]) -> None:
    bundle = opened[1].retrieve("Who treated 李娜?", reader=Reader("x", labels))
    assert (bundle.answers, bundle.units, bundle.entities) == ((), (), {})
