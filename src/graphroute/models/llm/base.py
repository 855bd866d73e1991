"""Chat model port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graphroute.types.answer import Usage


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model said. `model`, `fingerprint` and `finish_reason` as the endpoint states them."""

    text: str
    model: str
    usage: Usage
    fingerprint: str | None = None
    finish_reason: str | None = None


class ChatModel(Protocol):
    """A chat completion endpoint."""

    @property
    def name(self) -> str: ...

    def complete(self, messages: Sequence[Message], *, timeout: float) -> Reply:
        """One completion. Raises BackendError or DeadlineError."""
        ...
