"""The server finds what a question looks up through an index, whatever it believes about the data when it plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from graphroute.stores.database import Database
from graphroute.stores.neo4j.migrate import migrate
from graphroute.stores.neo4j.queries import PLANNED, QUERIES
from graphroute.stores.neo4j.queries_search import SEARCH_QUERIES
from graphroute.stores.neo4j.replica import Neo4jReplica
from graphroute.stores.writer import SnapshotWriter
from graphroute.types.graph import Assertion
from graphroute.types.source import Source, SourceSpan
from graphroute.types.time import Interval

WHOLE = {
    "all_facts": {"Support"},
    "fact_counts": {"Entity", ""},
    "digests": {"ScopeDigest"},
    "counts": {"Source", "Passage", "EntityScope", "Support"},
    "data_span": {"Source", "Entity", ""},
    "passage_statistics": {"GraphrouteStore"},
    "vector_state": {"VectorState"},
}
"""Texts that read all there is of a label, once for each view; the empty label stands for all relationships."""


@pytest.fixture(scope="module", params=["5.26", "2026"])
def server(request: pytest.FixtureRequest, neo4j_lease: Any) -> Iterator[Any]:
    with neo4j_lease(request.param, migrated=True) as found:
        yield found


def scans(plan: Mapping[str, Any]) -> set[str]:
    """Labels that a plan reads whole."""
    name, details = plan["operatorType"], plan["args"].get("Details", "")
    found = {details.split(":", 1)[1].split("(")[0].strip()} if "NodeByLabelScan" in name else set()
    if "NodeIndexScan" in name:
        found = {details.split(":", 1)[1].split("(")[0]}
    if "AllNodesScan" in name or "RelationshipsScan" in name or "RelationshipTypeScan" in name:
        found = {""}
    return found.union(*(scans(child) for child in plan.get("children", ())))


def write_many_of_few(db: Database) -> None:
    """Few distinct values in every index: what makes a seek look as dear as reading all."""
    writer = SnapshotWriter(db)
    writer.begin()
    writer.put_source(Source(id="doc", text="pump of the mill " * 50, labels=frozenset({"a"})))
    for number in range(300):
        writer.put_assertion(
            Assertion(
                id=f"a{number}",
                subject="x:1",
                predicate="OWNS",
                object="x:2",
                validity=Interval(number * 10, None),
                supports=((SourceSpan("doc", 0, 4),),),
            )
        )
    writer.publish()


def test_a_look_up_is_a_seek(server: Any, tmp_path: Path) -> None:
    import neo4j

    server.wipe(migrated=True)
    with server.connect() as connection, Database(tmp_path / "store.db") as db:
        migrate(connection, [384])
        write_many_of_few(db)
        Neo4jReplica(connection, db).replicate()
    read = {}
    with (
        neo4j.GraphDatabase.driver(
            server.uri, auth=("neo4j", server.password), notifications_min_severity="OFF"
        ) as driver,
        driver.session() as session,
    ):
        session.run("CALL db.prepareForReplanning()").consume()
        for query in (*QUERIES, *SEARCH_QUERIES):
            plan = session.run(f"EXPLAIN {query.text}", dict(PLANNED)).consume().plan
            read[query.name] = scans(plan) - WHOLE.get(query.name, set())
    assert {name: labels for name, labels in read.items() if labels} == {}


def test_control_a_plan_without_an_index_is_noticed(server: Any) -> None:
    import neo4j

    with (
        neo4j.GraphDatabase.driver(
            server.uri, auth=("neo4j", server.password), notifications_min_severity="OFF"
        ) as driver,
        driver.session() as session,
    ):
        for text, label in (("MATCH (n:Unindexed {x: 1})", "Unindexed"), ("MATCH (n)", ""), ("MATCH ()-[n]->()", "")):
            plan = session.run(f"EXPLAIN CYPHER 5 {text} RETURN n LIMIT 1").consume().plan
            assert scans(plan) == {label}
