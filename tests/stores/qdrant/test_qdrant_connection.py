from __future__ import annotations

import gc
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphroute.cancellation import CancellationToken, cancellable
from graphroute.errors import (
    BackendError,
    BackendUnavailableError,
    CancelledError,
    ConfigurationError,
    DeadlineError,
    GraphRouteError,
    UsageError,
)
from graphroute.stores.breaker import CircuitBreaker, State
from graphroute.stores.qdrant.connection import MEMORY, NotFoundError, QdrantConnection, QdrantSettings

KEY = "k-7f3a9c-secret"


@contextmanager
def peer(behaviour: Callable[[socket.socket], None]) -> Iterator[str]:
    """A TCP server that treats each connection as told; its URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def accept() -> None:
        while not stop.is_set():
            try:
                accepted, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(accepted,), daemon=True).start()

    def serve(accepted: socket.socket) -> None:
        with accepted:
            try:
                behaviour(accepted)
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        stop.set()
        listener.close()


def answering(status: str, body: bytes, kind: str = "application/json") -> Callable[[socket.socket], None]:
    def behave(accepted: socket.socket) -> None:
        accepted.recv(65536)
        head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        accepted.sendall(head.encode() + body)

    return behave


def hang(accepted: socket.socket) -> None:
    accepted.recv(65536)
    time.sleep(20)


def hang_half_way(accepted: socket.socket) -> None:
    accepted.recv(65536)
    accepted.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{")
    time.sleep(20)


def drip(accepted: socket.socket) -> None:
    accepted.recv(65536)
    accepted.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{")
    for _ in range(200):
        accepted.sendall(b" ")
        time.sleep(0.1)


def reset(accepted: socket.socket) -> None:
    accepted.recv(65536)
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


def shut(accepted: socket.socket) -> None:
    accepted.recv(65536)


def ask(url: str, seconds: float = 1.0, key: str | None = None) -> tuple[GraphRouteError, float]:
    """The error of one call with so much time, and how long it took."""
    connection = QdrantConnection(QdrantSettings(url=url, api_key=key))
    try:
        import qdrant_client  # noqa: F401 - the first import takes longer than the deadline

        begun = time.monotonic()
        with pytest.raises(GraphRouteError) as caught:
            connection.call("get_aliases", deadline=begun + seconds)
        return caught.value, time.monotonic() - begun
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (hang, DeadlineError),
        (hang_half_way, DeadlineError),
        (drip, DeadlineError),
        (reset, BackendUnavailableError),
        (shut, BackendUnavailableError),
        (answering("500 Internal Server Error", b"<html>oops</html>", "text/html"), BackendUnavailableError),
        (answering("503 Service Unavailable", b""), BackendUnavailableError),
        (answering("429 Too Many Requests", b"{}"), BackendUnavailableError),
        (answering("200 OK", b"<html>a proxy</html>", "text/html"), BackendError),
        (answering("200 OK", b'{"result": 7}'), BackendError),
        (answering("400 Bad Request", b'{"status": {"error": "Wrong input: expected dim: 4, got 3"}}'), BackendError),
        (answering("404 Not Found", b"{}"), NotFoundError),
        (answering("401 Unauthorized", f"Invalid api-key {KEY}".encode(), "text/plain"), ConfigurationError),
        (answering("403 Forbidden", f"{KEY}".encode()), ConfigurationError),
    ],
)
def test_a_fault_is_an_error_of_ours_within_the_deadline(
    behaviour: Callable[[socket.socket], None], error: type[GraphRouteError]
) -> None:
    with peer(behaviour) as url:
        caught, seconds = ask(url, 1.0, KEY)
    assert isinstance(caught, error), repr(caught)
    assert seconds <= 1.1
    assert KEY not in str(caught)
    assert "\n" not in str(caught)


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    caught, seconds = ask(f"http://127.0.0.1:{port}")
    assert isinstance(caught, BackendUnavailableError)
    assert caught.hint
    assert seconds <= 1.1


def test_a_breaker_spares_the_wait_and_lets_the_server_return() -> None:
    slow = threading.Event()

    def behave(accepted: socket.socket) -> None:
        if not slow.is_set():
            hang(accepted)
        answering("200 OK", b'{"result": {"aliases": []}, "status": "ok", "time": 0.0}')(accepted)

    now = [0.0]
    breaker = CircuitBreaker(failures=2, pause=3.0, clock=lambda: now[0])
    with peer(behave) as url:
        connection = QdrantConnection(QdrantSettings(url=url, timeout=0.6), breaker=breaker)
        for _ in range(2):
            with pytest.raises(DeadlineError):
                connection.call("get_aliases")
        assert breaker.wait > 0.0
        begun = time.monotonic()
        with pytest.raises(BackendUnavailableError, match="last calls"):
            connection.call("get_aliases")
        assert time.monotonic() - begun < 0.05
        slow.set()
        now[0] = 3.1
        assert connection.call("get_aliases", deadline=time.monotonic() + 3).aliases == []
        assert breaker.state is State.CLOSED
        connection.close()


def test_a_cancelled_question_ends_its_call() -> None:
    with peer(hang) as url:
        connection = QdrantConnection(QdrantSettings(url=url))
        token = CancellationToken()
        timer = threading.Timer(0.3, token.cancel)
        timer.start()
        begun = time.monotonic()
        with cancellable(token), pytest.raises(CancelledError):
            connection.call("get_aliases")
        assert time.monotonic() - begun < 2.5
        with cancellable(token), pytest.raises(CancelledError):
            connection.call("get_aliases")
        connection.close()


def test_a_deadline_in_the_past_sends_nothing() -> None:
    received: list[int] = []
    with peer(lambda accepted: received.append(1)) as url:
        connection = QdrantConnection(QdrantSettings(url=url))
        with pytest.raises(DeadlineError):
            connection.call("get_aliases", deadline=time.monotonic() - 1)
        connection.close()
    assert received == []


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{KEY}@127.0.0.1:6333",
        f"http://{KEY}@127.0.0.1:6333",
        f"http://127.0.0.1:6333?api-key={KEY}",
        f"ftp://127.0.0.1/{KEY}",
        KEY,
        "http://",
        "http://[::1",
        "http://host:99999",
        "",
    ],
)
def test_a_wrong_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        QdrantSettings(url=url)
    assert KEY not in str(caught.value)


def test_the_key_comes_from_the_environment_and_is_not_shown() -> None:
    settings = QdrantSettings.from_environment("https://q.example:6333", environment={"GRAPHROUTE_QDRANT_API_KEY": KEY})
    assert settings.api_key == KEY
    assert KEY not in repr(settings)
    assert QdrantSettings.from_environment("http://q:6333", environment={}).api_key is None


@pytest.mark.parametrize("prefix", ["", "a b", "a/b", "значение", "a\n"])
def test_a_prefix_is_a_plain_name(prefix: str) -> None:
    with pytest.raises(ConfigurationError):
        QdrantSettings(url=MEMORY, prefix=prefix)


def test_a_closed_connection_says_so() -> None:
    connection = QdrantConnection(QdrantSettings(url=MEMORY))
    connection.call("get_aliases")
    connection.close()
    connection.close()
    with pytest.raises(UsageError):
        connection.call("get_aliases")


def test_threads_share_a_connection() -> None:
    connection = QdrantConnection(QdrantSettings(url=MEMORY))
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(connection.call("get_aliases").aliases)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[]] * 12
    connection.close()


FORKED = """
import os, sys
from graphroute.errors import UsageError
from graphroute.stores.qdrant.connection import QdrantConnection, QdrantSettings
connection = QdrantConnection(QdrantSettings(url=sys.argv[1]))
print(len(connection.call("get_aliases").aliases), flush=True)
child = os.fork()
if child == 0:
    try:
        print(len(connection.call("get_aliases").aliases), flush=True)
    except UsageError as error:
        print("refused", flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(len(connection.call("get_aliases").aliases), flush=True)
"""


def test_a_forked_child_opens_its_own_or_is_refused() -> None:
    def run(url: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", FORKED, url], capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout.split()

    body = b'{"result": {"aliases": []}, "status": "ok", "time": 0.0}'
    with peer(answering("200 OK", body)) as url:
        assert run(url) == ["0", "0", "0"]
    assert run(MEMORY) == ["0", "refused", "0"]


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # the client leaves its lock file open there
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_local_folder_in_use_is_said(tmp_path: Path) -> None:
    first = QdrantConnection(QdrantSettings(url=f"path:{tmp_path / 'q'}"))
    first.call("get_aliases")
    second = QdrantConnection(QdrantSettings(url=f"path:{tmp_path / 'q'}"))
    with pytest.raises(BackendUnavailableError, match="another process"):
        second.call("get_aliases")
    first.close()
    second.close()
    del second
    gc.collect()
