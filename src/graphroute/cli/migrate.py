"""`graphroute migrate`: brings the schema of a Neo4j database up to date, or says how far it is."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from graphroute.cli import output
from graphroute.cli.options import common
from graphroute.errors import UsageError

if TYPE_CHECKING:
    from graphroute.stores.neo4j.migrate import Status


@click.command()
@click.option("--store", required=True, envvar="GRAPHROUTE_STORE", show_envvar=True, help="neo4j://HOST[:PORT].")
@click.option("--status", "only_status", is_flag=True, help="Say what was applied and what is left; change nothing.")
@click.option("--dry-run", is_flag=True, help="Print the statements that would run; change nothing.")
@click.option(
    "--vector-size",
    "sizes",
    type=int,
    multiple=True,
    help="Size of the vectors; that of the default embedder if not given.",
)
@click.option("--similarity", default="cosine", show_default=True, help="Of the vector indexes: cosine or euclidean.")
@click.option("--quiet", is_flag=True, help="No progress.")
@common
def migrate(
    store: str, only_status: bool, dry_run: bool, sizes: tuple[int, ...], similarity: str, quiet: bool, as_json: bool
) -> None:
    """Bring the constraints and indexes of a Neo4j database up to date. What was applied is not applied again."""
    from graphroute.stores.neo4j import migrate as migrations
    from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings

    if only_status and dry_run:
        raise UsageError("--status and --dry-run exclude one another")
    if "://" not in store:
        raise UsageError("a store file needs no migration", where=store, allowed="neo4j://HOST[:PORT]")
    with Neo4jConnection(Neo4jSettings.from_environment(store)) as connection:
        wanted = sorted(set(sizes)) or [_default_size()]
        if only_status or dry_run:
            found = migrations.status(connection, wanted, similarity=similarity)
            if as_json:
                output.write_json(_as_json(found))
            else:
                _show(found, statements=dry_run)
            return
        with output.Progress(quiet=quiet) as bar:
            stage = ""

            def progress(name: str, done: int, total: int) -> None:
                nonlocal stage
                if name != stage:
                    if stage:
                        bar.finish()
                    bar.start(name, total)
                    stage = name
                bar.advance()

            report = migrations.migrate(connection, wanted, similarity=similarity, progress=progress)
            if stage:
                bar.finish()
    if as_json:
        output.write_json(asdict(report))
        return
    for name in report.applied:
        output.write(f"applied {name}")
    for name in report.repaired:
        output.write(f"made again {name}")
    if not report.applied and not report.repaired:
        output.write(f"{store} is up to date at {report.version:04}")


def _default_size() -> int:
    from graphroute.models.embedders import load_embedder

    return load_embedder().size


def _as_json(found: Status) -> dict[str, Any]:
    return {
        "version": found.version,
        "newest": found.newest,
        "current": found.current,
        "applied": list(found.applied),
        "pending": [
            {"migration": f"{step.migration.number:04}_{step.migration.name}", "vector_size": int(step.part) if step.part else None,
             "statements": list(step.statements)}
            for step in found.pending
        ],
        "defects": list(found.defects),
    }  # fmt: skip


def _show(found: Status, *, statements: bool) -> None:
    if statements:
        for step in found.pending:
            for statement in step.statements:
                output.write(f"{statement};")
        return
    rows = [["applied", name] for name in found.applied]
    rows += [
        ["pending", f"{step.migration.number:04}_{step.migration.name}" + (f" size {step.part}" if step.part else "")]
        for step in found.pending
    ]
    rows += [["defect", text] for text in found.defects]
    output.table(rows)
    output.write("up to date" if found.current else "run graphroute migrate without --status")
