"""Graph port: bounded trails, reached entities and neighbourhoods, with every filter inside the traversal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from graphroute.types.graph import EndCount, Fact, PathPattern, PathSet, TopEnds
from graphroute.types.time import ANY_TIME, TimeFilter
from graphroute.types.view import View

HARD_MAX_HOPS = 6
"""No policy may ask for longer paths."""

HARD_MAX_PATHS = 10_000
"""No policy may ask for more paths; complete bindings come from `reach`, which has no such bound."""


class GraphStore(Protocol):
    """Facts as adjacency. Equal inputs give equal outputs to the byte, whatever order the data came in."""

    def paths(self, pattern: PathPattern, *, view: View, deadline: float | None = None) -> PathSet:
        """Trails that match the pattern, in canonical order (`Path.key`), at most `pattern.limit`.

        A trail uses no fact twice and never returns to its start; an inner entity comes again only through another predicate.
        `deadline`: `time.monotonic` seconds; past it DeadlineError.
        """
        ...

    def reach(self, pattern: PathPattern, *, view: View, deadline: float | None = None) -> tuple[str, ...]:
        """All entities a matching trail ends at, complete, in id order; `pattern.limit` does not apply."""
        ...

    def reach_from(
        self, pattern: PathPattern, *, view: View, deadline: float | None = None
    ) -> Sequence[tuple[str, tuple[str, ...]]]:
        """For each start that reaches anything, in id order, all entities a trail from it ends at, in id order."""
        ...

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
        ...

    def top_ends(
        self, pattern: PathPattern, *, most: bool = True, view: View, deadline: float | None = None
    ) -> TopEnds:
        """The entities that the last hop reaches from the most (else the fewest) distinct entities that the hops before it reach.

        Exact over all groups; `PathPattern.limit` does not apply.
        """
        ...

    def facts(
        self,
        entity_ids: Iterable[str],
        predicates: Sequence[str] = (),
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
        limit: int = 1000,
    ) -> Sequence[Fact]:
        """Facts that touch any of the entities, in `Fact.key` order."""
        ...

    def entities_of_type(self, types: Sequence[str], *, view: View) -> tuple[str, ...]:
        """Ids of the readable entities of the types, in id order."""
        ...

    def all_facts(self, *, view: View, time: TimeFilter = ANY_TIME) -> Sequence[Fact]:
        """Every readable fact, in `Fact.key` order; what communities are computed over."""
        ...

    def fact_counts(self, *, view: View) -> Sequence[tuple[str, str, str, int]]:
        """(subject type, predicate, object type, number of readable facts), in that order."""
        ...
