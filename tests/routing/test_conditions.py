"""The language of conditions: grammar, evaluation, failed parts and errors."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphroute.errors import ConfigurationError
from graphroute.routing.conditions import (
    FEATURES,
    And,
    Comparison,
    Condition,
    Flag,
    Not,
    Or,
    features,
    names_of,
    parse_condition,
)

FLAGS = sorted(name for name, feature in FEATURES.items() if not feature.number)
NUMBERS = sorted(name for name, feature in FEATURES.items() if feature.number)


def joined(parts: list[Condition], kind: type[And] | type[Or]) -> Condition:
    flat: list[Condition] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, And | Or) and isinstance(part, kind) else [part])
    return kind(tuple(flat))


ATOMS = st.builds(Flag, st.sampled_from(FLAGS)) | st.builds(
    Comparison, st.sampled_from(NUMBERS), st.sampled_from([">=", "<=", "==", "!=", ">", "<"]), st.integers(0, 9)
)
CONDITIONS: st.SearchStrategy[Any] = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(lambda parts: joined(parts, And), st.lists(inner, min_size=2, max_size=3)),
        st.builds(lambda parts: joined(parts, Or), st.lists(inner, min_size=2, max_size=3)),
    ),
    max_leaves=6,
)
VALUES = st.fixed_dictionaries(
    {name: st.integers(0, 9) if feature.number else st.booleans() for name, feature in FEATURES.items()}
)


@given(CONDITIONS)
@settings(max_examples=300, deadline=None)
def test_the_canonical_spelling_parses_to_the_same_condition(condition: Condition) -> None:
    assert parse_condition(str(condition)) == condition


@given(CONDITIONS, VALUES)
@settings(max_examples=300, deadline=None)
def test_evaluation_agrees_with_the_same_text_read_as_python(
    condition: Condition, values: dict[str, int | bool]
) -> None:
    expected = bool(eval(str(condition), {"__builtins__": {}}, values))
    assert condition.evaluate(values) is expected
    assert bool(condition.failures(values)) is not expected


@given(CONDITIONS)
@settings(max_examples=100, deadline=None)
def test_layout_does_not_matter(condition: Condition) -> None:
    text = str(condition)
    for sign in ("(", ")", ">=", "<=", "==", "!="):
        text = text.replace(sign, f" {sign}\n")
    assert parse_condition(f"(({text}))") == condition
    assert set(names_of(condition)) <= set(FEATURES)


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from([*FLAGS[:2], *NUMBERS[:2], "and", "or", "not", "(", ")", ">=", "2"]), max_size=12).map(
        " ".join
    )
)
@settings(max_examples=500, deadline=None)
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        condition = parse_condition(text)
    except ConfigurationError as error:
        refusal = str(error)
    else:
        refusal = ""
        assert parse_condition(str(condition)) == condition
    assert "\n" not in refusal.replace(repr(text), "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "ends here at character 1"),
        (
            "has_exactid",
            "unknown condition 'has_exactid' at character 1 of the condition; did you mean 'has_exact_id'?",
        ),
        ("relation_count >= 2 and entity_cuont >= 1", "unknown condition 'entity_cuont' at character 25"),
        ("relation_count", "compare it, as in 'relation_count >= 1'"),
        ("has_exact_id == 1", "has_exact_id is yes or no"),
        ("1 <= relation_count <= 3", "cannot be chained"),
        ("1 < 2", "two numbers"),
        ("3", "alone says nothing"),
        ("quoted and", "ends here at character 11"),
        ("quoted quoted", "'quoted' is out of place at character 8"),
        ("(quoted", "allowed: ')'"),
        ("quoted)", "')' is out of place"),
        ("relation_count >= -1", "'-' is not part of the language at character 19"),
        ("relation_count >= 2.5", "'.' is not part of the language"),
        ("quoted && negated", "'&' is not part of the language"),
        ("__import__('os').system('x')", "at character 12 of the condition"),
        ("__import__", "unknown condition '__import__'"),
        ("relation_count >= 9999999999", "too large"),
        ("(" * 30 + "quoted" + ")" * 30, "nested more than 20"),
        ("not " * 200 + "quoted", "nested more than 20"),
        ("quoted or " * 200 + "quoted", "at most 1000"),
    ],
)
def test_errors_say_what_where_and_what_is_allowed(text: str, expected: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_condition(text)
    assert expected in str(caught.value)


def test_binding_strength() -> None:
    assert parse_condition("quoted or negated and not has_exact_id") == Or(
        (Flag("quoted"), And((Flag("negated"), Not(Flag("has_exact_id")))))
    )


def test_every_name_is_computed_and_documented(parsed: Any) -> None:
    values = features(parsed("Who owns Acme?", {"mention": ["Acme"], "relation": ["owns"]}, reading=True))
    assert list(values) == list(FEATURES)
    for name, feature in FEATURES.items():
        assert type(values[name]) is (int if feature.number else bool), name
        assert feature.meaning


def test_relation_inside_a_quotation_does_not_count(parsed: Any) -> None:
    text = 'What does "owned by" mean for Acme?'
    found = {"relation": ["owned by"], "mention": ["Acme"]}
    assert features(parsed(text, found))["relation_count"] == 1
    assert features(parsed(text, {**found, "quote": ["owned by"]}))["relation_count"] == 0
