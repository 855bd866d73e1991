"""Settles contradicting facts of functional relations by precedence of their sources, over what the reader may see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphroute.merging.supports import dated
from graphroute.stores.catalog.base import Catalog
from graphroute.stores.graph.base import GraphStore
from graphroute.types.graph import Fact, Support
from graphroute.types.ontology import Ontology, RelationKind, RelationType
from graphroute.types.time import Interval, TimeFilter, TimeMode
from graphroute.types.view import View

FactKey = tuple[str, str, str, int, int]

MAX_RIVALS = 10_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a fact stands against those that contradict it.

    `beaten_by`: the object of the stronger fact, None for the strongest. `decisive`: the order of sources settled it, or the
    stronger fact began later and so ended the state, and the weaker fact is no evidence; otherwise age or id did, and both
    are shown.
    """

    rivals: tuple[str, ...]
    beaten_by: str | None
    decisive: bool


def settle(
    facts: Iterable[Fact],
    *,
    view: View,
    catalog: Catalog,
    graph: GraphStore,
    ontology: Ontology,
    authority: Mapping[str, float],
    window: Interval,
) -> Mapping[FactKey, Verdict]:
    """Verdicts on the facts that another readable fact contradicts: same subject and functional relation, another object, a shared instant.

    `window`: the time asked about; a fact that holds in it is contradicted only by what holds in it too. Order: the relation's precedence over source kinds, then authority of the kind, then the newer source, then the object's id. The facts
    compared with are all readable ones that hold at some instant of the fact, whether or not a path used them.
    """
    used: dict[str, list[Fact]] = {}
    for fact in facts:
        relation = ontology.relations.get(fact.predicate)
        if relation is not None and relation.functional:
            used.setdefault(fact.predicate, []).append(fact)
    verdicts: dict[FactKey, Verdict] = {}
    for predicate in sorted(used):
        mine = sorted({fact.key: fact for fact in used[predicate]}.values(), key=lambda fact: fact.key)
        subjects = sorted({fact.subject for fact in mine})
        reach = Interval(
            None if any(fact.validity.start is None for fact in mine) else min(fact.validity.low for fact in mine),
            None if any(fact.validity.end is None for fact in mine) else max(fact.validity.high for fact in mine),
        )
        others = graph.facts(
            subjects, (predicate,), view=view, time=TimeFilter(TimeMode.OVERLAPS, reach), limit=MAX_RIVALS
        )
        known = {fact.key: fact for fact in (*others, *mine)}
        groups = {
            fact.key: [
                rival
                for rival in known.values()
                if rival.subject == fact.subject
                and rival.object != fact.object
                and rival.validity.overlaps(fact.validity)
                and _within(rival, fact, window)
            ]
            for fact in mine
        }
        wanted = sorted(
            {
                assertion
                for key, rivals in groups.items()
                if rivals
                for fact in (known[key], *rivals)
                for assertion in fact.assertion_ids
            }
        )
        if not wanted:
            continue
        supports = catalog.supports(wanted, view=view)
        relation = ontology.relations[predicate]

        def strength(
            fact: Fact, relation: RelationType = relation, supports: Mapping[str, Sequence[Support]] = supports
        ) -> tuple[int, float, int]:
            return _strength(fact, relation, supports, authority)

        for key, rivals in groups.items():
            rivals = [rival for rival in rivals if any(supports.get(id) for id in rival.assertion_ids)]
            if not rivals:
                continue
            own = known[key]
            best = min(rivals, key=lambda fact: (strength(fact), fact.key))
            beaten = (strength(best), best.key) < (strength(own), own.key)
            decisive = strength(best)[:2] < strength(own)[:2]
            if not decisive:
                later = [r for r in rivals if _succeeds(r, own, window, relation) and strength(r) <= strength(own)]
                if later:
                    best = max(later, key=lambda fact: fact.key[3:])
                    beaten = decisive = True
            verdicts[key] = Verdict(
                rivals=tuple(sorted({rival.object for rival in rivals})),
                beaten_by=best.object if beaten else None,
                decisive=beaten and decisive,
            )
    return verdicts


def _within(rival: Fact, fact: Fact, window: Interval) -> bool:
    """Facts contradict inside the window if the fact holds there, else at any instant they share."""
    asked = fact.validity.intersection(window)
    return True if asked is None else rival.validity.overlaps(asked)


def _succeeds(rival: Fact, fact: Fact, window: Interval, relation: RelationType) -> bool:
    """True if the rival began after the fact and before the window did: the state had passed to it, whatever was loaded first."""
    if relation.kind is not RelationKind.STATE or rival.validity.start is None or fact.validity.start is None:
        return False
    return fact.validity.start < rival.validity.start <= window.low


def _strength(
    fact: Fact,
    relation: RelationType,
    supports: Mapping[str, Sequence[Support]],
    authority: Mapping[str, float],
) -> tuple[int, float, int]:
    """Lower is stronger: place in the precedence, authority, age of the best readable support."""
    last = len(relation.precedence)
    best: tuple[int, float, int] = (last + 1, 0.0, 0)
    for assertion_id in fact.assertion_ids:
        for support in supports.get(assertion_id, ()):
            kind = support.source_kind or ""
            place = relation.precedence.index(kind) if kind in relation.precedence else last
            best = min(best, (place, -authority.get(kind, 1.0), -dated(support)))
    return best
