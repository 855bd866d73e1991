"""Retriever port: a parsed question and a view to hits, bindings and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graphroute.models.embedders.base import Embedder
from graphroute.stores.catalog.base import Catalog
from graphroute.stores.graph.base import GraphStore
from graphroute.stores.lexical.base import LexicalStore
from graphroute.stores.vector.base import VectorStore
from graphroute.types.ontology import Ontology
from graphroute.types.query import ParsedQuery
from graphroute.types.retrieval import RetrievalResult
from graphroute.types.route import Limits
from graphroute.types.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Backends:
    """What retrievers read from. `vectors` and `embedder` are None where a store was ingested without vectors."""

    catalog: Catalog
    graph: GraphStore
    lexical: LexicalStore
    ontology: Ontology
    vectors: VectorStore | None = None
    embedder: Embedder | None = None


class Retriever(Protocol):
    """A way to find evidence. Built once per process as `Class(backends, params)`; safe to share between threads."""

    name: str

    def retrieve(
        self,
        query: ParsedQuery,
        *,
        view: View,
        limits: Limits,
        prior: Sequence[RetrievalResult] = (),
        deadline: float | None = None,
    ) -> RetrievalResult:
        """Evidence for one question. `prior`: results of the retrievers that ran before on the same route.

        `deadline` in `time.monotonic` seconds. Raises BackendError where a backend failed; finding nothing is a result.
        """
        ...
