"""Strict YAML: what loads, what is refused, and how fast."""

import json
import time
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from graphroute.errors import ConfigurationError
from graphroute.strict_yaml import MAX_BYTES, load_strict, nearest, read_strict, validate

CORE = """\
relations: [ON, OFF, NO, yes, depends_on]
who: Фёдор → 李
day: 2024-01-01
count: 12
share: -0.5
flag: true
nothing: ~
"quoted": "0010"
"""
VALUE = {
    "relations": ["ON", "OFF", "NO", "yes", "depends_on"],
    "who": "Фёдор → 李",
    "day": "2024-01-01",
    "count": 12,
    "share": -0.5,
    "flag": True,
    "nothing": None,
    "quoted": "0010",
}


@pytest.mark.parametrize(
    "text",
    [CORE, "\ufeff" + CORE, CORE.replace("\n", "\r\n"), ("\ufeff" + CORE).encode(), CORE.encode()],
    ids=["plain", "bom", "crlf", "bytes-bom", "bytes"],
)
def test_one_value_however_it_is_saved(text: str | bytes) -> None:
    assert load_strict(text, "f").value == VALUE


def test_plain_yaml_would_misread_what_is_kept_as_text_here() -> None:
    assert yaml.safe_load("a: NO") == {"a": False}
    assert load_strict("a: NO", "f").value == {"a": "NO"}


REFUSED = [
    ("id: 0010", "f:1:5", "id", "quotes"),
    ("a:\n  window: 12:30", "f:2:11", "a.window", "quotes"),
    ("n: 1_000", "f:1:4", "n", "quotes"),
    ("n: 0x1F", "f:1:4", "n", "quotes"),
    ("n: .nan", "f:1:4", "n", "number"),
    ("n: -.inf", "f:1:4", "n", "number"),
    ("n: 1e999", "f:1:4", "n", "too large"),
    ("n: 99999999999999999999", "f:1:4", "n", "number"),
    ("a: 1\nb: 2\na: 3", "f:3:1", "a", "line 1"),
    ('a: 1\n"a": 3', "f:2:1", "a", "line 1"),
    ("a: {x: 1, y: 2, x: 3}", "f:1:17", "a.x", "line 1"),
    ("a: &x 1\nb: *x", "f:1:4", "a", "aliases"),
    ("b: *x", "f:1:4", "b", "aliases"),
    ("&a [*a]", "f:1:1", "", "aliases"),
    ("a: 1\n<<: {b: 2}", "f:2:1", "", "merge"),
    ("a: !!python/object/apply:os.system [x]", "f:1:4", "a", "tag"),
    ("a: !x 1", "f:1:4", "a", "tag"),
    ("a: !!str 1", "f:1:4", "a", "tag"),
    ("a: 1\n---\nb: 2", "f:2:1", "", "second document"),
    ("%YAML 1.1\n---\na: 1", "f:1:1", "", "directives"),
    ("a: 1\n\tb: 2", "f:2:1", "", "tab"),
    ("a: x\x00y", "f:1:5", "", "U+0000"),
    ('a: "x\\0y"', "f:1:4", "a", "U+0000"),
    ("a: x\u2028y", "f:1:5", "", "U+2028"),
    ("a: [", "f:1:5", "", "not valid YAML"),
    ("a: b: c", "f:1:5", "", "not valid YAML"),
    ("? [a]\n: 1", "f:1:3", "", "key must be text"),
    ("1: x", "f:1:1", "", "not text"),
    ("true: x", "f:1:1", "", "not text"),
    ("a: b\nx: é\ny: \ud800", "f:3:4", "", "U+D800"),
    (b"a: b\nx: \xc3\xa9\xff", "f:2:5", "", "UTF-8"),
    ("a".encode("utf-16"), "f:1:1", "", "UTF-16"),
]


@pytest.mark.parametrize(("text", "where", "path", "reason"), REFUSED)
def test_refused_with_place_path_and_reason(text: str | bytes, where: str, path: str, reason: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_strict(text, "f")
    assert caught.value.where == where
    assert reason in str(caught.value)
    if path:
        assert caught.value.message.startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


BOMBS = {
    "aliases": "a: &a [x, x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*a, *a]\n" for i in range(9)),
    "brackets": "[" * 200_000,
    "braces": "{a: " * 50_000,
    "dashes": "- " * 100_000,
    "questions": "? " * 100_000,
    "items": "- a\n" * 65_000,
    "flow items": "[" + "a," * 120_000 + "]",
    "keys": "".join(f"k{i}: 1\n" for i in range(20_000)),
    "size": "a" * (MAX_BYTES + 1),
    "anchors": "".join(f"- &a{i} x\n" for i in range(20_000)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_at_once(name: str) -> None:
    started = time.process_time()
    with pytest.raises(ConfigurationError):
        load_strict(BOMBS[name], "f")
    assert time.process_time() - started < (1.0 if "items" in name or name == "keys" else 0.1)


@pytest.mark.parametrize("text", ["", "\n", "# a comment\n", "---\n"])
def test_an_empty_file_has_no_value(text: str) -> None:
    assert load_strict(text, "f").value is None


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="directory"):
        read_strict(tmp_path)
    with pytest.raises(ConfigurationError, match="no such file"):
        read_strict(tmp_path / "absent.yaml")
    with pytest.raises(ConfigurationError, match="file name"):
        read_strict("a\0b")
    (tmp_path / "big.yaml").write_bytes(b"#" * (10 * 1024 * 1024))
    with pytest.raises(ConfigurationError, match="256 KiB"):
        read_strict(tmp_path / "big.yaml")


def test_nearest_name() -> None:
    assert nearest("max_hopz", ["max_hops", "max_paths"]) == "max_hops"
    assert nearest("zzz", ["max_hops"]) is None


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    size: int = Field(default=1, ge=1, le=6)
    name: str = ""


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    items: list[Inner]
    table: dict[str, Inner] = {}
    one: Inner | None = None


def test_every_problem_is_reported_with_its_line() -> None:
    text = "items:\n  - size: 7\n  - nam: x\ntable:\n  a: {size: true}\none: {name: 1.10}\ntabel: {}\n"
    with pytest.raises(ConfigurationError) as caught:
        validate(load_strict(text, "f"), Outer)
    first, *others = str(caught.value).split(" | ")
    assert first == "f:2:11: items[0].size: 7 is not allowed; allowed: a whole number 1..6"
    assert others == [
        "f:3:5: items[1].nam: unknown key; did you mean 'name'?",
        "f:5:13: table.a.size: true is not allowed; allowed: a whole number 1..6",
        "f:6:13: one.name: 1.10 is read as a number where text is due; write '1.10' in quotes",
        "f:7:1: tabel: unknown key; did you mean 'table'?",
    ]


# JSON escapes characters beyond U+FFFF as surrogate pairs, which YAML does not join.
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text(st.characters(codec="utf-8", max_codepoint=0xFFFF, exclude_categories=["Cc"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="ascii", min_codepoint=32), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(PLAIN)
@settings(max_examples=200, deadline=None)
def test_what_a_careful_writer_writes_is_read_back(value: object) -> None:
    assert load_strict(json.dumps(value), "f").value == value


@given(st.text(max_size=200) | st.binary(max_size=200))
@settings(max_examples=500, deadline=None)
def test_any_text_loads_or_is_refused(text: str | bytes) -> None:
    with suppress(ConfigurationError):
        load_strict(text, "f")
