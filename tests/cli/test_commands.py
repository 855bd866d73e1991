"""The commands over a small store: what they print, and as JSON."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from graphroute.ontology.load import load_ontology

WHO = "Who is the owner of service ledger?"


def explain(run: Any, store: Path, *more: object, question: str = WHO) -> Any:
    return run("explain", question, "--store", store, "--public", *more)


def test_ingest_reports_counts_and_a_second_run_changes_nothing(run: Any, dataset: Path, tmp_path: Path) -> None:
    arguments = ["ingest", dataset, "--store", tmp_path / "new" / "s.sqlite", "--no-vectors"]
    first = run(*arguments, "--json")
    assert first.code == 0, first.err
    report = json.loads(first.out)
    assert (report["documents"], report["assertions"], report["changed"]) == (4, 3, True)
    assert report["ontology_inferred"] is True
    second = run(*arguments)
    assert "unchanged" in second.out
    assert "documents: 4 in " in second.err


def test_ingest_stops_at_a_bad_row_or_puts_it_aside(run: Any, dataset: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    shutil.copytree(dataset, folder)
    with (folder / "docs.jsonl").open("a") as stream:
        stream.write('{"doc_id": "x", "doc_id": "y", "text": "twice"}\n')
    arguments = ["ingest", folder, "--store", tmp_path / "s.sqlite", "--no-vectors", "--quiet"]
    stopped = run(*arguments)
    assert stopped.code == 4
    assert "docs.jsonl:5" in stopped.err
    aside = run(*arguments, "--skip-bad")
    assert aside.code == 0
    assert "1 bad row" in aside.err


def test_ontology_can_be_written_edited_and_given_back(run: Any, dataset: Path, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "inferred.yaml"
    assert run("ontology", "infer", dataset, "--out", out, "--quiet").code == 0
    assert "OWNED_BY" in load_ontology(out).relations
    kept = run("ontology", "infer", store)
    assert kept.code == 0
    (tmp_path / "kept.yaml").write_text(kept.out, encoding="utf-8")
    assert load_ontology(tmp_path / "kept.yaml").relations["OWNED_BY"].complete is True
    found = json.loads(run("ontology", "infer", dataset, "--json", "--quiet").out)
    assert found["inferred"] is True


def test_stats_count_what_the_reader_may_see(run: Any, store: Path) -> None:
    public = json.loads(run("stats", store, "--public", "--json").out)
    board = json.loads(run("stats", store, "--public", "--label", "board", "--json").out)
    assert public["sources"] == 3
    assert board["sources"] == 4
    assert public["dataset"] == "small"
    assert public["snapshot"] != board["snapshot"]
    assert run("stats", store).code == 6
    assert "sources" in run("stats", store, "--public").out


def test_explain_shows_cues_routes_plan_evidence_and_times(run: Any, store: Path) -> None:
    ended = explain(run, store)
    assert ended.code == 0, ended.err
    for part in (
        "Found in the question",
        "mention",
        "Routes",
        "record",
        "has_exact_id is false",
        "Retrieval, route",
        "local_graph",
        "sufficiency",
        "Plan of local_graph",
        "As Cypher",
        "MATCH",
        "Answers (1)",
        "Zoë Brandt",
        "Evidence (",
        "e2 by svc-ledger[0:38]",
        "Times",
        "parse",
    ):
        assert part in ended.out, part


def test_explain_as_json_is_the_record_with_the_evidence(run: Any, store: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    found = json.loads(explain(run, store, "--json", "--log", log).out)
    assert found["text"]["question"] == WHO
    assert found["text"]["answers"] == [{"id": "person:zoe", "display": "Zoë Brandt"}]
    assert found["evidence"]["edges"] == ["e2"]
    assert found["evidence"]["shown"][0]["hops"][0]["supports"][0]["source"] == "svc-ledger"
    assert found["prompt"]["text"]
    assert "operator" not in found
    kept = json.loads(log.read_text(encoding="utf-8"))
    assert "text" not in kept
    assert kept["run"] == found["run"]
    assert kept["attempts"][0]["route"] == found["attempts"][0]["route"]
    for word in ("ledger?", "Zo\\u00eb", "Brandt"):
        assert word not in log.read_text()


def test_the_hidden_document_is_as_if_absent(run: Any, store: Path, dataset: Path, tmp_path: Path) -> None:
    """The same question to the same reader over a store that never had the hidden document."""
    folder = tmp_path / "without"
    shutil.copytree(dataset, folder)
    lines = (folder / "docs.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "docs.jsonl").write_text("".join(line for line in lines if "Nightfall" not in line), encoding="utf-8")
    other = tmp_path / "without.sqlite"
    ontology = dataset.parent / "ontology.yaml"
    run("ingest", folder, "--store", other, "--ontology", ontology, "--no-vectors", "--quiet")

    def answer(path: Path, *labels: str) -> Any:
        ended = explain(run, path, "--json", "--reader", "r", *labels, question="What is project Nightfall?")
        found = json.loads(ended.out)
        del found["run"], found["seconds"]
        for attempt in found["attempts"]:
            for result in attempt["results"]:
                del result["seconds"]
        return found

    assert answer(store) == answer(other)
    assert answer(store, "--label", "board") != answer(other, "--label", "board")


def test_documents_cannot_move_the_cursor(run: Any, store: Path) -> None:
    ended = explain(run, store, question="Show CHG-482")
    assert "certificate" in ended.out
    assert "\x1b" not in ended.out


def test_an_unknown_label_is_warned_of_and_opens_nothing(run: Any, store: Path) -> None:
    for label in ("*", "Public", "public ", "nobody"):
        ended = run("explain", WHO, "--store", store, "--reader", "r", "--label", label)
        assert ended.code == 0
        assert f"label {label!r} opens nothing" in ended.err
        assert "Brandt" not in ended.out
    assert "opens nothing" not in explain(run, store).err


@pytest.mark.parametrize("question", ["", "   ", "x" * 8_001])
def test_questions_that_cannot_be_asked(question: str, run: Any, store: Path) -> None:
    assert explain(run, store, question=question).code == 2


def test_a_bad_day_is_a_usage_error(run: Any, store: Path) -> None:
    ended = explain(run, store, "--as-of", "2024-02-30")
    assert ended.code == 2
    assert "2024-02-30" in ended.err


def test_ask_without_an_endpoint_prints_the_prompt_and_says_so(run: Any, store: Path) -> None:
    ended = run("ask", WHO, "--store", store, "--public")
    assert ended.code == 0
    assert "no chat model is configured; this is the prompt" in ended.err
    assert "Zoë Brandt" in ended.out
    found = json.loads(run("ask", WHO, "--store", store, "--public", "--json").out)
    assert found["answer"]["generated"] is False
    assert WHO in found["answer"]["prompt"]


def test_eval_writes_results_and_a_report(run: Any, store: Path, dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = run("eval", dataset, "--store", store, "--systems", "lexical,graph_only", "--out", out)
    assert ended.code == 0, ended.err
    assert sorted(path.name for path in out.glob("*.jsonl")) == ["graph_only.results.jsonl", "lexical.results.jsonl"]
    rows = [json.loads(line) for line in (out / "graph_only.results.jsonl").read_text().splitlines()]
    assert rows[0]["answers"] == [{"id": "person:zoe", "display": "Zoë Brandt"}]
    assert (out / "report.md").exists()
    assert "lexical: 2 in " in ended.err
    unknown = run("eval", dataset, "--store", store, "--systems", "lexicl", "--out", out)
    assert unknown.code == 3


@pytest.mark.parametrize(
    ("question", "route", "retrievers"),
    [
        ("Don't count them, just show CHG-482", "record", {"identifier"}),
        ('what does the runbook mean by "how many hops between all teams"?', "passages", {"lexical"}),
        ("list CHG-482 and also how many services per person", "record_and_facts", {"identifier", "local_graph"}),
    ],
)
def test_words_out_of_scope_do_not_choose_the_route(
    question: str, route: str, retrievers: set[str], run: Any, store: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    found = json.loads(explain(run, store, "--json", "--log", log, question=question).out)
    kept = json.loads(log.read_text(encoding="utf-8"))
    assert kept["attempts"][0]["route"] == found["attempts"][0]["route"] == route
    assert retrievers <= {result["retriever"] for result in kept["attempts"][0]["results"]}
    assert all(cue["rule"] and cue["span"][0] < cue["span"][1] for cue in kept["question"]["cues"])
    assert kept["question"]["cues"]
