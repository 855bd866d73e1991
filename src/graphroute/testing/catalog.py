"""Conformance suite of the catalog port: subclass it, implement `opened`, and name the subclass Test..."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager

from graphroute.stores.catalog.base import Catalog
from graphroute.stores.graph.base import GraphStore
from graphroute.testing.strategies import (
    READERS,
    TYPES,
    World,
    differing,
    facts_of,
    random_world,
    readout,
    types_of,
    visible_world,
)
from graphroute.text import alias_key, fold
from graphroute.types.graph import Assertion, Attribute, AttributeFilter
from graphroute.types.ontology import UNTYPED, EntityType, Ontology
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source, SourceSpan
from graphroute.types.time import Interval, TimeFilter, TimeMode

RED = Reader("r", ("red",))
BLUE = Reader("b", ("blue",))
BOTH = Reader("rb", ("red", "blue"))


def catalog_world() -> World:
    """Two labels, two people of one name, a joint proof, versions of one record."""

    def source(
        id: str, label: str, start: int | None = None, end: int | None = None, node: str | None = None
    ) -> Source:
        return Source(
            id=id, title=id, text=f"text of {id}", labels=frozenset({label}), validity=Interval(start, end), node=node
        )

    def said(id: str, s: str, p: str, o: str, *supports: tuple[str, ...]) -> Assertion:
        return Assertion(
            id=id,
            subject=s,
            predicate=p,
            object=o,
            supports=tuple(tuple(SourceSpan(x) for x in members) for members in supports),
        )

    return World(
        sources=(
            source("S1", "red", 0, 10, "p:1"),
            source("S2", "blue"),
            source("S3", "red", 10, None, "p:1"),
            source("S4", "blue", 5, None),
        ),
        passages=(
            Passage(id="S1#1", source_id="S1", start=5, end=10, text="of S1"),
            Passage(id="S1#0", source_id="S1", start=0, end=4, text="text"),
            Passage(id="S2#0", source_id="S2", start=0, end=4, text="text"),
        ),
        entities=(
            ("p:1", ("person",), ("Sam Ortiz", "S. Ortiz")),
            ("p:2", ("person",), ("Sam Ortiz", "S. Ortiz")),
            ("kep:4818", ("kep",), ()),
        ),
        names=(("kep:4818", "Secret Relay", SourceSpan("S1", 0, 4)), ("kep:4818", "Relay", SourceSpan("S3"))),
        attributes=(
            Attribute(entity_id="kep:4818", key="status", value="Alpha", span=SourceSpan("S1", 0, 4)),
            Attribute(entity_id="kep:4818", key="status", value="Beta", span=SourceSpan("S3", 0, 4)),
            Attribute(entity_id="kep:4818", key="size", value="7", number=7.0, span=SourceSpan("S4")),
        ),
        assertions=(
            said("a1", "p:1", "works_in", "g:billing", ("S1",), ("S3",), ("S4", "S2")),
            said("a2", "p:2", "works_in", "g:plant-2", ("S2",)),
            said("a3", "p:1", "owns", "kep:4818", ("S1", "S2")),
        ),
        ontology=Ontology(types={"kep": EntityType(name="kep", display="KEP-{local}")}),
    )


class CatalogConformance:
    """What every catalog must do. `cases` sizes the random part."""

    cases = 6

    def opened(self, world: World) -> AbstractContextManager[tuple[Catalog, GraphStore]]:
        """A catalog and a graph store that hold the world, for the time of a `with` block."""
        raise NotImplementedError

    def test_a_reader_gets_what_the_visible_world_alone_would_give(self) -> None:
        for seed in range(self.cases):
            world = random_world(seed)
            with self.opened(world) as (catalog, graph):
                for reader in READERS:
                    view = catalog.view(reader=reader)
                    full = readout(catalog, graph, view=view, world=world, seed=seed)
                    with self.opened(visible_world(world, reader.labels)) as (small_catalog, small_graph):
                        small_view = small_catalog.view(reader=reader)
                        small = readout(small_catalog, small_graph, view=small_view, world=world, seed=seed)
                    assert differing(full, small) == [], f"seed {seed}, reader {reader.id}"

    def test_types_are_those_that_the_visible_world_tells(self) -> None:
        told = 0
        for seed in range(4 * self.cases):
            world = random_world(seed)
            with self.opened(world) as (catalog, graph):
                for reader in READERS:
                    view = catalog.view(reader=reader)
                    seen = visible_world(world, reader.labels)
                    types = types_of(seen)
                    found = catalog.entities(types_of(world), view=view)
                    assert {id: frozenset(entity.types) for id, entity in found.items()} == types
                    for type_ in (*TYPES, UNTYPED):
                        members = tuple(id for id, kinds in types.items() if type_ in kinds)
                        assert graph.entities_of_type([type_], view=view) == members
                        assert catalog.entities_where([type_], [], view=view) == members
                    counts = Counter(
                        (subject, fact.predicate, object_)
                        for fact in facts_of(seen)
                        for subject in types[fact.subject] or ("",)
                        for object_ in types[fact.object] or ("",)
                    )
                    assert graph.fact_counts(view=view) == [(*key, counts[key]) for key in sorted(counts)]
                    told += sum(kinds != types_of(world)[id] for id, kinds in types.items())
        assert told, "no reader gets other types than all facts tell"

    def test_sources_and_passages_are_scoped(self) -> None:
        with self.opened(catalog_world()) as (catalog, _):
            red, blue = catalog.view(reader=RED), catalog.view(reader=BLUE)
            assert sorted(catalog.sources(["S1", "S2", "S9"], view=red)) == ["S1"]
            assert catalog.sources(["S1"], view=red)["S1"] == catalog_world().sources[0]
            assert catalog.sources(["S1"], view=blue) == catalog.sources(["S9"], view=blue) == {}
            assert [passage.id for passage in catalog.passages_of(["S2", "S1"], view=red)] == ["S1#0", "S1#1"]
            assert catalog.passages(["S1#0"], view=red)["S1#0"] == catalog_world().passages[1]
            assert dict(catalog.counts(view=red)) == {"sources": 2, "passages": 2, "entities": 3, "assertions": 1}
            assert catalog.data_span(view=red) == (0, 10)

    def test_two_things_of_one_name_stay_two(self) -> None:
        with self.opened(catalog_world()) as (catalog, graph):
            both = catalog.view(reader=BOTH)
            for name in ("Sam Ortiz", "sam  ORTIZ", "S. Ortiz"):
                found = catalog.aliases([alias_key(name)], view=both)[alias_key(name)]
                assert [candidate.entity_id for candidate in found] == ["p:1", "p:2"]
            assert [fact.assertion_ids for fact in graph.facts(["p:2"], view=both)] == [("a2",)]
            blue = catalog.view(reader=Reader("b", ("blue",)))
            assert [c.entity_id for c in catalog.aliases(["sam ortiz"], view=blue)["sam ortiz"]] == ["p:1", "p:2"]

    def test_ids_and_their_local_parts_are_aliases(self) -> None:
        with self.opened(catalog_world()) as (catalog, _):
            both = catalog.view(reader=BOTH)
            for written in ("KEP-4818", "kep:4818", "Kep_4818", "4818"):
                (candidate,) = catalog.aliases([alias_key(written)], view=both)[alias_key(written)]
                assert (candidate.entity_id, candidate.name, candidate.types) == ("kep:4818", "KEP-4818", ("kep",))

    def test_names_follow_their_own_supports(self) -> None:
        with self.opened(catalog_world()) as (catalog, _):
            red, blue = catalog.view(reader=RED), catalog.view(reader=BLUE)
            assert catalog.entities(["kep:4818"], view=red)["kep:4818"].names == ("Relay", "Secret Relay")
            assert catalog.entities(["kep:4818"], view=blue)["kep:4818"].names == ()
            assert catalog.aliases([alias_key("Secret Relay")], view=blue) == {}
            assert catalog.entities(["g:billing"], view=red)["g:billing"].name == "billing"

    def test_names_of_an_entities_file_need_a_readable_fact(self) -> None:
        world = World(
            sources=(
                Source(id="S1", text="x", labels=frozenset({"red"})),
                Source(id="S2", text="x", labels=frozenset({"blue"}), node="p:1"),
            ),
            entities=(("p:1", ("person",), ("Lena",)),),
            assertions=(Assertion(id="a", subject="p:1", predicate="r", object="x", supports=((SourceSpan("S1"),),)),),
        )
        with self.opened(world) as (catalog, _):
            red, blue = catalog.view(reader=RED), catalog.view(reader=BLUE)
            assert catalog.entities(["p:1"], view=red)["p:1"].name == "Lena"
            assert catalog.entities(["p:1"], view=blue)["p:1"].name == "1"
            assert catalog.aliases(["lena"], view=blue) == {}

    def test_supports_newest_first_and_joint_sets_whole(self) -> None:
        with self.opened(catalog_world()) as (catalog, _):
            both, blue = catalog.view(reader=BOTH), catalog.view(reader=BLUE)

            def shown(view_of: Reader) -> list[str]:
                supports = catalog.supports(["a1"], view=catalog.view(reader=view_of))
                return [support.span.source_id for support in supports.get("a1", ())]

            assert shown(BOTH) == ["S3", "S2", "S4", "S1"]
            assert shown(RED) == ["S3", "S1"]
            assert shown(BLUE) == ["S2", "S4"]
            assert catalog.supports(["a3"], view=blue) == {}
            assert sorted(catalog.facts_of_sources(["S1", "S2"], view=both).items()) == [
                ("S1", ("a1", "a3")),
                ("S2", ("a1", "a2", "a3")),
            ]
            assert catalog.facts_of_sources(["S1"], view=catalog.view(reader=RED)) == {"S1": ("a1",)}
            assert catalog.source_ids_of(["p:1"], view=both)["p:1"] == ("S3", "S1", "S4", "S2")

    def test_attributes_are_tested_on_the_validity_of_their_source(self) -> None:
        with self.opened(catalog_world()) as (catalog, _):
            red = catalog.view(reader=RED)
            assert [a.value for a in catalog.attributes(["kep:4818"], view=red)] == ["Beta", "Alpha"]

            def at(instant: int) -> list[str]:
                when = TimeFilter(TimeMode.OVERLAPS, Interval(instant, instant + 1))
                return [a.value for a in catalog.attributes(["kep:4818"], ["status"], view=red, time=when)]

            assert (at(9), at(10)) == (["Alpha"], ["Beta"])
            assert catalog.attribute_values([fold("BETA"), fold("gone"), "7"], view=red) == {
                "beta": (("kep", "status"),)
            }
            where = catalog.entities_where
            assert where(["kep"], [AttributeFilter("status", "eq", "beta")], view=red) == ("kep:4818",)
            assert where(["kep"], [AttributeFilter("size", "ge", "7")], view=catalog.view(reader=BOTH)) == ("kep:4818",)
            assert where(["kep"], [AttributeFilter("size", "ge", "7")], view=red) == ()
            assert where(["kep"], [AttributeFilter("size", "ge", "seven")], view=catalog.view(reader=BOTH)) == ()
            assert catalog.count_where(["kep"], [AttributeFilter("status", "eq", "beta")], view=red) == 1
            assert catalog.count_where(["kep"], [AttributeFilter("size", "ge", "7")], view=red) == 0

    def test_labels_are_opaque_and_no_label_means_nobody(self) -> None:
        world = World(
            sources=(
                Source(id="S1", text="x", labels=frozenset({"red"})),
                Source(id="S2", text="x", labels=frozenset()),
            )
        )
        with self.opened(world) as (catalog, _):
            for labels in ((), ("Red",), ("red ",), ("*",), ("",), ("[[]]",)):
                view = catalog.view(reader=Reader("x", labels))
                assert catalog.sources(["S1", "S2"], view=view) == {}
                assert set(catalog.counts(view=view).values()) == {0}
