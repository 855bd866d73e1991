"""Orders of nodes and facts in a text; what the records say stays the same."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from graphroute.errors import ConfigurationError
from graphroute.serialization.records import FactRecord, NodeRecord, PathRecord, Profile, Records, as_checked, local_ids


@dataclass(frozen=True, slots=True)
class Hints:
    """What an ordering may look at. `anchors`: ids of the nodes that the question names; `seed`: of the shuffle."""

    anchors: tuple[str, ...] = ()
    seed: int = 0


Ordering = Callable[[Records, Hints], Records]


def given(records: Records, hints: Hints) -> Records:
    """As they come: in order of first use by the units."""
    return records


def canonical(records: Records, hints: Hints) -> Records:
    """Nodes by id, facts by subject, predicate, object and validity."""
    nodes = sorted(range(len(records.nodes)), key=lambda index: records.nodes[index].id)
    return _arranged(records, nodes, sorted(range(len(records.facts)), key=lambda index: _key(records.facts[index])))


def shuffled(records: Records, hints: Hints) -> Records:
    """Nodes and facts in an order drawn from the seed, the same for the same records in any order."""
    start = canonical(records, hints)
    chance = random.Random(hints.seed)  # noqa: S311 - a repeatable order, nothing secret
    nodes, facts = list(range(len(start.nodes))), list(range(len(start.facts)))
    chance.shuffle(nodes)
    chance.shuffle(facts)
    return _arranged(start, nodes, facts)


def relevant_first(records: Records, hints: Hints) -> Records:
    """Facts of paths in the order of the units, then those that touch a node of the question, then the others by key."""
    walked = dict.fromkeys(index for unit in records.units if isinstance(unit, PathRecord) for index, _ in unit.hops)
    anchors = frozenset(hints.anchors)

    def rank(index: int) -> tuple[bool, tuple[str, str, str, int, int, bool]]:
        fact = records.facts[index]
        return (fact.subject not in anchors and fact.object not in anchors, _key(fact))

    rest = sorted((index for index in range(len(records.facts)) if index not in walked), key=rank)
    facts = [*walked, *rest]
    return _arranged(records, _nodes_by_use(records, facts, hints.anchors), facts)


def breadth_first(records: Records, hints: Hints) -> Records:
    """Facts as a breadth-first search from the nodes of the question meets them, in both directions; what it does not reach comes last."""
    touching: dict[str, list[int]] = {}
    for index in sorted(range(len(records.facts)), key=lambda index: _key(records.facts[index])):
        fact = records.facts[index]
        for node in dict.fromkeys((fact.subject, fact.object)):
            touching.setdefault(node, []).append(index)
    known = {node.id for node in records.nodes}
    starts = [*(id for id in hints.anchors if id in known), *sorted(known)]
    seen: dict[str, None] = {}
    facts: dict[int, None] = {}
    for start in starts:
        if start in seen or (start not in hints.anchors and start not in touching):
            continue
        seen[start] = None
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for index in touching.get(node, ()):
                facts.setdefault(index)
                fact = records.facts[index]
                other = fact.object if fact.subject == node else fact.subject
                if other not in seen:
                    seen[other] = None
                    queue.append(other)
    return _arranged(records, _nodes_by_use(records, facts, hints.anchors), list(facts))


def interleave(records: Records, hints: Hints) -> Records:
    """As they come, each node written before the first fact that names it, by formats that can."""
    facts = range(len(records.facts))
    return replace(_arranged(records, _nodes_by_use(records, facts, ()), list(facts)), interleaved=True)


def grouped(records: Records, hints: Hints) -> Records:
    """Nodes of one type beside each other, facts of one subject beside each other, both in order of first appearance."""
    types: dict[tuple[str, ...], list[int]] = {}
    for index, node in enumerate(records.nodes):
        types.setdefault(node.types, []).append(index)
    nodes = [index for members in types.values() for index in members]
    subjects: dict[str, dict[tuple[str, bool], list[int]]] = {}
    for index, fact in enumerate(records.facts):
        subjects.setdefault(fact.subject, {}).setdefault((fact.predicate, fact.negated), []).append(index)
    facts = [
        index for node in nodes for members in subjects.get(records.nodes[node].id, {}).values() for index in members
    ]
    return _arranged(records, nodes, facts)


ORDERINGS: dict[str, Ordering] = {
    "given": given,
    "canonical": canonical,
    "shuffled": shuffled,
    "relevant_first": relevant_first,
    "breadth_first": breadth_first,
    "interleaved": interleave,
    "grouped": grouped,
}


def ordering(name: str) -> Ordering:
    """The ordering of that name. Raises ConfigurationError for an unknown one."""
    found = ORDERINGS.get(name)
    if found is None:
        raise ConfigurationError(f"unknown ordering {name!r}", allowed=", ".join(ORDERINGS))
    return found


def interleaved(records: Records) -> Iterator[tuple[Literal["node", "fact"], int]]:
    """Which node or fact is written next: all nodes first, or each before the fact that first names it."""
    shown = 0
    if records.interleaved:
        numbers = {node.id: number for number, node in enumerate(records.nodes, start=1)}
        for index, fact in enumerate(records.facts):
            upto = max(numbers[fact.subject], numbers[fact.object])
            while shown < upto:
                yield "node", shown
                shown += 1
            yield "fact", index
    while shown < len(records.nodes):
        yield "node", shown
        shown += 1
    if not records.interleaved:
        for index in range(len(records.facts)):
            yield "fact", index


def _key(fact: FactRecord) -> tuple[str, str, str, int, int, bool]:
    return (fact.subject, fact.predicate, fact.object, fact.validity.low, fact.validity.high, fact.negated)


def _nodes_by_use(records: Records, facts: Iterable[int], first: Collection[str]) -> Sequence[int]:
    numbers = {node.id: index for index, node in enumerate(records.nodes)}
    order = dict.fromkeys(numbers[id] for id in first if id in numbers)
    for index in facts:
        order.setdefault(numbers[records.facts[index].subject])
        order.setdefault(numbers[records.facts[index].object])
    return [*order, *(index for index in range(len(records.nodes)) if index not in order)]


def _arranged(records: Records, nodes: Sequence[int], facts: Sequence[int]) -> Records:
    """The same records with nodes and facts in that order; in lean records with the local ids that follow from it."""
    place = {index: number for number, index in enumerate(facts)}
    units = tuple(
        unit._replace(hops=tuple([(place[index], way) for index, way in unit.hops]))
        if isinstance(unit, PathRecord)
        else unit
        for unit in records.units
    )
    arranged = replace(
        records,
        nodes=tuple(records.nodes[index] for index in nodes),
        facts=tuple(records.facts[index] for index in facts),
        units=units,
    )
    found = renumbered(arranged) if records.profile is Profile.LEAN else arranged
    return as_checked(found) if records.checked else found


def renumbered(records: Records) -> Records:
    """Lean records whose nodes stand in another order, with local ids in that order."""
    names, _ = local_ids(records)
    return replace(
        records,
        nodes=tuple(NodeRecord(id=names[one.id], types=one.types, name=one.name) for one in records.nodes),
        facts=tuple(one._replace(subject=names[one.subject], object=names[one.object]) for one in records.facts),
        answers=tuple(one if one.id is None else replace(one, id=names[one.id]) for one in records.answers),
        units=tuple(
            one._replace(binding=names.get(one.binding, one.binding))
            if isinstance(one, PathRecord) and one.binding is not None
            else one
            for one in records.units
        ),
    )
