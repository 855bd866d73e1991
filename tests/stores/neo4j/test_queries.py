"""The texts of the question path are a fixed list, each with its golden file, few, bounded and read-only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphroute.errors import DataError
from graphroute.stores.neo4j.connection import Query
from graphroute.stores.neo4j.queries import QUERIES
from graphroute.stores.neo4j.queries_search import SEARCH_QUERIES
from graphroute.stores.neo4j.writes import copy_fact, relationship_type

ALL = (*QUERIES, *SEARCH_QUERIES)
GOLDEN = Path(__file__).parent / "golden"
WRITING = re.compile(r"\b(CREATE|MERGE|SET|DELETE|REMOVE|DROP|FOREACH|LOAD\s+CSV|USE|SHOW|TERMINATE)\b", re.IGNORECASE)


@pytest.mark.parametrize("query", ALL, ids=lambda query: query.name)
def test_text_equals_its_golden_file(query: Query) -> None:
    assert (GOLDEN / f"{query.name}.cypher").read_text(encoding="utf-8") == query.text + "\n"


def test_the_list_is_short_and_its_names_and_files_are_one_to_one() -> None:
    assert len(ALL) <= 40
    assert len({query.name for query in ALL}) == len({query.text for query in ALL}) == len(ALL)
    assert {path.stem for path in GOLDEN.glob("*.cypher")} == {query.name for query in ALL}


@pytest.mark.parametrize("query", ALL, ids=lambda query: query.name)
def test_text_only_reads_is_bounded_and_takes_one_map(query: Query) -> None:
    assert query.text.startswith("CYPHER 5\n")
    assert WRITING.search(query.text) is None
    assert re.search(r"LIMIT (\d+|\$p\.\w+)", query.text)
    assert set(re.findall(r"\$(\w+)", query.text)) - {"any"} <= {"p"}


def test_control_a_writing_text_is_noticed() -> None:
    assert WRITING.search("MATCH (n)\nset n.x = 1")
    assert WRITING.search("LOAD  CSV FROM 'x' AS row RETURN row")


@pytest.mark.parametrize(
    "name",
    ["OWNS", "a`b", "\\u0060]->() DELETE r //", "a\\b", "тип", "关系", "\\", "``", "a b\n", "x" * 300, "\\\\u0060"],
)
def test_a_predicate_becomes_one_identifier(name: str) -> None:
    quoted = relationship_type(name)
    # What Cypher does: escapes first, then the identifier up to a backtick that is not doubled.
    text = re.sub(r"\\u([0-9A-Fa-f]{4})", lambda match: chr(int(match[1], 16)), quoted)
    assert re.fullmatch(r"`((?:[^`]|``)*)`", text)
    assert text[1:-1].replace("``", "`") == name
    assert quoted in copy_fact(name).text


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_what_no_identifier_can_hold_is_refused(name: str) -> None:
    with pytest.raises(DataError):
        relationship_type(name)
