"""Facts with supports in a record and on a Neo4j server: ingest, filtered 3-hop paths from hubs and ordinary entities, erasure.

    python benchmarks/neo4j_facts.py --uri bolt://HOST:PORT [--facts 1000000]

The server's database must be empty or a store of an earlier run; GRAPHROUTE_NEO4J_PASSWORD is read. Prints both stores side by side.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from graphroute.stores.catalog.neo4j import Neo4jCatalog
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.base import GraphStore
from graphroute.stores.graph.neo4j import Neo4jGraph
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings
from graphroute.stores.neo4j.migrate import migrate
from graphroute.stores.neo4j.queries import PLANNED, QUERIES
from graphroute.stores.neo4j.replica import Neo4jReplica
from graphroute.stores.writer import SnapshotWriter
from graphroute.types.graph import Assertion, Direction, HopPattern, PathPattern
from graphroute.types.reader import Reader
from graphroute.types.source import Source, SourceSpan
from graphroute.types.time import Interval, TimeFilter, TimeMode
from graphroute.types.view import View

PREDICATES = tuple(f"R{number}" for number in range(12))
LABELS = tuple(f"team{number}" for number in range(20))
FACTS_OF_A_SOURCE = 100
ERASED = 1_000
YEAR = 31_536_000_000_000


def write_facts(db: Database, facts: int) -> None:
    """Facts between a fifth as many entities, a hundredth of them hubs; sources with one or two of 20 labels."""
    rng = random.Random(1)
    entities, hubs = max(20, facts // 5), max(2, facts // 500)
    writer = SnapshotWriter(db)
    writer.begin()
    for number in range(facts // FACTS_OF_A_SOURCE + 1):
        writer.put_source(Source(id=f"doc{number}", text="x", labels=frozenset(rng.sample(LABELS, rng.choice((1, 2))))))
    writer.put_source(Source(id="erased", text="x", labels=frozenset({LABELS[0]})))
    for number in range(facts):
        subject = f"h:{rng.randrange(hubs)}" if rng.random() < 0.1 else f"e:{rng.randrange(entities)}"
        source = "erased" if number < ERASED else f"doc{number // FACTS_OF_A_SOURCE}"
        start = rng.randrange(20) * YEAR
        writer.put_assertion(
            Assertion(
                id=f"a{number}",
                subject=subject,
                predicate=rng.choice(PREDICATES),
                object=f"e:{rng.randrange(entities)}",
                validity=Interval(start, start + 5 * YEAR) if rng.random() < 0.5 else Interval(start, None),
                supports=((SourceSpan(source),),),
            )
        )
    writer.publish()


def patterns(starts: list[str]) -> list[PathPattern]:
    """Three hops over two predicates each, in force at one moment."""
    rng = random.Random(2)
    found = []
    for start in starts:
        moment = rng.randrange(20) * YEAR
        when = TimeFilter(TimeMode.OVERLAPS, Interval(moment, moment + 1))
        hops = tuple(
            HopPattern(tuple(rng.sample(PREDICATES, 2)), rng.choice((Direction.FORWARD, Direction.BACKWARD)), time=when)
            for _ in range(3)
        )
        found.append(PathPattern((start,), hops, 40))
    return found


def timed(graph: GraphStore, view: View, asked: list[PathPattern]) -> tuple[float, float, list[object]]:
    """p50 and p95 in milliseconds, and the answers."""
    times, answers = [], []
    for pattern in asked:
        began = time.perf_counter()
        answers.append(graph.paths(pattern, view=view))
        times.append((time.perf_counter() - began) * 1000)
    cuts = statistics.quantiles(times, n=20)
    return statistics.median(times), cuts[18], list(answers)


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uri", required=True)
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    settings = Neo4jSettings.from_environment(options.uri)
    with (
        tempfile.TemporaryDirectory() as folder,
        Neo4jConnection(settings) as connection,
        Database(Path(folder) / "store.db") as db,
    ):
        migrate(connection)
        embedded = seconds(lambda: write_facts(db, options.facts))
        replica = Neo4jReplica(connection, db)
        served = seconds(lambda: replica.replicate(replace=True))
        say = f"{options.facts / embedded:,.0f} facts/s into the record, {options.facts / served:,.0f} facts/s to the server"
        print(f"ingest of {options.facts:,} facts: {say}")
        connection.warm([(query, PLANNED) for query in QUERIES])
        reader = Reader("r", LABELS[:10])
        left, right = SqliteCatalog(db).view(reader=reader), Neo4jCatalog(connection).view(reader=reader)
        assert left == right
        rng = random.Random(3)
        for kind, count in (("h", max(2, options.facts // 500)), ("e", max(20, options.facts // 5))):
            asked = patterns([f"{kind}:{rng.randrange(count)}" for _ in range(options.questions)])
            graph, server = SqliteGraph(db), Neo4jGraph(connection)
            timed(server, right, asked[:20])
            one, other = timed(graph, left, asked), timed(server, right, asked)
            assert one[2] == other[2], "the stores differ"
            name = "hubs" if kind == "h" else "ordinary entities"
            print(
                f"3 hops from {name}, ms: embedded p50 {one[0]:.2f} p95 {one[1]:.2f}; "
                f"server p50 {other[0]:.2f} p95 {other[1]:.2f}"
            )

        # The order of an ingest: readers lose the source at the publish, its rows go when old snapshots are forgotten.
        writer = SnapshotWriter(db)

        def erase() -> None:
            writer.begin()
            writer.remove_source("erased")
            writer.publish()

        one_s, two_s = seconds(erase), seconds(replica.replicate)
        one_s += seconds(writer.forget)
        two_s += seconds(replica.replicate)
        print(f"erase of a source with {ERASED:,} facts: record {one_s:.2f} s, server {two_s:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
