"""Broken networks and servers: every call ends in time with an error of ours, all is well soon after, and no write is lost or doubled."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import servers
from fault_proxy import FaultProxy
from graphroute.config.load import load_routes
from graphroute.config.model import DeadlinesConfig, RoutesConfig
from graphroute.errors import (
    BackendError,
    BackendUnavailableError,
    ConfigurationError,
    DeadlineError,
    GraphRouteError,
    OutcomeUnknownError,
)
from graphroute.pipeline.assembly import assemble
from graphroute.pipeline.engine import GraphRoute
from graphroute.resources import resource
from graphroute.stores.breaker import CircuitBreaker, State
from graphroute.stores.database import Database
from graphroute.stores.lexical.neo4j import Neo4jLexical
from graphroute.stores.neo4j.connection import Neo4jConnection, Query
from graphroute.stores.neo4j.migrate import migrate
from graphroute.stores.neo4j.replica import Neo4jReplica
from graphroute.stores.writer import SnapshotWriter
from graphroute.time_limit import limited
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source
from neo4j_fixtures import Neo4jServer

DEADLINE = 1.0
RECOVERY = 5.0
BIG = Query("big", "UNWIND range(1, 5000) AS x RETURN x, 'some text that takes room ' + x")
ONE = Query("one", "RETURN 1")
ADD = Query("add", "CREATE (:Written {number: $number}) RETURN $number")
FOUND = Query("found", "MATCH (n:Written {number: $number}) RETURN count(n)")
COUNTS = Query("counts", "MATCH (n:Written) RETURN n.number, count(*) ORDER BY n.number")
CLEAR = Query("clear", "MATCH (n:Written) DELETE n")

FAULTS = [
    pytest.param("refuse", 0, id="refuse"),
    pytest.param("hang", 0, id="hang-at-once"),
    pytest.param("hang", 4, id="hang-after-4-bytes"),
    pytest.param("hang", 100_000, id="hang-in-records"),
    pytest.param("reset", 0, id="reset-at-once"),
    pytest.param("reset", 4, id="reset-after-4-bytes"),
    pytest.param("reset", 100_001, id="reset-in-a-record"),
    pytest.param("fin", 100_001, id="fin-in-a-record"),
    pytest.param("garbage", 0, id="garbage-at-once"),
    pytest.param("garbage", 100_001, id="garbage-in-a-record"),
]


@pytest.fixture(scope="module")
def server(neo4j_lease: Callable[[str], AbstractContextManager[Neo4jServer]]) -> Iterator[Neo4jServer]:
    with neo4j_lease("5.26") as found:
        yield found


@pytest.fixture
def proxy(server: Neo4jServer) -> Iterator[FaultProxy]:
    with FaultProxy(int(server.uri.rpartition(":")[2])) as between:
        yield between


@pytest.fixture
def connection(server: Neo4jServer, proxy: FaultProxy) -> Iterator[Neo4jConnection]:
    with server.connect(uri=proxy.uri) as opened:
        yield opened


def fails(call: Callable[[float], object], seconds: float = DEADLINE) -> GraphRouteError:
    """The error of a call that ends within its deadline and a tenth; a busy machine may be late once."""
    for late in (False, True):
        began = time.monotonic()
        with pytest.raises(GraphRouteError) as caught:
            call(began + seconds)
        if time.monotonic() - began < seconds * 1.1:
            break
        assert not late
    assert "\n" not in str(caught.value)
    return caught.value


def recovers(connection: Neo4jConnection, within: float = RECOVERY) -> float:
    """Seconds until a read succeeds."""
    began = time.monotonic()
    while True:
        try:
            assert connection.read(ONE, deadline=time.monotonic() + DEADLINE) == [(1,)]
            return time.monotonic() - began
        except BackendError:
            assert time.monotonic() - began < within
            time.sleep(0.05)


@pytest.mark.parametrize("moment", ["cold", "warm", "twice"])
@pytest.mark.parametrize("call", ["read", "write"])
@pytest.mark.parametrize(("fault", "budget"), FAULTS)
def test_a_call_ends_in_time_and_all_is_well_after(
    connection: Neo4jConnection, proxy: FaultProxy, fault: str, budget: int, call: str, moment: str
) -> None:
    if moment != "cold":
        connection.read(BIG)
    run = getattr(connection, call)
    with proxy.struck(fault, budget):
        errors = [fails(lambda deadline: run(BIG, deadline=deadline)) for _ in range(2 if moment == "twice" else 1)]
    allowed = {BackendUnavailableError, DeadlineError}
    if fault == "garbage" and moment == "cold":
        # As from a port that is not one of Neo4j.
        allowed.add(ConfigurationError)
    assert {type(error) for error in errors} <= allowed
    if fault == "hang":
        assert type(errors[0]) is DeadlineError
    assert recovers(connection) < RECOVERY


def test_without_a_fault_the_same_calls_succeed(connection: Neo4jConnection) -> None:
    """The control of the test above."""
    for call in ("read", "write"):
        assert len(getattr(connection, call)(BIG, deadline=time.monotonic() + 5)) == 5000


@pytest.mark.parametrize("reset", [False, True])
def test_idle_connections_that_were_closed_cost_nothing(
    connection: Neo4jConnection, proxy: FaultProxy, reset: bool
) -> None:
    """What balancers do; the second try inside the call finds a new connection."""
    pause = Query("pause", "UNWIND range(1, 100000) AS x WITH sum(x) AS s RETURN s")
    threads = [threading.Thread(target=lambda: connection.read(pause)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert proxy.accepted > 1
    proxy.cut(reset=reset)
    for _ in range(10):
        assert connection.read(ONE, deadline=time.monotonic() + DEADLINE) == [(1,)]
    proxy.cut(reset=reset)
    assert connection.write(ADD, {"number": -1}) == [(-1,)]
    assert connection.read(FOUND, {"number": -1}) == [(1,)]
    connection.write(CLEAR)


@pytest.mark.parametrize("fault", ["slices", "delay"])
def test_a_slow_network_is_no_fault(connection: Neo4jConnection, proxy: FaultProxy, fault: str) -> None:
    if fault == "slices":
        # The driver takes four bytes of its handshake that come apart for the word of another service (neo4j 6, `_handshake_read`).
        connection.read(ONE)
    with proxy.struck(fault):
        assert connection.read(ONE, deadline=time.monotonic() + 4) == [(1,)]
        assert (
            len(connection.read(Query("some", "UNWIND range(1, 100) AS x RETURN x"), deadline=time.monotonic() + 4))
            == 100
        )


def test_a_delay_past_the_deadline_is_a_missed_deadline(connection: Neo4jConnection, proxy: FaultProxy) -> None:
    connection.read(ONE)
    with proxy.struck("delay"):
        assert isinstance(fails(lambda deadline: connection.read(ONE, deadline=deadline), 0.2), DeadlineError)


def test_a_silent_network(server: Neo4jServer) -> None:
    """Packets to this address of a documentation network are dropped or refused, by whoever routes them."""
    with server.connect(uri="bolt://192.0.2.1:7687") as connection:
        fails(lambda deadline: connection.read(ONE, deadline=deadline))


def test_the_breaker_spares_the_wait_and_notices_the_return(connection: Neo4jConnection, proxy: FaultProxy) -> None:
    connection.read(ONE)
    proxy.strike("hang")
    for _ in range(5):
        fails(lambda deadline: connection.read(ONE, deadline=deadline), 0.6)
    assert connection.state is State.OPEN
    began = time.monotonic()
    for _ in range(20):
        with pytest.raises(BackendUnavailableError, match="did not answer the last calls"):
            connection.read(ONE)
    assert (time.monotonic() - began) / 20 < 0.005
    # It stays open while nothing has changed, longer than the watch needs to look.
    time.sleep(3)
    assert connection.state is State.OPEN
    proxy.heal()
    assert recovers(connection) < RECOVERY
    assert connection.state is State.CLOSED


def test_without_a_watch_the_pause_is_waited_for(
    server: Neo4jServer, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of the test above."""
    monkeypatch.setattr(CircuitBreaker, "hasten", lambda self: None)
    with server.connect(uri=proxy.uri) as connection:
        with proxy.struck("refuse"):
            for _ in range(5):
                fails(lambda deadline: connection.read(ONE, deadline=deadline))
        time.sleep(RECOVERY)
        with pytest.raises(BackendUnavailableError):
            connection.read(ONE)


def test_refused_questions_do_not_open_the_breaker(connection: Neo4jConnection) -> None:
    for _ in range(8):
        with pytest.raises(BackendError):
            connection.read(Query("broken", "MATCH ("))
    assert connection.state is State.CLOSED


@pytest.mark.parametrize(("fault", "kept"), [("commit_lost", 1), ("commit_cut", 0)])
def test_a_commit_without_an_answer_is_said_to_be_unknown(
    connection: Neo4jConnection, proxy: FaultProxy, fault: str, kept: int
) -> None:
    connection.read(ONE)
    with proxy.struck(fault):
        assert isinstance(
            fails(lambda deadline: connection.write(ADD, {"number": 7}, deadline=deadline)), OutcomeUnknownError
        )
    assert connection.read(FOUND, {"number": 7}) == [(kept,)]
    connection.write(CLEAR)


def _add(connection: Neo4jConnection, number: int, deadline: float) -> object:
    return connection.write(ADD, {"number": number}, deadline=deadline)


def test_a_commit_that_hangs_is_unknown_too(connection: Neo4jConnection, proxy: FaultProxy) -> None:
    connection.read(ONE)
    # What a RUN with one record says fits in this; the answer to the commit does not come.
    for budget in range(0, 600, 40):
        with proxy.struck("hang", budget):
            error = fails(partial(_add, connection, budget), 0.6)
        time.sleep(0.1)
        if not isinstance(error, OutcomeUnknownError):
            assert recovers(connection) < RECOVERY
            assert connection.read(FOUND, {"number": budget}) == [(0,)]
            continue
        break
    else:
        pytest.fail("no budget left the commit open")
    recovers(connection)
    connection.write(CLEAR)


def keep_writing(connection: Neo4jConnection, numbers: range, acknowledged: list[int]) -> None:
    """Writes each number once, whatever happens: after an error it looks where it must and writes where it may."""
    for number in numbers:
        unknown = False
        while True:
            try:
                until = time.monotonic() + DEADLINE
                if unknown and connection.read(FOUND, {"number": number}, deadline=until) != [(0,)]:
                    break
                unknown = False
                connection.write(ADD, {"number": number}, deadline=until)
                break
            except OutcomeUnknownError:
                unknown = True
                # What was sent may still be on its way.
                time.sleep(0.5)
            except BackendError:
                time.sleep(0.02)
        acknowledged.append(number)


def test_no_acknowledged_write_is_lost_or_doubled(
    connection: Neo4jConnection, server: Neo4jServer, proxy: FaultProxy
) -> None:
    chance, acknowledged = random.Random(5), []
    writer = threading.Thread(target=keep_writing, args=(connection, range(120), acknowledged))
    writer.start()
    struck = 0
    while writer.is_alive() and struck < 30:
        fault, budget = chance.choice(
            [
                ("commit_lost", 0),
                ("commit_cut", 0),
                ("reset", 0),
                ("reset", 300),
                ("hang", 200),
                ("refuse", 0),
                ("fin", 60),
                ("garbage", 150),
            ]
        )
        with proxy.struck(fault, budget):
            time.sleep(chance.uniform(0.05, 0.3))
        struck += 1
        time.sleep(chance.uniform(0.02, 0.2))
    writer.join(120)
    assert acknowledged == list(range(120))
    assert struck >= 10
    with server.connect() as direct:
        assert direct.read(COUNTS) == [(number, 1) for number in range(120)]
        direct.write(CLEAR)


def test_two_writers_that_wait_for_one_another_both_succeed(connection: Neo4jConnection) -> None:
    """One of them is turned back by the server, and tried again inside its call."""
    connection.write(Query("make", "CREATE (:Pair {id: 1, n: 0}), (:Pair {id: 2, n: 0})"))
    touch = Query("touch", "MATCH (n:Pair {id: $id}) SET n.n = n.n + 1")
    pause = Query("pause", "UNWIND range(1, 300000) AS x WITH sum(x) AS s RETURN s")
    failed: list[GraphRouteError] = []

    def write(first: int, second: int) -> None:
        for _ in range(5):
            try:
                connection.transaction([(touch, {"id": first}), (pause, {}), (touch, {"id": second})])
            except GraphRouteError as error:
                failed.append(error)

    threads = [threading.Thread(target=write, args=pair) for pair in ((1, 2), (2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = connection.read(Query("sums", "MATCH (n:Pair) RETURN n.n ORDER BY n.id"))
    assert failed == []
    assert done == [(10,), (10,)]
    connection.write(Query("clear", "MATCH (n:Pair) DELETE n"))


def hold(server: Neo4jServer, seconds: float) -> threading.Thread:
    """Another client that holds a lock on the node for a while."""
    import neo4j

    taken = threading.Event()

    def run() -> None:
        with (
            neo4j.GraphDatabase.driver(server.uri, auth=(servers.USER, server.password)) as driver,
            driver.session() as session,
            session.begin_transaction() as transaction,
        ):
            transaction.run("MERGE (n:Held {id: 1}) SET n.by = 'other'").consume()
            taken.set()
            time.sleep(seconds)
            transaction.rollback()

    thread = threading.Thread(target=run)
    thread.start()
    taken.wait(10)
    return thread


def test_a_lock_that_another_holds(server: Neo4jServer, connection: Neo4jConnection) -> None:
    connection.write(Query("make", "MERGE (n:Held {id: 1})"))
    other = hold(server, 2.5)
    touch = Query("touch", "MATCH (n:Held {id: 1}) SET n.by = 'us'")
    assert isinstance(fails(lambda deadline: connection.write(touch, deadline=deadline)), DeadlineError)
    other.join()
    connection.write(touch)
    connection.write(Query("clear", "MATCH (n:Held) DELETE n"))


def test_more_memory_than_a_transaction_may_use(connection: Neo4jConnection) -> None:
    greedy = Query("greedy", "UNWIND range(1, 30000000) AS x WITH collect(x + 0.5) AS xs RETURN size(xs)")
    for call in (connection.read, connection.write):
        with pytest.raises(BackendError, match="greedy needs more memory than a transaction may use"):
            call(greedy, deadline=time.monotonic() + 60)
    assert connection.state is State.CLOSED
    assert connection.read(ONE) == [(1,)]


class Own:
    """A server of the test's own."""

    def __init__(self, start: Callable[..., Neo4jServer], version: str) -> None:
        self.start = start
        self.server = start(version, settings={"db.lock.acquisition.timeout": "500ms"})
        self.port = int(self.server.uri.rpartition(":")[2])

    @property
    def pid(self) -> int:
        assert self.server.home is not None
        state = servers.state(self.server.home)
        assert state is not None
        return state.pid

    def kill(self) -> None:
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        state = servers.state(self.server.home)  # type: ignore[arg-type]
        while state is not None and state.alive():
            for process in servers._STARTED:
                process.poll()
            time.sleep(0.02)

    def restart(self) -> None:
        self.server = self.start(self.server.version, home=self.server.home, port=self.port)


@pytest.fixture(scope="module", params=["5.26", "2026"] if os.environ.get("GRAPHROUTE_ASSURE") == "1" else ["5.26"])
def own(request: pytest.FixtureRequest, neo4j_own: Callable[..., Neo4jServer]) -> Iterator[Own]:
    found = Own(neo4j_own, request.param)
    yield found
    servers.discard(found.server.home)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_frozen_server(own: Own) -> None:
    with own.server.connect() as connection:
        connection.read(BIG)
        running = threading.Thread(target=lambda: _ignored(lambda: connection.read(BIG, deadline=time.monotonic() + 2)))
        os.kill(own.pid, signal.SIGSTOP)
        try:
            running.start()
            for call in ("read", "write", "read"):
                assert isinstance(
                    fails(lambda deadline, call=call: getattr(connection, call)(BIG, deadline=deadline)), DeadlineError
                )  # type: ignore[misc]
            with own.server.connect() as cold:
                fails(lambda deadline: cold.read(ONE, deadline=deadline))
        finally:
            os.kill(own.pid, signal.SIGCONT)
        assert recovers(connection) < RECOVERY
        running.join()


def _ignored(call: Callable[[], Any]) -> None:
    with suppress(GraphRouteError):
        call()


@pytest.mark.slow
def test_a_lock_timeout_of_the_server(own: Own) -> None:
    with own.server.connect() as connection:
        connection.write(Query("make", "MERGE (n:Held {id: 1})"))
        other = hold(own.server, 3.0)
        with pytest.raises(BackendError, match="another transaction holds what touch needs"):
            connection.write(Query("touch", "MATCH (n:Held {id: 1}) SET n.by = 'us'"), deadline=time.monotonic() + 2.5)
        other.join()


@pytest.mark.slow
def test_a_server_that_is_killed_while_it_writes(own: Own) -> None:
    acknowledged: list[int] = []
    with own.server.connect() as connection:
        connection.write(CLEAR)
        writer = threading.Thread(target=keep_writing, args=(connection, range(400), acknowledged))
        writer.start()
        while len(acknowledged) < 50:
            time.sleep(0.01)
        own.kill()
        before = len(acknowledged)
        began = time.monotonic()
        with pytest.raises(BackendError):
            connection.read(ONE, deadline=began + DEADLINE)
        assert time.monotonic() - began < DEADLINE * 1.1
        own.restart()
        assert recovers(connection) < RECOVERY
        writer.join(120)
        assert acknowledged == list(range(400))
        assert 50 <= before < 400
        assert connection.read(COUNTS) == [(number, 1) for number in range(400)]


def test_calls_that_share_an_allowance_wait_no_longer_than_it(connection: Neo4jConnection, proxy: FaultProxy) -> None:
    connection.read(ONE)
    with proxy.struck("hang"), limited(DEADLINE):
        began = time.monotonic()
        for _ in range(3):
            with pytest.raises(BackendError):
                connection.read(ONE)
        assert time.monotonic() - began < DEADLINE * 1.1
    recovers(connection)
    with limited(DEADLINE):
        assert connection.read(ONE) == [(1,)]


@pytest.fixture
def copied(server: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store of one passage and one fact, in a file and on the server."""
    for key, value in server.environment().items():
        monkeypatch.setenv(key, value)
    server.wipe(migrated=True)
    file = tmp_path / "store.sqlite"
    with server.connect() as direct, Database(file) as database:
        migrate(direct, [4])
        writer = SnapshotWriter(database)
        writer.begin()
        text = "pump of the mill"
        writer.put_source(Source(id="s", text=text, labels=frozenset({"public"})))
        writer.put_passages([Passage(id="s#0", source_id="s", start=0, end=len(text), text=text)])
        writer.publish()
        Neo4jReplica(direct, database).replicate()
    yield file
    server.wipe()


PUBLIC = Reader("r", frozenset({"public"}))


def routes_within(milliseconds: int) -> RoutesConfig:
    deadlines = DeadlinesConfig.model_validate({"lexical": 60_000, "graph": 60_000, "whole": milliseconds})
    return load_routes(resource("evals/systems/lexical.yaml")).model_copy(update={"deadlines": deadlines})


def test_a_question_waits_for_its_catalog_no_longer_than_its_whole(proxy: FaultProxy, copied: Path) -> None:
    """There is no answer without it, so nothing to degrade."""
    with GraphRoute.open(proxy.uri, routes=routes_within(60_000)) as router:
        assert router.retrieve("pump", reader=PUBLIC).sources == ("s",)
    with GraphRoute.open(proxy.uri, routes=routes_within(1_000)) as router, proxy.struck("hang"):
        began = time.monotonic()
        with pytest.raises(BackendError):
            router.retrieve("pump", reader=PUBLIC)
        assert time.monotonic() - began < 1.1


@pytest.mark.parametrize("words", ["pump", "Who owns Zorgblat Pump?"], ids=["search", "unknown name"])
def test_a_store_that_hangs_leaves_time_for_the_others(
    server: Neo4jServer, proxy: FaultProxy, copied: Path, words: str
) -> None:
    """The catalog on one server answers while the words are on another that does not."""
    whole = 2_000
    parts = assemble(server.uri, routes_within(whole), ontology=None, log=None)
    with server.connect(uri=proxy.uri) as elsewhere:
        parts.backends = replace(parts.backends, lexical=Neo4jLexical(elsewhere))
        with GraphRoute(parts) as router:
            assert not router.retrieve(words, reader=PUBLIC).degraded
            with proxy.struck("hang"):
                began = time.monotonic()
                bundle = router.retrieve(words, reader=PUBLIC)
                assert time.monotonic() - began < whole / 1000 * 1.1
            assert {note.stage for note in bundle.degraded} >= {"lexical"}
