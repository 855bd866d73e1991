"""Gold by brute force: what follows from the assertions for one reader at one instant, independent of the library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from meridian.model import Assertion, World

EVENTS = frozenset(
    {
        "AFFECTED",
        "APPROVED_BY",
        "ASSESSED_BY",
        "CAUSED_BY",
        "CHANGED",
        "CONCERNS",
        "FIXED_IN",
        "IMPACTED",
        "LED_BY",
        "PASSED",
        "RAISED_BY",
        "REQUESTED_BY",
        "STARTED_AFTER",
        "TOUCHED",
    }
)
"""As in schema/ontology.yaml; the test compares the two."""


@dataclass(frozen=True, kw_only=True)
class Hop:
    """A step over a relation, `out` from subject to object, else backwards.

    `where` tests fields of the node reached, `kind` its type where the relation leads to several.
    """

    relation: str
    out: bool
    where: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = None


def out(relation: str, **where: str) -> Hop:
    """A step along a relation."""
    return Hop(relation=relation, out=True, where=where)


def back(relation: str, kind: str | None = None, **where: str) -> Hop:
    """A step against a relation."""
    return Hop(relation=relation, out=False, where=where, kind=kind)


@dataclass(frozen=True, kw_only=True)
class Trail:
    """A path: its nodes and the assertions between them."""

    nodes: tuple[str, ...]
    edges: tuple[Assertion, ...]


@dataclass(frozen=True, kw_only=True)
class Found:
    """Trails that hold, and how many more rest on sources past their maximum age."""

    trails: tuple[Trail, ...]
    stale: int

    @property
    def ends(self) -> tuple[str, ...]:
        """The distinct last nodes, sorted."""
        return tuple(sorted({trail.nodes[-1] for trail in self.trails}))


class Knowledge:
    """What one reader knows at one day, or within `[low, high)` if a range is asked about."""

    def __init__(self, world: World, labels: Iterable[str], day: str, within: tuple[str, str] | None = None) -> None:
        self.world = world
        self.labels = frozenset(labels)
        self.day = day
        self.within = within
        self._by_end: dict[tuple[str, bool, str], list[Assertion]] = {}
        for assertion in world.assertions.values():
            if world.proofs(assertion, self.labels) and self._holds(assertion) and not self._beaten(assertion):
                self._by_end.setdefault((assertion.r, True, assertion.s), []).append(assertion)
                self._by_end.setdefault((assertion.r, False, assertion.o), []).append(assertion)

    def _holds(self, assertion: Assertion) -> bool:
        start, end = assertion.start or "", assertion.end or "9999"
        if assertion.r in EVENTS:
            return self.within[0] <= start < self.within[1] if self.within else start <= self.day
        if self.within:
            return start < self.within[1] and end > self.within[0]
        return start <= self.day < end

    def _beaten(self, assertion: Assertion) -> bool:
        """The directory is believed before the catalogue, and it names an owner for every service since 2024."""
        return assertion.r == "OWNED_BY" and assertion.id.endswith(":catalogue")

    def fresh(self, assertion: Assertion) -> bool:
        """True if a readable proof is young enough."""
        limit = self.world.max_age_days.get(assertion.r)
        if limit is None:
            return True
        day = date.fromisoformat(self.day)
        return any(
            (day - date.fromisoformat((self.world.documents[source].at or "")[:10])).days <= limit
            for group in self.world.proofs(assertion, self.labels)
            for source, _, _ in group
        )

    def find(self, starts: Sequence[str], hops: Sequence[Hop]) -> Found:
        """All trails from the starts over the hops."""
        trails = [Trail(nodes=(start,), edges=()) for start in starts]
        for hop in hops:
            longer = []
            for trail in trails:
                for edge in self._by_end.get((hop.relation, hop.out, trail.nodes[-1]), []):
                    node = edge.o if hop.out else edge.s
                    fields = self.world.entities[node].fields
                    if edge in trail.edges or node in trail.nodes or hop.kind not in (None, node.partition(":")[0]):
                        continue
                    if all(fields.get(key) == value for key, value in hop.where.items()):
                        longer.append(Trail(nodes=(*trail.nodes, node), edges=(*trail.edges, edge)))
            trails = longer
        fresh = tuple(trail for trail in trails if all(self.fresh(edge) for edge in trail.edges))
        return Found(trails=fresh, stale=len(trails) - len(fresh))

    def sources(self, edge: Assertion) -> list[str | dict[str, list[str]]]:
        """What must be shown for the edge: one of the documents that prove it alone, else all of the only joint proof."""
        proofs = self.world.proofs(edge, self.labels)
        in_force = [group for group in proofs if all(self._in_force(source) for source, _, _ in group)] or proofs
        alone = sorted({group[0][0] for group in in_force if len(group) == 1})
        if len(alone) > 1:
            return [{"any_of": alone}]
        return [*(alone or sorted({source for source, _, _ in in_force[0]}))]

    def _in_force(self, document_id: str) -> bool:
        document = self.world.documents[document_id]
        return (document.valid_from or "") <= self.day < (document.valid_to or "9999")

    def superseded(self, edges: Iterable[Assertion]) -> list[str]:
        """Readable documents that state another object for the subject and relation of an edge, and hold at another time only."""
        found = set()
        for edge in edges:
            shown = {source for group in edge.supports for source, _, _ in group}
            for rival in self.world.assertions.values():
                if (rival.s, rival.r) == (edge.s, edge.r) and rival.o != edge.o and not self._holds(rival):
                    for group in self.world.proofs(rival, self.labels):
                        found |= {s for s, _, _ in group if s not in shown and not self._in_force(s)}
        return sorted(found)
