"""Records: fields with exact spans, typed values, and what the ontology makes of them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from graphroute.indexing.records import (
    parse_record,
    record_attributes,
    record_id,
    record_names,
    record_type,
    type_value,
)
from graphroute.indexing.yaml_text import YamlError, read_yaml
from graphroute.text.dates import infer_date_order, parse_record_date
from graphroute.types.ontology import EntityType, Ontology, RecordType
from graphroute.types.source import Source
from graphroute.types.time import Interval, format_instant

CASES = yaml.safe_load((Path(__file__).parent / "records.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES["documents"], ids=[case["name"] for case in CASES["documents"]])
def test_fields(case: dict) -> None:
    fields = parse_record(case["text"])
    assert [[field.key, field.value] for field in fields] == case["fields"]
    for field in fields:
        written = case["text"][field.start : field.end]
        assert written == case.get("written", {}).get(field.key, field.value)


@pytest.mark.parametrize("case", CASES["values"], ids=[str(case[0]) for case in CASES["values"]])
def test_typed_values(case: list) -> None:
    text, kind, expected = case[:3]
    typed = type_value(text, *case[3:])
    found = {"text": None, "number": typed.number, "date": format_instant(typed.instant)}[typed.kind]
    assert (typed.kind, found) == (kind, expected)


KEY = st.text(st.sampled_from("abcxyzéяж漢名 _-09"), min_size=1, max_size=12).map(lambda key: "k" + key.strip())
VALUE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=30).filter(
    lambda value: value == value.strip() and value not in ("~", "null") and value[0] not in "[{|>\"'&*!"
)


@given(st.lists(st.tuples(KEY, VALUE), min_size=2, max_size=8), st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_lines_give_back_what_was_written(pairs: list[tuple[str, str]], end: str) -> None:
    """Every line is a field, in order, repeated keys too, with the span of its value."""
    text = end.join(f"{key}: {value}" for key, value in pairs)
    fields = parse_record(text)
    assert [(field.key, field.value) for field in fields] == pairs
    assert [text[field.start : field.end] for field in fields] == [value for _, value in pairs]


TREE = st.recursive(
    st.text(st.sampled_from("aя漢 -:#'\"\\,[]{}\n"), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abя", min_size=1, max_size=4), inner, max_size=3)
    ),
    max_leaves=10,
)


def leaves(tree: object, path: str = "") -> list[tuple[str, str]]:
    if isinstance(tree, str):
        return [(path, tree.strip())] if tree.strip() else []
    if isinstance(tree, list):
        return [leaf for item in tree for leaf in leaves(item, path)]
    return [leaf for key, item in tree.items() for leaf in leaves(item, f"{path}.{key}" if path else key)]


@given(st.dictionaries(st.text("abя", min_size=1, max_size=4), TREE, min_size=1, max_size=4), st.text(max_size=20))
def test_front_matter_gives_back_the_tree(tree: dict, body: str) -> None:
    written = yaml.safe_dump(tree, allow_unicode=True, sort_keys=False, default_style='"')
    text = f"---\n{written}---\n{body}"
    fields = parse_record(text)
    assert [(field.key, field.value) for field in fields] == leaves(tree)
    assert all(4 <= field.start < field.end <= 4 + len(written) for field in fields)


@given(st.text(max_size=300) | st.text("ab:：-#*\n \"'[]{}&|>!%~\t\r\u2028", max_size=60))
def test_any_text_is_read_or_left(text: str) -> None:
    for prefix in ("", "---\n", "a: b\nc: d\n"):
        for field in parse_record(prefix + text):
            assert field.value
            assert 0 <= field.start < field.end <= len(prefix + text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: &x 1\nb: *x", "anchors"),
        ("a: !!python/name:os.system x", "tag"),
        ("a: 1\n<<: {b: 2}", "merge"),
        ("a: 1\n---\nb: 2", "more than one document"),
        ("[" * 1000, "nesting depth"),
        ("- " * 1000, "nesting depth"),
        ("a: [", "did not find"),
        ("? [a]\n: b", "not a scalar"),
        ("a: 1\na: 2", "given twice"),
        ("a: x" + "y" * 300_000, "longer than"),
        ("a: \x00", "control characters"),
    ],
)
def test_yaml_that_is_refused(text: str, says: str) -> None:
    with pytest.raises(YamlError) as caught:
        read_yaml(text)
    assert says in str(caught.value) or "allowed" in str(caught.value)
    assert caught.value.line >= 1


def test_scalars_stay_text() -> None:
    fields = parse_record("---\nflag: NO\nid: 0010\nversion: 1.10\ntime: 12:30\nnothing: null\nword: 'null'\n---\n")
    assert [(field.key, field.value) for field in fields] == [
        ("flag", "NO"),
        ("id", "0010"),
        ("version", "1.10"),
        ("time", "12:30"),
        ("word", "null"),
    ]


def test_date_order_of_a_field() -> None:
    assert infer_date_order(["01/02/2024", "03/25/2024"]) == "MDY"
    assert infer_date_order(["01/02/2024", "25/03/2024"]) == "DMY"
    assert infer_date_order(["25.03.2024", "n/a"]) == "MDY"


@given(st.dates(min_value=date(1000, 1, 1)), st.sampled_from(["MDY", "DMY"]))
def test_dates_are_read_in_their_order(day, order: str) -> None:
    text = day.strftime("%m/%d/%Y" if order == "MDY" else "%d/%m/%Y")
    assert format_instant(parse_record_date(text, order)) == day.isoformat()
    assert format_instant(parse_record_date(day.strftime("%d.%m.%Y"), order)) == day.isoformat()
    assert format_instant(parse_record_date(day.isoformat(), order)) == day.isoformat()
    assert format_instant(parse_record_date(f"{day.year}年{day.month}月{day.day}日", order)) == day.isoformat()


ACCOUNT = Source(
    id="rec:1",
    text="account_id: 01\nholder: Анна Ким\nopened: 05/11/2024\nbalance: $842.15\nnote: x",
    labels=frozenset({"staff"}),
    kind="account",
    validity=Interval(5, 9),
)


def test_record_becomes_names_and_attributes() -> None:
    record = RecordType(
        kind="account",
        type="account",
        id_field="account_id",
        names=("holder",),
        attributes={"opened": "opening date", "balance": "balance"},
        date_order="DMY",
    )
    ontology = Ontology(types={"account": EntityType(name="account", prefix="acct")}, records=(record,))
    assert record_type(ontology, ACCOUNT) is record
    fields = parse_record(ACCOUNT.text)
    assert record_id(record, fields, ontology) == "acct:01"
    ((name, span),) = record_names(record, fields, ACCOUNT)
    assert name == "Анна Ким" == ACCOUNT.text[span.start : span.end]
    opened, balance = record_attributes(record, fields, ACCOUNT, "acct:01")
    assert (opened.key, opened.value, format_instant(opened.instant)) == ("opening date", "05/11/2024", "2024-11-05")
    assert (balance.key, balance.value, balance.number) == ("balance", "$842.15", 842.15)
    assert balance.validity == ACCOUNT.validity
    assert ACCOUNT.text[balance.span.start : balance.span.end] == "$842.15"


def test_star_keeps_all_fields_but_those_dropped() -> None:
    record = RecordType(kind="*", attributes={"*": "*", "note": "", "opened": "since"})
    attributes = record_attributes(record, parse_record(ACCOUNT.text), ACCOUNT, "x")
    assert [attribute.key for attribute in attributes] == ["account_id", "holder", "since", "balance"]


def test_own_kind_goes_before_any_kind() -> None:
    own, other = RecordType(kind="account"), RecordType(kind="*")
    assert record_type(Ontology(records=(other, own)), ACCOUNT) is own
    assert record_type(Ontology(records=(RecordType(kind="user"), other)), ACCOUNT) is other
    assert record_type(Ontology(records=(RecordType(kind="user"),)), ACCOUNT) is None
