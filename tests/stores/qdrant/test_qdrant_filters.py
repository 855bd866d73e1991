from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qdrant_client import QdrantClient, models

from graphroute.errors import BackendError, UsageError
from graphroute.stores.lexical.base import NO_FILTER, PassageFilter
from graphroute.stores.qdrant.filters import checked, is_wanted, narrowed, scoped_filter, source_filter
from graphroute.types.reader import Reader
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, Interval, TimeFilter, TimeMode
from graphroute.types.view import View

SEQUENCE = 5


def view_of(*scopes: int) -> View:
    return View(reader=Reader("r", ("l",)), sequence=SEQUENCE, scopes=frozenset(scopes), token="t")


def allowing(*scopes: int) -> list[models.Condition]:
    return [
        models.FieldCondition(key="scope", match=models.MatchAny(any=list(scopes))),
        models.FieldCondition(key="born", range=models.Range(lte=SEQUENCE)),
        models.FieldCondition(key="died", range=models.Range(gt=SEQUENCE)),
    ]


def test_a_view_without_scopes_and_an_empty_list_have_no_filter() -> None:
    assert scoped_filter(view_of()) is None
    for where in (PassageFilter(source_ids=()), PassageFilter(nodes=()), PassageFilter(kinds=())):
        assert scoped_filter(view_of(1), where) is None


ALL_OF_THE_VIEW = allowing(1, 2)
REFUSED: list[object] = [
    None,
    models.Filter(),
    models.Filter(must=[]),
    models.Filter(should=[]),
    models.Filter(must_not=[models.FieldCondition(key="scope", match=models.MatchAny(any=[]))]),
    models.Filter(must=[models.Filter(should=[])]),
    models.Filter(must=[models.Filter(must=ALL_OF_THE_VIEW)]),
    models.Filter(must=allowing()),
    models.Filter(must=allowing(1, 3)),
    models.Filter(must=[*allowing(1), models.FieldCondition(key="source", match=models.MatchAny(any=[]))]),
    models.Filter(must=[*allowing(1), models.Filter(should=[])]),
    models.Filter(must=[*allowing(1), models.HasIdCondition(has_id=[1])]),
    models.Filter(must=allowing(1), should=[]),
    models.Filter(must=allowing(1), must_not=[]),
    models.Filter(must=allowing(1), min_should=models.MinShould(conditions=[], min_count=0)),
    models.Filter(should=ALL_OF_THE_VIEW),
    *(models.Filter(must=list(part)) for part in itertools.combinations(ALL_OF_THE_VIEW, 2)),
    models.Filter(
        must=[models.FieldCondition(key="scope", match=models.MatchExcept(**{"except": [9]})), *allowing(1)[1:]]
    ),
    models.Filter(
        must=[
            ALL_OF_THE_VIEW[0],
            models.FieldCondition(key="born", range=models.Range(lte=SEQUENCE + 1)),
            allowing(1)[2],
        ]
    ),
    {"must": []},
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_a_filter_without_the_allow_list_is_refused(number: int) -> None:
    with pytest.raises(UsageError):
        checked(REFUSED[number], view_of(1, 2))


def test_the_right_filter_passes() -> None:
    right = models.Filter(must=ALL_OF_THE_VIEW)
    assert checked(right, view_of(1, 2)) is right
    assert checked(models.Filter(must=allowing(2)), view_of(1, 2))
    assert checked(narrowed(right, "terms", 7), view_of(1, 2))


def test_a_purge_without_a_source_is_refused() -> None:
    with pytest.raises(UsageError):
        source_filter([])


instants = st.one_of(
    st.integers(0, 30), st.integers(MIN_INSTANT, MAX_INSTANT), st.sampled_from([MIN_INSTANT, MAX_INSTANT, 2**53 + 1])
)
intervals = st.tuples(instants, instants).map(
    lambda pair: Interval(
        None if min(pair) == MIN_INSTANT else min(pair), None if max(pair) == MAX_INSTANT else max(pair)
    )
)
names = st.sampled_from(["a", "б", "乙"])
lists = st.none() | st.lists(names, max_size=3).map(tuple)
wheres = st.builds(
    PassageFilter,
    source_ids=lists,
    nodes=lists,
    kinds=lists,
    time=st.builds(TimeFilter, st.sampled_from(list(TimeMode)), intervals),
)
rows = st.fixed_dictionaries(
    {
        "scope": st.integers(1, 4),
        "source": names,
        "node": st.none() | names,
        "kind": st.none() | names,
        "born": st.integers(1, 8),
        "life": st.sampled_from([1, 2, 5, 2**62]),
        "valid": intervals,
    }
)


def payload_of(row: dict[str, object]) -> dict[str, object]:
    valid, born, life = row["valid"], row["born"], row["life"]
    assert isinstance(valid, Interval)
    assert isinstance(born, int)
    assert isinstance(life, int)
    return {
        **{key: row[key] for key in ("scope", "source", "node", "kind") if row[key] is not None},
        "born": born,
        "died": life if life > 10 else born + life,
        "low": valid.low,
        "high": valid.high,
    }


def may_read(payload: dict[str, object], view: View, where: PassageFilter, valid: Interval) -> bool:
    """By the words of the port, with none of the code under test."""
    born, died = payload["born"], payload["died"]
    assert isinstance(born, int)
    assert isinstance(died, int)
    return (
        payload["scope"] in view.scopes
        and born <= view.sequence < died
        and (where.source_ids is None or payload["source"] in where.source_ids)
        and (where.nodes is None or payload.get("node") in where.nodes)
        and (where.kinds is None or payload.get("kind") in where.kinds)
        and where.time.accepts(valid)
    )


@given(st.lists(rows, max_size=8), st.frozensets(st.integers(1, 4)), wheres)
def test_the_filter_and_the_check_after_it_admit_what_the_port_says(
    found: Sequence[dict[str, object]], scopes: frozenset[int], where: PassageFilter
) -> None:
    view = view_of(*scopes)
    payloads = [payload_of(row) for row in found]
    valid = [row["valid"] for row in found]
    expected = [
        number
        for number, (payload, interval) in enumerate(zip(payloads, valid, strict=True))
        if isinstance(interval, Interval) and may_read(payload, view, where, interval)
    ]
    scoped = scoped_filter(view, where)
    if scoped is None:
        assert expected == []
        return
    assert checked(scoped.filter, view) is scoped.filter
    assert checked(scoped.access, view) is scoped.access
    client = QdrantClient(location=":memory:")
    client.create_collection("c", vectors_config={})
    if payloads:
        client.upsert(
            "c", [models.PointStruct(id=number, vector={}, payload=payload) for number, payload in enumerate(payloads)]
        )
    points, _ = client.scroll("c", scroll_filter=scoped.filter, limit=100)
    assert sorted(int(point.id) for point in points if is_wanted(point.payload or {}, scoped)) == expected


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"scope": 9}, NO_FILTER),
        ({"born": SEQUENCE + 1}, NO_FILTER),
        ({"died": SEQUENCE}, NO_FILTER),
        ({"source": "other"}, PassageFilter(source_ids=("s",))),
        ({"kind": "other"}, PassageFilter(kinds=("note",))),
    ],
)
def test_a_server_that_ignores_the_filter_is_an_error(change: dict[str, object], where: PassageFilter) -> None:
    payload: dict[str, object] = {"scope": 1, "born": 1, "died": 9, "source": "s", "kind": "note", "low": 0, "high": 9}
    scoped = scoped_filter(view_of(1), where)
    assert scoped is not None
    assert is_wanted(payload, scoped)
    with pytest.raises(BackendError):
        is_wanted(payload | change, scoped)
