"""Runs compared systems over a question set, a line a question, and goes on where an earlier run stopped."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Protocol

from graphroute.config.load import load_routes
from graphroute.config.model import RoutesConfig, StoresConfig
from graphroute.errors import ConfigurationError, DataError, GraphRouteError
from graphroute.evaluation.bundles import SUFFIX, dump_bundle, recorded_qids
from graphroute.evaluation.dataset import Dataset, load_dataset
from graphroute.evaluation.question_set import Question, load_questions, question_files
from graphroute.evaluation.report import Report
from graphroute.evaluation.result import Result, dump_result, load_results, result_of
from graphroute.evaluation.scoring import score
from graphroute.pipeline.assembly import open_place
from graphroute.pipeline.engine import GraphRoute
from graphroute.stores.opening import Place, StorePlan
from graphroute.types.reader import Reader
from graphroute.types.trace import Trace

Progress = Callable[[str, int, int], None]
"""Called with the system's name, questions done and questions in all."""


class System(Protocol):
    """What is measured: the whole question path short of a model."""

    def explain(self, question: str, *, reader: Reader, as_of: str | None = None) -> Trace:
        """The finished trace of one question."""
        ...


def evaluate(
    dataset_dir: Path,
    store: Place,
    *,
    questions: Path | None = None,
    systems: Sequence[str],
    systems_dir: Path,
    out: Path,
    limit: int | None = None,
    ontology: Path | None = None,
    stores: StoresConfig | None = None,
    record_bundles: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Runs each system over the questions and writes `<system>.results.jsonl`, report.json and report.md to `out`.

    `systems` are names of routes files in `systems_dir`. `questions` None: the dataset's own question files. `limit`: the
    first so many. `ontology` and `stores` take the place of what the store and the routes files say. An interrupted run is continued if nothing it depends on has changed, else begun anew. A question
    that raises gets no result; the message is in the report. `record_bundles`: also write `<system>.bundles.jsonl`, evidence text included; a question
    without a recorded bundle is then asked again.
    """
    dataset = load_dataset(dataset_dir)
    asked = load_questions([questions] if questions is not None else question_files(dataset_dir), limit)
    routes = {name: _routes_file(systems_dir, name) for name in systems}
    out.mkdir(parents=True, exist_ok=True)
    scores, runs, errors = {}, {}, {}
    for name, path in routes.items():
        target = out / f"{name}.results.jsonl"
        config = load_routes(path)
        if stores is not None:
            config = config.model_copy(update={"stores": stores})
        run = {
            "routes": _digest(path.read_bytes()),
            "store": _state(store, config, ontology),
            "ontology": _digest(ontology.read_bytes()) if ontology is not None else "",
        }
        done = _resume(target, run, {question.qid: _inputs(dataset, question) for question in asked})
        record = None
        if record_bundles:
            record = out / f"{name}{SUFFIX}"
            recorded = _recorded(record, done)
            done = {qid: result for qid, result in done.items() if qid in recorded}
        with GraphRoute.open(store, routes=config, ontology=ontology) as system:
            if any(question.qid not in done for question in asked):
                _warm_up(system, asked[0], dataset)
            results, errors[name] = run_system(
                name, system, dataset, asked, target, done=done, record=record, progress=progress
            )
        scores[name] = score(dataset, asked, results)
        runs[name] = run
    report = Report(dataset=dataset.name, questions=asked, systems=scores, runs=runs, errors=errors)
    _replace(out / "report.json", report.dumps())
    _replace(out / "report.md", report.to_markdown())
    return report


def run_system(
    name: str,
    system: System,
    dataset: Dataset,
    questions: Sequence[Question],
    target: Path,
    *,
    done: Mapping[str, Result],
    record: Path | None = None,
    progress: Progress | None = None,
) -> tuple[dict[str, Result], dict[str, str]]:
    """Asks what is not `done`, appending a line as each is answered; at the end the file holds the questions in order.

    `record`: a file that gets the bundle of each question asked.
    """
    results = {question.qid: done[question.qid] for question in questions if question.qid in done}
    errors: dict[str, str] = {}
    _replace(target, "".join(dump_result(result) + "\n" for result in results.values()))
    with target.open("a", encoding="utf-8") as stream:
        for number, question in enumerate(questions, start=1):
            if question.qid not in results:
                try:
                    trace, latency = _asked(system, question, dataset)
                    if record is not None:
                        _append(record, dump_bundle(question, trace.bundle))
                    results[question.qid] = result_of(question.qid, trace, latency)
                except GraphRouteError as error:
                    errors[question.qid] = f"{type(error).__name__}: {error}"
                else:
                    stream.write(dump_result(results[question.qid]) + "\n")
                    stream.flush()
            if progress is not None:
                progress(name, number, len(questions))
    ordered = {question.qid: results[question.qid] for question in questions if question.qid in results}
    _replace(target, "".join(dump_result(result) + "\n" for result in ordered.values()))
    return ordered, errors


def ask(system: System, question: Question, dataset: Dataset) -> Result:
    """One question with its reader and its day; nothing else of the question reaches the system."""
    trace, latency = _asked(system, question, dataset)
    return result_of(question.qid, trace, latency)


def _asked(system: System, question: Question, dataset: Dataset) -> tuple[Trace, float]:
    """The trace and the milliseconds it took."""
    reader = dataset.reader(question)
    begun = time.perf_counter()
    trace = system.explain(question.text, reader=reader, as_of=dataset.day(question))
    return trace, (time.perf_counter() - begun) * 1000.0


def _warm_up(system: System, question: Question, dataset: Dataset) -> None:
    """Asks once and forgets it: models and arrays are loaded before anything is timed or can miss its deadline for it."""
    with suppress(GraphRouteError):
        ask(system, question, dataset)


def _routes_file(systems_dir: Path, name: str) -> Path:
    path = systems_dir / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(entry.stem for entry in systems_dir.glob("*.yaml")))
        raise ConfigurationError(f"unknown system {name!r}", where=str(systems_dir), allowed=known)
    return path


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _inputs(dataset: Dataset, question: Question) -> str:
    """Names what a system is given; a change of gold alone leaves a result valid."""
    reader = dataset.reader(question)
    given = [question.text, reader.id, sorted(reader.labels), dataset.day(question)]
    return _digest(json.dumps(given).encode())


def _state(store: Place, config: RoutesConfig, ontology: Path | None) -> str:
    """Names the content of a store: a file by its size and time, a server by the snapshot that is published there."""
    plan = StorePlan.of(store, config.stores.model_dump())
    stated = json.dumps(config.stores.model_dump(), sort_keys=True)
    if plan.file is None:
        with closing(open_place(store, config, ontology=ontology)) as stores:
            view = stores.catalog.view(reader=Reader("eval", ["public"]))
            return _digest(f"{store} {stated} {view.sequence}:{view.token}".encode())
    try:
        status = plan.file.stat()
    except OSError as error:
        raise DataError("no such store", where=str(store), hint="run `graphroute ingest` first") from error
    return _digest(f"{stated} {status.st_size}:{status.st_mtime_ns}".encode())


def _resume(target: Path, run: Mapping[str, str], inputs: Mapping[str, str]) -> dict[str, Result]:
    """Results of an earlier run with the same routes and store, for questions whose inputs are the same.

    A torn last line is dropped. `<system>.run.json` keeps what the results depend on.
    """
    state = target.with_name(target.name.replace(".results.jsonl", ".run.json"))
    before = _read_state(state)
    same = {key: before.get(key) for key in run} == dict(run)
    kept = before.get("inputs", {}) if same else {}
    _replace(state, json.dumps({**run, "inputs": {**kept, **inputs}}, indent=1) + "\n")
    if not same:
        target.unlink(missing_ok=True)
        return {}
    if target.exists():
        text = target.read_bytes()
        target.write_bytes(text[: text.rfind(b"\n") + 1])
    return {qid: result for qid, result in load_results(target).items() if kept.get(qid) == inputs.get(qid)}


def _recorded(path: Path, done: Mapping[str, Result]) -> frozenset[str]:
    """Questions with a recorded bundle; those of an earlier run that no longer count are taken out of the file."""
    qids = recorded_qids(path)
    if path.exists() and not qids <= done.keys():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        _replace(path, "".join(line for line in lines if json.loads(line).get("qid") in done))
    return qids & done.keys()


def _append(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")


def _read_state(state: Path) -> dict[str, Any]:
    if not state.exists():
        return {}
    try:
        found = json.loads(state.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _replace(path: Path, text: str) -> None:
    """Writes the whole file or nothing."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
