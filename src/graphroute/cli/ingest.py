"""`graphroute ingest`: a dataset directory into a store."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphroute.cli import output
from graphroute.cli.options import FilePath, common, store_option

if TYPE_CHECKING:
    from graphroute.indexing.ingest import IngestReport


@click.command("ingest")
@click.argument("directory", type=FilePath, metavar="DIR")
@store_option(required=True)
@click.option("--ontology", type=FilePath, help="A written ontology; without one it is inferred and kept in the store.")
@click.option("--default-label", "default_labels", multiple=True, metavar="L", help="Label of documents without one.")
@click.option("--routes", type=FilePath, help="Routes file whose `stores:` names servers to copy the store to.")
@click.option("--no-vectors", is_flag=True, help="Make no vectors; vector search is then not available.")
@click.option("--skip-bad", is_flag=True, help="Put bad rows aside in STORE.quarantine.jsonl instead of stopping.")
@click.option("--prune", is_flag=True, help="Remove documents that are no longer in DIR.")
@click.option("--quiet", is_flag=True, help="No progress.")
@common
def ingest_directory(
    directory: Path,
    store: str | Path,
    ontology: Path | None,
    routes: Path | None,
    default_labels: tuple[str, ...],
    no_vectors: bool,
    skip_bad: bool,
    prune: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read the dataset in DIR, which is not changed, into a store. The same again changes nothing.

    With the address of a Neo4j server the store is there; a working copy of it stays on this machine, and is fetched when it is lost.
    """
    from graphroute.config.load import load_routes
    from graphroute.indexing.ingest import ingest
    from graphroute.stores.opening import StorePlan
    from graphroute.stores.replication import replication, working_copy

    written = None
    if ontology is not None:
        from graphroute.ontology.load import load_ontology

        written = load_ontology(ontology)
    plan = StorePlan.of(store, load_routes(routes).stores.model_dump())
    file = plan.file or working_copy(str(store))
    file.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        bar = stack.enter_context(output.Progress(quiet=quiet))
        embedder = cache = None
        if not no_vectors:
            from graphroute.indexing.embedding import VectorCache
            from graphroute.models.embedders import load_embedder

            embedder = load_embedder()
            cache = stack.enter_context(VectorCache())
        sizes = [embedder.size] if embedder is not None else []
        copies = stack.enter_context(replication(plan, file=file, vector_sizes=sizes)) if plan.servers else None
        report = ingest(
            directory,
            file,
            ontology=written,
            default_labels=default_labels,
            vectors=not no_vectors,
            embedder=embedder,
            cache=cache,
            skip_bad=skip_bad,
            prune=prune,
            progress=bar,
            copies=copies,
        )
    if as_json:
        output.write_json(asdict(report))
    else:
        _show(report)


def _show(report: IngestReport) -> None:
    for text in report.warnings:
        output.warn(text)
    for reason, count in report.hidden.items():
        output.warn(f"{count} documents nobody may read: {reason}")
    for name, count in report.unmapped.items():
        output.warn(f"{count} rows left out: {name} is not in the ontology")
    if report.bad_rows:
        output.warn(f"{report.bad_rows} bad rows put aside in {report.quarantine}")
    state = "ingested" if report.changed else "unchanged"
    output.write(
        f"{report.dataset}: {state} in {report.seconds:.1f} s ({report.rows_per_second:.0f} rows/s), {report.store}"
    )
    vectors = f"{report.embedded} made, {report.reused} reused ({report.embedder})" if report.embedder else "none"
    output.table(
        [
            [
                "documents",
                f"{report.documents} ({report.documents_changed} changed, {report.documents_removed} removed)",
            ],
            ["passages", f"{report.passages}"],
            ["assertions", f"{report.assertions}"],
            ["entities", f"{report.entities}"],
            ["attributes", f"{report.attributes} from {report.records} records"],
            ["vectors", vectors],
            ["ontology", "inferred" if report.ontology_inferred else "written"],
        ]
    )
