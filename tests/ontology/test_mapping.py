from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphroute.errors import ConfigurationError
from graphroute.ontology.mapping import check_mapping, dump_mapping, load_mapping, parse_mapping
from graphroute.types.mapping import DateMapping, DateOwner, GraphMapping, NodeMapping, RelationMapping
from graphroute.types.ontology import EntityType, Ontology, RelationType

TEXT = """
default_labels: [public]
nodes:
  Person: {key: id, names: [[first, last], nick], access: acl}
  "a `b`": {label: "  a `b`", key: "the key"}
relations:
  KNOWS: {from: Person, to: Person, date: {start: since, end: until}, parallel: true}
  HAD: {from: Person, to: "a `b`", date: {of: end, start: day}, key: no}
"""
characters = st.characters(exclude_categories=["Cc", "Cs"])
names = st.text(characters, min_size=1, max_size=12).filter(lambda text: text == text.strip())
properties = st.text(characters, min_size=1, max_size=12)


def test_a_mapping_reads_as_it_says() -> None:
    mapping = parse_mapping(TEXT, "here")
    assert mapping.default_labels == ("public",)
    assert mapping.nodes["Person"].names == (("first", "last"), ("nick",))
    assert mapping.nodes["a `b`"].label == "  a `b`"
    assert mapping.relations["KNOWS"].date == DateMapping(of=DateOwner.RELATION, start="since", end="until")
    assert mapping.relations["HAD"].key == "no"
    assert parse_mapping(dump_mapping(mapping, ["a comment\nof two lines"]), "again") == mapping


@given(
    st.lists(names, min_size=1, max_size=3, unique=True),
    properties,
    st.lists(st.lists(properties, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple),
    st.lists(properties, max_size=2, unique=True).map(tuple),
    st.none() | properties,
)
def test_a_mapping_comes_back_from_its_text(
    types: list[str], key: str, called: tuple[tuple[str, ...], ...], labels: tuple[str, ...], access: str | None
) -> None:
    mapping = GraphMapping(
        nodes={
            name: NodeMapping(name=name, label=f" {name}", key=key, names=called, access=access, source=access)
            for name in types
        },
        relations={
            name: RelationMapping(
                name=name, type=name, domain=(types[0],), range=tuple(types), key=access, access=access
            )
            for name in types
        },
        default_labels=labels,
    )
    assert parse_mapping(dump_mapping(mapping), "text") == mapping


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("nodes: {A: {names: [x]}}", "key"),
        ("nodes: {A: {key: id, name: x}}", "names"),
        ("nodes: {A: {key: id}}\nrelations: {R: {from: A, to: B}}", "'B' is not among the nodes"),
        ("nodes: {A: {key: id}}\nrelations: {R: {from: A, to: A, date: {of: both}}}", "relation"),
        ("nodes: {A: {key: 1}}", "number where text is due"),
    ],
)
def test_a_wrong_mapping_says_where(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError) as error:
        load_mapping(path)
    assert str(path) in str(error.value)
    assert message in str(error.value)


def test_an_ontology_has_only_what_is_mapped() -> None:
    mapping = parse_mapping("nodes: {A: {key: id}}", "here")
    check_mapping(mapping, Ontology(types={"A": EntityType(name="A")}))
    check_mapping(mapping, Ontology())
    with pytest.raises(ConfigurationError, match="relation 'R' of the ontology is not mapped"):
        check_mapping(
            mapping,
            Ontology(
                types={"A": EntityType(name="A")},
                relations={"R": RelationType(name="R", domain=("A",), range=("A",))},
            ),
        )
