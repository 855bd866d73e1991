"""One question through every stage, over a real store."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from graphroute import GraphRoute
from graphroute.config.load import load_routes, parse_routes
from graphroute.errors import (
    BackendError,
    BackendUnavailableError,
    ConfigurationError,
    DataError,
    DeadlineError,
    ReaderError,
    UsageError,
)
from graphroute.models.embedders.hashing import HashingEmbedder
from graphroute.models.llm.scripted import ScriptedChat
from graphroute.pipeline.assembly import Parts
from graphroute.pipeline.engine import parse_as_of
from graphroute.stores.database import Database
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing import world
from graphroute.testing.whole_path import outputs_of
from graphroute.testing.world import INSIDER, NOBODY, PUBLIC, STRANGER, day
from graphroute.types.reader import Reader
from graphroute.types.retrieval import Verdict
from graphroute.types.time import format_instant

DAY = "2026-06-01"
QUESTIONS = (
    "Who owns checkout?",
    "Which team owned checkout in April 2026?",
    "Which customers use checkout?",
    "How many changes touched eu-1?",
    "What did CHG-482 change?",
    "What is CHG-900?",
    "Tell me about the certificate",
    "What are the main themes?",
    "Что означает ошибка E-77?",
    "结账服务使用什么？",
    "",
)
Open = Callable[..., GraphRoute]
THIN = """\
routes:
  - name: records
    otherwise: identifier
fallback: {if_evidence_below: 0.5, use: lexical}
"""
VECTOR_FIRST = """\
routes:
  - name: both
    otherwise: vector_lexical
"""


def answers(trace: Any) -> list[str]:
    return [binding.id or binding.display for binding in trace.bundle.answers]


# The straight path ----------------------------------------------------------------------------------------------------------


def test_a_question_about_facts(opened: Open) -> None:
    trace = opened().explain("Who owns checkout?", reader=PUBLIC, as_of=DAY)
    bundle = trace.bundle
    assert answers(trace) == ["team:ledger"]
    assert (bundle.route, bundle.retrievers[0], bundle.reader) == ("facts", "local_graph", "ann")
    assert (bundle.abstained, bundle.fallback, bundle.degraded) == (False, False, ())
    assert bundle.edges[0] == "e2"
    assert "conflict" in bundle.flags
    assert format_instant(bundle.as_of) == DAY
    assert bundle.cypher is not None
    assert trace.serialized is not None
    assert "ledger" in trace.serialized.text
    assert trace.serialized.tokens <= 4000
    assert trace.answer is None
    assert len(trace.attempts) == 1
    assert {"parse", "route", "retrieve:local_graph", "merge", "serialize"} <= set(trace.seconds)
    assert all(value >= 0 for value in trace.seconds.values())
    assert trace.run_id != opened().explain("Who owns checkout?", reader=PUBLIC, as_of=DAY).run_id


def test_retrieve_is_the_bundle_of_explain(opened: Open) -> None:
    router = opened()
    for question in QUESTIONS[:5]:
        assert router.retrieve(question, reader=PUBLIC, as_of=DAY) == router.explain(question, reader=PUBLIC, as_of=DAY).bundle  # fmt: skip


@pytest.mark.parametrize(
    ("question", "as_of", "expected"),
    [
        ("Who owns checkout?", "2026-04-01", ["team:payments"]),
        ("Who owns checkout?", "2026-06-01", ["team:ledger"]),
        ("Which team owned checkout in April 2026?", "2026-06-01", ["team:payments"]),
        ("Which customers use checkout?", "2026-06-01", ["cust:acme"]),
        ("How many changes touched eu-1?", "2026-06-01", ["1"]),
        ("How many changes touched eu-1?", "2026-05-01", []),
    ],
)
def test_answers_follow_the_day(opened: Open, question: str, as_of: str, expected: list[str]) -> None:
    assert answers(opened().explain(question, reader=PUBLIC, as_of=as_of)) == expected


def test_readers_get_what_they_may_see(opened: Open) -> None:
    router = opened()
    question = "Which clusters does checkout connect to?"
    assert answers(router.explain(question, reader=INSIDER, as_of=DAY)) == ["db:eu-1", "db:eu-9"]
    assert answers(router.explain(question, reader=PUBLIC, as_of=DAY)) == ["db:eu-1"]
    for reader in (NOBODY, STRANGER):
        bundle = router.retrieve(question, reader=reader, as_of=DAY)
        assert (bundle.units, bundle.answers, bundle.sources, bundle.entities) == ((), (), (), {})


def test_a_hidden_identifier_abstains_like_an_absent_one(opened: Open) -> None:
    router = opened()
    hidden, absent = (
        outputs_of(router.explain(f"What is {name}?", reader=PUBLIC, as_of=DAY)) for name in ("CHG-900", "CHG-901")
    )
    for name in ("bundle", "trace", "prompt"):
        text = re.sub(r"checksum\S*", "", hidden[name].replace("CHG-900", "CHG-901"))
        assert text == re.sub(r"checksum\S*", "", absent[name]), name
    seen = router.explain("What is CHG-900?", reader=INSIDER, as_of=DAY).bundle
    assert not seen.abstained
    assert "plan:nightjar" in seen.sources


def test_a_reader_is_needed(opened: Open) -> None:
    with pytest.raises(TypeError):
        opened().retrieve("Who owns checkout?")  # type: ignore[call-arg]
    with pytest.raises(ReaderError):
        Reader("", ["public"])


@pytest.mark.parametrize("question", ["", "   \n", "x" * 9000])
def test_a_question_that_cannot_be_asked(opened: Open, tmp_path: Path, question: str) -> None:
    log = tmp_path / "log.jsonl"
    with pytest.raises(UsageError):
        opened(log=log).retrieve(question, reader=PUBLIC)
    assert not log.exists()


@pytest.mark.parametrize(
    "question",
    ["who is owner/approver of CHG-482?", "urgent! (pump) [v2] {x} : ^ ~ * ? \\", '"', "AND", "relay OR", "NEAR/3", "\x00\x1b[2J who", "<|endoftext|>"],
)  # fmt: skip
def test_punctuation_is_no_query_language(opened: Open, question: str) -> None:
    """B01: each is searched as literal words."""
    bundle = opened().retrieve(question, reader=PUBLIC, as_of=DAY)
    assert bundle.degraded == ()


def test_equal_questions_give_equal_outputs(opened: Open) -> None:
    for question in QUESTIONS[:-1]:
        first, second = (outputs_of(opened().explain(question, reader=INSIDER, as_of=DAY)) for _ in range(2))
        assert first == second


# Fallback -----------------------------------------------------------------------------------------------------------------------


def test_thin_evidence_falls_back_once(opened: Open) -> None:
    trace = opened(THIN).explain("Tell me about the certificate", reader=PUBLIC, as_of=DAY)
    first, second = trace.attempts
    assert first.sufficiency.score < 0.5
    assert (second.decision.fallback_from, second.decision.retrievers) == ("records", ("lexical",))
    assert trace.bundle.fallback
    assert trace.bundle.sources == ("CHG-482",)


def test_enough_evidence_does_not_fall_back(opened: Open) -> None:
    trace = opened(THIN).explain("CHG-482", reader=PUBLIC, as_of=DAY)
    assert len(trace.attempts) == 1
    assert not trace.bundle.fallback


def test_a_fallback_that_finds_nothing_is_not_followed_by_another(opened: Open) -> None:
    trace = opened(THIN).explain("zebra xylophone", reader=PUBLIC, as_of=DAY)
    assert len(trace.attempts) == 2
    assert trace.bundle.units == ()


def test_a_retriever_is_not_run_twice(opened: Open) -> None:
    trace = opened(
        "routes:\n  - otherwise: lexical\nfallback: {if_evidence_below: 1.0, use: vector_lexical}\n"
    ).explain("Tell me about the certificate", reader=PUBLIC, as_of=DAY)
    ran = [result.retriever for attempt in trace.attempts for result in attempt.results]
    assert sorted(ran) == ["lexical", "vector"]


# Failures -----------------------------------------------------------------------------------------------------------------------


class Dead(HashingEmbedder):
    """An endpoint that went away."""

    def embed_query(self, text: str) -> Any:
        raise BackendUnavailableError("the endpoint does not answer")


def dead(parts: Parts) -> None:
    parts.backends = replace(parts.backends, embedder=Dead())


def test_a_failed_retriever_degrades_and_the_others_answer(opened: Open, vector_store_path: Path) -> None:
    trace = opened(VECTOR_FIRST, store=vector_store_path, change=dead).explain(
        "Tell me about the certificate", reader=PUBLIC, as_of=DAY
    )
    failed, found = trace.attempts[0].results
    assert (failed.verdict, failed.reason) == (Verdict.FAILED, "the endpoint does not answer")
    assert found.verdict is Verdict.EVIDENCE
    assert [(one.stage, one.reason) for one in trace.bundle.degraded] == [("vector", "the endpoint does not answer")]
    assert trace.bundle.sources[0] == "CHG-482"
    assert trace.serialized is not None
    assert "the endpoint does not answer" in trace.serialized.text


def test_a_sound_retriever_does_not_degrade(opened: Open, vector_store_path: Path) -> None:
    bundle = opened(VECTOR_FIRST, store=vector_store_path).retrieve(
        "Tell me about the certificate", reader=PUBLIC, as_of=DAY
    )
    assert bundle.degraded == ()


def test_nothing_found_is_not_said_while_a_stage_failed(opened: Open, vector_store_path: Path) -> None:
    routes = "routes:\n  - otherwise: vector\n"
    bundle = opened(routes, store=vector_store_path, change=dead).retrieve("certificate", reader=PUBLIC, as_of=DAY)
    assert bundle.units == ()
    assert [one.stage for one in bundle.degraded] == ["vector"]
    assert "nothing" not in bundle.reason


def test_a_failed_retriever_may_run_again_in_the_fallback(opened: Open, vector_store_path: Path) -> None:
    class Once(HashingEmbedder):
        calls = 0

        def embed_query(self, text: str) -> Any:
            Once.calls += 1
            if Once.calls == 1:
                raise BackendUnavailableError("busy")
            return super().embed_query(text)

    def change(parts: Parts) -> None:
        parts.backends = replace(parts.backends, embedder=Once())

    text = """\
strategies:
  first: [{vector: {k: 3}}]
routes:
  - otherwise: first
fallback: {if_evidence_below: 0.9, use: vector}
"""
    trace = opened(text, store=vector_store_path, change=change).explain("certificate", reader=PUBLIC, as_of=DAY)
    assert [attempt.results[0].verdict for attempt in trace.attempts] == [Verdict.FAILED, Verdict.EVIDENCE]
    assert trace.bundle.sources
    assert trace.bundle.degraded == ()


def test_vectors_without_an_index_do_not_apply(opened: Open) -> None:
    trace = opened(VECTOR_FIRST).explain("certificate", reader=PUBLIC, as_of=DAY)
    assert trace.attempts[0].results[0].verdict is Verdict.NOT_APPLICABLE
    assert trace.bundle.degraded == ()


# Answers --------------------------------------------------------------------------------------------------------------------------


def scripted(*replies: str | Exception) -> tuple[ScriptedChat, Callable[[Parts], None]]:
    model = ScriptedChat(replies)

    def change(parts: Parts) -> None:
        parts.model = model

    return model, change


def test_without_an_endpoint_the_prompt_is_the_answer(opened: Open) -> None:
    answer = opened().ask("Who owns checkout?", reader=PUBLIC, as_of=DAY).answer
    assert answer is not None
    assert (answer.text, answer.generated, answer.abstained) == ("", False, False)
    assert answer.reason == "no chat model is configured"
    assert "Question: Who owns checkout?" in answer.prompt
    assert "<evidence>" in answer.prompt


def test_an_answer_with_citations(opened: Open) -> None:
    model, change = scripted("The ledger team owns checkout [U1]. So says nobody [U99].")
    trace = opened(change=change).ask("Who owns checkout?", reader=PUBLIC, as_of=DAY)
    assert trace.answer is not None
    assert trace.answer.generated
    assert [(one.unit_id, one.valid) for one in trace.answer.citations] == [("U1", True), ("U99", False)]
    assert not trace.answer.unsupported
    assert "generate" in trace.seconds
    (sent,) = model.calls
    assert [message.role for message in sent] == ["system", "user"]
    assert trace.serialized is not None
    assert trace.serialized.text in sent[1].content
    assert "Nightjar" not in sent[1].content


@pytest.mark.parametrize(
    ("reply", "abstained", "unsupported"),
    [
        ('```json\n{"answer": "ledger", "cites": "U1"}\n```', False, True),
        ('<think>{"a": 1}</think> ledger [U1]', False, False),
        ("INSUFFICIENT_DATA: no source names the owner.", True, False),
        ("It cites source 5 of 4 [U500]", False, True),
        ("[U1][U1, U1]", False, False),
        ("]]}}{{", False, True),
    ],
)
def test_whatever_a_model_replies_is_text(opened: Open, reply: str, abstained: bool, unsupported: bool) -> None:
    """B32: a reply never becomes data; only its citations are checked."""
    _, change = scripted(reply)
    trace = opened(change=change).ask("Who owns checkout?", reader=PUBLIC, as_of=DAY)
    assert trace.answer is not None
    assert trace.answer.text == reply
    assert (trace.answer.abstained, trace.answer.unsupported) == (abstained, unsupported)
    assert answers(trace) == ["team:ledger"]


def test_a_bundle_that_abstains_is_not_sent(opened: Open) -> None:
    model, change = scripted("made up")
    trace = opened(change=change).ask("What is CHG-900?", reader=PUBLIC, as_of=DAY)
    assert trace.answer is not None
    assert (trace.answer.text, trace.answer.generated) == ("INSUFFICIENT_DATA", False)
    assert model.calls == []


def test_explain_and_retrieve_ask_no_model(opened: Open) -> None:
    model, change = scripted("never")
    router = opened(change=change)
    assert router.explain("Who owns checkout?", reader=PUBLIC, as_of=DAY).answer is None
    router.retrieve("Who owns checkout?", reader=PUBLIC, as_of=DAY)
    assert model.calls == []


# The day --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-06-01", "2026-06-01"),
        (" 2026-06-01 ", "2026-06-01"),
        (date(2026, 6, 1), "2026-06-01"),
        (datetime(2026, 6, 1, tzinfo=UTC), "2026-06-01"),
        (datetime(2026, 6, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2026-05-31T23:00:00Z"),
        ("2026-06-01T00:00:00+02:00", "2026-05-31T22:00:00Z"),
        ("2026-06-01T09:30:00Z", "2026-06-01T09:30:00Z"),
        ("2026-06-01T09:30", "2026-06-01T09:30:00Z"),
        ("0001-01-01", "0001-01-01"),
        ("9999-12-31", "9999-12-31"),
    ],
)
def test_a_day_in_any_form(given: Any, expected: str) -> None:
    assert format_instant(parse_as_of(given)) == expected


@pytest.mark.parametrize("given", ["", "now", "2024-02-30", "2026-6-1", "2026-06-01T25:00", "10000-01-01", "01.06.2026", "2026-06-01T09:00+25:00"])  # fmt: skip
def test_a_day_that_is_none(given: str) -> None:
    with pytest.raises(UsageError, match="as_of"):
        parse_as_of(given)


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(UsageError, match="no time zone"):
        parse_as_of(datetime(2026, 6, 1))  # noqa: DTZ001


@pytest.mark.parametrize("given", [5, 20260601.0, b"2026-06-01", True, ["2026-06-01"], None])
def test_a_day_of_another_type_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match="as_of is of type"):
        parse_as_of(given)


def test_the_clock_is_read_where_no_day_is_given(opened: Open) -> None:
    def change(parts: Parts) -> None:
        parts.now = lambda: datetime(2026, 4, 1, tzinfo=UTC)

    router = opened(change=change)
    assert answers(router.explain("Who owns checkout?", reader=PUBLIC)) == ["team:payments"]
    assert answers(router.explain("Who owns checkout?", reader=PUBLIC, as_of=DAY)) == ["team:ledger"]


def test_the_day_of_the_store_comes_before_the_clock(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "dated.db"
    world.write(path)
    with Database(path) as database:
        writer = SnapshotWriter(database)
        writer.begin()
        writer.put_setting("as_of", "2026-04-01")
        writer.publish()
    router = opened(store=path)
    assert router.settings["as_of"] == "2026-04-01"
    assert answers(router.explain("Who owns checkout?", reader=PUBLIC)) == ["team:payments"]
    assert answers(router.explain("Who owns checkout?", reader=PUBLIC, as_of=DAY)) == ["team:ledger"]


def test_a_day_in_the_question_moves_the_instant(opened: Open) -> None:
    trace = opened().explain("Who owned checkout on 2026-04-01?", reader=PUBLIC, as_of=DAY)
    assert (trace.query.moved, format_instant(trace.bundle.as_of)) == (True, "2026-04-01")
    assert answers(trace) == ["team:payments"]


def test_a_day_outside_the_data_is_flagged(opened: Open) -> None:
    bundle = opened().retrieve("Who owns checkout?", reader=PUBLIC, as_of="1999-01-01")
    assert "as_of_out_of_range" in bundle.flags
    assert "as_of_out_of_range" not in opened().retrieve("Who owns checkout?", reader=PUBLIC, as_of=DAY).flags


# The decision log -------------------------------------------------------------------------------------------------------------------


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def test_one_record_a_question(opened: Open, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    _, change = scripted("ledger [U1]")
    router = opened(log=log, change=change)
    router.retrieve("Who owns checkout?", reader=PUBLIC, as_of=DAY)
    router.explain("What is CHG-900?", reader=PUBLIC, as_of=DAY)
    trace = router.ask("Who owns checkout?", reader=PUBLIC, as_of=DAY)
    first, second, third = records(log)
    assert [record["route"] for record in (first, second, third)] == ["facts", second["route"], "facts"]
    assert (second["abstained"], third["run"], third["config"]) == (True, trace.run_id, trace.config_hash)
    assert (first["answer"], third["answer"]["generated"]) == (None, True)
    assert "checkout?" not in log.read_text()


def test_no_log_is_written_unless_asked_for(opened: Open, tmp_path: Path) -> None:
    opened().retrieve("Who owns checkout?", reader=PUBLIC, as_of=DAY)
    assert list(tmp_path.iterdir()) == []


def test_stale_paths_are_for_the_operator(opened: Open, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    trace = opened(log=log).explain("Which clusters does checkout connect to?", reader=PUBLIC, as_of="2028-01-01")
    assert answers(trace) == []
    assert trace.operator["stale_paths"] == 1
    assert records(log)[0]["operator"]["stale_paths"] == 1


@pytest.mark.parametrize("failure", [BackendUnavailableError, DeadlineError, BackendError])
def test_a_failed_generation_is_logged_and_keeps_the_evidence(failure: type[BackendError], opened: Open, tmp_path: Path) -> None:  # fmt: skip
    log = tmp_path / "log.jsonl"
    _, change = scripted(failure("the endpoint does not answer"))
    trace = opened(log=log, change=change).ask("Who owns checkout?", reader=PUBLIC, as_of=DAY)
    assert answers(trace) == ["team:ledger"]
    assert trace.bundle.units
    assert trace.answer is not None
    assert (trace.answer.generated, trace.answer.abstained, trace.answer.text) == (False, False, "")
    assert trace.answer.reason == "the endpoint does not answer"
    assert trace.serialized is not None
    assert trace.serialized.text in trace.answer.prompt
    assert [one.stage for one in trace.bundle.degraded] == ["generate"]
    (record,) = records(log)
    assert record["answer"]["generated"] is False
    assert [one["stage"] for one in record["degraded"]] == ["generate"]
    assert "generate" in record["seconds"]


# Opening -------------------------------------------------------------------------------------------------------------------------------


def test_open_and_close(small_store_path: Path, tmp_path: Path) -> None:
    with GraphRoute.open(small_store_path, log=tmp_path / "log.jsonl") as router:
        assert router.retrieve("Who owns checkout?", reader=PUBLIC, as_of=DAY).answers
    assert len(records(tmp_path / "log.jsonl")) == 1


def test_a_routes_file_or_a_configuration(small_store_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "routes.yaml"
    path.write_text(THIN, encoding="utf-8")
    for routes in (path, str(path), parse_routes(THIN)):
        with GraphRoute.open(small_store_path, routes=routes) as router:
            assert router.retrieve("CHG-482", reader=PUBLIC, as_of=DAY).route == "records"
    path.write_text("routes:\n  - otherwise: lexcal\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="lexical"):
        GraphRoute.open(small_store_path, routes=path)


def test_no_store(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="graphroute ingest"):
        GraphRoute.open(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []


def test_another_ontology_replaces_the_one_in_the_store(small_store_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "ontology.yaml"
    path.write_text(world.ONTOLOGY.replace("inverse: [own]", "inverse: [possess]"), encoding="utf-8")
    with GraphRoute.open(small_store_path, ontology=path) as router, GraphRoute.open(small_store_path) as plain:
        assert answers(router.explain("Who possesses checkout?", reader=PUBLIC, as_of=DAY)) == ["team:ledger"]
        other = router.explain("Who owns checkout?", reader=PUBLIC, as_of=DAY)
        assert other.query.relations == ()
        assert other.config_hash != plain.explain("Who owns checkout?", reader=PUBLIC, as_of=DAY).config_hash


def test_threads_share_a_router(opened: Open) -> None:
    router = opened()
    asked = [(question, reader) for question in QUESTIONS[:-1] for reader in (PUBLIC, INSIDER, NOBODY)]

    def run(one: tuple[str, Reader]) -> dict[str, str]:
        return outputs_of(router.explain(one[0], reader=one[1], as_of=DAY))

    alone = [run(one) for one in asked]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, asked)) == alone


# The configuration's hash ----------------------------------------------------------------------------------------------------------------


def hash_of(router: GraphRoute) -> str:
    return router.explain("Who owns checkout?", reader=PUBLIC, as_of=DAY).config_hash


def test_the_hash_names_the_configuration(opened: Open) -> None:
    plain = hash_of(opened())
    assert len(plain) == 16
    assert hash_of(opened()) == plain
    assert hash_of(opened(THIN)) == hash_of(opened(f"# a comment\n{THIN}\n"))
    assert hash_of(opened(THIN)) == hash_of(opened(THIN + "budget: 4000\n"))
    different = {
        plain,
        *(hash_of(opened(text)) for text in (THIN, THIN.replace("0.5", "0.6"), THIN + "budget: 4001\n")),
    }
    assert len(different) == 4


def test_the_hash_does_not_follow_the_seed_of_hashes(small_store_path: Path, opened: Open) -> None:
    code = (
        "import sys; from graphroute import GraphRoute, Reader\n"
        "with GraphRoute.open(sys.argv[1]) as router:\n"
        "    print(router.explain('Who owns checkout?', reader=Reader('ann', ['public']), as_of='2026-06-01').config_hash)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, str(small_store_path)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert found.stdout.strip() == hash_of(opened())


def test_the_shipped_policy_is_what_none_means(small_store_path: Path) -> None:
    with GraphRoute.open(small_store_path) as one, GraphRoute.open(small_store_path, routes=load_routes()) as two:
        assert hash_of(one) == hash_of(two)


def test_instants_are_those_of_the_world() -> None:
    assert parse_as_of(DAY) == day(DAY)


AUTO = """
routes:
  - otherwise: graph_local
format: auto
"""


def test_auto_writes_the_measured_format_and_says_why(opened: Open, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    router = opened(AUTO + "budget: 4000\n", log=log)
    trace = router.explain("Who owns service pay?", reader=Reader("r", ["public"]))
    assert trace.serialized is not None
    assert trace.serialized.format == "adjacency"
    assert trace.serialized.profile == "full"
    assert "measured by parsing and walking the text" in trace.serialized.format_reason
    (record,) = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert record["prompt"]["format"].startswith("adjacency/")
    assert record["prompt"]["format_reason"] == trace.serialized.format_reason
    lean = opened(AUTO + "profile: lean\n").explain("Who owns service pay?", reader=Reader("r", ["public"]))
    assert lean.serialized is not None
    assert lean.serialized.profile == "lean"


def test_a_named_format_has_no_reason(opened: Open) -> None:
    named = opened(AUTO.replace("auto", "pretty_json")).explain("Who owns service pay?", reader=Reader("r", ["public"]))
    assert named.serialized is not None
    assert (named.serialized.format, named.serialized.format_reason) == ("pretty_json", "")


def test_auto_reads_the_measurements_that_are_named(opened: Open, tmp_path: Path) -> None:
    from graphroute.resources import resource

    value = json.loads(resource("schema/benchmark/measurements.json").read_text(encoding="utf-8"))
    value["rows"] = [row for row in value["rows"] if row["format"] in ("pretty_json", "csv")]
    path = tmp_path / "own.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    shipped, own = opened(AUTO), opened(AUTO + f"format_measurements: {path}\n")
    question, reader = "Who owns service pay?", Reader("r", ["public"])
    trace = own.explain(question, reader=reader)
    assert trace.serialized is not None
    assert trace.serialized.format == "csv"
    assert trace.config_hash != shipped.explain(question, reader=reader).config_hash
    with pytest.raises(ConfigurationError, match="cannot be read"):
        opened(AUTO + "format_measurements: absent.json\n")
