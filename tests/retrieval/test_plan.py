"""Plans: patterns for the store, words and Cypher text for people."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graphroute.ontology.load import load_ontology
from graphroute.parsing.parser import Parser
from graphroute.retrieval.plan import before_now, cypher_of, describe, pattern_of
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.stores.mapped.printing import MappedSchema
from graphroute.stores.mapped.values import part
from graphroute.stores.neo4j.printing import ReplicatedSchema
from graphroute.stores.printing import Statement, quoted
from graphroute.testing.world import INSIDER, ONTOLOGY, day
from graphroute.types.graph import AttributeFilter, Direction
from graphroute.types.mapping import DateMapping, NodeMapping, RelationMapping
from graphroute.types.ontology import Ontology, RelationKind, RelationType
from graphroute.types.query import Branch, Cue, CueKind, DateMode, EventAnchor, HopReading, Operation, Reading
from graphroute.types.reader import Reader
from graphroute.types.time import ANY_TIME, MAX_INSTANT, MIN_INSTANT, Interval, TimeFilter, TimeMode
from graphroute.types.view import View

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.cypher"))
PARTNERS = Ontology(
    relations={
        "PARTNER_OF": RelationType(name="PARTNER_OF", domain=("company",), range=("company",), symmetric=True),
        "OWNS": RelationType(name="OWNS", domain=("company",), range=("company",)),
    }
)
Build = Callable[..., Any]


VIEW = View(reader=Reader("ann", ["public"]), sequence=7, scopes=frozenset({2, 1}), token="")


def statement(built: Reading, ontology: Ontology = PARTNERS, limit: int = 40) -> Statement:
    """Over a copy of a store on Neo4j."""
    return cypher_of(built, ReplicatedSchema(), ontology=ontology, limit=limit)


def printed(built: Reading) -> str:
    """As `explain` shows it."""
    found = statement(built)
    return f"{found.setting};\n{found.text};"


@pytest.mark.parametrize("path", GOLDEN, ids=[path.stem for path in GOLDEN])
def test_cypher_is_as_written(path: Path, reading: Build) -> None:
    """A golden file holds the plan in comments, then its Cypher."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line.removeprefix("// ") for line in lines if line.startswith("//")]
    *plan, asks = head
    built = reading(*plan, asks=asks.removeprefix("asks: "))
    assert printed(built) == "\n".join(line for line in lines if not line.startswith("//"))


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

_NUMBERED = re.compile(
    r"(?:a|path|anchors|start)\d+(?:_\w+)?|[nr]\d+_\d+|(?:of|ends|since|until|value)(?:\d+_\d+)?(?:_\w+)*"
)
_GOLDEN_TEXT = "\n".join(
    line
    for path in GOLDEN
    for line in path.read_text(encoding="utf-8").splitlines()
    if not line.startswith(("//", ":param"))
)
_FIXED = frozenset(re.findall(r"[^\W\d]\w*", re.sub(r"(?<=[a-z0-9]:)[A-Z_]+(?=\])", "", _GOLDEN_TEXT)))
"""Words of texts as they were read over, without the predicates."""


def strange_words(cypher: str, names: Iterable[str]) -> list[str]:
    """Words of a Cypher text that are neither fixed, numbered, nor names of the ontology, and characters for literals."""
    known = _FIXED | set(names)
    words = [word for word in re.findall(r"[^\W\d]\w*", cypher) if word not in known and not _NUMBERED.fullmatch(word)]
    return words + re.findall(r"['\"`;/\\]", cypher)


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
        assert strange_words(statement(found).text, _NAMES) == []


def test_the_property_sees_readings_and_leaks(small_store: Database) -> None:
    catalog = SqliteCatalog(small_store)
    parser = Parser(load_ontology(ONTOLOGY), catalog, InvertedIndex(small_store))
    query = parser.parse("who owns checkout?", view=catalog.view(reader=INSIDER), instant=day("2026-06-01"))
    cypher = statement(query.readings[0]).text
    assert strange_words(cypher, _NAMES) == []
    assert strange_words(cypher.replace("$p.anchors0", "['svc:checkout']"), _NAMES)
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
        branches=(Branch(anchors=(f"{part(name)}/1",), start_types=(name,), hops=(hop,)),),
    )


def in_a_copy(name: str) -> str:
    return statement(hostile(name), limit=1).text


def in_a_mapped_graph(name: str) -> str:
    """Label, key, type and date are all called so."""
    node = NodeMapping(name=name, label=name, key=name)
    date = DateMapping(start=name)
    relation = RelationMapping(name=name, type=name, domain=(name,), range=(name,), date=date)
    return cypher_of(hostile(name), MappedSchema({name: node}, {name: relation}, VIEW), ontology=PARTNERS, limit=1).text


def unquoted(cypher: str) -> str:
    """The text with every quoted identifier, in which a back-tick is doubled, taken out."""
    return re.sub(r"`(?:[^`]|``)*`", "NAME", cypher)


@pytest.mark.parametrize("text_of", [in_a_copy, in_a_mapped_graph])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_inside_its_quotes(name: str, text_of: Callable[[str], str]) -> None:
    harmless = unquoted(text_of("a name"))
    assert unquoted(text_of(name)) == harmless
    assert harmless.count("NAME") == (9 if text_of is in_a_mapped_graph else 1)


@given(st.text(min_size=1, max_size=40))
@example("E")
@example("Entity")
def test_any_name_stays_inside_its_quotes(name: str) -> None:
    text_of = in_a_copy
    if name.isascii() and name.isidentifier():
        assert text_of(name) == text_of("Unheard_of").replace("Unheard_of", name)
    else:
        assert unquoted(text_of(name)) == unquoted(text_of("a name"))


def decoded(cypher: str) -> str:
    """The text as Cypher's reader hands it on: each Unicode escape is the character it names."""
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), cypher)


@pytest.mark.parametrize("name", ["A\\u0060]->() DETACH DELETE n //", "\\\\u0060", "\\uuu0060", "a\\b", "\\u005cu0060"])
def test_an_escape_in_a_name_is_no_escape(name: str) -> None:
    text_of = in_a_copy
    harmless = unquoted(text_of("a name"))
    for read in (text_of(name), decoded(text_of(name))):
        assert unquoted(read) == harmless
    assert decoded(quoted(name)) == f"`{name}`"
    # Without the guard the reader would end the name at the decoded back-tick.
    if name.startswith("A"):
        assert unquoted(decoded(f"(:`{name}`)")) != "(:NAME)"


def test_only_a_whole_number_is_a_limit(reading: Build) -> None:
    with pytest.raises(ValueError, match="d"):
        statement(reading("a:x -R-> b", asks="list b"), limit="40; DROP")  # type: ignore[arg-type]


def dated(
    mode: DateMode, *, predicates: tuple[str, ...] = ("APPROVED_BY",), attributes: tuple[str, ...] = ()
) -> EventAnchor:
    cue = Cue(kind=CueKind.DATE, value="R17", start=0, end=1, rule="event:when")
    return EventAnchor(cue=cue, anchors=("release:R17",), predicates=predicates, attributes=attributes, mode=mode)


def test_an_event_clause_is_part_of_the_plan(reading: Build) -> None:
    plain = reading("a:x -R@overlaps 2026-01-01..2026-01-02-> b", asks="list b")
    after = replace(plain, event=dated(DateMode.AFTER))
    assert describe(after) == ("after the first APPROVED_BY of release:R17", *describe(plain))


@pytest.mark.parametrize(
    ("test", "conditions", "values"),
    [
        ("overlaps 2026-01-01..2026-01-02", ["r0_0.high > $p.since0_0", "r0_0.low < $p.until0_0"], 2),
        ("overlaps ..2026-01-02", ["r0_0.low < $p.until0_0"], 1),
        (
            "starts_in 2026-01-01..2026-01-02",
            ["nullIf(r0_0.low, {low}) >= $p.since0_0", "nullIf(r0_0.low, {low}) < $p.until0_0"],
            2,
        ),
        ("ends_in ..2026-01-02", ["nullIf(r0_0.high, {high}) < $p.until0_0"], 1),
        ("starts_in ..", ["nullIf(r0_0.low, {low}) IS NOT NULL"], 0),
        ("overlaps ..", [], 0),
    ],
)
def test_the_time_of_a_hop_is_tested(test: str, conditions: list[str], values: int, reading: Build) -> None:
    found = statement(reading(f"a:x -R@{test}-> b", asks="list b"))
    bounds = {"low": MIN_INSTANT, "high": MAX_INSTANT}
    lines = [line.removeprefix("  AND ") for line in found.text.splitlines()]
    assert [line for line in lines if "nullIf" in line or "_0.low <" in line or "_0.high >" in line] == [
        condition.format(**bounds) for condition in conditions
    ]
    assert sum(key.startswith(("since", "until")) for key in found.parameters) == values


def test_states_over_a_range_share_a_moment_and_events_need_not(reading: Build) -> None:
    year = "@overlaps 2026-01-01..2027-01-01"
    built = reading(f"company:z -OWNS{year}-> company -OWNS{year}-> company", asks="list company")
    shared = "r0_0.low < r0_1.high AND r0_1.low < r0_0.high"
    assert shared in statement(built).text
    owns = RelationType(name="OWNS", domain=("company",), range=("company",), kind=RelationKind.EVENT)
    assert shared not in statement(built, Ontology(relations={"OWNS": owns})).text


def test_a_symmetric_relation_is_walked_both_ways(reading: Build) -> None:
    assert "-[r0_0:PARTNER_OF]-(" in statement(reading("company:z <-PARTNER_OF- company", asks="list company")).text


def test_a_walk_does_not_come_back(reading: Build) -> None:
    text = statement(reading("a:x -R-> b -S-> a -R-> b", asks="list b")).text
    assert re.findall(r"(\w+ <> \w+)", text) == [
        "n0_0 <> a0", "n0_1 <> a0", "answer <> a0", "n0_1 <> n0_0", "answer <> n0_0", "answer <> n0_1",
    ]  # fmt: skip
    text = statement(reading("a:x -R-> b -S-> a -T-> b", asks="list b")).text
    assert "answer <> n0_0" not in text
