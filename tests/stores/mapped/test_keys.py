"""A key that does not tell nodes apart is refused, on a real server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest

from graphroute.errors import ConfigurationError
from graphroute.indexing.graph_inference import infer_graph
from graphroute.stores.mapped.elements import Elements
from graphroute.stores.mapped.schema import is_unique, read_schema
from graphroute.testing.property_graph import PropertyGraph


def workshop() -> PropertyGraph:
    """Two machines in one bay, whose number is no key of theirs."""
    graph = PropertyGraph()
    shop = graph.node("w", ["Workshop"], id=1, name="North shop")
    for number, name in enumerate(("Lathe", "Press"), start=1):
        machine = graph.node(f"m{number}", ["Machine"], id=number, name=name, bay=7)
        graph.relate(machine, "STANDS_IN", shop)
    return graph


@pytest.mark.integration
@pytest.mark.parametrize("names_limit", [1_000, 0])
def test_a_key_of_two_nodes_is_refused(
    neo4j_lease: Callable[[str], AbstractContextManager[Any]], names_limit: int
) -> None:
    with neo4j_lease("5.26") as server, server.connect() as connection:
        workshop().put(connection)
        schema = read_schema(connection)
        found = infer_graph(schema, lambda label, name: is_unique(connection, label, name), default_labels=["public"])
        mapping = replace(found.mapping, names_limit=names_limit)
        right = Elements(connection, mapping, found.ontology)
        assert set(right.find(["Machine/1", "Machine/2"])) == {"Machine/1", "Machine/2"}
        by_bay = replace(mapping.nodes["Machine"], key="bay")
        wrong = Elements(connection, replace(mapping, nodes={**mapping.nodes, "Machine": by_bay}), found.ontology)
        with pytest.raises(ConfigurationError, match="'Machine': several nodes have the same bay"):
            wrong.find(["Machine/7"])
