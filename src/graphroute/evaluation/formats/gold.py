"""Checks the gold of a graph: two independent solvers and the stored answers must agree before anything is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphroute.errors import DataError
from graphroute.evaluation.formats.graph import BenchGraph, Edge, Node, Task
from graphroute.evaluation.formats.joins import join
from graphroute.evaluation.formats.walk import Solution, index_of, solve


def check_gold(graph: BenchGraph) -> None:
    """Raises DataError for a task on which the walk, the joins and the stored gold do not all say the same."""
    types = {node.id: node.type for node in graph.nodes}
    index = index_of(graph.edges, types)
    for task in graph.tasks:
        where = f"{graph.name}, task {task.id}"
        walked = solve(index, task.query)
        joined, mapping = join(graph.edges, types, task.query)
        if (walked.answers, dict(walked.mapping)) != (joined, mapping):
            raise DataError(f"the solvers disagree: {_show(walked.answers)} and {_show(joined)}", where=where)
        if walked.answers != task.answers or (task.kind == "mapping" and dict(walked.mapping) != dict(task.mapping)):
            raise DataError(
                f"the stored answer {_show(task.answers)} is not the solved one {_show(walked.answers)}", where=where
            )
        if task.kind == "one" and len(walked.answers) > 1:
            raise DataError(f"one answer is asked for and {len(walked.answers)} are there", where=where)
        if not stored_path_holds(task, walked):
            raise DataError(f"the stored path {list(task.path)} is not a solved one", where=where)


def stored_path_holds(task: Task, solution: Solution) -> bool:
    """True if the stored path is one of the solved trails, the support of all answers, or the partial way without an answer."""
    if task.insufficient:
        return task.path == solution.partial
    if task.kind == "one":
        return task.path in solution.paths[task.answers[0]]
    return task.path == solution.support


def solved(task: Task, nodes: Sequence[Node], edges: Sequence[Edge]) -> Task:
    """The task with the gold that the walk gives on these facts."""
    found = solve(index_of(edges, {node.id: node.type for node in nodes}), task.query)
    path = found.partial
    if found.answers:
        path = found.paths[found.answers[0]][0] if task.kind == "one" else found.support
    return replace(task, answers=found.answers, mapping=found.mapping, path=path)


def _show(answers: Sequence[str]) -> str:
    return ", ".join(answers[:5]) + (", ..." if len(answers) > 5 else "") or "none"
