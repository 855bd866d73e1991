"""Random property graphs: what the mapped stores find equals what trying every fact finds, for every reader."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

from graphroute.errors import SnapshotError
from graphroute.stores.mapped import elements, queries
from graphroute.stores.mapped_ports import MappedStores, open_mapped
from graphroute.testing.property_graph import PropertyGraph
from graphroute.testing.strategies import World, facts_of, passes, seeded, trails_of
from graphroute.types.graph import (
    Assertion,
    Attribute,
    AttributeFilter,
    Direction,
    EndCount,
    HopPattern,
    PathPattern,
    TopEnds,
)
from graphroute.types.mapping import DateMapping, GraphMapping, NodeMapping, RelationMapping
from graphroute.types.ontology import AttributeType, EntityType, Ontology, RelationType
from graphroute.types.reader import Reader
from graphroute.types.source import Source, SourceSpan
from graphroute.types.time import ANY_TIME, Interval, TimeFilter, TimeMode, datetime_of
from graphroute.types.view import View

DAY = 86_400_000_000
LABELS = {"Plain": ("id", int), "with `ticks`": ("the key", str), "Third one": ("id", str)}
KINDS = {
    "R": ("Plain", "Plain"),
    "S two": ("Plain", "with `ticks`"),
    "T`": ("with `ticks`", "Third one"),
    "U": ("Third one", "Plain"),
}
READERS = [
    Reader("none", ()),
    Reader("public", ("public",)),
    Reader("red", ("red",)),
    Reader("both", ("red", "public")),
    Reader("case", ("Red", "PUBLIC", "red ")),
    Reader("all", ("public", "red", "blue")),
]
ONTOLOGY = Ontology(
    types={name: EntityType(name=name) for name in LABELS},
    relations={name: RelationType(name=name, domain=(a,), range=(b,)) for name, (a, b) in KINDS.items()},
    attributes={
        name: (AttributeType(key="state", enumerated=True), AttributeType(key="level", kind="number"))
        for name in LABELS
    },
)
MAPPING = GraphMapping(
    nodes={name: NodeMapping(name=name, label=name, key=key, names=(("name",),), access="acl") for name, (key, _) in LABELS.items()},
    relations={
        name: RelationMapping(
            name=name, type=name, domain=(a,), range=(b,), key="no" if name == "R" else None, parallel=name == "R",
            date=DateMapping(start="from", end="to"), access="acl" if name in ("R", "U") else None,
        )
        for name, (a, b) in KINDS.items()
    },
    default_labels=("public",),
)  # fmt: skip


def random_graph(seed: int) -> PropertyGraph:
    """About twenty nodes and forty relationships, some of them limited to readers of a label, some between the same two nodes."""
    rng = seeded(seed)
    graph = PropertyGraph()
    members: dict[str, list[str]] = {name: [] for name in LABELS}
    for number in range(20):
        label = rng.choice(list(LABELS))
        key, kind = LABELS[label]
        value: Any = (
            number if kind is int else rng.choice((f"k{number}", f"k/{number}", f"ключ {number}", f"100%{number}"))
        )
        props = {key: value, "name": rng.choice(("Ann", "Боб", "李雷", f"Name {number}"))}
        if rng.random() < 0.5:
            props["state"] = rng.choice(("open", "Open", "shut"))
        if rng.random() < 0.5:
            props["level"] = rng.randrange(5)
        props.update(_access(rng))
        members[label].append(graph.node(f"n{number}", [label], **props))
    for number in range(45):
        name = rng.choice(list(KINDS))
        starts, ends = (members[side] for side in KINDS[name])
        if not starts or not ends:
            continue
        dates: dict[str, Any] = {}
        if rng.random() < 0.6:
            low = rng.randrange(40)
            dates["from"] = _day(low)
            if rng.random() < 0.5:
                dates["to"] = _day(low + 1 + rng.randrange(30))
        start, end = rng.choice(starts), rng.choice(ends)
        if name != "R" and any(row[:3] == (start, name, end) for row in graph.relations):
            continue
        graph.relate(
            start,
            name,
            end,
            **dates,
            **({"no": number} if name == "R" else {}),
            **(_access(rng) if name in ("R", "U") else {}),
        )
    return graph


def _access(rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.5:
        return {}
    return {"acl": rng.choice(("red", "blue", ["red", "blue"], ["public"], [], "public"))}


def _day(number: int) -> str:
    return datetime_of(number * DAY).date().isoformat()


def world_of(graph: PropertyGraph, reader: Reader) -> World:
    """What the reader may see, by the rules as they are told."""

    def readable(props: dict[str, Any]) -> bool:
        access = props.get("acl")
        if access is None:
            return "public" in reader.labels
        return bool({access} & reader.labels if isinstance(access, str) else set(access) & reader.labels)

    ids: dict[str, str] = {}
    entities, attributes = [], []
    span = SourceSpan("s")
    for name, (labels, props) in graph.nodes.items():
        if readable(props):
            label = labels[0]
            key = str(props[LABELS[label][0]])
            ids[name] = f"{label}/{key.replace('%', '%25').replace('/', '%2F')}"
            entities.append((ids[name], (label,), (str(props["name"]),)))
            attributes.extend(
                Attribute(
                    entity_id=ids[name],
                    key=key,
                    value=str(props[key]),
                    span=span,
                    number=float(props[key]) if key == "level" else None,
                )
                for key in ("state", "level")
                if key in props
            )
    assertions = []
    for start, kind, end, props in graph.relations:
        if start in ids and end in ids and (kind not in ("R", "U") or readable(props)):
            low, high = props.get("from"), props.get("to")
            last = f"/{props['no']}" if kind == "R" else ""
            assertions.append(
                Assertion(
                    id=f"{kind}/{ids[start].split('/')[1]}/{ids[end].split('/')[1]}{last}",
                    subject=ids[start],
                    predicate=kind,
                    object=ids[end],
                    validity=Interval(_instant(low), _instant(high)),
                    supports=((span,),),
                )
            )
    source = Source(id="s", text="", labels=frozenset({"x"}))
    return World(
        sources=(source,), entities=tuple(entities), attributes=tuple(attributes), assertions=tuple(assertions), ontology=ONTOLOGY
    )  # fmt: skip


def _instant(day: str | None) -> int | None:
    from graphroute.text.dates import parse_moment

    return None if day is None else parse_moment(day)


def random_pattern(rng: random.Random, ids: list[str]) -> PathPattern:
    hops = []
    for _ in range(rng.choice((1, 2, 2, 3))):
        time = ANY_TIME
        if rng.random() < 0.4:
            low = rng.randrange(50)
            mode = rng.choice((TimeMode.OVERLAPS, TimeMode.STARTS_IN, TimeMode.ENDS_IN))
            time = TimeFilter(mode, Interval(low * DAY, (low + rng.choice((1, 20))) * DAY))
        test = rng.choice(
            (
                AttributeFilter("state", "eq", "OPEN"),
                AttributeFilter("state", "ne", "shut"),
                AttributeFilter("level", "ge", "2"),
            )
        )
        hops.append(
            HopPattern(
                predicates=tuple(rng.sample(list(KINDS), rng.choice((0, 1, 2)))),
                direction=rng.choice((None, Direction.FORWARD, Direction.BACKWARD)),
                types=tuple(rng.sample(list(LABELS), 1)) if rng.random() < 0.3 else (),
                time=time,
                ends=tuple(rng.sample(ids, min(4, len(ids)))) if rng.random() < 0.1 else None,
                filters=(test,) if rng.random() < 0.2 else (),
            )
        )
    return PathPattern(tuple(rng.sample(ids, rng.choice((1, 1, 3)))), tuple(hops), rng.choice((3, 10_000)))


def differences(
    stores: MappedStores, graph: PropertyGraph, seed: int, readers: Iterable[Reader] = READERS
) -> list[str]:
    """Reads in which the stores and the rules differ."""
    wrong = []
    everything = world_of(graph, READERS[-1])
    ids = [entity_id for entity_id, _, _ in everything.entities] + ["Plain/999", "Nothing/1"]
    for reader in readers:
        view = stores.catalog.view(reader=reader)
        world = world_of(graph, reader)
        rng = seeded(seed)
        facts = facts_of(world)
        if list(stores.graph.all_facts(view=view)) != facts:
            wrong.append(f"{reader.id}: all facts")
        known = stores.catalog.entities(ids, view=view)
        if {(e.id, e.types, e.names) for e in known.values()} != set(world.entities):
            wrong.append(f"{reader.id}: entities")
        asserted = sorted(a.id for a in world.assertions)
        if sorted(stores.catalog.supports([a.id for a in everything.assertions], view=view)) != asserted:
            wrong.append(f"{reader.id}: supports")
        if stores.catalog.counts(view=view)["assertions"] != len(asserted):
            wrong.append(f"{reader.id}: counts")
        for kind in LABELS:
            test = AttributeFilter("level", "ge", "2")
            expected = tuple(
                sorted(i for i, types, _ in world.entities if kind in types and passes(world, i, test, ANY_TIME))
            )
            if stores.catalog.entities_where([kind], [test], view=view) != expected:
                wrong.append(f"{reader.id}: entities of {kind} by level")
            if stores.catalog.count_where([kind], [test], view=view) != len(expected):
                wrong.append(f"{reader.id}: number of {kind} by level")
        for number in range(12):
            pattern = random_pattern(rng, ids)
            trails = trails_of(world, pattern)
            found = stores.graph.paths(pattern, view=view)
            if found.paths != tuple(trails[: pattern.limit]) or found.truncated != (len(trails) > pattern.limit):
                wrong.append(f"{reader.id}: paths of {pattern} ({number})")
            if stores.graph.reach(pattern, view=view) != tuple(sorted({path.end for path in trails})):
                wrong.append(f"{reader.id}: reach of {pattern} ({number})")
            wrong.extend(
                f"{reader.id}: {name} of {pattern} ({number})" for name in miscounted(stores, world, pattern, view)
            )
    return wrong


def miscounted(stores: MappedStores, world: World, pattern: PathPattern, view: View) -> Iterable[str]:
    """Counts in which the store and the rules differ."""
    from dataclasses import replace

    ends = {path.end for path in trails_of(world, pattern)}
    other = replace(pattern, hops=pattern.hops[:1])
    others = {path.end for path in trails_of(world, other)}
    for united, both in ((False, ends & others), (True, ends | others)):
        found = stores.graph.count_ends([pattern, other], united=united, first=2, view=view)
        if found != EndCount(len(both), tuple(sorted(both)[:2])):
            yield f"count ({united})"
    before = (
        {path.end for path in trails_of(world, replace(pattern, hops=pattern.hops[:-1]))}
        if len(pattern.hops) > 1
        else pattern.starts
    )
    tail = PathPattern(tuple(before), pattern.hops[-1:], 1)
    pairs = [(path.start, path.end) for path in trails_of(world, tail)]
    for most in (True, False):
        if stores.graph.top_ends(pattern, most=most, view=view) != TopEnds.of(pairs, most=most):
            yield f"top ({most})"


@pytest.mark.parametrize("names_limit", [1_000, 0])
def test_nothing_more_and_nothing_less_than_the_rules_say(neo4j: Any, names_limit: int) -> None:
    from dataclasses import replace

    for seed in range(6):
        neo4j.wipe()
        graph = random_graph(seed)
        with neo4j.connect(read_timeout=60.0) as connection:
            graph.put(connection)
            stores = open_mapped(connection, ONTOLOGY, replace(MAPPING, names_limit=names_limit))
            assert differences(stores, graph, seed) == []


def test_control_without_the_access_test_the_rules_object(neo4j_5: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(1)
    everyone = queries.Query(
        "mapped_forward", queries.FORWARD.text.replace("x IN $held", "true").replace("THEN $open", "THEN true")
    )
    monkeypatch.setattr(queries, "FORWARD", everyone)
    with neo4j_5.connect(read_timeout=60.0) as connection:
        graph.put(connection)
        stores = open_mapped(connection, ONTOLOGY, MAPPING)
        assert any("red: paths" in one or "public: paths" in one for one in differences(stores, graph, 1))


HOSTILE = ["a`) DETACH DELETE n //", "a\\u0060) DETACH DELETE n //", "``", "\\", "\\\\u0060", "客户 заказ", "/* x */"]


def test_hostile_names_are_names(neo4j: Any) -> None:
    graph = PropertyGraph()
    for number, name in enumerate(HOSTILE):
        graph.node(f"n{number}", [name], **{name: number})
    with neo4j.connect(read_timeout=60.0) as connection:
        graph.put(connection)
        for number, name in enumerate(HOSTILE):
            given = {
                "order": [name], "keys": {name: name}, "access": {name: None}, "names": {name: []}, "sources": {name: None},
                "values": [number], "label": name, "limit": 10,
            }  # fmt: skip
            assert len(connection.read(queries.label_query("mapped_lookup", name, name), given)) == 1
            assert connection.read(queries.label_query("mapped_count_nodes", name)) == [(1,)]
            assert connection.read(queries.label_query("mapped_count_relations", name)) == [(0,)]
        assert connection.read(queries.Query("all", "MATCH (n) RETURN count(n)")) == [(len(HOSTILE),)]


def test_a_label_taken_away_counts_at_once(neo4j_5: Any) -> None:
    graph = PropertyGraph()
    graph.node("a", ["Plain"], id=1, name="Ann", acl="red")
    graph.node("b", ["Plain"], id=2, name="Bob", acl="red")
    graph.relate("a", "R", "b", no=1)
    with neo4j_5.connect(read_timeout=60.0) as connection:
        graph.put(connection)
        stores = open_mapped(connection, ONTOLOGY, MAPPING)
        view = stores.catalog.view(reader=Reader("red", ["red"]))
        assert list(stores.catalog.aliases(["ann", "bob"], view=view)) == ["ann", "bob"]
        connection.write(queries.Query("hide", "MATCH (n:Plain {id: 2}) SET n.acl = 'blue'"))
        assert list(stores.catalog.aliases(["ann", "bob"], view=view)) == ["ann"]
        assert list(stores.catalog.entities(["Plain/1", "Plain/2"], view=view)) == ["Plain/1"]
        assert stores.graph.all_facts(view=view) == []
        assert stores.catalog.supports(["R/1/2/1"], view=view) == {}


def test_a_changed_graph_is_noticed_and_an_old_snapshot_is_gone(neo4j_5: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "REFRESH_SECONDS", 0.0)
    graph = PropertyGraph()
    graph.node("a", ["Plain"], id=1, name="Ann")
    reader = Reader("public", ["public"])
    with neo4j_5.connect(read_timeout=60.0) as connection:
        graph.put(connection)
        stores = open_mapped(connection, ONTOLOGY, MAPPING)
        before = stores.catalog.view(reader=reader)
        assert stores.catalog.view(reader=reader).token == before.token
        connection.write(queries.Query("add", "CREATE (:Plain {id: 2, name: 'Боб'})"))
        after = stores.catalog.view(reader=reader)
        assert after.token != before.token
        assert list(stores.catalog.aliases(["боб"], view=after)) == ["боб"]
        with pytest.raises(SnapshotError):
            stores.catalog.view(reader=reader, sequence=before.sequence)
