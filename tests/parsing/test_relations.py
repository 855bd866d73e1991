"""Relation, type and attribute words: phrase, voice and form."""

from __future__ import annotations

import pytest

from graphroute.ontology.load import load_ontology
from graphroute.parsing.relations import WordCue, agent_before, find_words, phrase_spans, relation_cue
from graphroute.parsing.tokens import claim, tokenize
from graphroute.parsing.vocabulary import Vocabulary
from graphroute.types.query import CueKind, Role

VOCABULARY = Vocabulary(
    load_ontology(
        """
types:
  company: {nouns: [company, companies], agent: true}
  film: {nouns: [film]}
  service: {nouns: [service]}
  sheet: {nouns: [cost sheet]}
relations:
  ACQUIRED: {from: company, to: company, forward: [acquire, buy]}
  FILMED_BY: {from: film, to: company, inverse: [film, shoot]}
  OWNED_BY: {from: service, to: company, inverse: [own, look after], object_nouns: [owner]}
  WRITTEN_BY: {from: film, to: company, inverse: [write]}
  KEPT_IN: {from: service, to: company, forward: [keep in]}
  PRR_APPROVER: {from: service, to: company, object_nouns: [prr approver]}
attributes:
  film: {length: {nouns: [length, running time]}}
"""
    )
)


def words(text: str, *names: str) -> list[WordCue]:
    tokens = tokenize(text)
    for name in names:
        start = text.index(name)
        claim(tokens, start, start + len(name), "mention")
    return find_words(text, tokens, VOCABULARY)


def word(text: str, *names: str) -> WordCue:
    (found,) = (cue for cue in words(text, *names) if cue.is_relation)
    return found


@pytest.mark.parametrize(
    ("text", "passive"),
    [
        ("Who acquired Alpha?", False),
        ("What did Alpha acquire?", False),
        ("By whom was Alpha acquired?", True),
        ("Alpha was acquired by whom?", True),
        ("Which company was acquired by Alpha?", True),
        ("Companies acquired by Alpha", True),
        ("the company that acquired Alpha", False),
        ("Which company has acquired Alpha?", False),
        ("What has Alpha bought?", False),
        ("What was bought by Alpha?", True),
        ("the film written by Alpha", True),
        ("Which films are jointly owned by Alpha?", True),
    ],
)
def test_voice(text: str, passive: bool) -> None:
    assert word(text, "Alpha").passive is passive


@pytest.mark.parametrize(
    ("text", "role", "before"),
    [
        ("Alpha acquired", Role.FORWARD, True),
        ("was acquired by Alpha", Role.FORWARD, False),
        ("Alpha owns", Role.INVERSE, False),
        ("is owned by Alpha", Role.INVERSE, True),
        ("owner of Alpha", Role.OBJECT_NOUN, None),
        ("owner of Alpha", Role.SUBJECT_NOUN, None),
    ],
)
def test_who_acts(text: str, role: Role, before: bool | None) -> None:
    assert agent_before(word(text, "Alpha"), role) is before


def test_spans_are_those_of_the_question() -> None:
    text = "Which company looks after the service?"
    found = [(cue.text, text[cue.start : cue.end], cue.is_relation, cue.is_type) for cue in words(text)]
    assert found == [
        ("company", "company", False, True),
        ("looks after", "looks after", True, False),
        ("service", "service", False, True),
    ]


def test_a_phrase_does_not_reach_across_a_name() -> None:
    assert [cue.text for cue in words("who looks Alpha after", "Alpha")] == []


def test_a_verb_that_is_a_noun_too_follows_its_form() -> None:
    filmed, films, filming = word("who filmed it"), words("which films")[0], word("filming companies")
    assert filmed.is_relation
    assert not filmed.is_type
    assert films.is_type
    assert not films.is_relation
    assert filming.is_relation


def test_attributes_are_words_too() -> None:
    (cue,) = (cue for cue in words("what is the running time of it") if cue.entry.attributes)
    assert cue.entry.attributes == (("film", "length"),)
    assert cue.text == "running time"


def test_an_acronym_is_met_by_the_words_it_stands_for() -> None:
    assert word("who is the production readiness review approver").text == "production readiness review approver"
    assert word("who is the prr approver").entry.relations == (("PRR_APPROVER", Role.OBJECT_NOUN),)


def test_only_phrases_of_two_words_hide_lower_case_names() -> None:
    text = "the cost sheet of the service"
    assert [text[low:high] for low, high in phrase_spans(text, tokenize(text), VOCABULARY)] == ["cost sheet"]


def test_a_cue_names_its_phrase_and_voice() -> None:
    cue = relation_cue(word("Alpha was acquired by whom?", "Alpha"))
    assert cue.cue.kind is CueKind.RELATION
    assert (cue.cue.value, cue.cue.rule, cue.cue.text) == ("ACQUIRED", "relation:acquire:passive", "acquired")
    assert cue.options == (("ACQUIRED", Role.FORWARD),)


def test_a_preposition_decides_where_a_word_has_another_meaning() -> None:
    text = "who keeps records"
    tokens = tokenize(text)
    assert find_words(text, tokens, VOCABULARY, [(4, 9)]) == []
    text = "who keeps records in what"
    found = find_words(text, tokenize(text), VOCABULARY, [(4, 9)])
    assert [cue.text for cue in found] in ([], ["keeps"])
