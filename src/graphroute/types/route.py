"""RouteDecision: which route was chosen, why, and what was tried before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one question, already under the hard ceilings in code."""

    max_hops: int = 3
    max_paths: int = 40
    max_source_spans: int = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteDecision:
    """The route, the retrievers it runs in order with their parameters, and the reason.

    `rejected`: for each route tried before, its name and the part of its condition that failed.
    `fallback_from`: the route whose evidence was too thin, if this is the fallback.
    """

    route: str
    retrievers: tuple[str, ...]
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    limits: Limits = Limits()
    reason: str = ""
    features: Mapping[str, int | bool] = field(default_factory=dict)
    rejected: tuple[tuple[str, str], ...] = ()
    fallback_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sufficiency:
    """How well evidence answers the question, in [0, 1], and the parts the number is made of."""

    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    threshold: float = 0.0

    @property
    def sufficient(self) -> bool:
        """At or above the threshold."""
        return self.score >= self.threshold
