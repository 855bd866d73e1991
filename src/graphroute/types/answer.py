"""Answer: what the generator said, and which citations hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A citation in an answer. `valid` if its unit is in the bundle that was sent."""

    unit_id: str
    valid: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the endpoint reports them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A generated answer, or none: `generated` is False when no endpoint is configured and `prompt` is all there is."""

    text: str
    prompt: str
    generated: bool
    abstained: bool
    citations: tuple[Citation, ...] = ()
    unsupported: bool = False
    model: str | None = None
    usage: Usage | None = None
    reason: str = ""
