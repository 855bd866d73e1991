"""Graph calls: whether a question made the system traverse the graph."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result

GRAPH_RETRIEVERS = frozenset(
    {"local_graph", "graph_local", "aggregation", "contract", "global_community", "graph_global", "vector_plus_graph"}
)
"""By the names of retrievers and of the steps a routes file makes of them."""


class GraphCalls:
    """A cost, neither good nor bad in itself."""

    name = "graph_calls"
    kind = Kind.SHARE
    default: float | None = None

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Every question."""
        return True

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """1 if a retriever that walks the graph ran."""
        return float(not GRAPH_RETRIEVERS.isdisjoint(result.retrievers))
