"""Conformance suite of the graph port: subclass it, implement `opened`, and name the subclass Test..."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from graphroute.errors import DeadlineError
from graphroute.stores.catalog.base import Catalog
from graphroute.stores.graph.base import GraphStore
from graphroute.testing.strategies import (
    READERS,
    World,
    facts_of,
    random_pattern,
    random_time,
    random_world,
    seeded,
    trails_of,
    visible_world,
)
from graphroute.types.graph import Assertion, Direction, EndCount, HopPattern, Path, PathPattern, TopEnds
from graphroute.types.reader import Reader
from graphroute.types.source import Source, SourceSpan
from graphroute.types.time import Interval, TimeFilter, TimeMode
from graphroute.types.view import View

ANYONE = Reader("anyone", ("public",))
_PROOF = Source(id="proof", text="proof", labels=frozenset({"public"}))


def graph_world(*facts: tuple[str, str, str] | tuple[str, str, str, int | None, int | None]) -> World:
    """A public world of (subject, predicate, object[, start, end]) facts, one assertion each."""
    assertions = []
    for number, (subject, predicate, object_, *bounds) in enumerate(facts):
        validity = Interval(*bounds) if bounds else Interval()
        assertions.append(
            Assertion(
                id=f"f{number}",
                subject=subject,
                predicate=predicate,
                object=object_,
                validity=validity,
                supports=((SourceSpan("proof"),),),
            )
        )
    nodes = sorted({node for fact in facts for node in (fact[0], fact[2])})
    return World(
        sources=(_PROOF,),
        entities=tuple((node, ("thing",), ()) for node in nodes),
        assertions=tuple(assertions),
    )


class GraphStoreConformance:
    """What every graph store must do. `cases` sizes the random part."""

    cases = 25

    def opened(self, world: World) -> AbstractContextManager[tuple[Catalog, GraphStore]]:
        """A catalog and a graph store that hold the world, for the time of a `with` block."""
        raise NotImplementedError

    @staticmethod
    def _forward(*predicates: str, hops: int = 1) -> tuple[HopPattern, ...]:
        return tuple(HopPattern(predicates, Direction.FORWARD) for _ in range(hops))

    def test_paths_and_reach_equal_every_fact_tried_at_every_step(self) -> None:
        checked = 0
        for seed in range(self.cases):
            world = random_world(seed)
            rng = seeded(seed)
            with self.opened(world) as (catalog, graph):
                for reader in READERS:
                    view = catalog.view(reader=reader)
                    seen = visible_world(world, reader.labels)
                    for _ in range(8):
                        pattern = random_pattern(rng, world)
                        self.check(seen, pattern, graph, view)
                        checked += 1
        assert checked == self.cases * len(READERS) * 8

    @staticmethod
    def check(seen: World, pattern: PathPattern, graph: GraphStore, view: View) -> None:
        """Raise AssertionError where the store answers a pattern otherwise than the visible world."""
        expected = trails_of(seen, pattern)
        found = graph.paths(pattern, view=view)
        assert found.paths == tuple(expected[: pattern.limit])
        assert found.truncated == (len(expected) > pattern.limit)
        assert graph.reach(pattern, view=view) == tuple(sorted({path.end for path in expected}))
        pairs: dict[str, set[str]] = {}
        for path in expected:
            pairs.setdefault(path.start, set()).add(path.end)
        assert list(graph.reach_from(pattern, view=view)) == [(s, tuple(sorted(pairs[s]))) for s in sorted(pairs)]

    def test_counts_and_tops_equal_every_fact_tried_at_every_step(self) -> None:
        counted = 0
        for seed in range(self.cases):
            world = random_world(seed)
            rng = seeded(seed + 1_000)
            with self.opened(world) as (catalog, graph):
                for reader in READERS:
                    view = catalog.view(reader=reader)
                    seen = visible_world(world, reader.labels)
                    for _ in range(5):
                        counted += self.check_counts(seen, [random_pattern(rng, world) for _ in range(2)], graph, view)
        assert counted

    @staticmethod
    def check_counts(seen: World, patterns: Sequence[PathPattern], graph: GraphStore, view: View) -> int:
        """Raise AssertionError where the store counts otherwise than the visible world; how many entities there were."""
        sets = [{path.end for path in trails_of(seen, pattern)} for pattern in patterns]
        for united, ends in ((True, set.union(*sets)), (False, set.intersection(*sets))):
            expected = EndCount(len(ends), tuple(sorted(ends)[:2]))
            assert graph.count_ends(patterns, united=united, first=2, view=view) == expected
        pattern = patterns[0]
        assert graph.count_ends([pattern], view=view) == EndCount(len(sets[0]))
        before = set(pattern.starts)
        if len(pattern.hops) > 1:
            before = {path.end for path in trails_of(seen, replace(pattern, hops=pattern.hops[:-1]))}
        tail = PathPattern(tuple(before), pattern.hops[-1:], 1)
        pairs = {(path.start, path.end) for path in trails_of(seen, tail)}
        for most in (True, False):
            found, wanted = graph.top_ends(pattern, most=most, view=view), TopEnds.of(pairs, most=most)
            assert found == wanted, f"{found} is not {wanted} for {pattern}"
        return sum(map(len, sets))

    def test_counts_by_hand(self) -> None:
        world = graph_world(
            ("A", "has", "x"), ("A", "has", "y"), ("B", "has", "y"), ("C", "has", "z"),
            ("x", "in", "P"), ("y", "in", "P"), ("z", "in", "Q"), ("x", "in", "x"), ("P", "has", "A"),
        )  # fmt: skip
        with self.opened(world) as (catalog, graph):
            view = catalog.view(reader=ANYONE)
            has, held = HopPattern(("has",), Direction.FORWARD), HopPattern(("has",), Direction.BACKWARD)
            inside = HopPattern(("in",), Direction.FORWARD)

            def number(*patterns: tuple[tuple[str, ...], tuple[HopPattern, ...]], united: bool = False) -> EndCount:
                asked = [PathPattern(starts, hops, 1) for starts, hops in patterns]
                return graph.count_ends(asked, united=united, first=9, view=view)

            assert number((("A",), (has,))) == EndCount(2, ("x", "y"))
            # Who has what A has: not A itself. Of both, each reaches the other only.
            assert number((("A",), (has, held))) == EndCount(1, ("B",))
            assert number((("A", "B"), (has, held))) == EndCount(2, ("A", "B"))
            assert number((("C",), (has, held))) == EndCount(0)
            assert number((("A", "B", "C"), (has, inside))) == EndCount(2, ("P", "Q"))
            assert number((("A",), (has,)), (("B",), (has,))) == EndCount(1, ("y",))
            assert number((("A",), (has,)), (("C",), (has,)), united=True) == EndCount(3, ("x", "y", "z"))
            # The loop of x leads nowhere, and A is come back to only from another start.
            assert number((("A",), (has, inside, has))) == EndCount(0)
            assert number((("B",), (has, inside, has))) == EndCount(1, ("A",))
            assert number(((), (has,))) == number((("gone",), (has,))) == EndCount(0)
            every = PathPattern(("A", "B", "C"), (has, inside), 1)
            assert graph.top_ends(every, view=view) == TopEnds(("P",), 2, 2)
            assert graph.top_ends(every, most=False, view=view) == TopEnds(("Q",), 1, 2)
            assert graph.top_ends(replace(every, hops=(held,)), view=view) == TopEnds(("P",), 1, 1)
            assert graph.top_ends(replace(every, starts=("Q",)), view=view) == TopEnds()

    def test_facts_are_the_readable_ones(self) -> None:
        for seed in range(self.cases):
            world = random_world(seed)
            rng = seeded(seed)
            with self.opened(world) as (catalog, graph):
                for reader in READERS:
                    view = catalog.view(reader=reader)
                    facts = facts_of(visible_world(world, reader.labels))
                    when = random_time(rng)
                    assert list(graph.all_facts(view=view)) == facts
                    assert list(graph.all_facts(view=view, time=when)) == [f for f in facts if when.accepts(f.validity)]
                    some = rng.sample([entity[0] for entity in world.entities], 2)
                    touching = [f for f in facts if {f.subject, f.object} & set(some) and f.predicate != "knows"]
                    asked = graph.facts(some, ("owns", "made_by"), view=view, limit=4)
                    assert list(asked) == touching[:4]

    def test_cycle_with_self_loop_has_one_path(self) -> None:
        world = graph_world(("A", "r", "B"), ("B", "r", "B"), ("B", "r", "C"), ("C", "r", "A"))
        with self.opened(world) as (catalog, graph):
            view = catalog.view(reader=ANYONE)
            found: list[Path] = []
            for hops in range(1, 5):
                steps = (*self._forward("r", hops=hops - 1), HopPattern(("r",), Direction.FORWARD, ends=("C",)))
                found.extend(graph.paths(PathPattern(("A",), steps, 100), view=view).paths)
        assert [path.nodes for path in found] == [("A", "B", "C")]

    def test_complete_graph_is_cut_shortest_first_then_by_id(self) -> None:
        nodes = [str(number) for number in range(9)]
        world = graph_world(*((a, "r", b) for a in nodes for b in nodes if a != b))
        found: list[Path] = []
        total = []
        with self.opened(world) as (catalog, graph):
            view = catalog.view(reader=ANYONE)
            for hops in range(1, 5):
                steps = (*self._forward("r", hops=hops - 1), HopPattern(("r",), Direction.FORWARD, ends=("8",)))
                total.append(len(graph.paths(PathPattern(("0",), steps, 1_000), view=view).paths))
                cut = graph.paths(PathPattern(("0",), steps, max(1, 20 - len(found))), view=view)
                if len(found) < 20:
                    found.extend(cut.paths)
                    truncated = cut.truncated
        assert total == [1, 7, 42, 210]
        assert [len(path.hops) for path in found] == [1] + [2] * 7 + [3] * 12
        assert truncated
        assert [path.nodes for path in found] == sorted((p.nodes for p in found), key=lambda n: (len(n), n))

    def test_hub_does_not_push_out_the_relation_asked_for(self) -> None:
        sends = [("gateway", "SENDS", f"mail{number:04}") for number in range(3_000)]
        with self.opened(graph_world(*sends, ("gateway", "OWNED_BY", "ops"))) as (catalog, graph):
            view = catalog.view(reader=ANYONE)
            found = graph.paths(PathPattern(("gateway",), self._forward("OWNED_BY"), 25), view=view)
            assert [path.end for path in found.paths] == ["ops"]
            assert not found.truncated
            assert len(graph.reach(PathPattern(("gateway",), self._forward("SENDS"), 25), view=view)) == 3_000
            cut = graph.paths(PathPattern(("gateway",), self._forward("SENDS"), 25), view=view)
            assert [path.end for path in cut.paths] == [f"mail{number:04}" for number in range(25)]
            assert cut.truncated

    def test_direction_is_kept_and_said(self) -> None:
        world = graph_world(("Zeta", "ACQUIRED", "Alpha"), ("Alpha", "PARTNER_OF", "Beta"))
        with self.opened(world) as (catalog, graph):
            view = catalog.view(reader=ANYONE)

            def asked(start: str, predicate: str, direction: Direction | None) -> list[tuple[str, str]]:
                pattern = PathPattern((start,), (HopPattern((predicate,), direction),), 10)
                return [(path.end, path.hops[0].direction) for path in graph.paths(pattern, view=view).paths]

            assert asked("Alpha", "ACQUIRED", Direction.BACKWARD) == [("Zeta", "backward")]
            assert asked("Alpha", "ACQUIRED", Direction.FORWARD) == []
            assert asked("Zeta", "ACQUIRED", Direction.FORWARD) == [("Alpha", "forward")]
            assert asked("Beta", "PARTNER_OF", None) == [("Alpha", "backward")]
            fact = graph.facts(["Alpha"], ["ACQUIRED"], view=view)[0]
            assert (fact.subject, fact.object) == ("Zeta", "Alpha")

    def test_half_open_ends_and_validity_before_the_limit(self) -> None:
        day = 86_400_000_000
        january, april = 19_723 * day, 19_814 * day  # 2024-01-01 and 2024-04-01
        expired = [(f"old{number:02}", "ON_CALL", "duty", january, january + day) for number in range(30)]
        world = graph_world(
            ("R1", "OWNS", "it", january, april),
            ("R2", "OWNS", "it", april, None),
            ("R0", "OWNS", "it", None, january),
            ("now", "ON_CALL", "duty", april, None),
            *expired,
        )
        with self.opened(world) as (catalog, graph):
            view = catalog.view(reader=ANYONE)

            def owners(low: int, high: int, mode: TimeMode = TimeMode.OVERLAPS) -> list[str]:
                when = TimeFilter(mode, Interval(low, high))
                return [f.subject for f in graph.facts(["it"], ["OWNS"], view=view, time=when)]

            assert owners(april, april + day) == ["R2"]
            assert owners(april - day, april) == ["R1"]
            assert owners(april - 31 * day, april) == ["R1"]
            assert owners(january - 365 * day, january) == ["R0"]
            assert owners(january, january + day, TimeMode.STARTS_IN) == ["R1"]
            assert owners(april, april + day, TimeMode.ENDS_IN) == ["R1"]
            assert graph.facts(["R0"], view=view)[0].validity.start is None
            hop = HopPattern(
                ("ON_CALL",), Direction.BACKWARD, time=TimeFilter(TimeMode.OVERLAPS, Interval(april, april + 1))
            )
            found = graph.paths(PathPattern(("duty",), (hop,), 10), view=view)
            assert [path.end for path in found.paths] == ["now"]
            assert not found.truncated

    def test_inner_entity_comes_again_only_through_another_predicate(self) -> None:
        world = graph_world(("film", "starred", "ann"), ("film", "directed_by", "bo"), ("film", "written_by", "bo"))
        with self.opened(world) as (catalog, graph):
            view = catalog.view(reader=ANYONE)
            steps = (
                HopPattern(("starred",), Direction.BACKWARD),
                HopPattern(("directed_by",), Direction.FORWARD),
                HopPattern((), Direction.BACKWARD),
            )
            pattern = PathPattern(("ann",), steps, 10)
            found = graph.paths(pattern, view=view)
            assert [[hop.fact.predicate for hop in path.hops] for path in found.paths] == [
                ["starred", "directed_by", "written_by"]
            ]
            assert graph.reach(pattern, view=view) == ("film",)
            same = PathPattern(("film",), (*self._forward("starred"), HopPattern(("starred",), Direction.BACKWARD)), 10)
            assert graph.reach(same, view=view) == ()

    def test_reach_equals_the_ends_of_all_trails_where_walks_are_many(self) -> None:
        for seed in range(self.cases // 2):
            rng = seeded(seed)
            nodes = "abcdefg"
            pairs = [(a, b) for a in nodes for b in nodes]
            hubs = [("h", b) for b in nodes] + [(a, "h") for a in nodes]
            chosen = rng.sample(pairs, 14) + rng.sample(hubs, 8)
            world = graph_world(*((a, rng.choice("rrrq"), b) for a, b in chosen))
            with self.opened(world) as (catalog, graph):
                view = catalog.view(reader=ANYONE)
                for hops in (3, 4, 5):
                    starts = tuple(rng.sample(nodes + "h", rng.choice((1, 2, 5))))
                    way = rng.choice((None, Direction.FORWARD))
                    steps = tuple(
                        HopPattern(rng.choice((("r",), ("r",), ())), way)
                        for _ in range(min(hops, 4 if way is None else 5))
                    )
                    pattern = PathPattern(starts, steps, 1)
                    pairs_found = {(path.start, path.end) for path in trails_of(world, pattern)}
                    assert graph.reach(pattern, view=view) == tuple(sorted({end for _, end in pairs_found}))
                    found = {(start, end) for start, ends in graph.reach_from(pattern, view=view) for end in ends}
                    assert found == pairs_found

    def test_reach_is_complete_in_a_dense_graph(self) -> None:
        nodes = [f"n{number:02}" for number in range(40)]
        world = graph_world(*((a, "r", b) for a in nodes for b in nodes if a != b))
        with self.opened(world) as (catalog, graph):
            view = catalog.view(reader=ANYONE)
            began = time.monotonic()
            assert graph.reach(PathPattern(("n00",), self._forward("r", hops=4), 1), view=view) == tuple(nodes[1:])
            assert graph.reach(PathPattern(tuple(nodes), self._forward("r", hops=3), 1), view=view) == tuple(nodes)
            assert time.monotonic() - began < 5, "two million walks were enumerated one by one"

    def test_past_the_deadline_it_raises_and_works_on(self) -> None:
        nodes = [f"n{number:02}" for number in range(40)]
        world = graph_world(*((a, "r", b) for a in nodes for b in nodes if a != b))
        with self.opened(world) as (catalog, graph):
            view = catalog.view(reader=ANYONE)
            pattern = PathPattern(("n00",), self._forward("r", hops=2), 5)
            for asked in (graph.paths, graph.reach, graph.reach_from):
                try:
                    asked(pattern, view=view, deadline=time.monotonic() - 1)
                except DeadlineError:
                    continue
                raise AssertionError("no DeadlineError past the deadline")
            assert len(graph.paths(pattern, view=view, deadline=time.monotonic() + 30).paths) == 5

    def test_hidden_relation_leaves_no_trace(self) -> None:
        sources = (
            Source(id="S1", text="X suspected of Y", labels=frozenset({"red"})),
            Source(id="S2", text="X and Y", labels=frozenset({"blue"})),
            Source(id="S3", text="no label", labels=frozenset()),
            Source(id="S4", text="X knows Z, Y knows Z", labels=frozenset({"public"})),
        )

        def said(number: int, s: str, p: str, o: str, *proofs: str) -> Assertion:
            return Assertion(
                id=f"a{number}",
                subject=s,
                predicate=p,
                object=o,
                supports=tuple((SourceSpan(proof),) for proof in proofs),
            )

        world = World(
            sources=sources,
            entities=tuple((node, ("thing",), ()) for node in ("X", "Y", "Z", "W")),
            assertions=(
                said(1, "X", "SUSPECTED_OF", "Y", "S1"),
                said(2, "X", "KNOWS", "Z", "S4"),
                said(3, "Y", "KNOWS", "Z", "S4"),
                said(4, "X", "KNOWS", "W", "S3"),
                said(5, "Z", "KNOWS", "W", "S9"),
            ),
        )
        with self.opened(world) as (catalog, graph):
            red = catalog.view(reader=Reader("r", ("red", "public")))
            blue = catalog.view(reader=Reader("b", ("blue", "public")))
            nobody = catalog.view(reader=Reader("n", ()))
            any_hop = PathPattern(("X",), (HopPattern((), None),), 1)
            assert graph.paths(any_hop, view=red).truncated
            found = graph.paths(any_hop, view=blue)
            assert [path.end for path in found.paths] == ["Z"]
            assert not found.truncated
            assert graph.reach(any_hop, view=blue) == ("Z",)
            assert [fact.predicate for fact in graph.facts(["X"], view=blue)] == ["KNOWS"]
            assert catalog.counts(view=blue)["assertions"] == 2
            assert "W" not in graph.entities_of_type(["thing"], view=red)
            assert graph.all_facts(view=nobody) == []
            assert graph.entities_of_type(["thing"], view=nobody) == ()
            assert set(catalog.counts(view=nobody).values()) == {0}
            assert dict(catalog.entities(["X", "Y", "Z"], view=nobody)) == {}
