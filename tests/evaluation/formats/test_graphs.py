"""Graph files, new ids, and distractors that leave the gold alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphroute.errors import ConfigurationError, DataError, UsageError
from graphroute.evaluation.formats.distractors import SIZES, enlarged
from graphroute.evaluation.formats.gold import check_gold
from graphroute.evaluation.formats.graph import BenchGraph, dump_graph, load_graph, parse_graph, pseudonymized

GRAPH = """\
name: tiny
nodes:
  - {id: a, name: A, type: thing}
  - {id: b, name: Б, type: thing}
facts:
  - {source: a, relation: R, target: b, valid: 2024-01-01.., negated: true}
  - {source: a, relation: R, target: b}
  - {source: a, relation: R, target: b}
"""


def test_a_graph_is_the_same_after_writing_and_reading(projects: BenchGraph, tmp_path: Path) -> None:
    for graph in (projects, enlarged(projects, "small", seed=3)):
        path = tmp_path / f"{graph.name}.json"
        path.write_text(dump_graph(graph), encoding="utf-8")
        assert load_graph(path) == graph
        assert load_graph(path).sha256 == graph.sha256


def test_duplicates_time_and_negation_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(GRAPH, encoding="utf-8")
    graph = load_graph(path)
    assert len(graph.edges) == 3
    assert graph.edges[0].negated
    assert graph.edges[0].validity.start is not None
    assert parse_graph(dump_graph(graph), "text") == graph


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("target: b}\n  - {source: a, relation: R, target: b}\n", "target: c}\n", DataError),
        ("{id: b,", "{id: a,", DataError),
        (
            "  - {id: b, name: Б, type: thing}\n",
            "  - {id: b, name: Б, type: thing}\n  - {id: c, name: C, type: thing}\n",
            DataError,
        ),
        ("name: A", "title: A", ConfigurationError),
        ("2024-01-01..", "yesterday", DataError),
    ],
)
def test_a_wrong_graph_is_refused(tmp_path: Path, old: str, new: str, error: type[Exception]) -> None:
    assert old in GRAPH
    path = tmp_path / "tiny.yaml"
    path.write_text(GRAPH.replace(old, new), encoding="utf-8")
    with pytest.raises(error):
        load_graph(path)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"name": "x", "nodes": [], "facts": []}'])
def test_a_wrong_artefact_is_refused(text: str) -> None:
    with pytest.raises(DataError):
        parse_graph(text, "text")


@pytest.mark.parametrize("name", ["projects", "services"])
@pytest.mark.parametrize("size", list(SIZES))
def test_distractors_change_no_answer_and_no_path(name: str, size: str, request: pytest.FixtureRequest) -> None:
    base: BenchGraph = request.getfixturevalue(name)
    grown = enlarged(base, size, seed=7)
    check_gold(grown)
    assert grown.tasks == base.tasks
    assert grown.edges[: len(base.edges)] == base.edges
    assert grown == enlarged(base, size, seed=7)
    if size != "base":
        assert grown.edges != enlarged(base, size, seed=8).edges
        known = {(edge.relation, base.by_id[edge.source].type, base.by_id[edge.target].type) for edge in base.edges}
        made = {(edge.relation, grown.by_id[edge.source].type, grown.by_id[edge.target].type) for edge in grown.edges}
        assert made <= known
        starts = {start for task in base.tasks for start in task.query.starts}
        touching = [edge for edge in grown.edges[len(base.edges) :] if starts & {edge.source, edge.target}]
        assert touching, "no distractor begins where the questions do"


def test_sizes_grow(projects: BenchGraph) -> None:
    counts = [len(enlarged(projects, size, seed=7, facts=600).edges) for size in SIZES]
    assert counts == sorted(counts)
    assert counts[-1] >= 600
    with pytest.raises(UsageError):
        enlarged(projects, "huge", seed=7)


def test_new_ids_say_nothing_and_leave_the_gold(projects: BenchGraph) -> None:
    renamed = pseudonymized(projects, 3)
    check_gold(renamed)
    assert {node.name for node in renamed.nodes} == {node.name for node in projects.nodes}
    assert not {node.id for node in renamed.nodes} & {node.id for node in projects.nodes}
    assert all(node.id[0] == "n" and node.id[1:].isdigit() for node in renamed.nodes)
    assert renamed == pseudonymized(projects, 3)
    assert renamed != pseudonymized(projects, 4)
