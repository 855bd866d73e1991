"""Calls to a real server: values, modes, bookmarks, threads, loops, forks, cancellation, and one clear line for each mistake."""

import asyncio
import contextlib
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import pytest

from graphroute.cancellation import CancellationToken, cancellable
from graphroute.errors import (
    BackendError,
    BackendUnavailableError,
    CancelledError,
    ConfigurationError,
    DataError,
    DeadlineError,
    GraphRouteError,
)
from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings, Query
from neo4j_fixtures import Neo4jServer

COUNT = Query("count", "UNWIND range(1, $n) AS x RETURN x, [x, 'a'], {a: x}")
ECHO = Query("echo", "RETURN $value")
SLOW = Query(
    "slow", "UNWIND range(1, 100000000) AS x UNWIND range(1, 1000) AS y WITH sum(x * y) AS slow_sum RETURN slow_sum"
)
RUNNING = Query(
    "running", "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery CONTAINS 'slow_' + 'sum' RETURN count(*)"
)
CREATE = Query("create", "CREATE (n:Thing {name: $name})")
NAMES = Query("names", "MATCH (n:Thing) RETURN n.name ORDER BY n.name")


@pytest.fixture(scope="module", params=["5.26", "2026"])
def server(
    request: pytest.FixtureRequest, neo4j_lease: Callable[[str], AbstractContextManager[Neo4jServer]]
) -> Iterator[Neo4jServer]:
    with neo4j_lease(request.param) as found:
        yield found


@pytest.fixture
def connection(server: Neo4jServer) -> Iterator[Neo4jConnection]:
    with server.connect() as opened:
        yield opened
        opened.write(Query("clear", "MATCH (n) DETACH DELETE n"))


def ends_on_server(connection: Neo4jConnection, within: float = 3.0) -> bool:
    """Whether no slow query is left on the server soon."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        if connection.read(RUNNING) == [(0,)]:
            return True
        time.sleep(0.05)
    return False


def starts_on_server(connection: Neo4jConnection) -> bool:
    until = time.monotonic() + 5
    while time.monotonic() < until:
        if connection.read(RUNNING) != [(0,)]:
            return True
    return False


def test_values_come_in_order(server: Neo4jServer, connection: Neo4jConnection) -> None:
    assert connection.read(COUNT, {"n": 2}) == [(1, [1, "a"], {"a": 1}), (2, [2, "a"], {"a": 2})]
    assert connection.read(COUNT, {"n": 0}) == []
    assert connection.server_version().startswith("Neo4j/" + server.version)


@pytest.mark.parametrize(
    "value", ["Пётр", "王小明", "it's `x` }", "a\0b", "", 2**63 - 1, [1.5, None, True], {"к": ["值"]}]
)
def test_values_survive_both_ways(connection: Neo4jConnection, value: Any) -> None:
    assert connection.read(ECHO, {"value": value}) == [(value,)]


@pytest.mark.parametrize("value", [2**63, object(), "\ud800", {1: 2}], ids=["big", "object", "surrogate", "key"])
def test_a_value_without_a_form_is_a_data_error_and_harms_nothing(connection: Neo4jConnection, value: Any) -> None:
    with pytest.raises(DataError, match="parameter of echo"):
        connection.read(ECHO, {"value": value})
    assert connection.read(ECHO, {"value": 1}) == [(1,)]


def test_more_records_than_one_fetch(server: Neo4jServer) -> None:
    with server.connect(fetch_size=7) as connection:
        assert len(connection.read(COUNT, {"n": 100})) == 100


def test_a_read_does_not_write(connection: Neo4jConnection) -> None:
    with pytest.raises(BackendError, match="create would write"):
        connection.read(CREATE, {"name": "x"})
    assert connection.read(NAMES) == []


def test_a_transaction_is_kept_whole_or_not_at_all(connection: Neo4jConnection) -> None:
    connection.transaction([(CREATE, {"name": "a"}), (CREATE, {"name": "b"})])
    with pytest.raises(BackendError):
        connection.transaction([(CREATE, {"name": "c"}), (Query("zero", "RETURN 1 / $zero"), {"zero": 0})])
    assert connection.read(NAMES) == [("a",), ("b",)]


@pytest.mark.parametrize("call", ["read", "write"])
def test_a_deadline_is_kept_and_ends_the_query_on_the_server(connection: Neo4jConnection, call: str) -> None:
    connection.read(ECHO, {"value": 1})
    began = time.monotonic()
    with pytest.raises(DeadlineError, match="slow"):
        getattr(connection, call)(SLOW, deadline=began + 1.0)
    assert time.monotonic() - began < 1.1
    assert ends_on_server(connection)


def test_without_a_deadline_there_is_one(server: Neo4jServer) -> None:
    with server.connect(read_timeout=0.8) as connection:
        connection.server_version()
        began = time.monotonic()
        with pytest.raises(DeadlineError):
            connection.read(SLOW)
        assert time.monotonic() - began < 0.9


def test_a_deadline_that_is_over_costs_nothing(connection: Neo4jConnection) -> None:
    began = time.monotonic()
    with pytest.raises(DeadlineError, match="no time is left for count"):
        connection.read(COUNT, {"n": 1}, deadline=began - 1)
    assert time.monotonic() - began < 0.05


def test_cancelling_ends_the_call_and_the_query_on_the_server(connection: Neo4jConnection) -> None:
    token = CancellationToken()
    outcome: list[BaseException] = []

    def ask() -> None:
        with cancellable(token):
            try:
                connection.read(SLOW, deadline=time.monotonic() + 60)
            except GraphRouteError as error:
                outcome.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert starts_on_server(connection)
    began = time.monotonic()
    token.cancel()
    thread.join(1)
    assert time.monotonic() - began < 0.2
    assert [type(error) for error in outcome] == [CancelledError]
    assert ends_on_server(connection)
    with cancellable(token), pytest.raises(CancelledError):
        connection.read(COUNT, {"n": 1})


def test_without_cancelling_the_query_goes_on(connection: Neo4jConnection) -> None:
    """The control of the test above: nothing else ends it that early."""
    thread = threading.Thread(target=lambda: _ignored(lambda: connection.read(SLOW, deadline=time.monotonic() + 4)))
    thread.start()
    assert starts_on_server(connection)
    assert not ends_on_server(connection, within=1.0)
    thread.join()


def _ignored(call: Callable[[], object]) -> None:
    with contextlib.suppress(GraphRouteError):
        call()


def test_many_threads_share_one_connection(connection: Neo4jConnection) -> None:
    with ThreadPoolExecutor(40) as pool:
        found = list(pool.map(lambda n: connection.read(ECHO, {"value": n}), range(400)))
    assert found == [[(n,)] for n in range(400)]


def test_two_event_loops_share_one_connection(connection: Neo4jConnection) -> None:
    async def ask() -> list[list[tuple[Any, ...]]]:
        direct = connection.read(ECHO, {"value": -1})
        return [
            direct,
            *await asyncio.gather(*(asyncio.to_thread(connection.read, ECHO, {"value": n}) for n in range(50))),
        ]

    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda _: asyncio.run(ask()), range(2)):
            assert found == [[(n,)] for n in range(-1, 50)]


def _in_child(work: Callable[[], object]) -> bytes:
    """What `work` gives in a forked child."""
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = repr(work())
        except BaseException as error:  # noqa: BLE001 - told to the parent
            said = repr(error)
        os.write(target, said.encode())
        os._exit(0)
    os.close(target)
    with os.fdopen(source, "rb") as file:
        text = file.read()
    os.waitpid(child, 0)
    return text


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_connects_anew(connection: Neo4jConnection) -> None:
    assert connection.read(ECHO, {"value": 1}) == [(1,)]
    busy = threading.Thread(target=lambda: _ignored(lambda: connection.read(SLOW, deadline=time.monotonic() + 3)))
    busy.start()
    assert starts_on_server(connection)
    for value in range(3):
        assert _in_child(lambda value=value: connection.read(ECHO, {"value": value})) == repr([(value,)]).encode()  # type: ignore[misc]
        assert connection.read(ECHO, {"value": 2}) == [(2,)]
    busy.join()
    assert _in_child(connection.close) == b"None"
    assert connection.read(ECHO, {"value": 3}) == [(3,)]


def test_bookmarks_carry_a_write_to_another_connection(server: Neo4jServer, connection: Neo4jConnection) -> None:
    assert connection.bookmarks == ()
    connection.write(CREATE, {"name": "a"})
    assert len(connection.bookmarks) == 1
    connection.write(CREATE, {"name": "b"})
    assert len(connection.bookmarks) == 1
    with server.connect() as other:
        other.observe(connection.bookmarks)
        assert other.read(NAMES) == [("a",), ("b",)]
        other.observe(["no bookmark"])
        with pytest.raises(BackendError):
            other.read(NAMES)


def test_planning_beforehand_is_not_paid_by_the_question(connection: Neo4jConnection) -> None:
    def texts(kind: str) -> list[Query]:
        return [
            Query(
                f"{kind}{n}",
                f"CYPHER 5 MATCH (a:A{n})-[r1:$any($types)]->(b)-[r2:$any($types)]->(c)-[r3:$any($types)]->(d:{kind}) "
                "WHERE any(z IN r1.scopes WHERE z IN $scopes) AND any(z IN r3.scopes WHERE z IN $scopes) RETURN a.id, d.id LIMIT $n",
            )
            for n in range(6)
        ]

    given = {"types": ["X", "Y"], "scopes": [1, 2, 3], "n": 10}

    def took(query: Query) -> float:
        began = time.perf_counter()
        connection.read(query, given)
        return time.perf_counter() - began

    connection.warm((query, given) for query in texts("Warm"))
    # The quickest of each: a busy machine delays some calls, and planning makes every one longer.
    warm, cold = min(map(took, texts("Warm"))), min(map(took, texts("Cold")))
    assert warm < 0.7 * cold, f"{warm:.4f} s against {cold:.4f} s"


def test_warming_reports_a_wrong_text(connection: Neo4jConnection) -> None:
    with pytest.raises(BackendError, match="SyntaxError"):
        connection.warm([COUNT, Query("broken", "MATCH (")])


def test_a_closed_connection_says_so(server: Neo4jServer) -> None:
    connection = server.connect()
    connection.read(ECHO, {"value": 1})
    connection.close()
    connection.close()
    with pytest.raises(BackendUnavailableError, match="closed"):
        connection.read(ECHO, {"value": 1})


def test_a_process_that_forgets_to_close_ends_quietly(server: Neo4jServer) -> None:
    code = (
        "from graphroute.stores.neo4j.connection import *\n"
        f"c = Neo4jConnection(Neo4jSettings.from_environment({server.uri!r}))\n"
        "print(c.read(Query('one', 'RETURN 1')))"
    )
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **server.environment()},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("[(1,)]\n", "", 0)
    assert time.monotonic() - began < 20


def test_mistakes_are_one_clear_line_each(server: Neo4jServer) -> None:
    def said(query: Query = ECHO, **changes: Any) -> GraphRouteError:
        with server.connect(**changes) as connection, pytest.raises(GraphRouteError) as caught:
            connection.read(query, {"value": 1}, deadline=time.monotonic() + 4)
        text = str(caught.value)
        assert "\n" not in text
        assert server.password not in text
        assert caught.value.__cause__ is None
        return caught.value

    wrong = said(password="wrong-password")
    assert isinstance(wrong, ConfigurationError)
    assert "refuses the user or password" in str(wrong)
    assert "wrong-password" not in str(wrong)
    missing = said(database="nowhere")
    assert isinstance(missing, ConfigurationError)
    assert "database does not exist" in str(missing)
    index = said(Query("words", "CALL db.index.fulltext.queryNodes('none', 'x') YIELD node RETURN node"))
    assert isinstance(index, BackendError)
    assert "graphroute migrate" in str(index)
    vectors = said(Query("near", "CALL db.index.vector.queryNodes('none', 1, [1.0]) YIELD node RETURN node"))
    assert "graphroute migrate" in str(vectors)
    syntax = said(Query("broken", "MATCH ("))
    assert isinstance(syntax, BackendError)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        assert isinstance(said(uri=f"bolt://127.0.0.1:{port}"), BackendUnavailableError)
    assert isinstance(said(uri="bolt://host.invalid:7687"), BackendUnavailableError)
    assert isinstance(said(uri=server.uri.replace("bolt:", "bolt+ssc:")), GraphRouteError)


def test_no_log_of_the_driver_holds_a_parameter_or_the_password(
    server: Neo4jServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), server.connect() as connection:
        connection.read(ECHO, {"value": "canary-in-a-question"})
        connection.write(CREATE, {"name": "canary-in-a-name"})
        connection.write(Query("clear", "MATCH (n) DETACH DELETE n"))
    assert "canary" not in caplog.text
    assert server.password not in caplog.text


@pytest.mark.parametrize(
    "uri",
    [
        "", "localhost", "localhost:7687", "http://localhost:7474", "bolt://", "bolt://:7687", "bolt://h:99999", "bolt://h:x", "bolt://h/db",
        "bolt://h#x", "bolt://h?policy=eu", "neo4j+s//h", "bolt://[::1", "BOLT ://h",
    ],
)  # fmt: skip
def test_an_address_that_is_none(uri: str) -> None:
    with pytest.raises(ConfigurationError):
        Neo4jSettings(uri=uri, password="x")


@pytest.mark.parametrize("uri", ["bolt://neo4j:canary@h:7687", "neo4j://canary@h", "bolt+s://a:canary@b@h"])
def test_credentials_in_the_address_are_refused_and_not_repeated(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHROUTE_NEO4J_PASSWORD", "x")
    with pytest.raises(ConfigurationError) as caught:
        Neo4jSettings.from_environment(uri)
    assert "canary" not in str(caught.value)


def test_settings_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "PASSWORD", "DATABASE", "CA"):
        monkeypatch.delenv(f"GRAPHROUTE_NEO4J_{name}", raising=False)
    with pytest.raises(ConfigurationError, match="GRAPHROUTE_NEO4J_PASSWORD is not set"):
        Neo4jSettings.from_environment("neo4j://h")
    monkeypatch.setenv("GRAPHROUTE_NEO4J_PASSWORD", "canary")
    settings = Neo4jSettings.from_environment("neo4j://h", read_timeout=1.0)
    assert (settings.user, settings.database, settings.read_timeout) == ("neo4j", None, 1.0)
    assert "canary" not in repr(settings)
