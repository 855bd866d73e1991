"""A small dataset, its store, and a way to run commands."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from graphroute.cli.main import main


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process as the shell would."""

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main.main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return Outcome(code, said.out, said.err)

    return call


DOCUMENTS = [
    {
        "doc_id": "svc-pay",
        "kind": "service",
        "title": "Payments → Ledger",
        "text": "Service pay is owned by Фёдор Ким.",
        "labels": ["public"],
    },
    {
        "doc_id": "svc-ledger",
        "kind": "service",
        "title": "Ledger",
        "text": "Service ledger is owned by Zoë Brandt.",
        "labels": ["public"],
    },
    {
        "doc_id": "chg-482",
        "kind": "change",
        "title": "CHG-482",
        "text": "CHG-482 renews the certificate of the ledger database.\x1b[2J",
        "labels": ["public"],
    },
    {
        "doc_id": "secret",
        "kind": "note",
        "title": "Acquisition",
        "text": "Project Nightfall buys the ledger team.",
        "labels": ["board"],
    },
]
EDGES = [
    {
        "edge_id": "e1",
        "s": "service:pay",
        "r": "OWNED_BY",
        "o": "person:fedor",
        "source_id": "svc-pay",
        "source_span": [0, 34],
    },
    {
        "edge_id": "e2",
        "s": "service:ledger",
        "r": "OWNED_BY",
        "o": "person:zoe",
        "source_id": "svc-ledger",
        "source_span": [0, 38],
    },
    {
        "edge_id": "e3",
        "s": "change:CHG-482",
        "r": "TOUCHES",
        "o": "service:ledger",
        "source_id": "chg-482",
        "source_span": [0, 20],
    },
]
ENTITIES = [
    {"id": "person:fedor", "type": "person", "names": ["Фёдор Ким"]},
    {"id": "person:zoe", "type": "person", "names": ["Zoë Brandt"]},
    {"id": "service:pay", "type": "service", "names": ["pay"]},
    {"id": "service:ledger", "type": "service", "names": ["ledger"]},
    {"id": "change:CHG-482", "type": "change", "names": ["CHG-482"]},
]
QUESTIONS = [
    {"qid": "q1", "family": "bounded_path", "question": "Who owns ledger?", "answer": ["Zoë Brandt"], "answerable": True, "required_sources": ["svc-ledger"], "required_edges": ["e2"], "reader": "agent", "topic_entities": ["service:ledger"]},
    {"qid": "q2", "family": "exact_id", "question": "Show CHG-482", "answer": [], "answerable": True, "required_sources": ["chg-482"], "reader": "agent"},
]  # fmt: skip
ONTOLOGY = """\
types:
  service: {nouns: [service]}
  person: {nouns: [person], agent: true}
  change: {nouns: [change], patterns: ["CHG-[0-9]+"]}
relations:
  OWNED_BY: {from: service, to: person, complete: true, inverse: [own], object_nouns: [owner]}
  TOUCHES: {from: change, to: service, kind: event, forward: [touch]}
"""


def write_dataset(folder: Path) -> Path:
    folder.mkdir()
    (folder / "dataset.yaml").write_text(
        "name: small\nlicence: CC0-1.0\ndefault_labels: [public]\nas_of: 2024-05-01\nreaders:\n  agent: [public]\n",
        encoding="utf-8",
    )
    for name, rows in (
        ("docs.jsonl", DOCUMENTS),
        ("edges.jsonl", EDGES),
        ("entities.jsonl", ENTITIES),
        ("questions.dev.jsonl", QUESTIONS),
    ):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder.parent / "ontology.yaml").write_text(ONTOLOGY, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small dataset."""
    return write_dataset(tmp_path_factory.mktemp("cli") / "small")


@pytest.fixture(scope="session")
def store(dataset: Path) -> Path:
    """A store of the small dataset, without vectors."""
    path = dataset.parent / "small.sqlite"
    ontology = dataset.parent / "ontology.yaml"
    main.main(
        ["ingest", str(dataset), "--store", str(path), "--ontology", str(ontology), "--no-vectors", "--quiet"],
        standalone_mode=False,
    )
    return path
