"""Catalogs by name."""

from __future__ import annotations

from collections.abc import Callable

from graphroute.registry import Registry
from graphroute.stores.catalog.base import Catalog

CATALOGS: Registry[Callable[..., Catalog]] = Registry(
    "catalog",
    {
        "neo4j": "graphroute.stores.catalog.neo4j:Neo4jCatalog",
        "sqlite": "graphroute.stores.catalog.sqlite:SqliteCatalog",
    },
)

__all__ = ["CATALOGS", "Catalog"]
