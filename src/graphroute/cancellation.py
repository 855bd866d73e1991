"""Cancellation of a running question: a token in a context variable, heard by whoever waits for a server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from graphroute.errors import CancelledError


class CancellationToken:
    """Says once, to all who listen, that nobody waits for the result any more. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._callbacks: dict[int, Callable[[], object]] = {}
        self._next = 0

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """Call every callback, each once. A second call does nothing."""
        with self._lock:
            if self._cancelled:
                return
            self._cancelled = True
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Have `callback` called at `cancel`, at once if that was before. Returns what takes it back."""
        with self._lock:
            if not self._cancelled:
                number = self._next
                self._next += 1
                self._callbacks[number] = callback

                def forget() -> None:
                    with self._lock:
                        self._callbacks.pop(number, None)

                return forget
        callback()
        return lambda: None


_TOKEN: ContextVar[CancellationToken | None] = ContextVar("graphroute_cancellation", default=None)


def current() -> CancellationToken | None:
    """The token of the question that runs in this context."""
    return _TOKEN.get()


@contextmanager
def cancellable(token: CancellationToken) -> Iterator[CancellationToken]:
    """What runs inside, in this context and in contexts copied from it, ends early when `token` is cancelled."""
    before = _TOKEN.set(token)
    try:
        yield token
    finally:
        _TOKEN.reset(before)


def check() -> None:
    """Raises CancelledError if the current token is cancelled."""
    token = _TOKEN.get()
    if token is not None and token.cancelled:
        raise CancelledError("the question was cancelled")
