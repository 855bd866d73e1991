"""Formats by name."""

from __future__ import annotations

from graphroute.registry import Registry
from graphroute.serialization.formats.base import Format

FORMATS: Registry[type[Format]] = Registry(
    "format",
    {
        "adjacency": "graphroute.serialization.formats.adjacency:Adjacency",
        "compact_json": "graphroute.serialization.formats.compact_json:CompactJson",
        "csv": "graphroute.serialization.formats.csv:Csv",
        "dsl": "graphroute.serialization.formats.dsl:Dsl",
        "edge_list": "graphroute.serialization.formats.edge_list:EdgeList",
        "jsonl": "graphroute.serialization.formats.jsonl:JsonLines",
        "pretty_json": "graphroute.serialization.formats.pretty_json:PrettyJson",
        "toon": "graphroute.serialization.formats.toon:Toon",
        "tsv": "graphroute.serialization.formats.tsv:Tsv",
    },
)

__all__ = ["FORMATS", "Format"]
