"""Runs against an endpoint: what is kept of each reply, how a run goes on, and what is made of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graphroute.errors import BackendError, BackendUnavailableError, DataError
from graphroute.evaluation.formats.experiments import CONTEXT_OVERFLOW, Bench
from graphroute.evaluation.formats.graph import BenchGraph
from graphroute.evaluation.formats.model_runs import (
    MAX_UNREACHABLE,
    PROMPTS,
    REPLIES,
    Case,
    ReplyLine,
    Sampling,
    cases_of,
    load_replies,
    run,
)
from graphroute.evaluation.formats.orders import Order
from graphroute.evaluation.formats.outcomes import ModelRow, marked, summed
from graphroute.evaluation.formats.prompt import digest
from graphroute.evaluation.formats.structured import SCHEMA
from graphroute.evaluation.formats.variants import variants_of
from graphroute.models.llm.base import ChatModel
from graphroute.models.llm.openai import OpenAIChat
from graphroute.models.llm.scripted import ScriptedChat
from graphroute.models.tokenizers import load_tokenizer

VARIANTS = variants_of(["edge_list", "compact_json"], ["full", "lean"])
NOW = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)

Serve = Callable[[Any], tuple[str, list[dict[str, Any]]]]


@pytest.fixture
def bench() -> Bench:
    return Bench(tokenizer=load_tokenizer("o200k_base"))


def asked(cases: Sequence[Case], chat: ChatModel, folder: Path, sampling: Sampling = Sampling()) -> list[ReplyLine]:  # noqa: B008
    return run(cases, chat, folder, sampling=sampling, tokenizer="t", timeout=20.0, now=lambda: NOW)


def rows(lines: Sequence[ReplyLine], graphs: Sequence[BenchGraph], bench: Bench) -> list[ModelRow]:
    return summed(marked(lines, graphs, VARIANTS, bench))


def test_an_endpoint_that_walks_the_graph_is_right_in_every_format(
    projects: BenchGraph, services: BenchGraph, bench: Bench, endpoint: Serve, walker: Any, tmp_path: Path
) -> None:
    url, seen = endpoint(walker)
    chat = OpenAIChat(base_url=url, model="walker", max_tokens=300, seed=11, top_p=0.5, schema=SCHEMA)
    sampling = Sampling(max_tokens=300, seed=11, top_p=0.5, structured=True)
    cases = list(cases_of(bench, [projects, services], VARIANTS))
    lines = asked(cases, chat, tmp_path, sampling)
    assert len(lines) == len(seen) == 2 * 4 * 6
    for row in rows(lines, [projects, services], bench):
        assert row.correct is not None
        assert (row.correct.mean, row.errors, row.asked) == (1.0, 0, 6)
        assert row.abstention is not None
        assert (row.abstention.mean, row.abstention.n) == (1.0, 1)
        assert row.prompt_tokens == 321
        assert row.completion_tokens == 45
        assert (row.set_f1 is not None) == (row.graph == "services")
    line, case, request = lines[0], cases[0], seen[0]
    assert (line.requested_model, line.model, line.fingerprint) == ("walker", "walker-1", "fp-7")
    assert line.at == "2026-05-06T07:08:09Z"
    assert line.usage == {"prompt_tokens": 321, "completion_tokens": 45}
    assert line.finish_reason == "stop"
    assert line.sampling == {"temperature": 0.0, "max_tokens": 300, "seed": 11, "top_p": 0.5, "structured": True}
    assert (request["seed"], request["top_p"], request["temperature"]) == (11, 0.5, 0.0)
    assert request["response_format"]["json_schema"]["schema"] == SCHEMA
    kept = json.loads((tmp_path / PROMPTS / f"{line.prompt_sha256}.json").read_text(encoding="utf-8"))
    assert kept == request["messages"]
    assert line.prompt_sha256 == digest("\n\n".join(message["content"] for message in kept)) == case.prompt_sha256


def test_no_request_tells_the_gold(
    projects: BenchGraph, bench: Bench, endpoint: Serve, walker: Any, tmp_path: Path
) -> None:
    url, seen = endpoint(walker)
    asked(list(cases_of(bench, [projects], VARIANTS[:1])), OpenAIChat(base_url=url, model="m"), tmp_path)
    for task, request in zip(projects.tasks, seen, strict=True):
        assert set(request) == {"model", "messages", "max_tokens", "temperature"}
        outside = request["messages"][0]["content"] + request["messages"][1]["content"].split("</evidence>")[1]
        assert "city_kazan" not in outside
        assert "Казань" not in outside
        assert str(list(task.path)) not in outside


def test_a_second_run_asks_only_what_has_no_reply(projects: BenchGraph, bench: Bench, tmp_path: Path) -> None:
    cases = list(cases_of(bench, [projects], VARIANTS[:2], repeats=2))
    half = ScriptedChat(["{}"] * 7)
    lines = asked(cases, half, tmp_path)
    assert [line.error is None for line in lines] == [True] * 7 + [False] * 17
    text = (tmp_path / REPLIES).read_bytes()
    (tmp_path / REPLIES).write_bytes(text + b'{"torn": ')
    rest = ScriptedChat(["{}"] * 17)
    again = asked(cases, rest, tmp_path)
    assert len(rest.calls) == 17
    assert all(line.error is None for line in again)
    third = ScriptedChat([])
    assert [line.key for line in asked(cases, third, tmp_path)] == [line.key for line in again]
    assert third.calls == []
    other = ScriptedChat(["{}"] * 24)
    asked(cases, other, tmp_path, Sampling(temperature=0.7))
    assert len(other.calls) == 24
    assert len(load_replies(tmp_path / REPLIES)) == 48


def test_an_endpoint_that_is_away_ends_the_run_and_keeps_what_came(
    projects: BenchGraph, bench: Bench, tmp_path: Path
) -> None:
    cases = list(cases_of(bench, [projects], VARIANTS[:1]))
    away = BackendUnavailableError("away")
    with pytest.raises(BackendUnavailableError, match="nobody answered"):
        asked(cases, ScriptedChat(["{}", *[away] * 5]), tmp_path)
    lines = load_replies(tmp_path / REPLIES)
    assert len(lines) == 1 + MAX_UNREACHABLE
    (row,) = rows(lines, [projects], bench)
    assert (row.asked, row.unreachable, row.errors) == (1, MAX_UNREACHABLE, 0)
    back = ScriptedChat(["{}"] * 5)
    asked(cases, back, tmp_path)
    assert len(back.calls) == 5
    (row,) = rows(load_replies(tmp_path / REPLIES), [projects], bench)
    assert (row.asked, row.unreachable) == (6, 0)


def test_a_refused_request_is_a_failure_and_is_counted(projects: BenchGraph, bench: Bench, tmp_path: Path) -> None:
    chat = ScriptedChat([BackendError("the endpoint answered HTTP 400"), *["{}"] * 5])
    lines = asked(list(cases_of(bench, [projects], VARIANTS[:1])), chat, tmp_path)
    assert lines[0].error == "the endpoint answered HTTP 400"
    assert lines[0].raw is None
    (row,) = rows(lines, [projects], bench)
    assert (row.asked, row.errors) == (6, 1)
    assert row.parse_success is not None
    assert row.parse_success.mean == 0.0


def test_a_prompt_beyond_the_window_is_not_sent(projects: BenchGraph, bench: Bench, tmp_path: Path) -> None:
    cases = list(cases_of(bench, [projects], VARIANTS, window=800))
    chat = ScriptedChat(lambda messages: "{}")
    lines = asked(cases, chat, tmp_path)
    over = [line for line in lines if line.error == CONTEXT_OVERFLOW]
    assert over
    assert len(chat.calls) == len(lines) - len(over)
    assert {line.prompt_tokens > 800 for line in over} == {True}
    again = ScriptedChat([])
    asked(cases, again, tmp_path)
    assert again.calls == []
    by_variant = {row.variant: row for row in rows(lines, [projects], bench)}
    assert by_variant["compact_json"].overflow == 6
    assert by_variant["compact_json"].correct is None
    assert by_variant["compact_json"].asked == 0


def test_permutations_have_a_spread(projects: BenchGraph, bench: Bench, tmp_path: Path) -> None:
    orders = [Order("shuffled", seed) for seed in (1, 2, 3)]
    cases = list(cases_of(bench, [projects], VARIANTS[:1], orders=orders))
    assert len({case.prompt_sha256 for case in cases}) == 18

    right = iter([case.seed == 1 and case.task == "q6" for case in cases])
    abstains = '{"answer": "INSUFFICIENT_DATA", "answer_id": null, "path": [], "evidence": []}'
    chat = ScriptedChat(lambda messages: abstains if next(right) else "broken")
    (row,) = rows(asked(cases, chat, tmp_path), [projects], bench)
    assert row.asked == 18
    assert row.spread == pytest.approx(0.0785674, abs=1e-6)
    assert row.correct is not None
    assert row.correct.mean == pytest.approx(1 / 18)
    assert row.by_hops[4].n == 6
    assert row.by_hops[2].mean == pytest.approx(1 / 3)


def test_replies_about_another_graph_are_left_out(projects: BenchGraph, bench: Bench, tmp_path: Path) -> None:
    from dataclasses import replace

    lines = asked(list(cases_of(bench, [projects], VARIANTS[:1])), ScriptedChat(["{}"] * 6), tmp_path)
    other = replace(projects, edges=projects.edges[::-1], tasks=())
    assert rows(lines, [other], bench) == []
    assert rows([replace(line, version="0") for line in lines], [projects], bench) == []


def test_a_damaged_file_of_replies_is_refused(tmp_path: Path) -> None:
    path = tmp_path / REPLIES
    path.write_text('{"key": "x"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="replies"):
        load_replies(path)
