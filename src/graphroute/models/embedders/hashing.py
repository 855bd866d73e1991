"""Deterministic embedder without a model, for tests: like words give like vectors, meaning does not count."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphroute.text import terms


class HashingEmbedder:
    """Signed feature hashing of search terms (Weinberger et al., Feature Hashing for Large Scale Multitask Learning,
    2009)."""

    def __init__(self, size: int = 64, name: str = "hashing", revision: str = "1") -> None:
        self.name = name
        self.revision = revision
        self.size = size

    @property
    def identity(self) -> str:
        """`hashing@1/<size>`."""
        return f"{self.name}@{self.revision}/{self.size}"

    def _embed(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self.size, dtype=np.float64)
        for term in terms(text) or ["", text]:
            digest = hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=8).digest()
            number = int.from_bytes(digest, "big")
            vector[(number >> 1) % self.size] += 1.0 if number & 1 else -1.0
        length = float(np.linalg.norm(vector))
        if length == 0.0:
            vector[0] = length = 1.0
        return (vector / length).astype(np.float32)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), size)."""
        return np.array([self._embed(text) for text in texts], dtype=np.float32).reshape(len(texts), self.size)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Unit vector, shape (size,)."""
        return self._embed(text)
