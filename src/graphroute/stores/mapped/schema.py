"""Reads what a graph is made of: labels, relationship types, properties with samples, constraints, indexes and counts; READ only, no APOC."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from graphroute.errors import BackendError, DataError
from graphroute.stores.mapped.queries import label_query
from graphroute.stores.neo4j.connection import Query

SAMPLE = 20_000
"""Nodes of a label and relationships of a type that are looked at."""

SHOWN = 60
"""Distinct values of a property that are kept as its sample."""

PAIRS = 1_000_000
"""Relationships of a type that are looked at for parallel ones."""


READ_SECONDS = 300.0
"""For each query of the schema, which may read every node of a label."""


class Reads(Protocol):
    """What is needed of a connection."""

    def read(
        self, query: Query, parameters: Mapping[str, object] = ..., *, deadline: float | None = None
    ) -> list[tuple[Any, ...]]:
        """Rows of a query in a READ transaction."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyShape:
    """One property in a sample. `kinds`: value types as Neo4j names them (STRING, INTEGER, LIST<STRING>, DATE) with counts. `distinct`: different
    values among the `count` of the sample. `length`: longest value as text. `sample`: values as text, cut at 200 characters."""

    name: str
    count: int
    distinct: int
    kinds: Mapping[str, int]
    length: int
    sample: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The most frequent value type."""
        return max(sorted(self.kinds), key=lambda name: self.kinds[name], default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelShape:
    """Nodes of one label. `sampled`: how many were looked at; `beside`: labels that stand beside it, with counts."""

    name: str
    count: int
    sampled: int
    properties: Mapping[str, PropertyShape]
    beside: Mapping[str, int] = field(default_factory=dict)
    unique: frozenset[str] = frozenset()
    indexed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeShape:
    """Relationships of one type. `ends`: (labels of the start, labels of the end) with counts in the sample. `starts`, `finishes`:
    distinct ends in the sample; `parallel`: two join the same nodes, or there are too many to know."""

    name: str
    count: int
    sampled: int
    ends: Mapping[tuple[tuple[str, ...], tuple[str, ...]], int]
    starts: int
    finishes: int
    parallel: bool
    properties: Mapping[str, PropertyShape]
    unique: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSchema:
    """Labels and relationship types that occur, in name order. `fulltext`: labels with a FULLTEXT index."""

    labels: Mapping[str, LabelShape]
    types: Mapping[str, TypeShape]
    fulltext: frozenset[str] = frozenset()


_PROPERTIES = (
    "UNWIND keys(e) AS name WITH name, e[name] AS value "
    "WITH name, valueType(value) AS kind, toStringOrNull(CASE WHEN valueType(value) STARTS WITH 'LIST' THEN null ELSE value END) AS text, "
    "CASE WHEN valueType(value) STARTS WITH 'LIST' THEN [x IN value | left(toStringOrNull(x), 200)] ELSE [] END AS items "
    "RETURN name, kind, count(*), count(DISTINCT left(text, 200)), max(coalesce(size(text), 0)), "
    "collect(DISTINCT left(text, 200))[..$shown], collect(DISTINCT items)[..$shown] ORDER BY name, kind"
)
LABELS = Query("schema_labels", "CYPHER 5 CALL db.labels() YIELD label RETURN label ORDER BY label")
TYPES = Query(
    "schema_types",
    "CYPHER 5 CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType ORDER BY relationshipType",
)
CONSTRAINTS = Query(
    "schema_constraints",
    "CYPHER 5 SHOW CONSTRAINTS YIELD type, entityType, labelsOrTypes, properties RETURN type, entityType, labelsOrTypes, properties",
)
INDEXES = Query(
    "schema_indexes",
    "CYPHER 5 SHOW INDEXES YIELD type, entityType, labelsOrTypes, properties RETURN type, entityType, labelsOrTypes, properties",
)
NODE_PROPERTIES = Query("schema_node_properties", f"CYPHER 5 MATCH (e:$any($names)) WITH e LIMIT $sample {_PROPERTIES}")
NODE_LABELS = Query(
    "schema_node_labels",
    "CYPHER 5 MATCH (e:$any($names)) WITH e LIMIT $sample UNWIND labels(e) AS label RETURN label, count(*) ORDER BY label",
)
RELATION_PROPERTIES = Query(
    "schema_relation_properties", f"CYPHER 5 MATCH ()-[e:$any($names)]->() WITH e LIMIT $sample {_PROPERTIES}"
)
RELATION_ENDS = Query(
    "schema_relation_ends",
    "CYPHER 5 MATCH (a)-[e:$any($names)]->(b) WITH a, b LIMIT $sample RETURN labels(a), labels(b), count(*)",
)
RELATION_PAIRS = Query(
    "schema_relation_pairs",
    "CYPHER 5 MATCH (a)-[e:$any($names)]->(b) WITH a, b LIMIT $sample "
    "RETURN count(*), count(DISTINCT a), count(DISTINCT b), count(DISTINCT [elementId(a), elementId(b)])",
)
DISTINCT_KEYS = Query(
    "schema_distinct_keys",
    "CYPHER 5 MATCH (e:$any($names)) WITH e[$property] AS value WHERE value IS NOT NULL RETURN count(value), count(DISTINCT value)",
)
SCHEMA_PATH = (
    LABELS, TYPES, CONSTRAINTS, INDEXES, NODE_PROPERTIES, NODE_LABELS, RELATION_PROPERTIES, RELATION_ENDS, RELATION_PAIRS, DISTINCT_KEYS,
)  # fmt: skip
"""Fixed texts of `graphroute init`."""

Progress = Callable[[str], None]


def read_schema(connection: Reads, *, progress: Progress | None = None) -> GraphSchema:
    """The schema of the whole database. Raises DataError for a graph without nodes, BackendError for a server that cannot be read."""
    say = progress or (lambda text: None)
    unique, indexed, relation_unique, fulltext = _keys(connection)
    labels: dict[str, LabelShape] = {}
    for (name,) in _read(connection, LABELS):
        say(f"label {name}")
        count = int(_read(connection, label_query("mapped_count_nodes", name))[0][0])
        if not count:
            continue  # a label that the server remembers and no node has
        given = {"names": [name], "sample": SAMPLE}
        labels[name] = LabelShape(
            name=name,
            count=count,
            sampled=min(count, SAMPLE),
            properties=_properties(_read(connection, NODE_PROPERTIES, {**given, "shown": SHOWN})),
            beside={label: number for label, number in _read(connection, NODE_LABELS, given) if label != name},
            unique=frozenset(unique.get(name, ())),
            indexed=frozenset(indexed.get(name, ())),
        )
    if not labels:
        raise DataError("the graph has no labelled node", hint="load data into the database, or name another one")
    types: dict[str, TypeShape] = {}
    for (name,) in _read(connection, TYPES):
        say(f"type {name}")
        count = int(_read(connection, label_query("mapped_count_relations", name))[0][0])
        if not count:
            continue
        given = {"names": [name], "sample": SAMPLE}
        seen, starts, finishes, pairs = _read(connection, RELATION_PAIRS, {"names": [name], "sample": PAIRS})[0]
        types[name] = TypeShape(
            name=name,
            count=count,
            sampled=int(seen),
            ends={
                (tuple(sorted(a)), tuple(sorted(b))): number for a, b, number in _read(connection, RELATION_ENDS, given)
            },
            starts=int(starts),
            finishes=int(finishes),
            parallel=bool(pairs < seen or count > seen),
            properties=_properties(_read(connection, RELATION_PROPERTIES, {**given, "shown": SHOWN})),
            unique=frozenset(relation_unique.get(name, ())),
        )
    return GraphSchema(labels=labels, types=types, fulltext=fulltext)


def is_unique(connection: Reads, label: str, name: str) -> bool:
    """True if every node of the label that has the property has it to itself."""
    rows = _read(connection, DISTINCT_KEYS, {"names": [label], "property": name})
    return bool(rows and rows[0][0] == rows[0][1])


def _read(connection: Reads, query: Query, parameters: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
    return connection.read(query, parameters or {}, deadline=clock.monotonic() + READ_SECONDS)


def _properties(rows: list[tuple[Any, ...]]) -> dict[str, PropertyShape]:
    found: dict[str, PropertyShape] = {}
    for name, kind, count, distinct, length, sample, items in rows:
        plain = str(kind).replace(" NOT NULL", "")
        before = found.get(name)
        texts = tuple(text for text in sample if text is not None)
        texts += tuple(item for group in items for item in group if item is not None)
        found[name] = PropertyShape(
            name=name,
            count=int(count) + (before.count if before else 0),
            distinct=(int(distinct) or len({tuple(group) for group in items})) + (before.distinct if before else 0),
            kinds={**(before.kinds if before else {}), plain: int(count)},
            length=max(int(length or 0), before.length if before else 0),
            sample=((before.sample if before else ()) + texts)[: 2 * SHOWN],
        )
    return found


def _keys(
    connection: Reads,
) -> tuple[dict[str, set[str]], dict[str, set[str]], dict[str, set[str]], frozenset[str]]:
    unique: dict[str, set[str]] = {}
    relations: dict[str, set[str]] = {}
    indexed: dict[str, set[str]] = {}
    fulltext: set[str] = set()
    try:
        constraints, indexes = _read(connection, CONSTRAINTS), _read(connection, INDEXES)
    except BackendError:
        # An account may be kept from the schema's own commands; uniqueness is then measured.
        return {}, {}, {}, frozenset()
    for kind, entity, names, properties in constraints:
        single = len(properties or ()) == 1 and ("UNIQUE" in kind or "KEY" in kind)
        if single:
            for name in names or ():
                (unique if entity == "NODE" else relations).setdefault(name, set()).add(properties[0])
    for kind, entity, names, properties in indexes:
        if entity != "NODE":
            continue
        for name in names or ():
            if kind == "RANGE" and properties:
                indexed.setdefault(name, set()).add(properties[0])
            if kind == "FULLTEXT":
                fulltext.add(name)
    return unique, indexed, relations, frozenset(fulltext)
