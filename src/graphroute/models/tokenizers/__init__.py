"""Tokenizers by name."""

from __future__ import annotations

from collections.abc import Callable

from graphroute.models.tokenizers.base import Tokenizer
from graphroute.registry import Registry

TOKENIZERS: Registry[Callable[[], Tokenizer]] = Registry(
    "tokenizer",
    {
        "characters": "graphroute.models.tokenizers.characters:CharacterEstimate",
        "cl100k_base": "graphroute.models.tokenizers.tiktoken:cl100k_base",
        "o200k_base": "graphroute.models.tokenizers.tiktoken:o200k_base",
    },
)


def load_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of that name. Raises ConfigurationError for an unknown one; nothing is downloaded."""
    return TOKENIZERS.load(name)()


__all__ = ["TOKENIZERS", "Tokenizer", "load_tokenizer"]
