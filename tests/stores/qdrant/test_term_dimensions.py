from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphroute.errors import DataError
from graphroute.stores.qdrant import term_dimensions
from graphroute.stores.qdrant.term_dimensions import SENTINEL, dimension, exceptions_of, natural_dimension
from graphroute.stores.term_hash import term_hash

words = st.lists(st.text(min_size=1), unique=True, max_size=40)


def test_hashes_are_stable() -> None:
    known = [8003462032431577886, 515540806101568802, 8889812988929824566]
    assert [term_hash(term) for term in ("pump", "насос", "泵")] == known
    assert len({term_hash(f"w{number}") for number in range(20_000)}) == 20_000


@given(words, words)
def test_every_term_has_a_place_of_its_own_that_never_moves(first: list[str], second: list[str]) -> None:
    bits = 6  # 63 places, so that terms collide
    before = exceptions_of(first[:20], {}, bits)
    terms = [*first[:20], *(term for term in second[:20] if term not in first[:20])]
    after = exceptions_of(terms, before, bits)
    places = [dimension(term_hash(term), after, bits) for term in terms]
    assert len(set(places)) == len(terms)
    assert SENTINEL not in places
    assert [dimension(term_hash(term), before, bits) for term in first[:20]] == places[: len(first[:20])]


def test_most_terms_stand_where_their_hash_says() -> None:
    terms = [f"term{number}" for number in range(50_000)]
    exceptions = exceptions_of(terms, {})
    assert len(exceptions) <= 5
    assert all(
        dimension(term_hash(term), exceptions) == natural_dimension(term_hash(term))
        for term in terms
        if term_hash(term) not in exceptions
    )


def test_two_terms_of_one_hash_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_dimensions, "term_hash", lambda term: 7)
    with pytest.raises(DataError, match="one hash"):
        exceptions_of(["a", "b"], {})
