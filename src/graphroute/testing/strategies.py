"""Random worlds, readers and patterns, and the rules of visibility and trails spelt out without a store."""

from __future__ import annotations

import operator
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from graphroute.stores.catalog.base import Catalog
from graphroute.stores.graph.base import GraphStore
from graphroute.stores.writer import SnapshotWriter
from graphroute.text import alias_key, fold
from graphroute.types.graph import (
    Assertion,
    Attribute,
    AttributeFilter,
    Direction,
    Fact,
    Hop,
    HopPattern,
    Path,
    PathPattern,
)
from graphroute.types.ontology import UNTYPED, EntityType, Ontology, RelationType
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source, SourceSpan
from graphroute.types.time import ALWAYS, ANY_TIME, Interval, TimeFilter, TimeMode
from graphroute.types.view import View

LABELS = ("public", "red", "blue", "green", "Red")
"""Labels of random sources; two differ in case only."""

READERS = (
    Reader("none", ()),
    Reader("one", ("red",)),
    Reader("all", LABELS),
    Reader("unknown", ("violet",)),
    Reader("case", ("RED", "Blue", "PUBLIC")),
    Reader("space", ("red ", " public")),
    Reader("public", ("public",)),
    Reader("two", ("blue", "green")),
)
"""Eight kinds of readers: four of them hold no label that any source carries as it is written, or too few."""

_TEAM = EntityType(name="team", display="Team {name} ({local})")
ONTOLOGY = Ontology(
    types={"team": _TEAM},
    relations={
        "owns": RelationType(name="owns", domain=("team",), range=("thing",)),
        "made_by": RelationType(name="made_by", domain=("thing",), range=("person", "team")),
    },
)
INFERRED = replace(ONTOLOGY, types={"team": _TEAM, UNTYPED: EntityType(name=UNTYPED)}, inferred=True)
"""In half of the random worlds: what may be of several types is of the first, and what nothing tells is `UNTYPED`."""
TYPES = ("team", "person", "thing")
PREDICATES = ("owns", "knows", "made_by")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything a corpus says. `entities`: id, types, names of the entities file; `names`: id, name, span; `records`: id,
    source, the type it tells."""

    sources: tuple[Source, ...] = ()
    passages: tuple[Passage, ...] = ()
    entities: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = ()
    names: tuple[tuple[str, str, SourceSpan], ...] = ()
    attributes: tuple[Attribute, ...] = ()
    records: tuple[tuple[str, str, str | None], ...] = ()
    assertions: tuple[Assertion, ...] = ()
    ontology: Ontology = field(default_factory=Ontology)


def put_world(world: World, writer: SnapshotWriter, *, order: random.Random | None = None, sessions: int = 1) -> int:
    """Write a world, in one order or in a random one, in one session or in several; the last sequence number."""
    passages: dict[str, list[Passage]] = defaultdict(list)
    for passage in world.passages:
        passages[passage.source_id].append(passage)
    items: list[tuple[str, object]] = [("source", source) for source in world.sources]
    items += [("entity", item) for item in world.entities]
    items += [("name", item) for item in world.names]
    items += [("attribute", item) for item in world.attributes]
    items += [("record", item) for item in world.records]
    items += [("assertion", item) for item in world.assertions]
    if order is not None:
        order.shuffle(items)
    size = -(-len(items) // sessions) or 1
    sequence = 0
    for begin in range(0, max(len(items), 1), size):
        writer.begin()
        writer.put_ontology("", world.ontology)
        for kind, item in items[begin : begin + size]:
            if isinstance(item, Source):
                writer.put_source(item)
                own = list(passages[item.id])
                if order is not None:
                    order.shuffle(own)
                writer.put_passages(own)
            elif isinstance(item, Attribute):
                writer.put_attribute(item)
            elif isinstance(item, Assertion):
                writer.put_assertion(item)
            elif isinstance(item, tuple) and kind == "record":
                writer.put_entity_source(*item)
            elif isinstance(item, tuple) and isinstance(item[2], SourceSpan):
                writer.put_name(*item)
            elif isinstance(item, tuple):
                writer.put_entity(*item)
        sequence = writer.publish()
    return sequence


# Rules, written from their text and not from any store ------------------------------------------------------------------


def may_read(source: Source | None, labels: frozenset[str]) -> bool:
    """A source is readable if the reader holds one of its labels."""
    return source is not None and bool(source.labels & labels)


def visible_world(world: World, labels: frozenset[str]) -> World:
    """The corpus without everything that a reader of these labels may not see."""
    by_id = {source.id: source for source in world.sources}

    def readable(source_id: str) -> bool:
        return may_read(by_id.get(source_id), labels)

    assertions = []
    for assertion in world.assertions:
        supports = tuple(s for s in assertion.supports if s and all(readable(span.source_id) for span in s))
        if supports:
            assertions.append(replace(assertion, supports=supports))
    in_facts = {end for assertion in assertions for end in (assertion.subject, assertion.object)}
    names = tuple(item for item in world.names if readable(item[2].source_id))
    attributes = tuple(item for item in world.attributes if readable(item.span.source_id))
    records = tuple(item for item in world.records if readable(item[1]))
    described = {item[0] for item in names} | {item.entity_id for item in attributes} | {item[0] for item in records}
    described |= {source.node for source in world.sources if source.node and readable(source.id)}
    return replace(
        world,
        sources=tuple(source for source in world.sources if readable(source.id)),
        passages=tuple(passage for passage in world.passages if readable(passage.source_id)),
        names=names,
        attributes=attributes,
        records=records,
        assertions=tuple(assertions),
        entities=tuple(
            (entity_id, types, names if entity_id in in_facts else ())
            for entity_id, types, names in world.entities
            if entity_id in in_facts or entity_id in described
        ),
    )


def types_of(world: World) -> dict[str, frozenset[str]]:
    """Types of the entities of a visible world: those stated, else told by records, else by facts, else by nothing."""
    stated = {entity_id: set(types) for entity_id, types, _ in world.entities}
    by_record: dict[str, set[str]] = defaultdict(set)
    by_fact: dict[str, set[str]] = defaultdict(set)
    by_open_fact: dict[str, set[str]] = defaultdict(set)
    known = {item[0] for item in world.names} | {item.entity_id for item in world.attributes} | set(stated)
    known |= {source.node for source in world.sources if source.node}
    for entity_id, _, told in world.records:
        known.add(entity_id)
        by_record[entity_id].update(() if told is None else (told,))
    for assertion in world.assertions:
        known |= {assertion.subject, assertion.object}
        relation = world.ontology.relations.get(assertion.predicate)
        if relation is not None:
            for end, types in ((assertion.subject, relation.domain), (assertion.object, relation.range)):
                if len(types) == 1:
                    by_fact[end].update(types)
                elif world.ontology.inferred:
                    by_open_fact[end].update(types[:1])
    nothing = {UNTYPED} & world.ontology.types.keys()
    sources = (stated, by_record, by_fact, by_open_fact)
    return {
        entity_id: frozenset(next((found[entity_id] for found in sources if found.get(entity_id)), nothing))
        for entity_id in sorted(known)
    }


def facts_of(world: World) -> list[Fact]:
    """The facts of a world in `Fact.key` order."""
    ids: dict[tuple[str, str, str, Interval], list[str]] = defaultdict(list)
    for a in world.assertions:
        ids[a.subject, a.predicate, a.object, a.validity].append(a.id)
    found = [
        Fact(subject=s, predicate=p, object=o, validity=validity, assertion_ids=tuple(sorted(assertions)))
        for (s, p, o, validity), assertions in ids.items()
    ]
    return sorted(found, key=lambda fact: fact.key)


def passes(world: World, entity_id: str, test: AttributeFilter, time: TimeFilter) -> bool:
    """True if an entity passes an attribute filter by what the world says."""
    by_id = {source.id: source for source in world.sources}
    held = []
    for attribute in world.attributes:
        validity = attribute.validity
        if validity == ALWAYS:
            validity = by_id[attribute.span.source_id].validity
        if (attribute.entity_id, attribute.key) == (entity_id, test.key) and time.accepts(validity):
            held.append(attribute)
    if test.operator == "eq":
        return any(fold(a.value) == fold(test.value) for a in held)
    if test.operator == "ne":
        return bool(held) and not any(fold(a.value) == fold(test.value) for a in held)
    if test.operator == "in_range":
        low, high = (int(part) for part in test.value.split(".."))
        return any(a.instant is not None and low <= a.instant < high for a in held)
    limit = float(test.value)
    compare: Callable[[float, float], bool] = {
        "lt": operator.lt,
        "le": operator.le,
        "gt": operator.gt,
        "ge": operator.ge,
    }[test.operator]
    return any(a.number is not None and compare(a.number, limit) for a in held)


def trails_of(world: World, pattern: PathPattern) -> list[Path]:
    """All trails of a pattern in canonical order, found by trying every fact at every step."""
    facts = facts_of(world)
    types = types_of(world)

    def steps(hop: HopPattern, node: str) -> Iterator[Hop]:
        for fact in facts:
            for direction in Direction:
                step = Hop(fact, direction)
                moment = hop.time if hop.time.mode is TimeMode.OVERLAPS else ANY_TIME
                if (
                    step.start == node
                    and (hop.direction is None or hop.direction is direction)
                    and (not hop.predicates or fact.predicate in hop.predicates)
                    and (not hop.types or types[step.end] & set(hop.types))
                    and (hop.ends is None or step.end in hop.ends)
                    and hop.time.accepts(fact.validity)
                    and all(passes(world, step.end, test, moment) for test in hop.filters)
                ):
                    yield step

    def is_trail(hops: tuple[Hop, ...]) -> bool:
        nodes = Path(hops).nodes
        if len({hop.fact.key for hop in hops}) < len(hops) or nodes[0] in nodes[1:]:
            return False
        for later in range(1, len(nodes)):
            for earlier in range(1, later):
                if nodes[earlier] == nodes[later]:
                    at_earlier = {hops[earlier - 1].fact.predicate, hops[earlier].fact.predicate}
                    if hops[later - 1].fact.predicate in at_earlier:
                        return False
        return True

    def walk(hops: tuple[Hop, ...], node: str) -> Iterator[Path]:
        if len(hops) == len(pattern.hops):
            yield Path(hops)
            return
        for step in steps(pattern.hops[len(hops)], node):
            if is_trail((*hops, step)):
                yield from walk((*hops, step), step.end)

    found = [path for start in sorted(set(pattern.starts)) for path in walk((), start)]
    return sorted(found, key=lambda p: (p.key, [hop.direction is Direction.BACKWARD for hop in p.hops], p.start))


def seeded(seed: int) -> random.Random:
    """The generator that all random parts of the suites draw from."""
    return random.Random(seed)  # noqa: S311 - repeatable on purpose


# Random worlds ------------------------------------------------------------------------------------------------------------


def random_world(seed: int, *, size: int = 8) -> World:
    """A world of `size` entities and about three times as many assertions, two fifths with joint or mixed supports.

    Holds unlabelled and unknown sources, self-loops, parallel and repeated facts, shared names and open intervals.
    """
    rng = seeded(seed)
    entities = [f"{rng.choice('tpx')}:n{number}" for number in range(size)]
    sources = []
    for number in range(size + 4):
        labels = rng.sample(LABELS, rng.choice((0, 1, 1, 1, 2, 3)))
        start = rng.choice((None, *range(0, 60, 10)))
        sources.append(
            Source(
                id=f"doc{number}",
                title=f"Title {number}",
                text=f"Text {number} about {rng.choice(entities)}",
                labels=frozenset(labels),
                kind=rng.choice((None, "record", "prose")),
                node=rng.choice((None, None, rng.choice(entities))),
                validity=Interval(start, rng.choice((None, (start or 0) + 25))),
                timestamp=rng.choice((None, rng.randrange(60))),
                extra={"team": "x"} if rng.random() < 0.2 else {},
            )
        )
    ids = [source.id for source in sources]

    def span() -> SourceSpan:
        source_id = rng.choice(ids) if rng.random() < 0.95 else "doc-unknown"
        return SourceSpan(source_id, *rng.choice(((None, None), (0, 4), (2, 6))))

    assertions: list[Assertion] = []
    for number in range(size * 3):
        subject, object_ = rng.choice(entities), rng.choice(entities)
        start = rng.choice((None, None, *range(0, 60, 20)))
        supports = tuple(
            tuple(span() for _ in range(rng.choice((1, 1, 2, 3)))) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))
        )
        again = rng.random() < 0.15 and assertions
        said = rng.choice(assertions) if again else None
        assertions.append(
            Assertion(
                id=f"a{number}",
                subject=said.subject if said else subject,
                predicate=said.predicate if said else rng.choice(PREDICATES),
                object=said.object if said else object_,
                validity=said.validity if said else Interval(start, rng.choice((None, None, (start or 0) + 30))),
                supports=supports,
                attributes={"amount": "5"} if rng.random() < 0.1 else {},
            )
        )
    return World(
        sources=tuple(sources),
        passages=tuple(
            Passage(
                id=f"{source.id}#{part}",
                source_id=source.id,
                start=part * 4,
                end=part * 4 + 4,
                text=source.text[part * 4 : part * 4 + 4],
                title=source.title,
                validity=source.validity,
                kind=source.kind,
                node=source.node,
            )
            for source in sources
            for part in range(rng.choice((1, 2)))
        ),
        entities=tuple(
            (
                entity_id,
                tuple(rng.sample(TYPES, rng.choice((0, 0, 0, 1, 1, 2)))),
                tuple(rng.sample(("Sam Ortiz", "Relay", "Сэм", "雷雷", f"name of {entity_id}"), rng.choice((0, 1, 2)))),
            )
            for entity_id in entities
            if rng.random() < 0.9
        ),
        names=tuple((rng.choice(entities), f"alias {rng.randrange(4)}", span()) for _ in range(size // 2)),
        attributes=tuple(
            _attribute(rng, entities, SourceSpan(rng.choice(ids), *rng.choice(((None, None), (1, 3)))))
            for _ in range(size)
        ),
        records=tuple((rng.choice(entities), rng.choice(ids), rng.choice((None, *TYPES))) for _ in range(size // 3)),
        assertions=tuple(assertions),
        ontology=INFERRED if seed % 2 else ONTOLOGY,
    )


def _attribute(rng: random.Random, entities: Sequence[str], span: SourceSpan) -> Attribute:
    number = rng.randrange(5)
    key = rng.choice(("state", "level"))
    value = rng.choice(("Open", "closed", "ÉTAT")) if key == "state" else str(number)
    return Attribute(
        entity_id=rng.choice(entities),
        key=key,
        value=value,
        span=span,
        number=None if key == "state" else float(number),
        instant=None if key == "state" else number * 10,
        validity=rng.choice((ALWAYS, Interval(0, 30), Interval(20, None))),
    )


def random_time(rng: random.Random) -> TimeFilter:
    """Any time in half of the cases, else a window."""
    if rng.random() < 0.5:
        return ANY_TIME
    low = rng.randrange(60)
    mode = rng.choice((TimeMode.OVERLAPS, TimeMode.OVERLAPS, TimeMode.STARTS_IN, TimeMode.ENDS_IN))
    return TimeFilter(mode, Interval(low, low + rng.choice((1, 20))))


def random_filter(rng: random.Random) -> AttributeFilter:
    """A filter over the attributes that random worlds have."""
    return rng.choice(
        (
            AttributeFilter("state", "eq", "OPEN"),
            AttributeFilter("state", "ne", "état"),
            AttributeFilter("level", rng.choice(("lt", "le", "gt", "ge")), str(rng.randrange(5))),
            AttributeFilter("level", "in_range", f"{rng.randrange(20)}..{rng.randrange(20, 50)}"),
        )
    )


def random_pattern(rng: random.Random, world: World) -> PathPattern:
    """A pattern of 1 to 4 hops, mostly over few predicates, from one, some or all entities."""
    ids = [entity_id for entity_id, _, _ in world.entities] or ["none"]
    hops = []
    for _ in range(rng.choice((1, 2, 2, 3, 3, 4))):
        hops.append(
            HopPattern(
                predicates=tuple(rng.sample(PREDICATES, rng.choice((0, 1, 1, 2)))),
                direction=rng.choice((None, Direction.FORWARD, Direction.BACKWARD)),
                types=tuple(rng.sample((*TYPES, UNTYPED), rng.choice((1, 2)))) if rng.random() < 0.25 else (),
                time=random_time(rng) if rng.random() < 0.3 else ANY_TIME,
                ends=tuple(rng.sample(ids, min(3, len(ids)))) if rng.random() < 0.1 else None,
                filters=(random_filter(rng),) if rng.random() < 0.1 else (),
            )
        )
    starts = rng.sample(ids, rng.choice((1, 1, 2, len(ids))) if len(ids) > 1 else 1)
    return PathPattern(tuple(starts), tuple(hops), rng.choice((3, 20, 10_000)))


# Everything a reader can get --------------------------------------------------------------------------------------------


def readout(catalog: Catalog, graph: GraphStore, *, view: View, world: World, seed: int = 0) -> list[tuple[str, str]]:
    """What every read answers to one view, as (read, text) pairs. Asks for all ids of `world`, hidden ones too."""
    rng = seeded(seed)
    sources = [source.id for source in world.sources] + ["doc-unknown"]
    entities = sorted({e for a in world.assertions for e in (a.subject, a.object)} | {e[0] for e in world.entities})
    assertions = [assertion.id for assertion in world.assertions]
    names = {name for _, _, names in world.entities for name in names} | {item[1] for item in world.names}
    keys = sorted(alias_key(name) for name in names.union(entities, (e.partition(":")[2] for e in entities)))
    values = sorted({fold(attribute.value) for attribute in world.attributes})
    time = random_time(rng)
    test = random_filter(rng)
    one_type = (rng.choice((*TYPES, UNTYPED)),)
    answers: list[tuple[str, object]] = [
        ("token", view.token),
        ("sources", {k: _source_text(v) for k, v in sorted(catalog.sources(sources, view=view).items())}),
        ("passages", sorted(catalog.passages([p.id for p in world.passages], view=view).items())),
        ("passages_of", catalog.passages_of(sources, view=view)),
        ("aliases", sorted(catalog.aliases(keys, view=view).items())),
        ("entities", sorted(catalog.entities(entities, view=view).items())),
        ("attributes", catalog.attributes(entities, view=view)),
        ("attributes at", catalog.attributes(entities, ["level"], view=view, time=time)),
        ("attribute_values", catalog.attribute_values(values, view=view)),
        ("entities_where", catalog.entities_where((*TYPES, UNTYPED), [test], view=view, time=time)),
        ("count_where", catalog.count_where((*TYPES, UNTYPED), [test], view=view, time=time)),
        ("entities_where of a type", catalog.entities_where(one_type, [], view=view)),
        ("supports", sorted(catalog.supports(assertions, view=view).items())),
        ("facts_of_sources", sorted(catalog.facts_of_sources(sources, view=view).items())),
        ("source_ids_of", sorted(catalog.source_ids_of(entities, view=view).items())),
        ("counts", sorted(catalog.counts(view=view).items())),
        ("data_span", catalog.data_span(view=view)),
        ("facts", graph.facts(entities, view=view)),
        ("facts of two", graph.facts(entities[:2], PREDICATES[:2], view=view, time=time, limit=3)),
        ("entities_of_type", [graph.entities_of_type([type_], view=view) for type_ in (*TYPES, UNTYPED)]),
        ("all_facts", graph.all_facts(view=view)),
        ("all_facts at", graph.all_facts(view=view, time=time)),
        ("fact_counts", graph.fact_counts(view=view)),
    ]
    to_type = PathPattern(tuple(entities), (HopPattern((), None, types=one_type),), 10_000)
    answers.append(("paths to a type", graph.paths(to_type, view=view)))
    answers.append(("reach to a type", graph.reach(to_type, view=view)))
    for number in range(6):
        pattern = random_pattern(rng, world)
        answers.append((f"paths {number}", graph.paths(pattern, view=view)))
        answers.append((f"reach {number}", graph.reach(pattern, view=view)))
        answers.append((f"count_ends {number}", graph.count_ends([pattern, to_type], first=3, view=view)))
        answers.append((f"top_ends {number}", graph.top_ends(pattern, view=view)))
        answers.append((f"reach_from {number}", graph.reach_from(pattern, view=view)))
    return [(name, repr(answer)) for name, answer in answers]


def _source_text(source: Source) -> str:
    return repr((replace(source, labels=frozenset()), sorted(source.labels)))


def differing(left: Iterable[tuple[str, str]], right: Iterable[tuple[str, str]]) -> list[str]:
    """Names of the reads that answered differently."""
    return [name for (name, one), (_, other) in zip(left, right, strict=True) if one != other]
