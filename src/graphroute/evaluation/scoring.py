"""Scores a results file against a question set and the dataset's own files; works on any system's results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphroute.evaluation.dataset import Dataset, load_dataset
from graphroute.evaluation.metrics import all_metrics
from graphroute.evaluation.metrics.base import Kind, Metric
from graphroute.evaluation.question_set import Question, load_questions
from graphroute.evaluation.result import Result, load_results
from graphroute.evaluation.statistics import quantile, wilson

NO_RESULT = "(no result)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One metric over a group. SHARE: `value` is the mean, `low` and `high` its 95 % interval. COUNT: `value` is the sum.

    QUANTITY: `value` is the median, `high` the 95th percentile, `low` the mean.
    """

    kind: Kind
    n: int
    value: float
    low: float
    high: float


Group = Mapping[str, Summary]
"""Metric name to summary; metrics that judge no question of the group are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """`questions`: qid to metric to score, for the metrics that apply. `missing`: qids without a result, scored with defaults.

    `unknown`: how many results belong to no question of the set; they are not scored.
    """

    questions: Mapping[str, Mapping[str, float]]
    families: Mapping[str, Group]
    routes: Mapping[str, Group]
    sizes: Mapping[str, int]
    missing: tuple[str, ...]
    unknown: int


def score_results(dataset_dir: Path, questions: Path, results: Path) -> Scores:
    """Scores of a results file (JSON lines) for a question file. Raises DataError for a file that is not in shape."""
    return score(load_dataset(dataset_dir), load_questions([questions]), load_results(results))


def score(dataset: Dataset, questions: Sequence[Question], results: Mapping[str, Result]) -> Scores:
    """Every metric for every question, summed up per family and per route of the result."""
    metrics = all_metrics()
    scored = {question.qid: _score_one(question, results.get(question.qid), dataset, metrics) for question in questions}
    families: dict[str, list[str]] = {}
    routes: dict[str, list[str]] = {}
    for question in questions:
        families.setdefault(question.family, []).append(question.qid)
        result = results.get(question.qid)
        routes.setdefault(NO_RESULT if result is None else result.route, []).append(question.qid)
    return Scores(
        questions=scored,
        families={name: _summaries((scored[qid] for qid in qids), metrics) for name, qids in sorted(families.items())},
        routes={name: _summaries((scored[qid] for qid in qids), metrics) for name, qids in sorted(routes.items())},
        sizes={name: len(qids) for name, qids in sorted(families.items())},
        missing=tuple(question.qid for question in questions if question.qid not in results),
        unknown=len(results.keys() - scored.keys()),
    )


def _score_one(
    question: Question, result: Result | None, dataset: Dataset, metrics: Sequence[Metric]
) -> dict[str, float]:
    found: dict[str, float] = {}
    for metric in metrics:
        if not metric.applies(question, dataset):
            continue
        if result is not None:
            found[metric.name] = metric.score(question, result, dataset)
        elif metric.default is not None:
            found[metric.name] = metric.default
    return found


def _summaries(rows: Iterable[Mapping[str, float]], metrics: Sequence[Metric]) -> Group:
    rows = list(rows)
    found: dict[str, Summary] = {}
    for metric in metrics:
        values = [row[metric.name] for row in rows if metric.name in row]
        if values:
            found[metric.name] = _summary(metric.kind, values)
    return found


def _summary(kind: Kind, values: Sequence[float]) -> Summary:
    n = len(values)
    mean = sum(values) / n
    if kind is Kind.COUNT:
        total = sum(values)
        return Summary(kind=kind, n=n, value=total, low=total, high=total)
    if kind is Kind.QUANTITY:
        return Summary(kind=kind, n=n, value=quantile(values, 0.5), low=mean, high=quantile(values, 0.95))
    low, high = wilson(mean, n)
    return Summary(kind=kind, n=n, value=mean, low=low, high=high)
