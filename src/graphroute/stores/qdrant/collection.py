"""Collections of one store: their names, the state that travels with each, and the guarded reads."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from graphroute.errors import BackendError, BackendUnavailableError, DataError
from graphroute.stores.qdrant.connection import NotFoundError, QdrantConnection
from graphroute.stores.qdrant.filters import ScopedFilter, checked, narrowed
from graphroute.types.view import View

if TYPE_CHECKING:
    from qdrant_client import models

Kind = Literal["vectors", "lexical"]
T = TypeVar("T")

DENSE = "dense"
TERMS = "terms"
STATE_POINT = 0
"""Id of the point that holds the state; row keys of the record start at 1. It has no scope, so no search returns it."""
FORMAT = 1
FILTERED = ("id", "scope", "source", "born", "died", "low", "high", "node", "kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a collection holds: the rows of `store` up to snapshot `sequence`.

    `identity`: `name@revision/size` of its vectors. `average`: the length of passages, in terms, that stored weights were made
    with. `dimensions`: terms (by their 63-bit hash) whose dimension is not the natural one. `digest`: of the vectors copied.
    `sequence` is -1 while a first copy is under way, and `copied` the key of the last row that is surely there.
    """

    store: str
    sequence: int
    identity: str = ""
    average: float = 1.0
    dimensions: Mapping[int, int] = field(default_factory=dict)
    digest: str = ""
    copied: int = 0

    def payload(self) -> dict[str, object]:
        """As stored."""
        return {
            "state": {
                "format": FORMAT,
                "store": self.store,
                "sequence": self.sequence,
                "identity": self.identity,
                "average": self.average,
                "dimensions": {str(term): place for term, place in sorted(self.dimensions.items())},
                "digest": self.digest,
                "copied": self.copied,
            }
        }

    @classmethod
    def read(cls, payload: Mapping[str, Any] | None, where: str) -> State:
        """From what is stored. Raises DataError for another format."""
        held = (payload or {}).get("state")
        if not isinstance(held, Mapping) or held.get("format") != FORMAT:
            raise DataError(
                "a collection of another format",
                where=where,
                allowed=f"format {FORMAT}",
                hint="delete the collection and copy the store again",
            )
        return cls(
            store=str(held["store"]),
            sequence=int(held["sequence"]),
            identity=str(held["identity"]),
            average=float(held["average"]),
            dimensions={int(term): int(place) for term, place in held["dimensions"].items()},
            digest=str(held["digest"]),
            copied=int(held["copied"]),
        )


def alias_of(prefix: str, kind: Kind) -> str:
    """The name that points to the collection in use."""
    return f"{prefix}_{kind}"


class Collection:
    """The collection that an alias points to, for reads.

    It is addressed by its own name, so that vectors of another model never take its place unseen; the alias is asked
    again when it is gone or older than the view.
    """

    def __init__(self, connection: QdrantConnection, kind: Kind) -> None:
        self.connection = connection
        self.kind = kind
        self._lock = threading.Lock()
        self._held: tuple[str, State] | None = None

    @property
    def where(self) -> str:
        """The place for messages."""
        return f"{self.connection.settings.where}, {alias_of(self.connection.settings.prefix, self.kind)}"

    def find(self, deadline: float | None = None) -> tuple[str, State] | None:
        """Name and state of the collection in use, read now; None if the store was never copied."""
        alias = alias_of(self.connection.settings.prefix, self.kind)
        name = collection_behind(self.connection, alias, deadline)
        if name is None:
            return None
        try:
            state = read_state(self.connection, name, deadline)
        except NotFoundError:
            return None
        if state is not None:
            with self._lock:
                self._held = (name, state)
        return None if state is None else (name, state)

    def current(self, view: View, deadline: float | None = None) -> tuple[str, State]:
        """Name and state of a collection that holds the view's snapshot.

        Raises BackendUnavailableError if the copy is missing or older than the view.
        """
        held = self._held
        if held is None or held[1].sequence < view.sequence:
            held = self.find(deadline)
        if held is not None and _is_other(held[1], view):
            held = self.find(deadline)
        if held is not None and _is_other(held[1], view):
            # Scopes are numbers of a store: those of the view mean other labels there.
            raise BackendUnavailableError(
                "the collections hold another store", where=self.where, hint="give each store a prefix of its own"
            )
        if held is None or held[1].sequence < view.sequence:
            raise BackendUnavailableError(
                "the store is not copied to Qdrant" if held is None else "the copy in Qdrant is older than the store",
                where=self.where,
                hint="copy the store again",
            )
        return held

    def forget(self) -> None:
        """Ask the alias again at the next read."""
        self._held = None

    def query(
        self,
        name: str,
        scoped: ScopedFilter,
        vector: Sequence[float] | models.SparseVector,
        *,
        using: str,
        limit: int,
        payload: Sequence[str],
        params: models.SearchParams | None,
        vectors: bool = False,
        deadline: float | None = None,
    ) -> list[models.ScoredPoint]:
        """The `limit` best points under the filter."""
        found = self.connection.call(
            "query_points",
            deadline=deadline,
            collection_name=name,
            query=vector if not isinstance(vector, Sequence) else list(vector),
            using=using,
            query_filter=checked(scoped.filter, scoped.view),
            search_params=params,
            limit=limit,
            with_payload=list(payload),
            with_vectors=[using] if vectors else False,
        )
        return list(found.points)

    def count(self, name: str, scoped: ScopedFilter, deadline: float | None = None) -> int:
        """How many points the view may read, whatever `where` says. Exact."""
        found = self.connection.call(
            "count",
            deadline=deadline,
            collection_name=name,
            count_filter=checked(scoped.access, scoped.view),
            exact=True,
        )
        return int(found.count)

    def counts(
        self, name: str, scoped: ScopedFilter, key: str, values: Sequence[int], deadline: float | None = None
    ) -> list[int]:
        """How many readable points have each value of `key`. Exact, all asked at once."""
        found = self.connection.calls(
            [
                (
                    "count",
                    {
                        "collection_name": name,
                        "count_filter": checked(narrowed(scoped.access, key, value), scoped.view),
                        "exact": True,
                    },
                )
                for value in values
            ],
            deadline=deadline,
        )
        return [int(one.count) for one in found]

    def values(
        self, name: str, scoped: ScopedFilter, key: str, limit: int, deadline: float | None = None
    ) -> dict[int, int]:
        """Readable points by the value of an integer `key`. Exact; raises BackendError if there are more than `limit` values."""
        found = self.connection.call(
            "facet",
            deadline=deadline,
            collection_name=name,
            key=key,
            facet_filter=checked(scoped.access, scoped.view),
            exact=True,
            limit=limit,
        )
        if len(found.hits) >= limit:
            raise BackendError(f"more than {limit - 1} values of {key!r} in Qdrant", where=self.where)
        return {int(hit.value): int(hit.count) for hit in found.hits}


def collection_behind(connection: QdrantConnection, alias: str, deadline: float | None = None) -> str | None:
    """The collection an alias points to, or None."""
    found = connection.call("get_aliases", deadline=deadline)
    return next((str(one.collection_name) for one in found.aliases if one.alias_name == alias), None)


def read_state(connection: QdrantConnection, name: str, deadline: float | None = None) -> State | None:
    """The state of a collection, or None if no copy of it was begun. Raises NotFoundError if there is no such one."""
    found = connection.call(
        "retrieve", deadline=deadline, collection_name=name, ids=[STATE_POINT], with_payload=True, with_vectors=False
    )
    return State.read(found[0].payload, f"{connection.settings.where}, {name}") if found else None


def _is_other(state: State, view: View) -> bool:
    """Whether both ids are known and differ."""
    return bool(view.store and state.store and state.store != view.store)
