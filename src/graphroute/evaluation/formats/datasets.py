"""A benchmark graph out of any dataset directory: the facts that answer some of its questions, and facts around them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graphroute.errors import DataError
from graphroute.evaluation.formats.gold import check_gold, solved
from graphroute.evaluation.formats.graph import BenchGraph, Edge, Node, PathQuery, Step, Task
from graphroute.evaluation.formats.structured import normal
from graphroute.evaluation.question_set import Question, load_questions, question_files
from graphroute.indexing.dataset import read_dataset
from graphroute.types.graph import Direction

MAX_STEPS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetGraph:
    """The graph, and how many of the questions looked at could not be stated as one typed path with the stored answers."""

    graph: BenchGraph
    looked_at: int
    left_out: int


def graph_of_dataset(directory: Path, *, questions: int = 12, facts: int = 300, seed: int = 0) -> DatasetGraph:
    """Up to so many questions of a dataset, drawn by the seed, and up to so many facts.

    The typed path of a question is read off its required edges: a walk from a topic entity whose steps lead to every stored answer and, on the facts of this graph,
    to nothing else. Questions for which there is none are left out and counted. The other facts are drawn from those that touch the nodes of
    the paths, and then from those beyond. All rows are read, whatever their labels. Raises DataError if no question is left.
    """
    data = read_dataset(directory)
    edges: dict[str, Edge] = {}
    for row in data.edges(on_bad=lambda _: None):
        assertion = row.assertion
        edges[assertion.id] = Edge(
            source=assertion.subject,
            relation=assertion.predicate,
            target=assertion.object,
            validity=assertion.validity,
            negated=bool(getattr(assertion, "negated", False)),
            assertion=assertion.id,
            supports=assertion.supports,
        )
    names: dict[str, tuple[str, ...]] = {}
    types: dict[str, str] = {}
    for entity in data.entities(on_bad=lambda _: None):
        names.setdefault(entity.id, entity.names)
        types.setdefault(entity.id, entity.types[0] if entity.types else "")
    rng = random.Random(f"{directory.resolve().name}:{seed}")  # noqa: S311 - repeatable, nothing secret
    asked = [one for one in load_questions(question_files(directory)) if one.required_edges and one.answerable]
    rng.shuffle(asked)
    chosen: list[tuple[Question, Task]] = []
    kept: dict[str, Edge] = {}
    looked_at = 0
    for question in asked:
        required = {id: edges[id] for id in question.required_edges if id in edges}
        if len(chosen) == questions:
            break
        if len(kept.keys() | required.keys()) > facts:
            continue
        looked_at += 1
        task = _task(question, required, names)
        if task is not None:
            chosen.append((question, task))
            kept.update(required)
    _surround(kept, edges, facts, rng)
    ends = dict.fromkeys(end for edge in kept.values() for end in (edge.source, edge.target))
    nodes = tuple(
        Node(id=end, name=_name(end, names), type=types.get(end) or end.partition(":")[0] or "thing") for end in ends
    )
    listed = tuple(kept[id] for id in sorted(kept))
    tasks = []
    for question, task in chosen:
        whole = solved(task, nodes, listed)
        if _is_gold(whole.answers, question, names):
            tasks.append(replace(whole, kind="one" if len(whole.answers) == 1 else "set"))
    name = data.name or directory.resolve().name
    if not tasks:
        raise DataError(f"none of {looked_at} questions is a typed path with its stored answers", where=str(directory))
    graph = BenchGraph(
        name=name,
        nodes=nodes,
        edges=listed,
        tasks=tuple(solved(task, nodes, listed) for task in tasks),
        as_of=data.as_of or 0,
        base=name,
        size="dataset",
        seed=seed,
    )
    check_gold(graph)
    return DatasetGraph(graph=graph, looked_at=looked_at, left_out=looked_at - len(tasks))


def _task(question: Question, required: Mapping[str, Edge], names: Mapping[str, tuple[str, ...]]) -> Task | None:
    """The question as a walk over its required edges that reaches all of its answers, the shortest one; None if there is none."""
    listed = [edge for edge in required.values() if not edge.negated]
    found: dict[tuple[str, tuple[Step, ...]], set[str]] = {}
    for topic in _topics(question, listed, names):
        for steps, end in _walks(topic, listed):
            found.setdefault((topic, steps), set()).add(end)
    for (topic, steps), ends in sorted(found.items(), key=lambda item: (len(item[0][1]), item[0][0], str(item[0][1]))):
        if _is_gold(tuple(ends), question, names):
            query = PathQuery(starts=(topic,), steps=steps)
            return Task(id=question.qid, texts={"en": question.text}, query=query)
    return None


def _topics(question: Question, edges: Sequence[Edge], names: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Ids of the topic entities among the ends of the edges, by id or by name."""
    ends = sorted({end for edge in edges for end in (edge.source, edge.target)})
    wanted = {normal(topic) for topic in question.topics}
    return [end for end in ends if wanted & {normal(end), *map(normal, names.get(end, ()))}]


def _walks(topic: str, edges: Sequence[Edge]) -> Iterator[tuple[tuple[Step, ...], str]]:
    stack: list[tuple[str, tuple[Step, ...], frozenset[int]]] = [(topic, (), frozenset())]
    while stack:
        at, steps, used = stack.pop()
        if steps:
            yield steps, at
        if len(steps) == MAX_STEPS:
            continue
        for place, edge in enumerate(edges):
            if place in used:
                continue
            for start, end, way in (
                (edge.source, edge.target, Direction.FORWARD),
                (edge.target, edge.source, Direction.BACKWARD),
            ):
                if start == at:
                    step = Step(relation=edge.relation, direction=way)
                    stack.append((end, (*steps, step), used | {place}))


def _is_gold(answers: Sequence[str], question: Question, names: Mapping[str, tuple[str, ...]]) -> bool:
    if question.answer_ids:
        return set(answers) == set(question.answer_ids)
    wanted = {normal(answer) for answer in question.answers}
    forms = [{normal(answer), normal(_name(answer, names)), *map(normal, names.get(answer, ()))} for answer in answers]
    return bool(wanted) and len(forms) == len(wanted) and all(form & wanted for form in forms)


def _surround(kept: dict[str, Edge], edges: Mapping[str, Edge], facts: int, rng: random.Random) -> None:
    """Adds facts until there are so many: first those that touch what is there, then those one step on, each ring in drawn order."""
    while len(kept) < facts:
        ends = {end for edge in kept.values() for end in (edge.source, edge.target)}
        ring = sorted(
            id for id, edge in edges.items() if id not in kept and (edge.source in ends or edge.target in ends)
        )
        if not ring:
            return
        rng.shuffle(ring)
        kept.update((id, edges[id]) for id in ring[: facts - len(kept)])


def _name(id: str, names: Mapping[str, tuple[str, ...]]) -> str:
    given = names.get(id)
    return given[0] if given else id.rpartition(":")[2] or id
