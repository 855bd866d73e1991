"""How many of the first places a question asks for."""

from __future__ import annotations

import pytest

from graphroute.parsing.rankings import find_places
from graphroute.types.graph import TopEnds


@pytest.mark.parametrize(
    ("text", "number", "said"),
    [
        ("Top 3 suppliers by number of parts", 3, "Top 3"),
        ("the top five crews", 5, "top five"),
        ("Топ-10 складов по числу заказов", 10, "Топ-10"),
        ("订单最多的前三名客户", 3, "前三名"),
        ("前5个仓库", 5, "前5个"),
        ("Which 4 crews repaired the most pumps?", 4, "Which 4 "),
        ("Какие 2 бригады чаще всего чинили насосы?", 2, "Какие 2 "),
    ],
)
def test_the_number_and_where_it_stands(text: str, number: int, said: str) -> None:
    found = find_places(text)
    assert found is not None
    assert found.number == number
    assert text[found.start : found.end] == said


@pytest.mark.parametrize(
    "text",
    [
        "What is on top of pump 3?",
        "The top 5 % of all crews",
        "Which 3 crews repaired pump 7?",
        "top 0 crews",
        "三年前的订单",
    ],
)
def test_other_numbers_are_no_places(text: str) -> None:
    assert find_places(text) is None


def test_what_ties_with_the_last_place_is_there_too() -> None:
    pairs = [(str(n), end) for end, size in {"a": 2, "b": 5, "c": 2, "d": 1}.items() for n in range(size)]
    assert TopEnds.of(pairs, most=True) == TopEnds(("b",), 5, 4)
    assert TopEnds.of(pairs, most=True, places=2) == TopEnds(("b", "a", "c"), 2, 4)
    assert TopEnds.of(pairs, most=False, places=2) == TopEnds(("d", "a", "c"), 2, 4)
    assert TopEnds.of(pairs, most=True, places=9) == TopEnds(("b", "a", "c", "d"), 1, 4)
    assert TopEnds.of([], most=True, places=3) == TopEnds()
