"""Passages about the things a question names."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from graphroute.errors import DeadlineError
from graphroute.retrieval.base import Backends
from graphroute.retrieval.entity_passages import EntityPassages, Params
from graphroute.testing.retriever import Suite, opened, question
from graphroute.testing.world import INSIDER, PUBLIC
from graphroute.types.query import Candidate, Cue, CueKind, Mention, ParsedQuery
from graphroute.types.retrieval import RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import Limits

Ask = Callable[..., RetrievalResult]


def mention(text: str, name: str, *ids: str, strong: bool = True) -> Mention:
    start = text.index(name)
    cue = Cue(kind=CueKind.MENTION, value=name, start=start, end=start + len(name), rule="test", text=name)
    return Mention(
        cue=cue, candidates=tuple(Candidate(entity_id=i, types=(), name=i, via="name") for i in ids), strong=strong
    )


@pytest.fixture
def ask(small_store_path: Any) -> Any:
    with opened(small_store_path) as backends:

        def run(
            text: str, *named: Any, params: Params | None = None, deadline: float | None = None, **more: Any
        ) -> Any:
            query = ParsedQuery(
                text=text,
                language="en",
                instant=question(text, at=more.pop("at", "2026-06-01")).instant,
                mentions=tuple(mention(text, *one) if isinstance(one, tuple) else one for one in named),
            )
            view = backends.catalog.view(reader=more.pop("reader", PUBLIC))
            return EntityPassages(backends, params).retrieve(query, view=view, limits=Limits(), deadline=deadline)

        yield run


def sources(result: RetrievalResult) -> list[str]:
    return [hit.passage.source_id for hit in result.hits if hit.passage is not None]


def test_passages_of_the_thing_named_and_no_others(ask: Ask) -> None:
    result = ask("Which team looks after checkout?", ("checkout", "svc:checkout"))
    assert result.verdict is Verdict.EVIDENCE
    assert sources(result)[0] == "wiki:checkout"
    assert set(sources(result)) == {"wiki:checkout", "catalogue:checkout@2"}
    assert {hit.kind for hit in result.hits} == {ScoreKind.BM25}
    assert result.anchors == ("svc:checkout",)


def test_only_what_was_in_force(ask: Ask) -> None:
    result = ask("who is the owner of checkout", ("checkout", "svc:checkout"), at="2026-04-01")
    assert sources(result) == ["catalogue:checkout@1"]


def test_a_restricted_source_is_for_its_readers(ask: Ask) -> None:
    asked = ("Which cluster does checkout move to?", ("checkout", "svc:checkout"))
    assert "plan:nightjar" in sources(ask(*asked, reader=INSIDER))
    assert "plan:nightjar" not in sources(ask(*asked))


def test_k_passages_at_most(ask: Ask) -> None:
    asked = ("cluster checkout", ("checkout", "svc:checkout"))
    assert len(ask(*asked, params=Params(k=1)).hits) == 1
    assert ask(*asked, params=Params(k=1)).hits == ask(*asked).hits[:1]


def test_nothing_named_or_too_much(ask: Ask) -> None:
    nothing = ask("who owns what")
    assert (nothing.verdict, nothing.reason) == (Verdict.NOT_APPLICABLE, "the question names nothing")
    weak = ask("checkout", mention("checkout", "checkout", "svc:checkout", strong=False))
    assert weak.verdict is Verdict.NOT_APPLICABLE
    two = ask("checkout", ("checkout", "svc:checkout", "svc:other"), params=Params(entities=1))
    assert (two.verdict, two.reason) == (Verdict.NOT_APPLICABLE, "the question names 2 things")


def test_a_thing_without_passages_is_empty(ask: Ask) -> None:
    assert ask("who leads ledger", ("ledger", "team:ledger")).verdict is Verdict.EMPTY


def test_past_the_deadline(ask: Ask) -> None:
    with pytest.raises(DeadlineError):
        ask("who owns checkout", ("checkout", "svc:checkout"), deadline=time.monotonic() - 1)


def test_unknown_settings_are_refused() -> None:
    for wrong in ({"kk": 1}, {"k": "5"}, {"k": 0}, {"entities": 0}):
        with pytest.raises(ValidationError):
            Params(**wrong)


class Naming:
    """Names checkout in every question, so that every question has something to find."""

    name = "entity_passages"

    def __init__(self, backends: Backends) -> None:
        self._part = EntityPassages(backends)

    def retrieve(self, query: ParsedQuery, **more: Any) -> RetrievalResult:
        named = question(f"{query.text} checkout", identifiers=[("checkout", ["svc:checkout"], "name")])
        query = ParsedQuery(text=named.text, language="en", instant=query.instant, identifiers=named.identifiers)
        return self._part.retrieve(query, **more)


@pytest.mark.parametrize(
    "check", ["check_hits", "check_scope", "check_non_interference", "check_time", "check_determinism"]
)
def test_conformance(check: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    getattr(Suite(Naming, tmp_path_factory.mktemp("suite")), check)()
