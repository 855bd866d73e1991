"""Entity resolution: share of the entities a question is about that its evidence starts from or passes."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.matching import forms, normal_form
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result


class EntityResolution:
    """A topic entity is found at an end of an edge shown or among the answers."""

    name = "entity_resolution"
    kind = Kind.SHARE
    default: float | None = 0.0

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Questions with topic entities that require edges of the dataset."""
        return bool(question.topics) and dataset.needs_path(question)

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """Share of the topic entities found."""
        seen: set[str] = set()
        for edge_id in result.edges:
            edge = dataset.edges.get(edge_id)
            if edge is not None:
                for entity in (edge.subject, edge.object):
                    seen |= forms(entity, entity, dataset.names.get(entity, ()))
        for answer in result.answers:
            seen |= forms(str(answer["display"]), answer["id"])
        return sum(normal_form(topic) in seen for topic in question.topics) / len(question.topics)
