"""Opens the ports over a Neo4j graph that graphroute did not write."""

from __future__ import annotations

from dataclasses import dataclass

from graphroute.errors import ConfigurationError
from graphroute.stores.catalog.mapped import MappedCatalog
from graphroute.stores.graph.mapped import MappedGraph
from graphroute.stores.lexical.empty import NoPassages
from graphroute.stores.mapped.elements import Elements
from graphroute.stores.mapped.schema import Reads
from graphroute.stores.opening import OpenStores, StorePlan
from graphroute.stores.vector import VectorStore
from graphroute.types.mapping import GraphMapping
from graphroute.types.ontology import Ontology


@dataclass(frozen=True, slots=True)
class MappedStores:
    """The ports over one mapped graph. There are no passages to search and no vectors."""

    catalog: MappedCatalog
    graph: MappedGraph
    lexical: NoPassages
    elements: Elements


def open_mapped(connection: Reads, ontology: Ontology, mapping: GraphMapping) -> MappedStores:
    """Ports that read a foreign graph through `connection`, which stays the caller's to close. Nothing is read yet."""
    elements = Elements(connection, mapping, ontology)
    return MappedStores(MappedCatalog(elements), MappedGraph(elements), NoPassages(), elements)


def open_mapped_at(uri: str, ontology: Ontology, mapping: GraphMapping) -> OpenStores:
    """The same at an address, with the credentials of the environment. Raises ConfigurationError or BackendError."""
    from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings

    connection = Neo4jConnection(Neo4jSettings.from_environment(uri))
    try:
        stores = open_mapped(connection, ontology, mapping)
        stores.elements.world()
        stores.elements.warm()
    except BaseException:
        connection.close()
        raise
    return OpenStores(
        plan=StorePlan(catalog="mapped", graph="mapped", lexical="empty", vector="none", neo4j=uri),
        catalog=stores.catalog,
        graph=stores.graph,
        lexical=stores.lexical,
        vectors=_no_vectors,
        close=connection.close,
        resources={"neo4j": connection},
        undated=frozenset(name for name, relation in mapping.relations.items() if relation.date is None),
    )


def _no_vectors(identity: str) -> VectorStore:
    raise ConfigurationError("a mapped graph has no vectors")
