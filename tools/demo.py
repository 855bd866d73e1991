"""Ingests the bundled corpus, then explains and answers the questions of its demo.yaml for each of its readers."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Any

import click

from graphroute.cli.main import main as graphroute
from graphroute.evaluation.dataset import Dataset, load_dataset
from graphroute.evaluation.question_set import Question
from graphroute.strict_yaml import read_strict

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT / ".graphroute" / "demo.sqlite"


def run(*arguments: str) -> None:
    """Shows the command and runs it in this process."""
    click.secho(f"\n$ graphroute {shlex.join(arguments)}", bold=True)
    graphroute.main(list(arguments), standalone_mode=False)


def corpus() -> Path:
    """The bundled corpus: the data set that has a demo.yaml."""
    found = sorted(path.parent for path in (ROOT / "evals" / "datasets").glob("*/demo.yaml"))
    if not found:
        raise SystemExit("evals/datasets holds no corpus with a demo.yaml")
    return found[0]


def reader_options(dataset: Dataset, name: str) -> list[str]:
    """The command-line options that stand for a reader of dataset.yaml."""
    reader = dataset.reader(Question(qid="demo", text="demo", reader_id=name))
    return ["--reader", reader.id, *(part for label in sorted(reader.labels) for part in ("--label", label))]


def main() -> int:
    """Runs the demo."""
    begun = time.monotonic()
    folder = corpus()
    dataset = load_dataset(folder)
    demo: dict[str, Any] = read_strict(folder / "demo.yaml").value
    STORE.parent.mkdir(exist_ok=True)
    written = ["--ontology", demo["ontology"]] if "ontology" in demo else []
    run("ingest", str(folder.relative_to(ROOT)), "--store", str(STORE.relative_to(ROOT)), *written)
    for entry in demo["questions"]:
        day = entry.get("as_of") or dataset.as_of
        for reader in entry.get("readers") or demo["readers"]:
            rest = [entry["question"], "--store", str(STORE.relative_to(ROOT)), *reader_options(dataset, reader)]
            rest += ["--as-of", str(day)] if day else []
            run("explain", *rest)
            run("ask", *rest)
    click.secho(f"\n{len(demo['questions'])} questions in {time.monotonic() - begun:.1f} s", bold=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
