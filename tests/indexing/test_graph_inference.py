from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from graphroute.indexing.graph_inference import InferredGraph, infer_graph
from graphroute.stores.mapped.schema import GraphSchema, LabelShape, PropertyShape, TypeShape
from graphroute.types.mapping import DateMapping, DateOwner
from graphroute.types.ontology import RelationKind


def shape(name: str, values: list[Any], kind: str = "STRING", count: int | None = None) -> PropertyShape:
    texts = tuple(dict.fromkeys(str(value) for value in values))
    return PropertyShape(
        name=name, count=count or len(values), distinct=len(texts), kinds={kind: count or len(values)},
        length=max(map(len, texts)), sample=texts,
    )  # fmt: skip


def label(name: str, count: int, *properties: PropertyShape, **more: Any) -> LabelShape:
    return LabelShape(name=name, count=count, sampled=count, properties={p.name: p for p in properties}, **more)


def kind(
    name: str, start: str, end: str, count: int = 10, *properties: PropertyShape, parallel: bool = False, **more: Any
) -> TypeShape:
    return TypeShape(
        name=name, count=count, sampled=count, ends={((start,), (end,)): count}, starts=count, finishes=count, parallel=parallel,
        properties={p.name: p for p in properties}, **more,
    )  # fmt: skip


def infer(labels: list[LabelShape], types: list[TypeShape] = [], **options: Any) -> InferredGraph:  # noqa: B006
    schema = GraphSchema(labels={one.name: one for one in labels}, types={one.name: one for one in types})
    return infer_graph(schema, lambda label, name: True, **options)


NUMBERS = list(range(1, 11))
WORDS = ["Ann Lee", "Bob Ray", "Cy Dunn", "Di Fox", "Ed Hill", "Flo Ives", "Gus Jay", "Hal Kerr", "Ida Lowe", "Jo Mann"]


@pytest.mark.parametrize(
    ("properties", "key"),
    [
        ([shape("personId", NUMBERS, "INTEGER"), shape("age", NUMBERS, "INTEGER")], "personId"),
        ([shape("id", WORDS), shape("name", WORDS)], "id"),
        ([shape("name", WORDS), shape("age", [1] * 10, "INTEGER")], "name"),
        ([shape("номер", NUMBERS, "INTEGER"), shape("имя", WORDS)], "номер"),
        ([shape("人员编号", NUMBERS, "INTEGER"), shape("姓名", WORDS)], "人员编号"),
        ([shape("person_uuid", WORDS), shape("rank", NUMBERS, "INTEGER")], "person_uuid"),
    ],
)
def test_the_key_is_what_is_unique_and_called_so(properties: list[PropertyShape], key: str) -> None:
    assert infer([label("Person", 10, *properties)]).mapping.nodes["Person"].key == key


def test_a_constraint_decides() -> None:
    found = infer(
        [label("Person", 10, shape("id", NUMBERS, "INTEGER"), shape("badge", WORDS), unique=frozenset({"badge"}))]
    )
    assert found.mapping.nodes["Person"].key == "badge"


def test_a_label_without_a_key_is_left_out_and_said() -> None:
    found = infer(
        [label("Note", 10, shape("text", ["same"] * 10)), label("Person", 10, shape("id", NUMBERS, "INTEGER"))]
    )
    assert list(found.mapping.nodes) == ["Person"]
    assert any("'Note': no property identifies its 10 nodes" in doubt for doubt in found.unclear)


@pytest.mark.parametrize(
    ("properties", "names"),
    [
        ([shape("firstName", WORDS), shape("lastName", WORDS)], (("firstName", "lastName"), ("lastName",))),
        ([shape("companyName", WORDS), shape("contactName", WORDS)], (("companyName",),)),
        ([shape("title", WORDS), shape("aliases", WORDS, "LIST<STRING>")], (("title",), ("aliases",))),
        ([shape("personDescription", WORDS), shape("phone", WORDS)], (("personDescription",),)),
        ([shape("имя", WORDS), shape("фамилия", WORDS)], (("имя", "фамилия"), ("фамилия",))),
        ([shape("姓名", WORDS)], (("姓名",),)),
        ([shape("email", WORDS)], ()),
        ([shape("title", ["Manager"] * 10), shape("handle", WORDS)], (("handle",),)),
    ],
)
def test_names(properties: list[PropertyShape], names: tuple[tuple[str, ...], ...]) -> None:
    assert (
        infer([label("Person", 10, shape("id", NUMBERS, "INTEGER"), *properties)]).mapping.nodes["Person"].names
        == names
    )


DAYS = [f"2024-01-{number:02d}" for number in NUMBERS]


@pytest.mark.parametrize(
    ("order", "relation", "expected"),
    [
        ([shape("orderDate", DAYS)], [], DateMapping(of=DateOwner.END, start="orderDate")),
        ([shape("date", [f"{n:02d}.01.2024" for n in NUMBERS])], [], DateMapping(of=DateOwner.END, start="date")),
        (
            [shape("placedAt", [1_704_067_200 + n for n in NUMBERS], "INTEGER")],
            [],
            DateMapping(of=DateOwner.END, start="placedAt"),
        ),
        ([shape("orderDate", DAYS)], [shape("since", DAYS)], DateMapping(start="since")),
        ([], [shape("from", DAYS), shape("to", DAYS)], DateMapping(start="from", end="to")),
        ([], [shape("when", DAYS)], DateMapping(start="when")),
        ([shape("updated", DAYS)], [], None),
        ([shape("quantity", NUMBERS, "INTEGER")], [], None),
    ],
)
def test_dates(order: list[PropertyShape], relation: list[PropertyShape], expected: DateMapping | None) -> None:
    found = infer(
        [
            label("Customer", 10, shape("id", NUMBERS, "INTEGER")),
            label("Order", 10, shape("id", NUMBERS, "INTEGER"), *order),
        ],
        [kind("PLACED", "Customer", "Order", 10, *relation)],
    )
    assert found.mapping.relations["PLACED"].date == expected
    lasting = expected is not None and (expected.end is not None or expected.start == "since")
    event = expected is not None and not lasting
    assert found.ontology.relations["PLACED"].kind is (RelationKind.EVENT if event else RelationKind.STATE)


def test_a_date_of_the_verb_dates_its_relation() -> None:
    labels = [
        label("Order", 10, shape("id", NUMBERS, "INTEGER"), shape("orderDate", DAYS), shape("shippedDate", DAYS)),
        label("Shipper", 10, shape("id", NUMBERS, "INTEGER")),
    ]
    found = infer(labels, [kind("SHIPPED_BY", "Order", "Shipper")])
    assert found.mapping.relations["SHIPPED_BY"].date == DateMapping(of=DateOwner.START, start="shippedDate")


def test_what_may_limit_access_closes_or_is_asked() -> None:
    labels = [
        label(
            "Doc",
            10,
            shape("id", NUMBERS, "INTEGER"),
            shape("acl", ["red"] * 10, "LIST<STRING>"),
            shape("source", WORDS),
        ),
        label("Case", 10, shape("id", NUMBERS, "INTEGER"), shape("classification", ["A"] * 10)),
    ]
    found = infer(labels)
    assert (found.mapping.nodes["Doc"].access, found.mapping.nodes["Doc"].source) == ("acl", "source")
    assert found.mapping.nodes["Case"].access is None
    assert any("does classification say who may read it" in doubt for doubt in found.unclear)
    assert any("'Case' lack an access property" in doubt for doubt in found.unclear)
    assert not any("lack an access" in doubt for doubt in infer(labels, default_labels=["public"]).unclear)


def test_parallel_relationships_need_a_key() -> None:
    labels = [label("A", 10, shape("id", NUMBERS, "INTEGER")), label("B", 10, shape("id", NUMBERS, "INTEGER"))]
    paid = kind("PAID", "A", "B", 10, shape("paymentId", NUMBERS, "INTEGER"), parallel=True)
    found = infer(labels, [paid, kind("SAW", "A", "B", parallel=True)])
    assert (found.mapping.relations["PAID"].key, found.mapping.relations["PAID"].parallel) == ("paymentId", True)
    assert found.mapping.relations["SAW"].key is None
    assert any("'SAW': several join the same two nodes" in doubt for doubt in found.unclear)


def test_a_label_within_another_is_a_type_of_its_own_on_its_relations() -> None:
    labels = [
        label("Doctor", 10, shape("id", NUMBERS, "INTEGER"), beside={"Surgeon": 4}),
        label("Surgeon", 4, shape("id", NUMBERS[:4], "INTEGER"), beside={"Doctor": 4}),
    ]
    ends: Mapping[Any, int] = {(("Doctor", "Surgeon"), ("Doctor",)): 3, (("Doctor",), ("Doctor",)): 2}
    reports = TypeShape(
        name="REPORTS_TO", count=5, sampled=5, ends=ends, starts=5, finishes=2, parallel=False, properties={}
    )
    found = infer(labels, [reports])
    assert found.mapping.relations["REPORTS_TO"].domain == ("Doctor",)
    assert found.ontology.relations["REPORTS_TO"].domain == ("Doctor", "Surgeon")


def test_attributes_keep_their_values_apart_from_texts() -> None:
    found = infer(
        [
            label(
                "Product", 10, shape("id", NUMBERS, "INTEGER"), shape("name", WORDS), shape("price", [1.5] * 10, "FLOAT"),
                shape("colour", ["red", "blue"] * 5), shape("discontinued", ["true", "false"] * 5, "BOOLEAN"),
                shape("body", ["x" * 200_000] * 10), shape("made", DAYS),
            )
        ]
    )  # fmt: skip
    kinds = {item.key: (item.kind, item.enumerated) for item in found.ontology.attributes["Product"]}
    assert kinds == {
        "price": ("number", False),
        "colour": ("text", True),
        "discontinued": ("text", True),
        "made": ("date", False),
    }
    assert any("body holds up to 200,000 characters" in doubt for doubt in found.unclear)


def test_who_places_an_order_buys() -> None:
    labels = [
        label("Customer", 10, shape("id", NUMBERS, "INTEGER")),
        label("Order", 10, shape("id", NUMBERS, "INTEGER")),
    ]
    forward = infer(labels, [kind("PLACED", "Customer", "Order")]).ontology.relations["PLACED"].forward
    assert {"place", "buy", "purchase"} <= set(forward)


def test_what_an_order_holds_is_sold_in_it() -> None:
    labels = [
        label("Order", 10, shape("id", NUMBERS, "INTEGER")),
        label("Product", 10, shape("id", NUMBERS, "INTEGER"), shape("name", WORDS)),
    ]
    forward = infer(labels, [kind("ORDERS", "Order", "Product")]).ontology.relations["ORDERS"].forward
    assert {"order", "contain", "buy", "sell"} <= set(forward)


CODES = [f"db-{number:02}" for number in NUMBERS]


@pytest.mark.parametrize(
    ("properties", "names"),
    [
        ([shape("hostname", CODES)], (("hostname",),)),
        ([shape("number", CODES), shape("summary", ["disk failure"] * 10)], (("number",),)),
        ([shape("инвентарный номер", CODES)], (("инвентарный номер",),)),
        ([shape("设备编号", [f"设备{number}" for number in NUMBERS])], (("设备编号",),)),
        ([shape("rack", CODES)], (("rack",),)),
        # What is called a name is shown; what tells nodes apart is one more name.
        ([shape("serial", CODES), shape("name", WORDS)], (("name",), ("serial",))),
        ([shape("serial", CODES), shape("hostname", [f"h{n}" for n in NUMBERS])], (("hostname",), ("serial",))),
        ([shape("rack", ["r-1", "r-2"] * 5)], ()),
        ([shape("phone", CODES)], ()),
        ([shape("checksum", [f"a{number:064x}" for number in NUMBERS])], ()),
        ([shape("bought", [f"2020-03-{number:02}" for number in NUMBERS])], ()),
    ],
)
def test_what_tells_nodes_apart_is_a_name(properties: list[PropertyShape], names: tuple[tuple[str, ...], ...]) -> None:
    found = infer([label("Server", 10, shape("id", NUMBERS, "INTEGER"), *properties)])
    assert found.mapping.nodes["Server"].names == names


def test_it_is_said_what_is_taken_for_a_name() -> None:
    found = infer([label("Server", 10, shape("id", NUMBERS, "INTEGER"), shape("hostname", CODES))])
    assert found.unclear[0] == (
        "label 'Server': hostname tells its nodes apart and is taken for a name of theirs, whose values are shown"
    )


@pytest.mark.parametrize(
    ("name", "mutual"),
    [
        ("MARRIED_TO", True),
        ("FRIEND_OF", True),
        ("marriedTo", True),
        ("SIBLING_OF", True),
        ("КОЛЛЕГА", True),
        ("同事", True),
        ("REPORTS_TO", False),
        ("KNOWS", False),
        ("AMENDS", False),
        ("PARENT_OF", False),
        ("DEPENDS_ON", False),
    ],
)
def test_a_relation_that_says_the_same_of_both_ends_is_symmetric(name: str, mutual: bool) -> None:
    people = label("Person", 10, shape("id", NUMBERS, "INTEGER"), shape("name", WORDS))
    firm = label("Firm", 10, shape("id", NUMBERS, "INTEGER"), shape("name", WORDS))
    found = infer([people], [kind(name, "Person", "Person")])
    assert found.ontology.relations[name].symmetric is mutual
    assert any("is read both ways" in line for line in found.unclear) is mutual
    assert not infer([people, firm], [kind(name, "Person", "Firm")]).ontology.relations[name].symmetric


def test_a_possessive_label_is_a_plural() -> None:
    teams = label("Team`s", 10, shape("id", NUMBERS, "INTEGER"), shape("name", WORDS))
    assert "team" in infer([teams]).ontology.types["Team`s"].nouns
