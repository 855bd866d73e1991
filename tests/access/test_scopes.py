from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from graphroute.access import admits, scope_clauses, scope_form

LABELS = ("a", "b", "c", "Ж", '"')
clauses = st.lists(st.frozensets(st.sampled_from(LABELS), max_size=3), max_size=4)


def readers() -> list[frozenset[str]]:
    return [frozenset(held) for size in range(len(LABELS) + 1) for held in itertools.combinations(LABELS, size)]


def by_the_rule(parts: list[frozenset[str]], held: frozenset[str]) -> bool:
    """A set proves if it has sources and the reader holds a label of each."""
    return bool(parts) and all(part & held for part in parts)


@given(clauses)
def test_form_admits_exactly_whom_the_sources_admit(parts: list[frozenset[str]]) -> None:
    form = scope_form(parts)
    for held in readers():
        assert admits(scope_clauses(form), held) == by_the_rule(parts, held)


@given(clauses, clauses)
def test_equal_forms_are_exactly_equal_permissions(one: list[frozenset[str]], other: list[frozenset[str]]) -> None:
    same = all(by_the_rule(one, held) == by_the_rule(other, held) for held in readers())
    assert (scope_form(one) == scope_form(other)) == same


@given(clauses)
def test_form_does_not_depend_on_order(parts: list[frozenset[str]]) -> None:
    assert scope_form(parts) == scope_form(parts[::-1]) == scope_form([*parts, *parts])


def test_nobody() -> None:
    for form in (scope_form([]), scope_form([[]]), scope_form([["a"], []])):
        assert form == "[[]]"
        assert not any(admits(scope_clauses(form), held) for held in readers())
    assert not admits((), frozenset({"a"}))
