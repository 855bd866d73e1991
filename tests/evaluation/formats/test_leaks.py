"""Gold that can be read off is found wherever it stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphroute.evaluation.formats.graph import BenchGraph, pseudonymized
from graphroute.evaluation.formats.leaks import Leak, leaks_of


def grave(graph: BenchGraph, instructions: list[str] = [], files: list[str] = []) -> list[Leak]:  # noqa: B006
    return [leak for leak in leaks_of(graph, instructions=instructions, file_names=files) if leak.grave]


def test_the_bundled_graphs_leak_nothing(projects: BenchGraph, services: BenchGraph) -> None:
    assert grave(projects, ["Answer from the graph."], ["report.json"]) == []
    assert grave(services, ["Answer from the graph."], ["report.json"]) == []


@pytest.mark.parametrize("text", ["For example: Казань.", "казань", "such as city_kazan"])
def test_an_answer_in_the_instructions(projects: BenchGraph, text: str) -> None:
    assert {(leak.task, leak.where) for leak in grave(projects, [text])} == {
        ("q1", "instructions"),
        ("q4", "instructions"),
    }


def test_an_answer_inside_a_longer_word_is_none(projects: BenchGraph) -> None:
    assert grave(projects, ["Казанью", "city_kazan_2"]) == []


def test_an_answer_in_a_file_name(projects: BenchGraph) -> None:
    assert [leak.where for leak in grave(projects, [], ["q2 максим.json"])] == ["file name"]


def test_an_answer_in_the_question(projects: BenchGraph) -> None:
    told = replace(projects.tasks[0], texts={"ru": "Казань или Томск?"})
    assert [leak.where for leak in grave(replace(projects, tasks=(told,)))] == ["question"]


def test_an_answer_in_the_meaning_of_a_relation(projects: BenchGraph) -> None:
    assert grave(replace(projects, semantics=("LOCATED_IN, as in Казань",)))


@pytest.mark.parametrize("id", ["correct_answer_tomsk", "n7-RIGHT", "верный_город", "city:ответ1", "答案3"])
def test_an_id_that_speaks_of_answers(projects: BenchGraph, id: str) -> None:
    told = replace(projects, nodes=(*projects.nodes[:-1], replace(projects.nodes[-1], id=id)))
    assert [leak.where for leak in grave(told)] == ["id"]


@pytest.mark.parametrize("id", ["customer:brightwater", "goldberg", "targeted", "северный"])
def test_an_id_that_only_sounds_like_it(projects: BenchGraph, id: str) -> None:
    told = replace(projects, nodes=(*projects.nodes[:-1], replace(projects.nodes[-1], id=id)))
    assert grave(told) == []


def test_ids_that_repeat_names_are_mentioned_until_they_are_renamed(services: BenchGraph) -> None:
    assert any(leak.where == "id" for leak in leaks_of(services, instructions=[], file_names=[]))
    renamed = pseudonymized(services, 5)
    assert not any(leak.where == "id" for leak in leaks_of(renamed, instructions=[], file_names=[]))


def test_answers_that_always_come_first_are_mentioned(services: BenchGraph, projects: BenchGraph) -> None:
    assert any(leak.where == "order" for leak in leaks_of(services, instructions=[], file_names=[]))
    assert not any(leak.where == "order" for leak in leaks_of(projects, instructions=[], file_names=[]))
