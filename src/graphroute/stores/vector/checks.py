"""Checks of a question's vector that every vector store makes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphroute.errors import BackendError, ModelMismatchError


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
