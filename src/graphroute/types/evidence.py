"""EvidenceBundle: what the generator may use, where each piece comes from, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphroute.types.graph import Entity, Path, Support
from graphroute.types.retrieval import Binding, CommunityReport, ScoreKind
from graphroute.types.source import Passage
from graphroute.types.time import Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceUnit:
    """One budgeted unit: a passage, a report, or a whole path with its supports. `id` is stable within a bundle."""

    id: str
    rank: int
    retrievers: tuple[str, ...]
    score: float
    score_kind: ScoreKind
    passage: Passage | None = None
    path: Path | None = None
    report: CommunityReport | None = None
    binding: str | None = None
    conflict: bool = False
    note: str | None = None

    @property
    def kind(self) -> str:
        """`path`, `passage` or `report`."""
        return "path" if self.path else "passage" if self.passage else "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """Something that is not in the bundle, at which stage it was left out, and why, in the reader's view."""

    what: str
    stage: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Degradation:
    """A stage that failed or was skipped. "Nothing found" is only said where there is none."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceBundle:
    """The structured result of retrieval for one reader at one instant and snapshot.

    `answers`: bindings of the asked-for slot, complete whatever was cut from `units`. `supports`: for each assertion used the
    readable support shown. `access` names the readable scope, not its labels. `paths_returned` counts the paths found, those rejected as stale included. `entities`: display forms of every entity named in paths. `abstained` with `reason`
    when the question cannot be answered from what the reader may see.
    """

    question: str
    reader: str
    route: str
    retrievers: tuple[str, ...]
    snapshot: str
    as_of: Instant
    units: tuple[EvidenceUnit, ...] = ()
    answers: tuple[Binding, ...] = ()
    anchors: tuple[str, ...] = ()
    entities: Mapping[str, Entity] = field(default_factory=dict)
    supports: Mapping[str, tuple[Support, ...]] = field(default_factory=dict)
    source_titles: Mapping[str, str] = field(default_factory=dict)
    omissions: tuple[Omission, ...] = ()
    degraded: tuple[Degradation, ...] = ()
    abstained: bool = False
    reason: str = ""
    truncated: bool = False
    evidence_truncated: bool = False
    fallback: bool = False
    flags: tuple[str, ...] = ()
    cypher: str | None = None
    paths_returned: int = 0
    paths_rejected_as_stale: int = 0
    access: str = ""
    schema_version: int = 1

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the sources shown, in rank order, each once."""
        seen: dict[str, None] = {}
        for unit in self.units:
            if unit.path:
                for hop in unit.path.hops:
                    for assertion_id in hop.fact.assertion_ids:
                        for support in self.supports.get(assertion_id, ()):
                            seen.setdefault(support.span.source_id)
            elif unit.passage:
                seen.setdefault(unit.passage.source_id)
            elif unit.report:
                for source_id in unit.report.source_ids:
                    seen.setdefault(source_id)
        return tuple(seen)

    @property
    def edges(self) -> tuple[str, ...]:
        """Ids of the readable assertions used, in rank order, each once."""
        seen: dict[str, None] = {}
        for unit in self.units:
            if unit.path:
                for hop in unit.path.hops:
                    for assertion_id in hop.fact.assertion_ids:
                        seen.setdefault(assertion_id)
        return tuple(seen)
