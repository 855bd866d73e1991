"""A graph that graphroute did not write: names in memory against names by query, and counts by the server against rows counted here.

Generated customers, orders and products.

The server that GRAPHROUTE_NEO4J_URI names must be an empty one; it is filled and left filled. Prints the ratio of both ways in one run.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from dataclasses import replace

from graphroute.stores.graph.mapped import MappedGraph
from graphroute.stores.mapped_ports import MappedStores, open_mapped
from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings, Query
from graphroute.types.graph import Direction, HopPattern, PathPattern
from graphroute.types.mapping import DateMapping, DateOwner, GraphMapping, NodeMapping, RelationMapping
from graphroute.types.ontology import EntityType, Ontology, RelationKind, RelationType
from graphroute.types.reader import Reader
from graphroute.types.time import Interval, TimeFilter, TimeMode

KINDS = {"PLACED": ("Customer", "Order"), "CONTAINS": ("Order", "Product"), "SUPPLIES": ("Supplier", "Product")}
ONTOLOGY = Ontology(
    types={name: EntityType(name=name) for name in ("Customer", "Order", "Product", "Supplier")},
    relations={
        name: RelationType(
            name=name, domain=(a,), range=(b,), kind=RelationKind.STATE if name == "SUPPLIES" else RelationKind.EVENT
        )
        for name, (a, b) in KINDS.items()
    },
)
DATES = {"PLACED": DateMapping(of=DateOwner.END, start="day"), "CONTAINS": DateMapping(of=DateOwner.START, start="day")}
MAPPING = GraphMapping(
    nodes={name: NodeMapping(name=name, label=name, key="id", names=(("name",),)) for name in ONTOLOGY.types},
    relations={
        name: RelationMapping(name=name, type=name, domain=(a,), range=(b,), date=DATES.get(name))
        for name, (a, b) in KINDS.items()
    },
    default_labels=("public",),
    names_limit=2_000_000,
)
YEAR = TimeFilter(TimeMode.STARTS_IN, Interval(1_672_531_200_000_000, 1_704_067_200_000_000))


def fill(connection: Neo4jConnection, orders: int) -> None:
    """`orders` orders of four products each, by a tenth as many customers; a hundredth as many products and suppliers."""
    for name in ONTOLOGY.types:
        connection.write(Query("constraint", f"CREATE CONSTRAINT IF NOT EXISTS FOR (n:{name}) REQUIRE n.id IS UNIQUE"))
    sizes = {"Customer": orders // 10, "Product": orders // 100, "Supplier": orders // 100}
    for name, size in sizes.items():
        text = f"UNWIND range(1, $size) AS i CREATE (:{name} {{id: i, name: '{name} ' + i}})"
        connection.write(Query("fill", text), {"size": size}, deadline=time.monotonic() + 600)
    connection.write(
        Query(
            "supply", "MATCH (p:Product) MATCH (s:Supplier {id: p.id % ($size / 4) + 1}) CREATE (s)-[:SUPPLIES]->(p)"
        ),
        {"size": sizes["Supplier"]},
    )
    text = (
        "UNWIND range($first, $last) AS i MATCH (c:Customer {id: toInteger(rand() * rand() * $customers) + 1}) "
        "CREATE (c)-[:PLACED]->(o:Order {id: i, day: toString(date('2022-01-01') + duration({days: i % 900}))}) "
        "WITH o UNWIND range(1, 4) AS k MATCH (p:Product {id: toInteger(rand() * $products) + 1}) CREATE (o)-[:CONTAINS]->(p)"
    )
    for first in range(1, orders + 1, 5_000):
        given = {
            "first": first,
            "last": min(orders, first + 4_999),
            "customers": sizes["Customer"],
            "products": sizes["Product"],
        }
        connection.write(Query("orders", text), given, deadline=time.monotonic() + 600)


def patterns(orders: int) -> dict[str, list[PathPattern]]:
    """Questions of two and three hops from customers, ordinary ones and the one with most orders, and from suppliers."""
    rng = random.Random(7)
    ordered = HopPattern(("PLACED",), Direction.FORWARD, ("Order",), YEAR)
    contained = HopPattern(("CONTAINS",), Direction.FORWARD, ("Product",), YEAR)
    supplied = HopPattern(("SUPPLIES",), Direction.BACKWARD, ("Supplier",))
    some = [f"Customer/{rng.randrange(orders // 20, orders // 10)}" for _ in range(30)]
    return {
        "customer, products of a year": [PathPattern((one,), (ordered, contained), 60) for one in some],
        "customer, suppliers of a year": [PathPattern((one,), (ordered, contained, supplied), 60) for one in some],
        "largest customer, products of a year": [PathPattern(("Customer/1",), (ordered, contained), 60)] * 10,
    }


def measure(stores: MappedStores, asked: dict[str, list[PathPattern]]) -> dict[str, list[float]]:
    """Milliseconds of reach and paths for each pattern."""
    view = stores.catalog.view(reader=Reader("public", ["public"]))
    found: dict[str, list[float]] = {}
    for name, group in asked.items():
        for pattern in group:
            began = time.perf_counter()
            stores.graph.reach(pattern, view=view)
            stores.graph.paths(pattern, view=view)
            found.setdefault(name, []).append((time.perf_counter() - began) * 1000)
    return found


def counted(stores: MappedStores) -> dict[str, tuple[list[float], list[float]]]:
    """Milliseconds of each count by the server, and of the same from all rows; raises AssertionError where the two differ."""
    view = stores.catalog.view(reader=Reader("public", ["public"]))
    forward, backward = Direction.FORWARD, Direction.BACKWARD
    placed, contained = HopPattern(("PLACED",), forward, ("Order",)), HopPattern(("CONTAINS",), forward, ("Product",))
    in_order, by = HopPattern(("CONTAINS",), backward, ("Order",)), HopPattern(("PLACED",), backward, ("Customer",))
    supplies = HopPattern(("SUPPLIES",), forward, ("Product",))
    largest, supplier = ("Customer/1",), ("Supplier/1",)
    asked = {
        "orders of the largest customer": PathPattern(largest, (placed,), 1),
        "its orders of a year": PathPattern(largest, (replace(placed, time=YEAR),), 1),
        "customers of a supplier's products": PathPattern(supplier, (supplies, in_order, by), 1),
        "the product most ordered by it": PathPattern(largest, (placed, contained), 1),
    }
    times: dict[str, tuple[list[float], list[float]]] = {}
    for name, pattern in asked.items():
        times[name] = ([], [])
        for turn in range(8):
            answers = []
            for place, graph in enumerate((stores.graph, super(MappedGraph, stores.graph))):
                began = time.perf_counter()
                if name.startswith("the product"):
                    answers.append(repr(graph.top_ends(pattern, view=view)))
                else:
                    answers.append(repr(graph.count_ends([pattern], first=20, view=view)))
                if turn:
                    times[name][place].append((time.perf_counter() - began) * 1000)
            assert answers[0] == answers[1]
    return times


def main() -> int:
    """Fills the server if it is empty, then measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=200_000, help="a fifth of the relationships")
    options = parser.parse_args()
    settings = Neo4jSettings.from_environment(
        os.environ["GRAPHROUTE_NEO4J_URI"], read_timeout=120.0, write_timeout=600.0
    )
    with Neo4jConnection(settings) as connection:
        if not connection.read(Query("any", "MATCH (n) RETURN 1 LIMIT 1")):
            began = time.perf_counter()
            fill(connection, options.orders)
            print(f"filled with {5 * options.orders:,} relationships in {time.perf_counter() - began:.0f} s")
        asked = patterns(options.orders)
        times = {}
        for way, mapping in (("names in memory", MAPPING), ("names by query", replace(MAPPING, names_limit=0))):
            stores = open_mapped(connection, ONTOLOGY, mapping)
            began = time.perf_counter()
            stores.elements.world()
            stores.elements.warm()
            print(f"{way}: opened in {time.perf_counter() - began:.1f} s")
            measure(stores, {name: group[:3] for name, group in asked.items()})
            times[way] = measure(stores, asked)
        for name in asked:
            one, other = (sorted(times[way][name]) for way in times)
            middles = statistics.median(one), statistics.median(other)
            print(
                f"{name}: p50 {middles[0]:.1f} / {middles[1]:.1f} ms, p95 {one[int(len(one) * 0.95)]:.1f} / {other[int(len(other) * 0.95)]:.1f} ms, "
                f"in memory / by query {middles[0] / middles[1]:.2f}"
            )
        for name, (server, rows) in counted(open_mapped(connection, ONTOLOGY, MAPPING)).items():
            middle, other = statistics.median(server), statistics.median(rows)
            print(
                f"{name}: counted by the server {middle:.1f} ms, from rows {other:.1f} ms, ratio {middle / other:.2f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
