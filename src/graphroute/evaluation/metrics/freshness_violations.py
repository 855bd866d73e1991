"""Freshness violations: whether a superseded document was used as evidence."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result


class FreshnessViolations:
    """Stale is what the gold lists as not in force at the question's instant."""

    name = "freshness_violations"
    kind = Kind.SHARE
    default: float | None = 1.0

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Questions for which a stale document exists."""
        return bool(question.stale_sources)

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """1 if one was used."""
        return float(not question.stale_sources.isdisjoint(result.sources))
