"""Metric port: what one result is worth, and what a missing one is."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result


class Kind(StrEnum):
    """How the scores of a group are summed up."""

    SHARE = "share"
    """Mean of values in [0, 1], with its interval."""
    COUNT = "count"
    """Sum."""
    QUANTITY = "quantity"
    """Median, 95th percentile and mean."""


class Metric(Protocol):
    """`default` is the score of a question without a result, the worst there is; None: only results are scored."""

    name: str
    kind: Kind
    default: float | None

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """True if the question is judged by this metric; the result has no say in it."""
        ...

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """The score of a result; asked only where `applies` is true."""
        ...
