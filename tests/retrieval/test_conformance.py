from dataclasses import replace

import pytest
from pydantic import ValidationError

from graphroute.models.embedders.hashing import HashingEmbedder
from graphroute.retrieval import global_community, identifier, lexical, vector
from graphroute.retrieval.passages import passage_hits
from graphroute.stores.lexical.base import PassageFilter
from graphroute.testing.retriever import Suite
from graphroute.testing.world import INSIDER
from graphroute.types.retrieval import RetrievalResult, ScoreKind, Verdict

PARTS = {
    "identifier": (identifier.Identifier, identifier.Params),
    "lexical": (lexical.Lexical, lexical.Params),
    "vector": (vector.Vector, vector.Params),
    "global_community": (global_community.GlobalCommunity, global_community.Params),
}
CHECKS = [
    "check_hits",
    "check_scope",
    "check_non_interference",
    "check_hidden_as_absent",
    "check_time",
    "check_determinism",
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("stores")


CASES = [(name, check) for name in PARTS for check in CHECKS if (name, check) != ("vector", "check_hidden_as_absent")]


@pytest.mark.parametrize(("name", "check"), CASES)
def test_retriever(name, check, directory):
    part, _ = PARTS[name]
    getattr(Suite(part, directory, embedder=HashingEmbedder()), check)()


@pytest.mark.parametrize("name", PARTS)
def test_unknown_settings_are_refused(name):
    part, params = PARTS[name]
    assert part.name == name
    with pytest.raises(ValidationError):
        params(kk=1)
    with pytest.raises(ValidationError):
        params(k="5")


class Leaks:
    """The control: reads with the labels of somebody else and whatever the day."""

    name = "leaks"

    def __init__(self, backends):
        self.backends = backends

    def retrieve(self, query, *, view, limits, prior=(), deadline=None):
        other = self.backends.catalog.view(reader=INSIDER)
        found = self.backends.lexical.search(query.text, view=other, k=20, where=PassageFilter())
        hits = passage_hits(found, ScoreKind.BM25, view=other, catalog=self.backends.catalog)
        verdict = Verdict.EVIDENCE if hits else Verdict.EMPTY
        return RetrievalResult(retriever=self.name, verdict=verdict, hits=hits, instant=query.instant)


@pytest.mark.parametrize("check", ["check_scope", "check_non_interference", "check_hidden_as_absent", "check_time"])
def test_a_retriever_that_ignores_its_view_is_caught(check, directory):
    with pytest.raises(AssertionError):
        getattr(Suite(Leaks, directory, embedder=HashingEmbedder()), check)()


class Restless(Leaks):
    """The control: another score each time."""

    count = 0

    def retrieve(self, query, *, view, limits, prior=(), deadline=None):
        Restless.count += 1
        found = super().retrieve(query, view=view, limits=limits)
        return replace(found, reason=str(Restless.count))


def test_a_retriever_that_varies_is_caught(directory):
    with pytest.raises(AssertionError):
        Suite(Restless, directory, embedder=HashingEmbedder()).check_determinism()
