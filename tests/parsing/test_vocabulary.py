"""Phrases of an ontology by their stems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphroute.ontology.load import load_ontology
from graphroute.parsing.tokens import claim, inside, tokenize
from graphroute.parsing.vocabulary import Vocabulary, phrase_stems, word_stems
from graphroute.types.query import Role

ONTOLOGY = load_ontology(
    """
types:
  service: {nouns: [service, сервис]}
  database: {nouns: [database, database cluster]}
  person: {nouns: [person, people], agent: true}
relations:
  OWNED_BY: {from: service, to: person, inverse: [own, look after], object_nouns: [owner]}
  CO_CHAIRED: {from: person, to: service, subject_nouns: [co-chair, chair]}
  PRR_STABLE: {from: service, to: person, object_nouns: [prr stable approver, prr stable]}
  IMPLEMENTED_IN: {from: service, to: database, forward: [implemented in]}
  OPENS: {from: person, to: service, forward: [open]}
attributes:
  service: {tier: {nouns: [tier, service tier]}}
"""
)
VOCABULARY = Vocabulary(ONTOLOGY)


def match(text: str, start: int = 0) -> tuple[int, str] | None:
    found = VOCABULARY.match([token.stems for token in tokenize(text) if token.content], start)
    return (found[0], found[1].phrase) if found else None


@pytest.mark.parametrize(
    ("text", "length", "phrase"),
    [
        ("owns", 1, "own"),
        ("owned", 1, "own"),
        ("owner", 1, "owner"),
        ("owners", 1, "owner"),
        ("services", 1, "service"),
        ("people", 1, "person"),
        ("database clusters", 2, "database cluster"),
        ("databases of ours", 1, "database"),
        ("looks after", 2, "look after"),
        ("service tier", 2, "service tier"),
        ("сервисы", 1, "сервис"),
        ("сервисом", 1, "сервис"),
        ("chairs", 1, "co-chair"),
    ],
)
def test_the_longest_phrase_in_any_form(text: str, length: int, phrase: str) -> None:
    assert match(text) == (length, phrase)


def test_a_word_that_is_no_phrase() -> None:
    assert match("looks") is None
    assert match("cluster") is None
    assert match("ownership") is None


def test_what_a_phrase_stands_for() -> None:
    own = VOCABULARY.match([("own",)], 0)
    assert own is not None
    assert own[1].relations == (("OWNED_BY", Role.INVERSE),)
    tier = VOCABULARY.match([word_stems("tier")], 0)
    assert tier is not None
    assert tier[1].attributes == (("service", "tier"),)
    assert tier[1].relations == tier[1].types == ()


def test_an_acronym_may_stand_last() -> None:
    assert match("PRR stable") is not None
    assert match("stable PRR") == (2, "prr stable")
    assert set(VOCABULARY.acronyms) == {"prr"}


def test_a_preposition_belongs_to_a_phrase_of_one_word() -> None:
    found = VOCABULARY.match([word_stems("implemented")], 0)
    assert found is not None
    assert found[1].preposition == "in"
    assert not VOCABULARY.known("implemented")
    assert VOCABULARY.known("owns")
    assert not VOCABULARY.known("zebra")


def test_phrases_lose_function_words_only_if_others_are_left() -> None:
    assert phrase_stems("the owner of") == phrase_stems("owner")
    assert phrase_stems("to be") != ()


@given(st.text(max_size=20))
def test_any_word_has_a_stem(key: str) -> None:
    assert word_stems(key)
    assert len(set(word_stems(key))) == len(word_stems(key))


@given(st.lists(st.sampled_from(["who", "owns", "the", "database", "cluster", "service", "tier", "of", "people", "looked", "after", "zebra"]), max_size=9))  # fmt: skip
def test_a_match_lies_within_its_words(words: list[str]) -> None:
    options = [token.stems for token in tokenize(" ".join(words))]
    for start in range(len(options)):
        found = VOCABULARY.match(options, start)
        assert found is None or 1 <= found[0] <= len(options) - start


def test_tokens_are_claimed_once() -> None:
    tokens = tokenize("Who owns the search service?")
    assert [token.text for token in tokens] == ["Who", "owns", "the", "search", "service"]
    assert [token.key for token in tokens if token.content] == ["owns", "search", "service"]
    assert [token.text for token in claim(tokens, 9, 19, "mention")] == ["the", "search"]
    assert [token.text for token in claim(tokens, 0, 99, "word")] == ["Who", "owns", "service"]
    assert [token.owner for token in tokens] == ["word", "word", "mention", "mention", "word"]


def test_overlaps_are_half_open() -> None:
    assert inside([(3, 5)], 4, 9)
    assert inside([(3, 5)], 0, 4)
    assert not inside([(3, 5)], 5, 9)
    assert not inside([(3, 5)], 0, 3)
    assert not inside([], 0, 9)


def test_words_of_the_ontology_win_over_translations() -> None:
    ontology = load_ontology(
        """
types:
  service: {nouns: [service]}
  package: {nouns: [package, dependency]}
relations:
  DEPENDS_ON: {from: service, to: service, forward: [depend on, 依赖]}
  INCLUDES: {from: service, to: package, forward: [include]}
"""
    )
    vocabulary = Vocabulary(ontology)

    def entry(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        found = vocabulary.match([token.stems for token in tokenize(text)], 0)
        assert found is not None
        return tuple(name for name, _ in found[1].relations), found[1].types

    assert entry("依赖") == (("DEPENDS_ON",), ())
    assert entry("зависимость") == ((), ("package",))
    assert entry("包含") == (("INCLUDES",), ())


@pytest.mark.parametrize("word", ["затронуть", "затронул", "затронула", "затронуло", "затронули", "владел", "владело"])
def test_past_tenses_of_russian_verbs(word: str) -> None:
    ontology = load_ontology(
        """
types: {incident: {nouns: [incident]}, service: {nouns: [service]}, person: {nouns: [person]}}
relations:
  AFFECTS: {from: incident, to: service, forward: [affect]}
  HOLDS: {from: person, to: service, forward: [hold]}
"""
    )
    assert Vocabulary(ontology).match([token.stems for token in tokenize(word)], 0) is not None
