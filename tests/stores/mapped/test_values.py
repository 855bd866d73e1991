from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graphroute.stores.mapped.filters import flag, folded, passes
from graphroute.stores.mapped.values import bounds, parse_date, part, whole
from graphroute.types.graph import AttributeFilter
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, instant_of

DAY = instant_of(datetime(2024, 3, 5, tzinfo=UTC))


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-05",
        " 2024-03-05 ",
        "2024-03-05T00:00:00Z",
        "2024-03-05T00:00",
        "2024-03-05T00:00:00.000000000Z",
        "2024-03-05T03:00:00+03:00",
        "2024-03-05T01:00:00+01:00[Europe/Paris]",
        "05.03.2024",
        "2024/03/05",
        "March 5, 2024",
        "5 марта 2024",
        "2024年3月5日",
        "20240305",
        "1709596800",
        "1709596800000",
        "1709596800000000",
        "1709596800.0",
        "03/05/2024",
    ],
)
def test_a_date_in_any_of_its_forms(text: str) -> None:
    assert parse_date(text) == DAY


@pytest.mark.parametrize("text", ["", "soon", "2024-02-30", "31.31.2024", "1e30", "nan", "-", "2024-03-05T25:00"])
def test_what_is_no_date_is_none(text: str) -> None:
    assert parse_date(text) is None


def test_a_year_is_its_first_moment_and_order_decides_between_day_and_month() -> None:
    assert parse_date("2024") == instant_of(datetime(2024, 1, 1, tzinfo=UTC))
    assert parse_date("03/05/2024", "DMY") == instant_of(datetime(2024, 5, 3, tzinfo=UTC))


def test_bounds_are_open_where_nothing_is_said_and_none_where_nothing_can_be_read() -> None:
    assert bounds(None, None, "MDY") == (MIN_INSTANT, MAX_INSTANT)
    assert bounds("2024-03-05", None, "MDY") == (DAY, MAX_INSTANT)
    assert bounds("soon", None, "MDY") is None
    assert bounds("2024-03-05", "2024-03-04", "MDY") is None


@pytest.mark.parametrize("key", ["a", "a/b", "100%", "a%2Fb", "结账/服务", "/"])
def test_a_part_of_an_id_holds_no_slash_and_comes_back(key: str) -> None:
    assert "/" not in part(key)
    assert whole(part(key)) == key


def test_a_true_property_is_known_by_its_name() -> None:
    assert flag("isDiscontinued") == "discontinued"
    assert flag("in_stock") == "in stock"
    assert "discontinued" in folded("discontinued", "true")
    assert "discontinued" not in folded("discontinued", "false")


@pytest.mark.parametrize(
    ("operator", "value", "held", "passed"),
    [
        ("eq", "OPEN", ["open"], True),
        ("eq", "ёлка", ["Елка"], True),
        ("eq", "open", ["shut"], False),
        ("ne", "open", ["shut"], True),
        ("ne", "open", [], False),
        ("lt", "3", ["2.5"], True),
        ("ge", "3", ["2.5"], False),
        ("gt", "3", ["many"], False),
        ("gt", "nonsense", ["5"], False),
        ("in_range", f"{DAY}..{DAY + 1}", ["5 марта 2024"], True),
        ("in_range", f"{DAY + 1}..", ["5 марта 2024"], False),
        ("like", "3", ["3"], False),
    ],
)
def test_filters_read_values_as_their_operator_needs(operator: str, value: str, held: list[str], passed: bool) -> None:
    assert passes([AttributeFilter("k", operator, value)], {"k": held}, "MDY") is passed
