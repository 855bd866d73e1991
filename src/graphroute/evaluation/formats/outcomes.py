"""Marks of a model's replies summed up per graph, variant, order and budget, with intervals and without filling what was not measured."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from graphroute.errors import BackendUnavailableError
from graphroute.evaluation.formats.experiments import CONTEXT_OVERFLOW, Bench
from graphroute.evaluation.formats.graph import BenchGraph, Task
from graphroute.evaluation.formats.marking import Mark, Shown, mark
from graphroute.evaluation.formats.model_runs import ReplyLine
from graphroute.evaluation.formats.orders import Order
from graphroute.evaluation.formats.variants import Variant, written_ids
from graphroute.evaluation.statistics import bootstrap, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A mean with its 95 % interval and how many values it is of. Wilson for yes and no, a bootstrap over questions for measures in between."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One variant in one order at one budget with one model. A measure that applies to no question here is None.

    `asked`: replies and failed requests that count. `overflow`: prompts too large for the window, never sent. `errors`: requests that the endpoint refused, which fail
    every mark; `unreachable`: those that found nobody, which do not count. `spread`: population standard deviation of `correct` over permutations and repeats.
    """

    graph: str
    variant: str
    order: str
    budget: int | None
    model: str
    asked: int
    overflow: int
    errors: int
    unreachable: int
    parse_success: Share | None
    answer_exact: Share | None
    answer_id_exact: Share | None
    path_exact: Share | None
    valid_path: Share | None
    edge_precision: Share | None
    edge_recall: Share | None
    set_precision: Share | None
    set_recall: Share | None
    set_f1: Share | None
    abstention: Share | None
    false_abstention: Share | None
    correct: Share | None
    by_hops: dict[int, Share]
    spread: float | None
    prompt_tokens: float | None
    completion_tokens: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A line with its marks; None where there is no reply to mark."""

    line: ReplyLine
    task: Task
    marks: Mark | None


def marked(
    lines: Iterable[ReplyLine], graphs: Sequence[BenchGraph], variants: Sequence[Variant], bench: Bench
) -> list[Marked]:
    """Marks every line whose graph, task and format version are those at hand; others are left out, since their gold is another."""
    by_name = {graph.name: graph for graph in graphs}
    hashes = {graph.name: graph.sha256 for graph in graphs}
    by_label = {variant.label: variant for variant in variants}
    found = []
    for line in lines:
        graph, variant = by_name.get(line.graph), by_label.get(line.variant)
        if graph is None or variant is None or hashes[line.graph] != line.graph_sha256:
            continue
        task = next((task for task in graph.tasks if task.id == line.task), None)
        if task is None or variant.form.version != line.version:
            continue
        if line.error in (CONTEXT_OVERFLOW, BackendUnavailableError.__name__):
            found.append(Marked(line=line, task=task, marks=None))
            continue
        whole = bench.arranged(graph, Order(line.order, line.seed), task)
        ids = written_ids(variant, whole.first(len(line.places)))
        shown = Shown(places=line.places, ids=ids)
        found.append(Marked(line=line, task=task, marks=mark(line.raw or "", task, graph, shown)))
    return found


def summed(entries: Iterable[Marked]) -> list[ModelRow]:
    """A row for each graph, variant, order, budget and model, in order of appearance."""
    groups: dict[tuple[str, str, str, int | None, str], list[Marked]] = {}
    for entry in entries:
        line = entry.line
        key = (line.graph, line.variant, line.order, line.budget, line.requested_model)
        groups.setdefault(key, []).append(entry)
    return [_row(key, members) for key, members in groups.items()]


def _row(key: tuple[str, str, str, int | None, str], members: Sequence[Marked]) -> ModelRow:
    graph, variant, order, budget, model = key
    judged = [(entry, entry.marks) for entry in members if entry.marks is not None]

    def share(read: Callable[[Mark], float | bool | None], *, bootstrapped: bool = False) -> Share | None:
        return _share([(entry.task.id, read(marks)) for entry, marks in judged], bootstrapped)

    hops: dict[int, list[tuple[str, float | bool | None]]] = {}
    runs: dict[tuple[int | None, int], list[bool]] = {}
    for entry, marks in judged:
        hops.setdefault(len(entry.task.query.steps), []).append((entry.task.id, marks.correct))
        runs.setdefault((entry.line.seed, entry.line.repeat), []).append(marks.correct)
    by_hops = {count: _share(values, False) for count, values in sorted(hops.items())}
    means = [statistics.fmean(values) for values in runs.values()]
    return ModelRow(
        graph=graph,
        variant=variant,
        order=order,
        budget=budget,
        model=model,
        asked=len(judged),
        overflow=sum(entry.line.error == CONTEXT_OVERFLOW for entry in members),
        errors=sum(entry.line.error is not None for entry, _ in judged),
        unreachable=sum(entry.line.error == BackendUnavailableError.__name__ for entry in members),
        parse_success=share(lambda m: m.parse_success),
        answer_exact=share(lambda m: m.answer_exact),
        answer_id_exact=share(lambda m: m.answer_id_exact),
        path_exact=share(lambda m: m.path_exact),
        valid_path=share(lambda m: None if m.path is None else m.path.valid),
        edge_precision=share(lambda m: None if m.edges is None else m.edges.precision, bootstrapped=True),
        edge_recall=share(lambda m: None if m.edges is None else m.edges.recall, bootstrapped=True),
        set_precision=share(lambda m: None if m.members is None else m.members.precision, bootstrapped=True),
        set_recall=share(lambda m: None if m.members is None else m.members.recall, bootstrapped=True),
        set_f1=share(lambda m: None if m.members is None else m.members.f1, bootstrapped=True),
        abstention=share(lambda m: m.abstention),
        false_abstention=share(lambda m: m.false_abstention),
        correct=share(lambda m: m.correct),
        by_hops={count: value for count, value in by_hops.items() if value is not None},
        spread=statistics.pstdev(means) if len(means) > 1 else None,
        prompt_tokens=_mean(entry.line.usage.get("prompt_tokens") for entry in members),
        completion_tokens=_mean(entry.line.usage.get("completion_tokens") for entry in members),
    )


def _share(values: Sequence[tuple[str, float | bool | None]], bootstrapped: bool) -> Share | None:
    measured = [(task, float(value)) for task, value in values if value is not None]
    if not measured:
        return None
    mean = statistics.fmean(value for _, value in measured)
    if bootstrapped:
        groups: dict[str, list[float]] = {}
        for task, value in measured:
            groups.setdefault(task, []).append(value)
        low, high = bootstrap(list(groups.values()))
    else:
        low, high = wilson(mean, len(measured))
    return Share(mean=mean, low=low, high=high, n=len(measured))


def _mean(values: Iterable[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None
