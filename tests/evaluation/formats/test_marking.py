"""Every rule by which a reply is marked, on replies written for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphroute.evaluation.formats.graph import BenchGraph, Task
from graphroute.evaluation.formats.marking import Mark, Shown, mark, set_score
from graphroute.evaluation.formats.structured import read_answer


def shown(graph: BenchGraph, places: tuple[int, ...] | None = None) -> Shown:
    return Shown(places=places or tuple(range(len(graph.edges))), ids={node.id: node.id for node in graph.nodes})


def task(graph: BenchGraph, id: str) -> Task:
    return next(task for task in graph.tasks if task.id == id)


def reply(graph: BenchGraph, answer: Any, id: Any, places: list[int], **changes: Any) -> str:
    """A reply whose evidence fits its path, unless changed."""
    value = {
        "answer": answer,
        "answer_id": id,
        "path": [place + 1 for place in places],
        "evidence": [
            {"source": edge.source, "relation": edge.relation, "target": edge.target}
            for edge in (graph.edges[place] for place in places)
        ],
    }
    return json.dumps({**value, **changes}, ensure_ascii=False)


def marked(graph: BenchGraph, id: str, text: str) -> Mark:
    return mark(text, task(graph, id), graph, shown(graph))


def test_a_right_reply_is_right_in_every_mark(projects: BenchGraph) -> None:
    found = marked(projects, "q1", reply(projects, "Казань", "city_kazan", [0, 3, 6, 10]))
    assert found.correct
    assert found.parse_success
    assert found.answer_exact
    assert found.answer_id_exact
    assert found.path_exact
    assert found.path is not None
    assert found.path.valid
    assert found.edges is not None
    assert (found.edges.precision, found.edges.recall) == (1.0, 1.0)
    assert found.abstention is None
    assert found.false_abstention is False


@pytest.mark.parametrize("answer", [" казань ", "КАЗАНЬ", "Казань\n"])
def test_answers_are_compared_without_case_and_outer_blanks(projects: BenchGraph, answer: str) -> None:
    assert marked(projects, "q1", reply(projects, answer, "city_kazan", [0, 3, 6, 10])).answer_exact


@pytest.mark.parametrize("answer", ["в Казани", "Казань, Россия", "Kazan", "Каза нь"])
def test_nothing_else_is_taken_for_the_answer(projects: BenchGraph, answer: str) -> None:
    found = marked(projects, "q1", reply(projects, answer, "city_kazan", [0, 3, 6, 10]))
    assert not found.answer_exact
    assert found.answer_id_exact
    assert not found.correct


def test_yo_and_ye_are_one_letter_composed_or_not() -> None:
    from graphroute.evaluation.formats.structured import normal

    assert normal("Фёдор") == normal("ФЕДОР") == normal("Фе\u0308дор")
    assert normal("й") != normal("и")


BROKEN = [
    "",
    "Казань",
    '{"answer": "Казань", "answer_id": "city_kazan", "path": [1, 4, 7, 11], "evidence": [',
    'The answer is {"answer": "Казань", "answer_id": null, "path": [], "evidence": []}',
    '[{"answer": "Казань", "path": [], "evidence": []}]',
    '{"answer": "Казань", "path": [1]}',
    '{"answer": 1, "path": [], "evidence": []}',
    '{"answer": "Казань", "path": [true], "evidence": []}',
    '{"answer": "Казань", "path": ["first"], "evidence": []}',
    '{"answer": "Казань", "path": [], "evidence": [{"source": "a", "relation": "b"}]}',
    '{"answer": "Казань", "answer": "Томск", "path": [], "evidence": []}',
    '{"answer": "Казань", "path": [NaN], "evidence": []}',
]


@pytest.mark.parametrize("text", BROKEN)
def test_broken_json_fails_every_mark(projects: BenchGraph, text: str) -> None:
    assert read_answer(text) is None
    found = marked(projects, "q1", text)
    assert not found.parse_success
    assert not found.correct
    assert not found.answer_exact
    assert found.path_exact is False
    assert found.path is not None
    assert not found.path.valid
    assert found.edges is not None
    assert found.edges.recall == 0.0
    without = marked(projects, "q6", text)
    assert without.abstention is False


def test_a_fence_around_the_whole_reply_is_taken_off(projects: BenchGraph) -> None:
    body = reply(projects, "Казань", "city_kazan", [0, 3, 6, 10])
    assert marked(projects, "q1", f"```json\n{body}\n```").correct
    assert not marked(projects, "q1", f"Here it is:\n```json\n{body}\n```").parse_success


def test_numbers_of_facts_may_be_written_as_the_text_has_them(projects: BenchGraph) -> None:
    found = marked(
        projects, "q1", reply(projects, "Казань", "city_kazan", [0, 3, 6, 10], path=["F1", "F4", "F7", "F11"])
    )
    assert found.correct


def test_right_answer_with_a_wrong_path_is_not_correct(projects: BenchGraph) -> None:
    found = marked(projects, "q1", reply(projects, "Казань", "city_kazan", [1, 9]))
    assert found.answer_exact
    assert not found.correct
    assert found.path_exact is False
    assert found.path is not None
    assert not found.path.supports
    assert found.edges is not None
    assert found.edges.precision == 0.0


def test_a_part_of_the_path_has_recall_and_is_not_valid(projects: BenchGraph) -> None:
    found = marked(projects, "q1", reply(projects, "Казань", "city_kazan", [0, 3]))
    assert found.path is not None
    assert (found.path.exists, found.path.evidence, found.path.connected) == (True, True, True)
    assert not found.path.supports
    assert found.edges is not None
    assert (found.edges.precision, found.edges.recall) == (1.0, 0.5)


def test_a_fact_turned_round_is_found(projects: BenchGraph) -> None:
    turned = [
        {"source": "person_irina", "relation": "LEADS", "target": "project_orion"},
        {"source": "project_orion", "relation": "USES", "target": "method_graph"},
        {"source": "method_graph", "relation": "DEVELOPED_BY", "target": "org_vector"},
        {"source": "city_kazan", "relation": "LOCATED_IN", "target": "org_vector"},
    ]
    found = marked(projects, "q1", reply(projects, "Казань", "city_kazan", [0, 3, 6, 10], evidence=turned))
    assert found.path is not None
    assert not found.path.direction
    assert not found.path.evidence
    assert found.path.exists
    assert not found.correct


def test_walking_against_a_fact_is_allowed_only_where_the_question_says_so(projects: BenchGraph) -> None:
    backwards = marked(projects, "q2", reply(projects, "Максим", "person_maxim", [11, 8, 5, 2]))
    assert backwards.correct
    assert backwards.path is not None
    assert backwards.path.direction
    # From the project back to who leads it: the facts connect, but the question asks for none of it.
    against = marked(projects, "q4", reply(projects, "Ирина", "person_irina", [0]))
    assert against.path is not None
    assert not against.path.valid


def test_a_hop_against_the_query_is_a_wrong_direction(services: BenchGraph) -> None:
    # What does Authentication depend on? Named instead: a fact that leads into it.
    found = marked(services, "s4", reply(services, "API", "svc-api", [1]))
    assert found.path is not None
    assert not found.path.direction
    assert not found.path.supports


@pytest.mark.parametrize("path", [[1, 4, 7, 99], [0, 4, 7, 11], [-1, 4, 7, 11]])
def test_a_made_up_number_is_no_path(projects: BenchGraph, path: list[int]) -> None:
    found = marked(projects, "q1", reply(projects, "Казань", "city_kazan", [0, 3, 6, 10], path=path))
    assert found.path is not None
    assert not found.path.exists
    assert not found.path.valid
    assert found.path_exact is False
    assert found.edges is not None
    assert found.edges.precision == pytest.approx(0.75)


def test_a_made_up_fact_in_the_evidence_is_found(projects: BenchGraph) -> None:
    invented = [
        {"source": "person_irina", "relation": "LEADS", "target": "project_orion"},
        {"source": "project_orion", "relation": "LOCATED_IN", "target": "city_kazan"},
    ]
    found = marked(projects, "q1", reply(projects, "Казань", "city_kazan", [0, 10], evidence=invented))
    assert found.path is not None
    assert not found.path.evidence
    assert not found.path.connected
    assert not found.correct


def test_evidence_in_another_order_than_the_path_does_not_match(projects: BenchGraph) -> None:
    value = json.loads(reply(projects, "Казань", "city_kazan", [0, 3, 6, 10]))
    value["evidence"].reverse()
    found = marked(projects, "q1", json.dumps(value))
    assert found.path is not None
    assert not found.path.evidence


def test_hops_must_connect(projects: BenchGraph) -> None:
    found = marked(projects, "q1", reply(projects, "Казань", "city_kazan", [0, 6, 3, 10]))
    assert found.path is not None
    assert not found.path.connected
    assert not found.path.valid


def test_a_fact_named_twice_costs_precision(projects: BenchGraph) -> None:
    found = marked(projects, "q1", reply(projects, "Казань", "city_kazan", [0, 3, 6, 10, 10]))
    assert found.edges is not None
    assert found.edges.precision == pytest.approx(0.8)
    assert found.path is not None
    assert not found.path.valid or found.path_exact is False


def test_abstention_is_the_exact_mark(projects: BenchGraph) -> None:
    abstains = reply(projects, "INSUFFICIENT_DATA", None, [])
    assert marked(projects, "q6", abstains).correct
    assert marked(projects, "q6", reply(projects, "insufficient_data ", None, [9])).abstention
    for other in ("I do not know", "", "INSUFFICIENT DATA", "Томск"):
        assert not marked(projects, "q6", reply(projects, other, None, [])).abstention
    false = marked(projects, "q1", abstains)
    assert false.false_abstention
    assert not false.correct
    assert false.edges is not None
    assert (false.edges.precision, false.edges.recall) == (0.0, 0.0)


def test_sets_have_precision_recall_and_f1(services: BenchGraph) -> None:
    whole = marked(
        services,
        "s1",
        reply(
            services,
            ["Web", "API", "Profile", "Authentication"],
            ["svc-web", "svc-api", "svc-profile", "svc-auth"],
            [3, 1, 2, 0],
        ),
    )
    assert whole.correct
    assert whole.path_exact
    part = marked(services, "s1", reply(services, ["API", "Authentication"], ["svc-api", "svc-auth"], [3, 1]))
    assert part.members is not None
    assert (part.members.precision, part.members.recall) == (1.0, 0.5)
    assert part.members.f1 == pytest.approx(2 / 3)
    assert not part.answer_exact
    assert part.path is not None
    assert part.path.valid
    more = marked(
        services,
        "s1",
        reply(
            services,
            ["Web", "API", "Profile", "Authentication", "Core team"],
            ["svc-web", "svc-api", "svc-profile", "svc-auth", "team-core"],
            [3, 1, 2, 0],
        ),
    )
    assert more.members is not None
    assert more.members.precision == 0.8
    assert more.path is not None
    assert not more.path.supports


def test_mappings_are_compared_pair_by_pair(services: BenchGraph) -> None:
    owners = {
        "svc-api": ["team-core"],
        "svc-auth": ["team-core"],
        "svc-profile": ["team-growth"],
        "svc-web": ["team-growth"],
    }
    names = ["Core team", "Growth team"]
    assert marked(services, "s2", reply(services, names, owners, list(range(8)))).correct
    swapped = {**owners, "svc-web": ["team-core"]}
    found = marked(services, "s2", reply(services, names, swapped, list(range(8))))
    assert not found.answer_exact
    assert found.members is not None
    assert found.members.f1 == 0.75
    assert found.path is not None
    assert not found.path.supports
    assert not marked(services, "s2", reply(services, names, ["team-core", "team-growth"], list(range(8)))).correct


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        (set(), set(), (1.0, 1.0, 1.0)),
        (set(), {1}, (0.0, 0.0, 0.0)),
        ({1}, set(), (0.0, 0.0, 0.0)),
        ({1}, {2}, (0.0, 0.0, 0.0)),
        ({1, 2}, {2, 3}, (0.5, 0.5, 0.5)),
        ({1, 2, 3, 4}, {1}, (0.25, 1.0, 0.4)),
    ],
)
def test_the_rule_of_empty_sets(predicted: set[int], gold: set[int], expected: tuple[float, float, float]) -> None:
    found = set_score(predicted, gold)
    assert (found.precision, found.recall, found.f1) == pytest.approx(expected)


def test_numbers_count_in_the_order_of_the_text(projects: BenchGraph) -> None:
    turned = tuple(reversed(range(len(projects.edges))))
    places = [0, 3, 6, 10]
    numbers = [turned.index(place) + 1 for place in places]
    text = reply(projects, "Казань", "city_kazan", places, path=numbers)
    assert mark(text, task(projects, "q1"), projects, shown(projects, turned)).correct
    assert not mark(text, task(projects, "q1"), projects, shown(projects)).correct


def test_local_ids_stand_for_their_nodes(projects: BenchGraph) -> None:
    local = {f"N{number}": node.id for number, node in enumerate(projects.nodes, start=1)}
    back = {id: number for number, id in local.items()}
    evidence = [
        {"source": back[edge.source], "relation": edge.relation, "target": back[edge.target]}
        for edge in (projects.edges[place] for place in (0, 3, 6, 10))
    ]
    text = reply(projects, "Казань", back["city_kazan"], [0, 3, 6, 10], evidence=evidence)
    places = tuple(range(len(projects.edges)))
    assert mark(text, task(projects, "q1"), projects, Shown(places=places, ids=local)).correct
    assert not mark(text, task(projects, "q1"), projects, Shown(places=places, ids={})).correct


@pytest.mark.parametrize("places", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_facts_of_a_set_may_stand_in_any_order(services: BenchGraph, places: list[int]) -> None:
    names = ["Web", "API", "Profile", "Authentication"]
    ids = ["svc-web", "svc-api", "svc-profile", "svc-auth"]
    assert marked(services, "s1", reply(services, names, ids, places)).correct


def test_a_set_that_walks_a_fact_the_wrong_way_is_found(services: BenchGraph) -> None:
    # Which services depend on Authentication? Named instead: what Authentication depends on.
    found = marked(services, "s3", reply(services, ["Identity database"], ["db-identity"], [3]))
    assert found.path is not None
    assert not found.path.direction
    assert not found.path.supports
