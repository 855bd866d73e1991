"""Marks a structured answer against the gold; the path it claims is checked fact by fact and never taken on trust."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

from graphroute.evaluation.formats.graph import BenchGraph, Edge, Task
from graphroute.evaluation.formats.structured import StructuredAnswer, normal, read_answer
from graphroute.evaluation.formats.walk import EdgeIndex, solve
from graphroute.types.graph import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What stood in the prompt: `places` of the graph's facts in order of the text, and the node behind each id written there."""

    places: tuple[int, ...]
    ids: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathCheck:
    """Each condition of a valid path by itself.

    `exists`: every number is that of a fact shown. `evidence`: each piece of evidence is the fact of the number beside it. `direction`: no piece is a
    fact turned round, and no hop is walked against a fact unless the question's query says so. `connected`: each hop leaves a node that the ones before reached. `supports`:
    the facts of the path alone give the answer.
    """

    exists: bool
    evidence: bool
    direction: bool
    connected: bool
    supports: bool

    @property
    def valid(self) -> bool:
        """True if all hold."""
        return self.exists and self.evidence and self.direction and self.connected and self.supports


@dataclass(frozen=True, slots=True, kw_only=True)
class SetScore:
    """Precision, recall and F1. Both sets empty: all 1. One of them empty: all 0."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Marks of one reply. None where a mark does not apply: paths of a question without an answer, abstention of one with.

    `correct`: parsed, and the answer exact on a valid path, or rightly abstained.
    """

    parse_success: bool
    answer_exact: bool
    answer_id_exact: bool
    correct: bool
    path_exact: bool | None
    path: PathCheck | None
    edges: SetScore | None
    members: SetScore | None
    abstained: bool
    abstention: bool | None
    false_abstention: bool | None


def set_score(predicted: Collection[Hashable], gold: Collection[Hashable]) -> SetScore:
    """The score of a predicted set."""
    given, wanted = set(predicted), set(gold)
    if not given and not wanted:
        return SetScore(precision=1.0, recall=1.0, f1=1.0)
    shared = len(given & wanted)
    if not shared:
        return SetScore(precision=0.0, recall=0.0, f1=0.0)
    precision, recall = shared / len(given), shared / len(wanted)
    return SetScore(precision=precision, recall=recall, f1=2 * precision * recall / (precision + recall))


def mark(reply: str, task: Task, graph: BenchGraph, shown: Shown) -> Mark:
    """Marks a raw reply. What cannot be parsed fails every mark that applies."""
    answer = read_answer(reply)
    if answer is None:
        return _failed(task)
    if task.insufficient:
        return Mark(
            parse_success=True,
            answer_exact=answer.abstains,
            answer_id_exact=answer.abstains,
            correct=answer.abstains,
            path_exact=None,
            path=None,
            edges=None,
            members=None,
            abstained=answer.abstains,
            abstention=answer.abstains,
            false_abstention=None,
        )
    names = graph.by_id
    ids = tuple(shown.ids.get(id, id) for id in answer.ids)
    gold_names = {normal(names[id].name) for id in task.answers}
    said_names = {normal(text) for text in answer.answers}
    pairs = _pairs(answer, shown)
    gold_pairs = {(key, value) for key, values in task.mapping.items() for value in values}
    members: SetScore | None
    if task.kind == "mapping":
        exact = id_exact = pairs == gold_pairs
        members = set_score(pairs, gold_pairs)
    else:
        exact, id_exact = said_names == gold_names, set(ids) == set(task.answers)
        members = set_score(ids or said_names, task.answers if ids else gold_names) if task.kind == "set" else None
    places = [shown.places[number - 1] for number in answer.path if 0 < number <= len(shown.places)]
    check = check_path(answer, task, graph, shown)
    solution = solve(_index(graph, range(len(graph.edges))), task.query)
    if task.kind == "one":
        proofs = solution.paths.get(task.answers[0], ())
        path_exact = len(places) == len(answer.path) and tuple(places) in proofs
        gold_edges = max(proofs, key=lambda proof: (len(set(proof) & set(places)), -len(proof)), default=task.path)
    else:
        path_exact = len(places) == len(answer.path) == len(set(places)) and set(places) == set(task.path)
        gold_edges = task.path
    # A number without a fact, and a fact that is named twice, count against precision.
    claimed: list[Hashable] = [
        (shown.places[number - 1], answer.path[:at].count(number)) if 0 < number <= len(shown.places) else ("none", at)
        for at, number in enumerate(answer.path)
    ]
    return Mark(
        parse_success=True,
        answer_exact=exact and not answer.abstains,
        answer_id_exact=id_exact,
        correct=exact and not answer.abstains and check.valid,
        path_exact=path_exact,
        path=check,
        edges=set_score(claimed, [(place, 0) for place in gold_edges]),
        members=members,
        abstained=answer.abstains,
        abstention=None,
        false_abstention=answer.abstains,
    )


def _failed(task: Task) -> Mark:
    nothing = SetScore(precision=0.0, recall=0.0, f1=0.0)
    held = PathCheck(exists=False, evidence=False, direction=False, connected=False, supports=False)
    positive = not task.insufficient
    return Mark(
        parse_success=False,
        answer_exact=False,
        answer_id_exact=False,
        correct=False,
        path_exact=False if positive else None,
        path=held if positive else None,
        edges=nothing if positive else None,
        members=nothing if positive and task.kind != "one" else None,
        abstained=False,
        abstention=None if positive else False,
        false_abstention=False if positive else None,
    )


def _pairs(answer: StructuredAnswer, shown: Shown) -> set[tuple[str, str]]:
    if answer.mapping is None:
        return set()
    return {
        (shown.ids.get(key, key), shown.ids.get(value, value))
        for key, values in answer.mapping.items()
        for value in values
    }


def check_path(answer: StructuredAnswer, task: Task, graph: BenchGraph, shown: Shown) -> PathCheck:
    """The conditions of a valid path, each looked at by itself."""
    exists = bool(answer.path) and all(0 < number <= len(shown.places) for number in answer.path)
    places = [shown.places[number - 1] for number in answer.path if 0 < number <= len(shown.places)]
    edges = [graph.edges[place] for place in places]
    given = [
        (shown.ids.get(source, source), relation, shown.ids.get(target, target))
        for source, relation, target in answer.evidence
    ]
    evidence = exists and given == [edge.triple for edge in edges]
    triples = {edge.triple for edge in graph.edges}
    turned = any(piece not in triples and piece[::-1] in triples for piece in given)
    against = _walked_against(edges, task)
    connected = exists and (_chain(edges, task) if task.kind == "one" else _grows(edges, task))
    return PathCheck(
        exists=exists,
        evidence=evidence,
        direction=exists and not turned and not against,
        connected=connected,
        supports=exists and _supports(answer, task, graph, shown, places),
    )


def _walked_against(edges: Sequence[Edge], task: Task) -> bool:
    """True if a fact is walked in a direction that no step of the query has for its relation.

    In a chain each fact is walked from where the one before arrived. Facts of a set are walked in the query's directions as far as they lead, in any order;
    one that touches what was reached so, and cannot be walked so, is walked against.
    """
    ways: dict[str, set[Direction]] = {}
    for step in task.query.steps:
        ways.setdefault(step.relation, set()).add(step.direction)

    def onward(edge: Edge, reached: set[str], allowed: set[Direction]) -> set[str]:
        ends = {edge.target} if Direction.FORWARD in allowed and edge.source in reached else set()
        return ends | ({edge.source} if Direction.BACKWARD in allowed and edge.target in reached else set())

    reached = set(task.query.starts)
    if task.kind == "one":
        for edge in edges:
            touched = reached & {edge.source, edge.target}
            if touched and edge.relation in ways and not onward(edge, reached, ways[edge.relation]):
                return True
            reached = {edge.target if edge.source in reached else edge.source}
        return False
    known = [edge for edge in edges if edge.relation in ways]
    while True:
        grown = reached.union(*(onward(edge, reached, ways[edge.relation]) for edge in known))
        if grown == reached:
            break
        reached = grown
    return any(
        reached & {edge.source, edge.target} and not onward(edge, reached, ways[edge.relation]) for edge in known
    )


def _chain(edges: Sequence[Edge], task: Task) -> bool:
    """True if each hop leaves the node that the one before reached, the first one a start of the query."""
    return any(_walks(edges, start) for start in task.query.starts)


def _walks(edges: Sequence[Edge], at: str) -> bool:
    for edge in edges:
        if edge.source == at:
            at = edge.target
        elif edge.target == at:
            at = edge.source
        else:
            return False
    return True


def _grows(edges: Sequence[Edge], task: Task) -> bool:
    """True if all facts hang together with a start, in whatever order they are named."""
    reached, left = set(task.query.starts), list(edges)
    while left:
        touching = [edge for edge in left if edge.source in reached or edge.target in reached]
        if not touching:
            return False
        for edge in touching:
            reached |= {edge.source, edge.target}
            left.remove(edge)
    return True


def _supports(answer: StructuredAnswer, task: Task, graph: BenchGraph, shown: Shown, places: Sequence[int]) -> bool:
    """True if the query, run on the facts of the path and no others, gives every answer that was claimed, and one was."""
    found = solve(_index(graph, places), task.query)
    if task.kind == "mapping":
        pairs = {(key, value) for key, values in found.mapping.items() for value in values}
        claimed = _pairs(answer, shown)
        return bool(claimed) and claimed <= pairs
    ids = {shown.ids.get(id, id) for id in answer.ids}
    names = {normal(graph.by_id[id].name) for id in found.answers}
    said = {normal(text) for text in answer.answers}
    if task.kind == "one" and len(found.answers) > 1:
        return False
    return bool(said) and ids <= set(found.answers) and said <= names


def _index(graph: BenchGraph, places: Collection[int]) -> EdgeIndex:
    types = {node.id: node.type for node in graph.nodes}
    return EdgeIndex(((place, graph.edges[place]) for place in sorted(set(places))), types)
