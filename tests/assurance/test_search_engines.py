"""Permissions of the search engines of servers against a brute force over the documents: 500 cases each, and the control."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from graphroute.stores.database import Database
from graphroute.stores.lexical.base import LexicalStore, PassageFilter
from graphroute.stores.lexical.neo4j import Neo4jLexical
from graphroute.stores.lexical.qdrant import QdrantLexical
from graphroute.stores.qdrant.connection import MEMORY, QdrantConnection, QdrantSettings
from graphroute.stores.qdrant.replica import QdrantReplica
from graphroute.stores.vector.base import VectorStore
from graphroute.stores.vector.neo4j import Neo4jVectors
from graphroute.stores.vector.qdrant import QdrantVectors
from graphroute.testing.documents import Document, random_corpus, readable, write_documents
from graphroute.testing.vector_store import MODEL, SIZE, vectors_of
from graphroute.text import query_terms, terms
from graphroute.types.reader import Reader
from graphroute.types.view import View
from neo4j_search import Lease, SearchServers, search_servers

LABELS = ("public", "red", "blue", "Red", "hr/2024")
READERS = (
    Reader("none", ()),
    Reader("one", ("red",)),
    Reader("all", LABELS),
    Reader("unknown", ("unheard-of",)),
    Reader("case", ("RED", "Public")),
    Reader("space", ("red ", " public")),
    Reader("public", ("public",)),
    Reader("two", ("Red", "hr/2024")),
)
QUESTIONS = ("pump relay", "насос ledger", "泵 阀门负责人", "CHG-482", "secret", "monday узел клапан")
CASES = 500
ROUNDS = 8

Engines = tuple[LexicalStore, VectorStore]


@dataclass
class Outcome:
    cases: int = 0
    violations: int = 0
    omissions: int = 0


def corpus_of(seed: int) -> list[Document]:
    """Documents whose labels are redrawn from all five."""
    rng = random.Random(seed)
    return [
        replace(document, labels=frozenset(rng.sample(LABELS, rng.choice([1, 1, 2, 3]))))
        for document in random_corpus(seed, size=60)
    ]


def compare(
    engines: Engines,
    corpus: Sequence[Document],
    view_of: Callable[[Reader], View],
    seed: int,
    outcome: Outcome,
    *,
    unscoped: View | None = None,
) -> None:
    """Both engines for each reader, question and filter; `unscoped` takes the place of the reader's view in the control."""
    lexical, vectors = engines
    rng = random.Random(1000 + seed)
    numbers = np.random.default_rng(seed)
    for reader in READERS:
        view = view_of(reader)
        if unscoped is not None:
            view = replace(view, scopes=unscoped.scopes)
        for question in QUESTIONS:
            where = PassageFilter(
                kinds=rng.choice([None, None, ("note",)]),
                nodes=rng.choice([None, None, ("kep:1", "kep:2")]),
                source_ids=rng.choice([None, None, tuple(one.id for one in rng.sample(list(corpus), 20))]),
            )
            may = [
                document
                for document in readable(corpus, reader)
                if (where.kinds is None or document.kind in where.kinds)
                and (where.nodes is None or document.node in where.nodes)
                and (where.source_ids is None or document.id in where.source_ids)
            ]
            wanted = set(query_terms(question))
            sharing = {document.id for document in may if wanted & set(terms(document.text))}
            near = {document.id for document in may if document.text.strip()}
            vector = numbers.normal(size=SIZE).astype(np.float32)
            for expected, found in (
                (sharing, lexical.search(question, view=view, k=100, where=where)),
                (near, vectors.search(vector, view=view, k=100, where=where)),
            ):
                got = {hit.passage_id for hit in found}
                outcome.cases += 1
                outcome.violations += bool(got - expected)
                outcome.omissions += bool(expected - got)


def check(build: Callable[[Database], AbstractContextManager[Engines]], directory: Path) -> None:
    guarded, control = Outcome(), Outcome()
    for seed in range(ROUNDS):
        corpus = corpus_of(seed)
        database, view_of = write_documents(
            directory / f"{seed}.db", corpus, vectors=vectors_of(corpus, seed), identity=MODEL
        )
        with build(database) as engines:
            compare(engines, corpus, view_of, seed, guarded)
            if seed == 0:
                compare(engines, corpus, view_of, seed, control, unscoped=view_of(READERS[2]))
    assert guarded.cases >= CASES
    assert (guarded.violations, guarded.omissions) == (0, 0)
    assert control.violations > 0.5 * control.cases, "the control: with all scopes, readers get what they may not read"


def test_qdrant(tmp_path: Path) -> None:
    class Build:
        def __init__(self, database: Database) -> None:
            self.database = database

        def __enter__(self) -> Engines:
            self.connection = QdrantConnection(QdrantSettings(url=MEMORY))
            QdrantReplica(self.connection, self.database).copy()
            return QdrantLexical(self.connection), QdrantVectors(self.connection, MODEL)

        def __exit__(self, *error: object) -> None:
            self.connection.close()

    check(Build, tmp_path)


@pytest.fixture(scope="module")
def servers(neo4j_lease: Lease) -> Iterator[SearchServers]:
    with search_servers(neo4j_lease) as found:
        yield found


def test_neo4j(servers: SearchServers, tmp_path: Path) -> None:
    def build(database: Database) -> AbstractContextManager[Engines]:
        connection = servers.copy(database)
        return nullcontext((Neo4jLexical(connection), Neo4jVectors(connection, MODEL)))

    check(build, tmp_path)
