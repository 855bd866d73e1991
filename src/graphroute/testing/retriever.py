"""What every Retriever must pass: scope, time, determinism and non-interference, over a small world in real stores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from graphroute.models.embedders.base import Embedder
from graphroute.ontology.load import load_ontology
from graphroute.retrieval.base import Backends, Retriever
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.stores.vector.exact import ExactVectors
from graphroute.testing.world import (
    ASSERTIONS,
    INSIDER,
    NOBODY,
    ONTOLOGY,
    PUBLIC,
    SOURCES,
    STRANGER,
    day,
    visible_to,
    write,
)
from graphroute.types.query import Candidate, Cue, CueKind, Mention, ParsedQuery
from graphroute.types.reader import Reader
from graphroute.types.retrieval import RetrievalResult
from graphroute.types.route import Limits

Make = Callable[[Backends], Retriever]


@contextmanager
def opened(path: Path, *, embedder: Embedder | None = None) -> Iterator[Backends]:
    """Backends over a store file."""
    with Database(path, read_only=True) as database:
        yield Backends(
            catalog=SqliteCatalog(database),
            graph=SqliteGraph(database),
            lexical=InvertedIndex(database),
            ontology=load_ontology(ONTOLOGY),
            vectors=ExactVectors(database) if embedder is not None else None,
            embedder=embedder,
        )


def question(
    text: str, *, at: str = "2026-06-01", identifiers: Sequence[tuple[str, Sequence[str], str]] = ()
) -> ParsedQuery:
    """A question with identifiers given as (text, entity ids, via), read on a day."""
    mentions = []
    for named, entities, via in identifiers:
        start = text.index(named)
        cue = Cue(kind=CueKind.IDENTIFIER, value=named, start=start, end=start + len(named), rule="test", text=named)
        candidates = tuple(Candidate(entity_id=id, types=(), name=id, via=via) for id in entities)
        mentions.append(Mention(cue=cue, candidates=candidates))
    return ParsedQuery(text=text, language="en", instant=day(at), identifiers=tuple(mentions))


QUESTIONS = (
    question("Who owns checkout?"),
    question("Who owned checkout?", at="2026-04-01"),
    question("What did CHG-482 change?", identifiers=[("CHG-482", ["chg:482"], "pattern")]),
    question("What is CHG-900?", identifiers=[("CHG-900", [], "pattern")]),
    question("What is CHG-901?", identifiers=[("CHG-901", [], "pattern")]),
    question("Nightjar"),
    question("Что означает ошибка E-77?"),
    question("结账服务使用什么？"),
    question("What are the main themes?"),
    question("Before all data", at="1999-01-01"),
)
"""Questions whose answers differ by reader or by day."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The checks. `directory`: where store files may be written. `embedder`: for retrievers that need vectors."""

    make: Make
    directory: Path
    embedder: Embedder | None = None

    def results(self, reader: Reader, *, visible: Reader | None = None, turned: bool = False) -> list[RetrievalResult]:
        """The results for all questions, without times. `visible`: over the corpus that reader may see; `turned`: ingested backwards."""
        name = f"{visible.id if visible else 'all'}-{'turned' if turned else 'straight'}.db"
        path = self.directory / name
        sources, assertions = visible_to(visible) if visible else (SOURCES, ASSERTIONS)
        if not path.exists():
            step = -1 if turned else 1
            write(path, sources[::step], assertions[::step], embedder=self.embedder)
        with opened(path, embedder=self.embedder) as backends:
            retriever = self.make(backends)
            view = backends.catalog.view(reader=reader)
            return [replace(retriever.retrieve(one, view=view, limits=Limits()), seconds=0.0) for one in QUESTIONS]

    def check_hits(self) -> None:
        """A hit is one piece of evidence with a finite score, and some question has one."""
        found = [hit for result in self.results(INSIDER) for hit in result.hits]
        assert found
        for hit in found:
            assert sum(part is not None for part in (hit.passage, hit.path, hit.report)) == 1
            assert math.isfinite(hit.score)

    def check_scope(self) -> None:
        """No source outside a reader's labels is shown, and labels are compared exactly."""
        for reader in (PUBLIC, INSIDER, NOBODY, STRANGER):
            readable = {source.id for source in SOURCES if source.labels & reader.labels}
            for result in self.results(reader):
                assert set(shown_sources(result)) <= readable, result
                if not readable:
                    assert not result.hits
                    assert not result.bindings
        insider = [shown_sources(result) for result in self.results(INSIDER)]
        assert any("plan:nightjar" in sources for sources in insider), "the restricted source is never found at all"

    def check_non_interference(self) -> None:
        """A reader gets the same from the whole corpus as from one without everything it may not see."""
        for reader in (PUBLIC, NOBODY):
            assert self.results(reader) == self.results(reader, visible=reader)

    def check_hidden_as_absent(self) -> None:
        """An identifier that only a hidden source holds is answered like one that nothing holds.

        Not for retrievers whose results depend on more of a question than the words it shares with readable text.
        """
        by_text = dict(zip((one.text for one in QUESTIONS), self.results(PUBLIC), strict=True))
        hidden, absent = by_text["What is CHG-900?"], by_text["What is CHG-901?"]
        assert repr(hidden).replace("CHG-900", "CHG-901") == repr(absent)

    def check_time(self) -> None:
        """Passages come from sources in force at the instant asked about."""
        for query, result in zip(QUESTIONS, self.results(INSIDER), strict=True):
            for hit in result.hits:
                if hit.passage is not None:
                    assert query.source_time.accepts(hit.passage.validity)

    def check_determinism(self) -> None:
        """Equal results from a new instance and from a corpus ingested in another order."""
        assert self.results(INSIDER) == self.results(INSIDER)
        assert self.results(INSIDER) == self.results(INSIDER, turned=True)

    def check_all(self) -> None:
        """Every check that holds for all retrievers."""
        self.check_hits()
        self.check_scope()
        self.check_non_interference()
        self.check_time()
        self.check_determinism()


def shown_sources(result: RetrievalResult) -> list[str]:
    """Sources of a result's passages and reports."""
    found: list[str] = []
    for hit in result.hits:
        if hit.passage is not None:
            found.append(hit.passage.source_id)
        elif hit.report is not None:
            found.extend(hit.report.source_ids)
    return found
