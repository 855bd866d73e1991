"""A printed plan runs on the server as it is, with the parameter that is printed before it, and gives what the router gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphroute.indexing.graph_inference import infer_graph
from graphroute.ontology.load import load_ontology
from graphroute.parsing.parser import Parser
from graphroute.retrieval.base import Backends
from graphroute.retrieval.local_graph import LocalGraph
from graphroute.stores.catalog.neo4j import Neo4jCatalog
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.neo4j import Neo4jGraph
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.stores.lexical.empty import NoPassages
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.stores.mapped.schema import is_unique, read_schema
from graphroute.stores.mapped_ports import open_mapped
from graphroute.stores.neo4j.connection import Neo4jConnection, Query
from graphroute.stores.neo4j.migrate import migrate
from graphroute.stores.neo4j.printing import view_parameter
from graphroute.stores.neo4j.replica import Neo4jReplica
from graphroute.stores.printing import literal
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.property_graph import PropertyGraph
from graphroute.types.graph import Assertion, Attribute
from graphroute.types.query import Operation
from graphroute.types.reader import Reader
from graphroute.types.retrieval import RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import Limits
from graphroute.types.source import Source, SourceSpan
from graphroute.types.time import Instant, Interval, instant_of
from graphroute.types.view import View

pytestmark = pytest.mark.integration

EVERYTHING = Reader("ann", ["public", "staff"])
LITTLE = Reader("ben", ["public"])
LIMITS = Limits(max_hops=4, max_paths=500)
CASES = Path(__file__).parents[1] / "parsing" / "cases" / "readings"


def day(text: str) -> Instant:
    return instant_of(datetime.fromisoformat(text).replace(tzinfo=UTC))


def interval(text: str) -> Interval:
    since, _, until = text.partition("..")
    return Interval(day(since) if since else None, day(until) if until else None)


@dataclass(frozen=True)
class Asking:
    """A router's retriever over some stores, and a server that holds the same graph."""

    backends: Backends
    connection: Neo4jConnection
    instant: Instant
    reader: Reader = EVERYTHING

    def view(self) -> View:
        return self.backends.catalog.view(reader=self.reader)

    def ask(self, question: str) -> RetrievalResult:
        parser = Parser(self.backends.ontology, self.backends.catalog, self.backends.lexical)
        query = parser.parse(question, view=self.view(), instant=self.instant)
        return LocalGraph(self.backends).retrieve(query, view=self.view(), limits=LIMITS, deadline=None)

    def run(self, found: RetrievalResult) -> list[tuple[Any, ...]]:
        """The rows of the printed text, its parameter read by the server from the printed line."""
        assert found.cypher is not None
        prefix = ":param p => "
        assert found.cypher_parameters.startswith(prefix)
        printed = found.cypher_parameters.removeprefix(prefix)
        [(value,)] = self.connection.read(Query("value", f"CYPHER 5 RETURN {printed} AS p"))
        [(view,)] = self.connection.read(Query("view", f"CYPHER 5 RETURN {view_parameter(self.view())} AS view"))
        return self.connection.read(Query("printed", found.cypher), {"p": value, "view": view})


def compare(found: RetrievalResult, rows: list[tuple[Any, ...]]) -> None:
    """Raise AssertionError where the rows are not what the router answered."""
    reading = found.reading
    assert reading is not None
    ids = {binding.id for binding in found.bindings}
    shown = {binding.display for binding in found.bindings}
    operation = reading.operation
    if reading.attribute is not None:
        if operation is Operation.VALUE or operation is Operation.LIST:
            assert shown <= {str(row[1]) for row in rows}
        else:
            assert ids <= {row[0] for row in rows}
            if "ORDER BY" in (found.cypher or ""):
                assert rows[0][0] in ids
        return
    if operation is Operation.COUNT:
        assert {str(row[0]) for row in rows} == shown
        return
    if operation in (Operation.MOST, Operation.LEAST):
        # The text lists all; the first places are those named, with all that tie with the last of them.
        numbers = {row[1] for row in rows[: reading.places]}
        assert {row[0] for row in rows if row[1] in numbers} == ids
        return
    paths = {
        hit.path.nodes
        for hit in found.hits
        if hit.path is not None and hit.kind is ScoreKind.PATH and hit.note != "sets the instant"
    }
    ordered = operation in (Operation.FIRST, Operation.LAST)
    if ordered:
        rows = [row for row in rows if row[1] == rows[0][1]]
    walked = {tuple(path) for row in rows for path in row[2 if ordered else 1 :] if path}
    assert walked == paths
    if operation in (Operation.LIST, Operation.FIRST, Operation.LAST):
        assert {row[0] for row in rows} == ids


def checked(asking: Asking, questions: list[str]) -> set[tuple[Operation, int, int, bool]]:
    """Compares every answered question of a new shape; the shapes."""
    shapes: set[tuple[Operation, int, int, bool]] = set()
    texts: set[str] = set()
    for question in questions:
        found = asking.ask(question)
        if found.verdict is not Verdict.ANSWERED or found.reading is None or found.cypher in texts:
            continue
        texts.add(found.cypher or "")
        try:
            compare(found, asking.run(found))
        except AssertionError as error:
            raise AssertionError(f"{question}\n{found.cypher_parameters}\n{found.cypher}\n{error}") from error
        branches = found.reading.branches
        shapes.add((found.reading.operation, len(branches), len(branches[0].hops), found.reading.combine == "any"))
    return shapes


def shown(asking: Asking, questions: list[str]) -> list[tuple[str, ...]]:
    """What is answered to each question."""
    return [tuple(sorted(binding.display for binding in asking.ask(question).bindings)) for question in questions]


# A copy of a store -----------------------------------------------------------------------------------------------------


def write(path: Path, world: dict[str, Any]) -> None:
    with Database(path) as database:
        writer = SnapshotWriter(database)
        writer.begin()
        names = {entity: list(given) for entity, given in world["names"].items()}
        for number, line in enumerate(world["facts"]):
            label = "staff" if number % 3 == 2 else "public"
            subject, predicate, target, *when = line.split()
            names.setdefault(subject, [])
            names.setdefault(target, [])
            writer.put_source(Source(id=line, text=line, labels=frozenset({label})))
            writer.put_assertion(
                Assertion(
                    id=line, subject=subject, predicate=predicate, object=target, supports=((SourceSpan(line),),),
                    validity=interval(when[0]) if when else Interval(),
                )
            )  # fmt: skip
        for entity, values in world.get("attributes", {}).items():
            names.setdefault(entity, [])
            label = "staff" if len(entity) % 3 == 0 else "public"
            writer.put_source(Source(id=f"record {entity}", text="x", labels=frozenset({label}), node=entity))
            for key, value in values.items():
                text = str(value)
                writer.put_attribute(
                    Attribute(
                        entity_id=entity, key=key, value=text, span=SourceSpan(f"record {entity}", 0, 1),
                        number=float(text) if text.isdigit() else None,
                        instant=day(text) if text.count("-") == 2 else None,
                    )
                )  # fmt: skip
        for entity, given in names.items():
            writer.put_entity(entity, [entity.partition(":")[0]], given)
        writer.put_ontology(world["ontology"], load_ontology(world["ontology"]))
        writer.publish()


@pytest.mark.parametrize("name", ["company", "shop"])
@pytest.mark.parametrize("embedded", [True, False], ids=["embedded", "neo4j"])
def test_a_plan_over_a_copy_gives_the_paths_of_the_router(
    name: str, embedded: bool, neo4j_5: Any, tmp_path: Path
) -> None:
    world = yaml.safe_load((CASES / f"{name}.yaml").read_text(encoding="utf-8"))
    write(tmp_path / "store.db", world)
    ontology = load_ontology(world["ontology"])
    with neo4j_5.connect(read_timeout=60.0) as connection:
        migrate(connection)
        with Database(tmp_path / "store.db") as database:
            Neo4jReplica(connection, database).replicate(replace=True)
        with Database(tmp_path / "store.db", read_only=True) as database:
            backends = Backends(
                catalog=SqliteCatalog(database) if embedded else Neo4jCatalog(connection),
                graph=SqliteGraph(database) if embedded else Neo4jGraph(connection),
                lexical=InvertedIndex(database),
                ontology=ontology,
            )
            asking = Asking(backends, connection, day(str(world["asked_on"])))
            asked = [case["ask"] for case in world["cases"]]
            shapes = checked(asking, asked if embedded or name == "shop" else asked[::6])
            fewer = replace(asking, reader=LITTLE)
            some = asked if name == "shop" else asked[::6]
            assert len(checked(fewer, some)) >= 4
            assert shown(fewer, some) != shown(asking, some)
    if embedded and name == "company":
        operations = {shape[0] for shape in shapes}
        assert {Operation.LIST, Operation.COUNT, Operation.MOST, Operation.FIRST, Operation.VALUE} <= operations
        assert {shape[2] for shape in shapes} >= {1, 2, 3}
        assert any(shape[3] and shape[1] > 1 for shape in shapes)
        assert any(not shape[3] and shape[1] > 1 for shape in shapes)


# A graph that is there --------------------------------------------------------------------------------------------------


def shop() -> PropertyGraph:
    """Orders with dates and a status, some of them for few readers."""
    graph = PropertyGraph()
    for number, name in enumerate(("Alder Tea", "Birch Jam", "Cedar Oil")):
        graph.node(f"p{number}", ["Product"], productID=number, productName=name, discontinued=number == 2)
    for number, name in enumerate(("Brookfield Farms", "Stonegate")):
        graph.node(f"s{number}", ["Supplier"], supplierID=number, companyName=name)
    for key, name in (("CORVO", "Corvo Traders"), ("DUNE", "Dune Market"), ("EL'M", "Elm \\u0041 `Co`")):
        graph.node(key, ["Customer"], customerID=key, companyName=name)
    for supplier, product in ((0, 0), (0, 1), (1, 2)):
        graph.relate(f"s{supplier}", "SUPPLIES", f"p{product}")
    dates = ["1998-02-01 00:00:00.000", "1997-05-01 00:00:00.000", "1998-03-01 00:00:00.000", "1998-03-09 00:00:00.000"]
    for number, (customer, products) in enumerate(
        (("CORVO", (0, 1)), ("CORVO", (2,)), ("DUNE", (0,)), ("EL'M", (0, 2)))
    ):
        order = graph.node(
            f"o{number}", ["Order"], orderID=10_000 + number, orderDate=dates[number], shipCountry="Peru",
            **({"readers": ["staff"]} if number in (1, 2) else {}),
        )  # fmt: skip
        graph.relate(customer, "PURCHASED", order)
        for product in products:
            graph.relate(order, "ORDERS", f"p{product}", quantity=number + 1)
    return graph


QUESTIONS = [
    "Who supplies Alder Tea?",
    "From whom do we get Alder Tea?",
    "Which products does Brookfield Farms supply?",
    "How many orders did Corvo Traders place?",
    "Number of 1998 orders by Corvo Traders",
    "How many customers ordered Alder Tea in 1998?",
    "Which customers ordered Alder Tea in March 1998?",
    "Which products were ordered by Corvo Traders and by Dune Market?",
    "Which customers ordered Cedar Oil?",
    "Which supplier supplies the most products?",
    "Which products were ordered by Elm \\u0041 `Co`?",
    "Which customers bought products supplied by Brookfield Farms?",
    "Which products that Corvo Traders ordered are discontinued?",
]


@pytest.fixture
def mapped(neo4j_5: Any) -> Iterator[Asking]:
    with neo4j_5.connect(read_timeout=60.0) as connection:
        shop().put(connection)
        schema = read_schema(connection)
        found = infer_graph(schema, lambda label, name: is_unique(connection, label, name), default_labels=["public"])
        nodes = {
            name: replace(node, access="readers") if name == "Order" else node
            for name, node in found.mapping.nodes.items()
        }
        stores = open_mapped(connection, found.ontology, replace(found.mapping, nodes=nodes))
        backends = Backends(catalog=stores.catalog, graph=stores.graph, lexical=NoPassages(), ontology=found.ontology)
        yield Asking(backends, connection, day("2026-06-01"))


def test_a_plan_over_a_mapped_graph_gives_the_paths_of_the_router(mapped: Asking) -> None:
    shapes = checked(mapped, QUESTIONS)
    assert len(shapes) >= 6
    fewer = replace(mapped, reader=LITTLE)
    assert len(checked(fewer, QUESTIONS)) >= 4
    assert shown(fewer, QUESTIONS) != shown(mapped, QUESTIONS)
    assert {Operation.LIST, Operation.COUNT, Operation.MOST} <= {shape[0] for shape in shapes}


def test_control_a_plan_with_another_anchor_differs(mapped: Asking) -> None:
    found = mapped.ask("Which products does Brookfield Farms supply?")
    compare(found, mapped.run(found))
    other = replace(found, cypher_parameters=found.cypher_parameters.replace("anchors0_0: ['0']", "anchors0_0: ['1']"))
    assert other != found
    with pytest.raises(AssertionError):
        compare(found, mapped.run(other))


def test_control_a_plan_that_reads_everything_differs(mapped: Asking) -> None:
    fewer = replace(mapped, reader=LITTLE)
    found = fewer.ask("How many orders did Corvo Traders place?")
    compare(found, fewer.run(found))
    held = fewer.view().reader.labels
    everything = found.cypher_parameters.replace(literal(sorted(held)), literal(["public", "staff"]))
    assert everything != found.cypher_parameters
    with pytest.raises(AssertionError):
        compare(found, fewer.run(replace(found, cypher_parameters=everything)))


@pytest.mark.parametrize(
    "value",
    [
        {"a b": [1, -2, 2.5, True, None], "c`d": {"text": "x"}},
        "plain 'quotes' \"double\" \\ \\u0041 \\\\u0027 \n\t 谁 ё",
        "\\",
        "'",
        "\\'",
        [],
        -(2**63),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_a_literal_is_read_as_it_was(value: Any, neo4j_lease: Callable[..., Any]) -> None:
    with neo4j_lease("5.26") as server, server.connect() as connection:
        assert connection.read(Query("literal", f"CYPHER 5 RETURN {literal(value)} AS value")) == [(value,)]
