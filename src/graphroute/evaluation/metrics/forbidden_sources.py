"""Forbidden sources: whether a document was shown that the question's gold forbids."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result


class ForbiddenSources:
    """Beside the permission check, which knows labels only."""

    name = "forbidden_sources"
    kind = Kind.SHARE
    default: float | None = 1.0

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Questions that forbid documents."""
        return bool(question.forbidden_sources)

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """1 if one was shown."""
        return float(not question.forbidden_sources.isdisjoint(result.sources))
