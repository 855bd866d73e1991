"""Ontologies inferred from small made-up data sets of different domains."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest

from graphroute.indexing.ontology_inference import ProfileBuilder, infer_ontology
from graphroute.ontology.load import dump_ontology, parse_ontology
from graphroute.types.graph import Assertion
from graphroute.types.ontology import Ontology, RelationKind
from graphroute.types.source import Source, SourceSpan
from graphroute.types.time import Interval

DAY = 86_400_000_000
Step = Callable[[ProfileBuilder], None]


def source(
    id: str, text: str = "", *, kind: str | None = None, node: str | None = None, title: str = "", day: int | None = None,
    labels: Iterable[str] = ("public",),
) -> Step:  # fmt: skip
    validity = Interval(None if day is None else day * DAY)
    return lambda builder: builder.add_source(
        Source(id=id, title=title, text=text, labels=frozenset(labels), kind=kind, node=node, validity=validity)
    )


def fact(
    subject: str, predicate: str, obj: str, *, by: str = "d", start: int | None = None, end: int | None = None
) -> Step:
    interval = Interval(None if start is None else start * DAY, None if end is None else end * DAY)
    return lambda builder: builder.add_assertion(
        Assertion(
            id=f"{subject}|{predicate}|{obj}|{start}|{by}",
            subject=subject,
            predicate=predicate,
            object=obj,
            validity=interval,
            supports=((SourceSpan(by),),),
        )
    )


def entity(id: str, types: Iterable[str], *names: str) -> Step:
    return lambda builder: builder.add_entity(id, tuple(types), names)


def infer(steps: Iterable[Step], *, default_labels: Iterable[str] = ("public",)) -> Ontology:
    builder = ProfileBuilder(default_labels=default_labels)
    for step in steps:
        step(builder)
    return infer_ontology(builder.build())


def operations() -> list[Step]:
    """Services, changes, tickets: ids with prefixes, no entities file, one record a ticket and a change."""
    steps: list[Step] = []
    for number in range(1, 13):
        service, team = f"svc:service-{number % 4}", f"team:team-{number % 3}"
        change = f"chg:CHG-{480 + number}"
        text = (
            f"change_id: CHG-{480 + number}\nname: Renew certificate {number}\nrisk: {'high' if number % 2 else 'low'}\n"
            f"approval_date: {number + 12}/03/2024\nhours: {number}"
        )
        steps += [
            source(
                f"rec:change:CHG-{480 + number}", text, kind="change", title=f"CHG-{480 + number} Renew", day=number
            ),
            fact(change, "TOUCHES", service, by=f"rec:change:CHG-{480 + number}", start=number),
            fact(change, "APPROVED_BY", f"emp:e{number % 5}", by=f"rec:change:CHG-{480 + number}", start=number),
            fact(service, "OWNED_BY", team, by="catalogue", start=number * 10, end=number * 10 + 10),
            fact(service, "DEPENDS_ON", f"svc:service-{(number + 1) % 4}", by="wiki", start=1),
        ]
    return [
        *steps,
        source("wiki", "The catalogue says which service needs which.\nIt is prose."),
        source("catalogue", ""),
    ]


def test_operations() -> None:
    ontology = infer(operations())
    assert set(ontology.types) == {"svc", "team", "chg", "emp"}
    assert {"service", "application"} <= set(ontology.types["svc"].nouns)
    assert ontology.types["team"].agent
    assert ontology.types["emp"].agent
    assert not ontology.types["svc"].agent
    assert "change" in ontology.types["chg"].nouns
    touches, approved, owned, depends = (
        ontology.relations[name] for name in ("TOUCHES", "APPROVED_BY", "OWNED_BY", "DEPENDS_ON")
    )
    assert (touches.domain, touches.range) == (("chg",), ("svc",))
    assert touches.kind is approved.kind is RelationKind.EVENT
    assert owned.kind is depends.kind is RelationKind.STATE
    assert touches.complete
    assert owned.complete
    assert not depends.complete
    assert owned.functional
    assert {"touch", "affect"} <= set(touches.forward)
    assert "employee" in approved.object_nouns
    assert not any(relation.symmetric for relation in ontology.relations.values())
    assert ontology.types["chg"].patterns == (r"(?i)\bCHG[- ]?\d+\b",)
    (record,) = ontology.records
    assert (record.kind, record.type, record.id_field, record.names) == ("change", "chg", "change_id", ("name",))
    assert record.date_order == "DMY"
    attributes = {item.key: item for item in ontology.attributes["chg"]}
    assert attributes["risk"].enumerated
    assert attributes["hours"].kind == "number"
    assert attributes["approval_date"].kind == "date"
    assert {"approval date", "approve"} <= set(attributes["approval_date"].nouns)
    assert ontology.inferred


def test_overlapping_owners_are_not_functional() -> None:
    steps = [
        fact(f"svc:s{number}", "OWNED_BY", f"team:t{other}", start=1, end=9) for number in range(5) for other in (0, 1)
    ]
    assert not infer(steps).relations["OWNED_BY"].functional
    steps = [
        fact(f"svc:s{number}", "OWNED_BY", f"team:t{other}", start=other, end=other + 1)
        for number in range(5)
        for other in range(3)
    ]
    assert infer(steps).relations["OWNED_BY"].functional


def films() -> list[Step]:
    """Camel-case predicates, numeric ids, types from an entities file, some entities of two types."""
    steps: list[Step] = []
    for number in range(20):
        steps += [
            entity(str(number), ["film"], f"Film {number}"),
            fact(str(number), "directedBy", str(100 + number % 6), by=f"card{number}"),
            fact(str(number), "releaseYear", str(200 + number % 5), by=f"card{number}"),
            fact(str(number), "hasGenre", str(300 + number % 3), by=f"card{number}"),
            source(f"card{number}", f"title: Film {number}\ndirectedBy: Person {number % 6}\nruntime: {90 + number}"),
        ]
    steps += [entity(str(100 + number), ["person"], f"Person {number}") for number in range(6)]
    steps += [entity("105", ["film", "person"], "Five")]
    steps += [entity(str(200 + number), ["year"], str(1990 + number)) for number in range(5)]
    return steps + [entity(str(300 + number), ["genre"], f"Genre {number}") for number in range(3)]


def test_films() -> None:
    ontology = infer(films())
    directed, released = ontology.relations["directedBy"], ontology.relations["releaseYear"]
    assert (directed.domain, directed.range) == (("film",), ("person",)), "an entity of two types adds no type"
    assert directed.complete
    assert "direct" in directed.inverse
    assert "director" in directed.object_nouns
    assert ontology.types["year"].temporal
    assert {"release year", "year"} <= set(released.object_nouns)
    assert "release" in released.forward
    assert {"movie", "film"} <= set(ontology.types["film"].nouns)
    assert [item.key for item in ontology.attributes["film"]] == ["runtime"]
    assert ontology.records[0].names == ("title",)


def test_names_as_ids_get_types_from_their_relations() -> None:
    steps = [
        fact(f"Film {number}", predicate, obj)
        for number in range(12)
        for predicate, obj in (
            ("directed_by", f"Ann {'abcde'[number % 5]}"),
            ("written_by", f"Ann {'abcd'[number % 4]}"),
            ("has_genre", ("Drama", "War")[number % 2]),
        )
    ]
    ontology = infer(steps)
    assert ontology.relations["directed_by"].range == ontology.relations["written_by"].range
    assert ontology.relations["directed_by"].range != ontology.relations["has_genre"].range
    assert ontology.types[ontology.relations["directed_by"].range[0]].agent
    assert ontology.relations["directed_by"].domain == ontology.relations["has_genre"].domain


@pytest.mark.parametrize(
    ("person", "company", "relation"),
    [("сотрудник", "компания", "работает_в"), ("员工", "公司", "任职于")],
)
def test_other_languages(person: str, company: str, relation: str) -> None:
    ontology = infer(fact(f"{person}:{number}", relation, f"{company}:{number % 3}") for number in range(9))
    assert ontology.types[person].agent
    assert ontology.types[company].nouns[0] == company
    assert ontology.relations[relation].domain == (person,)
    assert company in ontology.relations[relation].object_nouns


def test_restricted_sources_are_marked() -> None:
    steps = [
        source("open", labels=["public"]),
        source("shut", labels=["hr"]),
        *(fact(f"emp:{number}", "WORKS_IN", f"dept:{number % 2}", by="open") for number in range(4)),
        *(fact(f"emp:{number}", "EARNS", f"grade:{number % 2}", by="shut") for number in range(4)),
    ]
    ontology = infer(steps)
    assert ontology.types["grade"].restricted
    assert ontology.relations["EARNS"].restricted
    assert not ontology.types["emp"].restricted
    assert not ontology.relations["WORKS_IN"].restricted


def test_own_words_win_over_synonyms() -> None:
    steps = [
        fact(f"doc:{number}", name, f"person:{number % 3}")
        for number in range(6)
        for name in ("AUTHORED_BY", "WRITTEN_BY", "APPROVED_BY")
    ]
    relations = infer(steps).relations
    assert "write" not in relations["AUTHORED_BY"].inverse
    assert "author" not in relations["WRITTEN_BY"].inverse
    assert "write" in relations["WRITTEN_BY"].inverse
    alone = infer(fact(f"doc:{number}", "AUTHORED_BY", f"person:{number % 3}") for number in range(6))
    assert "write" in alone.relations["AUTHORED_BY"].inverse


def test_documents_that_are_entities_have_titles_as_names_and_codes() -> None:
    steps: list[Step] = []
    for number in range(12):
        steps.append(
            source(f"r:{number}", "Some prose of a rule.", title=f"{('ABC', 'XYZ')[number % 2]} {number}.1.2.(a)")
        )
        steps.append(fact(f"r:{number}", "REFERS_TO", f"r:{(number + 1) % 12}", by=f"r:{number}"))
    ontology = infer(steps)
    assert ontology.titles_are_names
    assert {"provision", "document"} <= set(ontology.types["r"].nouns)
    (pattern,) = [pattern for pattern in ontology.types["r"].patterns if "ABC" in pattern]
    import re2

    assert re2.search(pattern, "What does XYZ 12.8.27 require?").group() == "XYZ 12.8.27"
    assert not re2.search(pattern, "in 1996, ISO 9001.2")
    assert not ontology.relations["REFERS_TO"].complete


def test_ids_of_random_letters_give_no_pattern() -> None:
    generator = random.Random(4)
    ids = ["".join(generator.choices("abcdef0123456789", k=12)) for _ in range(60)]
    ontology = infer(fact(f"user:{one}", "KNOWS", f"user:{other}") for one, other in pairwise(ids))
    assert ontology.types["user"].patterns == ()


def test_load_order_does_not_matter() -> None:
    steps = [*operations(), *films()]
    expected = dump_ontology(infer(steps))
    for seed in range(3):
        shuffled = list(steps)
        random.Random(seed).shuffle(shuffled)
        assert dump_ontology(infer(shuffled)) == expected


def test_an_inferred_ontology_can_be_written_out_and_read_back() -> None:
    for steps in (operations(), films()):
        ontology = infer(steps)
        assert parse_ontology(dump_ontology(ontology), "inferred.yaml") == ontology


def test_a_sample_keeps_counts_whole() -> None:
    builder = ProfileBuilder(sample=50)
    for number in range(2_000):
        fact(f"a:{number}", "USES", f"b:{number % 7}")(builder)
    (predicate,) = builder.build().predicates
    assert predicate.facts == 2_000
    assert 1_000 < predicate.subjects < 4_000
    assert predicate.most_at_once == 1


def test_no_data_gives_an_empty_ontology() -> None:
    assert infer([]) == Ontology(inferred=True)
