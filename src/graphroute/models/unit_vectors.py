"""Checks on what an embedder returned, before anything is stored or compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphroute.errors import BackendError


def unit_vectors(values: Any, *, count: int, size: int | None, where: str) -> NDArray[np.float32]:
    """`values` as unit vectors of shape (count, size), C order.

    `size` None accepts any. Raises BackendError for another shape, a value that is not finite, or a zero vector.
    """
    try:
        vectors = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise BackendError("the embedder did not return vectors of one size", where=where) from error
    if count == 0 and vectors.size == 0:
        return np.zeros((0, size or 0), dtype=np.float32)
    if vectors.ndim != 2 or vectors.shape[0] != count or (size is not None and vectors.shape[1] != size):
        raise BackendError(
            f"the embedder returned shape {vectors.shape}", where=where, allowed=f"({count}, {size or 'any'})"
        )
    if not np.isfinite(vectors).all():
        raise BackendError("the embedder returned a value that is not finite", where=where)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (lengths > 1e-12).all():
        raise BackendError("the embedder returned a zero vector", where=where)
    return np.ascontiguousarray(vectors / lengths, dtype=np.float32)
