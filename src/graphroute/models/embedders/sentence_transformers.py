"""Embedder on the sentence-transformers library; a model is named or is a folder."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphroute.errors import BackendUnavailableError, ConfigurationError
from graphroute.models.unit_vectors import unit_vectors


class SentenceTransformersEmbedder:
    """Loads the model when first used. Prompts named "query" and "passage" or "document" in the model's own
    configuration are applied by method."""

    def __init__(self, model: str, *, revision: str = "default", batch_size: int = 32) -> None:
        self.name = f"sentence_transformers:{model}"
        self.revision = revision
        self._source = model
        self._batch_size = batch_size
        self._lock = threading.Lock()

    @cached_property
    def _model(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ConfigurationError(
                "sentence-transformers is not installed", hint="pip install 'graphroute[sentence-transformers]'"
            ) from error
        try:
            return SentenceTransformer(
                self._source, revision=None if self.revision == "default" else self.revision, device="cpu"
            )
        except (OSError, ValueError) as error:
            raise BackendUnavailableError(f"cannot load {self._source!r}: {error}", where=self.name) from error

    @cached_property
    def size(self) -> int:
        """Length of the vectors; loads the model."""
        with self._lock:
            model = self._model
        # Renamed in version 6.
        size = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        return int(size())

    @property
    def identity(self) -> str:
        """`sentence_transformers:<model>@<revision>/<size>`; loads the model."""
        return f"{self.name}@{self.revision}/{self.size}"

    def _encode(self, texts: Sequence[str], prompts: Sequence[str]) -> NDArray[np.float32]:
        size = self.size
        known = getattr(self._model, "prompts", None) or {}
        prompt = next((name for name in prompts if name in known), None)
        with self._lock:
            values = self._model.encode(
                list(texts), prompt_name=prompt, batch_size=self._batch_size, show_progress_bar=False
            )
        return unit_vectors(values, count=len(texts), size=size, where=self.name)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), size)."""
        if not texts:
            return np.zeros((0, self.size), dtype=np.float32)
        return self._encode(texts, ("passage", "document"))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Unit vector, shape (size,)."""
        vector: NDArray[np.float32] = self._encode([text], ("query",))[0]
        return vector
