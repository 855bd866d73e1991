"""Inflection, agent nouns, and the words read from names of relations and types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from graphroute.ontology.lexicon import (
    agent_nouns,
    is_agent,
    is_event,
    is_place,
    is_time,
    lemma,
    lexicon,
    participle_base,
    singular,
    third_person_base,
    verb_inflections,
)
from graphroute.ontology.naming import Side, name_parts, relation_words, type_nouns
from graphroute.text import stem

CASES = yaml.safe_load((Path(__file__).parent / "names.yaml").read_text(encoding="utf-8"))
ROLES = ("forward", "inverse", "object_nouns", "subject_nouns")


def side(type_name: str) -> Side:
    nouns = type_nouns(type_name)
    return Side(nouns=nouns, agent=any(is_agent(noun) for noun in nouns), temporal=any(is_time(noun) for noun in nouns))


@pytest.mark.parametrize("case", CASES, ids=[f"{case['from']}-{case['name']}-{case['to']}" for case in CASES])
def test_words_of_a_relation(case: dict[str, Any]) -> None:
    words = relation_words(case["name"], side(case["from"]), side(case["to"]))
    for role in ROLES:
        assert set(case.get(role, ())) <= set(words.phrases(role)), role
    everything = {phrase for role in ROLES for phrase in words.phrases(role)}
    assert not set(case.get("never", ())) & everything


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("wrote", "write"),
        ("written", "write"),
        ("led", "lead"),
        ("made", "make"),
        ("held", "hold"),
        ("became", "become"),
        ("ran", "run"),
        ("people", "person"),
        ("women", "woman"),
        ("criteria", "criterion"),
        ("owns", "owns"),
        ("кит", "кит"),
    ],
)
def test_lemma(form: str, base: str) -> None:
    assert lemma(form) == base


def test_plurals_of_acronyms_meet_their_singular() -> None:
    """A stemmer leaves "cves" as it is."""
    assert stem(lemma("cves")) == stem(lemma("cve"))
    assert lemma("eyes") == "eyes"
    assert lemma("yes") == "yes"


def test_lemma_keeps_verbs_that_look_like_forms() -> None:
    """`founded` must not meet `find`: the stem of a phrase with `found` is its own."""
    assert lemma("found") == "found"
    assert lemma("founded") == "founded"


@pytest.mark.parametrize("verb", ["approve", "supply", "depend", "review", "die", "write", "chair", "use", "report"])
def test_lemma_or_stem_brings_the_forms_of_a_verb_together(verb: str) -> None:
    forms = list(verb_inflections(verb))
    assert len(forms) >= 3
    for form in forms:
        assert stem(verb) in {stem(form), stem(lemma(form))}, form


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("directed", "direct"),
        ("approved", "approve"),
        ("owned", "own"),
        ("supplied", "supply"),
        ("shipped", "ship"),
        ("written", "write"),
        ("participating", "participate"),
        ("configured", "configure"),
        ("maintained", "maintain"),
        ("red", None),
        ("year", None),
        ("thing", None),
    ],
)
def test_participle_base(form: str, base: str | None) -> None:
    assert participle_base(form) == base


def test_third_person_needs_a_known_verb() -> None:
    assert third_person_base("supplies") == "supply"
    assert third_person_base("owns") == "own"
    assert third_person_base("status") is None
    assert third_person_base("actors") is None


@pytest.mark.parametrize(
    ("verb", "noun"),
    [
        ("direct", "director"),
        ("write", "writer"),
        ("own", "owner"),
        ("approve", "approver"),
        ("use", "user"),
        ("supply", "supplier"),
        ("chair", "chair"),
        ("create", "creator"),
        ("ship", "shipper"),
        ("audit", "auditor"),
        ("curate", "curator"),
        ("plan", "planner"),
    ],
)
def test_agent_noun(verb: str, noun: str) -> None:
    assert agent_nouns(verb)[0] == noun


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("companies", "company"),
        ("boxes", "box"),
        ("statuses", "status"),
        ("status", "status"),
        ("people", "person"),
        ("tech leads", "tech lead"),
        ("addresses", "address"),
        ("analysis", "analysis"),
        ("news", "news"),
        ("线索", "线索"),
    ],
)
def test_singular(plural: str, one: str) -> None:
    assert singular(plural) == one


@pytest.mark.parametrize(
    ("name", "nouns"),
    [
        ("txn", ["transaction", "purchase"]),
        ("acct", ["account"]),
        ("feature_gate", ["feature gate", "feature flag"]),
        ("fg", ["feature gate"]),
        ("Customer", ["customer", "client"]),
        ("orgUnit", ["org unit", "organization unit"]),
        ("film", ["film", "movie"]),
        ("svc", ["service"]),
        ("сотрудник", ["сотрудник"]),
        ("员工", ["员工"]),
    ],
)
def test_type_nouns(name: str, nouns: list[str]) -> None:
    assert set(nouns) <= set(type_nouns(name))


def test_classes_of_nouns() -> None:
    assert is_agent("person")
    assert is_agent("shipping company")
    assert is_agent("сотрудник")
    assert is_agent("员工")
    assert not is_agent("product")
    for noun in ("lecturer", "curator", "donor", "restorer", "ethics committee", "sponsor", "inspector", "biologist"):
        assert is_agent(noun), noun
    for noun in ("server", "container", "order", "study", "cause", "trigger", "paper", "chapter"):
        assert not is_agent(noun), noun
    assert is_event("card transaction")
    assert not is_event("account")
    assert is_time("release year")
    assert is_place("sales territory")


def test_camel_and_snake_case_read_alike() -> None:
    assert name_parts("directedBy") == name_parts("DIRECTED_BY") == name_parts("directed-by") == ["directed", "by"]
    assert name_parts("HTTPServer") == ["http", "server"]


@given(st.text(min_size=1, max_size=40))
def test_any_name_gives_words(name: str) -> None:
    """Whatever a predicate is called, its name yields phrases, and no empty one."""
    words = relation_words(name)
    phrases = [phrase for role in ROLES for phrase in words.phrases(role)]
    assert all(phrase.strip() for phrase in phrases)
    assert phrases or not any(character.isalnum() for character in name)
    assert type_nouns(name)


def test_the_lexicon_is_in_base_form_and_folded() -> None:
    for frame in lexicon().frames:
        for phrase in (*frame.verbs, *frame.weak, *frame.agents, *frame.patients, *frame.converse):
            assert phrase == phrase.casefold()
            assert phrase == " ".join(phrase.split())
