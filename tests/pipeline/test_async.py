"""The same answers on an event loop, which stays free; a cancelled question ends."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from graphroute import GraphRoute
from graphroute.cancellation import current
from graphroute.errors import CancelledError, UsageError
from graphroute.testing.whole_path import outputs_of
from graphroute.testing.world import PUBLIC

DAY = "2026-06-01"
QUESTIONS = ("Who owns checkout?", "Что означает ошибка E-77?", "结账服务使用什么？", "What are the main themes?")
Open = Callable[..., GraphRoute]


def test_an_event_loop_gets_what_a_thread_gets(opened: Open) -> None:
    router = opened()
    plain = [outputs_of(router.explain(question, reader=PUBLIC, as_of=DAY)) for question in QUESTIONS]

    async def together() -> list[Any]:
        return await asyncio.gather(*(router.aexplain(one, reader=PUBLIC, as_of=DAY) for one in QUESTIONS))

    for _ in range(2):  # two loops after one another over one router
        assert [outputs_of(trace) for trace in asyncio.run(together())] == plain


def test_errors_and_prompts_pass_through(opened: Open) -> None:
    router = opened()

    async def ask() -> None:
        with pytest.raises(UsageError, match="empty"):
            await router.aretrieve(" ", reader=PUBLIC)
        assert (await router.aretrieve("Who owns checkout?", reader=PUBLIC, as_of=DAY)).answers
        said = (await router.aask("Who owns checkout?", reader=PUBLIC, as_of=DAY)).answer
        assert said is not None
        assert said.prompt

    asyncio.run(ask())


def test_the_loop_stays_free_and_a_cancelled_question_ends(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    router = opened()
    graph = router._parts.backends.graph
    entered, ended = threading.Event(), threading.Event()
    seen: list[BaseException] = []
    paths = graph.paths

    def slow(*arguments: Any, **options: Any) -> Any:
        token = current()
        assert token is not None
        released = threading.Event()
        token.on_cancel(released.set)
        entered.set()
        released.wait(30)
        return paths(*arguments, **options)

    monkeypatch.setattr(graph, "paths", slow)
    run = router._run

    def watched(*arguments: Any, **options: Any) -> Any:
        try:
            return run(*arguments, **options)
        except BaseException as error:
            seen.append(error)
            raise
        finally:
            ended.set()

    monkeypatch.setattr(router, "_run", watched)

    async def cancel() -> float:
        task = asyncio.create_task(router.aexplain("Who owns checkout?", reader=PUBLIC, as_of=DAY))
        while not entered.is_set():
            await asyncio.sleep(0.01)  # only a free loop comes back here
        begun = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - begun

    assert asyncio.run(cancel()) < 5
    assert ended.wait(10)
    assert [type(error) for error in seen] == [CancelledError]


def test_it_closes_with_the_loop(opened: Open) -> None:
    async def within() -> int:
        async with opened() as router:
            return len((await router.aretrieve("Who owns checkout?", reader=PUBLIC, as_of=DAY)).units)

    assert asyncio.run(within()) > 0
