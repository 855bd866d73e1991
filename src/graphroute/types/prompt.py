"""SerializedEvidence: the bundle's text for the generator, its size, and what did not fit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SerializedEvidence:
    """Finished evidence text. `tokens` counts exactly `text` with `tokenizer` (name and library version).

    `grammar` tells a reader of the text how the format is read; it is no part of `text`.
    """

    format: str
    format_version: str
    text: str
    tokens: int
    tokenizer: str
    budget: int
    included: tuple[str, ...]
    omitted: tuple[str, ...]
    sha256: str
    grammar: str = ""
