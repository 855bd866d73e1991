"""Looks for the gold answer where a model or a reader could pick it up without walking the graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphroute.evaluation.formats.graph import BenchGraph, Task
from graphroute.evaluation.formats.structured import normal
from graphroute.text import words

# Whole words of an id, so that `brightwater` does not count.
_TELLING = re.compile(
    r"(?<![^\W\d_])(?:answers?|correct|gold|right|true|target|ответ\w*|верн\w*|правильн\w*)(?![^\W\d_])|答案|正确",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """Where something of the gold stands. `grave`: the answer itself can be read off; otherwise it is only worth knowing."""

    graph: str
    task: str
    where: str
    what: str
    grave: bool


def leaks_of(
    graph: BenchGraph, *, instructions: Iterable[str], file_names: Iterable[str], language: str | None = None
) -> list[Leak]:
    """Gold answers in the instructions, the questions and the names of files; ids that tell or name the answer; answers that always come first of their kind.

    `instructions`: everything in the prompt but the graph and the question: rules, grammar, meaning of relations.
    """
    names = {node.id: node.name for node in graph.nodes}
    told = [normal(text) for text in (*instructions, *graph.semantics)]
    files = [normal(name) for name in file_names]
    found: list[Leak] = []

    def leak(task: Task | None, where: str, what: str, *, grave: bool) -> None:
        found.append(Leak(graph=graph.name, task=task.id if task else "", where=where, what=what, grave=grave))

    for node in graph.nodes:
        if _TELLING.search(node.id):
            leak(None, "id", f"the id {node.id} speaks of answers", grave=True)
    for task in graph.tasks:
        question = normal(task.text(language or graph.language))
        for answer in task.answers:
            for form in dict.fromkeys((normal(names[answer]), normal(answer))):
                if any(_holds(text, form) for text in told):
                    leak(task, "instructions", f"{answer} stands in the instructions", grave=True)
                if any(_holds(name, form) for name in files):
                    leak(task, "file name", f"{answer} stands in the name of a file", grave=True)
                if _holds(question, form):
                    leak(task, "question", f"{answer} stands in the question", grave=True)
            shared = {word.key for word in words(answer)} & {word.key for word in words(names[answer])}
            if shared:
                leak(task, "id", f"the id {answer} repeats its name; --pseudonymize takes that away", grave=False)
    return [*found, *_first_of_kind(graph)]


def _holds(text: str, form: str) -> bool:
    """True if the form stands in the text as a whole, not as a part of a longer word."""
    return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) is not None


def _first_of_kind(graph: BenchGraph) -> Sequence[Leak]:
    """One remark if the answer of every question comes before all others of its type, in canonical order."""
    order = sorted(graph.nodes, key=lambda node: node.id)
    singles = [task for task in graph.tasks if task.kind == "one" and task.answers]
    first = [
        next(node.id for node in order if node.type == graph.by_id[task.answers[0]].type) == task.answers[0]
        for task in singles
    ]
    if len(first) < 2 or not all(first):
        return ()
    what = "every right answer comes first of its type"
    return (Leak(graph=graph.name, task="", where="order", what=what, grave=False),)
