"""Lexical stores by name."""

from __future__ import annotations

from collections.abc import Callable

from graphroute.registry import Registry
from graphroute.stores.lexical.base import NO_FILTER, LexicalStore, PassageFilter, Scored

LEXICAL_STORES: Registry[Callable[..., LexicalStore]] = Registry(
    "lexical store",
    {
        "inverted": "graphroute.stores.lexical.inverted:InvertedIndex",
        "rank_bm25": "graphroute.stores.lexical.rank_bm25:RankBM25",
        "neo4j": "graphroute.stores.lexical.neo4j:Neo4jLexical",
        "qdrant": "graphroute.stores.lexical.qdrant:QdrantLexical",
    },
)

__all__ = ["LEXICAL_STORES", "NO_FILTER", "LexicalStore", "PassageFilter", "Scored"]
