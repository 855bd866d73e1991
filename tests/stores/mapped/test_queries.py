from __future__ import annotations

import ast
from pathlib import Path

import pytest

from graphroute.errors import ConfigurationError
from graphroute.stores.mapped import queries, schema

STORES = Path(queries.__file__).resolve().parents[1]
FILES = [*sorted((STORES / "mapped").glob("*.py")), STORES / "graph" / "mapped.py", STORES / "catalog" / "mapped.py"]

GOLDEN = Path(__file__).parent / "golden"
GOLDEN_TEXTS = {query.name: query.text for query in queries.QUESTION_PATH} | queries.TEMPLATES

HOSTILE = [
    "a`) DETACH DELETE n //",
    "a\\u0060) DETACH DELETE n //",
    "a\\U00000060) x",
    "a``b",
    "`",
    "``",
    "\\",
    "\\u0060",
    "\\\\u0060",
    "a b\tc\nd",
    "Обычный тип",
    "客户",
    "ｆｕｌｌ` width",
    "}) RETURN 1 //",
    "/* x */",
    "$order",
    "x" * queries.MAX_NAME,
]


def unquoted(text: str) -> tuple[str, str]:
    """What Cypher reads of a quoted identifier, and what is left behind it: Unicode escapes first, then doubled back-ticks."""
    decoded, place = "", 0
    while place < len(text):
        if text.startswith("\\\\", place):
            decoded, place = decoded + "\\", place + 2
        elif text.startswith("\\u", place) and len(text) >= place + 6:
            decoded, place = decoded + chr(int(text[place + 2 : place + 6], 16)), place + 6
        else:
            decoded, place = decoded + text[place], place + 1
    assert decoded[0] == "`"
    name, place = "", 1
    while place < len(decoded):
        if decoded[place] != "`":
            name, place = name + decoded[place], place + 1
        elif decoded.startswith("``", place):
            name, place = name + "`", place + 2
        else:
            return name, decoded[place + 1 :]
    raise AssertionError("the name never ends")


def test_the_builder_is_the_only_place_that_makes_a_text() -> None:
    made = []
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {
            id(node): function.name
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef)
            for node in ast.walk(function)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Query":
                made.append((path.name, inside.get(id(node), "<module>")))
    assert {place for place in made if place[1] != "<module>"} == {
        ("queries.py", "_level"),
        ("queries.py", "label_query"),
    }


@pytest.mark.parametrize("name", sorted(GOLDEN_TEXTS))
def test_text_equals_its_golden_file(name: str) -> None:
    assert (GOLDEN / f"{name}.cypher").read_text(encoding="utf-8") == GOLDEN_TEXTS[name] + "\n"


def test_every_text_has_its_golden_file() -> None:
    assert {path.stem for path in GOLDEN.glob("*.cypher")} == set(GOLDEN_TEXTS)


def test_texts_are_few_named_apart_and_read_only() -> None:
    fixed = (*queries.QUESTION_PATH, *schema.SCHEMA_PATH)
    assert len({query.name for query in fixed}) == len(fixed)
    assert len(queries.QUESTION_PATH) + len(queries.TEMPLATES) <= 20
    for text in (*(query.text for query in fixed), *queries.TEMPLATES.values()):
        assert text.startswith("CYPHER 5 ")
        words = text.upper().split()
        assert not {"CREATE", "MERGE", "SET", "DELETE", "REMOVE", "LOAD", "DROP", "FOREACH"} & set(words)
        assert "APOC" not in text.upper()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_stays_a_name(name: str) -> None:
    text = queries.quoted(name)
    assert "`" not in text.replace("``", "")[1:-1]
    if "\\" not in name:
        assert unquoted(text) == (name, "")
    query = queries.label_query("mapped_lookup", name, name)
    plain = queries.label_query("mapped_lookup", "L", "P")
    assert query.text == plain.text.replace("`L`", text, 1).replace("`P`", text, 1)


@pytest.mark.parametrize("name", ["", "a\x00b", "x" * (queries.MAX_NAME + 1)])
def test_what_cannot_be_a_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be the name"):
        queries.quoted(name)
