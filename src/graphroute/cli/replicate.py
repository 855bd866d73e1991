"""`graphroute replicate`: brings the servers that a routes file names to a store file, without ingesting anything."""

from __future__ import annotations

from pathlib import Path

import click

from graphroute.cli import output
from graphroute.cli.options import FilePath, common, store_option
from graphroute.errors import DataError, UsageError


@click.command()
@store_option(required=True)
@click.option("--routes", type=FilePath, help="Routes file whose `stores:` names the servers.")
@click.option("--quiet", is_flag=True, help="No progress.")
@common
def replicate(store: str | Path, routes: Path | None, quiet: bool, as_json: bool) -> None:
    """Copy a store to the servers that `stores:` of the routes file names. Where nothing changed nothing is copied."""
    from graphroute.config.load import load_routes
    from graphroute.stores.database import Database
    from graphroute.stores.opening import StorePlan
    from graphroute.stores.replication import replication, working_copy
    from graphroute.stores.writer import SnapshotWriter

    plan = StorePlan.of(store, load_routes(routes).stores.model_dump())
    if not plan.servers:
        raise UsageError(
            "no server is named", hint="say which under stores: in a routes file and give it with --routes"
        )
    file = plan.file or working_copy(str(store))
    with output.Progress(quiet=quiet) as bar, replication(plan, file=file) as copies:
        if not file.exists():
            raise DataError("no such store", where=str(file), hint="run graphroute ingest DIR --store PATH first")
        with Database(file) as database:
            writer = SnapshotWriter(database)
            writer.begin()
            # Without a change this publishes what an interrupted ingest had staged, and else nothing.
            sequence = writer.publish(lambda: copies.copy(database, bar))
    if as_json:
        output.write_json({"store": str(file), "servers": list(copies.names), "snapshot": sequence})
    else:
        output.write(f"snapshot {sequence} of {file} is on {' and '.join(copies.names)}")
