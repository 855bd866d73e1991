"""Passages of a store file on a Neo4j server, for tests of search there."""

from __future__ import annotations

from graphroute.stores.database import Database
from graphroute.stores.neo4j.connection import Neo4jConnection, Query
from graphroute.stores.neo4j.search_fields import search_fields
from graphroute.stores.neo4j.vectors import replicate_vectors
from graphroute.stores.vector_checks import embedder_of, vector_size

_COLUMNS = (
    "key", "id", "source_id", "scope", "kind", "node", "low", "high", "timestamp", "start", "end", "born", "died", "title", "text",
)  # fmt: skip
_SCHEMA = (
    "CREATE CONSTRAINT graphroute_passage IF NOT EXISTS FOR (n:Passage) REQUIRE n.key IS UNIQUE",
    "CREATE INDEX graphroute_passage_scope IF NOT EXISTS FOR (n:Passage) ON (n.scope)",
    *(
        f"CREATE FULLTEXT INDEX graphroute_words_{name} IF NOT EXISTS FOR (n:Passage) ON EACH [n.words_{name}] "
        f"OPTIONS {{indexConfig: {{`fulltext.analyzer`: '{name}', `fulltext.eventually_consistent`: false}}}}"
        for name in ("english", "russian", "cjk")
    ),
)


def copy_passages(connection: Neo4jConnection, database: Database) -> None:
    """The indexes, and every passage row with its search fields and vector."""
    sql = database.connection
    identity = embedder_of(sql)
    for text in _SCHEMA:
        connection.write(Query("schema", text))
    if identity:
        size = vector_size(identity)
        connection.write(
            Query(
                "schema",
                f"CREATE VECTOR INDEX graphroute_vector_{size} IF NOT EXISTS FOR (n:Passage) ON (n.vector_{size}) "
                f"OPTIONS {{indexConfig: {{`vector.dimensions`: {size}, `vector.similarity_function`: 'cosine'}}}}",
            )
        )
    connection.read(Query("await", "CALL db.awaitIndexes(60)"), deadline=None)
    rows = sql.execute(
        "SELECT p.key, p.id, s.id, p.scope, p.kind, p.node, p.low, p.high, p.timestamp, p.start, p.end, p.born, p.died, "
        "p.title, p.text FROM passage p JOIN source s ON s.key = p.source ORDER BY p.key"
    )
    copy = Query(
        "copy",
        "CYPHER 5 UNWIND $rows AS row MERGE (n:Passage {key: row.key}) SET n += row",
    )
    while batch := rows.fetchmany(1_000):
        found = [dict(zip(_COLUMNS, row, strict=True)) for row in batch]
        connection.write(copy, {"rows": [{**row, **search_fields(row)} for row in found]})
    connection.write(
        Query("marker", "CYPHER 5 MERGE (g:GraphrouteStore {one: 1}) SET g.sequence = $sequence"),
        {"sequence": database.sequence()},
    )
    replicate_vectors(connection, database)
