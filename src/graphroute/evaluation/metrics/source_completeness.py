"""Source completeness: whether every required document was among the first shown."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.source_recall import SourceRecall
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result


class SourceCompleteness(SourceRecall):
    """1 where source recall is 1, else 0."""

    name = "source_completeness"

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """All or nothing."""
        return float(super().score(question, result, dataset) == 1.0)
