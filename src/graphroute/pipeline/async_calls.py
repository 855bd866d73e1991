"""Runs a question in a thread for an event loop; cancelling the task ends what the question runs on servers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from graphroute.cancellation import CancellationToken, cancellable

T = TypeVar("T")


async def in_thread(run: Callable[[], T]) -> T:
    """The result of `run`, from a thread of the loop's default executor, in a copy of the caller's context.

    Where the task is cancelled the token of the question is, so that the thread ends at its next call to a store instead of staying
    busy with an answer that nobody waits for.
    """
    token = CancellationToken()

    def cancellably() -> T:
        with cancellable(token):
            return run()

    try:
        return await asyncio.to_thread(cancellably)
    except asyncio.CancelledError:
        token.cancel()
        raise
