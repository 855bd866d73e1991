"""`graphroute doctor`: examines files, stores, servers, models and versions; says what is wrong and what to do."""

from __future__ import annotations

from pathlib import Path

import click

from graphroute.cli import output
from graphroute.cli.options import DEFAULT_STORE, FilePath, common, store_place


@click.command()
@click.option(
    "--store",
    type=store_place,
    metavar="PATH|ADDRESS",
    envvar="GRAPHROUTE_STORE",
    show_envvar=True,
    help=f"The store file, or the address of a Neo4j server; {DEFAULT_STORE} if it is there.",
)
@click.option("--routes", type=FilePath, help="Routes file instead of the shipped policy.")
@click.option("--ontology", type=FilePath, help="An ontology to examine too.")
@common
def doctor(store: str | Path | None, routes: Path | None, ontology: Path | None, as_json: bool) -> int:
    """Examine what a router needs, and call the servers and endpoints that the configuration names."""
    from graphroute.pipeline.doctor import State, examine

    if store is None and Path(DEFAULT_STORE).exists():
        store = Path(DEFAULT_STORE)
    found = examine(store, routes=routes, ontology=ontology)
    if as_json:
        output.write_json(
            [
                {"subject": one.subject, "state": one.state.value, "said": one.said, "action": one.action}
                for one in found
            ]
        )
    else:
        output.table([[one.state.value, one.subject, one.said] for one in found], header=["state", "what", "seen"])
        for one in found:
            if one.action is not None:
                output.write(f"  {one.subject}: {one.action}")
    return next((one.exit_code for one in found if one.state is State.WRONG and one.exit_code), 0)
