"""What inference must find in data of domains it has not seen: events, types, parts, nouns and identifier patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import pytest
import re2

from graphroute.indexing.ontology_inference import ProfileBuilder, infer_ontology
from graphroute.parsing.identifiers import find_identifiers
from graphroute.types.graph import Assertion
from graphroute.types.ontology import Ontology, RelationKind
from graphroute.types.source import Source, SourceSpan
from graphroute.types.time import Interval, instant_of

Step = Callable[[ProfileBuilder], None]


def date(day: int) -> str:
    return f"2023-{1 + day // 28:02d}-{1 + day % 28:02d}"


def instant(text: str) -> int:
    return instant_of(datetime.fromisoformat(text).replace(tzinfo=UTC))


class Data:
    """A made-up data set, row by row."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.texts = {"d": ""}

    def record(self, id: str, kind: str, text: str, *, node: str | None = None, title: str = "") -> str:
        source = Source(id=id, title=title, text=text, labels=frozenset({"public"}), kind=kind, node=node)
        self.steps.append(lambda builder: builder.add_source(source))
        self.texts[id] = text
        return id

    def entity(self, id: str, type: str, *names: str) -> None:
        self.steps.append(lambda builder: builder.add_entity(id, (type,), names))

    def fact(
        self, subject: str, predicate: str, obj: str, by: str = "d", *, line: str = "", start: str | None = None,
        end: str | None = None,
    ) -> None:  # fmt: skip
        """A fact that `line` of the text of `by` states, the whole text if there is no line."""
        at = self.texts[by].index(line) if line else None
        span = SourceSpan(by, at, None if at is None else at + len(line))
        assertion = Assertion(
            id=f"{subject}|{predicate}|{obj}|{start}",
            subject=subject,
            predicate=predicate,
            object=obj,
            validity=Interval(instant(start) if start else None, instant(end) if end else None),
            supports=((span,),),
        )
        self.steps.append(lambda builder: builder.add_assertion(assertion))

    def infer(self) -> Ontology:
        builder = ProfileBuilder(default_labels=["public"])
        for step in self.steps:
            step(builder)
        return infer_ontology(builder)


def plain_facts(
    name: str, *, start: bool = True, end: bool = False, subject: str = "doc", obj: str = "emp"
) -> Ontology:
    data = Data()
    for number in range(8):
        data.fact(
            f"{subject}:{number}",
            name,
            f"{obj}:{number % 3}",
            start=date(number) if start else None,
            end=date(number + 20) if end and number % 2 else None,
        )
    return data.infer()


# Events and states


@pytest.mark.parametrize("name", ["APPROVED_BY", "issuedBy", "shipped_to", "AWARDED_TO", "reported_by", "sold"])
def test_what_is_done_once_is_an_event(name: str) -> None:
    assert plain_facts(name).relations[name].kind is RelationKind.EVENT


@pytest.mark.parametrize(
    "name", ["OWNED_BY", "managedBy", "member_of", "WORKS_FOR", "located_in", "hasStatus", "REPORTS_TO"]
)
def test_what_lasts_is_a_state(name: str) -> None:
    assert plain_facts(name).relations[name].kind is RelationKind.STATE


@pytest.mark.parametrize("name", ["APPROVED_BY", "issuedBy"])
def test_an_end_or_no_start_makes_a_state(name: str) -> None:
    assert plain_facts(name, end=True).relations[name].kind is RelationKind.STATE
    assert plain_facts(name, start=False).relations[name].kind is RelationKind.STATE


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [("ZONED_BY", "dated", "event"), ("HOSTED_BY", "dated", "state"), ("ZONED_BY", "other", "state")],
)
def test_a_date_field_of_the_record_makes_an_event_of_what_does_not_last(name: str, value: str, kind: str) -> None:
    data = Data()
    for number in range(6):
        day = date(number + (0 if value == "dated" else 40))
        text = f"parcel: p{number}\nofficer: Officer {number % 2}\nseen_on: {day}"
        data.record(f"r{number}", "parcel", text, node=f"parcel:p{number}")
        data.fact(
            f"parcel:p{number}", name, f"o:{number % 2}", f"r{number}", line="officer: Officer", start=date(number)
        )
    assert data.infer().relations[name].kind is RelationKind(kind)


# Types of ids that are names


def collection() -> Data:
    """Works, halls and donors whose ids are their names; records say what they are."""
    data = Data()
    for number in range(12):
        work, artist, hall, giver = f"Work {number}", f"Ann {number % 4}", f"Hall {number % 3}", f"Giver {number % 5}"
        given, hung = date(number), date(number + 30)
        text = f"title: {work}\nartist: {artist}\nmedium: {('oil', 'ink')[number % 2]}\ndonor: {giver}\ndonated_on: {given}"
        data.record(f"w{number}", "work", text, node=work, title=work)
        data.record(f"h{number}", "order", f"On {hung} {work} was hung in {hall}.")
        data.fact(work, "created_by", artist, f"w{number}", line=f"artist: {artist}")
        data.fact(work, "made_of", ("oil", "ink")[number % 2], f"w{number}", line="medium: ")
        data.fact(work, "donated_by", giver, f"w{number}", line=f"donor: {giver}", start=given)
        data.fact(work, "displayed_in", hall, f"h{number}", line=hall, start=hung)
    for number in range(3):
        data.record(f"g{number}", "hall", f"name: Hall {number}\narea_sqm: {100 + number}", node=f"Hall {number}")
    return data


def test_types_are_named_after_kinds_of_record_and_fields() -> None:
    ontology = collection().infer()
    assert {"work", "hall", "artist", "donor", "medium"} == set(ontology.types)
    assert ontology.relations["displayed_in"].range == ("hall",)
    assert ontology.types["artist"].agent
    assert ontology.types["donor"].agent
    assert not ontology.types["work"].agent


def test_fields_that_state_a_relation_are_its_nouns_and_no_attributes() -> None:
    ontology = collection().infer()
    assert "donor" in ontology.relations["donated_by"].object_nouns
    assert ontology.relations["donated_by"].kind is RelationKind.EVENT
    (given,) = ontology.attributes["work"]
    assert given.key == "donation date"
    assert "donated" not in given.nouns, "the past form means the relation as well"
    (record,) = [item for item in ontology.records if item.kind == "work"]
    assert record.attributes == {"*": "*", "donated_on": "donation date"}


def test_an_entity_at_ends_of_two_types_has_both() -> None:
    """One restorer who curated once does not make all restorers curators, nor a type of its own."""
    data = Data()
    for number in range(12):
        data.fact(f"Work {number}", "restored_by", f"Ann {number % 6}")
        data.fact(f"Show {number}", "curated_by", f"Bo {number % 6}" if number else "Ann 0")
    ontology = data.infer()
    ends = [ontology.relations[name].range for name in ("restored_by", "curated_by")]
    assert [len(end) for end in ends] == [1, 1]
    assert ends[0] != ends[1]


def test_a_unit_is_no_part_of_the_noun() -> None:
    (area,) = collection().infer().attributes["hall"]
    assert "area" in area.nouns


# Records with a node


def recalls(*, kind: str = "recall", field: str = "notified") -> Ontology:
    data = Data()
    for number in range(10):
        text = f"no: RC-{300 + number}\nreason: glass\n{field}: Desk {number % 3}\nbatch: B-{number}"
        data.record(f"r{number}", kind, text, node=f"rcl:RC-{300 + number}", title=f"Recall RC-{300 + number}")
        data.fact(f"rcl:RC-{300 + number}", "RECALLS", f"batch:B-{number}", f"r{number}", line=f"batch: B-{number}")
        data.fact(
            f"rcl:RC-{300 + number}",
            "ESCALATED_TO",
            f"desk:{number % 3}",
            f"r{number}",
            line=f"{field}: Desk {number % 3}",
        )
    return data.infer()


def test_a_kind_of_record_is_a_noun_of_the_type_it_is_about() -> None:
    ontology = recalls()
    assert "recall" in ontology.types["rcl"].nouns[:2]
    assert not ontology.types["rcl"].agent


@pytest.mark.parametrize("kind", ["record", "page", "data_sheet", ""])
def test_a_kind_of_text_is_no_noun(kind: str) -> None:
    nouns = recalls(kind=kind).types["rcl"].nouns
    assert not {"record", "page", "data sheet", "data", ""} & set(nouns)


def test_a_field_abbreviated_by_the_type_is_its_noun() -> None:
    data = Data()
    for number in range(6):
        data.record(f"c{number}", "certificate", f"plant: p{number}\nstandard: Norm {number % 2}\nvalid: yes")
        data.fact(
            f"plant:p{number}", "CERTIFIED_FOR", f"std:n{number % 2}", f"c{number}", line=f"standard: Norm {number % 2}"
        )
        data.entity(f"std:n{number % 2}", "std", f"Norm {number % 2}")
    ontology = data.infer()
    assert "standard" in ontology.types["std"].nouns


def test_what_records_spell_out_wins_over_an_abbreviation() -> None:
    data = Data()
    for number in range(6):
        data.record(f"i{number}", "inspector", f"name: Ann {number}\ngrade: A", node=f"insp:{number}")
        data.fact(f"visit:{number}", "SEEN_BY", f"insp:{number}")
    ontology = data.infer()
    assert "inspector" in ontology.types["insp"].nouns
    assert "inspection" not in ontology.types["insp"].nouns
    assert "inspection" in plain_facts("SEEN_BY", obj="insp").types["insp"].nouns, "without records it may mean that"


def test_no_synonym_holds_the_name_of_another_type() -> None:
    data = Data()
    for number in range(6):
        data.fact(f"recall:{number}", "COVERS", f"batch:{number}")
        data.fact(f"batch:{number}", "BATCH_OF", f"product:{number % 2}")
    assert "product recall" not in data.infer().types["recall"].nouns
    assert "product recall" in plain_facts("COVERS", subject="recall").types["recall"].nouns


def test_a_field_of_another_time_says_nothing_of_the_relation() -> None:
    assert "former desk" not in recalls(field="former_desk").relations["ESCALATED_TO"].object_nouns
    assert "duty desk" in recalls(field="duty_desk").relations["ESCALATED_TO"].object_nouns


# Agents


@pytest.mark.parametrize(
    ("name", "type", "agent"),
    [
        ("INSPECTED_BY", "xq", True),
        ("curatedBy", "xq", True),
        ("classedBy", "xq", True),
        ("CAUSED_BY", "xq", False),
        ("treated_by", "xq", False),
        ("AUDITED_BY", "tool", False),
    ],
)
def test_those_who_do_what_people_do_are_agents(name: str, type: str, agent: bool) -> None:
    assert plain_facts(name, obj=type).types[type].agent is agent


# Nouns of several types


def test_the_name_of_a_type_is_no_word_for_another() -> None:
    data = Data()
    for number in range(6):
        data.fact(f"course:{number}", "TAUGHT_BY", f"lecturer:{number % 2}")
        data.fact(f"student:{number}", "TAKES", f"course:{number % 3}")
        data.fact(f"batch:{number}", "PRODUCED_AT", f"plant:{number % 2}")
        data.fact(f"batch:{number}", "BATCH_OF", f"product:{number % 2}")
    relations = data.infer().relations
    assert not {"student", "pupil"} & set(relations["TAUGHT_BY"].subject_nouns)
    assert "product" not in relations["PRODUCED_AT"].object_nouns
    alone = Data()
    for number in range(6):
        alone.fact(f"x:{number}", "TAUGHT_BY", f"y:{number % 2}")
    assert "student" in alone.infer().relations["TAUGHT_BY"].subject_nouns, "without such a type it may"


def test_initials_of_a_name_of_several_words() -> None:
    ontology = plain_facts("principalInvestigator", subject="adverse_event", obj="person")
    assert "pi" in ontology.relations["principalInvestigator"].object_nouns
    assert "ae" in ontology.types["adverse_event"].nouns


# Identifier patterns


def patterns(ids: Iterable[str]) -> tuple[str, ...]:
    data = Data()
    for one in ids:
        data.fact(f"thing:{one}", "USES", "other:a")
    return data.infer().types["thing"].patterns


@pytest.mark.parametrize(
    ("ids", "text", "found"),
    [
        ([f"IN-{700 + n}" for n in range(9)], "Who managed it in 2023?", None),
        ([f"IN-{700 + n}" for n in range(9)], "IN-705 of May", "IN-705"),
        ([f"C-{n}" for n in range(9)], "vitamin C 3", None),
        ([f"C-{n}" for n in range(9)], "room C-3?", "C-3"),
        ([f"INC-{n}" for n in range(9)], "what is inc 4 about", "inc 4"),
        ([f"AT-{n}" for n in range(9)], "at 9", None),
    ],
)
def test_heads_that_may_be_words_count_as_written(ids: list[str], text: str, found: str | None) -> None:
    (pattern,) = patterns(ids)
    match = re2.search(pattern, text)
    assert (match.group() if match else None) == found


def test_titles_that_go_on_give_no_short_pattern() -> None:
    data = Data()
    for number in range(8):
        data.record(f"a{number}", "advisory", "prose", title=f"CVE-202{number % 3}-10{number}")
        data.record(f"b{number}", "change", "prose", title=f"CHG-{480 + number} Renew")
    (pattern,) = data.infer().identifier_patterns
    assert re2.search(pattern, "CHG-481")
    assert not re2.search(pattern, "CVE-2021-104")


# Records and ids in other scripts


def permits() -> Data:
    data = Data()
    for number in range(8):
        id, day = f"РЗР-{number + 20}", date(number)
        text = f"permit: {id}\nissuer: Officer {number % 2}\nissued_on: {day}\nPermit {id} was issued on: {day}."
        data.record(f"r{number}", "permit", text, node=f"permit:{id}")
        data.fact(f"permit:{id}", "ISSUED_BY", f"o:{number % 2}", f"r{number}", line="issuer: Officer", start=day)
    return data


def test_a_pattern_of_ids_in_another_script_finds_ids_that_are_new() -> None:
    patterns = permits().infer().types["permit"].patterns
    assert patterns
    assert [cue.value for cue in find_identifiers("Кто выдал РЗР-99?", patterns) if cue.rule != "shape"] == ["РЗР-99"]


def test_a_sentence_with_a_colon_is_no_field() -> None:
    attributes = permits().infer().attributes.get("permit", ())
    assert not [attribute.key for attribute in attributes if "РЗР" in attribute.key]
