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
    """What the model said."""

    text: str
    model: str
    usage: Usage


class ChatModel(Protocol):
    """A chat completion endpoint."""

    @property
    def name(self) -> str: ...

    def complete(self, messages: Sequence[Message], *, timeout: float) -> Reply:
        """One completion. Raises BackendError or DeadlineError."""
        ...
