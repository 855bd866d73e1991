"""Circuit breaker: stops calling a backend that does not answer, and lets one call at a time find out whether it does again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

FAILURES = 5
PAUSE = 30.0


class State(Enum):
    """Closed lets calls pass, open refuses them, half-open has let one pass."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave for one call, given back through `CircuitBreaker.settle`."""

    turn: int


class CircuitBreaker:
    """`failures` in a row open it; after `pause` seconds one probe passes, which closes it or opens it again.

    Safe to use from any thread. A call that began before the last change of state says nothing about the present one and is not counted.
    """

    def __init__(
        self, *, failures: int = FAILURES, pause: float = PAUSE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = failures
        self._pause = pause
        self._clock = clock
        self._lock = threading.Lock()
        self._state = State.CLOSED
        self._failed = 0
        self._until = 0.0
        self._turn = 0

    @property
    def state(self) -> State:
        """The state; an open breaker stays open until the probe passes, also when the pause is over."""
        return self._state

    @property
    def wait(self) -> float:
        """Seconds until a call may pass; 0 if one may now, the whole pause while a probe is out."""
        with self._lock:
            if self._state is State.HALF_OPEN:
                return self._pause
            return max(0.0, self._until - self._clock()) if self._state is State.OPEN else 0.0

    def acquire(self) -> Permit | None:
        """Leave for one call, or None if it must not be made. Every permit is settled, whatever the call does."""
        with self._lock:
            if self._state is State.HALF_OPEN or (self._state is State.OPEN and self._clock() < self._until):
                return None
            if self._state is State.OPEN:
                self._move(State.HALF_OPEN)
            return Permit(self._turn)

    def settle(self, permit: Permit, answered: bool | None) -> None:
        """How the call ended: the backend answered, it did not, or None where the caller gave up before that was clear."""
        with self._lock:
            if permit.turn != self._turn:
                return
            if self._state is State.HALF_OPEN:
                if answered:
                    self._failed = 0
                    self._move(State.CLOSED)
                else:
                    # A probe that was given up leaves the next call to probe at once.
                    self._until = self._clock() + (self._pause if answered is False else 0.0)
                    self._move(State.OPEN)
            elif answered:
                self._failed = 0
            elif answered is False:
                self._failed += 1
                if self._failed >= self._limit:
                    self._until = self._clock() + self._pause
                    self._move(State.OPEN)

    def hasten(self) -> None:
        """The backend was seen to answer something: an open breaker lets the next call probe now."""
        with self._lock:
            if self._state is State.OPEN:
                self._until = self._clock()

    def _move(self, state: State) -> None:
        self._state = state
        self._turn += 1
