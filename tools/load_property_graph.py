"""Loads a property graph from nodes.jsonl and rels.jsonl into an empty Neo4j, labels, types and properties as they are, for tests."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

BATCH = 2_000


def quoted(name: str) -> str:
    """A name as a Cypher identifier."""
    return "`" + name.replace("\\", "\\u005C").replace("`", "``") + "`"


def load(driver: Any, nodes: Iterable[dict[str, Any]], relations: Iterable[dict[str, Any]]) -> tuple[int, int]:
    """Creates the nodes and relationships without their `id` fields; returns how many of each."""
    by_labels: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in nodes:
        by_labels[tuple(row["labels"])].append({"id": row["id"], "props": row["props"]})
    known: dict[str, str] = {}
    with driver.session() as session:
        for labels, rows in by_labels.items():
            pattern = "".join(f":{quoted(label)}" for label in labels)
            text = f"UNWIND $rows AS row CREATE (n{pattern}) SET n = row.props RETURN row.id, elementId(n)"
            for batch in _batches(rows):
                known.update(session.run(text, rows=batch).values())
        by_type: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in relations:
            ends = {"start": known[row["start"]], "end": known[row["end"]], "props": row.get("props") or {}}
            by_type[row["type"]].append(ends)
        total = 0
        for kind, rows in by_type.items():
            text = (
                "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row.start MATCH (b) WHERE elementId(b) = row.end "
                f"CREATE (a)-[r:{quoted(kind)}]->(b) SET r = row.props"
            )
            for batch in _batches(rows):
                session.run(text, rows=batch).consume()
            total += len(rows)
    return len(known), total


def load_directory(driver: Any, directory: Path) -> tuple[int, int]:
    """The same from nodes.jsonl and rels.jsonl of a directory."""
    return load(driver, _rows(directory / "nodes.jsonl"), _rows(directory / "rels.jsonl"))


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def main(arguments: list[str] | None = None) -> int:
    """Loads DIR into the server that GRAPHROUTE_NEO4J_URI, _USER and _PASSWORD name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="holds nodes.jsonl and rels.jsonl")
    parser.add_argument("--clear", action="store_true", help="delete everything that is in the database first")
    options = parser.parse_args(arguments)
    import neo4j

    environment = os.environ
    user = environment.get("GRAPHROUTE_NEO4J_USER", "neo4j")
    with neo4j.GraphDatabase.driver(
        environment["GRAPHROUTE_NEO4J_URI"], auth=(user, environment["GRAPHROUTE_NEO4J_PASSWORD"])
    ) as driver:
        if options.clear:
            clear(driver)
        elif driver.execute_query("MATCH (n) RETURN count(n)").records[0][0]:
            print("the database is not empty; --clear deletes what is in it", file=sys.stderr)
            return 1
        nodes, relations = load_directory(driver, options.directory)
    print(f"{nodes} nodes, {relations} relationships")
    return 0


def clear(driver: Any) -> None:
    """Deletes every node and relationship."""
    with driver.session() as session:
        session.run("MATCH (n) CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS").consume()


if __name__ == "__main__":
    sys.exit(main())
