"""The bundled graphs, and a chat endpoint on this machine that reads the graph out of the prompt and walks it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from graphroute.errors import DataError
from graphroute.evaluation.formats.graph import BenchGraph, Edge, Node, Task, load_graph
from graphroute.evaluation.formats.walk import index_of, solve
from graphroute.resources import resource
from graphroute.serialization.formats import FORMATS
from graphroute.serialization.records import Records


def bundled(name: str) -> BenchGraph:
    """A graph that ships."""
    return load_graph(resource(f"schema/benchmark/graphs/{name}.yaml"))


@pytest.fixture
def projects() -> BenchGraph:
    return bundled("projects")


@pytest.fixture
def services() -> BenchGraph:
    return bundled("services")


def read_prompt(text: str) -> Records:
    """The records of the evidence block, by whichever format reads them."""
    block = text.split("<evidence>\n", 1)[1].split("\n</evidence>", 1)[0]
    for name in FORMATS:
        try:
            return FORMATS.load(name)().loads(block)
        except DataError:
            continue
    raise AssertionError("no format reads the block")


def walked_reply(text: str, graphs: Sequence[BenchGraph]) -> str:
    """What a model that makes no mistake answers to a prompt: it knows the question's query, and only the facts that stand in the prompt."""
    records = read_prompt(text)
    task = next(
        task
        for graph in graphs
        for task in graph.tasks
        for wording in task.texts.values()
        if f"Question: {wording}\n" in text
    )
    return json.dumps(answer_of(task, records, graphs), ensure_ascii=False)


def answer_of(task: Task, records: Records, graphs: Sequence[BenchGraph]) -> dict[str, Any]:
    nodes = [Node(id=node.id, name=node.name, type=node.types[0]) for node in records.nodes]
    edges = [Edge(source=fact.subject, relation=fact.predicate, target=fact.object) for fact in records.facts]
    names = {node.id: node.name for node in nodes}
    start_names = {node.name for graph in graphs for node in graph.nodes if node.id in task.query.starts}
    starts = tuple(node.id for node in nodes if node.name in start_names)
    query = type(task.query)(starts=starts, steps=task.query.steps, key_step=task.query.key_step)
    found = solve(index_of(edges, {node.id: node.type for node in nodes}), query)
    if not found.answers:
        return {"answer": "INSUFFICIENT_DATA", "answer_id": None, "path": [], "evidence": []}
    places = found.paths[found.answers[0]][0] if task.kind == "one" else found.support
    shown: dict[str, Any] = {
        "answer": [names[id] for id in found.answers],
        "answer_id": list(found.answers),
        "path": [place + 1 for place in places],
        "evidence": [
            {"source": edges[place].source, "relation": edges[place].relation, "target": edges[place].target}
            for place in places
        ],
    }
    if task.kind == "one":
        shown["answer"], shown["answer_id"] = names[found.answers[0]], found.answers[0]
    if task.kind == "mapping":
        shown["answer_id"] = {key: list(values) for key, values in found.mapping.items()}
    return shown


Respond = Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Respond], tuple[str, list[dict[str, Any]]]]]:
    """Starts a server with a function from request to status and reply; gives its address and the requests it got."""
    for name in ("OPENAI_API_KEY", "GRAPHROUTE_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    servers: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(respond: Respond) -> tuple[str, list[dict[str, Any]]]:
        seen: list[dict[str, Any]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                seen.append(body)
                status, reply = respond(body)
                data = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
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


def completion(text: str, *, model: str = "walker-1") -> dict[str, Any]:
    """A chat completion as an endpoint sends it."""
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "system_fingerprint": "fp-7",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", "logprobs": None}
        ],
        "usage": {"prompt_tokens": 321, "completion_tokens": 45, "total_tokens": 366},
    }


@pytest.fixture
def walker(projects: BenchGraph, services: BenchGraph) -> Respond:
    """A server's answer by walking the graph that stands in the prompt."""

    def respond(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        text = "\n\n".join(message["content"] for message in body["messages"])
        return 200, completion(walked_reply(text, [projects, services]))

    return respond
