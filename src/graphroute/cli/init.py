"""`graphroute init`: an ontology and a mapping for a Neo4j graph that is there already, to be looked over and edited."""

from __future__ import annotations

import os
from pathlib import Path

import click

from graphroute.cli import output
from graphroute.cli.options import FilePath, common
from graphroute.errors import UsageError

ONTOLOGY = "ontology.yaml"


@click.command()
@click.option("--from", "address", required=True, metavar="ADDRESS", help="The graph: neo4j://HOST:PORT, read only.")
@click.option("--out", type=FilePath, required=True, help="Folder for ontology.yaml and mapping.yaml.")
@click.option(
    "--default-label",
    "labels",
    multiple=True,
    metavar="L",
    help="A label that may read what has no access label of its own; may be repeated.",
)
@click.option("--force", is_flag=True, help="Write over files that are there.")
@click.option("--quiet", is_flag=True, help="No progress.")
@common
def init(address: str, out: Path, labels: tuple[str, ...], force: bool, quiet: bool, as_json: bool) -> None:
    """Read the schema of a graph and write an ontology and a mapping for it, with a list of what is unclear.

    Nothing is written to the graph. User and password come from GRAPHROUTE_NEO4J_USER and GRAPHROUTE_NEO4J_PASSWORD.
    """
    from graphroute.indexing.graph_inference import infer_graph
    from graphroute.ontology.load import dump_ontology
    from graphroute.ontology.mapping import FILE_NAME, dump_mapping
    from graphroute.stores.mapped.schema import is_unique, read_schema
    from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings

    written = [out / ONTOLOGY, out / FILE_NAME]
    there = [path for path in written if path.exists()]
    if there and not force:
        raise UsageError(f"{there[0]} is there already", hint="give --force to write over it, or another --out")
    with Neo4jConnection(Neo4jSettings.from_environment(address)) as connection:
        schema = read_schema(connection, progress=None if quiet else lambda text: output.note(f"reading {text}"))
        found = infer_graph(schema, lambda label, name: is_unique(connection, label, name), default_labels=labels)
    comments = [
        "How the labels, types and properties of the graph stand for what ontology.yaml declares.",
        "key: identifies a node. names: what it is called, the first is shown. date: when a relationship holds or happened.",
        "default_labels: who may read what has no access label of its own; nobody while it is empty.",
        *(f"unclear: {doubt}" for doubt in found.unclear),
    ]
    out.mkdir(parents=True, exist_ok=True)
    header = "".join(
        f"# {line}\n"
        for line in (
            "Types, relations and their words. forward: verbs of the start; inverse: verbs of the end;",
            "object_nouns and subject_nouns: nouns for the end and the start. Words are in base form, in any language.",
        )
    )
    for path, text in zip(
        written, (header + dump_ontology(found.ontology), dump_mapping(found.mapping, comments)), strict=True
    ):
        temporary = path.with_name(f"{path.name}.tmp")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    types, relations = len(found.ontology.types), len(found.ontology.relations)
    if as_json:
        output.write_json(
            {
                "ontology": str(written[0]),
                "mapping": str(written[1]),
                "types": types,
                "relations": relations,
                "unclear": list(found.unclear),
            }
        )
        return
    output.write(f"{types} types and {relations} relations written to {written[0]} and {written[1]}")
    for doubt in found.unclear:
        output.write(f"unclear: {doubt}")
