"""Asks a model the questions of graphs written in every variant; each raw reply is kept, and a second run goes on where the first stopped."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphroute.errors import BackendError, BackendUnavailableError, DataError
from graphroute.evaluation.formats.experiments import CONTEXT_OVERFLOW, Bench
from graphroute.evaluation.formats.graph import BenchGraph
from graphroute.evaluation.formats.orders import Order
from graphroute.evaluation.formats.prompt import digest, joined, messages_of
from graphroute.evaluation.formats.variants import Variant
from graphroute.evaluation.json_lines import read_rows
from graphroute.models.llm.base import ChatModel, Message

REPLIES = "replies.jsonl"
PROMPTS = "prompts"

MAX_UNREACHABLE = 3
"""After so many questions in a row that found nobody at the endpoint the run ends; it can be continued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the model is asked. None: not sent, so that the endpoint decides."""

    temperature: float = 0.0
    max_tokens: int = 800
    seed: int | None = None
    top_p: float | None = None
    structured: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One prompt. `budget` None: the whole graph. `places`: the facts shown, in order of the text. `overflow`: the prompt is larger than the window, and is not sent."""

    graph: str
    graph_sha256: str
    task: str
    variant: str
    version: str
    order: str
    seed: int | None
    budget: int | None
    repeat: int
    places: tuple[int, ...]
    messages: tuple[Message, ...]
    prompt_sha256: str
    prompt_tokens: int
    overflow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyLine:
    """One line of the file of replies: what was asked of whom and when, and what came back, word for word.

    `usage` holds the endpoint's own counts. `error`: why there is no reply; CONTEXT_OVERFLOW where the prompt was never sent.
    """

    key: str
    graph: str
    graph_sha256: str
    task: str
    variant: str
    version: str
    order: str
    seed: int | None
    budget: int | None
    repeat: int
    places: tuple[int, ...]
    prompt_sha256: str
    prompt_tokens: int
    tokenizer: str
    requested_model: str
    sampling: Mapping[str, Any]
    at: str
    model: str | None = None
    fingerprint: str | None = None
    finish_reason: str | None = None
    raw: str | None = None
    usage: Mapping[str, int | None] = field(default_factory=dict)
    seconds: float | None = None
    error: str | None = None


def cases_of(
    bench: Bench,
    graphs: Sequence[BenchGraph],
    variants: Sequence[Variant],
    *,
    orders: Sequence[Order] = (Order(),),
    budgets: Sequence[int | None] = (None,),
    window: int | None = None,
    repeats: int = 1,
) -> Iterator[Case]:
    """Every prompt of a run. With a `window` a whole graph that does not fit is an outcome of its own and never cut; a budget cuts by whole records."""
    for graph in graphs:
        sha256 = graph.sha256
        for variant in variants:
            for order in orders:
                for budget in budgets:
                    for task in graph.tasks:
                        text, places = bench.cut(graph, variant, budget, order, task)
                        messages = messages_of(
                            text,
                            grammar=variant.form.grammar,
                            semantics=graph.semantics,
                            question=task.text(bench.language or graph.language),
                            kind=task.kind,
                        )
                        prompt = joined(messages)
                        tokens = bench.tokenizer.count(prompt)
                        for repeat in range(repeats):
                            yield Case(
                                graph=graph.name,
                                graph_sha256=sha256,
                                task=task.id,
                                variant=variant.label,
                                version=variant.form.version,
                                order=order.name,
                                seed=order.seed,
                                budget=budget,
                                repeat=repeat,
                                places=places,
                                messages=messages,
                                prompt_sha256=digest(prompt),
                                prompt_tokens=tokens,
                                overflow=budget is None and window is not None and tokens > window,
                            )


def run(
    cases: Iterable[Case],
    chat: ChatModel,
    folder: Path,
    *,
    sampling: Sampling,
    tokenizer: str,
    timeout: float,
    note: Callable[[], None] = lambda: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> list[ReplyLine]:
    """Asks what has no reply yet, appending a line to `replies.jsonl` as each comes; returns the line of each case in order.

    A line with an error is asked again, except for CONTEXT_OVERFLOW. Prompts are kept under the hash of their text. Raises BackendUnavailableError when
    nobody answers several times in a row; what came before is kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / REPLIES
    known = {line.key: line for line in load_replies(target)}
    given = {name: value for name, value in asdict(sampling).items() if value is not None}
    lines: list[ReplyLine] = []
    unreachable = 0
    with target.open("a", encoding="utf-8") as stream:
        for case in cases:
            key = _key(case, chat.name, given)
            line = known.get(key)
            if line is None or (line.error is not None and line.error != CONTEXT_OVERFLOW):
                _keep_prompt(folder, case)
                line = _ask(case, chat, key, given, tokenizer, timeout, now)
                stream.write(json.dumps(asdict(line), ensure_ascii=False) + "\n")
                stream.flush()
                unreachable = unreachable + 1 if line.error == BackendUnavailableError.__name__ else 0
                if unreachable >= MAX_UNREACHABLE:
                    raise BackendUnavailableError(
                        f"nobody answered {unreachable} times in a row",
                        where=f"endpoint of {chat.name}",
                        hint="run the same command again to go on",
                    )
            lines.append(line)
            note()
    return lines


def _ask(
    case: Case,
    chat: ChatModel,
    key: str,
    sampling: Mapping[str, Any],
    tokenizer: str,
    timeout: float,
    now: Callable[[], datetime],
) -> ReplyLine:
    line: dict[str, Any] = {
        "key": key,
        **{name: getattr(case, name) for name in _CASE_FIELDS},
        "tokenizer": tokenizer,
        "requested_model": chat.name,
        "sampling": dict(sampling),
        "at": now().astimezone(UTC).isoformat().replace("+00:00", "Z"),
    }
    if case.overflow:
        return ReplyLine(**line, error=CONTEXT_OVERFLOW)
    began = time.monotonic()
    try:
        reply = chat.complete(case.messages, timeout=timeout)
    except BackendError as error:
        # An endpoint that cannot be reached says nothing about the format; every other failure is the outcome of this prompt.
        kind = type(error).__name__ if isinstance(error, BackendUnavailableError) else error.message
        return ReplyLine(**line, error=kind, seconds=round(time.monotonic() - began, 3))
    return ReplyLine(
        **line,
        model=reply.model,
        fingerprint=reply.fingerprint,
        finish_reason=reply.finish_reason,
        raw=reply.text,
        usage={"prompt_tokens": reply.usage.prompt_tokens, "completion_tokens": reply.usage.completion_tokens},
        seconds=round(time.monotonic() - began, 3),
    )


_CASE_FIELDS = (
    "graph",
    "graph_sha256",
    "task",
    "variant",
    "version",
    "order",
    "seed",
    "budget",
    "repeat",
    "places",
    "prompt_sha256",
    "prompt_tokens",
)


def _key(case: Case, model: str, sampling: Mapping[str, Any]) -> str:
    """Names a reply: the same prompt for the same place in the experiment, asked of the same model in the same way."""
    parts = [getattr(case, name) for name in _CASE_FIELDS if name not in ("places", "prompt_tokens")]
    return digest(json.dumps([*parts, model, dict(sampling)], sort_keys=True))[:32]


def _keep_prompt(folder: Path, case: Case) -> None:
    path = folder / PROMPTS / f"{case.prompt_sha256}.json"
    if path.exists():
        return
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.write_text(
        json.dumps([asdict(message) for message in case.messages], ensure_ascii=False, indent=1) + "\n",
        encoding="utf-8",
    )
    os.replace(temporary, path)


def load_replies(path: Path) -> list[ReplyLine]:
    """The lines of a file, the last one for each key; empty if it is missing. A torn last line is cut off. Raises DataError for any other bad line."""
    if not path.exists():
        return []
    data = path.read_bytes()
    if not data.endswith(b"\n"):
        path.write_bytes(data[: data.rfind(b"\n") + 1])
    found: dict[str, ReplyLine] = {}
    for where, row in read_rows(path):
        try:
            line = ReplyLine(**{**row, "places": tuple(row["places"])})
        except (TypeError, KeyError) as error:
            raise DataError("no line of replies", where=where, hint="move the file away to begin anew") from error
        found[line.key] = line
    return list(found.values())
