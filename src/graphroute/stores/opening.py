"""Opens the stores that one router reads: the embedded ones of a file, those of servers, or a mixture over one record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

from graphroute.errors import ConfigurationError, DataError
from graphroute.stores.catalog import CATALOGS, Catalog
from graphroute.stores.graph import GRAPH_STORES, GraphStore
from graphroute.stores.lexical import LEXICAL_STORES, LexicalStore
from graphroute.stores.vector import VECTOR_STORES, VectorStore
from graphroute.types.view import View

NEO4J_SCHEMES = ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://")
_EMBEDDED = {"catalog": "sqlite", "graph": "sqlite", "lexical": "inverted", "vector": "exact"}
_KINDS = tuple(_EMBEDDED)

Place = str | Path
"""A store file, or the address of a Neo4j server."""


@runtime_checkable
class Preparable(Protocol):
    """A store that can do before a question what no deadline of a search should pay."""

    def prepare(self, *, view: View) -> None:
        """Load what searches under the view need."""
        ...


def is_address(place: Place) -> bool:
    """Whether a place is the address of a server and not a file."""
    return isinstance(place, str) and "://" in place


@dataclass(frozen=True, slots=True, kw_only=True)
class StorePlan:
    """Which implementation reads each kind, by name, and where its data are."""

    catalog: str
    graph: str
    lexical: str
    vector: str
    file: Path | None = None
    neo4j: str | None = None
    qdrant: str | None = None

    @property
    def servers(self) -> frozenset[str]:
        """Servers that the plan reads from: neo4j, qdrant."""
        return frozenset({self.catalog, self.graph, self.lexical, self.vector} & {"neo4j", "qdrant"})

    @classmethod
    def of(cls, place: Place, chosen: Mapping[str, str | None]) -> Self:
        """The plan for a file or an address; `chosen` holds what a routes file says under `stores:`. Raises ConfigurationError."""
        address = is_address(place)
        if address and not str(place).startswith(NEO4J_SCHEMES):
            raise ConfigurationError(
                "the store is no file and no address of Neo4j",
                where=str(place) if "@" not in str(place) else None,
                allowed=f"a path, or {NEO4J_SCHEMES[0]}HOST[:PORT]",
            )
        names = {kind: chosen.get(kind) or ("neo4j" if address else _EMBEDDED[kind]) for kind in _KINDS}
        plan = cls(
            **names,
            file=None if address else Path(place),
            neo4j=str(place) if address else chosen.get("neo4j"),
            qdrant=chosen.get("qdrant"),
        )
        for server in ("neo4j", "qdrant"):
            if server in plan.servers and getattr(plan, server) is None:
                raise ConfigurationError(
                    f"stores.{server} is not set", hint=f"give the address under stores: {server}:"
                )
        if plan.file is None and any(names[kind] == _EMBEDDED[kind] or names[kind] == "rank_bm25" for kind in _KINDS):
            raise ConfigurationError(
                "an embedded store needs a file, and the store is an address",
                hint="open the file, with stores: neo4j: ADDRESS",
            )
        return plan


@dataclass(slots=True)
class OpenStores:
    """Stores of one record, and what closes them. `vectors` opens the vector store for an embedder's identity.

    `undated`: relations of a graph without text whose facts have no dates; None where records hold text and may date any fact.
    """

    plan: StorePlan
    catalog: Catalog
    graph: GraphStore
    lexical: LexicalStore
    vectors: Callable[[str], VectorStore]
    close: Callable[[], None]
    resources: Mapping[str, Any] = field(default_factory=dict)
    undated: frozenset[str] | None = None


def open_stores(plan: StorePlan, *, bookmarks: Iterable[str] = ()) -> OpenStores:
    """Opens what the plan names. `bookmarks`: of an ingest whose writes must be seen, also on another member of a cluster.

    Raises DataError if there is no store, BackendError if a server is not there, ConfigurationError."""
    with ExitStack() as opened:
        resources = _Resources(plan, opened, tuple(bookmarks))
        names = {kind: getattr(plan, kind) for kind in _KINDS}
        catalog = CATALOGS.load(names["catalog"])(resources.of(names["catalog"]))
        graph = GRAPH_STORES.load(names["graph"])(resources.of(names["graph"]))
        lexical = LEXICAL_STORES.load(names["lexical"])(resources.of(names["lexical"]))
        vector = names["vector"]
        close = opened.pop_all().close
    return OpenStores(
        plan=plan,
        catalog=catalog,
        graph=graph,
        lexical=lexical,
        vectors=lambda identity: VECTOR_STORES.load(vector)(resources.of(vector), identity),
        close=close,
        resources=resources.held,
    )


class _Resources:
    """Opens the file and the servers when a store first needs them, each once."""

    def __init__(self, plan: StorePlan, opened: ExitStack, bookmarks: tuple[str, ...]) -> None:
        self._plan = plan
        self._bookmarks = bookmarks
        self._opened = opened
        self.held: dict[str, Any] = {}

    def of(self, store: str) -> Any:
        """What the store of that name reads from."""
        kind = store if store in ("neo4j", "qdrant") else "file"
        if kind not in self.held:
            self.held[kind] = getattr(self, f"_{kind}")()
        return self.held[kind]

    def _file(self) -> Any:
        from graphroute.stores.database import Database

        file = self._plan.file
        assert file is not None
        if not file.exists():
            raise DataError(f"there is no store at {str(file)!r}", hint="run graphroute ingest DIR --store PATH first")
        return self._opened.enter_context(Database(file, read_only=True))

    def _neo4j(self) -> Any:
        from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings
        from graphroute.stores.neo4j.queries import PLANNED, QUERIES
        from graphroute.stores.neo4j.queries_search import SEARCH_QUERIES

        assert self._plan.neo4j is not None
        connection = Neo4jConnection(Neo4jSettings.from_environment(self._plan.neo4j))
        self._opened.callback(connection.close)
        connection.observe(self._bookmarks)
        # Planning a text takes the server longer than running it; no question should pay for that.
        connection.warm((query, PLANNED) for query in (*QUERIES, *SEARCH_QUERIES))
        return connection

    def _qdrant(self) -> Any:
        from graphroute.stores.qdrant.connection import QdrantConnection, QdrantSettings

        assert self._plan.qdrant is not None
        connection = QdrantConnection(QdrantSettings.from_environment(self._plan.qdrant))
        self._opened.callback(connection.close)
        return connection
