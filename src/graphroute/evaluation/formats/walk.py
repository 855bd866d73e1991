"""The solver of typed path queries: walks from the start fact by fact, with every hop along or against it as the query states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphroute.evaluation.formats.graph import Edge, PathQuery, Step
from graphroute.types.graph import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What a query gives on a graph.

    `answers`: ids, sorted. `mapping`: for a query with a key step, the answers by key. `paths`: for each answer its trails as places of facts, fewest hops
    first. `support`: the places used by the first trail of each answer, and for a mapping of each pair, ascending. `partial`: where there is no answer, the longest way into the query.
    """

    answers: tuple[str, ...] = ()
    mapping: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    paths: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    support: tuple[int, ...] = ()
    partial: tuple[int, ...] = ()


class EdgeIndex:
    """Facts by their ends, added and taken back one at a time. Places are those of the list they came from; `types` is shared, not copied."""

    def __init__(self, edges: Iterable[tuple[int, Edge]], types: Mapping[str, str]) -> None:
        self.types = types
        self._edges: dict[int, Edge] = {}
        self._leaving: dict[tuple[str, str], list[int]] = {}
        self._entering: dict[tuple[str, str], list[int]] = {}
        for place, edge in edges:
            self.add(place, edge)

    def add(self, place: int, edge: Edge) -> None:
        """One more fact; a negated one is never walked and so is not kept."""
        if edge.negated:
            return
        self._edges[place] = edge
        self._leaving.setdefault((edge.source, edge.relation), []).append(place)
        self._entering.setdefault((edge.target, edge.relation), []).append(place)

    def remove(self, place: int) -> None:
        """Without that fact."""
        edge = self._edges.pop(place, None)
        if edge is not None:
            self._leaving[edge.source, edge.relation].remove(place)
            self._entering[edge.target, edge.relation].remove(place)

    def hops(self, node: str, step: Step) -> list[tuple[int, str]]:
        """Facts that the step may walk from a node, and where each leads, in order of place; types are not looked at."""
        if step.direction is Direction.FORWARD:
            found = [(place, self._edges[place].target) for place in self._leaving.get((node, step.relation), ())]
        else:
            found = [(place, self._edges[place].source) for place in self._entering.get((node, step.relation), ())]
        return sorted(found)

    def admits(self, step: Step, node: str) -> bool:
        """True if the step may end at the node."""
        return not step.types or self.types.get(node) in step.types


def solve(index: EdgeIndex, query: PathQuery) -> Solution:
    """All answers by walking forward through the steps.

    A trail uses no fact twice, those of repeated steps aside. A repeated step is walked breadth first, once or more often, and gives the
    shortest way to each node.
    """
    # A trail so far: the nodes after each step, the places of the facts, and those of steps that are walked once.
    trails: list[tuple[tuple[str, ...], tuple[int, ...], frozenset[int]]] = [
        ((start,), (), frozenset()) for start in query.starts
    ]
    for step in query.steps:
        longer: list[tuple[tuple[str, ...], tuple[int, ...], frozenset[int]]] = []
        for nodes, places, used in trails:
            for reached, added in _repeated(index, nodes[-1], step) if step.repeat else _once(index, nodes[-1], step):
                if step.repeat:
                    longer.append(((*nodes, reached), (*places, *added), used))
                elif used.isdisjoint(added):
                    longer.append(((*nodes, reached), (*places, *added), used.union(added)))
        if not longer:
            ways = (places for _, places, _ in trails)
            return Solution(partial=min(ways, key=lambda places: (-len(places), places), default=()))
        trails = longer
    paths: dict[str, list[tuple[int, ...]]] = {}
    pairs: dict[tuple[str, str], tuple[int, ...]] = {}
    for nodes, places, _ in sorted(trails, key=lambda trail: (len(trail[1]), trail[1])):
        paths.setdefault(nodes[-1], []).append(places)
        if query.key_step is not None:
            pairs.setdefault((nodes[query.key_step], nodes[-1]), places)
    mapping: dict[str, list[str]] = {}
    for key, value in sorted(pairs):
        mapping.setdefault(key, []).append(value)
    proofs = pairs.values() if pairs else [found[0] for found in paths.values()]
    return Solution(
        answers=tuple(sorted(paths)),
        mapping={key: tuple(values) for key, values in mapping.items()},
        paths={answer: tuple(found) for answer, found in sorted(paths.items())},
        support=tuple(sorted({place for places in proofs for place in places})),
    )


def _once(index: EdgeIndex, node: str, step: Step) -> list[tuple[str, tuple[int, ...]]]:
    return [(reached, (place,)) for place, reached in index.hops(node, step) if index.admits(step, reached)]


def _repeated(index: EdgeIndex, start: str, step: Step) -> list[tuple[str, tuple[int, ...]]]:
    found: dict[str, tuple[int, ...]] = {}
    frontier: list[tuple[str, tuple[int, ...]]] = [(start, ())]
    while frontier:
        following: list[tuple[str, tuple[int, ...]]] = []
        for node, places in frontier:
            for place, reached in index.hops(node, step):
                if reached not in found and reached != start:
                    found[reached] = (*places, place)
                    following.append((reached, found[reached]))
        frontier = following
    return [(node, places) for node, places in found.items() if index.admits(step, node)]


def index_of(edges: Sequence[Edge], types: Mapping[str, str]) -> EdgeIndex:
    """An index of a whole list of facts."""
    return EdgeIndex(enumerate(edges), types)
