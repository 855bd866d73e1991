"""Sufficiency of evidence: the stated function, part by part, and its independence of scales of scores."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphroute.routing.sufficiency import assess
from graphroute.types.graph import Direction, Fact, Hop, Path
from graphroute.types.query import ParsedQuery
from graphroute.types.retrieval import Binding, Hit, RetrievalResult, ScoreKind, Verdict
from graphroute.types.source import Passage

PATH = Path((Hop(Fact(subject="a", predicate="R", object="b", assertion_ids=("1",)), Direction.FORWARD),))


def passage(text: str, kind: str | None = None) -> Passage:
    return Passage(id="p", source_id="s", start=0, end=len(text), text=text, kind=kind)


def found(
    text: str, score: float = 1.0, kind: ScoreKind = ScoreKind.BM25, source: str | None = None
) -> RetrievalResult:
    hit = Hit(score=score, kind=kind, passage=passage(text, source))
    return RetrievalResult(retriever="lexical", verdict=Verdict.EVIDENCE, hits=(hit,))


def facts(query: ParsedQuery, verdict: Verdict, *, hits: int = 1) -> RetrievalResult:
    return RetrievalResult(
        retriever="local_graph",
        verdict=verdict,
        hits=tuple(Hit(score=1.0, kind=ScoreKind.PATH, path=PATH) for _ in range(hits)),
        bindings=(Binding(id="b", display="b"),) if hits else (),
        reading=query.readings[0] if query.readings else None,
    )


def test_an_answer_from_facts_is_enough(parsed: Any) -> None:
    query = parsed("Who owns Acme?", {"mention": ["Acme"], "relation": ["owns"]}, reading=True)
    result = assess(query, [facts(query, Verdict.ANSWERED)], threshold=0.62)
    assert result.score == 1.0
    assert result.sufficient
    assert dict(result.parts) == {"slots": 1.0, "anchors": 1.0, "relations": 1.0, "authority": 1.0}


def test_each_part_of_an_answer_from_facts_lowers_the_score(parsed: Any) -> None:
    query = parsed("Who owns and runs Acme in Zug?", {"mention": ["Acme"], "relation": ["owns", "runs"]}, reading=True)
    unresolved = parsed("Who owns and runs Acme in Zug?", {"unresolved": ["Zug"]}).unresolved
    half = replace(query.readings[0].branches[0], hops=query.readings[0].branches[0].hops[:1])
    partial = replace(query.readings[0], branches=(half,))
    whole = facts(query, Verdict.ANSWERED)
    assert assess(query, [replace(whole, reading=partial)], threshold=0).score == pytest.approx(0.8)
    assert assess(replace(query, unresolved=unresolved), [whole], threshold=0).score == pytest.approx(0.8)
    assert assess(query, [replace(whole, verdict=Verdict.EVIDENCE)], threshold=0).score == pytest.approx(0.5)
    left_out = replace(whole, reading=replace(query.readings[0], unexplained=("zug",)))
    assert assess(query, [left_out], threshold=0).score == pytest.approx(0.4 + 0.4 * 0.8 + 0.2)
    assert assess(query, [facts(query, Verdict.EMPTY, hits=0)], threshold=0).score == 0


@pytest.mark.parametrize("verdict", [Verdict.ABSENT, Verdict.UNRESOLVED])
def test_a_closed_absence_is_final_whatever_else_was_found(verdict: Verdict, parsed: Any) -> None:
    query = parsed("Who owns Acme?", {"mention": ["Acme"], "relation": ["owns"]}, reading=True)
    results = [facts(query, verdict, hits=0), found("Who owns Acme")]
    assert assess(query, results, threshold=0.62).score == 0
    assert assess(query, results, threshold=0.62).parts["final"] == 1
    assert assess(query, results[1:], threshold=0.62).sufficient


def test_text_is_judged_by_what_it_covers(parsed: Any) -> None:
    query = parsed("How are login timeouts handled?")
    assert assess(query, [found("Timeouts at login are handled by retrying.")], threshold=0.62).score == 1.0
    thin = assess(query, [found("The canteen is closed on Monday.")], threshold=0.62)
    assert thin.score == 0.4
    assert not thin.sufficient
    nothing = RetrievalResult(retriever="lexical", verdict=Verdict.EMPTY)
    assert assess(query, [nothing], threshold=0.62).score == 0
    assert assess(query, [], threshold=0.62).score == 0


@pytest.mark.parametrize(
    ("question", "good", "bad"),
    [
        ("Как обрабатываются таймауты входа?", "Таймаут входа обрабатывается повтором.", "Столовая закрыта."),
        ("登录超时如何处理?", "登录超时后系统会重试处理。", "食堂周一关闭。"),
    ],
)
def test_text_in_other_scripts(question: str, good: str, bad: str, parsed: Any) -> None:
    query = parsed(question)
    assert assess(query, [found(good)], threshold=0.5).sufficient
    assert not assess(query, [found(bad)], threshold=0.5).sufficient


def test_a_name_must_be_found_in_one_piece(parsed: Any) -> None:
    query = parsed("What is new at Acme Holdings?", {"mention": ["Acme Holdings"]})
    together = assess(query, [found("New at Acme Holdings: nothing.")], threshold=0).score
    apart = [found("Acme is new."), found("Holdings are new.")]
    assert assess(query, apart, threshold=0).score < together == 1.0


def test_an_exact_record_is_enough_for_its_identifier(parsed: Any) -> None:
    query = parsed("please show me CHG-482", {"identifier": ["CHG-482"]})
    exact = found("status: approved", kind=ScoreKind.EXACT)
    assert assess(query, [exact], threshold=0.62).score == 1.0
    assert not assess(query, [found("status: approved")], threshold=0.62).sufficient


SCALES = [
    (ScoreKind.RRF, 1 / 61),
    (ScoreKind.RRF, 2 / 61),
    (ScoreKind.COSINE, 0.72),
    (ScoreKind.BM25, 0.0),
    (ScoreKind.BM25, -0.27),
    (ScoreKind.CE_LOGIT, -4.0),
    (ScoreKind.CE_LOGIT, 2.1),
    (ScoreKind.CE_PROB, 0.018),
]


@pytest.mark.parametrize(("kind", "score"), SCALES)
def test_no_scale_of_scores_enters(kind: ScoreKind, score: float, parsed: Any) -> None:
    query = parsed("login timeouts")
    assert assess(query, [found("Timeouts at login.", score, kind)], threshold=0.62).score == 1.0


def test_authority_weighs_the_sources(parsed: Any) -> None:
    query = parsed("login timeouts")
    weights = {"chat": 0.5, "catalog": 1.0}
    chat = assess(query, [found("Timeouts at login.", source="chat")], threshold=0.62, authority=weights)
    catalog = assess(query, [found("Timeouts at login.", source="catalog")], threshold=0.62, authority=weights)
    assert (chat.score, catalog.score) == (0.5, 1.0)


def test_failures_are_counted_apart(parsed: Any) -> None:
    failed = RetrievalResult(retriever="vector", verdict=Verdict.FAILED, reason="timed out")
    parts = assess(parsed("login"), [failed, found("login")], threshold=0.62).parts
    assert parts["failed"] == 1
    assert "failed" not in assess(parsed("login"), [found("login")], threshold=0.62).parts


@given(
    verdict=st.sampled_from(Verdict),
    texts=st.lists(st.text(max_size=30), max_size=3),
    question=st.text(max_size=30),
    threshold=st.floats(0, 1),
)
def test_the_score_lies_in_the_unit_interval(
    verdict: Verdict, texts: list[str], question: str, threshold: float
) -> None:
    query = ParsedQuery(text=question, language="en", instant=0)
    results = [found(text) for text in texts] + [facts(query, verdict)]
    result = assess(query, results, threshold=threshold)
    assert 0 <= result.score <= 1
    assert result.sufficient is (result.score >= threshold)
    assert result == assess(query, results, threshold=threshold)
