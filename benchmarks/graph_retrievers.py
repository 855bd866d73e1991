"""The path questions of a set, by graphroute and by neo4j-graphrag's VectorCypherRetriever and HybridCypherRetriever, on one server and one index.

    python tools/servers.py run --version 5.26 -- python benchmarks/graph_retrievers.py

The peers search the passages that graphroute copied to the server, by its vector and full-text indexes, with its embedder, and go on to
facts with a retrieval query as their guide writes them: what the passage's source proves, then all facts of the passage's entity. They
know no reader and no time; the table says what share of questions got the whole proof, in how many tokens and how long.
Needs `pip install neo4j-graphrag`, which graphroute itself does not.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import arguments, folder_of, machine, percentile, questions_of

from graphroute.evaluation.dataset import load_dataset
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result, result_of
from graphroute.evaluation.scoring import score
from graphroute.indexing.ingest import ingest
from graphroute.models.embedders import load_embedder
from graphroute.models.tokenizers import load_tokenizer
from graphroute.ontology.load import load_ontology
from graphroute.pipeline.engine import GraphRoute
from graphroute.stores.database import Database
from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings
from graphroute.stores.neo4j.migrate import migrate
from graphroute.stores.neo4j.replica import Neo4jReplica

FAMILIES = ("neighbourhood", "bounded_path", "temporal_path")
TOP = 10
FACTS = """
WITH node, score
OPTIONAL MATCH (own:Support {source: node.source_id})
WITH node, score, collect(DISTINCT own.assertion_id)[..40] AS proved
OPTIONAL MATCH (e:Entity {id: node.node})-[r]-(other:Entity)
OPTIONAL MATCH (s:Support {fact: r.fact})
WITH node, score, proved, collect(DISTINCT [startNode(r).id, type(r), endNode(r).id, s.assertion_id])[..40] AS facts
RETURN node.source_id AS source, node.text AS text, proved, facts, score
"""


def main() -> int:
    """Prints the table."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--set", default="e_k8s_org")
    parser.add_argument("--questions", type=int, default=90)
    given = parser.parse_args()
    address = os.environ.get("GRAPHROUTE_NEO4J_URI")
    folder = folder_of(given.set, given.data)
    if address is None:
        sys.exit("GRAPHROUTE_NEO4J_URI is not set: run this by tools/servers.py run")
    if folder is None:
        return 0
    try:
        import neo4j
        from neo4j_graphrag.embeddings.base import Embedder
        from neo4j_graphrag.retrievers import HybridCypherRetriever, VectorCypherRetriever
    except ImportError:
        sys.exit("neo4j-graphrag is not installed: pip install neo4j-graphrag")
    store = given.work / f"{folder.name}.vectors.sqlite"
    written = Path(__file__).parent.parent / "evals" / "ontologies" / f"{folder.name}.yaml"
    model = load_embedder()
    ingest(folder, store, ontology=load_ontology(written) if written.exists() else None, embedder=model)
    with Neo4jConnection(Neo4jSettings.from_environment(address)) as connection, Database(store) as database:
        migrate(connection, [model.size])
        Neo4jReplica(connection, database).replicate(replace=True)

    class Ours(Embedder):
        """The embedder of the store."""

        def embed_query(self, text: str) -> list[float]:
            return [float(number) for number in model.embed_query(text)]

    dataset = load_dataset(folder)
    asked = [question for question in questions_of(folder) if question.family in FAMILIES and question.required_edges]
    asked = [asked[number * len(asked) // given.questions] for number in range(min(given.questions, len(asked)))]
    count = load_tokenizer("o200k_base").count
    auth = (os.environ.get("GRAPHROUTE_NEO4J_USER") or "neo4j", os.environ["GRAPHROUTE_NEO4J_PASSWORD"])
    index, words = f"graphroute_vector_{model.size}", "graphroute_words_english"
    with (
        neo4j.GraphDatabase.driver(address, auth=auth, notifications_min_severity="OFF") as driver,
        GraphRoute.open(address) as router,
    ):
        peers = {
            "VectorCypherRetriever": VectorCypherRetriever(driver, index, FACTS, Ours()),
            "HybridCypherRetriever": HybridCypherRetriever(driver, index, words, FACTS, Ours()),
        }

        def graphroute(question: Question) -> Result:
            began = time.perf_counter()
            trace = router.explain(question.text, reader=dataset.reader(question), as_of=dataset.day(question))
            return result_of(question.qid, trace, 1000.0 * (time.perf_counter() - began))

        def by(peer: Any) -> Callable[[Question], Result]:
            def ask(question: Question) -> Result:
                began = time.perf_counter()
                records = peer.get_search_results(query_text=question.text, top_k=TOP).records
                spent = 1000.0 * (time.perf_counter() - began)
                facts = [fact for record in records for fact in record["facts"]]
                edges = [*(fact[3] for fact in facts), *(edge for record in records for edge in record["proved"])]
                lines = [" ".join(str(part) for part in fact[:3]) for fact in facts]
                text = "\n".join([*(record["text"] for record in records), *lines])
                return Result(
                    qid=question.qid,
                    sources=tuple(dict.fromkeys(record["source"] for record in records)),
                    edges=tuple(dict.fromkeys(edge for edge in edges if edge)),
                    latency_ms=spent,
                    tokens=count(text),
                )

            return ask

        systems = {"graphroute": graphroute, **{name: by(peer) for name, peer in peers.items()}}
        results: dict[str, dict[str, Result]] = {}
        for name, system in systems.items():
            system(asked[0])  # models and plans are not measured
            results[name] = {question.qid: system(question) for question in asked}
    print(
        f"{len(asked)} questions of {folder.name} ({', '.join(FAMILIES)}), top {TOP} passages for the peers\n{machine()}"
    )
    head = ["system", "complete path", "edge precision", "permission violations", "tokens p50", "ms p50", "ms p95"]
    rows = [head]
    for name, found in results.items():
        scores = score(dataset, asked, found)

        def mean(metric: str, scores: Any = scores) -> float:
            weights = [(scores.families[family][metric].value, scores.sizes[family]) for family in scores.families]
            return sum(value * size for value, size in weights) / sum(size for _, size in weights)

        violations = sum(group["permission_violations"].value for group in scores.families.values())
        times = [result.latency_ms for result in found.values()]
        rows.append(
            [
                name,
                f"{mean('complete_path'):.2f}",
                f"{mean('edge_precision'):.2f}",
                f"{violations:.0f}",
                f"{percentile([result.tokens for result in found.values()], 50):.0f}",
                f"{percentile(times, 50):.1f}",
                f"{percentile(times, 95):.1f}",
            ]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
