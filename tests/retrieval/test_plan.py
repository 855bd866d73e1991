"""Plans: patterns for the store, words and Cypher text for people."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphroute.ontology.load import load_ontology
from graphroute.parsing.parser import Parser
from graphroute.retrieval.plan import before_now, cypher_of, describe, pattern_of, quoted
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.testing.world import INSIDER, ONTOLOGY, day
from graphroute.types.graph import AttributeFilter, Direction
from graphroute.types.ontology import Ontology, RelationType
from graphroute.types.query import Branch, Cue, CueKind, DateMode, EventAnchor, HopReading, Operation, Reading
from graphroute.types.time import ANY_TIME, Interval, TimeFilter, TimeMode

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.cypher"))
PARTNERS = Ontology(
    relations={
        "PARTNER_OF": RelationType(name="PARTNER_OF", domain=("company",), range=("company",), symmetric=True),
        "OWNS": RelationType(name="OWNS", domain=("company",), range=("company",)),
    }
)
Build = Callable[..., Any]


@pytest.mark.parametrize("path", GOLDEN, ids=[path.stem for path in GOLDEN])
def test_cypher_is_as_written(path: Path, reading: Build) -> None:
    """A golden file holds the plan in comments, then its Cypher."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line.removeprefix("// ") for line in lines if line.startswith("//")]
    *plan, asks = head
    built = reading(*plan, asks=asks.removeprefix("asks: "))
    assert cypher_of(built, limit=40) == "\n".join(line for line in lines if not line.startswith("//"))


def test_golden_files_cover_every_operation() -> None:
    asked = {path.read_text(encoding="utf-8").partition("// asks: ")[2].split()[0] for path in GOLDEN}
    assert asked == {operation.value for operation in Operation}


def test_a_plan_in_words(reading: Build) -> None:
    built = reading(
        "team:a -X-> svc <-Y- inc", "every cust[plan=basic] <-Z- inc", asks="list inc[severity=critical] of all"
    )
    implied = replace(built.branches[0].hops[0], cue=None)
    built = replace(
        built, branches=(replace(built.branches[0], hops=(implied, built.branches[0].hops[1])), built.branches[1])
    )
    assert describe(built) == (
        "team:a -X-> (implied) svc <-Y- inc",
        "every cust <-Z- inc",
        "list inc, severity eq critical joined by all",
    )
    assert describe(reading("inc:7", asks="value severity of inc"))[-1] == "value inc of attribute severity"


def test_a_pattern_keeps_order_filters_and_ends(branch: Build) -> None:
    line = "company:z -OWNS@overlaps 2026-01-01..2026-02-01-> company[tier=1] <-PARTNER_OF- company which is company:b"
    final = (AttributeFilter("size", "ge", "5"),)
    pattern = pattern_of(branch(line), ("company:z",), ontology=PARTNERS, final_filters=final, limit=7)
    first, last = pattern.hops
    assert (pattern.starts, pattern.limit) == (("company:z",), 7)
    assert (first.predicates, first.direction, first.types, first.ends) == (
        ("OWNS",),
        Direction.FORWARD,
        ("company",),
        None,
    )
    assert first.filters == (AttributeFilter("tier", "eq", "1"),)
    assert first.time == TimeFilter(TimeMode.OVERLAPS, Interval(day("2026-01-01"), day("2026-02-01")))
    # A symmetric relation is walked both ways.
    assert last.direction is None
    assert last.ends == ("company:b",)
    assert last.filters == final


def test_a_pattern_takes_other_ends(branch: Build) -> None:
    built = branch("company:z -OWNS-> company which is company:b")
    assert pattern_of(built, ("x",), ontology=PARTNERS, ends=("company:c",), limit=1).hops[-1].ends == ("company:c",)


def test_a_pattern_over_what_began_before(branch: Build) -> None:
    built = branch("company:z -OWNS@overlaps 2026-01-01..2026-02-01-> company -OWNS-> company which is company:b")
    earlier = before_now(pattern_of(built, ("x",), ontology=PARTNERS, limit=1))
    first, last = earlier.hops
    assert first.time == TimeFilter(TimeMode.OVERLAPS, Interval(None, day("2026-02-01")))
    assert (last.time, last.ends) == (ANY_TIME, ("company:b",))


# Nothing of a question enters Cypher text ------------------------------------------------------------------------------

_FIXED = frozenset(
    [
        "MATCH",
        "WHERE",
        "AND",
        "RETURN",
        "DISTINCT",
        "AS",
        "LIMIT",
        "ORDER",
        "BY",
        "DESC",
        "ASC",
        "IN",
        "RANGE",
        "any",
        "scope",
        "scopes",
        "readable",
        "coalesce",
        "count",
        "id",
        "answer",
        "value",
        "n",
        "always",
        "forever",
        "until",
        "since",
        "attribute",
        "valid_from",
        "valid_to",
        "OPTIONAL",
        "WITH",
        "OR",
        "IS",
        "NOT",
        "NULL",
        "event",
        "happened",
        "moment",
        "min",
    ]
)
_NUMBERED = re.compile(r"(?:a|p|anchors|ends|dated)\d+|[nr]\d+_\d+|(?:key|value)(?:\d+_\d+|start\d+|answer)_\d+")


def strange_words(cypher: str, names: Iterable[str]) -> list[str]:
    """Words of a Cypher text that are neither fixed, numbered, nor names of the ontology, and characters for literals."""
    known = _FIXED | set(names)
    words = [word for word in re.findall(r"[^\W\d]\w*", cypher) if word not in known and not _NUMBERED.fullmatch(word)]
    return words + re.findall(r"['\"`;/\\{}]", cypher)


_NAMES = (*load_ontology(ONTOLOGY).types, *load_ontology(ONTOLOGY).relations)
_PIECES = st.sampled_from(
    [
        "who owns",
        "checkout",
        "CHG-482",
        "eu-1",
        "which services connect to",
        "which customers use",
        "owned by",
        "`]->() DETACH DELETE n //",
        "' OR 1=1 //",
        "} RETURN n",
        '"acme"',
        "acme",
        "in March 2026",
        "and",
        "how many changes",
        "touched",
        "the most",
        "first",
    ]
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(_PIECES, _PIECES, _PIECES, st.text(max_size=8)), min_size=2, max_size=7))
def test_no_text_of_a_question_enters_cypher(small_store: Database, pieces: list[str]) -> None:
    catalog = SqliteCatalog(small_store)
    parser = Parser(load_ontology(ONTOLOGY), catalog, InvertedIndex(small_store))
    question = "who " + " ".join(pieces)
    query = parser.parse(question, view=catalog.view(reader=INSIDER), instant=day("2026-06-01"))
    for found in query.readings:
        assert strange_words(cypher_of(found, limit=40), _NAMES) == []


def test_the_property_sees_readings_and_leaks(small_store: Database) -> None:
    catalog = SqliteCatalog(small_store)
    parser = Parser(load_ontology(ONTOLOGY), catalog, InvertedIndex(small_store))
    query = parser.parse("who owns checkout?", view=catalog.view(reader=INSIDER), instant=day("2026-06-01"))
    cypher = cypher_of(query.readings[0], limit=40)
    assert strange_words(cypher, _NAMES) == []
    assert strange_words(cypher.replace("$anchors0", "['svc:checkout']"), _NAMES)
    assert strange_words(cypher + " DETACH DELETE a0", _NAMES) == ["DETACH", "DELETE"]


HOSTILE = [
    "REPORTS TO`]->() DETACH DELETE n //",
    "LOW-COST\tLINK",
    "``",
    "`",
    "A\nB",
    "владеет",
    "a b",
    "X}) RETURN 1 //",
    "",
    "1st",
]


def hostile(name: str) -> Reading:
    hop = HopReading(predicate=name, direction=Direction.FORWARD, types=(name,))
    return Reading(
        operation=Operation.LIST,
        target_types=(name,),
        branches=(Branch(anchors=("x",), start_types=(name,), hops=(hop,)),),
    )


def unquoted(cypher: str) -> str:
    """The text with every quoted identifier, in which a back-tick is doubled, taken out."""
    return re.sub(r"`(?:[^`]|``)*`", "NAME", cypher)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_inside_its_quotes(name: str) -> None:
    harmless = unquoted(cypher_of(hostile("a name"), limit=1))
    assert unquoted(cypher_of(hostile(name), limit=1)) == harmless
    assert harmless.count("NAME") == 3


@given(st.text(min_size=1, max_size=40))
def test_any_name_stays_inside_its_quotes(name: str) -> None:
    harmless = unquoted(cypher_of(hostile("a name"), limit=1))
    found = unquoted(cypher_of(hostile(name), limit=1))
    plain = name.isascii() and name.isidentifier()
    assert (found.replace(f":{name}", ":NAME") if plain else found) == harmless


def decoded(cypher: str) -> str:
    """The text as Cypher's reader hands it on: each Unicode escape is the character it names."""
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), cypher)


@pytest.mark.parametrize("name", ["A\\u0060]->() DETACH DELETE n //", "\\\\u0060", "\\uuu0060", "a\\b", "\\u005cu0060"])
def test_an_escape_in_a_name_is_no_escape(name: str) -> None:
    harmless = unquoted(cypher_of(hostile("a name"), limit=1))
    for read in (cypher_of(hostile(name), limit=1), decoded(cypher_of(hostile(name), limit=1))):
        assert unquoted(read) == harmless
    assert decoded(quoted(name)) == f"`{name}`"
    # Without the guard the reader would end the name at the decoded back-tick.
    if name.startswith("A"):
        assert unquoted(decoded(f"(:`{name}`)")) != "(:NAME)"


def test_only_a_whole_number_is_a_limit(reading: Build) -> None:
    with pytest.raises(ValueError, match="d"):
        cypher_of(reading("a:x -R-> b", asks="list b"), limit="40; DROP")  # type: ignore[arg-type]


def dated(
    mode: DateMode, *, predicates: tuple[str, ...] = ("APPROVED_BY",), attributes: tuple[str, ...] = ()
) -> EventAnchor:
    cue = Cue(kind=CueKind.DATE, value="R17", start=0, end=1, rule="event:when")
    return EventAnchor(cue=cue, anchors=("release:R17",), predicates=predicates, attributes=attributes, mode=mode)


def test_an_event_clause_is_part_of_the_plan(reading: Build) -> None:
    plain = reading("a:x -R@overlaps 2026-01-01..2026-01-02-> b", asks="list b")
    after = replace(plain, event=dated(DateMode.AFTER))
    assert describe(after) == ("after the first APPROVED_BY of release:R17", *describe(plain))
    assert cypher_of(after, limit=1) == (
        "MATCH (event)\n"
        "WHERE event.id IN $event\n"
        "OPTIONAL MATCH (event)-[happened:APPROVED_BY]-()\n"
        "  WHERE any(scope IN happened.scopes WHERE scope IN $readable)\n"
        "WITH min(happened.valid_from) AS moment\n"
        "MATCH p0 = (a0:a)-[r0_0:R]->(answer:b)\n"
        "WHERE coalesce(r0_0.valid_to, $forever) > moment\n"
        "  AND any(scope IN r0_0.scopes WHERE scope IN $readable)\n"
        "  AND a0.id IN $anchors0\n"
        "RETURN DISTINCT answer.id AS answer, p0\n"
        "LIMIT 1"
    )


@pytest.mark.parametrize(
    ("mode", "events", "test"),
    [
        (
            DateMode.AT,
            (),
            "coalesce(r0_0.valid_from, $always) <= moment\n  AND coalesce(r0_0.valid_to, $forever) > moment",
        ),
        (DateMode.AFTER, (), "coalesce(r0_0.valid_to, $forever) > moment"),
        (DateMode.AFTER, ("R",), "r0_0.valid_from >= moment"),
        (DateMode.BEFORE, (), "coalesce(r0_0.valid_from, $always) < moment"),
        (DateMode.BEFORE, ("R",), "r0_0.valid_from < moment"),
    ],
)
def test_a_hop_is_tested_against_the_moment_of_the_event(
    mode: DateMode, events: tuple[str, ...], test: str, reading: Build
) -> None:
    built = replace(reading("a:x -R-> b", asks="list b"), event=dated(mode))
    assert f"\nWHERE {test}\n  AND any(" in cypher_of(built, limit=1, events=events)


def test_an_event_may_be_dated_by_an_attribute(reading: Build) -> None:
    built = replace(
        reading("a:x -R-> b", asks="list b"), event=dated(DateMode.AT, predicates=(), attributes=("opened",))
    )
    assert describe(built)[0] == "at the first opened of release:R17"
    assert "WITH min(event[$dated0]) AS moment" in cypher_of(built, limit=1)
    assert "opened" not in cypher_of(built, limit=1)
