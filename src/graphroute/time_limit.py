"""Time that a question may wait for servers: what is left of it in a context variable, kept by whoever calls one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Allowance:
    """Seconds that calls inside may wait, all together. What is loaded or computed here does not count."""

    def __init__(self, seconds: float, outer: Allowance | None = None) -> None:
        self.left = seconds
        self._outer = outer

    def take(self, seconds: float) -> None:
        """Take off what was waited, here and from the allowance that this one is a part of."""
        self.left -= seconds
        if self._outer is not None:
            self._outer.take(seconds)


_ALLOWANCE: ContextVar[Allowance | None] = ContextVar("graphroute_time_limit", default=None)


@contextmanager
def limited(seconds: float, *, reserve: float = 0.0) -> Iterator[None]:
    """What runs inside, in this context and in contexts copied from it, waits for servers no longer than that.

    Inside of another limit it gets no more than is left of that one less `reserve`, which stays for what comes after.
    """
    outer = _ALLOWANCE.get()
    if outer is not None:
        seconds = min(seconds, outer.left - reserve)
    before = _ALLOWANCE.set(Allowance(seconds, outer))
    try:
        yield
    finally:
        _ALLOWANCE.reset(before)


@contextmanager
def unlimited() -> Iterator[None]:
    """What runs inside is done once for many questions and is taken off none."""
    before = _ALLOWANCE.set(None)
    try:
        yield
    finally:
        _ALLOWANCE.reset(before)


@contextmanager
def waiting(seconds: float) -> Iterator[float]:
    """Around one call that may wait so long: the seconds it gets, 0 or less if nothing is left. What it takes is taken off."""
    allowance = _ALLOWANCE.get()
    if allowance is None:
        yield seconds
        return
    began = time.monotonic()
    try:
        yield min(seconds, allowance.left)
    finally:
        allowance.take(time.monotonic() - began)
