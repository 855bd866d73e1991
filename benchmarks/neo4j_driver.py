"""Local-graph retrieval on a Neo4j server, against the raw driver sending the same texts and parameters one after another.

    python tools/servers.py run --version 5.26 -- python benchmarks/neo4j_driver.py

The calls of each question are recorded once; then both run for every question in every round. The peer is the synchronous driver with one
session, reading every record. What we add is deadlines, a breaker, the order of paths, supports and bindings. Parsing is not measured.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

from common import arguments, folder_of, in_turn, percentile, questions_of, readers_of, show, store_of

from graphroute.config.load import load_routes
from graphroute.evaluation.dataset import load_dataset
from graphroute.parsing.parser import Parser
from graphroute.pipeline.engine import parse_as_of
from graphroute.retrieval.base import Backends
from graphroute.retrieval.local_graph import LocalGraph
from graphroute.stores.catalog.neo4j import Neo4jCatalog
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.neo4j import Neo4jGraph
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings, Query, Row
from graphroute.stores.neo4j.migrate import migrate
from graphroute.stores.neo4j.queries import PLANNED, QUERIES
from graphroute.stores.neo4j.replica import Neo4jReplica

MOST_RATIO = 1.3


class Recording(Neo4jConnection):
    """Keeps what is read, when told to."""

    def __init__(self, settings: Neo4jSettings) -> None:
        super().__init__(settings)
        self.kept: list[tuple[Query, dict[str, object]]] | None = None

    def read(
        self, query: Query, parameters: Mapping[str, object] = PLANNED, *, deadline: float | None = None
    ) -> list[Row]:
        """The records, as always."""
        if self.kept is not None:
            self.kept.append((query, dict(parameters)))
        return super().read(query, parameters, deadline=deadline)


def main() -> int:
    """Prints the table and how many calls a question takes."""
    parser = arguments(__doc__ or "", rounds=3)
    parser.add_argument("--set", default="e_k8s_org")
    parser.add_argument("--questions", type=int, default=120)
    given = parser.parse_args()
    address = os.environ.get("GRAPHROUTE_NEO4J_URI")
    if address is None:
        sys.exit("GRAPHROUTE_NEO4J_URI is not set: run this by tools/servers.py run")
    folder = folder_of(given.set, given.data)
    if folder is None:
        return 0
    import neo4j

    store = store_of(folder, given.work)
    settings = Neo4jSettings.from_environment(address)
    with Neo4jConnection(settings) as writing, Database(store) as database:
        migrate(writing, [384])
        Neo4jReplica(writing, database).replicate(replace=True)
    dataset, questions = load_dataset(folder), questions_of(folder, given.questions)
    auth = (settings.user, settings.password)
    with (
        Recording(settings) as connection,
        Database(store, read_only=True) as database,
        neo4j.GraphDatabase.driver(address, auth=auth, notifications_min_severity="OFF") as driver,
        driver.session(
            database=settings.database, default_access_mode="READ", fetch_size=settings.fetch_size
        ) as session,
    ):
        connection.warm((query, PLANNED) for query in QUERIES)
        embedded, lexical, routes = SqliteCatalog(database), InvertedIndex(database), load_routes()
        ontology = embedded.ontology()
        questions_parser, router = Parser(ontology, embedded, lexical), routes.router()
        catalog = Neo4jCatalog(connection)
        retriever = LocalGraph(
            Backends(catalog=catalog, graph=Neo4jGraph(connection), lexical=lexical, ontology=ontology)
        )
        cases: list[Any] = []
        calls: list[list[tuple[Query, dict[str, object]]]] = []
        for question in questions:
            reader = dataset.reader(question)
            instant = parse_as_of(dataset.day(question) or "2026-01-01")
            query = questions_parser.parse(question.text, view=embedded.view(reader=reader), instant=instant)
            if not query.readings:
                continue
            view, limits = catalog.view(reader=reader), router.route(query, limits=routes.bounds()).limits
            retriever.retrieve(query, view=view, limits=limits)  # fills what is kept for a view
            connection.kept = []
            retriever.retrieve(query, view=view, limits=limits)
            cases.append((query, view, limits))
            calls.append(connection.kept)
            connection.kept = None

        def ours(number: int) -> None:
            query, view, limits = cases[number]
            retriever.retrieve(query, view=view, limits=limits)

        def peer(number: int) -> None:
            for query, parameters in calls[number]:
                with session.begin_transaction(timeout=60) as transaction:
                    _ = [record.values() for record in transaction.run(query.text, parameters)]

        times = in_turn(len(cases), ours, peer, rounds=given.rounds)
    sizes = [len(one) for one in calls]
    names = Counter(query.name for one in calls for query, _ in one)
    print(f"calls a question: p50 {percentile(sizes, 50)}, p95 {percentile(sizes, 95)}; {dict(names.most_common())}")
    lines = times.lines()
    best = lines[2]
    ratio95 = percentile(best.ours, 95) / percentile(best.peer, 95)
    print(f"ratio of the p95 of the best rounds: {ratio95:.2f} (at most {MOST_RATIO})")
    failed = show(f"local graph on Neo4j: the {len(cases)} with a reading of {readers_of(dataset, questions)}", lines)
    return failed or int((best.ratio or 0) > MOST_RATIO or ratio95 > MOST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
