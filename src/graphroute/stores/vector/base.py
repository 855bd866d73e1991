"""Vector port: nearest passages among what the reader may see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graphroute.stores.lexical.base import NO_FILTER, PassageFilter, Scored
from graphroute.types.view import View


class VectorStore(Protocol):
    """Similarity search over unit vectors of one model, revision and size."""

    @property
    def model(self) -> str | None:
        """`name@revision/size` of the vectors held, or None if there are none."""
        ...

    def search(
        self,
        vector: NDArray[np.float32],
        *,
        view: View,
        k: int,
        where: PassageFilter = NO_FILTER,
        deadline: float | None = None,
    ) -> Sequence[Scored]:
        """The k nearest readable passages by cosine. `vector` has shape (size,); refused if not finite or zero."""
        ...

    def is_exact(self, *, view: View, deadline: float | None = None) -> bool:
        """True if a search by this view compares every readable vector; False if it may miss near ones."""
        ...
