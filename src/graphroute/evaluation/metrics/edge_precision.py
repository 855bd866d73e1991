"""Edge precision: share of the edges shown that are required; 0 where none is shown."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result


class EdgePrecision:
    """The mean of a group is read beside its complete paths: showing every edge there is would complete them all."""

    name = "edge_precision"
    kind = Kind.SHARE
    default: float | None = 0.0

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Answerable questions that require edges of the dataset."""
        return dataset.needs_path(question)

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """Required edges shown, of all different edges shown."""
        shown = set(result.edges)
        return len(shown.intersection(question.required_edges)) / len(shown) if shown else 0.0
