"""QdrantConnection: the client in a private event loop, with deadlines of ours and errors of ours."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import importlib
import os
import threading
import time
import warnings
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from graphroute.cancellation import current
from graphroute.errors import (
    BackendError,
    BackendUnavailableError,
    CancelledError,
    ConfigurationError,
    DeadlineError,
    GraphRouteError,
    UsageError,
)
from graphroute.stores.breaker import CircuitBreaker
from graphroute.time_limit import waiting

KEY_VARIABLE = "GRAPHROUTE_QDRANT_API_KEY"
MEMORY = ":memory:"
_PATIENCE = 0.5
"""Seconds a call must have waited before its deadline says something about the server."""
_CLOSING = 5.0
"""Seconds that closing waits for the loop."""
_PAUSE = 3.0
"""Seconds that an open breaker waits before it lets a call try."""


class NotFoundError(BackendError):
    """The collection is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QdrantSettings:
    """Where Qdrant is and how long to wait.

    `url`: `http(s)://host:port`; `:memory:` or `path:DIR` run the client's local mode in this process, which is meant for tests.
    `prefix`: what the names of collections start with; one store, one prefix. `timeout`, `write_timeout`: seconds of one
    call without a deadline. `exact_up_to`: readable vectors up to which every vector is compared; above it the search is
    approximate. Raises ConfigurationError for a URL that carries a user or a password, which is not repeated.
    """

    url: str
    api_key: str | None = field(default=None, repr=False)
    prefix: str = "graphroute"
    timeout: float = 5.0
    write_timeout: float = 60.0
    exact_up_to: int = 100_000

    def __post_init__(self) -> None:
        if not self.prefix.replace("-", "").replace("_", "").isalnum() or not self.prefix.isascii():
            raise ConfigurationError(
                f"prefix of Qdrant collections {self.prefix!r}", allowed="letters, digits, - and _ (ASCII)"
            )
        if self.exact_up_to < 0 or self.timeout <= 0 or self.write_timeout <= 0:
            raise ConfigurationError("a limit of Qdrant is not above zero", allowed="timeouts > 0, exact_up_to >= 0")
        if self.is_local:
            return
        try:
            parts = urlsplit(self.url)
            carries_user = "@" in parts.netloc
            known = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            carries_user, known = False, False
        if carries_user:
            raise ConfigurationError(
                "the URL of Qdrant carries a user or a password",
                hint=f"leave it out and put the key into the environment as {KEY_VARIABLE}",
            )
        if not known or parts.query or parts.fragment:
            raise ConfigurationError(
                "the URL of Qdrant cannot be read", allowed="http://HOST:PORT or https://HOST:PORT"
            )

    @classmethod
    def from_environment(
        cls, url: str, *, environment: Mapping[str, str] | None = None, prefix: str = "graphroute"
    ) -> QdrantSettings:
        """Settings with the key of `GRAPHROUTE_QDRANT_API_KEY`, if it is set."""
        known = os.environ if environment is None else environment
        return cls(url=url, api_key=known.get(KEY_VARIABLE) or None, prefix=prefix)

    @property
    def is_local(self) -> bool:
        """True if no server is used."""
        return self.url == MEMORY or self.url.startswith("path:")

    @property
    def where(self) -> str:
        """The place for messages."""
        return f"Qdrant at {self.url}"


class QdrantConnection:
    """One client, shared by threads. A process forked later opens its own on first use (not in local mode).

    Every call ends at its deadline: the request is cancelled and DeadlineError raised. No exception of the driver gets out.
    """

    def __init__(self, settings: QdrantSettings, *, breaker: CircuitBreaker | None = None) -> None:
        self.settings = settings
        self._breaker = breaker or CircuitBreaker(pause=_PAUSE)
        self._lock = threading.Lock()
        self._process = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._client: Any = None
        self._closed = False

    @property
    def is_local(self) -> bool:
        """True if the client's local mode answers instead of a server."""
        return self.settings.is_local

    def call(self, method: str, *, deadline: float | None = None, writes: bool = False, **arguments: object) -> Any:
        """One method of the client. `deadline` in `time.monotonic` seconds.

        Raises DeadlineError, NotFoundError, BackendUnavailableError, ConfigurationError (key refused), BackendError or
        CancelledError.
        """
        return self.calls([(method, arguments)], deadline=deadline, writes=writes)[0]

    def calls(
        self,
        requests: Sequence[tuple[str, Mapping[str, object]]],
        *,
        deadline: float | None = None,
        writes: bool = False,
    ) -> list[Any]:
        """Several calls at once, all under one deadline; the answers in order."""
        limit = self.settings.write_timeout if writes else self.settings.timeout
        if self._loop is None:
            # Seconds of importing, once per process; on the loop they would hold up every call and the close.
            try:
                importlib.import_module("qdrant_client")
            except ImportError as error:
                raise self._translated(error) from None
        if deadline is not None:
            limit = min(limit, deadline - time.monotonic())
        with waiting(limit) as left:
            return self._within(requests, left)

    def _within(self, requests: Sequence[tuple[str, Mapping[str, object]]], limit: float) -> list[Any]:
        if limit <= 0:
            raise DeadlineError("no time is left for Qdrant", where=self.settings.where)
        token = current()
        if token is not None and token.cancelled:
            raise CancelledError("the question was cancelled")
        loop = self._running_loop()
        permit = self._breaker.acquire()
        if permit is None:
            raise BackendUnavailableError(
                "Qdrant did not answer the last calls",
                where=self.settings.where,
                hint=f"the next try is in {self._breaker.wait:.0f} s at most",
            )
        answered: bool | None = None
        future = asyncio.run_coroutine_threadsafe(self._gather(requests, limit), loop)
        forget = token.on_cancel(future.cancel) if token is not None else None
        try:
            # The loop keeps the deadline; the wait here is longer only so that a loop that is held up cannot hold us up.
            found = future.result(limit * 1.05 + 0.05)
            answered = True
            return found
        except concurrent.futures.CancelledError:
            raise CancelledError("the question was cancelled") from None
        except Exception as error:  # noqa: BLE001 - the driver's are many; each becomes one of ours
            future.cancel()
            translated = self._translated(error)
            if not isinstance(translated, (DeadlineError, BackendUnavailableError)):
                answered = True
            elif limit >= _PATIENCE or not isinstance(translated, DeadlineError):
                answered = False
            raise translated from None
        finally:
            if forget is not None:
                forget()
            self._breaker.settle(permit, answered)

    async def _gather(self, requests: Sequence[tuple[str, Mapping[str, object]]], limit: float) -> list[Any]:
        async with asyncio.timeout(limit):
            if self._client is None:
                self._client = self._connect()
            return await asyncio.gather(*(getattr(self._client, name)(**dict(given)) for name, given in requests))

    def _connect(self) -> Any:
        from qdrant_client import AsyncQdrantClient

        settings = self.settings
        if settings.url == MEMORY:
            return AsyncQdrantClient(location=MEMORY)
        if settings.is_local:
            return AsyncQdrantClient(path=settings.url.removeprefix("path:"))
        with warnings.catch_warnings():
            # The client warns of a key over plain http; inside one network that is the operator's choice.
            warnings.simplefilter("ignore")
            return AsyncQdrantClient(
                url=settings.url,
                api_key=settings.api_key,
                timeout=max(1, round(settings.write_timeout)),
                check_compatibility=False,
                port=urlsplit(settings.url).port or 6333,
            )

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise UsageError("the connection to Qdrant is closed")
            if self._loop is None or self._process != os.getpid():
                if self._loop is not None and self.is_local:
                    raise UsageError(
                        "Qdrant's local mode was opened before the fork", hint="open it in the process that uses it"
                    )
                self._process, self._client = os.getpid(), None
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="graphroute-qdrant", daemon=True)
                self._thread.start()
            return self._loop

    def close(self) -> None:
        """Close the client. Later calls raise UsageError."""
        with self._lock:
            loop, thread, client = self._loop, self._thread, self._client
            self._closed, self._client, self._loop = True, None, None
        if loop is None or thread is None or self._process != os.getpid():
            return

        async def end() -> None:
            pending = asyncio.all_tasks() - {asyncio.current_task()}
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
            if client is not None:
                await client.close()

        coroutine: Coroutine[Any, Any, None] = end()
        with contextlib.suppress(Exception):  # a peer that hangs must not keep the process
            asyncio.run_coroutine_threadsafe(coroutine, loop).result(_CLOSING)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSING)
        if not thread.is_alive():
            loop.close()

    def _translated(self, error: Exception) -> GraphRouteError:
        """Our error for one of the driver. Bodies of answers are not repeated: they may hold a key or a question."""
        if isinstance(error, ImportError):
            return ConfigurationError(
                "qdrant-client is not installed", hint="install graphroute with the extra: graphroute[qdrant]"
            )
        from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        where = self.settings.where
        if isinstance(error, GraphRouteError):
            return error
        if isinstance(error, TimeoutError):
            return DeadlineError("Qdrant did not answer within the deadline", where=where)
        if isinstance(error, ResourceExhaustedResponse):
            return BackendUnavailableError("Qdrant asks to wait: too many requests", where=where)
        if isinstance(error, UnexpectedResponse):
            status = int(error.status_code or 0)
            if status in {401, 403}:
                return ConfigurationError(
                    f"Qdrant refused the key ({status})",
                    where=where,
                    hint=f"set {KEY_VARIABLE} to a key that may do this",
                )
            if status == 404:
                return NotFoundError("the collection is not there", where=where)
            if status in {429, 500, 502, 503, 504}:
                return BackendUnavailableError(f"Qdrant answered {status}", where=where)
            return BackendError(f"Qdrant answered {status}", where=where)
        if isinstance(error, ResponseHandlingException):
            kind = type(error.source).__name__
            if "Timeout" in kind:
                return DeadlineError("Qdrant did not answer in time", where=where)
            if "Validation" in kind or "Decode" in kind:
                return BackendError("the answer is not one of Qdrant", where=where)
            return BackendUnavailableError(
                f"cannot reach Qdrant ({kind})", where=where, hint="start it, or check the URL"
            )
        if self.is_local and isinstance(error, ValueError) and "not found" in str(error):
            return NotFoundError("the collection is not there", where=where)
        if self.is_local and isinstance(error, RuntimeError) and "already accessed" in str(error):
            return BackendUnavailableError("another process has the local Qdrant folder open", where=where)
        return BackendError(f"Qdrant failed ({type(error).__name__})", where=where)
