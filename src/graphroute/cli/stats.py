"""`graphroute stats`: what a reader may see of a store, in counts."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from graphroute.cli import output
from graphroute.cli.options import common, reader_of, store_place
from graphroute.types.time import format_instant


@click.command()
@click.argument("store", type=store_place)
@click.option("--label", "labels", multiple=True, metavar="L", help="A label the reader holds; may be repeated.")
@click.option("--public", is_flag=True, help="Add the label 'public'.")
@common
def stats(store: str | Path, labels: tuple[str, ...], public: bool, as_json: bool) -> None:
    """Count what a reader with these labels may see of STORE."""
    from graphroute.errors import DataError
    from graphroute.stores.opening import StorePlan, open_stores

    if isinstance(store, Path) and not store.exists():
        raise DataError("no such store", where=str(store), hint="run graphroute ingest DIR --store PATH first")
    reader = reader_of("stats", labels, public)
    with closing(open_stores(StorePlan.of(store, {}))) as stores:
        catalog = stores.catalog
        view = catalog.view(reader=reader)
        settings = catalog.settings()
        ontology = catalog.ontology()
        counts = dict(catalog.counts(view=view))
        first, last = catalog.data_span(view=view)
    found = {
        "dataset": settings.get("dataset", ""),
        "as_of": settings.get("as_of") or None,
        "embedder": settings.get("embedder") or None,
        "snapshot": view.token,
        **counts,
        "types": len(ontology.types),
        "relations": len(ontology.relations),
        "ontology": "inferred" if ontology.inferred else "written",
        "from": format_instant(first),
        "to": format_instant(last),
    }
    if as_json:
        output.write_json(found)
    else:
        output.table([[name, "" if value is None else str(value)] for name, value in found.items()], indent=0)
