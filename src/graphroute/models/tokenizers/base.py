"""Tokenizer port: counts tokens exactly, never raises on text, never reaches the network."""

from __future__ import annotations

from typing import Protocol


class Tokenizer(Protocol):
    """`identity` names the encoding and the library version."""

    @property
    def identity(self) -> str: ...

    def count(self, text: str) -> int:
        """Tokens of `text`; control tokens count as plain text."""
        ...

    def head(self, text: str, tokens: int) -> str:
        """The start of `text` that its first `tokens` tokens spell; a character that they cut is left out."""
        ...
