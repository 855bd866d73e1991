"""False abstention: whether a question that has an answer was left unanswered."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result


class FalseAbstention:
    """Wrong abstentions."""

    name = "false_abstention"
    kind = Kind.SHARE
    default: float | None = 1.0

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Answerable questions."""
        return question.answerable

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """1 if the system abstained."""
        return float(result.abstained)
