"""Nominatives of Russian names in other cases."""

from __future__ import annotations

import pytest

from graphroute.text.declension import nominatives


@pytest.mark.parametrize(
    ("name", "nominative"),
    [
        ("верой лесковой", "вера лескова"),
        ("веры лесковой", "вера лескова"),
        ("глебом юрьевым", "глеб юрьев"),
        ("петра громова", "петр громов"),
        ("игорю титову", "игорь титов"),
        ("сергеем ильиным", "сергей ильин"),
        ("марии", "мария"),
        ("отдела закупок", "отдел закупок"),
        ("юридическим отделом", "юридический отдел"),
    ],
)
def test_the_nominative_is_among_the_forms(name: str, nominative: str) -> None:
    assert nominative in nominatives(tuple(name.split()))


@pytest.mark.parametrize("name", ["vera leskova", "李雪", "а б в г д"])
def test_other_scripts_and_long_names_have_none(name: str) -> None:
    assert nominatives(tuple(name.split())) == ()
