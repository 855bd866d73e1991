"""Copies the vectors of a store's record to the passages on Neo4j."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphroute.errors import BackendError
from graphroute.stores.database import NOT_BLANK, Database
from graphroute.stores.neo4j.connection import Neo4jConnection, Query
from graphroute.stores.vector_checks import embedder_of, unit_vector, vector_size, vectors_digest

Progress = Callable[[str, int, int], object]
"""Called with "vectors", the rows copied so far and the rows to copy."""

_BATCH = 500
_FROM = (
    "FROM vector v CROSS JOIN passage p ON p.key = v.passage "
    f"WHERE v.identity = ? AND {NOT_BLANK} AND p.born > ? AND p.key > ? AND p.born <= ?"
)

READ_STATE = Query(
    "read_vector_state",
    """CYPHER 5
MATCH (state:VectorState {one: 1})
RETURN state.identity, state.sequence, state.digest, state.copied
LIMIT 1""",
)
WRITE_STATE = Query(
    "write_vector_state",
    """CYPHER 5
MERGE (state:VectorState {one: 1})
SET state += $p.state
RETURN state.sequence""",
)
COPY_VECTORS = Query(
    "copy_vectors",
    """CYPHER 5
UNWIND $p.rows AS row
MATCH (n:Passage {key: row.key})
SET n[$p.property] = row.vector
WITH count(n) AS written
MATCH (state:VectorState {one: 1})
SET state.copied = CASE WHEN written = size($p.rows) THEN $p.copied ELSE state.copied END
RETURN written
LIMIT 1""",
)
DROP_VECTORS = Query(
    "drop_passage_vectors",
    """CYPHER 5
MATCH (n:Passage) WHERE n[$p.property] IS NOT NULL
WITH n LIMIT $p.limit
SET n[$p.property] = NULL
RETURN count(n)""",
)


def vector_property(identity: str) -> str:
    """The property that holds vectors of an embedder's size."""
    return f"vector_{vector_size(identity) if identity else 0:d}"


def vector_index(identity: str) -> str:
    """The VECTOR index over that property."""
    return f"graphroute_vector_{vector_size(identity):d}"


def replicate_vectors(
    connection: Neo4jConnection,
    database: Database,
    since: int = 0,
    progress: Progress | None = None,
    *,
    target: int | None = None,
) -> int:
    """Copy the vectors of passages that are already on the server; how many were written.

    `since`, `target`: of passages born after the one snapshot and up to the other, by default the newest complete one.

    Vectors are not versioned, so those of older passages are compared by a digest, and all are copied again if it differs. Each
    batch and the journal of it are one transaction; a run that was cut off goes on. Ends by naming the
    target: searches of a later view are refused until then. Raises DataError for a damaged vector, BackendError if a
    passage is not on the server.
    """
    sql = database.connection
    sql.execute("BEGIN")
    try:
        identity = embedder_of(sql)
        if not identity:
            return 0
        sequence = database.staged() if target is None else target
        digest = vectors_digest(sql, identity, sequence)
        held = connection.read(READ_STATE)
        since, copied = _start(sql, identity, digest, held[0] if held else None, since)
        if since < 0 and not copied:
            old = str(held[0][0]) if held else ""
            for known in {identity, old} - {""}:
                _drop(connection, known)
            begun = {"identity": identity, "sequence": -1, "digest": digest, "copied": 0, "total": 0}
            connection.write(WRITE_STATE, {"p": {"state": begun}})
        done = _copy(connection, sql, (identity, since, copied, sequence), progress)
        total = int(sql.execute(f"SELECT count(*) {_FROM}", (identity, -1, 0, sequence)).fetchone()[0])
        ended = {"identity": identity, "sequence": sequence, "digest": digest, "copied": 0, "total": total}
        connection.write(WRITE_STATE, {"p": {"state": ended}})
        return done
    finally:
        sql.execute("COMMIT")


def _start(sql: Any, identity: str, digest: str, held: tuple[Any, ...] | None, since: int) -> tuple[int, int]:
    """The snapshot and the key after which rows are copied; -1 for all."""
    if held is None or held[0] != identity:
        return -1, 0
    if held[1] < 0:
        return -1, int(held[3]) if held[2] == digest else 0
    if held[2] != vectors_digest(sql, identity, int(held[1])):
        return -1, 0
    return min(since, int(held[1])) if since > 0 else int(held[1]), 0


def _copy(connection: Neo4jConnection, sql: Any, values: tuple[Any, ...], progress: Progress | None) -> int:
    identity, since = values[:2]
    size = vector_size(identity)
    total = int(sql.execute(f"SELECT count(*) {_FROM}", values).fetchone()[0])
    rows = sql.execute(f"SELECT p.key, p.id, v.vector {_FROM} ORDER BY p.key", values)
    done = 0
    while batch := rows.fetchmany(_BATCH):
        vectors = [{"key": key, "vector": unit_vector(blob, size, name).tolist()} for key, name, blob in batch]
        parameters = {
            "rows": vectors,
            "property": vector_property(identity),
            "copied": batch[-1][0] if since < 0 else 0,
        }
        if connection.write(COPY_VECTORS, {"p": parameters}) != [(len(batch),)]:
            raise BackendError(
                "passages of the store are not on Neo4j", where=connection.settings.uri, hint="copy the passages first"
            )
        done += len(batch)
        if progress is not None:
            progress("vectors", done, total)
    return done


def _drop(connection: Neo4jConnection, identity: str) -> None:
    parameters = {"p": {"property": vector_property(identity), "limit": 5_000}}
    while connection.write(DROP_VECTORS, parameters)[0][0]:
        pass
