"""Ingests the bundled corpus and asks the questions of its demo.yaml for each of its readers, in one process."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphroute import GraphRoute, Reader, Trace
from graphroute.cli import output
from graphroute.errors import DataError
from graphroute.evaluation.dataset import Dataset, load_dataset
from graphroute.evaluation.question_set import Question
from graphroute.indexing.embedding import VectorCache
from graphroute.indexing.ingest import ingest
from graphroute.models.embedders import load_embedder
from graphroute.ontology.load import load_ontology
from graphroute.stores.database import Database
from graphroute.strict_yaml import read_strict
from graphroute.types.evidence import EvidenceBundle, EvidenceUnit
from graphroute.types.graph import Direction
from graphroute.types.graph import Path as Trail

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path("evals/datasets/meridian")
STORE = Path(".graphroute/demo.sqlite")
SHOWN = 2
"""Units of evidence shown for each question."""
WIDTH = 150


def command(*arguments: str) -> None:
    """The command that does the same."""
    output.write(f"$ graphroute {shlex.join(arguments)}")


def prepare(store: Path = STORE, *, vectors: bool = True) -> None:
    """Brings the demo store up to date; what is there already is not made again."""
    demo: dict[str, Any] = read_strict(ROOT / FOLDER / "demo.yaml").value
    store.parent.mkdir(parents=True, exist_ok=True)
    try:
        Database(store).close()
    except DataError:
        # Of another version's format. Everything in it is made anew from the corpus.
        for part in store.parent.glob(f"{store.name}*"):
            part.unlink()
    with output.Progress() as bar, VectorCache() as cache:
        report = ingest(
            ROOT / FOLDER,
            store,
            ontology=load_ontology(ROOT / demo["ontology"]),
            vectors=vectors,
            embedder=load_embedder() if vectors else None,
            cache=cache,
            progress=bar,
        )
    command("ingest", str(FOLDER), "--store", str(STORE), "--ontology", demo["ontology"])
    output.write(
        f"{report.documents} documents, {report.assertions} assertions and {report.entities} entities"
        f" {'read' if report.changed else 'are there already'}; {report.embedded} vectors made, {report.reused} reused"
    )


def readers(dataset: Dataset, demo: dict[str, Any]) -> Iterator[Reader]:
    """The readers of the demo with the labels that dataset.yaml gives them."""
    for name in demo["readers"]:
        yield dataset.reader(Question(qid="demo", text="demo", reader_id=name))


def show(trace: Trace) -> None:
    """Route, answers and the first pieces of evidence."""
    bundle, attempts = trace.bundle, trace.attempts
    for name, why in attempts[0].decision.rejected:
        output.write(f"  not {name}: {why}")
    for attempt in attempts:
        how = "fallback " if attempt.decision.fallback_from else ""
        output.write(
            f"  {how}route {attempt.decision.route}: {attempt.decision.reason};"
            f" sufficiency {attempt.sufficiency.score:.2f}, {attempt.sufficiency.threshold:g} needed"
        )
    for plan in (result.plan[0] for attempt in attempts for result in attempt.results if result.plan):
        output.write(f"  plan {plan}")
    if bundle.abstained:
        output.write(f"  NO ANSWER: {bundle.reason}")
    elif bundle.answers:
        output.write(f"  ANSWER: {', '.join(answer.display for answer in bundle.answers)}")
    else:
        output.write("  no answer from facts; the passages are the evidence")
    tokens = trace.serialized.tokens if trace.serialized else 0
    output.write(f"  evidence: {len(bundle.units)} units, {tokens} tokens")
    for unit in bundle.units[:SHOWN]:
        for line in unit_lines(unit, bundle):
            output.write(f"    {line}")
    for item in bundle.degraded:
        output.write(f"  degraded: {item.stage}, {item.reason}")
    output.write(f"  {sum(trace.seconds.values()) * 1000:.0f} ms")


def unit_lines(unit: EvidenceUnit, bundle: EvidenceBundle) -> Iterator[str]:
    """A piece of evidence and where it comes from."""
    if unit.path is not None:
        yield f"[{unit.id}] {trail(unit.path, bundle)}"
        for hop in unit.path.hops:
            for support in (s for edge in hop.fact.assertion_ids for s in bundle.supports.get(edge, ())):
                span = support.span
                yield f"     {hop.fact.predicate} stands in {span.source_id}[{span.start}:{span.end}]"
    elif unit.passage is not None:
        passage = unit.passage
        yield f"[{unit.id}] {passage.source_id}[{passage.start}:{passage.end}] {output.one_line(passage.title, WIDTH)}"
        yield f"     {output.one_line(passage.text, WIDTH)}"
    elif unit.report is not None:
        yield f"[{unit.id}] {output.one_line(unit.report.title, WIDTH)}, from {len(unit.report.source_ids)} sources"


def trail(path: Trail, bundle: EvidenceBundle) -> str:
    """A path with the direction of every fact."""

    def name(entity_id: str) -> str:
        return bundle.entities[entity_id].name if entity_id in bundle.entities else entity_id

    text = name(path.start)
    for hop in path.hops:
        forward = hop.direction is Direction.FORWARD
        text += f" -{hop.fact.predicate}-> " if forward else f" <-{hop.fact.predicate}- "
        text += name(hop.end)
    return text


def main() -> int:
    """Runs the demo."""
    begun = time.monotonic()
    prepare(ROOT / STORE)
    demo: dict[str, Any] = read_strict(ROOT / FOLDER / "demo.yaml").value
    dataset = load_dataset(ROOT / FOLDER)
    with GraphRoute.open(ROOT / STORE) as router:
        output.write(f"today is {router.settings['as_of']} in this corpus")
        for number, entry in enumerate(demo["questions"], 1):
            output.write(f"\n{number}. {entry['question']}")
            for reader in readers(dataset, demo):
                labels = [part for label in sorted(reader.labels) for part in ("--label", label)]
                output.write(f"\nasked by {reader.id}")
                command("explain", entry["question"], "--store", str(STORE), "--reader", reader.id, *labels)
                show(router.ask(entry["question"], reader=reader))
    output.write("\n`explain` shows everything that was found and left out, `ask` prints the prompt for a model.")
    output.write(f"{time.monotonic() - begun:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
