"""Local graph over real stores: what is bound, what is shown, and what an empty result means."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from graphroute.errors import DeadlineError
from graphroute.parsing.parser import Parser
from graphroute.retrieval.base import Backends
from graphroute.retrieval.local_graph import LocalGraph, Params
from graphroute.testing.retriever import Suite
from graphroute.types.query import Cue, CueKind, DateMode, EventAnchor, ParsedQuery
from graphroute.types.reader import Reader
from graphroute.types.retrieval import RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import Limits
from graphroute.types.view import View

PUBLIC = Reader("ann", ["public"])
INSIDER = Reader("ben", ["public", "secret"])
ONTOLOGY = """
types:
  svc: {nouns: [service]}
  team: {nouns: [team], agent: true}
  person: {nouns: [person], agent: true}
  cluster: {nouns: [cluster]}
  inc: {nouns: [incident]}
  rel: {nouns: [release]}
relations:
  OWNED_BY: {from: svc, to: team, complete: true}
  RUNS_ON: {from: svc, to: cluster, max_age_days: 100}
  HOSTED: {from: svc, to: cluster}
  LED_BY: {from: team, to: person}
  PEER: {from: svc, to: svc, symmetric: true}
  AFFECTED: {from: inc, to: svc, kind: event}
  APPROVED: {from: person, to: rel, kind: event}
attributes:
  inc: {opened: {nouns: [opened], kind: date}, hours: {nouns: [hours], kind: number}, severity: {nouns: [severity], enumerated: true}}
"""
Build = Callable[..., Any]


def run(
    world: Any,
    *readings: Any,
    reader: Reader = PUBLIC,
    limits: Limits | None = None,
    at: str = "2026-06-01",
    **more: Any,
) -> RetrievalResult:
    view = world.backends.catalog.view(reader=reader)
    params = more.pop("params", None)
    deadline = more.pop("deadline", None)
    query = world.query(*readings, at=at, **more)
    return LocalGraph(world.backends, params).retrieve(query, view=view, limits=limits or Limits(), deadline=deadline)


def bound(result: RetrievalResult) -> list[str]:
    return [binding.id or binding.display for binding in result.bindings]


def shown(result: RetrievalResult) -> list[list[str]]:
    return [list(hit.path.nodes) for hit in result.hits if hit.path is not None]


# Operations ---------------------------------------------------------------------------------------------------------------

ESTATE = [
    "svc:a OWNED_BY team:red 2026-01-01..2026-05-01",
    "svc:a OWNED_BY team:blue 2026-05-01..",
    "svc:b OWNED_BY team:blue 2026-01-01..",
    "svc:c OWNED_BY team:red 2026-01-01..",
    "svc:a HOSTED cluster:eu 2026-01-01..",
    "svc:b HOSTED cluster:eu 2026-01-01..",
    "svc:c HOSTED cluster:us 2026-01-01..",
    "inc:1 AFFECTED svc:a 2026-02-03..2026-02-04",
    "inc:2 AFFECTED svc:a 2026-03-03..2026-03-04",
    "inc:3 AFFECTED svc:b 2026-04-03..2026-04-04",
    "person:lena APPROVED rel:R17 2026-04-12..",
]
FACTS = [
    ("inc:1", "opened", "2026-02-03"),
    ("inc:2", "opened", "2026-03-03"),
    ("inc:1", "hours", "40"),
    ("inc:2", "hours", "5"),
    ("inc:1", "severity", "critical"),
    ("inc:2", "severity", "minor"),
    ("inc:3", "severity", "critical"),
]
OPERATIONS = [
    (["svc:a -OWNED_BY@overlaps 2026-06-01..2026-06-02-> team"], "list team", ["team:blue"]),
    (["svc:a -OWNED_BY@overlaps 2026-04-30..2026-05-01-> team"], "list team", ["team:red"]),
    (["svc:a -OWNED_BY@overlaps 2026-04-01..2026-06-01-> team"], "list team", ["team:blue", "team:red"]),
    (["svc:a -OWNED_BY@starts_in 2026-05-01..2026-06-01-> team"], "list team", ["team:blue"]),
    (["svc:a -OWNED_BY@ends_in 2026-05-01..2026-06-01-> team"], "list team", ["team:red"]),
    (["svc:a <-AFFECTED- inc"], "list inc", ["inc:1", "inc:2"]),
    (["svc:a <-AFFECTED- inc"], "list inc[severity=critical]", ["inc:1"]),
    (["every inc[severity=critical] -AFFECTED-> svc"], "list svc", ["svc:a", "svc:b"]),
    (["svc:a <-AFFECTED- inc"], "count inc", ["2"]),
    (["every inc"], "count inc", ["3"]),
    (["every inc"], "count inc[severity=critical]", ["2"]),
    (["every inc -AFFECTED-> svc"], "most svc", ["svc:a"]),
    (["every inc -AFFECTED-> svc"], "least svc", ["svc:b"]),
    (["cluster:eu <-HOSTED- svc <-AFFECTED- inc"], "count inc", ["3"]),
    (["svc:a <-AFFECTED- inc"], "first inc", ["inc:1"]),
    (["svc:a <-AFFECTED- inc"], "last inc", ["inc:2"]),
    (["svc:a <-AFFECTED- inc"], "date inc", ["2026-02-03", "2026-03-03"]),
    (["rel:R17 <-APPROVED- person"], "date person", ["2026-04-12"]),
    (["person:lena -APPROVED-> rel which is rel:R17"], "exists rel", ["yes"]),
    (["inc:1"], "value severity of inc", ["critical"]),
    (["inc:1", "inc:2"], "first opened of inc of any", ["inc:1"]),
    (["inc:1", "inc:2"], "last opened of inc of any", ["inc:2"]),
    (["cluster:eu <-HOSTED- svc", "team:blue <-OWNED_BY@overlaps 2026-06-01..2026-06-02- svc"], "list svc of all", ["svc:a", "svc:b"]),
    (["cluster:us <-HOSTED- svc", "team:blue <-OWNED_BY@overlaps 2026-06-01..2026-06-02- svc"], "list svc of any", ["svc:a", "svc:b", "svc:c"]),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "asks", "expected"), OPERATIONS, ids=[f"{a}: {x[0]}" for x, a, _ in OPERATIONS])
def test_operations(lines: list[str], asks: str, expected: list[str], made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE, FACTS)
    result = run(world, reading(*lines, asks=asks))
    assert result.verdict is Verdict.ANSWERED
    assert bound(result) == expected
    assert result.reading is not None
    assert result.plan[-1].startswith(asks.split()[0])
    assert result.cypher is not None
    assert result.cypher.startswith("CYPHER 5\n")


def test_an_answer_shows_its_paths_and_the_passages_of_values(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE, FACTS)
    result = run(world, reading("cluster:eu <-HOSTED- svc <-AFFECTED- inc", asks="list inc"))
    assert shown(result) == [
        ["cluster:eu", "svc:a", "inc:1"],
        ["cluster:eu", "svc:a", "inc:2"],
        ["cluster:eu", "svc:b", "inc:3"],
    ]
    assert {hit.kind for hit in result.hits} == {ScoreKind.PATH}
    assert [hit.binding for hit in result.hits] == ["inc:1", "inc:2", "inc:3"]
    assert result.anchors == ("cluster:eu",)
    value = run(world, reading("inc:1", asks="value severity of inc"))
    assert [hit.passage.source_id for hit in value.hits if hit.passage] == ["record-inc:1"]


def test_only_the_first_shows_the_first(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE)
    assert shown(run(world, reading("svc:a <-AFFECTED- inc", asks="first inc"))) == [["svc:a", "inc:1"]]


def test_a_comparison_needs_every_value(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE, FACTS)
    result = run(world, reading("inc:1", "inc:3", asks="first opened of inc of any"))
    assert result.bindings == ()
    assert result.reason == "opened is not known of all"


def test_compare_picks_the_larger(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE, FACTS)
    result = run(world, reading("inc:1", "inc:2", asks="compare hours of inc of any"))
    assert bound(result) == ["inc:1"]


def test_the_first_of_undated_facts_is_not_known(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ["inc:1 AFFECTED svc:a", "inc:2 AFFECTED svc:a"])
    assert run(world, reading("svc:a <-AFFECTED- inc", asks="first inc")).bindings == ()


@pytest.mark.parametrize(
    ("asks", "expected"), [("most", "inc:1"), ("least", "inc:2"), ("last", "inc:1"), ("first", "inc:2")]
)
def test_an_extreme_of_an_attribute(asks: str, expected: str, made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE, FACTS)
    assert bound(run(world, reading("inc:1", "inc:2", asks=f"{asks} hours of inc of any"))) == [expected]
    assert bound(run(world, reading("svc:a <-AFFECTED- inc", asks=f"{asks} hours of inc"))) == [expected]
    unknown = run(world, reading("cluster:eu <-HOSTED- svc <-AFFECTED- inc", asks=f"{asks} hours of inc"))
    assert (unknown.bindings, unknown.reason) == ((), "hours is not known of all")


@pytest.mark.parametrize("asks", ["first", "last", "date"])
def test_facts_without_a_date_prove_no_absence(asks: str, made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ["svc:a OWNED_BY team:red", "svc:b OWNED_BY team:red 2026-01-01.."])
    result = run(world, reading("svc:a -OWNED_BY-> team", asks=f"{asks} team"))
    assert (result.verdict, result.hits, result.reason) == (Verdict.EMPTY, (), "no date is known")
    assert run(world, reading("svc:b -OWNED_BY-> team", asks=f"{asks} team")).verdict is Verdict.ANSWERED


def test_a_symmetric_relation_is_walked_both_ways(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ["svc:a PEER svc:b", "svc:c PEER svc:a"])
    assert bound(run(world, reading("svc:a -PEER-> svc", asks="list svc"))) == ["svc:b", "svc:c"]
    assert bound(run(world, reading("svc:a <-PEER- svc", asks="list svc"))) == ["svc:b", "svc:c"]


def test_out_and_back_does_not_return_to_the_start(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE)
    result = run(world, reading("svc:a -HOSTED-> cluster <-HOSTED- svc", asks="list svc"))
    assert bound(result) == ["svc:b"]


def test_equal_extremes_are_all_given(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ["inc:1 AFFECTED svc:a", "inc:2 AFFECTED svc:b", "inc:2 AFFECTED svc:c"])
    result = run(world, reading("every inc -AFFECTED-> svc", asks="most svc"))
    assert bound(result) == ["svc:a", "svc:b", "svc:c"]


def test_parallel_facts_count_a_thing_once(made: Build, reading: Build) -> None:
    world = made(
        ONTOLOGY,
        ["inc:1 AFFECTED svc:a 2026-01-01..2026-01-02", "inc:1 AFFECTED svc:a 2026-02-01..2026-02-02", "inc:2 AFFECTED svc:b"],
    )  # fmt: skip
    assert bound(run(world, reading("svc:a <-AFFECTED- inc", asks="count inc"))) == ["1"]
    assert bound(run(world, reading("every inc -AFFECTED-> svc", asks="most svc"))) == ["svc:a", "svc:b"]


# Completeness and limits ----------------------------------------------------------------------------------------------------


def test_bindings_are_complete_whatever_is_shown(made: Build, reading: Build) -> None:
    facts = [f"svc:s{n:02} OWNED_BY team:red" for n in range(30)]
    world = made(ONTOLOGY, facts)
    result = run(world, reading("team:red <-OWNED_BY- svc", asks="list svc"), limits=Limits(max_paths=4))
    assert len(result.bindings) == 30
    assert len(result.hits) == 4
    assert result.evidence_truncated
    assert result.truncated_by is None
    count = run(world, reading("team:red <-OWNED_BY- svc", asks="count svc"), limits=Limits(max_paths=4))
    assert (bound(count), count.evidence_truncated) == (["30"], True)
    whole = run(world, reading("team:red <-OWNED_BY- svc", asks="list svc"), limits=Limits(max_paths=30))
    assert (len(whole.hits), whole.evidence_truncated) == (30, False)


def test_every_binding_is_shown_before_any_second_path(made: Build, reading: Build) -> None:
    facts = [f"svc:s{n} HOSTED cluster:c{n % 3}" for n in range(9)] + [f"svc:s{n} OWNED_BY team:red" for n in range(9)]
    world = made(ONTOLOGY, facts)
    built = reading("team:red <-OWNED_BY- svc -HOSTED-> cluster", asks="list cluster")
    result = run(world, built, limits=Limits(max_paths=4))
    assert sorted({hit.binding for hit in result.hits if hit.binding}) == ["cluster:c0", "cluster:c1", "cluster:c2"]
    assert len(result.hits) == 4


def test_a_join_shows_a_path_from_every_branch(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE)
    result = run(world, reading("cluster:eu <-HOSTED- svc", "inc:1 -AFFECTED-> svc", asks="list svc of all"))
    assert bound(result) == ["svc:a"]
    assert sorted(shown(result)) == [["cluster:eu", "svc:a"], ["inc:1", "svc:a"]]


def test_longer_plans_than_the_policy_allows_are_not_run(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE)
    built = reading("svc:a -HOSTED-> cluster <-HOSTED- svc", asks="list svc")
    result = run(world, built, limits=Limits(max_hops=1))
    assert result.verdict is Verdict.NOT_APPLICABLE
    assert result.reason == "the question names no path within max_hops"
    short = reading("svc:a -HOSTED-> cluster", asks="list cluster", cost=2.0)
    assert bound(run(world, built, short, limits=Limits(max_hops=1))) == ["cluster:eu"]


def test_past_the_deadline_nothing_is_returned(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE)
    built = reading("svc:a -HOSTED-> cluster <-HOSTED- svc", asks="list svc")
    with pytest.raises(DeadlineError):
        run(world, built, deadline=time.monotonic() - 1)
    assert bound(run(world, built, deadline=time.monotonic() + 60)) == ["svc:b"]


# Readings in order ---------------------------------------------------------------------------------------------------------


def test_the_next_reading_is_tried_within_the_margin_only(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE)
    empty = reading("svc:c <-AFFECTED- inc", asks="list inc", cost=0.2)
    near = reading("svc:c -HOSTED-> cluster", asks="list cluster", cost=0.7)
    far = replace(near, cost=0.8)
    result = run(world, empty, near)
    assert (bound(result), result.reading) == (["cluster:us"], near)
    assert run(world, empty, far).verdict is Verdict.EMPTY
    assert run(world, empty, far).reading == empty
    assert bound(run(world, empty, far, params=Params(next_reading_within=0.6))) == ["cluster:us"]


def test_a_proof_of_absence_is_not_talked_away_by_another_relation(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ["svc:a HOSTED cluster:eu", "svc:b OWNED_BY team:red"])
    absent = reading("svc:a -OWNED_BY-> team", asks="list team")
    other = reading("svc:a -HOSTED-> cluster", asks="list cluster", cost=0.2)
    assert run(world, absent, other).verdict is Verdict.ABSENT
    assert bound(run(world, absent, replace(other, cost=0.1))) == ["cluster:eu"]


def test_the_best_reading_that_finds_something_wins(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE)
    first = reading("svc:a -HOSTED-> cluster", asks="list cluster", cost=0.0)
    second = reading("svc:a <-AFFECTED- inc", asks="list inc", cost=0.0)
    assert run(world, first, second).reading == first


# What an empty result means ---------------------------------------------------------------------------------------------------


def test_no_reading_is_not_applicable(made: Build) -> None:
    result = run(made(ONTOLOGY, ESTATE))
    assert (result.verdict, result.hits, result.bindings) == (Verdict.NOT_APPLICABLE, (), ())
    assert result.reason == "no relation of the ontology restricts the result"


def test_an_unresolved_name_is_said(made: Build) -> None:
    strange = Cue(kind=CueKind.UNRESOLVED, value="Q9", start=0, end=2, rule="pattern", text="Q9")
    result = run(made(ONTOLOGY, ESTATE), unresolved=(strange,))
    assert (result.verdict, result.reason) == (Verdict.UNRESOLVED, "nothing readable is named 'Q9'")


def test_no_fact_of_a_closed_relation_is_absent_of_an_open_one_empty(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ["svc:a HOSTED cluster:eu", "svc:b OWNED_BY team:red"])
    assert run(world, reading("svc:a -OWNED_BY-> team", asks="list team")).verdict is Verdict.ABSENT
    assert run(world, reading("svc:b -HOSTED-> cluster", asks="list cluster")).verdict is Verdict.EMPTY
    mixed = reading("svc:a -OWNED_BY-> team -LED_BY-> person", asks="list person")
    assert run(world, mixed).verdict is Verdict.EMPTY
    unsure = reading("svc:a -OWNED_BY-> team", asks="list team", cost=1.7)
    assert run(world, unsure).verdict is Verdict.EMPTY


def test_an_expired_fact_is_absent_and_said(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ["svc:a HOSTED cluster:eu 2026-01-01..2026-03-01"])
    result = run(world, reading("svc:a -HOSTED@overlaps 2026-06-01..2026-06-02-> cluster", asks="list cluster"))
    assert (result.verdict, result.reason) == (Verdict.ABSENT, "no fact in force at the instant asked about")


def test_facts_in_force_that_do_not_meet_are_not_expired(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ["svc:a HOSTED cluster:eu", "svc:b HOSTED cluster:us"])
    result = run(world, reading("svc:a -HOSTED-> cluster", "svc:b -HOSTED-> cluster", asks="list cluster of all"))
    assert (result.verdict, result.reason) == (Verdict.EMPTY, "no valid readable fact")


def test_a_fact_of_later_is_not_expired(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ["svc:a HOSTED cluster:eu 2026-05-01.."])
    result = run(world, reading("svc:a -HOSTED@overlaps 2026-01-01..2026-01-02-> cluster", asks="list cluster"))
    assert result.verdict is Verdict.EMPTY


def test_what_met_before_has_expired(made: Build, reading: Build) -> None:
    """Both ran on eu until March; from then on one of them runs elsewhere."""
    facts = [
        "svc:a HOSTED cluster:eu",
        "svc:b HOSTED cluster:eu 2026-01-01..2026-03-01",
        "svc:b HOSTED cluster:us 2026-03-01..",
    ]
    june = "@overlaps 2026-06-01..2026-06-02"
    both = reading(f"svc:a -HOSTED{june}-> cluster", f"svc:b -HOSTED{june}-> cluster", asks="list cluster of all")
    assert run(made(ONTOLOGY, facts), both).verdict is Verdict.ABSENT
    assert run(made(ONTOLOGY, [facts[0], facts[2]]), both).verdict is Verdict.EMPTY


def test_facts_that_never_held_together_have_not_expired(made: Build, reading: Build) -> None:
    june = "@overlaps 2026-06-01..2026-06-02"
    line = reading(f"svc:a -OWNED_BY{june}-> team -LED_BY{june}-> person", asks="list person")
    owned = "svc:a OWNED_BY team:red 2026-01-01..2026-02-01"
    apart = run(made(ONTOLOGY, [owned, "team:red LED_BY person:lena 2026-03-01..2026-04-01"]), line)
    assert apart.verdict is Verdict.EMPTY
    assert run(made(ONTOLOGY, [owned, "team:red LED_BY person:lena"]), line).verdict is Verdict.ABSENT


def test_an_attribute_without_a_value_is_absent(made: Build, reading: Build) -> None:
    result = run(made(ONTOLOGY, ESTATE, FACTS), reading("inc:3", asks="value opened of inc"))
    assert (result.verdict, result.reason) == (Verdict.ABSENT, "no readable opened")


def test_hidden_is_absent(made: Build, reading: Build) -> None:
    hidden = ["svc:a OWNED_BY team:red by plan!secret", "svc:b OWNED_BY team:red"]
    world = made(ONTOLOGY, hidden)
    built = reading("svc:a -OWNED_BY-> team", asks="list team")
    insider, public = run(world, built, reader=INSIDER), run(world, built)
    assert bound(insider) == ["team:red"]
    never = run(world, reading("svc:z -OWNED_BY-> team", asks="list team"))
    assert (public.verdict, public.reason, public.hits) == (never.verdict, never.reason, never.hits)
    assert public.verdict is Verdict.ABSENT
    count = reading("team:red <-OWNED_BY- svc", asks="count svc")
    assert (bound(run(world, count, reader=INSIDER)), bound(run(world, count))) == (["2"], ["1"])


def test_a_proof_of_two_sources_needs_both(made: Build, reading: Build) -> None:
    world = made(
        ONTOLOGY, ["svc:a OWNED_BY team:red by plan!secret+wiki", "svc:b OWNED_BY team:red by plan!secret wiki"]
    )
    built = reading("team:red <-OWNED_BY- svc", asks="list svc")
    assert bound(run(world, built)) == ["svc:b"]
    assert bound(run(world, built, reader=INSIDER)) == ["svc:a", "svc:b"]


# Time -----------------------------------------------------------------------------------------------------------------------


def test_states_of_a_path_must_share_an_instant(made: Build, reading: Build) -> None:
    """Red led by Lena until March; a belongs to red from April on: nobody led the owner of a inside that year."""
    facts = ["svc:a OWNED_BY team:red 2026-04-01..", "team:red LED_BY person:lena 2026-01-01..2026-03-01"]
    year = "@overlaps 2026-01-01..2027-01-01"
    line = f"svc:a -OWNED_BY{year}-> team -LED_BY{year}-> person"
    assert run(made(ONTOLOGY, facts), reading(line, asks="list person")).bindings == ()


def test_states_that_share_an_instant_answer(made: Build, reading: Build) -> None:
    facts = ["svc:a OWNED_BY team:red 2026-02-01..", "team:red LED_BY person:lena 2026-01-01..2026-03-01"]
    year = "@overlaps 2026-01-01..2027-01-01"
    line = f"svc:a -OWNED_BY{year}-> team -LED_BY{year}-> person"
    assert bound(run(made(ONTOLOGY, facts), reading(line, asks="list person"))) == ["person:lena"]


def test_an_event_need_not_share_an_instant_with_a_state(made: Build, reading: Build) -> None:
    facts = ["svc:a OWNED_BY team:red 2026-04-01..", "inc:1 AFFECTED svc:a 2026-02-01..2026-02-02"]
    line = "team:red <-OWNED_BY@overlaps 2026-06-01..2026-06-02- svc <-AFFECTED@overlaps ..2026-06-01- inc"
    assert bound(run(made(ONTOLOGY, facts), reading(line, asks="list inc"))) == ["inc:1"]


def test_extremes_count_only_states_that_share_an_instant(made: Build, reading: Build) -> None:
    facts = [
        "svc:a OWNED_BY team:red 2026-04-01..",
        "team:red LED_BY person:lena 2026-01-01..2026-03-01",
        "svc:b OWNED_BY team:blue",
        "team:blue LED_BY person:omar",
        "svc:c OWNED_BY team:red 2026-04-01..",
    ]
    year = "@overlaps 2026-01-01..2027-01-01"
    line = f"every svc -OWNED_BY{year}-> team -LED_BY{year}-> person"
    world = made(ONTOLOGY, facts)
    assert bound(run(world, reading(line, asks="list person"))) == ["person:omar"]
    assert bound(run(world, reading(line, asks="most person"))) == ["person:omar"]


def test_paths_on_old_sources_are_stale_and_counted(made: Build, reading: Build) -> None:
    facts = [
        "svc:a RUNS_ON cluster:eu by old~2025-01-01",
        "svc:b RUNS_ON cluster:eu by new~2026-05-01",
        "svc:c RUNS_ON cluster:eu by older~2024-01-01 newer~2026-04-01",
        "svc:d RUNS_ON cluster:us by ancient~2024-01-01",
        "svc:e RUNS_ON cluster:eu by undated",
    ]
    world = made(ONTOLOGY, facts)
    result = run(world, reading("cluster:eu <-RUNS_ON- svc", asks="list svc"))
    assert bound(result) == ["svc:b", "svc:c", "svc:e"]
    assert (result.stale_paths, result.stale_reason) == (1, "supporting source older than its maximum age")
    assert ["cluster:eu", "svc:a"] not in shown(result)
    gone = run(world, reading("cluster:us <-RUNS_ON- svc", asks="list svc"))
    assert (gone.verdict, gone.stale_paths) == (Verdict.ABSENT, 1)
    assert gone.reason == "every path rests on a source past its maximum age"
    # Asked on a day when the source was young, it counts.
    assert "svc:a" in bound(run(world, reading("cluster:eu <-RUNS_ON- svc", asks="list svc"), at="2025-02-01"))


def test_extremes_leave_stale_paths_out(made: Build, reading: Build) -> None:
    facts = ["svc:a RUNS_ON cluster:eu by old~2024-01-01", "svc:b RUNS_ON cluster:us by new~2026-05-01"]
    world = made(ONTOLOGY, facts)
    assert bound(run(world, reading("every svc -RUNS_ON-> cluster", asks="list cluster"))) == ["cluster:us"]
    assert bound(run(world, reading("every svc -RUNS_ON-> cluster", asks="most cluster"))) == ["cluster:us"]


def test_extremes_leave_paths_out_that_begin_stale(made: Build, reading: Build) -> None:
    facts = [
        "svc:a RUNS_ON cluster:eu by old~2024-01-01",
        "svc:b RUNS_ON cluster:eu by new~2026-05-01",
        "svc:a OWNED_BY team:red",
        "svc:b OWNED_BY team:blue",
    ]
    world = made(ONTOLOGY, facts)
    line = "cluster:eu <-RUNS_ON- svc -OWNED_BY-> team"
    assert bound(run(world, reading(line, asks="list team"))) == ["team:blue"]
    assert bound(run(world, reading(line, asks="most team"))) == ["team:blue"]


@pytest.mark.parametrize("asks", ["count svc", "list svc", "most cluster"])
def test_a_count_off_paths_says_that_it_was_cut(
    asks: str, made: Build, reading: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relation with a maximum age is counted path by path, and a store gives so many paths only."""
    world = made(ONTOLOGY, [f"svc:s{n} RUNS_ON cluster:eu" for n in range(8)])
    line = "every svc -RUNS_ON-> cluster" if asks.startswith("most") else "cluster:eu <-RUNS_ON- svc"
    built = reading(line, asks=asks)
    assert run(world, built).truncated_by is None
    monkeypatch.setattr("graphroute.retrieval.local_graph.HARD_MAX_PATHS", 5)
    assert run(world, built).truncated_by == "hard path limit"


def test_no_path_among_those_given_proves_no_absence(
    made: Build, reading: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = made(ONTOLOGY, [f"svc:s{n} RUNS_ON cluster:eu by old~2024-01-01" for n in range(8)])
    built = reading("cluster:eu <-RUNS_ON- svc", asks="count svc")
    assert run(world, built).verdict is Verdict.ABSENT
    monkeypatch.setattr("graphroute.retrieval.local_graph.HARD_MAX_PATHS", 5)
    assert run(world, built).verdict is Verdict.EMPTY


def test_attributes_of_the_newest_source_in_force(made: Build, reading: Build) -> None:
    values = [
        ("inc:1", "severity", "minor by first~2026-01-01"),
        ("inc:1", "severity", "critical by second~2026-05-01"),
    ]
    world = made(ONTOLOGY, [], values)
    built = reading("inc:1", asks="value severity of inc")
    assert bound(run(world, built)) == ["critical"]
    assert bound(run(world, built, at="2026-03-01")) == ["minor"]
    assert run(world, built, at="2025-03-01").bindings == ()


# Event clauses ---------------------------------------------------------------------------------------------------------------


def event(mode: DateMode, *, attributes: tuple[str, ...] = (), anchors: tuple[str, ...] = ("rel:R17",)) -> EventAnchor:
    cue = Cue(kind=CueKind.DATE, value="R17", start=0, end=1, rule="event:when", text="when R17 was approved")
    predicates = () if attributes else ("APPROVED",)
    return EventAnchor(cue=cue, anchors=anchors, predicates=predicates, attributes=attributes, mode=mode)


@pytest.mark.parametrize(
    ("mode", "line", "expected"),
    [
        (DateMode.AT, "svc:a -OWNED_BY-> team", ["team:red"]),
        (DateMode.AFTER, "rel:R18 <-APPROVED- person", ["person:omar"]),
        (DateMode.BEFORE, "svc:a -OWNED_BY-> team", ["team:red"]),
        (DateMode.BEFORE, "svc:a <-AFFECTED- inc", ["inc:1", "inc:2"]),
    ],
)
def test_an_event_sets_the_instant(mode: DateMode, line: str, expected: list[str], made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, [*ESTATE, "person:omar APPROVED rel:R18 2026-05-02.."])
    built = replace(reading(line, asks=f"list {line.split()[-1]}"), event=event(mode))
    result = run(world, built)
    assert bound(result) == expected
    assert result.instant is not None
    assert shown(result)[0] == ["rel:R17", "person:lena"]
    assert result.hits[0].note == "sets the instant"


def test_a_state_after_an_event_is_one_that_overlaps(made: Build, reading: Build) -> None:
    """R17 was approved on 12 April; red owned until 1 May, blue from then on."""
    world = made(ONTOLOGY, ESTATE)
    built = replace(reading("svc:a -OWNED_BY-> team", asks="list team"), event=event(DateMode.AFTER))
    assert bound(run(world, built)) == ["team:blue", "team:red"]


def test_a_state_that_begins_after_an_event(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE)
    line = "svc:a -OWNED_BY@starts_in ..2026-06-01-> team"
    assert bound(run(world, replace(reading(line, asks="list team"), event=event(DateMode.AFTER)))) == ["team:blue"]
    assert bound(run(world, replace(reading(line, asks="list team"), event=event(DateMode.BEFORE)))) == ["team:red"]


def test_an_attribute_may_date_an_event(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE, FACTS)
    dated = event(DateMode.AT, attributes=("opened",), anchors=("inc:1",))
    result = run(world, replace(reading("svc:a -OWNED_BY-> team", asks="list team"), event=dated))
    assert bound(result) == ["team:red"]
    assert result.hits[0].passage is not None
    assert result.hits[0].passage.source_id == "record-inc:1"


def test_an_event_without_a_date_answers_nothing(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, [*ESTATE, "person:lena APPROVED rel:R18"])
    built = replace(reading("svc:a -OWNED_BY-> team", asks="list team"), event=event(DateMode.AT, anchors=("rel:R18",)))
    result = run(world, built)
    assert result.bindings == ()
    assert result.reason == "no date for 'when R17 was approved'"


def test_an_event_without_a_date_is_not_a_proof_of_absence(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, [*ESTATE, "person:lena APPROVED rel:R18"])
    built = replace(reading("svc:a -OWNED_BY-> team", asks="list team"), event=event(DateMode.AT, anchors=("rel:R18",)))
    assert run(world, built).verdict is Verdict.EMPTY


# The conditions of every retriever ---------------------------------------------------------------------------------------------


def test_equal_questions_give_equal_results(made: Build, reading: Build) -> None:
    world = made(ONTOLOGY, ESTATE, FACTS)
    for lines, asks, _ in OPERATIONS:
        built = reading(*lines, asks=asks)
        assert replace(run(world, built), seconds=0) == replace(run(world, built), seconds=0)


class Asked:
    """Local graph of the question's text, as the engine runs it."""

    name = "local_graph"

    def __init__(self, backends: Backends) -> None:
        self._parser = Parser(backends.ontology, backends.catalog, backends.lexical)
        self._graph = LocalGraph(backends)

    def retrieve(
        self, query: ParsedQuery, *, view: View, limits: Limits, prior: Any = (), deadline: float | None = None
    ) -> RetrievalResult:
        parsed = self._parser.parse(query.text, view=view, instant=query.instant)
        return self._graph.retrieve(parsed, view=view, limits=limits)


CHECKS = ["check_hits", "check_non_interference", "check_hidden_as_absent", "check_determinism"]


@pytest.mark.parametrize("check", CHECKS)
def test_conformance(check: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    getattr(Suite(Asked, tmp_path_factory.mktemp("suite")), check)()
