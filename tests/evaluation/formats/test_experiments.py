"""Sizes, windows, budgets by whole records and by raw tokens, and orders, on real texts."""

from __future__ import annotations

import pytest

from graphroute.evaluation.formats.distractors import enlarged
from graphroute.evaluation.formats.experiments import CONTEXT_OVERFLOW, FITS, Bench, order_rows
from graphroute.evaluation.formats.graph import BenchGraph
from graphroute.evaluation.formats.orders import Order, arranged
from graphroute.evaluation.formats.prompt import digest
from graphroute.evaluation.formats.variants import Traversal, Variant, fidelity, variants_of, written_ids
from graphroute.models.tokenizers import load_tokenizer
from graphroute.serialization.formats import FORMATS
from graphroute.serialization.records import Profile

EVERY = variants_of(FORMATS.names, ["full", "lean"])


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(tokenizer=load_tokenizer("o200k_base"))


@pytest.mark.parametrize("variant", EVERY, ids=[variant.label for variant in EVERY])
def test_every_variant_carries_both_graphs(
    variant: Variant, projects: BenchGraph, services: BenchGraph, bench: Bench
) -> None:
    for graph in (projects, services):
        row, text = bench.size(graph, variant)
        assert (row.round_trip, row.round_trip_equal, row.traversal) == (1.0, True, 1.0)
        assert row.graph_tokens == bench.tokenizer.count(text)
        assert row.bytes == len(text.encode())
        assert row.sha256 == digest(text)
        assert row.grammar_tokens + row.graph_tokens < row.prompt_tokens_min <= row.prompt_tokens_max
        assert variant.form.grammar in bench.prompt(variant, graph, graph.tasks[0], text)


def test_a_text_that_lost_a_fact_is_noticed(projects: BenchGraph, bench: Bench) -> None:
    (variant,) = variants_of(["edge_list"], ["full"])
    whole = arranged(projects, Order())
    short = variant.form.dumps(whole.first(len(whole.places) - 1), variant.profile)
    held = fidelity(variant, short, whole.records)
    assert not held.equal
    assert held.edges == pytest.approx(12 / 13)
    assert fidelity(variant, short[:-20], whole.records).edges == 0.0
    read = Traversal(variant, short, written_ids(variant, whole.records))
    assert not all(read.right(task) for task in projects.tasks)


def test_the_same_graph_in_a_window_is_never_cut(projects: BenchGraph, bench: Bench) -> None:
    (variant,) = variants_of(["pretty_json"], ["full"])
    row, text = bench.size(projects, variant)
    small, exact, large = bench.windows(
        projects, variant, text, [512, row.prompt_tokens_max, row.prompt_tokens_max + 1]
    )
    assert (small.outcome, small.fitting) == (CONTEXT_OVERFLOW, 0)
    assert (exact.outcome, exact.fitting) == (FITS, 6)
    assert large.outcome == FITS
    (near,) = bench.windows(projects, variant, text, [row.prompt_tokens_max - 1])
    assert near.outcome == CONTEXT_OVERFLOW


@pytest.mark.parametrize("order", ["canonical", "breadth_first"])
def test_a_budget_holds_on_the_finished_prompt_and_wastes_no_room(
    order: str, projects: BenchGraph, bench: Bench
) -> None:
    graph = enlarged(projects, "medium", seed=7)
    for variant in variants_of(["edge_list", "compact_json"], ["lean"]):
        for budget in (700, 1500):
            for task in graph.tasks[:3]:
                text, places = bench.cut(graph, variant, budget, Order(order), task)
                assert bench.tokens(variant, graph, task, text) <= budget
                found = variant.form.loads(text)
                ends = {end for fact in found.facts for end in (fact.subject, fact.object)}
                assert {node.id for node in found.nodes} == ends
                whole = bench.arranged(graph, Order(order), task)
                assert places == whole.places[: len(places)]
                if order == "breadth_first":
                    more = variant.form.dumps(whole.first(len(places) + 1), variant.profile)
                    assert bench.tokens(variant, graph, task, more) > budget


def test_rows_of_a_budget_add_up(projects: BenchGraph, bench: Bench) -> None:
    graph = enlarged(projects, "small", seed=7)
    (variant,) = variants_of(["edge_list"], ["full"])
    none, part, whole = bench.budgets(graph, variant, [300, 1000, 8192], Order("breadth_first"))
    assert (none.facts, none.complete, none.traversal, none.parsed) == (0, 0, 0, 0)
    assert 0 < part.facts < len(graph.edges)
    assert part.prompt_tokens <= 1000
    assert part.complete <= part.required
    assert part.traversal >= part.complete > 0
    assert part.complete_low < part.complete < part.complete_high
    assert (whole.facts, whole.complete, whole.traversal) == (len(graph.edges), 1.0, 1.0)
    assert whole.false_answers == 0
    assert (whole.answerable, whole.questions) == (5, 6)


def test_a_raw_cut_damages_and_is_reported_apart(projects: BenchGraph, bench: Bench) -> None:
    graph = enlarged(projects, "small", seed=7)
    for variant in variants_of(["pretty_json", "edge_list"], ["full"]):
        cut, whole = bench.raw(graph, variant, [1000, 8192])
        assert (cut.cut, cut.parsed, cut.facts, cut.traversal) == ("raw", 0.0, 0.0, 0.0)
        assert cut.prompt_tokens <= 1001
        assert (whole.parsed, whole.traversal) == (1.0, 1.0)


def test_a_shuffle_has_mean_and_spread(projects: BenchGraph, bench: Bench) -> None:
    graph = enlarged(projects, "small", seed=7)
    (variant,) = variants_of(["edge_list"], ["lean"])
    rows = [row for seed in range(1, 7) for row in bench.budgets(graph, variant, [1000], Order("shuffled", seed))]
    rows += bench.budgets(graph, variant, [1000], Order("breadth_first"))
    shuffled, breadth = order_rows(rows)
    assert shuffled.permutations == 6
    assert shuffled.complete_least < shuffled.complete_mean < shuffled.complete_most
    assert shuffled.complete_spread
    assert breadth.complete_mean > shuffled.complete_mean
    assert breadth.complete_spread is None


def test_orders_hold_the_same_facts(projects: BenchGraph) -> None:
    task = projects.tasks[1]
    places = {
        name: arranged(projects, Order(name, seed), task).places
        for name, seed in [("canonical", None), ("shuffled", 1), ("relevant_first", None), ("breadth_first", None)]
    }
    assert all(sorted(found) == list(range(13)) for found in places.values())
    assert len(set(places.values())) == 4
    assert places["breadth_first"][0] == 11
    lean = Variant(variants_of(["edge_list"], ["lean"])[0].form, Profile.LEAN)
    assert lean.label == "edge_list:lean"


def test_facts_keep_their_place_when_two_are_equal(projects: BenchGraph) -> None:
    from dataclasses import replace

    doubled = replace(projects, edges=(*projects.edges, projects.edges[0], projects.edges[0]))
    found = arranged(doubled, Order("shuffled", 3))
    assert sorted(found.places) == list(range(15))
    (variant,) = variants_of(["csv"], ["full"])
    text = variant.form.dumps(found.records, variant.profile)
    assert fidelity(variant, text, found.records).equal
