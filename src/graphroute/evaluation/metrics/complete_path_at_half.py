"""Complete path at edge precision 0.5: whether the proof is whole and at least half of what is shown is proof."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.complete_path import CompletePath
from graphroute.evaluation.metrics.edge_precision import EdgePrecision
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result

LEAST_PRECISION = 0.5


class CompletePathAtHalf(CompletePath):
    """A complete path in a result whose own edge precision is at least 0.5."""

    name = "complete_path_at_half"

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """1 if both hold, else 0."""
        if EdgePrecision().score(question, result, dataset) < LEAST_PRECISION:
            return 0.0
        return super().score(question, result, dataset)
