"""`graphroute ontology`: infers an ontology from data, or writes out the one that a store keeps."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import click

from graphroute.cli import output
from graphroute.cli.options import FilePath, common, store_place
from graphroute.types.ontology import Ontology


@click.group("ontology")
def ontology() -> None:
    """Infer and write out an ontology."""


@ontology.command("infer")
@click.argument("place", type=store_place, metavar="DIR|STORE")
@click.option("--out", type=FilePath, help="Write to this file instead of standard output.")
@click.option("--quiet", is_flag=True, help="No progress.")
@common
def infer(place: str | Path, out: Path | None, quiet: bool, as_json: bool) -> None:
    """Infer an ontology from a dataset directory, or write out the one kept in a store, to be edited and given back."""
    from graphroute.ontology.load import dump_ontology

    found = _from_directory(place, quiet=quiet) if isinstance(place, Path) and place.is_dir() else _from_store(place)
    text = dump_ontology(found)
    if out is not None:
        temporary = out.with_name(f"{out.name}.tmp")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, out)
    if as_json:
        output.write_json(
            {
                "inferred": found.inferred,
                "types": sorted(found.types),
                "relations": sorted(found.relations),
                "restricted": _restricted(found),
                "out": str(out) if out is not None else None,
                "yaml": text,
            }
        )
        return
    for name in _restricted(found):
        output.warn(f"{name} is proved by restricted sources only; confirm that its name may be known to all")
    if out is None:
        output.write(text.rstrip("\n"))
    else:
        output.note(f"{len(found.types)} types and {len(found.relations)} relations written to {out}")


def _restricted(found: Ontology) -> list[str]:
    types = [item.name for item in found.types.values() if item.restricted]
    return sorted([*types, *(item.name for item in found.relations.values() if item.restricted)])


def _from_directory(directory: Path, *, quiet: bool) -> Ontology:
    from graphroute.indexing.dataset import read_dataset
    from graphroute.indexing.ontology_inference import ProfileBuilder, infer_ontology
    from graphroute.indexing.survey import survey_dataset

    dataset = read_dataset(directory)
    profile = ProfileBuilder(default_labels=dataset.default_labels)
    with output.Progress(quiet=quiet) as bar:
        bar.start("check", None)
        survey = survey_dataset(
            dataset, on_document=profile.add_source, on_edge=profile.add_assertion, on_row=bar.advance
        )
        for entity_id in sorted(survey.entities):
            notes = survey.entities[entity_id]
            if notes.rows:
                profile.add_entity(entity_id, notes.types, notes.names)
        bar.finish()
    return infer_ontology(profile)


def _from_store(place: str | Path) -> Ontology:
    from graphroute.errors import DataError
    from graphroute.stores.opening import StorePlan, open_stores

    if isinstance(place, Path) and not place.exists():
        raise DataError("no such directory or store", where=str(place))
    with closing(open_stores(StorePlan.of(place, {}))) as stores:
        return stores.catalog.ontology()
