"""Names and identifiers of a question, over a real store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import pytest

from graphroute.ontology.load import load_ontology
from graphroute.parsing.parser import Parser
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.stores.writer import SnapshotWriter
from graphroute.types.query import CueKind, Mention, ParsedQuery
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source


@pytest.fixture
def parse(worlds: Mapping[str, Any]) -> Any:
    return worlds["company"].parse


def found(query: ParsedQuery) -> dict[str, tuple[list[str], bool]]:
    return {m.cue.text: ([c.entity_id for c in m.candidates], m.strong) for m in (*query.identifiers, *query.mentions)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who leads Payments?", {"Payments": ["team:payments"]}),
        ("who owns MAIL  GATEWAY", {"MAIL  GATEWAY": ["service:mail-gateway"]}),
        ("who owns mail-gateway", {"mail-gateway": ["service:mail-gateway"]}),
        ("who owns Mail_Gateway", {"Mail_Gateway": ["service:mail-gateway"]}),
        ("who owns Ledger API", {"Ledger API": ["service:ledger-api"]}),
        ("who is S. Ortiz", {"S. Ortiz": ["person:sam-billing", "person:sam-plant"]}),
        ("what hit eu-1 and us-2", {"eu-1": ["cluster:eu-1"], "us-2": ["cluster:us-2"]}),
        ("release R17", {"release R17": ["release:R17"]}),
        ("r17", {"r17": ["release:R17"]}),
        ("INC-7", {"INC-7": ["incident:INC-7"]}),
        ("inc–7", {"inc–7": ["incident:INC-7"]}),
        ("ＩＮＣ－７", {"ＩＮＣ－７": ["incident:INC-7"]}),
        ("Zeta Ltd, Alpha Ltd", {"Zeta Ltd": ["company:zeta"], "Alpha Ltd": ["company:alpha"]}),
        ("Mina Kovač", {"Mina Kovač": ["person:mina"]}),
        ("ФЕДОР КИМ", {"ФЕДОР КИМ": ["person:fedor"]}),
        ("李雷和结账服务", {"李雷": ["person:li"], "结账服务": ["service:cn-pay"]}),
    ],
)
def test_names_in_any_spelling(parse: Any, text: str, expected: dict[str, list[str]]) -> None:
    query = parse(text)
    assert {name: ids for name, (ids, _) in found(query).items()} == expected
    for mention in (*query.identifiers, *query.mentions):
        assert query.text[mention.cue.start : mention.cue.end] == mention.cue.text


def test_letters_that_differ_are_not_folded(parse: Any) -> None:
    """B06: й is no и, and a name without its diacritic is another."""
    assert found(parse("Mina Kovac")) == {} or "Mina Kovac" not in found(parse("Mina Kovac"))
    assert found(parse("Фейдор Ким")).get("Фейдор Ким") is None


def test_the_longest_name_wins(parse: Any) -> None:
    assert list(found(parse("who owns Ledger API"))) == ["Ledger API"]
    assert found(parse("who leads Ledger"))["Ledger"][0] == ["team:ledger"]


def test_two_things_of_one_name_stay_two(parse: Any) -> None:
    (mention,) = parse("who manages Sam Ortiz").mentions
    assert mention.ambiguous
    assert [candidate.entity_id for candidate in mention.candidates] == ["person:sam-billing", "person:sam-plant"]


@pytest.mark.parametrize(
    ("text", "name", "strong"),
    [
        ("which team owns search", "search", False),
        ('which team owns "search"', "search", True),
        ("which team owns checkout", "checkout", False),
        ("which team owns Checkout", "Checkout", True),
        ("who leads payments", "payments", False),
    ],
)
def test_an_ordinary_word_is_a_weak_name(parse: Any, text: str, name: str, strong: bool) -> None:
    assert found(parse(text))[name][1] is strong


def test_identifiers_are_told_from_names(parse: Any) -> None:
    query = parse("Did INC-7 hit Mail Gateway?")
    assert [m.cue.text for m in query.identifiers] == ["INC-7"]
    assert [m.cue.text for m in query.mentions] == ["Mail Gateway"]
    assert query.identifiers[0].cue.kind is CueKind.IDENTIFIER


def test_an_identifier_nothing_readable_has(parse: Any) -> None:
    query = parse("What is INC-99?")
    assert found(query) == {}
    assert [(cue.text, cue.kind) for cue in query.unresolved] == [("INC-99", CueKind.UNRESOLVED)]


def test_a_fragment_of_an_identifier_is_none(parse: Any) -> None:
    assert found(parse("INC-71 and XINC-7")) == {}


def test_part_of_a_quotation_is_no_name(parse: Any) -> None:
    assert "Payments" not in found(parse('Who wrote "The Payments Handbook of 1999"?'))
    assert found(parse('Who leads "Payments"?'))["Payments"][0] == ["team:payments"]


def test_values_of_attributes(parse: Any) -> None:
    query = parse("Which critical incidents affected search?")
    assert [(cue.text, cue.rule) for cue in query.values] == [("critical", "value:exact")]


def test_another_reader_knows_no_names(parse: Any) -> None:
    query = parse("Did INC-7 hit Mail Gateway?", reader=Reader("eve", ["other"]))
    assert (query.mentions, query.identifiers, query.values) == ((), (), ())
    assert "INC-7" in [cue.text for cue in query.unresolved]


def test_mentions_do_not_overlap(worlds: Mapping[str, Any]) -> None:
    text = "Mail Gateway Ledger API Ledger Payments INC-7 R17 S. Ortiz Sam Ortiz checkout search"
    query = worlds["company"].parse(text)
    spans = sorted((m.cue.start, m.cue.end) for m in (*query.identifiers, *query.mentions))
    assert len(spans) >= 9
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert all(isinstance(m, Mention) for m in query.mentions)


RULES = (
    "An Authorised Person keeps the records of its Recognised Investment Exchanges.",
    "A fund manager of a venture capital fund files a report. The Fund Manager signs it.",
    "Wanda Brook and Piet Kirkpatrick audit the rewards card.",
)


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SqliteCatalog, Parser]]:
    with Database(tmp_path_factory.mktemp("rules") / "store.db") as database:
        writer = SnapshotWriter(database)
        writer.begin()
        for number, text in enumerate(RULES):
            writer.put_source(Source(id=f"r{number}", text=text, labels=frozenset({"public"})))
            writer.put_passages([Passage(id=f"r{number}#0", source_id=f"r{number}", start=0, end=len(text), text=text)])
        writer.publish()
        ontology = load_ontology("types: {report: {nouns: [report]}}\n")
        catalog = SqliteCatalog(database)
        yield catalog, Parser(ontology, catalog, InvertedIndex(database))


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Authorised Person", True),
        ("Authorized Person", True),
        ("Authorized Persons'", True),
        ("Recognized Investment Exchange", True),
        ("Venture Capital Fund Manager", True),
        ("Venture Capital Person", False),
        ("Wanda Kirkpatrick", False),
        ("Obsidian Rewards Card", False),
        ("Wanda Brook Obsidian Rewards", False),
    ],
)
def test_a_name_is_known_in_any_spelling_the_texts_have(
    rules: tuple[SqliteCatalog, Parser], name: str, known: bool
) -> None:
    catalog, parser = rules
    view = catalog.view(reader=Reader("ann", ["public"]))
    query = parser.parse(f"Which report must the {name} file?", view=view, instant=0)
    assert [cue.text for cue in query.unresolved] == ([] if known else [name])
