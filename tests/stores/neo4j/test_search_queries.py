from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from graphroute.stores.neo4j.queries_search import SEARCH_QUERIES
from graphroute.stores.neo4j.search_fields import (
    INDEX_OF,
    MAX_SCOPE_TOKENS,
    indexed_form,
    lucene_searches,
    read_counts,
    scope_token,
    search_fields,
)
from graphroute.stores.term_hash import term_hash
from graphroute.text import query_terms, terms

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("query", SEARCH_QUERIES, ids=[query.name for query in SEARCH_QUERIES])
def test_the_text_of_a_query(query: object) -> None:
    name, text = query.name, query.text  # type: ignore[attr-defined]
    assert text == (GOLDEN / f"{name}.cypher").read_text(encoding="utf-8").rstrip("\n")
    assert text.startswith("CYPHER 5\n")
    assert re.search(r"\bLIMIT (\$p\.\w+|1)", text)
    assert set(re.findall(r"\$\w+", text)) == {"$p"}
    assert not re.search(r"\b(CREATE|MERGE|SET|DELETE|REMOVE|LOAD|FOREACH|DROP)\b", text)
    assert "p.scope IN $p.scopes AND p.born <= $p.sequence AND p.died > $p.sequence" in text


def test_there_are_few() -> None:
    assert len(SEARCH_QUERIES) <= 6
    assert len({query.name for query in SEARCH_QUERIES}) == len(SEARCH_QUERIES)


@pytest.mark.parametrize(
    ("term", "property_", "word"),
    [
        ("pump", "words_english", "pump"),
        ("chg-482", "words_english", "chg_482"),
        ("no", "words_english", "no_"),
        ("not-in", "words_english", "not_in"),
        ("насос", "words_russian", "насос"),
        ("только", "words_russian", "только_"),
        ("тп-15", "words_russian", "тп_15"),
        ("负责", "words_cjk", "负责"),
        ("カ", "words_cjk", "カ"),
        ("αβγ", "words_english", "xceb1ceb2ceb3"),
        ("𠀀", "words_english", "xf0a08080"),
        ("zoë", "words_english", "zoë"),
    ],
)
def test_where_a_term_stands(term: str, property_: str, word: str) -> None:
    assert indexed_form(term) == (property_, word)


def test_fields_of_a_passage() -> None:
    fields = search_fields({"title": "Насос", "text": "pump CHG-482 泵 pump", "scope": 7})
    found = terms("Насос\npump CHG-482 泵 pump")
    assert fields["length"] == len(found)
    wanted = np.array(sorted({term_hash(term) for term in (*found, "absent")}), dtype=np.int64)
    packed = fields["term_bytes"]
    assert isinstance(packed, bytes)
    assert dict(zip(wanted.tolist(), read_counts(packed, wanted), strict=True)) == {
        term_hash(term): found.count(term) for term in (*found, "absent")
    }
    assert len(fields["term_ids"]) == len(set(found))  # type: ignore[arg-type]
    for property_ in INDEX_OF:
        assert str(fields[property_]).split()[0] == scope_token(7)
    assert "words_cjk" not in search_fields({"title": "", "text": "pump", "scope": 7})


HOSTILE = [
    "who is owner/approver of CHG-482?",
    "urgent! (pump) [v2] {x} : ^ ~ * ? \\",
    'words_english:"pump" OR *:*',
    'pump" +scope_2 OR "x',
    "насос\\ AND (клапан",
    "\x00泵\u202e",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_only_quoted_terms_reach_lucene(text: str) -> None:
    for search in lucene_searches(query_terms(text), [1, 2]):
        assert re.fullmatch(r'\+\("[\w-]+"( OR "[\w-]+")*\) \+\(_s1 OR _s2\)', search["text"], flags=re.UNICODE)
        assert not re.search(r'"_s\d', search["text"])
    assert all("_s" not in one["text"] for one in lucene_searches(["pump"], range(MAX_SCOPE_TOKENS + 1)))
