from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphroute.evaluation.matching import forms, local_part, normal_form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("KEP-12", "kep:12"),
        ("@liggitt", "Liggitt"),
        (" sig_network ", "SIG Network"),
        ("sig–network", "sig-network"),
        ("ＫＥＰ-12", "kep 12"),
        ("Ёлка", "ёлка"),
        ("阿 里", "阿:里"),
        ("STRASSE", "straße"),
    ],
)
def test_alike(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("KEP-12", "KEP-120"), ("KEP-12", "KEP12"), ("a.b", "a b"), ("1.5", "15"), ("Й", "И"), ("a@b", "ab")],
)
def test_different(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


@pytest.mark.parametrize(
    ("entity", "local"),
    [("kep:12", "12"), ("a:b:c", "b:c"), ("Order/10772", "10772"), ("a:b/c", "c"), ("plain", "plain"), ("x:", "x:")],
)
def test_local_part(entity: str, local: str) -> None:
    assert local_part(entity) == local


WORDS = st.lists(st.text(st.characters(categories=["Ll", "Lo", "Nd"]), min_size=1), min_size=1)


@given(WORDS, st.lists(st.sampled_from(["-", "_", ":", " ", "--", " - "]), min_size=1))
def test_joiners_do_not_matter(parts: list[str], joiners: list[str]) -> None:
    joined = parts[0]
    for number, part in enumerate(parts[1:]):
        joined += joiners[number % len(joiners)] + part
    assert normal_form(joined) == normal_form(" ".join(parts)) == normal_form(f" @{joined}_")
    assert normal_form(joined) in forms(joined)
