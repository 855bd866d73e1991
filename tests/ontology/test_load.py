"""Reading and writing ontology files: exact round trip, and errors that name file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphroute.errors import ConfigurationError
from graphroute.ontology.load import dump_ontology, load_ontology, parse_ontology
from graphroute.types.ontology import AttributeType, EntityType, Ontology, RecordType, RelationKind, RelationType

WRITTEN = """\
types:
  kep: {nouns: [KEP, enhancement], display: "KEP-{local}", patterns: ["(?i)KEP-\\\\d+"]}
  person: {nouns: [person, человек, 人], agent: true, display: "@{local}"}
  group: {nouns: [SIG, группа, 小组]}
relations:
  OWNED_BY: {from: kep, to: group, complete: true, inverse: [own, be responsible for], object_nouns: [owner, owning sig]}
  CHAIRS: {from: [person], to: group, forward: [chair], subject_nouns: [chair], max_age_days: 30}
  RELEASED: {from: [kep], to: [group, person], kind: event}
  NO: {from: kep, to: kep, symmetric: true}
attributes:
  kep: {creation-date: {nouns: [creation date], kind: date}, title: }
records:
  - {kind: kep_yaml, names: [title], attributes: {creation-date: creation-date, "*": "*"}}
  - {kind: user, type: person, id_field: user_id, date_order: DMY}
identifier_patterns: ["CHG-[0-9]+"]
source_authority: {kep_yaml: 1, prose: 0.5}
titles_are_names: true
"""


def test_reads_every_part() -> None:
    ontology = parse_ontology(WRITTEN, "o.yaml")
    assert ontology.types["person"].nouns == ("person", "человек", "人")
    assert ontology.relations["OWNED_BY"].range == ("group",)
    assert ontology.relations["CHAIRS"].max_age_days == 30.0
    assert ontology.relations["RELEASED"].kind is RelationKind.EVENT
    assert ontology.relations["NO"].symmetric
    assert ontology.attributes["kep"][0] == AttributeType(key="creation-date", nouns=("creation date",), kind="date")
    assert ontology.records[1].type == "person"
    assert ontology.source_authority == {"kep_yaml": 1.0, "prose": 0.5}
    assert ontology.titles_are_names
    assert not ontology.inferred


@pytest.mark.parametrize("encode", [str.encode, lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()])
def test_encoding_of_the_file_does_not_matter(tmp_path: Path, encode: object) -> None:
    path = tmp_path / "онтология.yaml"
    path.write_bytes(encode(WRITTEN))  # type: ignore[operator]
    assert load_ontology(path) == load_ontology(str(path)) == parse_ontology(WRITTEN, "x") == load_ontology(WRITTEN)


def test_empty_file_is_an_empty_ontology() -> None:
    assert parse_ontology("", "o.yaml") == parse_ontology("# nothing yet\n", "o.yaml") == Ontology()
    assert dump_ontology(Ontology()) == ""


BAD = [
    ("types: {a: {nuons: [x]}}", "1:13", "types.a.nuons: unknown key; did you mean 'nouns'"),
    ("types: {a: {nouns: [1.10]}}", "1:21", "1.10 is read as a number"),
    ("types: {a: {nouns: [0010]}}", "1:21", "0010 may be read as a number or as text"),
    ("types: {a: {nouns: [12:30]}}", "1:21", "12:30 may be read as a number or as text"),
    ("types: {a: {nouns: [true]}}", "1:21", "types.a.nouns[0]: true is not allowed; allowed: text"),
    ("types: {a: {nouns: ['...']}}", "1:21", "has no word in it"),
    ("types: {a: {agent: yes}}", "1:20", "types.a.agent: 'yes' is not allowed; allowed: true or false"),
    ("types: {a: }\ntypes: {b: }", "2:1", "key given twice, first in line 1"),
    ("types:\n  a: &x {}\n  b: *x", "2:6", "aliases (&name, *name) are not allowed"),
    ("types:\n  a: !!python/object:os.system {}", "2:6", "is not allowed"),
    ("types: {1: {}}", "1:9", "is not text"),
    ("types: {true: {}}", "1:9", "is not text"),
    ("types: {a: {patterns: ['(a']}}", "1:24", "types.a.patterns[0]: pattern '(a' is not valid"),
    ("types: {a: {patterns: ['(a)\\1']}}", "1:24", "is not valid"),
    ("types: {a: {patterns: ['a*']}}", "1:24", "matches the empty text"),
    ("types: {a: {display: 'KEP'}}", "1:22", "is not a template"),
    ("types: {a: {display: '{secret}{id}'}}", "1:22", "is not a template"),
    (
        "types: {kep: }\nrelations: {R: {from: keb, to: kep}}",
        "2:23",
        "'keb' is not a declared type; did you mean 'kep'",
    ),
    ("types: {a: }\nrelations: {R: {from: a}}", "2:", "relations.R.to: missing"),
    ("types: {a: }\nrelations: {R: {from: a, to: []}}", "2:", "empty; allowed: one type or more"),
    ("types: {a: }\nrelations: {R: {from: a, to: a, kind: satte}}", "2:", "'state' or 'event'"),
    ("types: {a: , b: }\nrelations: {R: {from: a, to: b, symmetric: true}}", "2:", "`from` and `to` differ"),
    ("types: {a: }\nrelations: {R: {from: a, to: a, max_age_days: .inf}}", "2:47", ".inf may be read"),
    ("types: {a: }\nrelations: {R: {from: a, to: a, max_age_days: -1}}", "2:47", "max_age_days"),
    ("records: [{kind: k, id_field: x}]", "1:21", "`type` is missing beside it"),
    ("records: [{kind: k}, {kind: k}]", "1:29", "'k' is mapped twice"),
    ("attributes: {kep: {}}", "1:14", "'kep' is not a declared type"),
    ("- a", "1:1", "allowed: a mapping"),
]


@pytest.mark.parametrize(("text", "place", "message"), BAD, ids=[text for text, _, _ in BAD])
def test_bad_files_name_line_and_key(text: str, place: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_ontology(text, "bad.yaml")
    assert f"bad.yaml:{place}" in str(caught.value)
    assert message in str(caught.value)


def test_all_problems_are_reported_at_once() -> None:
    text = "types: {a: {nuons: []}, b: {agent: 1}}\nrelations: {R: {from: a, to: a, compleet: true}}\n"
    with pytest.raises(ConfigurationError) as caught:
        parse_ontology(text, "bad.yaml")
    for part in ("nuons", "types.b.agent", "compleet"):
        assert part in str(caught.value)


def test_short_words_stay_text() -> None:
    """YAML 1.1 readers turn these into booleans and dates."""
    ontology = parse_ontology("types: {NO: {nouns: [NO, on, off, y, 2024-01-01, ~x]}}", "o.yaml")
    assert ontology.types["NO"].nouns == ("NO", "on", "off", "y", "2024-01-01", "~x")
    assert parse_ontology(dump_ontology(ontology), "again") == ontology


_CHARACTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
_NAMES = st.one_of(
    st.sampled_from(
        ["kep", "NO", "on", "1.10", "0010", "12:30", "null", "- a", "#x", "a: b", "Фёдор", "提案", "‮x", "~"]
    ),
    st.text(_CHARACTERS, min_size=1, max_size=12).map(str.strip).filter(bool),
)
_PHRASES = st.lists(
    st.one_of(_NAMES, st.just("be responsible for"))
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: any(character.isalnum() for character in text)),
    max_size=3,
    unique=True,
).map(tuple)
_NAME_LISTS = st.lists(_NAMES, max_size=2, unique=True).map(tuple)


@st.composite
def ontologies(draw: st.DrawFn) -> Ontology:
    types = {
        name: EntityType(
            name=name,
            nouns=draw(_PHRASES),
            display=draw(st.sampled_from([None, "{name}", "KEP-{local}", '"{id}"\n'])),
            prefix=draw(st.none() | _NAMES),
            patterns=draw(st.sampled_from([(), (r"(?i)\bKEP[- ]?\d+\b", "a'\"b")])),
            agent=draw(st.booleans()),
            temporal=draw(st.booleans()),
            place=draw(st.booleans()),
            restricted=draw(st.booleans()),
        )
        for name in draw(st.lists(_NAMES, min_size=1, max_size=3, unique=True))
    }
    some_types = st.lists(st.sampled_from(sorted(types)), min_size=1, max_size=2, unique=True).map(tuple)
    relations = {
        name: RelationType(
            name=name,
            domain=(domain := draw(some_types)),
            range=domain if symmetric else draw(some_types),
            kind=draw(st.sampled_from(RelationKind)),
            complete=draw(st.booleans()),
            symmetric=symmetric,
            functional=draw(st.booleans()),
            forward=draw(_PHRASES),
            inverse=draw(_PHRASES),
            object_nouns=draw(_PHRASES),
            subject_nouns=draw(_PHRASES),
            qualifiers=draw(_PHRASES),
            sources=draw(_NAME_LISTS),
            precedence=draw(_NAME_LISTS),
            max_age_days=draw(st.none() | st.floats(1e-9, 36_500)),
            restricted=draw(st.booleans()),
        )
        for name in draw(st.lists(_NAMES, max_size=2, unique=True))
        for symmetric in [draw(st.booleans())]
    }
    attributes = {
        name: tuple(
            AttributeType(
                key=key,
                nouns=draw(_PHRASES),
                kind=draw(st.sampled_from(["text", "number", "date"])),
                enumerated=draw(st.booleans()),
            )
            for key in draw(_NAME_LISTS)
        )
        for name in draw(st.lists(st.sampled_from(sorted(types)), max_size=2, unique=True))
    }
    records = []
    for kind in draw(st.lists(st.just("") | _NAMES, max_size=2, unique=True)):
        type_name = draw(st.none() | st.sampled_from(sorted(types)))
        records.append(
            RecordType(
                kind=kind,
                type=type_name,
                id_field=draw(st.none() | _NAMES) if type_name else None,
                names=draw(_NAME_LISTS),
                attributes=draw(st.dictionaries(_NAMES, _NAMES, max_size=2)),
                date_order=draw(st.sampled_from(["MDY", "DMY", "YMD"])),
            )
        )
    return Ontology(
        types=types,
        relations=relations,
        attributes=attributes,
        records=tuple(records),
        identifier_patterns=draw(st.sampled_from([(), (r"CHG-\d+", "№ ?[0-9]+")])),
        source_authority=draw(st.dictionaries(st.just("") | _NAMES, st.floats(0, 1), max_size=2)),
        titles_are_names=draw(st.booleans()),
        inferred=draw(st.booleans()),
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ontologies())
def test_round_trip_is_exact(ontology: Ontology) -> None:
    text = dump_ontology(ontology)
    again = parse_ontology(text, "dumped.yaml")
    assert again == ontology
    assert dump_ontology(again) == text
