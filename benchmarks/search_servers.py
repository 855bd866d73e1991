"""Lexical and vector search on servers against the embedded engines: recall at 10, answers that differ, time.

Texts are made up of English, Russian and Chinese words with frequencies by Zipf's law; vectors lie around topics. Three readers may read
all, a quarter and a twentieth. The embedded engines compute over what the reader may read and nothing else, so an answer that
equals theirs depends on nothing hidden; one that differs may. `topics`: labels follow the topics of the vectors, the hard case for an
index. Neo4j: GRAPHROUTE_NEO4J_URI and its password name a server for tests, whose data is replaced (`--replace`). Qdrant: its local
mode, or the server of GRAPHROUTE_TEST_QDRANT_URL.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import labelled
import numpy as np
from common import Measured, arguments, one_thread, percentile, show

from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.lexical import LexicalStore
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.stores.vector import VectorStore
from graphroute.stores.vector.exact import ExactVectors
from graphroute.types.search import Scored
from graphroute.types.view import View

TOP = 10
LEAST_RECALL = 0.95
SIZE = 64
TOPICS = 20
_STEMS = (
    "pump valve relay ledger invoice cluster release owner incident change approval monday report system",
    "насос клапан узел журнал счёт кластер выпуск владелец сбой изменение согласование отчёт система",
    "水泵 阀门 继电器 账本 发票 集群 发布 负责人 事故 变更 审批 报告 系统",
)

Search = Callable[[View, int], Sequence[Scored]]


def vocabulary() -> list[str]:
    """Words in three languages, each with numbered kin, so that there are common and rare ones."""
    base = [word for stems in zip(*(line.split() for line in _STEMS), strict=False) for word in stems]
    kin = [f"{word}-{number}" for number in range(1, 60) for word in base]
    return base + kin


def texts_of(count: int, words: Sequence[str], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Titles and texts of 20 to 120 words."""
    shares = 1.0 / np.arange(1, len(words) + 1)
    shares /= shares.sum()
    return [
        ("", " ".join(words[place] for place in rng.choice(len(words), size=rng.integers(20, 120), p=shares)))
        for _ in range(count)
    ]


def vectors_of(topics: np.ndarray, centres: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Unit vectors around the centres of their topics."""
    found = centres[topics] + 0.8 * rng.normal(size=(len(topics), SIZE))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def compare(
    name: str, server: Search, embedded: Search, views: Sequence[tuple[str, View]], asked: int
) -> list[Measured]:
    """A line for each reader, ours being the server's time, and recall with answers that differ printed beside it."""
    lines = []
    for reader, view in views:
        server(view, 0)
        embedded(view, 0)
        times: tuple[list[float], list[float]] = ([], [])
        hits = wanted = differing = 0
        for number in range(asked):
            found = []
            for side, search in enumerate((server, embedded)):
                began = time.perf_counter()
                found.append(list(search(view, number)))
                times[side].append(1000.0 * (time.perf_counter() - began))
            best = {one.passage_id for one in found[1]}
            hits += len(best & {one.passage_id for one in found[0]})
            wanted += len(best)
            differing += found[0] != found[1]
        recall = hits / wanted if wanted else 1.0
        print(f"{name}, reader of {reader}: recall at {TOP} {recall:.4f}, {differing} of {asked} answers differ")
        lines.append(Measured(name=f"{name}, {reader}", ours=times[0], peer=times[1], wrong=int(recall < LEAST_RECALL)))
        assert percentile(times[0], 50) > 0.0
    return lines


def servers_of(
    database: Database, stack: ExitStack, replace: bool, wanted: Sequence[str]
) -> list[tuple[str, LexicalStore, VectorStore]]:
    """Name, lexical and vector store of each server at hand."""
    found: list[tuple[str, LexicalStore, VectorStore]] = []
    uri = os.environ.get("GRAPHROUTE_NEO4J_URI")
    if "neo4j" in wanted and uri and replace:
        from graphroute.stores.lexical.neo4j import Neo4jLexical
        from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings
        from graphroute.stores.neo4j.migrate import migrate
        from graphroute.stores.neo4j.replica import Neo4jReplica
        from graphroute.stores.vector.neo4j import Neo4jVectors

        neo4j = stack.enter_context(Neo4jConnection(Neo4jSettings.from_environment(uri, read_timeout=60.0)))
        migrate(neo4j, [SIZE])
        began = time.perf_counter()
        Neo4jReplica(neo4j, database).replicate(replace=True)
        print(f"copied to {neo4j.server_version()} in {time.perf_counter() - began:.1f} s")
        found.append((neo4j.server_version(), Neo4jLexical(neo4j), Neo4jVectors(neo4j)))
    elif "neo4j" in wanted:
        print("no Neo4j: set GRAPHROUTE_NEO4J_URI and give --replace")
    if "qdrant" in wanted:
        from graphroute.stores.lexical.qdrant import QdrantLexical
        from graphroute.stores.qdrant.connection import MEMORY, QdrantConnection, QdrantSettings
        from graphroute.stores.qdrant.replica import QdrantReplica
        from graphroute.stores.vector.qdrant import QdrantVectors

        url = os.environ.get("GRAPHROUTE_TEST_QDRANT_URL", MEMORY)
        settings = QdrantSettings(
            url=url, api_key=os.environ.get("GRAPHROUTE_QDRANT_API_KEY"), prefix="graphroute-benchmark", timeout=60.0
        )
        qdrant = QdrantConnection(settings)
        stack.callback(qdrant.close)
        replica = QdrantReplica(qdrant, database)
        stack.callback(replica.drop)
        began = time.perf_counter()
        replica.copy()
        name = "Qdrant, local mode" if url == MEMORY else "Qdrant"
        print(f"copied to {name} in {time.perf_counter() - began:.1f} s")
        found.append((name, QdrantLexical(qdrant), QdrantVectors(qdrant)))
    return found


def main() -> int:
    """Three readers on each server."""
    one_thread()
    parser = arguments(__doc__)
    parser.add_argument("--passages", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--servers", default="neo4j,qdrant")
    parser.add_argument("--topics", action="store_true", help="labels follow the topics of the vectors")
    parser.add_argument("--replace", action="store_true", help="replace the data of the Neo4j server")
    given = parser.parse_args()
    rng = np.random.default_rng(5)
    words = vocabulary()
    centres = rng.normal(size=(TOPICS, SIZE))
    numbers = np.arange(given.passages)
    # Labels go by number modulo 20 (see `labelled`), so topics that follow it put each reader's passages together.
    topics = numbers % TOPICS if given.topics else rng.integers(TOPICS, size=given.passages)
    texts = texts_of(given.passages, words, rng)
    common = words[: len(words) // 10]
    questions = [
        " ".join([*rng.choice(common, size=rng.integers(1, 4)), *rng.choice(words, size=rng.integers(0, 3))])
        for _ in range(given.questions)
    ]
    vectors = vectors_of(topics, centres, rng)
    near = vectors_of(rng.integers(TOPICS, size=given.questions), centres, rng)
    failed = 0
    with tempfile.TemporaryDirectory() as kept, ExitStack() as stack:
        path = Path(kept) / "store.sqlite"
        labelled.write(path, texts, vectors)
        database = stack.enter_context(Database(path))
        catalog = SqliteCatalog(database)
        inverted, exact = InvertedIndex(database), ExactVectors(database)

        def lexical(store: LexicalStore, view: View, number: int) -> Sequence[Scored]:
            return store.search(questions[number], view=view, k=TOP)

        def vector(store: VectorStore, view: View, number: int) -> Sequence[Scored]:
            return store.search(near[number], view=view, k=TOP)

        servers = servers_of(database, stack, given.replace, given.servers.split(","))
        # The first copy gives the store the id that views are told by.
        views = [(name, catalog.view(reader=reader)) for name, reader in labelled.READERS]
        for name, words_there, vectors_there in servers:
            lines = compare(
                f"{name} lexical", partial(lexical, words_there), partial(lexical, inverted), views, len(questions)
            )
            lines += compare(f"{name} vector", partial(vector, vectors_there), partial(vector, exact), views, len(near))
            for reader, view in views:
                print(f"{name} vector, reader of {reader}: exact is {vectors_there.is_exact(view=view)}")
            failed |= show(f"search: {given.passages:,} passages, against the embedded engines", lines)
    return failed


if __name__ == "__main__":
    sys.exit(main())
