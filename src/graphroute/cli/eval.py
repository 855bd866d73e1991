"""`graphroute eval`: measures compared systems over a question file."""

from __future__ import annotations

from pathlib import Path

import click

from graphroute.cli import output
from graphroute.cli.options import FilePath, common, store_option
from graphroute.errors import UsageError

SYSTEMS = "evals/systems"


@click.command("eval")
@click.argument("directory", type=FilePath, metavar="DIR")
@store_option(required=True)
@click.option("--questions", type=FilePath, help="A question file instead of those in DIR.")
@click.option("--systems", "names", metavar="A,B,...", help="Names of routes files; all if left out.")
@click.option("--systems-dir", type=FilePath, help="Folder of the routes files; the shipped ones if left out.")
@click.option("--out", type=FilePath, required=True, help="Folder for the results and the report.")
@click.option("--ontology", type=FilePath, help="Ontology instead of the one in the store.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The first N questions only.")
@click.option("--record-bundles", is_flag=True, help="Keep the evidence bundles too, for graphroute formats bench.")
@click.option("--quiet", is_flag=True, help="No progress.")
@common
def evaluate_systems(
    directory: Path,
    store: str | Path,
    questions: Path | None,
    names: str | None,
    systems_dir: Path | None,
    out: Path,
    ontology: Path | None,
    limit: int | None,
    record_bundles: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run compared systems over the questions of DIR and write results and a report per family and per route."""
    from graphroute.evaluation.runner import evaluate
    from graphroute.resources import resource

    folder = systems_dir if systems_dir is not None else resource(SYSTEMS)
    if names is None:
        systems = sorted(path.stem for path in folder.glob("*.yaml"))
    else:
        systems = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not systems:
        raise UsageError("no system to measure", where=str(folder), hint="name some with --systems A,B")
    with output.Progress(quiet=quiet) as bar:
        current, done = "", 0

        def progress(system: str, answered: int, total: int) -> None:
            nonlocal current, done
            if system != current:
                if current:
                    bar.finish()
                bar.start(system, total)
                current, done = system, 0
            bar.advance(answered - done)
            done = answered

        report = evaluate(
            directory,
            store,
            questions=questions,
            systems=systems,
            systems_dir=folder,
            out=out,
            limit=limit,
            ontology=ontology,
            record_bundles=record_bundles,
            progress=progress,
        )
        if current:
            bar.finish()
    if as_json:
        output.write_json(report.to_json())
    else:
        output.write(report.to_markdown())
        output.note(f"written to {out}")
