"""Abstention: whether a question without an answer was left unanswered."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result


class Abstention:
    """Right abstentions; a question that got no result at all was not abstained from."""

    name = "abstention"
    kind = Kind.SHARE
    default: float | None = 0.0

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Unanswerable questions."""
        return not question.answerable

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """1 if the system abstained."""
        return float(result.abstained)
