"""The breaker against a plain model over random sequences of events on a clock that only the test moves."""

import random
import threading
import time

import pytest

from graphroute.stores.breaker import CircuitBreaker, Permit, State

LIMIT, PAUSE = 5, 30.0


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Model:
    """What a breaker should do, said as plainly as can be: one number, one time, one probe."""

    def __init__(self) -> None:
        self.failed, self.opened, self.probe, self.epoch = 0, None, False, 0

    def state(self) -> State:
        return State.HALF_OPEN if self.probe else State.CLOSED if self.opened is None else State.OPEN

    def ask(self, now: float) -> bool:
        if self.probe or (self.opened is not None and now < self.opened):
            return False
        if self.opened is not None:
            self.probe, self.epoch = True, self.epoch + 1
        return True

    def end(self, epoch: int, answered: bool | None, now: float) -> None:
        if epoch != self.epoch:
            return
        if self.probe:
            self.probe, self.epoch = False, self.epoch + 1
            self.opened = None if answered else now + (PAUSE if answered is False else 0)
            self.failed = 0
        elif answered is not None:
            self.failed = 0 if answered else self.failed + 1
            if self.failed == LIMIT:
                self.failed, self.opened, self.epoch = 0, now + PAUSE, self.epoch + 1

    def hasten(self, now: float) -> None:
        if self.opened is not None and not self.probe:
            self.opened = now


@pytest.mark.parametrize("block", range(20))
def test_random_events_agree_with_the_model(block: int) -> None:
    seen = set()
    for seed in range(block * 100, block * 100 + 100):
        chance, clock, model = random.Random(seed), Clock(), Model()
        breaker = CircuitBreaker(failures=LIMIT, pause=PAUSE, clock=clock)
        running: list[tuple[Permit, int]] = []
        health = chance.random()
        for _ in range(120):
            event = chance.choices(["ask", "end", "wait", "hasten"], [6, 6, 2, 0.3])[0]
            if event == "ask":
                allowed, permit = model.ask(clock.now), breaker.acquire()
                assert (permit is not None) == allowed
                if permit is not None:
                    running.append((permit, model.epoch))
            elif event == "end" and running:
                permit, epoch = running.pop(chance.randrange(len(running)))
                answered = None if chance.random() < 0.1 else chance.random() < health
                model.end(epoch, answered, clock.now)
                breaker.settle(permit, answered)
            elif event == "wait":
                clock.now += chance.choice([0.1, 5.0, 29.9, 30.0])
            elif event == "hasten":
                model.hasten(clock.now)
                breaker.hasten()
            assert breaker.state is model.state()
            assert (breaker.wait == 0) == (
                model.state() is State.CLOSED or (not model.probe and clock.now >= model.opened)
            )  # type: ignore[operator]
            seen.add(breaker.state)
    assert seen == set(State)


def opened(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker(failures=LIMIT, pause=PAUSE, clock=clock)
    for _ in range(LIMIT):
        permit = breaker.acquire()
        assert permit is not None
        breaker.settle(permit, False)
    assert breaker.state is State.OPEN
    return breaker


def test_exactly_one_of_many_threads_probes() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now = PAUSE
    gate, passed = threading.Barrier(16), []

    def ask() -> None:
        gate.wait()
        permit = breaker.acquire()
        if permit is not None:
            passed.append(permit)

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 1


def test_an_open_breaker_costs_nothing() -> None:
    breaker = opened(Clock())
    began = time.perf_counter()
    for _ in range(1000):
        assert breaker.acquire() is None
    assert (time.perf_counter() - began) / 1000 < 0.005


def test_a_late_failure_does_not_prolong_the_pause() -> None:
    clock = Clock()
    breaker = CircuitBreaker(failures=1, pause=PAUSE, clock=clock)
    first, late = breaker.acquire(), breaker.acquire()
    assert first is not None
    assert late is not None
    breaker.settle(first, False)
    clock.now = PAUSE - 1
    breaker.settle(late, False)
    clock.now = PAUSE
    assert breaker.acquire() is not None
