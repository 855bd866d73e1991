"""The two solvers against each other, and gold in doubt stops the run."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from graphroute.errors import DataError
from graphroute.evaluation.formats.gold import check_gold, solved
from graphroute.evaluation.formats.graph import BenchGraph, Edge, PathQuery, Step
from graphroute.evaluation.formats.joins import join
from graphroute.evaluation.formats.walk import index_of, solve
from graphroute.types.graph import Direction


def test_bundled_gold_is_what_both_solvers_find(projects: BenchGraph, services: BenchGraph) -> None:
    check_gold(projects)
    check_gold(services)
    assert [task.path for task in projects.tasks] == [
        (0, 3, 6, 10), (11, 8, 5, 2), (1, 0, 3), (3, 6, 10), (4,), (9,),
    ]  # fmt: skip
    assert services.tasks[0].answers == ("svc-api", "svc-auth", "svc-profile", "svc-web")


def test_the_solvers_agree_on_random_graphs() -> None:
    rng = random.Random(5)
    answered = repeated = mapped = 0
    for _ in range(1_500):
        ids = [f"n{number}" for number in range(rng.randint(2, 7))]
        types = {id: rng.choice("ab") for id in ids}
        edges = [
            Edge(
                source=rng.choice(ids),
                relation=rng.choice("PQR"),
                target=rng.choice(ids),
                negated=rng.random() < 0.1,
            )
            for _ in range(rng.randint(1, 12))
        ]
        steps = tuple(
            Step(
                relation=rng.choice("PQR"),
                direction=rng.choice(list(Direction)),
                types=tuple(rng.choice(["", "a", "b"])),
                repeat=rng.random() < 0.25,
            )
            for _ in range(rng.randint(1, 4))
        )
        key = rng.randint(1, len(steps) - 1) if len(steps) > 1 and rng.random() < 0.4 else None
        query = PathQuery(starts=tuple(rng.sample(ids, rng.randint(1, 2))), steps=steps, key_step=key)
        walked = solve(index_of(edges, types), query)
        assert (walked.answers, dict(walked.mapping)) == join(edges, types, query)
        answered += bool(walked.answers)
        repeated += bool(walked.answers) and any(step.repeat for step in steps)
        mapped += bool(walked.mapping)
    assert answered > 150
    assert repeated > 20
    assert mapped > 10


def test_a_negated_fact_is_not_walked(projects: BenchGraph) -> None:
    denied = replace(projects, edges=(replace(projects.edges[0], negated=True), *projects.edges[1:]))
    task = denied.tasks[0]
    assert solved(task, denied.nodes, denied.edges).answers == ()


def test_the_longest_way_is_kept_where_there_is_no_answer(projects: BenchGraph) -> None:
    assert solve(index_of(projects.edges, {}), projects.tasks[5].query).partial == (9,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": ("city_tomsk",)}, "stored answer"),
        ({"answers": ()}, "stored answer"),
        ({"path": (0, 3, 6, 11)}, "stored path"),
        ({"path": (10, 6, 3, 0)}, "stored path"),
    ],
)
def test_gold_in_doubt_stops_the_run(projects: BenchGraph, change: dict[str, object], message: str) -> None:
    wrong = replace(projects, tasks=(replace(projects.tasks[0], **change), *projects.tasks[1:]))  # type: ignore[arg-type]
    with pytest.raises(DataError, match=message):
        check_gold(wrong)


def test_solvers_that_disagree_stop_the_run(projects: BenchGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    import graphroute.evaluation.formats.gold as gold

    def lazy(edges: object, types: object, query: PathQuery) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
        return (), {}

    monkeypatch.setattr(gold, "join", lazy)
    with pytest.raises(DataError, match="disagree"):
        check_gold(projects)
