"""Tokens of the finished evidence text."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result


class Tokens:
    """What the generator has to read."""

    name = "tokens"
    kind = Kind.QUANTITY
    default: float | None = None

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Every question."""
        return True

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """Tokens."""
        return float(result.tokens)
