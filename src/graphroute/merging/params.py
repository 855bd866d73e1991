"""What an operator may set about merging."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class MergeParams(BaseModel):
    """Settings of the merge.

    `k`: constant of reciprocal rank fusion. `weights`: factor of a retriever's ranks, 1 where not named. `max_source_spans`: distinct source
    spans in a bundle, beside the bound of the route. `max_source_share`: largest share of the passages that one source
    may fill. `max_path_share`: the same for paths that rest on one source alone. `context_passages`: passages beside paths that answer.
    `max_supports`: assertions of one fact whose
    supports are shown. `authority`: factor by source kind, over the ontology's.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    k: int = Field(default=60, ge=1, le=10_000)
    weights: dict[str, float] = Field(default_factory=dict)
    max_source_spans: int | None = Field(default=None, ge=1)
    max_source_share: float = Field(default=0.5, gt=0.0, le=1.0)
    context_passages: int = Field(default=10, ge=0, le=1000)
    max_path_share: float = Field(default=1.0, gt=0.0, le=1.0)
    max_supports: int = Field(default=8, ge=1)
    authority: dict[str, float] = Field(default_factory=dict)
