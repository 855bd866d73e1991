"""Embedder on an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphroute.errors import BackendError, ConfigurationError
from graphroute.models.openai_client import api_key, call, clean, make_client
from graphroute.models.unit_vectors import unit_vectors


class OpenAIEmbedder:
    """`model` at `base_url`, with the key from GRAPHROUTE_API_KEY or OPENAI_API_KEY.

    `query_prefix` and `passage_prefix` are put before the texts, for models of the E5 family; `size` is asked of the
    endpoint when not given.
    """

    revision = "endpoint"

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        size: int | None = None,
        query_prefix: str = "",
        passage_prefix: str = "",
        batch_size: int = 64,
        timeout: float = 30.0,
    ) -> None:
        address = base_url or os.environ.get("GRAPHROUTE_EMBEDDER_URL") or os.environ.get("OPENAI_BASE_URL")
        if not address:
            raise ConfigurationError(
                f"embedder openai:{model} has no endpoint", hint="set GRAPHROUTE_EMBEDDER_URL or OPENAI_BASE_URL"
            )
        self.name = f"openai:{model}"
        self._model = model
        self._base_url = address
        self._size = size
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._batch_size = batch_size
        self._timeout = timeout

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self._model!r})"

    @cached_property
    def _client(self) -> Any:
        return make_client(self._base_url, api_key())

    @cached_property
    def size(self) -> int:
        """Length of the vectors; asks the endpoint once when it was not given."""
        if self._size is not None:
            return self._size
        return int(self._request(["size"], None).shape[1])

    @property
    def identity(self) -> str:
        """`openai:<model>@endpoint/<size>`; an endpoint does not tell the revision of its model."""
        return f"{self.name}@{self.revision}/{self.size}"

    def _request(self, texts: list[str], size: int | None) -> NDArray[np.float32]:
        def request() -> Any:
            return self._client.embeddings.create(
                model=self._model, input=[clean(text) for text in texts], encoding_format="float", timeout=self._timeout
            )

        def read(answer: Any) -> list[list[float]]:
            rows = sorted(answer.data, key=lambda row: int(row.index))
            if [row.index for row in rows] != list(range(len(texts))):
                raise ValueError("rows are missing")
            return [row.embedding for row in rows]

        values = call(lambda: read(request()), timeout=self._timeout, where=self.name)
        return unit_vectors(values, count=len(texts), size=size, where=self.name)

    def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), size). `on_progress` gets the number of texts done so far."""
        parts = [np.zeros((0, self.size), dtype=np.float32)]
        for start in range(0, len(texts), self._batch_size):
            batch = [self._passage_prefix + (text or " ") for text in texts[start : start + self._batch_size]]
            parts.append(self._request(batch, self.size))
            if on_progress is not None:
                on_progress(start + len(batch))
        return np.concatenate(parts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Unit vector, shape (size,)."""
        if not text:
            raise BackendError("an empty question has no vector", where=self.name)
        vector: NDArray[np.float32] = self._request([self._query_prefix + text], self.size)[0]
        return vector
