"""Latency: milliseconds from question to finished evidence text."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result


class Latency:
    """Wall time of one question on a store that is open."""

    name = "latency"
    kind = Kind.QUANTITY
    default: float | None = None

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Every question."""
        return True

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """Milliseconds."""
        return result.latency_ms
