"""Communities of the readable graph and extractive reports over them, equal to the byte for equal facts."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import graspologic_native

from graphroute.text import STOP_WORDS, terms
from graphroute.types.graph import Entity, Fact
from graphroute.types.retrieval import CommunityReport
from graphroute.types.source import Passage

SEED = 1
"""Seed of the partition; with vertices and edges sorted it makes the partition a function of the facts alone."""

_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|[.!?]+(?=[^\s.!?]))+[.!?。！？]*")
_FIELD = re.compile(r"[\s\-]*[\w-]{1,40}:(?:\s|$)")
_STOP = frozenset().union(*STOP_WORDS.values())
_MAX_SENTENCE = 400


@dataclass(frozen=True, slots=True)
class Community:
    """Entities that are closer to each other than to the rest. `level` 0 is the coarsest; `leaf`: not divided further."""

    id: str
    level: int
    members: tuple[str, ...]
    leaf: bool


def detect(facts: Iterable[Fact], *, max_size: int = 60, resolution: float = 1.0) -> tuple[Community, ...]:
    """Communities of the entity graph by hierarchical Leiden (Traag, Waltman and van Eck, Scientific Reports 2019).

    An edge weighs as many facts as join its two entities; communities larger than `max_size` are divided again. The id is a hash of
    level and members, so it does not depend on the order of facts or of the detector's numbers. Sorted by level, then size, then id.
    """
    weights: Counter[tuple[str, str]] = Counter()
    for fact in facts:
        if fact.subject != fact.object:
            weights[min(fact.subject, fact.object), max(fact.subject, fact.object)] += 1
    if not weights:
        return ()
    edges = [(low, high, float(weight)) for (low, high), weight in sorted(weights.items())]
    found = graspologic_native.hierarchical_leiden(
        edges, max_cluster_size=max_size, resolution=resolution, seed=SEED, use_modularity=True
    )
    members: dict[tuple[int, int], set[str]] = {}
    final: dict[tuple[int, int], bool] = {}
    for one in found:
        key = (one.level, one.cluster)
        members.setdefault(key, set()).add(one.node)
        final[key] = bool(one.is_final_cluster)
    communities = []
    for (level, cluster), nodes in members.items():
        ordered = tuple(sorted(nodes))
        digest = hashlib.sha256("\x00".join((str(level), *ordered)).encode()).hexdigest()[:12]
        communities.append(Community(f"c{level}-{digest}", level, ordered, final[level, cluster]))
    return tuple(sorted(communities, key=lambda one: (one.level, -len(one.members), one.id)))


def inner_facts(community: Community, facts_by_entity: Mapping[str, Sequence[Fact]]) -> list[Fact]:
    """Facts with both ends in the community, in fact order."""
    inside = set(community.members)
    found = {
        fact.key: fact
        for entity in community.members
        for fact in facts_by_entity.get(entity, ())
        if fact.subject in inside and fact.object in inside
    }
    return [found[key] for key in sorted(found)]


def report(
    community: Community,
    facts: Sequence[Fact],
    entities: Mapping[str, Entity],
    passages: Sequence[Passage],
    fact_sources: Sequence[str],
    *,
    focus: Iterable[str] = (),
    sentences: int = 8,
    top: int = 8,
) -> CommunityReport:
    """An extractive report: the members named most by its facts, its relations with counts, and sentences that cover its terms.

    `fact_sources`: the sources that prove the named relations; `passages`: what sentences are drawn from; `focus`: terms that count more,
    such as the question's. The sources of the report are those of its sentences, then those of its facts.
    """
    degree: Counter[str] = Counter()
    relations: Counter[str] = Counter()
    for fact in facts:
        degree[fact.subject] += 1
        degree[fact.object] += 1
        relations[fact.predicate] += 1
    leading = sorted(community.members, key=lambda id: (-degree[id], id))[:top]

    def name(entity_id: str) -> str:
        return entities[entity_id].name if entity_id in entities else entity_id

    def entry(entity_id: str) -> str:
        kind = entities[entity_id].type if entity_id in entities else ""
        return f"{name(entity_id)} ({kind + ', ' if kind else ''}{degree[entity_id]} facts)"

    chosen = _cover(passages, frozenset(focus), sentences)
    lines = [f"{len(community.members)} entities, {len(facts)} facts."]
    lines.append(f"Most connected: {'; '.join(map(entry, leading))}.")
    counted = sorted(relations.items(), key=lambda pair: (-pair[1], pair[0]))[:top]
    lines.append(f"Relations: {', '.join(f'{predicate} {count}' for predicate, count in counted)}.")
    lines.extend(f"{sentence} ({passage.source_id})" for passage, sentence in chosen)
    sources = dict.fromkeys((*(passage.source_id for passage, _ in chosen), *fact_sources))
    return CommunityReport(
        id=community.id,
        title=", ".join(map(name, leading[:3])),
        text="\n".join(lines),
        entity_ids=community.members,
        source_ids=tuple(sources),
        level=community.level,
    )


def _cover(passages: Sequence[Passage], focus: frozenset[str], count: int) -> list[tuple[Passage, str]]:
    """Sentences chosen greedily: each adds the largest weight of terms not yet covered, per root of its length; one source twice at most.

    A term weighs the number of passages that hold it, more if it is in focus. Short lines and `key: value` fields are drawn only where there is
    no prose.
    """
    spread: Counter[str] = Counter()
    held: list[tuple[Passage, str, frozenset[str]]] = []
    for passage in passages:
        spread.update(set(terms(passage.text)) - _STOP)
        for match in _SENTENCE.finditer(passage.text):
            sentence = " ".join(match.group().split())[:_MAX_SENTENCE]
            found = frozenset(terms(sentence)) - _STOP
            if len(found) >= 3:
                held.append((passage, sentence, found))
    prose = [one for one in held if len(one[2]) >= 5 and not _FIELD.match(one[1])]
    held = prose or held
    weight = {term: number * (4.0 if term in focus else 1.0) for term, number in spread.items()}
    covered: set[str] = set()
    used: Counter[str] = Counter()
    chosen: list[tuple[Passage, str]] = []

    def gain(index: int) -> tuple[float, int]:
        passage, _, found = held[index]
        fresh = sum(weight.get(term, 0.0) for term in sorted(found - covered))
        return (fresh / len(found) ** 0.5 / (1 + used[passage.source_id]), -index)

    left = set(range(len(held)))
    while left and len(chosen) < count:
        best = max(sorted(left), key=gain)
        if gain(best)[0] <= 0.0:
            break
        passage, sentence, found = held[best]
        left.discard(best)
        covered |= found
        used[passage.source_id] += 1
        chosen.append((passage, sentence))
        if used[passage.source_id] >= 2:
            left -= {index for index in left if held[index][0].source_id == passage.source_id}
    return chosen


def profile(community: Community, facts: Sequence[Fact], entities: Mapping[str, Entity]) -> Counter[str]:
    """Terms that stand for a community: names and types of members, words of relations, each as often as it comes."""
    found: Counter[str] = Counter()
    for entity_id in community.members:
        entity = entities.get(entity_id)
        if entity is not None:
            for text in {entity.name, *entity.types, *entity.names[:3]}:
                found.update(set(terms(text)) - _STOP)
    for predicate, count in Counter(fact.predicate for fact in facts).items():
        for term in set(terms(predicate.replace("_", " "))) - _STOP:
            found[term] += count
    return found
