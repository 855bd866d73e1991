"""What one retriever returned: hits with scores of a named kind, bindings, and reasons for what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from graphroute.types.graph import Path
from graphroute.types.query import Reading
from graphroute.types.source import Passage
from graphroute.types.time import Instant


class ScoreKind(StrEnum):
    """The scale of a score; thresholds are set per kind."""

    EXACT = "exact"
    BM25 = "bm25"
    COSINE = "cosine"
    RRF = "rrf"
    PATH = "path"
    REPORT = "report"
    CE_LOGIT = "ce_logit"
    CE_PROB = "ce_prob"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunityReport:
    """An extractive report over a community of readable facts. `id` is derived from its members."""

    id: str
    title: str
    text: str
    entity_ids: tuple[str, ...]
    source_ids: tuple[str, ...]
    level: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One piece of evidence: exactly one of passage, path or report."""

    score: float
    kind: ScoreKind
    passage: Passage | None = None
    path: Path | None = None
    report: CommunityReport | None = None
    binding: str | None = None
    note: str | None = None


class Verdict(StrEnum):
    """What a retriever can say about the question as a whole."""

    ANSWERED = "answered"
    EVIDENCE = "evidence"
    EMPTY = "empty"
    ABSENT = "absent"
    UNRESOLVED = "unresolved"
    NOT_APPLICABLE = "not_applicable"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A value of the asked-for slot: an entity (`id`), a count or other literal (`id` None)."""

    id: str | None
    display: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalResult:
    """Hits best first. `bindings` are complete for ANSWERED, whatever the limits cut from the hits, unless `truncated_by` is set.

    ABSENT: everything resolved, and a closed-world relation has no valid readable fact or what held once has expired. UNRESOLVED: a
    named slot was not found. `instant`: the moment the facts were read at. `flags` are passed on to the bundle. `cypher`
    can be run on the server once the line `cypher_parameters` has set `$p`, and over a copy of a store `$view`, which is the
    `view` of `Trace.operator`. `stale_paths` is for the operator's log only.
    """

    retriever: str
    verdict: Verdict
    hits: tuple[Hit, ...] = ()
    bindings: tuple[Binding, ...] = ()
    reading: Reading | None = None
    anchors: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    cypher: str | None = None
    cypher_parameters: str = ""
    truncated_by: str | None = None
    evidence_truncated: bool = False
    instant: Instant | None = None
    stale_paths: int = 0
    stale_reason: str | None = None
    reason: str = ""
    flags: tuple[str, ...] = ()
    seconds: float = 0.0
