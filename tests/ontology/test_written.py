"""The ontologies written for the evaluation sets: short, valid, and about nothing that the sets do not have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphroute.indexing.dataset import read_dataset
from graphroute.ontology.load import load_ontology

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "evals" / "ontologies").glob("*.yaml"))
DATA = Path(os.environ.get("GRAPHROUTE_REALDATA", ROOT.parent / "shared" / "data"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_is_valid_and_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 80
    ontology = load_ontology(path)
    assert ontology.relations
    assert not ontology.inferred


@pytest.mark.realdata
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_names_only_what_the_data_has(path: Path) -> None:
    directory = DATA / path.stem
    if not directory.is_dir():
        pytest.skip(f"no data set at {directory}")
    ontology = load_ontology(path)
    dataset = read_dataset(directory)
    predicates: set[str] = set()
    types: set[str] = set()
    prefixes: set[str] = set()
    for edge in dataset.edges():
        predicates.add(edge.assertion.predicate)
        prefixes.update(end.partition(":")[0] for end in (edge.assertion.subject, edge.assertion.object))
    for row in dataset.entities():
        types.update(row.types)
    kinds = {document.source.kind or "" for document in dataset.documents()}
    assert set(ontology.relations) == predicates
    for name, entity_type in ontology.types.items():
        assert name in types or (entity_type.prefix or name) in prefixes, name
    assert {record.kind for record in ontology.records} <= kinds
