"""Vector stores by name."""

from __future__ import annotations

from collections.abc import Callable

from graphroute.registry import Registry
from graphroute.stores.vector.base import VectorStore

VECTOR_STORES: Registry[Callable[..., VectorStore]] = Registry(
    "vector store",
    {
        "exact": "graphroute.stores.vector.exact:ExactVectors",
        "neo4j": "graphroute.stores.vector.neo4j:Neo4jVectors",
        "qdrant": "graphroute.stores.vector.qdrant:QdrantVectors",
    },
)

__all__ = ["VECTOR_STORES", "VectorStore"]
