"""Answer exactness: whether the bindings are exactly the gold set."""

from __future__ import annotations

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.matching import forms, normal_form
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.result import Result

LONGEST_BINDING = 120
"""Characters. A longer gold answer is prose that no binding can equal; such a question is judged by its sources."""

ONE_OF = frozenset({"single_fragment", "exact_id"})
"""Families whose gold without ids lists accepted spellings of one answer; elsewhere it is the full set."""


class AnswerExactness:
    """A binding matches by display form, id or local part in normal form; nothing may be missing and nothing extra."""

    name = "answer_exactness"
    kind = Kind.SHARE
    default: float | None = 0.0

    def applies(self, question: Question, dataset: Dataset) -> bool:
        """Answerable questions with gold answers that are names or values."""
        return (
            question.answerable
            and bool(question.answers)
            and all(len(answer) <= LONGEST_BINDING for answer in question.answers)
        )

    def score(self, question: Question, result: Result, dataset: Dataset) -> float:
        """1 if exact, else 0."""
        bindings = [forms(str(answer["display"]), answer["id"]) for answer in result.answers]
        bindings = [binding for binding in bindings if binding]
        gold = [{normal_form(answer)} for answer in question.answers]
        if len(question.answer_ids) == len(gold):
            for accepted, entity_id in zip(gold, question.answer_ids, strict=True):
                accepted.add(normal_form(entity_id))
        elif question.family in ONE_OF and not question.one_path:
            gold = [set().union(*gold)]
        return float(
            bool(bindings)
            and all(any(not binding.isdisjoint(accepted) for accepted in gold) for binding in bindings)
            and all(any(not accepted.isdisjoint(binding) for binding in bindings) for accepted in gold)
        )
