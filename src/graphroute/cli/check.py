"""`graphroute check`: tells whether a routes file and an ontology are right, and what they mean."""

from __future__ import annotations

from pathlib import Path

import click

from graphroute.cli import output
from graphroute.cli.options import FilePath, common


@click.command()
@click.argument("routes", required=False, type=FilePath)
@click.option("--ontology", type=FilePath, help="Check this ontology too.")
@click.option("--conditions", is_flag=True, help="List the names usable under 'when:'.")
@common
def check(routes: Path | None, ontology: Path | None, conditions: bool, as_json: bool) -> None:
    """Check a ROUTES file (the shipped policy if none is given) and print what it means."""
    from graphroute.config.load import load_routes
    from graphroute.routing.conditions import FEATURES

    if conditions:
        rows = [[name, "number" if item.number else "yes or no", item.meaning] for name, item in FEATURES.items()]
        if as_json:
            output.write_json([{"name": name, "kind": kind, "meaning": meaning} for name, kind, meaning in rows])
        else:
            output.table(rows, header=["name", "kind", "meaning"])
        return
    config = load_routes(routes)
    read = None
    if ontology is not None:
        from graphroute.ontology.load import load_ontology

        read = load_ontology(ontology)
    if as_json:
        found = {"config_hash": config.config_hash, **config.resolved()}
        if read is not None:
            found["ontology"] = {"types": sorted(read.types), "relations": sorted(read.relations)}
        output.write_json(found)
        return
    output.write(f"{routes or 'the shipped policy'} is right; configuration {config.config_hash}")
    output.table(
        [
            [
                rule.name,
                str(rule.condition) if rule.condition else "otherwise",
                ", ".join(step.retriever for step in rule.steps),
            ]
            for rule in config.rules()
        ],
        header=["route", "when", "retrievers"],
    )
    if config.fallback is not None:
        output.write(f"  below {config.fallback.if_evidence_below:g}, once: {', '.join(config.fallback.use)}")
    if read is not None:
        output.write(f"{ontology} is right: {len(read.types)} types, {len(read.relations)} relations")
