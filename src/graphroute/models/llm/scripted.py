"""ChatModel that gives prepared replies, for tests and demonstrations without an endpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from graphroute.errors import BackendError
from graphroute.models.llm.base import Message, Reply
from graphroute.types.answer import Usage


class ScriptedChat:
    """Replies from a list in order, an exception in it being raised, or from a function of the messages.

    `calls` keeps what was sent.
    """

    name = "scripted"

    def __init__(self, replies: Iterable[str | Exception] | Callable[[Sequence[Message]], str]) -> None:
        self._function = replies if callable(replies) else None
        self._replies = iter(()) if callable(replies) else iter(tuple(replies))
        self.calls: list[tuple[Message, ...]] = []

    def complete(self, messages: Sequence[Message], *, timeout: float) -> Reply:
        """The next reply. Raises BackendError when the script has ended."""
        self.calls.append(tuple(messages))
        if self._function is not None:
            text: str | Exception = self._function(messages)
        else:
            try:
                text = next(self._replies)
            except StopIteration:
                raise BackendError("the script has no further reply", where=self.name) from None
        if isinstance(text, Exception):
            raise text
        return Reply(text=text, model=self.name, usage=Usage())
