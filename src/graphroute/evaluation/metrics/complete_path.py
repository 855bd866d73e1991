"""Complete path: whether every edge of the proof was shown, or one whole path for every answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.matching import forms, normal_form
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result

Steps = Mapping[str, list[tuple[str, str]]]


class CompletePath:
    """All required edges; with `one_path_per_answer`, for each answer one path of required edges from a topic entity.

    The listed path counts, and so does any other trail of the same number of required edges that ends at the answer.
    """

    name = "complete_path"
    kind = Kind.SHARE
    default: float | None = 0.0

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Answerable questions that require edges of the dataset."""
        return dataset.needs_path(question)

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """1 if complete, else 0."""
        required = set(question.required_edges)
        shown = required.intersection(result.edges)
        if shown == required:
            return 1.0
        if not question.one_path:
            return 0.0
        steps = _steps(shown, dataset)
        starts = _entities_named(question.topics, steps, dataset)
        return float(
            all(
                shown.issuperset(path) or _reaches(starts, _entities_named([answer], steps, dataset), len(path), steps)
                for answer, path in question.one_path.items()
            )
        )


def _steps(edge_ids: Iterable[str], dataset: Dataset) -> Steps:
    """Entity to (edge, other end), both ways."""
    steps: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for edge_id in sorted(edge_ids):
        edge = dataset.edges.get(edge_id)
        if edge is not None:
            steps[edge.subject].append((edge_id, edge.object))
            steps[edge.object].append((edge_id, edge.subject))
    return dict(steps)


def _entities_named(texts: Iterable[str], steps: Steps, dataset: Dataset) -> set[str]:
    wanted = {normal_form(text) for text in texts}
    return {entity for entity in steps if not wanted.isdisjoint(forms(entity, entity, dataset.names.get(entity, ())))}


def _reaches(starts: set[str], ends: set[str], length: int, steps: Steps) -> bool:
    """True if a trail of exactly `length` different edges joins a start and an end."""
    stack: list[tuple[str, tuple[str, ...]]] = [(start, ()) for start in sorted(starts)]
    while stack:
        entity, used = stack.pop()
        if len(used) == length:
            if entity in ends:
                return True
            continue
        stack.extend((other, (*used, edge)) for edge, other in steps.get(entity, ()) if edge not in used)
    return False
