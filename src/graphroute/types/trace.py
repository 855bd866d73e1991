"""Trace of one question; the decision record and the explanation are both projections of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphroute.types.answer import Answer
from graphroute.types.evidence import EvidenceBundle
from graphroute.types.prompt import SerializedEvidence
from graphroute.types.query import ParsedQuery
from graphroute.types.reader import Reader
from graphroute.types.retrieval import RetrievalResult
from graphroute.types.route import RouteDecision, Sufficiency


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One route tried: the decision, what its retrievers returned, and how sufficient that was."""

    decision: RouteDecision
    results: tuple[RetrievalResult, ...]
    sufficiency: Sufficiency


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Everything one run decided. `seconds` per stage; `operator` holds what only the operator may see."""

    run_id: str
    reader: Reader
    query: ParsedQuery
    attempts: tuple[Attempt, ...]
    bundle: EvidenceBundle
    serialized: SerializedEvidence | None = None
    answer: Answer | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    config_hash: str = ""
    operator: Mapping[str, int | str] = field(default_factory=dict)
