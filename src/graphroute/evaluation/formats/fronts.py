"""Pareto fronts over tokens and accuracy: at every budget, and over all of them together."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from graphroute.evaluation.formats.experiments import BudgetRow, SizeRow
from graphroute.evaluation.formats.outcomes import ModelRow
from graphroute.evaluation.statistics import wilson
from graphroute.serialization.choice import front

ALL = "all graphs"
WALK = "walk"
"""Basis of points for which no model was asked: the text was parsed and walked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One variant at one budget. `scope`: a graph, or `all graphs`. `basis`: `walk`, or the model's name. `tokens`: mean tokens of the prompts sent."""

    scope: str
    basis: str
    order: str
    budget: int | None
    variant: str
    tokens: float
    accuracy: float
    low: float
    high: float
    n: int
    on_front: bool = False


def walk_points(rows: Iterable[BudgetRow]) -> list[Point]:
    """Points of whole records, for each graph and for all. Accuracy: questions answered rightly, those without an answer included."""
    found: list[Point] = []
    whole: dict[tuple[str, int, str], list[BudgetRow]] = {}
    for row in rows:
        if row.cut != "records" or row.seed:
            continue
        whole.setdefault((row.order, row.budget, row.variant), []).append(row)
        found.append(_walked(row.graph, [row]))
    found += [_walked(ALL, members) for members in whole.values() if len(members) > 1]
    return with_fronts(found)


def _walked(scope: str, rows: Sequence[BudgetRow]) -> Point:
    right = sum(
        row.traversal * row.answerable + (row.questions - row.answerable - row.false_answers) * row.parsed
        for row in rows
    )
    n = sum(row.questions for row in rows)
    low, high = wilson(right / n, n)
    return Point(
        scope=scope,
        basis=WALK,
        order=rows[0].order,
        budget=rows[0].budget,
        variant=rows[0].variant,
        tokens=sum(row.prompt_tokens * row.questions for row in rows) / n,
        accuracy=right / n,
        low=low,
        high=high,
        n=n,
    )


def model_points(rows: Iterable[ModelRow], sizes: Sequence[SizeRow]) -> list[Point]:
    """Points of what a model answered: correct ones, with tokens as the endpoint counted them, else as counted here for the whole graph."""
    counted = {(row.graph, row.variant): row.prompt_tokens_mean for row in sizes}
    found: list[Point] = []
    whole: dict[tuple[str, str, int | None, str], list[Point]] = {}
    for row in rows:
        tokens = row.prompt_tokens if row.prompt_tokens is not None else counted.get((row.graph, row.variant))
        if row.correct is None or tokens is None:
            continue
        point = Point(
            scope=row.graph,
            basis=row.model,
            order=row.order,
            budget=row.budget,
            variant=row.variant,
            tokens=tokens,
            accuracy=row.correct.mean,
            low=row.correct.low,
            high=row.correct.high,
            n=row.correct.n,
        )
        found.append(point)
        whole.setdefault((row.model, row.order, row.budget, row.variant), []).append(point)
    for members in whole.values():
        if len(members) > 1:
            n = sum(point.n for point in members)
            mean = sum(point.accuracy * point.n for point in members) / n
            low, high = wilson(mean, n)
            tokens = statistics.fmean(point.tokens for point in members)
            found.append(replace(members[0], scope=ALL, tokens=tokens, accuracy=mean, low=low, high=high, n=n))
    return with_fronts(found)


def with_fronts(points: Sequence[Point]) -> list[Point]:
    """The points, each told whether it lies on the front of its scope, basis, order and budget."""
    groups: dict[tuple[str, str, str, int | None], list[Point]] = {}
    for point in points:
        groups.setdefault((point.scope, point.basis, point.order, point.budget), []).append(point)
    best = {
        id(point)
        for members in groups.values()
        for point in front(members, cost=lambda one: one.tokens, gain=lambda one: one.accuracy)
    }
    return [replace(point, on_front=id(point) in best) for point in points]


def undominated(points: Sequence[Point], whole_tokens: dict[str, float]) -> list[str]:
    """Variants that no other beats over all budgets: no more tokens for the whole graphs, no less accuracy at any budget, and one of them better.

    `points` of one scope, basis and order.
    """
    accuracy: dict[str, dict[int | None, float]] = {}
    for point in points:
        accuracy.setdefault(point.variant, {})[point.budget] = point.accuracy

    def beats(one: str, other: str) -> bool:
        budgets = accuracy[one].keys() & accuracy[other].keys()
        pairs = [(accuracy[one][budget], accuracy[other][budget]) for budget in budgets]
        if whole_tokens[one] > whole_tokens[other] or any(mine < theirs for mine, theirs in pairs):
            return False
        return whole_tokens[one] < whole_tokens[other] or any(mine > theirs for mine, theirs in pairs)

    return [
        variant
        for variant in accuracy
        if variant in whole_tokens
        and not any(beats(other, variant) for other in accuracy if other != variant and other in whole_tokens)
    ]
