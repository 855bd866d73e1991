"""Source recall: share of the required documents among the first that were shown."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result

MIN_DEPTH = 10
"""At least so many documents are looked at, more if more are required."""


class SourceRecall:
    """A required document also counts when another readable document is shown that states the same required edge."""

    name = "source_recall"
    kind = Kind.SHARE
    default: float | None = 0.0

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Answerable questions that require documents."""
        return question.answerable and bool(question.required_sources)

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """Share of the groups with a member found."""
        depth = max(MIN_DEPTH, len(question.required_sources))
        labels = dataset.reader(question).labels
        shown = {source for source in tuple(dict.fromkeys(result.sources))[:depth] if dataset.readable(source, labels)}
        stated: set[str] = set()
        for edge_id in question.required_edges:
            edge = dataset.edges.get(edge_id)
            if edge is not None and not shown.isdisjoint(edge.documents):
                stated |= edge.documents
        found = sum(not (shown | stated).isdisjoint(group) for group in question.required_sources)
        return found / len(question.required_sources)
