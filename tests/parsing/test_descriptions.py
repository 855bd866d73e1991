"""Anchors that a question describes instead of naming them."""

from __future__ import annotations

import pytest

from graphroute.ontology.load import load_ontology
from graphroute.parsing.parser import Parser
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.testing.world import INSIDER, NOBODY, ONTOLOGY, PUBLIC, day
from graphroute.types.query import ParsedQuery
from graphroute.types.reader import Reader


class Asking:
    def __init__(self, database: Database) -> None:
        self.catalog = SqliteCatalog(database)
        self.parser = Parser(load_ontology(ONTOLOGY), self.catalog, InvertedIndex(database))

    def __call__(self, question: str, *, at: str = "2026-05-11", reader: Reader = PUBLIC) -> ParsedQuery:
        return self.parser.parse(question, view=self.catalog.view(reader=reader), instant=day(at))


@pytest.fixture
def parse(small_store: Database) -> Asking:
    return Asking(small_store)


def described(query: ParsedQuery) -> list[str]:
    return [c.entity_id for m in query.mentions if m.cue.rule.startswith("description") for c in m.candidates]


def test_words_and_a_type_find_the_record(parse: Asking) -> None:
    query = parse("Which clusters were touched by the certificate renewed change?")
    assert described(query) == ["chg:482"]
    assert query.readings
    assert query.readings[0].branches[0].anchors == ("chg:482",)


def test_the_date_beside_it_must_agree(parse: Asking) -> None:
    """8 May 2026, the day of the change, was a Friday."""
    asked = "Which clusters were touched by last Friday's certificate renewed change?"
    assert described(parse(asked)) == ["chg:482"]
    assert described(parse(asked, at="2026-06-11")) == []


@pytest.mark.parametrize(
    "text",
    [
        "Which clusters were touched by the firewall renewed change?",
        "Which clusters were touched by the change?",
        "Which clusters were touched by CHG-482?",
        "Which clusters were touched by the certificate change of CHG-482?",
    ],
)
def test_nothing_is_described(parse: Asking, text: str) -> None:
    assert described(parse(text)) == []


def test_a_reader_is_shown_only_readable_records(parse: Asking) -> None:
    asked = "Which clusters were touched by the certificate renewed change?"
    assert described(parse(asked, reader=INSIDER)) == ["chg:482"]
    assert described(parse(asked, reader=NOBODY)) == []
