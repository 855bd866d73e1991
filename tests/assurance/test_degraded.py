"""A stage that fails is said to have failed, and nothing is then said not to exist."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphroute.cli.explain import exit_code
from graphroute.config.load import load_routes
from graphroute.errors import BackendUnavailableError, ConfigurationError, DeadlineError, GraphRouteError
from graphroute.merging.merge import NOTHING
from graphroute.pipeline.engine import GraphRoute
from graphroute.testing.strategies import READERS
from graphroute.types.retrieval import Verdict

ALL = READERS[2]
FAULTS = {
    "unavailable": BackendUnavailableError("connection refused"),
    "late": DeadlineError("did not answer within the deadline"),
}
BROKEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "graph": ("graph", ("paths", "reach", "reach_from", "facts", "all_facts")),
    "vectors": ("vectors", ("search",)),
    "lexical": ("lexical", ("search",)),
}
STAGES = {
    "graph": {"local_graph", "global_community", "conflicts"},
    "vectors": {"vector"},
    "lexical": {"parse", "lexical", "identifier", "entity_passages", "global_community"},
}


def break_part(
    router: GraphRoute, patch: pytest.MonkeyPatch, part: str, fault: GraphRouteError, after: int
) -> list[int]:
    """From the `after`-th call on, every call of the part raises. Returns how often it did."""
    backend_name, methods = BROKEN[part]
    backend = getattr(router._parts.backends, backend_name)
    calls = [0]
    raised = [0]

    def broken(plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            calls[0] += 1
            if calls[0] > after:
                raised[0] += 1
                raise type(fault)(fault.message)
            return plain(*given, **named)

        return call

    for method in methods:
        patch.setattr(backend, method, broken(getattr(backend, method)))
    return raised


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("part", BROKEN)
def test_a_failed_part_is_named(part: str, fault: str, after: int, corpus_of: Any) -> None:
    corpus = corpus_of(0)
    failed = 0
    with GraphRoute.open(corpus.folder / "full" / "store.sqlite") as router:
        for question in corpus.questions:
            with pytest.MonkeyPatch.context() as patch:
                raised = break_part(router, patch, part, FAULTS[fault], after)
                trace = router.explain(question, reader=ALL)
            bundle = trace.bundle
            if not raised[0]:
                assert not bundle.degraded
                continue
            failed += 1
            stages = {one.stage for one in bundle.degraded}
            assert stages, question
            assert stages <= STAGES[part], (question, stages)
            assert all(FAULTS[fault].args[0] in one.reason for one in bundle.degraded), bundle.degraded
            assert bundle.reason != NOTHING, question
            assert trace.serialized is not None
            assert "degraded" in trace.serialized.text or not trace.serialized.text, question
            assert exit_code(trace, strict=True) == 5
            assert exit_code(trace, strict=False) == (0 if bundle.units or bundle.answers else 5)
    assert failed >= 5 or after


def test_with_everything_down_nothing_is_said_to_be_absent(corpus_of: Any) -> None:
    corpus = corpus_of(0)
    with GraphRoute.open(corpus.folder / "full" / "store.sqlite") as router, pytest.MonkeyPatch.context() as patch:
        for part in BROKEN:
            break_part(router, patch, part, FAULTS["unavailable"], 0)
        for question in corpus.questions:
            trace = router.explain(question, reader=ALL)
            assert not trace.bundle.units
            assert trace.bundle.abstained
            assert trace.bundle.degraded
            results = [result for attempt in trace.attempts for result in attempt.results]
            # What a stage that completed found absent stays so; only the catalog, which works, can say so here.
            settled = trace.query.unresolved or any(r.verdict in (Verdict.ABSENT, Verdict.UNRESOLVED) for r in results)
            assert "not complete" in trace.bundle.reason or settled, (question, trace.bundle.reason)
            assert exit_code(trace, strict=False) == 5


CIRCLE = """
routes:
  - {when: has_reading, use: graph_local, fallback: vector}
  - {otherwise: vector, fallback: graph_local}
"""
ONCE = """
routes:
  - {when: has_reading, use: graph_local, fallback: vector}
  - {otherwise: vector, fallback: lexical}
fallback: {if_evidence_below: 1.0, use: [graph_global]}
"""


def test_routes_that_fall_back_to_each_other_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "routes.yaml"
    path.write_text(CIRCLE, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="circular fallback graph_local -> vector -> graph_local"):
        load_routes(path)


def test_a_fallback_runs_once(corpus_of: Any, tmp_path: Path) -> None:
    """No evidence, hidden evidence and a failing store: two tries, then an end that says which of them it was."""
    path = tmp_path / "routes.yaml"
    path.write_text(ONCE, encoding="utf-8")
    nobody = READERS[0]
    with GraphRoute.open(corpus_of(0).folder / "full" / "store.sqlite", routes=load_routes(path)) as router:
        for question in ("Who owns alder0?", "Show CHG-400", "What is known of nothing?", "Who owns absent99?"):
            trace = router.explain(question, reader=nobody)
            assert len(trace.attempts) == 2
            ran = [result.retriever for attempt in trace.attempts for result in attempt.results]
            assert len(ran) == len(set(ran)) == 2, ran
            assert trace.bundle.abstained
            assert not trace.bundle.degraded
            assert exit_code(trace, strict=False) == 0
            with pytest.MonkeyPatch.context() as patch:
                for part in BROKEN:
                    break_part(router, patch, part, FAULTS["late"], 0)
                down = router.explain(question, reader=ALL)
            assert down.bundle.degraded, question
            assert len(down.attempts) <= 2
            assert exit_code(down, strict=False) == 5
