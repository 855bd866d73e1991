"""What vector stores share: checks of a question's vector, and vectors as the record keeps them."""

from __future__ import annotations

import hashlib
import sqlite3

import numpy as np
from numpy.typing import NDArray

from graphroute.errors import BackendError, DataError, ModelMismatchError


def question_vector(vector: NDArray[np.float32], identity: str | None) -> NDArray[np.float64]:
    """The vector of a question as a unit vector in double precision, shape (size,).

    `identity`: `name@revision/size` of the vectors searched; None takes any size. Raises ModelMismatchError for another shape,
    BackendError for a vector that is zero or not finite.
    """
    given = np.asarray(vector, dtype=np.float64)
    size = int(identity.rpartition("/")[2]) if identity else given.size
    if given.shape != (size,):
        raise ModelMismatchError(
            f"the question's vector has shape {given.shape}, the store's vectors are of {identity}",
            allowed=f"({size},)",
            hint="use the embedder the store was built with",
        )
    length = float(np.sqrt((given**2).sum()))
    if not np.isfinite(length) or length == 0.0:
        raise BackendError("the question's vector is zero or not finite", where=identity)
    unit: NDArray[np.float64] = given / length
    return unit


def unit_vector(blob: bytes, size: int, passage_id: str) -> NDArray[np.float32]:
    """A stored vector of shape (size,), of length 1. Raises DataError if it is damaged, zero or not finite."""
    if len(blob) != 4 * size:
        raise DataError(f"the vector of passage {passage_id!r} is damaged", allowed=f"{size} numbers")
    vector = np.frombuffer(blob, dtype="<f4").astype(np.float32)
    length = float(np.sqrt((vector.astype(np.float64) ** 2).sum()))
    if not np.isfinite(length) or length == 0.0:
        raise DataError(f"the vector of passage {passage_id!r} is zero or not finite", hint="ingest again")
    return vector if abs(length - 1.0) <= 1e-4 else (vector / length).astype(np.float32)


def vector_size(identity: str) -> int:
    """The size that `name@revision/size` states. Raises DataError if it states none."""
    tail = identity.rpartition("/")[2]
    if not tail.isdecimal() or int(tail) < 1:
        raise DataError(f"the embedder {identity!r} states no size", allowed="name@revision/size")
    return int(tail)


def embedder_of(sql: sqlite3.Connection) -> str:
    """Identity of the embedder the record was made with, or the empty string."""
    row = sql.execute("SELECT value FROM setting WHERE key = 'embedder'").fetchone()
    if row is None or not row[0]:
        row = sql.execute("SELECT identity FROM vector LIMIT 1").fetchone()
    return str(row[0]) if row is not None and row[0] else ""


def vectors_digest(sql: sqlite3.Connection, identity: str, sequence: int | None = None) -> str:
    """Of the vectors of the rows in force at a snapshot, by default the newest complete one. Vectors themselves are not versioned."""
    if sequence is None:
        sequence = int(sql.execute("SELECT max(sequence) FROM snapshot").fetchone()[0])
    total = 0
    for key, blob in sql.execute(
        "SELECT v.passage, v.vector FROM vector v CROSS JOIN passage p ON p.key = v.passage "
        "WHERE v.identity = ? AND p.born <= ? AND p.died > ?",
        (identity, sequence, sequence),
    ):
        content = hashlib.blake2b(int(key).to_bytes(8, "big") + blob, digest_size=16).digest()
        total += int.from_bytes(content, "big")
    return f"{total % 2**128:032x}"
