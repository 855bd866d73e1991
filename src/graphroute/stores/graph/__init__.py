"""Graph stores by name."""

from __future__ import annotations

from collections.abc import Callable

from graphroute.registry import Registry
from graphroute.stores.graph.base import GraphStore

GRAPH_STORES: Registry[Callable[..., GraphStore]] = Registry(
    "graph store",
    {"neo4j": "graphroute.stores.graph.neo4j:Neo4jGraph", "sqlite": "graphroute.stores.graph.sqlite:SqliteGraph"},
)

__all__ = ["GRAPH_STORES", "GraphStore"]
