"""Degraded: whether a stage failed, so that the result is not the system's best."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result


class Degraded:
    """Above zero, quality is measured together with failures such as missed deadlines."""

    name = "degraded"
    kind = Kind.SHARE
    default: float | None = 1.0

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Every question."""
        return True

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """1 if a stage failed."""
        return float(bool(result.degraded))
