"""Joins ranked lists into one by reciprocal ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphroute.types.retrieval import Hit, RetrievalResult, ScoreKind

Key = tuple[str, str]


@dataclass(slots=True)
class Fused:
    """One piece of evidence from all lists that hold it.

    `tier` 0: a path that answers; 1: an exact look-up; 2: anything else. `order`: place within tiers 0 and 1. `weak`:
    contradicted by newer evidence.
    """

    key: Key
    hit: Hit
    tier: int
    order: tuple[int, int]
    score: float
    retrievers: list[str] = field(default_factory=list)
    weak: bool = False


def key_of(hit: Hit) -> Key:
    """Identity of a hit's evidence across retrievers. Raises ValueError for a hit that holds none."""
    if hit.path is not None:
        return ("path", "\x1f".join(f"{hop.direction}\x1e{hop.fact.key!r}" for hop in hit.path.hops))
    if hit.passage is not None:
        return ("passage", hit.passage.id)
    if hit.report is not None:
        return ("report", hit.report.id)
    raise ValueError("a hit holds a passage, a path or a report")


def fuse(
    results: Sequence[RetrievalResult],
    *,
    k: int,
    weights: Mapping[str, float],
    answering: frozenset[int],
) -> list[Fused]:
    """All evidence, best first, each piece once.

    The score is the sum over lists of weight / (k + rank), ranks from 1 (Cormack, Clarke and Buettcher, SIGIR 2009). Paths of
    the lists numbered in `answering` keep their order and come first, then exact look-ups in theirs. Scores of different scales are never compared,
    and no hit is dropped for a low one. Ties go to the better single rank, then by identity.
    """
    found: dict[Key, Fused] = {}
    best: dict[Key, int] = {}
    for number, result in enumerate(results):
        weight = weights.get(result.retriever, 1.0)
        for rank, hit in enumerate(result.hits, start=1):
            key = key_of(hit)
            tier = 0 if hit.path is not None and number in answering else 1 if hit.kind is ScoreKind.EXACT else 2
            share = weight / (k + rank)
            held = found.get(key)
            if held is None:
                found[key] = Fused(key, hit, tier, (number, rank), share, [result.retriever])
                best[key] = rank
                continue
            if result.retriever not in held.retrievers:
                held.retrievers.append(result.retriever)
                held.score += share
            if tier < held.tier:
                held.hit, held.tier, held.order = hit, tier, (number, rank)
            best[key] = min(best[key], rank)
    return sorted(
        found.values(),
        key=lambda one: (
            one.tier,
            one.order if one.tier < 2 else (0, 0),
            -one.score if one.tier == 2 else 0.0,
            best[one.key],
            one.key,
        ),
    )
