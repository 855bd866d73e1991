"""Formats by name."""

from __future__ import annotations

from graphroute.registry import Registry
from graphroute.serialization.formats.base import Format

FORMATS: Registry[type[Format]] = Registry(
    "format",
    {
        "edge_list": "graphroute.serialization.formats.edge_list:EdgeList",
        "pretty_json": "graphroute.serialization.formats.pretty_json:PrettyJson",
    },
)

__all__ = ["FORMATS", "Format"]
