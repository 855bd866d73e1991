"""Tokens are heard once by each listener, in every thread and context copied from the one that set them."""

import asyncio
import threading

import pytest

from graphroute.cancellation import CancellationToken, cancellable, check, current
from graphroute.errors import CancelledError


def test_each_listener_is_called_once() -> None:
    token, heard = CancellationToken(), []
    token.on_cancel(lambda: heard.append("a"))
    forget = token.on_cancel(lambda: heard.append("b"))
    forget()
    forget()
    token.cancel()
    token.cancel()
    assert heard == ["a"]
    token.on_cancel(lambda: heard.append("late"))
    assert heard == ["a", "late"]


def test_the_token_reaches_copied_contexts_only() -> None:
    token, seen = CancellationToken(), []

    async def inside() -> None:
        with cancellable(token):
            seen.append(await asyncio.to_thread(current))
        seen.append(current())

    asyncio.run(inside())
    with cancellable(token):
        other = threading.Thread(target=lambda: seen.append(current()))
        other.start()
        other.join()
    assert seen == [token, None, None]


def test_check_raises_only_when_cancelled() -> None:
    token = CancellationToken()
    check()
    with cancellable(token):
        check()
        token.cancel()
        with pytest.raises(CancelledError):
            check()
    check()


def test_no_listener_is_lost_between_threads() -> None:
    for _ in range(200):
        token, heard, gate = CancellationToken(), [], threading.Barrier(2)

        def listen(token: CancellationToken = token, heard: list[int] = heard, gate: threading.Barrier = gate) -> None:
            gate.wait()
            token.on_cancel(lambda: heard.append(1))

        thread = threading.Thread(target=listen)
        thread.start()
        gate.wait()
        token.cancel()
        thread.join()
        assert heard == [1]
