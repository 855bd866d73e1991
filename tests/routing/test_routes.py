"""Question to features and route, by the cases in cases/routes.yaml, and the rules of fallback."""

from pathlib import Path
from typing import Any

import pytest

from graphroute.config.load import load_routes, parse_routes
from graphroute.routing.conditions import features
from graphroute.routing.router import Router
from graphroute.strict_yaml import read_strict
from graphroute.types.route import Limits, RouteDecision, Sufficiency

LIMITS = Limits()
CASES: list[dict[str, Any]] = read_strict(Path(__file__).parent / "cases" / "routes.yaml").value["cases"]
SYSTEMS = Path(__file__).parents[2] / "evals" / "systems"


def router(system: str) -> Router:
    return load_routes(None if system == "shipped" else SYSTEMS / f"{system}.yaml").router()


@pytest.mark.parametrize("case", CASES, ids=[case["question"][:40] or "empty" for case in CASES])
def test_case(case: dict[str, Any], parsed: Any) -> None:
    query = parsed(case["question"], case["found"], reading=case.get("reading", False))
    values = features(query)
    assert {name: values[name] for name in case["features"]} == case["features"]
    for system, expected in case["routes"].items():
        decision = router(system).route(query, limits=LIMITS)
        assert decision.route == expected, decision


def test_the_decision_says_what_was_tried_and_why(parsed: Any) -> None:
    query = parsed("Who signed Acme's contract?", {"mention": ["Acme"], "relation": ["signed"]})
    decision = router("source_policy").route(query, limits=LIMITS)
    assert decision.rejected == (
        ("lexical", "has_exact_id is false"),
        ("graph_local", "relation_count >= 2 (relation_count is 1)"),
        ("graph_global", "corpus_scope is false; asks_for_aggregation is false"),
    )
    assert decision.reason == "no other route applies"
    assert decision.features["relation_count"] == 1
    assert decision.limits == LIMITS


@pytest.mark.parametrize(
    ("proposal", "route"),
    [
        ("0", None),
        ("7", None),
        ("none", None),
        ("-1", None),
        ("", None),
        ("５", None),
        ("1 2", None),
        ("2.", "graph_local"),
        ("2", "graph_local"),
        ("graph_global", "graph_global"),
    ],
)
def test_a_proposed_route_must_exist(proposal: str, route: str | None, parsed: Any) -> None:
    query = parsed("Show CHG-482", {"identifier": ["CHG-482"]})
    decision = router("source_policy").route(query, limits=LIMITS, proposal=proposal)
    assert decision.route == (route or "lexical")
    assert [name for name, _ in decision.rejected] == ([] if route else ["proposal"])


THIN = Sufficiency(score=0.3, parts={"hits": 1.0}, threshold=0.62)


def test_the_fallback_runs_once_and_repeats_nothing(parsed: Any) -> None:
    query = parsed("x")
    rules = router("source_policy")
    first = rules.route(query, limits=LIMITS)
    assert rules.threshold(first) == 0.62
    second = rules.fallback(query, first, THIN)
    assert second is not None
    assert second.route == "vector_plus_graph"
    assert second.fallback_from == "vector"
    assert second.retrievers == ("local_graph", "lexical")
    assert second.reason == "evidence 0.30 below 0.62 (hits 1.00); vector already ran"
    assert rules.fallback(query, second, THIN) is None
    assert rules.threshold(second) == 0


@pytest.mark.parametrize(("score", "runs"), [(0.0, True), (0.619999, True), (0.62, False), (1.0, False)])
def test_the_threshold_is_inclusive(score: float, runs: bool, parsed: Any) -> None:
    rules = router("source_policy")
    first = rules.route(parsed("x"), limits=LIMITS)
    assert (rules.fallback(parsed("x"), first, Sufficiency(score=score)) is not None) is runs


def test_a_route_may_have_its_own_fallback_or_none(parsed: Any) -> None:
    config = parse_routes(
        "routes:\n"
        "  - {when: quoted, use: lexical, fallback: vector}\n"
        "  - {when: has_exact_id, use: identifier, fallback: none}\n"
        "  - otherwise: vector\n"
        "fallback: {if_evidence_below: 0.5, use: graph_local}\n"
    )
    rules = config.router()

    def after(query: Any) -> RouteDecision | None:
        return rules.fallback(query, rules.route(query, limits=LIMITS), Sufficiency(score=0.0))

    quoted, exact, plain = (
        after(parsed('say "x"', {"quote": ["x"]})),
        after(parsed("A-1", {"identifier": ["A-1"]})),
        after(parsed("x")),
    )
    assert quoted is not None
    assert plain is not None
    assert (quoted.route, exact, plain.route) == ("vector", None, "graph_local")


def test_no_route_is_tried_twice_whatever_the_evidence(parsed: Any) -> None:
    """Three routes that would pass questions to each other for ever, were it not for the single fallback."""
    rules = parse_routes(
        "routes:\n  - {when: quoted, use: graph_local, fallback: vector}\n  - otherwise: vector\n"
        "fallback: {if_evidence_below: 1, use: graph_local}\n"
    ).router()
    for query in (parsed('say "x"', {"quote": ["x"]}), parsed("x")):
        trail = []
        decision: RouteDecision | None = rules.route(query, limits=LIMITS)
        while decision is not None:
            trail.append(decision.route)
            decision = rules.fallback(query, decision, Sufficiency(score=0.0))
        assert len(trail) == len(set(trail)) == 2
