"""Builds readings from the notation of plans, and stores from lines of facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graphroute.ontology.load import load_ontology
from graphroute.retrieval.base import Backends
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.stores.writer import SnapshotWriter
from graphroute.types.graph import Assertion, Attribute, AttributeFilter, Direction
from graphroute.types.query import Branch, Cue, CueKind, HopReading, Operation, ParsedQuery, Reading
from graphroute.types.source import Passage, Source, SourceSpan
from graphroute.types.time import ALWAYS, ANY_TIME, Instant, Interval, TimeFilter, TimeMode, instant_of

_HOP = re.compile(r"\s*(<?-)(\w+)(?:@(\w+) ([0-9.-]+))?(->?)\s*([\w|]+)((?:\[[^\]]*\])*)")
_TEST = re.compile(r"\[(\w+)(=|<=|>=|<|>)([^\]]*)\]")
_OPERATORS = {"=": "eq", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_CUE = Cue(kind=CueKind.RELATION, value="", start=0, end=1, rule="test")


def day(text: str) -> Instant:
    """Midnight UTC of an ISO date."""
    return instant_of(datetime.fromisoformat(text).replace(tzinfo=UTC))


def interval(text: str) -> Interval:
    """`2026-01-01..2026-02-01`, either side empty."""
    since, _, until = text.partition("..")
    return Interval(day(since) if since else None, day(until) if until else None)


def filters(text: str) -> tuple[AttributeFilter, ...]:
    """`[severity=critical][downtime>=5]`."""
    return tuple(AttributeFilter(key, _OPERATORS[sign], value) for key, sign, value in _TEST.findall(text))


def branch(line: str) -> Branch:
    """`svc:a, svc:b -OWNED_BY@overlaps 2026-01-01..-> team[tier=1]`; `every svc[tier=1] ...` starts at a type."""
    line, _, ends = line.partition(" which is ")
    first = re.search(r"\s<?-\w+(?:@\w+ [0-9.-]+)?->?\s", line)
    head, tail = (line[: first.start()], line[first.start() :]) if first else (line, "")
    hops, at = [], 0
    while at < len(tail.rstrip()):
        found = _HOP.match(tail, at)
        assert found, f"cannot read {tail[at:]!r}"
        opening, predicate, mode, when, _, types, tests = found.groups()
        hops.append(
            HopReading(
                predicate=predicate,
                direction=Direction.BACKWARD if opening == "<-" else Direction.FORWARD,
                types=tuple(types.split("|")),
                cue=_CUE,
                filters=filters(tests),
                time=TimeFilter(TimeMode(mode), interval(when)) if mode else ANY_TIME,
            )
        )
        at = found.end()
    head = head.strip()
    wanted = tuple(ends.split(", ")) if ends else None
    if head.startswith("every "):
        kind = head.removeprefix("every ").partition("[")[0]
        return Branch(anchors=(), start_types=(kind,), hops=tuple(hops), start_filters=filters(head), ends=wanted)
    anchors = tuple(head.split(", "))
    return Branch(anchors=anchors, start_types=(anchors[0].partition(":")[0],), hops=tuple(hops), ends=wanted)


def reading(*lines: str, asks: str, cost: float = 0.0, **more: Any) -> Reading:
    """`asks`: `list team[tier=1] of any`, or `value severity of inc`."""
    words = asks.removesuffix(" of any").removesuffix(" of all")
    operation, _, rest = words.partition(" ")
    attribute, found, target = rest.partition(" of ")
    if not found:
        attribute, target = "", rest
    kinds = target.partition("[")[0]
    return Reading(
        operation=Operation(operation),
        target_types=tuple(kinds.split("|")),
        branches=tuple(branch(line) for line in lines),
        combine="any" if asks.endswith(" of any") else "all",
        filters=filters(target),
        attribute=attribute or None,
        cost=cost,
        **more,
    )


@pytest.fixture(name="reading")
def reading_fixture() -> Callable[..., Reading]:
    """A builder of readings."""
    return reading


@pytest.fixture(name="branch")
def branch_fixture() -> Callable[[str], Branch]:
    """A builder of branches."""
    return branch


@dataclass(frozen=True)
class World:
    """A store and what a question needs."""

    backends: Backends

    def query(self, *readings: Reading, at: str = "2026-06-01", **more: Any) -> ParsedQuery:
        """A question that was read like this."""
        return ParsedQuery(text="?", language="en", instant=day(at), readings=readings, **more)


Make = Callable[..., World]


def write(
    path: Path,
    ontology: str,
    facts: Sequence[str],
    attributes: Sequence[tuple[str, str, str]],
    names: Mapping[str, Sequence[str]],
) -> None:
    """Fact lines: `s REL o [since..until] [by source+source source] `; sources end in `!secret` for few readers.

    A source is dated by `~2026-01-01` after its name. Without sources a fact has one of its own, for everybody.
    """
    with Database(path) as database:
        writer = SnapshotWriter(database)
        writer.begin()
        known: set[str] = set()

        def put(name: str, text: str = "", node: str | None = None) -> str:
            id, _, dated = name.removesuffix("!secret").partition("~")
            if id not in known:
                known.add(id)
                since = day(dated) if dated else None
                labels = frozenset({"secret" if name.endswith("!secret") else "public"})
                text = text or f"Text of {id}."
                writer.put_source(
                    Source(id=id, text=text, labels=labels, node=node, timestamp=since, validity=Interval(since, None))
                )
                writer.put_passages([Passage(id=f"{id}#0", source_id=id, start=0, end=len(text), text=text, node=node)])
            return id

        entities: dict[str, None] = {}
        for number, line in enumerate(facts):
            words, _, by = line.partition(" by ")
            subject, predicate, target, *when = words.split()
            entities |= dict.fromkeys((subject, target))
            alternatives = by.split() or [f"doc-{number}"]
            writer.put_assertion(
                Assertion(
                    id=f"a{number}",
                    subject=subject,
                    predicate=predicate,
                    object=target,
                    validity=interval(when[0]) if when else ALWAYS,
                    supports=tuple(tuple(SourceSpan(put(s)) for s in one.split("+")) for one in alternatives),
                )
            )
        for entity, key, value in attributes:
            entities |= {entity: None}
            value, _, source = value.partition(" by ")
            id = put(source or f"record-{entity}", f"{key}: {value}", entity)
            writer.put_attribute(
                Attribute(
                    entity_id=entity,
                    key=key,
                    value=value,
                    span=SourceSpan(id, 0, 1),
                    number=float(value) if value.isdigit() else None,
                    instant=day(value) if re.fullmatch(r"\d+-\d\d-\d\d", value) else None,
                )
            )
        for entity in entities:
            writer.put_entity(entity, [entity.partition(":")[0]], list(names.get(entity, ())))
        writer.put_ontology(ontology, load_ontology(ontology))
        writer.publish()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Make]:
    """Writes a store from an ontology, lines of facts and (entity, key, value) attributes, and opens it; equal ones once."""
    known: dict[str, World] = {}
    with ExitStack() as stack:

        def make(
            ontology: str,
            facts: Sequence[str],
            attributes: Sequence[tuple[str, str, str]] = (),
            names: Mapping[str, Sequence[str]] | None = None,
        ) -> World:
            key = repr((ontology, facts, attributes, names))
            if key not in known:
                path = tmp_path_factory.mktemp("made") / "store.db"
                write(path, ontology, facts, attributes, names or {})
                database = stack.enter_context(Database(path, read_only=True))
                known[key] = World(
                    Backends(
                        catalog=SqliteCatalog(database),
                        graph=SqliteGraph(database),
                        lexical=InvertedIndex(database),
                        ontology=load_ontology(ontology),
                    )
                )
            return known[key]

        yield make
