"""A benchmark graph in one of the orderings: its facts by place, so that a prefix of them is a graph of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graphroute.evaluation.formats.graph import BenchGraph, Task
from graphroute.serialization.orderings import Hints, ordering
from graphroute.serialization.records import AssertionRecord, FactRecord, NodeRecord, Records, SourceRecord

CANONICAL = "canonical"
SHUFFLED = "shuffled"

BY_QUESTION = frozenset({"relevant_first", "breadth_first"})
"""Orderings that look at the question."""


@dataclass(frozen=True, slots=True)
class Order:
    """An ordering; `seed` is that of a shuffle."""

    name: str = CANONICAL
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Arranged:
    """All facts of a graph in an order. `places`: where each fact stands in the graph."""

    records: Records
    places: tuple[int, ...]

    def first(self, count: int) -> Records:
        """The first facts with just the nodes and sources that they name, in the same order."""
        if count == len(self.places):
            return self.records
        facts = self.records.facts[:count]
        ends = {end for fact in facts for end in (fact.subject, fact.object)}
        cited = {
            span.source_id
            for fact in facts
            for assertion in fact.assertions
            for support in assertion.supports
            for span in support
        }
        return replace(
            self.records,
            nodes=tuple(node for node in self.records.nodes if node.id in ends),
            facts=facts,
            sources=tuple(source for source in self.records.sources if source.id in cited),
        )


def arranged(graph: BenchGraph, order: Order, task: Task | None = None) -> Arranged:
    """The whole graph in an order. Raises ConfigurationError for an unknown ordering."""
    records, places = records_of_graph(graph)
    hints = Hints(anchors=task.query.starts if task else (), seed=order.seed or 0)
    found = ordering(order.name)(records, hints)
    return Arranged(found, tuple(places[id(fact)] for fact in found.facts))


def records_of_graph(graph: BenchGraph) -> tuple[Records, dict[int, int]]:
    """All facts as records, each node and source declared in order of first use, and the place of each fact record by its identity."""
    known = graph.by_id
    nodes: dict[str, NodeRecord] = {}
    sources: dict[str, SourceRecord] = {}
    facts: list[FactRecord] = []
    for edge in graph.edges:
        for end in (edge.source, edge.target):
            if end not in nodes:
                node = known[end]
                nodes[end] = NodeRecord(id=node.id, types=(node.type,), name=node.name)
        for support in edge.supports:
            for span in support:
                sources.setdefault(span.source_id, SourceRecord(id=span.source_id))
        facts.append(
            FactRecord(
                subject=edge.source,
                predicate=edge.relation,
                object=edge.target,
                validity=edge.validity,
                negated=edge.negated,
                assertions=(AssertionRecord(id=edge.assertion, supports=edge.supports),) if edge.assertion else (),
            )
        )
    records = Records(
        snapshot=graph.sha256[:12],
        as_of=graph.as_of,
        sources=tuple(sources.values()),
        nodes=tuple(nodes.values()),
        facts=tuple(facts),
    )
    return records, {id(fact): place for place, fact in enumerate(facts)}
