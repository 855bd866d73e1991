"""Hybrid retrieval router: the cheapest route that can prove an answer, as evidence the reader may see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphroute.types.reader import Reader

if TYPE_CHECKING:
    from graphroute.pipeline.engine import GraphRoute
    from graphroute.types.evidence import EvidenceBundle
    from graphroute.types.trace import Trace

__all__ = ["EvidenceBundle", "GraphRoute", "Reader", "Trace"]

_HOMES = {
    "EvidenceBundle": "graphroute.types.evidence",
    "GraphRoute": "graphroute.pipeline.engine",
    "Trace": "graphroute.types.trace",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'graphroute' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
