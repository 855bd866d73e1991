import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphroute.merging.fusion import fuse
from graphroute.merging.supports import Wanted, choose, too_old
from graphroute.types.graph import Direction, Fact, Hop, Path, Support
from graphroute.types.retrieval import Hit, RetrievalResult, ScoreKind, Verdict
from graphroute.types.source import Passage, SourceSpan
from graphroute.types.time import Interval

DAY = 86_400_000_000


def hit(id, score=1.0, kind=ScoreKind.BM25):
    return Hit(score=score, kind=kind, passage=Passage(id=id, source_id=id, start=0, end=1, text=id))


def path(*ids):
    hops = [
        Hop(Fact(subject=low, predicate="R", object=high, assertion_ids=("e",)), Direction.FORWARD)
        for low, high in itertools.pairwise(ids)
    ]
    return Hit(score=1.0, kind=ScoreKind.PATH, path=Path(tuple(hops)))


def result(name, *hits, verdict=Verdict.EVIDENCE):
    return RetrievalResult(retriever=name, verdict=verdict, hits=hits)


def order(*results, answering=(), k=60, weights=None):
    return [
        one.hit.passage.id if one.hit.passage else one.hit.path.end
        for one in fuse(results, k=k, weights=weights or {}, answering=frozenset(answering))
    ]


def test_first_place_scores_as_published():
    once = fuse([result("lexical", hit("a"))], k=60, weights={}, answering=frozenset())
    twice = fuse([result("lexical", hit("a")), result("vector", hit("a"))], k=60, weights={}, answering=frozenset())
    assert round(once[0].score, 5) == 0.01639
    assert round(twice[0].score, 5) == 0.03279
    assert twice[0].retrievers == ["lexical", "vector"]


def test_scores_of_different_scales_are_never_compared():
    lexical = result("lexical", hit("a", 31.0), hit("b", 2.0))
    vector = result("vector", hit("b", 0.75, ScoreKind.COSINE), hit("c", 0.72, ScoreKind.COSINE))
    assert order(lexical, vector) == ["b", "a", "c"]


def test_an_exact_hit_stays_first_whatever_the_vectors_say():
    vector = result("vector", *(hit(f"v{i}", 0.75 - i / 1000, ScoreKind.COSINE) for i in range(9)))
    again = result("lexical", *(hit(f"v{i}", 9.0 - i) for i in range(9)))
    assert order(vector, again, result("identifier", hit("x", 1.0, ScoreKind.EXACT)))[0] == "x"


def test_a_hit_is_kept_whatever_its_score():
    assert order(result("lexical", hit("a", 0.0), hit("b", -4.0))) == ["a", "b"]


def test_answering_paths_keep_their_order_and_come_first():
    graph = result("local_graph", path("a", "z"), path("a", "b"), verdict=Verdict.ANSWERED)
    lexical = result("lexical", hit("p"))
    assert order(lexical, graph, answering=[1]) == ["z", "b", "p"]
    assert order(lexical, graph)[0] in ("p", "z")


def test_weights_and_ties():
    first, second = result("lexical", hit("b")), result("vector", hit("a"))
    assert order(first, second) == ["a", "b"]
    assert order(first, second, weights={"lexical": 2.0}) == ["b", "a"]


@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8), min_size=1, max_size=4), st.integers(1, 99)
)
def test_fusion_loses_nothing_and_names_each_once(lists, k):
    results = [result(f"r{number}", *map(hit, ids)) for number, ids in enumerate(lists)]
    found = fuse(results, k=k, weights={}, answering=frozenset())
    assert sorted(one.hit.passage.id for one in found) == sorted(set().union(*lists))
    for one in found:
        expected = sum(1 / (k + ids.index(one.hit.passage.id) + 1) for ids in lists if one.hit.passage.id in ids)
        assert one.score == pytest.approx(expected)
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)


def support(source, low, high, stamp=None, group=0, assertion="e"):
    return Support(
        assertion_id=assertion,
        span=SourceSpan(source),
        source_validity=Interval(None if low is None else low * DAY, None if high is None else high * DAY),
        source_timestamp=None if stamp is None else stamp * DAY,
        group=group,
    )


VERSIONS = [
    support("v3", 30, None, 30, group=0),
    support("v2", 20, 30, 20, group=1),
    support("v1", 10, 20, 10, group=2),
]


@pytest.mark.parametrize(
    ("day", "wanted", "source"),
    [
        (35, Wanted.NEWEST, "v3"),
        (25, Wanted.NEWEST, "v2"),
        (10, Wanted.NEWEST, "v1"),
        (35, Wanted.EARLIEST, "v1"),
        (5, Wanted.NEWEST, "v3"),
    ],
)
def test_the_support_in_force_is_shown(day, wanted, source):
    shown = choose(VERSIONS, validity=Interval(), instant=day * DAY, wanted=wanted)
    assert [one.span.source_id for one in shown] == [source]


def test_a_fact_that_has_ended_is_shown_by_what_was_in_force_then():
    shown = choose(VERSIONS[1:], validity=Interval(10 * DAY, 20 * DAY), instant=50 * DAY, wanted=Wanted.NEWEST)
    assert [one.span.source_id for one in shown] == ["v1"]


def test_sources_that_prove_together_are_shown_together():
    joint = [support("b", 30, None, group=0), support("a", 10, None, group=0), support("c", 20, None, group=1)]
    shown = choose(joint, validity=Interval(), instant=40 * DAY, wanted=Wanted.NEWEST)
    assert [one.span.source_id for one in shown] == ["a", "b"]
    early = choose(joint, validity=Interval(), instant=25 * DAY, wanted=Wanted.NEWEST)
    assert [one.span.source_id for one in early] == ["c"]
    assert choose([], validity=Interval(), instant=0, wanted=Wanted.NEWEST) == ()


def test_age_is_that_of_the_oldest_source_of_the_newest_set():
    fresh = [support("a", None, None, 95)]
    joint = [support("a", None, None, 95), support("b", None, None, 10)]
    assert not too_old(fresh, max_age_days=30, instant=100 * DAY)
    assert too_old(joint, max_age_days=30, instant=100 * DAY)
    assert not too_old([*joint, support("c", None, None, 80, group=1)], max_age_days=30, instant=100 * DAY)
    assert not too_old(joint, max_age_days=None, instant=100 * DAY)
    assert too_old([support("a", None, None)], max_age_days=30, instant=100 * DAY)
