"""What a reader gets equals, byte for byte, what the same reader gets from a corpus without everything it may not see."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphroute.indexing import survey
from graphroute.indexing.dataset import EdgeRow
from graphroute.merging import merge
from graphroute.merging.conflicts import settle
from graphroute.pipeline.engine import GraphRoute
from graphroute.stores.lexical.inverted import InvertedCore
from graphroute.stores.lexical.passage_rows import PassageRows
from graphroute.testing.rows import Rows
from graphroute.testing.strategies import READERS
from graphroute.testing.whole_path import PATIENT, outputs, store_of
from graphroute.types.reader import Reader

READING = [reader for reader in READERS if reader.id in ("one", "public", "two")]


def test_nothing_hidden_changes_what_a_reader_gets(seed: int, corpus_of: Any, ask: Any, readers: Any) -> None:
    corpus = corpus_of(seed)
    differing: Counter[str] = Counter()
    for reader in readers:
        part, foreign = corpus.part(reader), corpus.foreign(reader)
        for question, as_of in corpus.asked(reader):
            got, _ = ask(corpus.full, question, reader, as_of)
            same, _ = ask(part, question, reader, as_of)
            where = f"{reader.id}: {question}"
            differing.update(
                f"{where}: {name}" for name in sorted(got.keys() | same.keys()) if got.get(name) != same.get(name)
            )
            differing.update(
                f"{where}: {name} holds a foreign token"
                for name, text in got.items()
                for token in foreign
                if token in text and token not in question
            )
    assert not differing, differing


def test_the_questions_reach_every_retriever_and_outcome(corpus_of: Any, scale: Any) -> None:
    reached: Counter[str] = Counter()
    for seed in range(scale(3, 10)):
        corpus = corpus_of(seed)
        for reader in READERS:
            for question, as_of in corpus.asked(reader):
                bundle = corpus.full.retrieve(question, reader=reader, as_of=as_of)
                reached.update(bundle.retrievers)
                reached.update(f"{flag} flag" for flag in bundle.flags)
                reached["fallback"] += bundle.fallback
                reached["abstained"] += bundle.abstained
                reached["answered"] += bool(bundle.answers)
                reached["paths"] += bundle.paths_returned
                reached["stale"] += bundle.paths_rejected_as_stale
    wanted = {"identifier", "entity_passages", "lexical", "vector", "local_graph", "global_community"}
    wanted |= {"fallback", "abstained", "answered", "paths", "stale", "conflict flag", "as_of_out_of_range flag"}
    assert wanted <= {name for name, count in reached.items() if count}, reached


def test_supports_are_mostly_shared_between_labels(corpus_of: Any) -> None:
    edges = corpus_of(0).rows.edges
    mixed = sum(len(edge["supports"]) > 1 or any(len(group) > 1 for group in edge["supports"]) for edge in edges)
    assert mixed >= 0.3 * len(edges)


# Controls: with one guard taken away, the same check must find a difference -----------------------------------------------------


class Unguarded:
    """A database whose scope condition admits everything, for the columns given or for all."""

    def __init__(self, database: Any, columns: frozenset[str] | None = None) -> None:
        self._database = database
        self._columns = columns

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def in_scopes(self, view: Any, column: str = "scope") -> str:
        if self._columns is None or column in self._columns:
            return "1"
        return str(self._database.in_scopes(view, column))


Remove = Callable[[GraphRoute, pytest.MonkeyPatch], None]


def graph(*columns: str) -> Remove:
    def remove(router: GraphRoute, patch: pytest.MonkeyPatch) -> None:
        backend = router._parts.backends.graph
        patch.setattr(backend, "_db", Unguarded(backend._db, frozenset(columns) or None))

    return remove


def catalog(*columns: str) -> Remove:
    def remove(router: GraphRoute, patch: pytest.MonkeyPatch) -> None:
        backend = router._parts.backends.catalog
        patch.setattr(backend, "_db", Unguarded(backend._db, frozenset(columns)))

    return remove


def lexical_statistics(router: GraphRoute, patch: pytest.MonkeyPatch) -> None:
    plain = InvertedCore.statistics

    def over_all(self: InvertedCore, mask: Any) -> Any:
        found = plain(self, mask | True)
        return replace(found, mask=mask)

    patch.setattr(InvertedCore, "statistics", over_all)


def passage_mask(router: GraphRoute, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PassageRows, "visible", lambda self, view: (self.born <= view.sequence) & (self.died > view.sequence))


def conflicts(router: GraphRoute, patch: pytest.MonkeyPatch) -> None:
    backends = router._parts.backends

    def over_all(facts: Any, **given: Any) -> Any:
        given["graph"] = type(backends.graph)(Unguarded(backends.graph._db))
        given["catalog"] = type(backends.catalog)(Unguarded(backends.catalog._db))
        return settle(facts, **given)

    patch.setattr(merge, "settle", over_all)


def snapshot_token(router: GraphRoute, patch: pytest.MonkeyPatch) -> None:
    backend = router._parts.backends.catalog
    whole = backend.view(reader=READERS[2]).token
    plain = backend.view
    patch.setattr(backend, "view", lambda **given: replace(plain(**given), token=whole))


GUARDS: dict[str, Remove] = {
    "graph: hops": graph("a.scope"),
    "graph: communities": graph("s.scope"),
    "catalog: aliases": catalog("a.scope"),
    "catalog: names": catalog("n.scope"),
    "catalog: attributes": catalog("t.scope"),
    "catalog: entities": catalog("x.scope"),
    "catalog: types": catalog("y.scope", "lower.scope"),
    "catalog: supports": catalog("z.scope"),
    "catalog: time span": catalog("scope"),
    "lexical: statistics": lexical_statistics,
    "lexical and vector: candidates": passage_mask,
    "merging: conflicts": conflicts,
    "catalog: snapshot token": snapshot_token,
}


@pytest.mark.parametrize("guard", GUARDS)
def test_without_a_guard_the_check_fails(guard: str, corpus_of: Any, scale: Any) -> None:
    assert any(guard_is_missed(GUARDS[guard], corpus_of(seed)) for seed in range(scale(3, 10))), guard


def guard_is_missed(remove: Remove, corpus: Any) -> bool:
    """True if some reader gets something else from the unguarded router than from the reduced corpus."""
    expected = [
        (reader, *asked, corpus.expected(reader, *asked)) for reader in READING for asked in corpus.asked(reader)
    ]
    with (
        GraphRoute.open(corpus.folder / "full" / "store.sqlite", routes=PATIENT) as router,
        pytest.MonkeyPatch.context() as patch,
    ):
        remove(router, patch)
        for reader, question, as_of, same in expected:
            try:
                got, _ = outputs(router, question, reader=reader, as_of=as_of)
            except KeyError:
                return True
            if got != same:
                return True
    return False


def one_assertion_a_row(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EdgeRow, "assertions", property(lambda row: (row.assertion,)))


def subject_of_any_fact(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(survey, "_for_all", lambda *_: True)


@pytest.mark.parametrize("remove", [one_assertion_a_row, subject_of_any_fact])
def test_without_a_guard_at_ingest_the_check_fails(remove: Any, corpus_of: Any, tmp_path: Path, scale: Any) -> None:
    for seed in range(scale(3, 10)):
        corpus = corpus_of(seed)
        with pytest.MonkeyPatch.context() as patch:
            remove(patch)
            store = store_of(corpus.rows, tmp_path / f"{seed}")
        with GraphRoute.open(store, routes=PATIENT) as router:
            for reader in READING:
                for asked in corpus.asked(reader):
                    got, _ = outputs(router, asked[0], reader=reader, as_of=asked[1])
                    if got != corpus.expected(reader, *asked):
                        return
    pytest.fail("nothing differed")


def test_a_type_that_only_hidden_facts_tell_is_hidden(tmp_path: Path) -> None:
    """`relay` has no row and no prefix: public prose names it, and only a hidden fact makes it a team."""
    prose = {"doc_id": "d1", "title": "Relay", "text": "About the relay.", "labels": ["public"], "node": "relay"}
    secret = {"doc_id": "d2", "title": "Plan", "text": "The relay takes over.", "labels": ["board"]}
    edge = {"edge_id": "e1", "s": "svc:pay", "r": "OWNED_BY", "o": "relay", "supports": [["d2"]]}
    types = []
    for rows in (Rows(documents=(prose, secret), edges=(edge,)), Rows(documents=(prose,))):
        with GraphRoute.open(store_of(rows, tmp_path / f"{len(types)}"), routes=PATIENT) as router:
            catalog = router._parts.backends.catalog
            view = catalog.view(reader=Reader("p", ["public"]))
            types.append((catalog.entities(["relay"], view=view)["relay"].types, view.token))
    assert types[0] == types[1]
