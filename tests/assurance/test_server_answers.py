"""Graph and catalog on Neo4j give every question of a real set what the embedded stores give, to the byte."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from graphroute.config.load import load_routes
from graphroute.config.model import StoresConfig
from graphroute.evaluation.dataset import load_dataset
from graphroute.evaluation.question_set import load_questions, question_files
from graphroute.indexing.ingest import ingest
from graphroute.ontology.load import load_ontology
from graphroute.pipeline.engine import GraphRoute
from graphroute.resources import resource
from graphroute.stores.database import Database
from graphroute.stores.neo4j.migrate import migrate
from graphroute.stores.neo4j.replica import Neo4jReplica
from graphroute.testing.whole_path import PATIENT, outputs

REAL = Path(os.environ.get("GRAPHROUTE_REALDATA") or Path(__file__).parents[3] / "shared" / "data")
ONTOLOGIES = Path(__file__).parents[2] / "evals" / "ontologies"
LONG = os.environ.get("GRAPHROUTE_ASSURE") == "1"
SYSTEMS = ("graph_only", "routed_hybrid")

Lease = Callable[..., AbstractContextManager[Any]]


@pytest.fixture(scope="module", params=["5.26", "2026"])
def server(request: pytest.FixtureRequest, neo4j_lease: Lease) -> Iterator[Any]:
    with neo4j_lease(request.param, migrated=True) as found:
        yield found


def _first_difference(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """The first output that differs, from a little before the place; an error that only one of them has."""
    for side in (ours, theirs):
        if "error" in side:
            return f"error: {side['error']}"
    name = next(key for key in [*ours, *theirs] if ours.get(key) != theirs.get(key))
    one, other = ours.get(name, ""), theirs.get(name, "")
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    at = max(0, same - 80)
    return f"{name}: {one[at : at + 240]!r} against {other[at : at + 240]!r}"


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["e_k8s_org", "e_tau2_banking"])
def test_the_evidence_is_the_same(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    folder = REAL / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    server.wipe(migrated=True)
    for key, value in server.environment().items():
        monkeypatch.setenv(key, value)
    file = tmp_path / "store.sqlite"
    ingest(folder, file, ontology=load_ontology(ONTOLOGIES / f"{name}.yaml"), vectors=False)
    with server.connect() as connection, Database(file) as database:
        migrate(connection, [384])
        Neo4jReplica(connection, database).replicate()
    dataset = load_dataset(folder)
    asked = load_questions(question_files(folder), None)
    step = 1 if LONG else max(1, len(asked) // 12)
    mixed = StoresConfig(catalog="neo4j", graph="neo4j", neo4j=server.uri)
    differing: list[str] = []
    compared = 0
    for system in SYSTEMS:
        config = load_routes(resource("evals/systems") / f"{system}.yaml")
        config = config.model_copy(update={"deadlines": PATIENT.deadlines})
        with (
            GraphRoute.open(file, routes=config) as embedded,
            GraphRoute.open(file, routes=config.model_copy(update={"stores": mixed})) as served,
        ):
            for question in asked[::step]:
                given = {"reader": dataset.reader(question), "as_of": dataset.day(question) or "2026-06-01"}
                compared += 1
                ours, theirs = outputs(embedded, question.text, **given)[0], outputs(served, question.text, **given)[0]
                if ours != theirs:
                    differing.append(f"{system} {question.qid}: {_first_difference(ours, theirs)}")
    assert compared >= 2 * (len(asked) if LONG else 12)
    assert not differing, "\n".join(differing)
