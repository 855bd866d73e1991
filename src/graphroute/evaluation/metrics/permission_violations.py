"""Permission violations: documents and edges shown that the reader may not see, and ids the dataset does not know."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result


class PermissionViolations:
    """Must be zero. Judged by the dataset's own files, never by what the system says about itself."""

    name = "permission_violations"
    kind = Kind.COUNT
    default: float | None = 1.0

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Every question."""
        return True

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """Number of different documents and edges shown that should not have been."""
        labels = dataset.reader(question).labels
        documents = sum(not dataset.readable(source, labels) for source in set(result.sources))
        edges = 0
        for edge_id in set(result.edges):
            edge = dataset.edges.get(edge_id)
            edges += edge is None or not dataset.proven(edge, labels)
        return float(documents + edges)
