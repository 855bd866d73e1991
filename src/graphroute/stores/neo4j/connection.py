"""Connection to Neo4j: an async driver in a private loop behind calls that keep our deadlines and raise our errors."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import os
import random
import re
import ssl
import threading
import time
import urllib.parse
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, TracebackType
from typing import Any, Self, TypeVar

from graphroute.cancellation import current
from graphroute.errors import (
    BackendUnavailableError,
    CancelledError,
    ConfigurationError,
    DeadlineError,
    GraphRouteError,
    OutcomeUnknownError,
)
from graphroute.stores.breaker import CircuitBreaker, State
from graphroute.stores.neo4j import failures
from graphroute.time_limit import waiting

T = TypeVar("T")
Row = tuple[Any, ...]
Parameters = Mapping[str, object]

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
OLDEST = (5, 26)
"""Oldest server that runs our query texts."""
NOTHING: Parameters = MappingProxyType({})

_PATIENCE = 0.5
"""Seconds a call must have waited before its deadline says something about the server."""
_SLACK = 0.05
"""Share of the time left that the server gets less than we do, so that its own word arrives first."""
_PING_PAUSE = 1.0
"""Seconds between looks at a server whose breaker is open."""
_RETRY_PAUSE = 0.05
_PORT = 7687
_WRITES = 6
"""Tries of a write that the server turned back, such as one of two that waited for one another."""
_WARM_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Query:
    """A fixed text and the name that errors and measurements use for it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Neo4jSettings:
    """Where a server is and how long to wait for it. All times in seconds."""

    uri: str
    user: str = "neo4j"
    password: str = field(repr=False)
    database: str | None = None
    authority: str | None = None
    """File with the certificates to trust, instead of the system's."""
    read_timeout: float = 5.0
    """For a read without a deadline."""
    write_timeout: float = 60.0
    """For a write without a deadline."""
    connect_timeout: float = 2.0
    acquire_timeout: float = 4.0
    """For a connection from the pool, with its handshake, where the call has that long: a slow network is no fault."""
    idle_check: float = 30.0
    """A connection idle for longer is tried before it is used."""
    lifetime: float = 600.0
    """A connection older than that is replaced; below the idle limit of load balancers."""
    pool_size: int = 32
    fetch_size: int = 5000
    """Records a round trip."""

    def __post_init__(self) -> None:
        check_uri(self.uri)
        if not self.user or not self.password:
            raise ConfigurationError("no Neo4j user or password is set", hint=failures.CREDENTIALS_HINT)

    @classmethod
    def from_environment(cls, uri: str, **changes: Any) -> Self:
        """Settings with the credentials of the environment. Raises ConfigurationError.

        Reads GRAPHROUTE_NEO4J_USER (neo4j if unset), GRAPHROUTE_NEO4J_PASSWORD, GRAPHROUTE_NEO4J_DATABASE and GRAPHROUTE_NEO4J_CA.
        """
        check_uri(uri)
        password = os.environ.get("GRAPHROUTE_NEO4J_PASSWORD", "")
        if not password:
            raise ConfigurationError("GRAPHROUTE_NEO4J_PASSWORD is not set", where=uri)
        given = {
            "user": os.environ.get("GRAPHROUTE_NEO4J_USER") or "neo4j",
            "password": password,
            "database": os.environ.get("GRAPHROUTE_NEO4J_DATABASE") or None,
            "authority": os.environ.get("GRAPHROUTE_NEO4J_CA") or None,
        }
        return cls(uri=uri, **{**given, **changes})


def check_uri(uri: str) -> None:
    """Raises ConfigurationError unless `uri` is an address of Neo4j without credentials in it; these are not echoed."""
    try:
        parts = urllib.parse.urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ConfigurationError("the address of Neo4j is not a URI", allowed="neo4j://HOST[:PORT]") from None
    if parts.username is not None or parts.password is not None or "@" in uri:
        raise ConfigurationError("credentials do not belong in the address of Neo4j", hint=failures.CREDENTIALS_HINT)
    if parts.scheme not in SCHEMES:
        raise ConfigurationError(
            f"the scheme {parts.scheme[:20]!r} is not one of Neo4j", allowed=", ".join(f"{name}://" for name in SCHEMES)
        )
    if not host or port == 0 or parts.path not in ("", "/") or parts.fragment:
        raise ConfigurationError("the address of Neo4j is not complete", where=uri, allowed="neo4j://HOST[:PORT]")
    if parts.query and not parts.scheme.startswith("neo4j"):
        raise ConfigurationError("a routing context needs a neo4j:// address", where=uri)


class Neo4jConnection:
    """A pool of connections to one server or cluster. Open once per process; safe to share between threads and event loops.

    Every call ends within its deadline, or a stated time without one. A forked child gets a pool of its own at its first call.
    Later reads see earlier writes of the same object, also in a cluster; `bookmarks` and `observe` carry that to another process.
    """

    def __init__(self, settings: Neo4jSettings, *, breaker: CircuitBreaker | None = None) -> None:
        self.settings = settings
        self.checked: tuple[object, ...] = ()
        """The last views whose store is known to be the server's."""
        self._breaker = breaker or CircuitBreaker()
        self._lock = threading.Lock()
        self._runtime: _Runtime | None = None
        self._bookmarks: frozenset[str] = frozenset()
        self._closed = False
        _CONNECTIONS.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, query: Query, parameters: Parameters = NOTHING, *, deadline: float | None = None) -> list[Row]:
        """The records of a query in a READ transaction, each as its values in order.

        `deadline`: `time.monotonic` seconds. What may pass, such as a lost connection, is tried once more before it. Raises
        DeadlineError, BackendUnavailableError, BackendError, ConfigurationError, DataError, CancelledError.
        """
        now = time.monotonic()
        with waiting(self.settings.read_timeout if deadline is None else deadline - now) as seconds:
            end = now + seconds
            return self._call(
                lambda runtime, signs: runtime.read(query, parameters, end, self._bookmarks, signs), query.name, end
            )

    def write(self, query: Query, parameters: Parameters = NOTHING, *, deadline: float | None = None) -> list[Row]:
        """The records of a query in a WRITE transaction of its own; see `transaction`."""
        return self.transaction([(query, parameters)], deadline=deadline)[0]

    def transaction(
        self, statements: Sequence[tuple[Query, Parameters]], *, deadline: float | None = None
    ) -> list[list[Row]]:
        """The records of each statement, all in one WRITE transaction.

        Raises what `read` raises; OutcomeUnknownError if the commit was sent and no answer came. After any other error but
        CancelledError nothing was kept.
        """
        end = time.monotonic() + self.settings.write_timeout if deadline is None else deadline
        name = statements[0][0].name if statements else "an empty transaction"

        async def run(runtime: _Runtime, signs: _Signs) -> list[list[Row]]:
            used = self._bookmarks
            results, bookmarks = await runtime.write(statements, end, used, signs)
            with self._lock:
                self._bookmarks = (self._bookmarks - used) | bookmarks
            return results

        return self._call(run, name, end, writes=True)

    def warm(self, queries: Iterable[Query | tuple[Query, Parameters]], *, deadline: float | None = None) -> None:
        """Have the server plan each text once, so that no question pays for it. A plan is kept per text and types of parameters.

        Raises what `read` raises.
        """
        pairs = [query if isinstance(query, tuple) else (query, NOTHING) for query in queries]
        plans = [(Query(query.name, f"EXPLAIN {query.text}"), parameters) for query, parameters in pairs]
        end = time.monotonic() + self.settings.write_timeout if deadline is None else deadline

        async def run(runtime: _Runtime, signs: _Signs) -> None:
            await runtime.greet()
            gate = asyncio.Semaphore(_WARM_AT_ONCE)

            async def plan(query: Query, parameters: Parameters) -> None:
                async with gate:
                    await runtime.read(query, parameters, end, frozenset(), signs)

            async with asyncio.TaskGroup() as group:
                for query, parameters in plans:
                    group.create_task(plan(query, parameters))

        self._call(run, "planning", end)

    def server_version(self, *, deadline: float | None = None) -> str:
        """What the server calls itself, such as "Neo4j/5.26.0". Raises what `read` raises."""
        end = time.monotonic() + self.settings.read_timeout if deadline is None else deadline
        return self._call(lambda runtime, signs: runtime.greet(), "the greeting", end)

    @property
    def bookmarks(self) -> tuple[str, ...]:
        """Marks of what was written; a connection elsewhere that has observed them sees those writes."""
        return tuple(sorted(self._bookmarks))

    def observe(self, bookmarks: Iterable[str]) -> None:
        """Later reads wait until the server that answers them has these writes."""
        with self._lock:
            self._bookmarks |= frozenset(bookmarks)

    @property
    def state(self) -> State:
        """Whether the breaker lets calls through."""
        return self._breaker.state

    def close(self) -> None:
        """End all connections. Later calls raise BackendUnavailableError."""
        with self._lock:
            runtime, self._runtime, self._closed = self._runtime, None, True
        if runtime is not None:
            runtime.close()

    def _call(
        self, work: Callable[[_Runtime, _Signs], Awaitable[T]], name: str, end: float, *, writes: bool = False
    ) -> T:
        """Runs `work` in the private loop. Whatever it raises is an error of ours."""
        where = self.settings.uri
        token = current()
        if token is not None and token.cancelled:
            raise CancelledError("the question was cancelled")
        left = end - time.monotonic()
        if left <= 0:
            raise DeadlineError(f"no time is left for {name}", where=where)
        runtime = self._started()
        permit = self._breaker.acquire()
        if permit is None:
            raise BackendUnavailableError(
                "Neo4j did not answer the last calls",
                where=where,
                hint=f"the next try is in {self._breaker.wait:.0f} s at most",
            )
        answered: bool | None = None
        signs = _Signs()
        future = runtime.submit(_guarded(work(runtime, signs), left))
        forget = token.on_cancel(future.cancel) if token is not None else None
        try:
            # The loop keeps the deadline; the wait here is longer only so that a loop that is held up cannot hold us up.
            result = future.result(left * 1.05 + 0.05)
            answered = True
            return result
        except concurrent.futures.CancelledError:
            raise CancelledError("the question was cancelled") from None
        except BaseException as error:
            held_up = not future.done()
            future.cancel()
            if held_up and writes and isinstance(error, TimeoutError):
                error = OutcomeUnknownError(f"{name} was sent and no answer came", where=where)
            if isinstance(error, BaseExceptionGroup):
                error = _first(error)
            if not isinstance(error, Exception):
                raise
            answered = _says(error, left, signs)
            raise failures.translate(error, where=where, query=name, entered=runtime.entered) from None
        finally:
            if forget is not None:
                forget()
            self._breaker.settle(permit, answered)
            if answered is False and self._breaker.state is State.OPEN:
                runtime.watch(self._breaker)

    def _started(self) -> _Runtime:
        runtime = self._runtime
        if runtime is not None:
            return runtime
        with self._lock:
            if self._closed:
                raise BackendUnavailableError("the connection to Neo4j is closed", where=self.settings.uri)
            if self._runtime is None:
                self._runtime = _Runtime(self.settings)
                weakref.finalize(self, self._runtime.close)
            return self._runtime

    def _after_fork(self) -> None:
        """In a child the loop's thread is gone and the sockets are the parent's: both are left alone and made anew."""
        if self._runtime is not None:
            _INHERITED.append(self._runtime)
        self._lock = threading.Lock()
        self._runtime = None
        self._breaker = CircuitBreaker()


_CONNECTIONS: weakref.WeakSet[Neo4jConnection] = weakref.WeakSet()
_INHERITED: list[_Runtime] = []
"""In a forked child: what belongs to the parent. Kept, so that nothing closes it."""


def _renew() -> None:
    for connection in list(_CONNECTIONS):
        connection._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


@dataclass(slots=True)
class _Signs:
    """Whether the server has said anything to this call: then a missed deadline means that there was much to do."""

    seen: bool = False


class _Runtime:
    """The driver and the thread whose event loop it lives in."""

    def __init__(self, settings: Neo4jSettings) -> None:
        self.entered = False
        self._settings = settings
        self._pid = os.getpid()
        self._version: str | None = None
        self._driver: Any = None
        self._watching = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        # Every result and error of ours goes through a future. What is left are tasks inside the driver that nobody awaits once
        # a call was cancelled; asyncio would print their tracebacks.
        self._loop.set_exception_handler(lambda loop, context: None)
        self._thread = threading.Thread(target=self._loop.run_forever, name="graphroute-neo4j", daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Starts `work` in the loop."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise BackendUnavailableError("the connection to Neo4j is closed", where=self._settings.uri) from None

    def close(self) -> None:
        """Closes what can be closed in a second, in the process that opened it."""
        if os.getpid() != self._pid or self._loop.is_closed():
            return
        if self._thread.is_alive():
            with contextlib.suppress(Exception):
                self.submit(_guarded(self._end(), 1.0)).result(1.5)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(2.0)
        if not self._thread.is_alive():
            self._loop.close()

    async def _end(self) -> None:
        mine = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not mine]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        driver, self._driver = self._driver, None
        if driver is not None:
            await driver.close()
        await self._loop.shutdown_default_executor()

    def driver(self) -> Any:
        """The driver, made at first use. Raises ConfigurationError without the library."""
        if self._driver is None:
            self._driver = _make_driver(self._settings)
        return self._driver

    async def greet(self) -> str:
        """Asks the server once what it is. Raises ConfigurationError if it is too old."""
        if self._version is None:
            driver = self.driver()
            try:
                info = await driver.get_server_info()
            except Exception:
                await self._try_certificate()
                raise
            self.entered = True
            _check_version(info.agent, self._settings.uri)
            self._version = info.agent
        return self._version

    async def _try_certificate(self) -> None:
        """Raises SSLError if TLS is what failed: where it asks for routes the driver does not say."""
        parts = urllib.parse.urlsplit(self._settings.uri)
        if not parts.scheme.startswith("neo4j+") or parts.scheme.endswith("+ssc"):
            return
        try:
            trust = ssl.create_default_context(cafile=self._settings.authority)
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or _PORT, ssl=trust)
        except ssl.SSLError:
            raise
        except OSError:
            return
        writer.close()

    async def read(
        self, query: Query, parameters: Parameters, end: float, bookmarks: frozenset[str], signs: _Signs
    ) -> list[Row]:
        """One auto-commit READ transaction, tried twice."""

        async def once() -> list[Row]:
            from neo4j import Query as DriverQuery

            signs.seen = False
            await self.greet()
            async with self._session("READ", bookmarks) as session:
                text = DriverQuery(query.text, timeout=_server_time(end))
                result = await session.run(text, dict(parameters))
                signs.seen = True
                return [tuple(values) for values in await result.values()]

        return await _repeated(once, 2)

    async def write(
        self,
        statements: Sequence[tuple[Query, Parameters]],
        end: float,
        bookmarks: frozenset[str],
        signs: _Signs,
    ) -> tuple[list[list[Row]], frozenset[str]]:
        """One explicit WRITE transaction, tried again as long as no commit was sent."""
        name = statements[0][0].name if statements else "an empty transaction"
        committing = False

        async def once() -> tuple[list[list[Row]], frozenset[str]]:
            nonlocal committing
            signs.seen = False
            await self.greet()
            async with self._session("WRITE", bookmarks) as session:
                transaction = await session.begin_transaction(timeout=_server_time(end))
                signs.seen = True
                results: list[list[Row]] = []
                for query, parameters in statements:
                    result = await transaction.run(query.text, dict(parameters))
                    results.append([tuple(values) for values in await result.values()])
                committing = True
                await transaction.commit()
                return results, frozenset((await session.last_bookmarks()).raw_values)

        try:
            return await _repeated(once, _WRITES, lambda: not committing)
        except BaseException as error:
            if committing and not failures.is_answer(error):
                raise OutcomeUnknownError(
                    f"the commit of {name} was sent and no answer came",
                    where=self._settings.uri,
                    hint="look whether it is there before writing it again",
                ) from error
            raise

    def _session(self, mode: str, bookmarks: frozenset[str]) -> Any:
        from neo4j import Bookmarks

        return self.driver().session(
            database=self._settings.database,
            default_access_mode=mode,
            fetch_size=self._settings.fetch_size,
            bookmarks=Bookmarks.from_raw_values(bookmarks) if bookmarks else None,
        )

    def watch(self, breaker: CircuitBreaker) -> None:
        """Looks at the server now and then while the breaker is open, so that its return is noticed at once."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._watch, breaker)

    def _watch(self, breaker: CircuitBreaker) -> None:
        if not self._watching:
            self._watching = True
            task = self._loop.create_task(self._ping(breaker))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _ping(self, breaker: CircuitBreaker) -> None:
        try:
            while breaker.state is not State.CLOSED:
                await asyncio.sleep(_PING_PAUSE)
                with contextlib.suppress(Exception):
                    async with asyncio.timeout(self._settings.acquire_timeout):
                        await self.driver().get_server_info()
                        async with self._session("READ", frozenset()) as session:
                            await (await session.run("RETURN 1")).consume()
                    breaker.hasten()
        finally:
            self._watching = False


_SILENT = logging.NullHandler()


def _make_driver(settings: Neo4jSettings) -> Any:
    try:
        import neo4j
    except ImportError as error:
        raise ConfigurationError("the neo4j driver is not installed", hint="pip install 'graphroute[neo4j]'") from error
    # Its warnings are errors of ours already; its messages at DEBUG hold parameters, which are texts of questions.
    logging.getLogger("neo4j").addHandler(_SILENT)
    for name in ("neo4j.io", "neo4j.pool"):
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.INFO)
    uri = settings.uri
    trust: dict[str, Any] = {}
    if settings.authority is not None:
        if not os.path.isfile(settings.authority):
            raise ConfigurationError("GRAPHROUTE_NEO4J_CA names no file")
        # The driver takes certificates only beside a scheme that says nothing of TLS.
        scheme, _, rest = uri.partition("://")
        uri = f"{scheme.partition('+')[0]}://{rest}"
        trust = {"encrypted": True, "trusted_certificates": neo4j.TrustCustomCAs(settings.authority)}
    return neo4j.AsyncGraphDatabase.driver(
        uri,
        auth=(settings.user, settings.password),
        connection_timeout=settings.connect_timeout,
        connection_acquisition_timeout=settings.acquire_timeout,
        max_transaction_retry_time=0,
        liveness_check_timeout=settings.idle_check,
        max_connection_lifetime=settings.lifetime,
        max_connection_pool_size=settings.pool_size,
        notifications_min_severity="OFF",
        telemetry_disabled=True,
        user_agent="graphroute",
        **trust,
    )


def _check_version(agent: str, uri: str) -> None:
    match = re.match(r"Neo4j/(\d+)\.(\d+)", agent)
    if match is None or (int(match[1]), int(match[2])) < OLDEST:
        raise ConfigurationError(
            f"the server is {agent[:40]!r}", where=uri, allowed="Neo4j 5.26 or newer", hint="upgrade the server"
        )


def _server_time(end: float) -> float:
    """Seconds for the server, never 0, which would mean no limit."""
    return max(0.001, (end - time.monotonic()) * (1 - _SLACK))


async def _guarded(work: Awaitable[T], seconds: float) -> T:
    async with asyncio.timeout(seconds):
        return await work


async def _repeated(once: Callable[[], Awaitable[T]], tries: int, again: Callable[[], bool] = lambda: True) -> T:
    """The result of `once`, tried again after what may pass, at growing distances that differ between callers."""
    pause = _RETRY_PAUSE
    for _ in range(tries - 1):
        try:
            return await once()
        except Exception as error:
            if isinstance(error, TimeoutError) or not again() or not failures.may_pass(error):
                raise
        await asyncio.sleep(pause * (0.5 + random.random()))  # noqa: S311 - no secret
        pause *= 2
    return await once()


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _says(error: Exception, patience: float, signs: _Signs) -> bool | None:
    """What an error says about whether the server answers; None if nothing."""
    if failures.is_answer(error):
        return True
    if isinstance(error, OutcomeUnknownError):
        return False
    if isinstance(error, GraphRouteError):
        return None
    if isinstance(error, TimeoutError):
        return False if patience >= _PATIENCE and not signs.seen else None
    return False
