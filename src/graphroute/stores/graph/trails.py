"""Trails and reached entities, worked out level by level from rows of facts; shared by the graph stores."""

from __future__ import annotations

import threading
import time as clock
from abc import ABC, abstractmethod
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphroute.errors import DeadlineError, UsageError
from graphroute.stores.graph.base import HARD_MAX_HOPS, HARD_MAX_PATHS
from graphroute.types.graph import Direction, EndCount, Fact, Hop, HopPattern, Path, PathPattern, PathSet, TopEnds
from graphroute.types.time import ANY_TIME, MAX_INSTANT, MIN_INSTANT, Interval, TimeFilter
from graphroute.types.view import View

_KEPT_VIEWS = 32
_STEPS_BETWEEN_CHECKS = 4_096

FactKey = tuple[str, str, str, int, int]
"""Subject, predicate, object, low and high of a fact."""

Edge = tuple[FactKey, int, str]
"""Fact, direction (0 walks subject to object) and the entity reached."""

EdgeRow = tuple[str, str, int, str, int, int]
"""Entity left, predicate, direction, entity reached, low and high."""

StepRow = tuple[str, str, str]
"""Entity left, predicate, entity reached."""

Column = tuple[str, frozenset[str]]
"""An earlier entity of a trail with the predicates of the hops at it."""


class TrailGraph(ABC):
    """Paths and reach of the graph port over a store's rows of facts. Safe to share between threads.

    A pattern is expanded level by level, each level one query over distinct entities, so that the work is bounded by
    the facts touched and not by the number of walks; trails are then read off in canonical order, lazily.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memos: OrderedDict[tuple[int, frozenset[int], str], dict[Any, Any]] = OrderedDict()

    # Rows of the store ----------------------------------------------------------------------------------------------------
    # Each method returns distinct rows, in any order, that one hop may walk from the nodes to another entity. All filters of
    # the hop and of the view act inside. Nodes are distinct and not empty.

    @abstractmethod
    def _edge_rows(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None
    ) -> Sequence[EdgeRow]: ...

    @abstractmethod
    def _step_rows(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None
    ) -> Sequence[StepRow]: ...

    @abstractmethod
    def _end_rows(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None
    ) -> Iterable[tuple[str, str]]:
        """(entity left, entity reached) pairs."""

    @abstractmethod
    def _assertion_ids(
        self, keys: Collection[FactKey], view: View, deadline: float | None
    ) -> Mapping[FactKey, tuple[str, ...]]:
        """The ids of the readable assertions that state each fact, in id order."""

    @abstractmethod
    def _touching(self, nodes: Sequence[str], hop: HopPattern, limit: int, view: View) -> Iterable[FactKey]:
        """The first `limit` distinct facts that touch the nodes, loops too, in order."""

    @abstractmethod
    def _members(self, types: Sequence[str], view: View) -> Iterable[str]:
        """The readable entities that have one of the types for the view."""

    @abstractmethod
    def _stated(self, time: TimeFilter, view: View) -> Iterable[tuple[str, str, str, int, int, str]]:
        """Each readable fact with each readable assertion that states it, in order."""

    @abstractmethod
    def _counted(self, view: View) -> Iterable[tuple[str, str, str, int]]:
        """The rows of `fact_counts`, in any order."""

    # Port -----------------------------------------------------------------------------------------------------------------

    def paths(self, pattern: PathPattern, *, view: View, deadline: float | None = None) -> PathSet:
        """Trails that match the pattern, in canonical order (`Path.key`), at most `pattern.limit`.

        A trail uses no fact twice and never returns to its start; an inner entity comes again only through a
        predicate that no earlier hop of the trail at that entity has. Raises DeadlineError past the deadline.
        """
        _check(pattern)
        limit = min(pattern.limit, HARD_MAX_PATHS)
        if limit < 1:
            return PathSet(())
        levels = self._edges(pattern, view, deadline)
        if levels is None:
            return PathSet(())
        found: list[tuple[Edge, ...]] = []
        for trail in _trails(levels, sorted(set(pattern.starts)), deadline):
            found.append(trail)
            if len(found) > limit:
                break
        truncated = len(found) > limit
        kept = found[:limit]
        facts = self._facts({edge[0] for trail in kept for edge in trail}, view, deadline)
        directions = (Direction.FORWARD, Direction.BACKWARD)
        paths = tuple(Path(tuple(Hop(facts[key], directions[way]) for key, way, _ in trail)) for trail in kept)
        return PathSet(paths, truncated)

    def reach(self, pattern: PathPattern, *, view: View, deadline: float | None = None) -> tuple[str, ...]:
        """All entities a matching trail ends at, complete, in id order; `pattern.limit` does not apply."""
        _check(pattern)
        starts = sorted(set(pattern.starts))
        if len(pattern.hops) == 1:
            return tuple(sorted({end for _, end in self._ends(starts, pattern.hops[0], view, deadline)}))
        ends = self._reach(pattern, starts, view, deadline, by_start=False)
        return tuple(sorted({end for _, end in ends}))

    def reach_from(
        self, pattern: PathPattern, *, view: View, deadline: float | None = None
    ) -> Sequence[tuple[str, tuple[str, ...]]]:
        """For each start that reaches anything, in id order, all entities a trail from it ends at, in id order."""
        _check(pattern)
        starts = sorted(set(pattern.starts))
        if len(pattern.hops) == 1:
            pairs = self._ends(starts, pattern.hops[0], view, deadline)
        else:
            pairs = self._reach(pattern, starts, view, deadline, by_start=True)
        found: dict[str, set[str]] = defaultdict(set)
        for start, end in pairs:
            found[start].add(end)
        return [(start, tuple(sorted(found[start]))) for start in sorted(found)]

    def count_ends(
        self,
        patterns: Sequence[PathPattern],
        *,
        united: bool = False,
        first: int = 0,
        view: View,
        deadline: float | None = None,
    ) -> EndCount:
        """How many entities trails of every pattern (`united`: of any) end at, exact; `PathPattern.limit` does not apply."""
        sets = [set(self.reach(pattern, view=view, deadline=deadline)) for pattern in patterns]
        if not sets:
            return EndCount(0)
        ends = set.union(*sets) if united else set.intersection(*sets)
        return EndCount(len(ends), tuple(sorted(ends)[: max(first, 0)]))

    def top_ends(
        self, pattern: PathPattern, *, most: bool = True, view: View, deadline: float | None = None
    ) -> TopEnds:
        """The entities that the last hop reaches from the most (else the fewest) distinct entities that the hops before it reach.

        Exact over all groups; `PathPattern.limit` does not apply.
        """
        _check(pattern)
        before: Sequence[str] = sorted(set(pattern.starts))
        if len(pattern.hops) > 1:
            before = self.reach(replace(pattern, hops=pattern.hops[:-1]), view=view, deadline=deadline)
        return TopEnds.of(self._ends(before, pattern.hops[-1], view, deadline), most=most)

    def facts(
        self,
        entity_ids: Iterable[str],
        predicates: Sequence[str] = (),
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
        limit: int = 1000,
    ) -> Sequence[Fact]:
        """Facts that touch any of the entities, in `Fact.key` order, at most `limit`."""
        nodes = sorted(set(entity_ids))
        hop = HopPattern(tuple(predicates), None, time=time)
        if limit < 1 or not _walkable(nodes, hop, view):
            return []
        facts = self._facts(set(self._touching(nodes, hop, limit, view)), view)
        return [facts[key] for key in sorted(facts)]

    def entities_of_type(self, types: Sequence[str], *, view: View) -> tuple[str, ...]:
        """Ids of the readable entities of the types, in id order."""
        memo = self._memo(view)
        key = ("type", frozenset(types))
        if key not in memo:
            memo[key] = tuple(sorted(set(self._members(sorted(set(types)), view))))
        found: tuple[str, ...] = memo[key]
        return found

    def all_facts(self, *, view: View, time: TimeFilter = ANY_TIME) -> Sequence[Fact]:
        """Every readable fact, in `Fact.key` order; what communities are computed over."""
        return list(_grouped(self._stated(time, view)))

    def fact_counts(self, *, view: View) -> Sequence[tuple[str, str, str, int]]:
        """(subject type, predicate, object type, number of readable facts), in that order.

        An entity without a type counts under "", one of several types under each.
        """
        memo = self._memo(view)
        if "fact counts" not in memo:
            memo["fact counts"] = sorted(self._counted(view))
        return list(memo["fact counts"])

    # Levels ---------------------------------------------------------------------------------------------------------------

    def _memo(self, view: View) -> dict[Any, Any]:
        key = view.rows
        with self._lock:
            memo = self._memos.setdefault(key, {})
            self._memos.move_to_end(key)
            while len(self._memos) > _KEPT_VIEWS:
                self._memos.popitem(last=False)
        return memo

    def _edges(self, pattern: PathPattern, view: View, deadline: float | None) -> list[dict[str, list[Edge]]] | None:
        """For each hop the edges that lie on a walk of the whole pattern, by the entity they leave; None if there is none."""
        frontier = sorted(set(pattern.starts))
        single = frontier[0] if len(frontier) == 1 else None
        levels: list[Sequence[EdgeRow]] = []
        for hop in pattern.hops:
            rows = self._edge_rows(frontier, hop, view, deadline) if _walkable(frontier, hop, view) else ()
            if single is not None:
                rows = [row for row in rows if row[3] != single]
            if not rows:
                return None
            levels.append(rows)
            frontier = sorted({row[3] for row in rows})
        alive_ends: set[str] | None = None
        edges: list[dict[str, list[Edge]]] = []
        for rows in reversed(levels):
            level: dict[str, list[Edge]] = defaultdict(list)
            for node, predicate, way, other, low, high in rows:
                if alive_ends is None or other in alive_ends:
                    key = (other, predicate, node, low, high) if way else (node, predicate, other, low, high)
                    level[node].append((key, way, other))
            alive_ends = set(level)
            edges.append(level)
        edges.reverse()
        return edges

    def _reach(
        self, pattern: PathPattern, starts: list[str], view: View, deadline: float | None, *, by_start: bool
    ) -> Iterator[tuple[str, str]]:
        """(start, end) pairs of trails; without `by_start` at least one pair for each end.

        A state is an entity with the earlier entities that a later hop may not enter. States are carried level by level and
        thinned to a representative family: kept states of an entity suffice for every continuation (see `_thin`).
        """
        hops = len(pattern.hops)
        fetched: list[Sequence[StepRow]] = []
        frontier, sets = starts, [set(starts)]
        single = starts[0] if len(starts) == 1 else None
        for hop in pattern.hops:
            rows = self._step_rows(frontier, hop, view, deadline) if _walkable(frontier, hop, view) else ()
            if single is not None:
                rows = [row for row in rows if row[2] != single]
            if not rows:
                return
            fetched.append(rows)
            frontier = sorted({row[2] for row in rows})
            sets.append(set(frontier))

        predicates = [frozenset(predicate for _, predicate, _ in rows) for rows in fetched]
        plan = _Plan(hops, sets, predicates, constant_start=single is not None)
        if plan.free and not by_start:
            for end in frontier:
                yield "", end
            return
        # Keep what leads to an end, so that no state is carried into a dead end.
        for index in range(hops - 2, -1, -1):
            onward = {row[0] for row in fetched[index + 1]}
            fetched[index] = [row for row in fetched[index] if row[2] in onward]

        watch = _Watch(deadline)
        states: dict[tuple[str, str], set[tuple[Column | None, ...]]] = {}
        for start in starts:
            first = (start, frozenset[str]()) if plan.start_matters(0) and not by_start else None
            states[start if by_start else "", start] = {(first,)}
        for index, rows in enumerate(fetched):
            onward_rows: dict[str, list[tuple[str, str]]] = defaultdict(list)
            for node, predicate, other in rows:
                onward_rows[node].append((predicate, other))
            following: dict[tuple[str, str], set[tuple[Column | None, ...]]] = defaultdict(set)
            for (owner, node), columns_of in states.items():
                edges = onward_rows.get(node)
                if not edges:
                    continue
                for predicate, other in edges:
                    if by_start and other == owner:
                        continue
                    target = following[owner, other]
                    for columns in columns_of:
                        watch.step()
                        if _blocked(columns, predicate, other):
                            continue
                        target.add(plan.carry(columns, index, node, predicate, other))
            left = hops - index - 1
            states = {}
            for state, family in following.items():
                if family:
                    states[state] = _thin(family, left) if left else family
        for owner, end in states:
            yield owner, end

    def _ends(
        self, nodes: Sequence[str], hop: HopPattern, view: View, deadline: float | None
    ) -> Iterable[tuple[str, str]]:
        return self._end_rows(nodes, hop, view, deadline) if _walkable(nodes, hop, view) else ()

    # Facts ----------------------------------------------------------------------------------------------------------------

    def _facts(self, keys: Collection[FactKey], view: View, deadline: float | None = None) -> dict[FactKey, Fact]:
        """The facts with the ids of their readable assertions."""
        if not keys:
            return {}
        ids = self._assertion_ids(keys, view, deadline)
        return {key: _fact(key, ids.get(key, ())) for key in sorted(keys)}


@dataclass(slots=True)
class _Watch:
    """Checks the deadline now and then in loops outside SQLite."""

    deadline: float | None
    steps: int = 0

    def step(self) -> None:
        self.steps += 1
        if self.deadline is not None and not self.steps % _STEPS_BETWEEN_CHECKS and clock.monotonic() >= self.deadline:
            raise DeadlineError("the graph did not answer within the deadline")


class _Plan:
    """Which earlier entities can still be entered by a later hop and so have to be remembered."""

    def __init__(
        self, hops: int, sets: Sequence[set[str]], predicates: Sequence[frozenset[str]], *, constant_start: bool
    ) -> None:
        self._hops = hops
        # Predicates of hops after `level` that can enter an entity of level `index`.
        self._later: list[list[frozenset[str]]] = []
        for index in range(hops + 1):
            row: list[frozenset[str]] = []
            for level in range(hops + 1):
                union: frozenset[str] = frozenset()
                if not (index == 0 and constant_start):
                    for later in range(max(level, index) + 1, hops + 1):
                        if not sets[index].isdisjoint(sets[later]):
                            union |= predicates[later - 1]
                row.append(union)
            self._later.append(row)

    @property
    def free(self) -> bool:
        """True if no hop can come back to an earlier entity, so that every walk is a trail."""
        return not any(union for row in self._later for union in row)

    def start_matters(self, level: int) -> bool:
        """True if a hop after `level` can come back to a start."""
        return bool(self._later[0][level])

    def carry(
        self, columns: tuple[Column | None, ...], index: int, node: str, predicate: str, other: str
    ) -> tuple[Column | None, ...]:
        """The columns after hop `index` from `node` by `predicate` to `other`. Column i is the entity at level i.

        Entities that no later hop can enter are forgotten, so that equal futures make equal states.
        """
        level = index + 1
        carried: list[Column | None] = []
        for position, column in enumerate(columns):
            later = self._later[position][level]
            if column is None or not later:
                carried.append(None)
                continue
            if position == 0:
                carried.append(column)
                continue
            entity, used = column
            if position == index:
                used = used | {predicate}
            used = used & later
            carried.append((entity, used) if used else None)
        later = self._later[level][level]
        carried.append((other, frozenset({predicate})) if later else None)
        return tuple(carried)


def _blocked(columns: tuple[Column | None, ...], predicate: str, other: str) -> bool:
    """True if the hop may not enter `other`: a start at all, an inner entity by a predicate used at it."""
    for position, column in enumerate(columns):
        if column is not None and column[0] == other and (position == 0 or predicate in column[1]):
            return True
    return False


def _thin(family: set[tuple[Column | None, ...]], left: int) -> set[tuple[Column | None, ...]]:
    """A subset of the states of one entity that has a state for every continuation the family has one for.

    A continuation enters `left` entities and so rules out only states that hold one of them. `left + 1` states that
    share no entity can therefore stand for all; otherwise every state holds one of few entities, and each group
    of one such entity is thinned without it (the kernel of the sunflower lemma, Erdős and Rado 1960).
    """
    if len(family) <= left + 1:
        return family
    return {state for state, _ in _kernel([(state, frozenset(_positions(state))) for state in _ordered(family)], left)}


def _kernel(
    members: list[tuple[tuple[Column | None, ...], frozenset[tuple[int, Column]]]], left: int
) -> list[tuple[tuple[Column | None, ...], frozenset[tuple[int, Column]]]]:
    if len(members) <= left + 1:
        return members
    disjoint: list[tuple[tuple[Column | None, ...], frozenset[tuple[int, Column]]]] = []
    used: set[str] = set()
    for member in members:
        entities = {column[0] for _, column in member[1]}
        if not entities:
            return [member]
        if used.isdisjoint(entities):
            disjoint.append(member)
            used |= entities
            if len(disjoint) > left:
                return disjoint
    groups: dict[tuple[int, Column], list[tuple[tuple[Column | None, ...], frozenset[tuple[int, Column]]]]] = {}
    for state, rest in members:
        core = min((item for item in rest if item[1][0] in used), key=_item_order)
        groups.setdefault(core, []).append((state, rest - {core}))
    return [member for core in groups for member in _kernel(groups[core], left)]


def _positions(state: tuple[Column | None, ...]) -> Iterator[tuple[int, Column]]:
    for position, column in enumerate(state):
        if column is not None:
            yield position, column


def _item_order(item: tuple[int, Column]) -> tuple[int, str, list[str]]:
    return (item[0], item[1][0], sorted(item[1][1]))


def _ordered(family: set[tuple[Column | None, ...]]) -> list[tuple[Column | None, ...]]:
    return sorted(family, key=lambda state: [_item_order(item) for item in _positions(state)])


def _trails(
    levels: Sequence[Mapping[str, list[Edge]]], starts: Sequence[str], deadline: float | None
) -> Iterator[tuple[Edge, ...]]:
    """Trails in canonical order. Walkers that took the same facts go on together, since order looks at facts alone."""
    watch = _Watch(deadline)
    ordered: list[dict[str, list[Edge]]] = [{} for _ in levels]

    def edges_of(level: int, node: str) -> list[Edge]:
        found = ordered[level].get(node)
        if found is None:
            found = ordered[level][node] = sorted(levels[level].get(node, ()))
        return found

    def expand(level: int, walkers: list[tuple[str, tuple[Edge, ...]]]) -> Iterator[tuple[Edge, ...]]:
        if len(walkers) == 1:
            start, trail = walkers[0]
            steps = [(edge, 0) for edge in edges_of(level, trail[-1][2] if trail else start)]
        else:
            steps = sorted(
                (edge, index)
                for index, (start, trail) in enumerate(walkers)
                for edge in edges_of(level, trail[-1][2] if trail else start)
            )
        position = 0
        while position < len(steps):
            key = steps[position][0][0]
            group: list[tuple[str, tuple[Edge, ...]]] = []
            while position < len(steps) and steps[position][0][0] == key:
                edge, index = steps[position]
                position += 1
                watch.step()
                start, trail = walkers[index]
                if _allowed(start, trail, edge):
                    group.append((start, (*trail, edge)))
            if not group:
                continue
            if level + 1 == len(levels):
                for _, trail in group:
                    yield trail
            else:
                yield from expand(level + 1, group)

    yield from expand(0, [(start, ()) for start in starts if start in levels[0]])


def _allowed(start: str, trail: tuple[Edge, ...], edge: Edge) -> bool:
    (_, predicate, _, _, _), _, end = edge
    if end == start:
        return False
    for position, (key, _, entity) in enumerate(trail):
        if entity == end:
            if key[1] == predicate:
                return False
            leaving = trail[position + 1] if position + 1 < len(trail) else edge
            if leaving[0][1] == predicate:
                return False
    return True


def countable(pattern: PathPattern, *, hops: int) -> bool:
    """True if the entities that at most `hops` hops end at follow from the entities of each level and whether one start alone leads there.

    A walk that is no trail then either comes back to its start, or enters an inner entity again by a predicate used at it, which
    three or more hops of different predicates rule out.
    """
    if not 1 <= len(pattern.hops) <= hops or (len(pattern.hops) > 2 and len(set(pattern.starts)) > 1):
        return False
    for later in range(2, len(pattern.hops)):
        entering = set(pattern.hops[later].predicates)
        for inner in range(later - 1):
            used = (*pattern.hops[inner].predicates, *pattern.hops[inner + 1].predicates)
            every = not (entering and pattern.hops[inner].predicates and pattern.hops[inner + 1].predicates)
            if every or not entering.isdisjoint(used):
                return False
    return True


def _walkable(nodes: Sequence[str], hop: HopPattern, view: View) -> bool:
    """False where no fact can be walked whatever the store holds."""
    return bool(nodes and view.scopes and hop.ends != ())


def _check(pattern: PathPattern) -> None:
    if not 1 <= len(pattern.hops) <= HARD_MAX_HOPS:
        raise UsageError(f"a pattern of {len(pattern.hops)} hops", allowed=f"1 to {HARD_MAX_HOPS}")


def _fact(key: FactKey, assertion_ids: tuple[str, ...]) -> Fact:
    subject, predicate, object_, low, high = key
    validity = Interval(None if low == MIN_INSTANT else low, None if high == MAX_INSTANT else high)
    return Fact(subject=subject, predicate=predicate, object=object_, validity=validity, assertion_ids=assertion_ids)


def _grouped(rows: Iterable[tuple[Any, ...]]) -> Iterator[Fact]:
    current: FactKey | None = None
    ids: list[str] = []
    for subject, predicate, object_, low, high, assertion_id in rows:
        key = (subject, predicate, object_, low, high)
        if current is not None and key != current:
            yield _fact(current, tuple(ids))
            ids = []
        current = key
        ids.append(assertion_id)
    if current is not None:
        yield _fact(current, tuple(ids))
