"""Embedder port: texts to unit vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """A text encoder. `identity` is `name@revision/size` and is kept with every vector."""

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def identity(self) -> str: ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of passages, shape (len(texts), size)."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Unit vector of a question, shape (size,)."""
        ...
