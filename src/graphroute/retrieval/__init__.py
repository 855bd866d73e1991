"""Retrievers by name."""

from typing import Any

from graphroute.registry import Registry

RETRIEVERS: Registry[Any] = Registry(
    "retriever",
    {
        "entity_passages": "graphroute.retrieval.entity_passages:EntityPassages",
        "global_community": "graphroute.retrieval.global_community:GlobalCommunity",
        "identifier": "graphroute.retrieval.identifier:Identifier",
        "lexical": "graphroute.retrieval.lexical:Lexical",
        "local_graph": "graphroute.retrieval.local_graph:LocalGraph",
        "vector": "graphroute.retrieval.vector:Vector",
    },
)
