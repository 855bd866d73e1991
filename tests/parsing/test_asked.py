"""The asked-for slot: question word, operation and noun."""

from __future__ import annotations

import pytest

from graphroute.ontology.load import load_ontology
from graphroute.parsing.aggregation import find_aggregations
from graphroute.parsing.asked import find_asked
from graphroute.parsing.questions import read_question
from graphroute.parsing.reading_question import Asked
from graphroute.parsing.relations import WordCue, find_words
from graphroute.parsing.tokens import claim, tokenize
from graphroute.parsing.vocabulary import Vocabulary
from graphroute.types.query import CueKind, Operation

VOCABULARY = Vocabulary(
    load_ontology(
        """
types:
  team: {nouns: [team], agent: true}
  service: {nouns: [service]}
  incident: {nouns: [incident]}
relations:
  OWNED_BY: {from: service, to: team, inverse: [own], object_nouns: [owner]}
  AFFECTED: {from: incident, to: service, forward: [affect]}
attributes:
  incident: {severity: {nouns: [severity]}}
"""
    )
)


def asked(text: str, *names: str) -> tuple[Asked, list[WordCue]]:
    tokens = tokenize(text)
    for name in ("Alpha", *names):
        if name in text:
            claim(tokens, text.index(name), text.index(name) + len(name), "mention")
    aggregations = [cue for cue in find_aggregations(text, masked=[]) if cue.kind is CueKind.AGGREGATION]
    for cue in aggregations:
        claim(tokens, cue.start, cue.end, "aggregation")
    words = find_words(text, tokens, VOCABULARY)
    asking = read_question(text)
    return find_asked(tokens, words, aggregations, asking=asking.cue if asking is not None else None), words


@pytest.mark.parametrize(
    ("text", "kind", "operation", "target"),
    [
        ("Who owns Alpha?", "who", Operation.LIST, None),
        ("Which team owns Alpha?", "which", Operation.LIST, "team"),
        ("What services does Alpha own?", "what", Operation.LIST, "services"),
        ("What does Alpha own?", "what", Operation.LIST, None),
        ("Alpha is owned by which team?", "which", Operation.LIST, "team"),
        ("Who is the owner of Alpha?", "who", Operation.LIST, "owner"),
        ("What is the severity of Alpha?", "what", Operation.LIST, "severity"),
        ("List the services of Alpha", "list", Operation.LIST, "services"),
        ("Please show me all incidents", "list", Operation.LIST, "incidents"),
        ("services owned by Alpha", "other", Operation.LIST, "services"),
        ("the owner of Alpha", "other", Operation.LIST, "owner"),
        ("How many services does Alpha own?", "count", Operation.COUNT, "services"),
        ("Count the incidents that affected Alpha", "count", Operation.COUNT, "incidents"),
        ("What is the number of incidents?", "count", Operation.COUNT, "incidents"),
        ("Which team owns the most services?", "which", Operation.MOST, "team"),
        ("Which team owns the fewest services?", "which", Operation.LEAST, "team"),
        ("What was the first incident that affected Alpha?", "what", Operation.FIRST, "incident"),
        ("Which was the last incident?", "which", Operation.LAST, "incident"),
        ("Does Alpha own services?", "yes_no", Operation.EXISTS, None),
        ("Is Alpha owned by a team?", "yes_no", Operation.EXISTS, None),
        ("Какая команда владеет Alpha?", "which", Operation.LIST, "команда"),
        ("哪个团队拥有 Alpha？", "which", Operation.LIST, "团队"),
        ("Когда был утверждён Alpha?", "when", Operation.DATE, None),
        ("Alpha 是什么时候批准的？", "when", Operation.DATE, None),
        ("Кто владеет Alpha?", "who", Operation.LIST, None),
    ],
)
def test_what_is_asked_for(text: str, kind: str, operation: Operation, target: str | None) -> None:
    found, words = asked(text)
    assert (found.kind, found.operation) == (kind, operation)
    assert (words[found.target].text if found.target is not None else None) == target


def test_a_relative_pronoun_is_no_question_word() -> None:
    found, words = asked("List the services which affect Alpha")
    assert found.kind == "list"
    assert found.target is not None
    assert words[found.target].text == "services"


def test_the_noun_after_most_is_counted() -> None:
    found, words = asked("Which team owns the most services?")
    assert found.counted is not None
    assert words[found.counted].text == "services"
    assert asked("Which team owns services?")[0].counted is None


def test_an_empty_question_asks_nothing() -> None:
    found, words = asked("?")
    assert (found.kind, found.target, words) == ("other", None, [])
