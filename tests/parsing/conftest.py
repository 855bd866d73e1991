"""Stores of the worlds in cases/readings, and their parsers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphroute.ontology.load import load_ontology
from graphroute.parsing.parser import Parser
from graphroute.retrieval.base import Backends
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.stores.writer import SnapshotWriter
from graphroute.types.graph import Assertion, Attribute
from graphroute.types.query import ParsedQuery
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source, SourceSpan
from graphroute.types.time import ALWAYS, Instant, Interval, instant_of

FOLDER = Path(__file__).parent / "cases" / "readings"
READER = Reader("ann", ["public"])
STRANGER = Reader("eve", ["other"])


def day(text: str) -> Instant:
    return instant_of(datetime.fromisoformat(text).replace(tzinfo=UTC))


def interval(text: str) -> Interval:
    since, _, until = text.partition("..")
    return Interval(day(since) if since else None, day(until) if until else None)


@dataclass(frozen=True)
class Asking:
    """One world in a store: parses questions as a reader of everything."""

    backends: Backends
    parser: Parser
    instant: Instant

    def parse(self, question: str, *, reader: Reader = READER) -> ParsedQuery:
        view = self.backends.catalog.view(reader=reader)
        return self.parser.parse(question, view=view, instant=self.instant)


def write(path: Path, world: Mapping[str, Any]) -> None:
    """A source and a passage for each fact, named like the fact; one for each entity with attributes, as its record."""
    with Database(path) as database:
        writer = SnapshotWriter(database)
        writer.begin()
        names = {entity: dict.fromkeys(given) for entity, given in world["names"].items()}
        for line in world["facts"]:
            subject, predicate, target, *when = line.split()
            for entity in (subject, target):
                names.setdefault(entity, {})
            shown = [next(iter(names[entity]), entity.partition(":")[2]) for entity in (subject, target)]
            _put_source(writer, line, f"{shown[0]} {predicate.replace('_', ' ').lower()} {shown[1]}.", None)
            writer.put_assertion(
                Assertion(
                    id=line,
                    subject=subject,
                    predicate=predicate,
                    object=target,
                    validity=interval(when[0]) if when else ALWAYS,
                    supports=((SourceSpan(line),),),
                )
            )
        for entity, values in world.get("attributes", {}).items():
            names.setdefault(entity, {})
            text = "\n".join(f"{key}: {value}" for key, value in values.items())
            _put_source(writer, f"record {entity}", f"{entity.partition(':')[2]}\n{text}", entity)
            for key, value in values.items():
                shown = str(value)
                writer.put_attribute(
                    Attribute(
                        entity_id=entity,
                        key=key,
                        value=shown,
                        span=SourceSpan(f"record {entity}", 0, 1),
                        number=float(shown) if shown.isdigit() else None,
                        instant=day(shown) if shown.count("-") == 2 else None,
                    )
                )
        for entity, given in names.items():
            writer.put_entity(entity, [entity.partition(":")[0]], list(given))
        writer.put_ontology(world["ontology"], load_ontology(world["ontology"]))
        writer.publish()


def _undated(world: Mapping[str, Any]) -> frozenset[str] | None:
    return frozenset(world["undated"]) if "undated" in world else None


def _put_source(writer: SnapshotWriter, id: str, text: str, node: str | None) -> None:
    writer.put_source(Source(id=id, text=text, labels=frozenset({"public"}), node=node))
    writer.put_passages([Passage(id=f"{id}#0", source_id=id, start=0, end=len(text), text=text, node=node)])


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Asking]]:
    """The worlds by the name of their file."""
    with ExitStack() as stack:
        found = {}
        for source in sorted(FOLDER.glob("*.yaml")):
            world = yaml.safe_load(source.read_text(encoding="utf-8"))
            path = tmp_path_factory.mktemp("readings") / f"{source.stem}.db"
            write(path, world)
            database = stack.enter_context(Database(path, read_only=True))
            ontology = load_ontology(world["ontology"])
            backends = Backends(
                catalog=SqliteCatalog(database),
                graph=SqliteGraph(database),
                lexical=InvertedIndex(database),
                ontology=ontology,
            )
            parser = Parser(ontology, backends.catalog, backends.lexical, undated=_undated(world))
            found[source.stem] = Asking(backends, parser, day(str(world["asked_on"])))
        yield found
