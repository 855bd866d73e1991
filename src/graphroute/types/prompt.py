"""SerializedEvidence: the bundle's text for the generator, its size, and what did not fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class SerializedEvidence:
    """Finished evidence text. `tokens` counts exactly `text` with `tokenizer` (name and library version).

    `grammar` tells a reader of the text how the format is read; it is no part of `text`. `nodes`, `facts`: how many of them the text holds.
    `references`: ids of the entities and sources by the local ids that stand for them in a lean text (`N1`, `S1`).
    `grammar` tells a reader of the text how the format is read; it is no part of `text`. `format_reason`: why this format, where it was chosen by
    measurements; empty where the configuration names it.
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
    profile: str = "full"
    ordering: str = "given"
    nodes: int = 0
    facts: int = 0
    references: Mapping[str, str] = field(default_factory=dict)
    format_reason: str = ""
