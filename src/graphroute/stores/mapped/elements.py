"""Elements of a mapped graph: ids and where they are on the server, names in memory, what a reader may see, and rows as facts."""

from __future__ import annotations

import hashlib
import re
import threading
import time as clock
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from graphroute.errors import BackendError, ConfigurationError, SnapshotError
from graphroute.stores.mapped import queries
from graphroute.stores.mapped.schema import Reads
from graphroute.stores.mapped.values import bounds, part, whole
from graphroute.stores.neo4j.connection import Query
from graphroute.text import alias_key
from graphroute.time_limit import unlimited
from graphroute.types.graph import Direction, EndCount, PathPattern, TopEnds
from graphroute.types.mapping import DateOwner, GraphMapping, NodeMapping, RelationMapping
from graphroute.types.ontology import Ontology
from graphroute.types.reader import Reader
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT
from graphroute.types.view import View

MAX_ROWS = 1_000_000
"""Rows of one query; more than this is an error and never a silent cut."""

REFRESH_SECONDS = 60.0
"""How long counts and names are taken as they were."""

START_SECONDS = 120.0
"""For each query that reads a whole type at the start of a process, or anew when the graph has changed."""
VIEW_SECONDS = 60.0
"""For each query that reads or counts all facts of a view."""

_KEPT_VIEWS = 64
_FAMILY = re.compile("last|sur|family|фамил|姓", re.IGNORECASE)
_SEPARATED = 900
"""Ids in one query, so that the length class of a list parameter stays the same."""


@runtime_checkable
class Warms(Protocol):
    """A connection that can have texts planned ahead."""

    def warm(self, queries: Iterable[tuple[Query, dict[str, object]]], *, deadline: float | None = None) -> None:
        """Plan each text for parameters of these types."""
        ...


@dataclass(frozen=True, slots=True)
class Node:
    """One node: its id, the server's own id, its mapped types (the one that gives the id first), its names and access labels."""

    id: str
    element: str
    types: tuple[str, ...]
    names: tuple[str, ...]
    access: tuple[str, ...] | None
    source: str | None

    def readable(self, reader: Reader, opened: bool) -> bool:
        """True if the reader holds a label of the node or, where it has none, one of the default labels."""
        return opened if self.access is None else not reader.labels.isdisjoint(self.access)


@dataclass(frozen=True, slots=True)
class Row:
    """One relationship as a hop walks it. `way`: 0 along it, 1 against it. `values`: of the properties asked for, of the node reached."""

    node: str
    predicate: str
    way: int
    other: str
    low: int
    high: int
    assertion: str
    element: str
    values: tuple[tuple[str, ...], ...]

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """The fact's key."""
        ends = (self.other, self.predicate, self.node) if self.way else (self.node, self.predicate, self.other)
        return (*ends, self.low, self.high)


@dataclass(slots=True)
class _World:
    """What was read of the graph at one moment. `aliases`: folded name to (id, via); `whole`: types all of whose nodes are in memory."""

    sequence: int
    token: str
    nodes: dict[str, Node]
    aliases: dict[str, dict[str, str]]
    whole: frozenset[str]
    checked: float
    counts: tuple[tuple[str, int], ...]
    labels: dict[str, int]
    memos: OrderedDict[frozenset[int], dict[Any, Any]] = field(default_factory=OrderedDict)


class Elements:
    """Shared by the graph and the catalog of one mapped graph. Safe to share between threads; nothing is ever written.

    Names of up to `names_limit` nodes are read when first needed and again when the counts of the graph have changed, which is looked at
    every `REFRESH_SECONDS`; everything else is read from the server for each question.
    """

    def __init__(self, connection: Reads, mapping: GraphMapping, ontology: Ontology) -> None:
        self.connection = connection
        self.ontology = ontology
        self.nodes: dict[str, NodeMapping] = {n: m for n, m in mapping.nodes.items() if n in ontology.types}
        self.relations: dict[str, RelationMapping] = {
            name: item for name, item in mapping.relations.items() if name in ontology.relations
        }
        self.mapping = mapping
        self._types = {item.type: name for name, item in self.relations.items()}
        self._labels = {item.label: name for name, item in self.nodes.items()}
        self._lock = threading.RLock()
        self._world: _World | None = None
        self.unread: dict[str, int] = {}
        self._nouns: dict[str, list[str]] = defaultdict(list)
        for name in self.nodes:
            for noun in dict.fromkeys(map(alias_key, (name, *ontology.types[name].nouns))):
                self._nouns[noun].append(name)
        self._lookups = {
            name: queries.label_query("mapped_lookup", item.label, item.key) for name, item in self.nodes.items()
        }
        self._node_counts = {
            name: queries.label_query("mapped_count_nodes", item.label) for name, item in self.nodes.items()
        }
        self._relation_counts = {
            name: queries.label_query("mapped_count_relations", item.type) for name, item in self.relations.items()
        }

    def warm(self) -> None:
        """Has the server plan the texts of a question in the forms that questions send, so that no question pays for it."""
        if not isinstance(self.connection, Warms):
            return
        view = View(reader=Reader("warm", ["warm"]), sequence=0, scopes=frozenset({1}), token="")
        common = {
            **self.access(view),
            "limit": 1,
            "nodes": "",
            "ends": "",
            "pairs": "",
            "narrow": False,
            "loops": False,
            "asked": {"patterns": []},
        }
        given = {**common, "typed": True, "targets": [""], "types": [""], "wanted": [""], "property": ""}
        asked = [query for query in queries.QUESTION_PATH if query not in queries.AT_START]
        plans: list[tuple[Query, dict[str, object]]] = [(query, given) for query in asked]
        every = {**given, "types": [item.type for item in self.relations.values()]}
        over_all = (queries.RELATION, queries.FORWARD, queries.BACKWARD, queries.ALL_FACTS, queries.FACT_COUNTS)
        plans.extend((query, every) for query in over_all)
        sizes = {min(len(item), 11) for item in self.ontology.attributes.values()} - {0, 1}
        plans.extend((queries.NODES, {**given, "wanted": [""] * size}) for size in sorted(sizes))
        plans.extend(
            (query, {**self._naming(), "label": "", "values": [""], "limit": 1}) for query in self._lookups.values()
        )
        self.connection.warm(plans, deadline=clock.monotonic() + START_SECONDS)

    # Views

    def view(self, *, reader: Reader, sequence: int | None) -> View:
        """The reader's world. Only the present one can be read: a graph that others write keeps no older one."""
        world = self.world()
        if sequence is not None and sequence != world.sequence:
            raise SnapshotError(f"snapshot {sequence} is not there", hint="ask against the present one")
        opened = self.opened(reader)
        scopes = frozenset({1} if opened else ()) | {
            world.labels[held] for held in reader.labels if held in world.labels
        }
        view = View(reader=reader, sequence=world.sequence, scopes=scopes, token="")
        if not self.limited:
            return replace(view, token=world.token if opened else _digest(()))
        memo = self.memo(view)
        if "token" not in memo:
            memo["token"] = self._readable_token(view)
        return replace(view, token=memo["token"])

    @property
    def limited(self) -> bool:
        """True if some elements have access labels of their own."""
        nodes, relations = self.nodes.values(), self.relations.values()
        return any(node.access for node in nodes) or any(relation.access for relation in relations)

    def opened(self, reader: Reader) -> bool:
        """True if the reader sees elements without access labels of their own."""
        return not reader.labels.isdisjoint(self.mapping.default_labels)

    def memo(self, view: View) -> dict[Any, Any]:
        """What was computed for readers who see the same; dropped when the graph has changed."""
        world = self.world()
        with self._lock:
            memo = world.memos.setdefault(view.scopes, {})
            world.memos.move_to_end(view.scopes)
            while len(world.memos) > _KEPT_VIEWS:
                world.memos.popitem(last=False)
        return memo

    def world(self) -> _World:
        """The names and counts, read anew where they are old and the counts have changed."""
        with self._lock:
            now = clock.monotonic()
            known = self._world
            if known is not None and now - known.checked < REFRESH_SECONDS:
                return known
            # Counts by label are at hand on the server, so that one that hangs is noticed here, within the time of the question.
            counts = self._counts(self._slow if known is None else self.connection.read)
            if known is not None and counts == known.counts:
                known.checked = now
                return known
            self._world = self._read_world(counts, (known.sequence + 1) if known else 1)
            return self._world

    def _counts(self, read: Callable[[Query], list[tuple[Any, ...]]]) -> tuple[tuple[str, int], ...]:
        pairs = [(f"({name})", query) for name, query in self._node_counts.items()]
        pairs += [(f"[{name}]", query) for name, query in self._relation_counts.items()]
        return tuple((name, int(read(query)[0][0])) for name, query in pairs)

    def _read_world(self, counts: tuple[tuple[str, int], ...], sequence: int) -> _World:
        left = self.mapping.names_limit
        numbers = dict(counts)
        nodes: dict[str, Node] = {}
        kept: set[str] = set()
        # Small types first, so that one huge type does not keep the others out.
        for name in sorted(self.nodes, key=lambda item: (numbers[f"({item})"], item)):
            if numbers[f"({name})"] > left:
                continue
            rows = self._slow(queries.NAMES, {**self._naming(), "targets": [self.nodes[name].label], "limit": left + 1})
            if len(rows) > left:
                continue
            kept.add(name)
            for node in map(self._node, rows):
                if node.id not in nodes:
                    nodes[node.id] = node
                    left -= 1
                self._require_one(nodes[node.id], node)
        aliases: dict[str, dict[str, str]] = defaultdict(dict)
        for node in nodes.values():
            for via, name in self._called(node):
                key = alias_key(name)
                if key:
                    aliases[key].setdefault(node.id, via)
        token = _digest((*counts, ("mapping", _number(repr(self.mapping) + repr(self.ontology)))))
        return _World(
            sequence=sequence,
            token=token,
            nodes=nodes,
            aliases=dict(aliases),
            whole=frozenset(kept),
            checked=clock.monotonic(),
            counts=counts,
            labels=self._access_labels(),
        )

    def _access_labels(self) -> dict[str, int]:
        """A number from 2 on for each access label that some element has; 1 stands for elements without any."""
        found: set[str] = set()
        for node in self.nodes.values():
            if node.access is not None:
                given = {"names": [node.label], "property": node.access, "limit": MAX_ROWS}
                found.update(row[0] for row in self._slow(queries.NODE_ACCESS, given))
        for relation in self.relations.values():
            if relation.access is not None:
                given = {"names": [relation.type], "property": relation.access, "limit": MAX_ROWS}
                found.update(row[0] for row in self._slow(queries.RELATION_ACCESS, given))
        return {label: number for number, label in enumerate(sorted(found), 2)}

    def _slow(
        self, query: Query, parameters: dict[str, object] | None = None, seconds: float = START_SECONDS
    ) -> list[tuple[Any, ...]]:
        """Reads of whole types, for many questions and taken off the time of none."""
        with unlimited():
            return self.connection.read(query, parameters or {}, deadline=clock.monotonic() + seconds)

    def _called(self, node: Node) -> Iterable[tuple[str, str]]:
        """(via, name) of everything a node is called, but for a number behind a noun of its type, which `_numbered` finds."""
        local = whole(node.id.partition("/")[2])
        yield "local", local
        if not local.isdigit():
            yield "id", node.id
        for name in node.names:
            yield "name", name

    def _numbered(self, key: str) -> Iterable[str]:
        """Ids that a noun and a number may stand for: "order 10772"."""
        noun, _, number = key.rpartition(" ")
        if noun and number.isdigit():
            for name in self._nouns.get(noun, ()):
                yield f"{part(name)}/{number}"

    def _readable_token(self, view: View) -> str:
        """Counts of what the reader sees, where not all see the same; a hidden write changes nothing."""
        pairs = [(f"[{a}|{kind}|{b}]", number) for a, kind, b, number in self.fact_counts(view)]
        for name, node in self.nodes.items():
            pairs.append((f"({name})", len(self.scan(view, (node.label,), ()))))
        return _digest((*pairs, ("mapping", _number(repr(self.mapping) + repr(self.ontology)))))

    # Parameters

    def _naming(self) -> dict[str, object]:
        return {
            "order": [node.label for node in self.nodes.values()],
            "keys": {node.label: node.key for node in self.nodes.values()},
            "access": {node.label: node.access for node in self.nodes.values()},
            "names": {node.label: [list(parts) for parts in node.names] for node in self.nodes.values()},
            "sources": {node.label: node.source for node in self.nodes.values()},
        }

    def access(self, view: View) -> dict[str, object]:
        """Parameters of every query that reads for a reader."""
        return {
            "order": [node.label for node in self.nodes.values()],
            "keys": {node.label: node.key for node in self.nodes.values()},
            "access": {node.label: node.access for node in self.nodes.values()},
            "open": 1 in view.scopes,
            "held": sorted(view.reader.labels),
            "ids": {node.label: f"{part(node.name)}/" for node in self.nodes.values()},
            "limit": MAX_ROWS + 1,
            "relations": {item.type: self._relation(item) for item in self.relations.values()},
        }

    @staticmethod
    def _relation(item: RelationMapping) -> dict[str, object]:
        date = item.date
        return {
            "of": date.of.value if date else DateOwner.RELATION.value,
            "start": date.start if date else None,
            "end": date.end if date else None,
            "key": item.key,
            "parallel": item.parallel,
            "access": item.access,
            "source": item.source,
        }

    # Nodes

    def _node(self, row: Sequence[Any]) -> Node:
        element, key, labels, names, access, source = row
        held = [node for node in self.nodes.values() if node.label in labels]
        identity = held[0]
        called = (name for parts, values in zip(identity.names, names, strict=True) for name in _joined(parts, values))
        return Node(
            id=f"{part(identity.name)}/{part(key)}",
            element=element,
            types=tuple(node.name for node in held),
            names=tuple(dict.fromkeys(called)),
            access=tuple(str(item) for item in access) if access is not None else None,
            source=source,
        )

    def id_of(self, label: str, key: str) -> str:
        """The id of a node from the label that identifies it and its key."""
        return f"{part(self._labels[label])}/{part(key)}"

    def find(self, ids: Iterable[str], *, deadline: float | None = None) -> dict[str, Node]:
        """Nodes by id, readable or not: from memory, else by their key. Unknown ids are left out."""
        world = self.world()
        found: dict[str, Node] = {}
        asked: dict[str, list[object]] = defaultdict(list)
        for entity_id in sorted(set(ids)):
            node = world.nodes.get(entity_id)
            if node is not None:
                found[entity_id] = node
                continue
            type_, mark, key = entity_id.partition("/")
            name = whole(type_)
            if mark and name in self.nodes and name not in world.whole:
                asked[name].extend(_keys(whole(key)))
        for name, values in asked.items():
            for chunk in _chunks(values):
                rows = self.connection.read(
                    self._lookups[name],
                    {**self._naming(), "label": self.nodes[name].label, "values": chunk, "limit": MAX_ROWS},
                    deadline=deadline,
                )
                for node in map(self._node, rows):
                    self._require_one(found.setdefault(node.id, node), node)
        return found

    def _require_one(self, known: Node, node: Node) -> None:
        """Raises ConfigurationError for two nodes of one id: rows and counts would take them for one in some places and for two in others."""
        if known.element != node.element:
            identity = self.nodes[node.types[0]]
            raise ConfigurationError(
                f"label {identity.label!r}: several nodes have the same {identity.key}, which is mapped as their key",
                hint="map a property as `key` that is unique for the label, or create a uniqueness constraint",
            )

    def readable(self, ids: Iterable[str], view: View) -> dict[str, Node]:
        """The same for a reader. Access labels in memory may be old, so what they let through is asked of the server once more."""
        opened = 1 in view.scopes
        found = {key: node for key, node in self.find(ids).items() if node.readable(view.reader, opened)}
        if not self.limited or not found:
            return found
        now = self.values(found, (), view=view)
        return {key: node for key, node in found.items() if key in now}

    def named(self, keys: Iterable[str], view: View) -> dict[str, dict[str, str]]:
        """For each folded name the ids of readable nodes that bear it, and by what."""
        world = self.world()
        opened = 1 in view.scopes
        found: dict[str, dict[str, str]] = {}
        distant = [name for name in self.nodes if name not in world.whole]
        for key in sorted(set(keys)):
            bearers = {
                entity_id: via
                for entity_id, via in world.aliases.get(key, {}).items()
                if world.nodes[entity_id].readable(view.reader, opened)
            }
            for entity_id in self._numbered(key):
                node = world.nodes.get(entity_id)
                if node is not None and node.readable(view.reader, opened):
                    bearers.setdefault(entity_id, "local")
            if bearers:
                found[key] = bearers
        if distant:
            self._named_by_key(sorted(set(keys)), distant, view, found)
        return found

    def _named_by_key(
        self, keys: Sequence[str], types: Sequence[str], view: View, found: dict[str, dict[str, str]]
    ) -> None:
        """Nodes of types that are too many for memory are known by their key as it is written, in capitals or as a number."""
        codes = [key for key in keys if any(char.isdigit() for char in key) and len(key) <= 64]
        wanted = {f"{part(name)}/{part(form)}": key for name in types for key in codes for form in _spellings(key)}
        wanted.update({entity_id: key for key in codes for entity_id in self._numbered(key)})
        for entity_id, node in self.readable(wanted, view).items():
            found.setdefault(wanted[entity_id], {})[node.id] = "local"

    # Rows

    def level(
        self,
        nodes: Sequence[str],
        predicates: Sequence[str],
        ways: Sequence[int],
        *,
        view: View,
        types: Sequence[str] = (),
        ends: Sequence[str] | None = None,
        wanted: Sequence[str] = (),
        loops: bool = False,
        deadline: float | None = None,
    ) -> list[Row]:
        """Readable relationships at the nodes, in the directions `ways`; `ends` narrows the nodes reached."""
        if not view.scopes or not nodes or (ends is not None and not ends):
            return []
        found = self.find(nodes, deadline=deadline)
        starts = {node.element: node.id for node in found.values()}
        kinds = [
            self.relations[name].type for name in dict.fromkeys(predicates or self.relations) if name in self.relations
        ]
        if not starts or not kinds:
            return []
        given: dict[str, object] = {
            **self.access(view),
            "types": kinds,
            "typed": bool(types),
            "targets": [self.nodes[name].label for name in types if name in self.nodes] or [""],
            "narrow": ends is not None,
            "ends": " ".join(sorted(node.element for node in self.find(ends or (), deadline=deadline).values())),
            "wanted": list(wanted) or [""],
            "loops": loops,
        }
        rows: list[Row] = []
        for way in ways:
            query = queries.BACKWARD if way else queries.FORWARD
            for chunk in _chunks(sorted(starts)):
                read = self.connection.read(query, {**given, "nodes": " ".join(chunk)}, deadline=deadline)
                _whole(read, query)
                rows.extend(self._row((*row[:9], row[9][: len(wanted)]), way) for row in read)
        # A server's own id may have passed to another node since it was read; what is not one of the nodes asked for is dropped.
        asked = set(starts.values())
        return [row for row in rows if row.node in asked]

    def _row(self, row: Sequence[Any], way: int) -> Row:
        label, key, kind, other_label, other_key, element, start, end, identity, values = row
        name = self._types[kind]
        span = bounds(start, end, self.mapping.date_order)
        if span is None:
            # An unreadable date is no date: the fact holds at a time that nobody knows.
            self.unread[name] = self.unread.get(name, 0) + 1
            span = (MIN_INSTANT, MAX_INSTANT)
        node, other = self.id_of(label, key), self.id_of(other_label, other_key)
        subject, object_ = (other, node) if way else (node, other)
        return Row(
            node=node,
            predicate=name,
            way=way,
            other=other,
            low=span[0],
            high=span[1],
            assertion=self.assertion_id(self.relations[name], subject, object_, identity),
            element=element,
            values=tuple(tuple(item for item in group if item is not None) for group in values_of(values)),
        )

    def assertion_id(self, relation: RelationMapping, subject: str, object_: str, identity: str | None) -> str:
        """`TYPE/start key/end key`, with whole ids where an end may have several types, and what tells parallel ones apart behind."""
        start = subject if len(relation.domain) > 1 else subject.partition("/")[2]
        end = object_ if len(relation.range) > 1 else object_.partition("/")[2]
        return "/".join((part(relation.name), start, end, *((part(identity),) if identity is not None else ())))

    def ends_of(self, assertion_id: str) -> tuple[RelationMapping, str, str] | None:
        """The relation and both ends of an assertion id; None for what is none."""
        parts = assertion_id.split("/")
        relation = self.relations.get(whole(parts[0]))
        if relation is None:
            return None
        sides = []
        rest = parts[1:]
        for names in (relation.domain, relation.range):
            if len(names) == 1:
                if not rest:
                    return None
                sides.append(f"{part(names[0])}/{rest[0]}")
                rest = rest[1:]
            else:
                if len(rest) < 2:
                    return None
                sides.append("/".join(rest[:2]))
                rest = rest[2:]
        return relation, sides[0], sides[1]

    def assertions(
        self, ids: Iterable[str], *, view: View, deadline: float | None = None
    ) -> dict[str, tuple[Row, str | None]]:
        """Readable relationships by assertion id, with the source that each names."""
        wanted = set(ids)
        ends = [found for assertion_id in sorted(wanted) if (found := self.ends_of(assertion_id)) is not None]
        rows = self._between([(relation.name, a, b) for relation, a, b in ends], view, deadline)
        return {row.assertion: (row, source) for row, source in rows if row.assertion in wanted}

    def between(
        self, keys: Iterable[tuple[str, str, str, int, int]], *, view: View, deadline: float | None
    ) -> list[Row]:
        """Readable relationships between the ends of facts, of their relations; among them those of the facts."""
        triples = sorted({(predicate, subject, object_) for subject, predicate, object_, _, _ in keys})
        return [row for row, _ in self._between(triples, view, deadline)]

    def _between(
        self, triples: Sequence[tuple[str, str, str]], view: View, deadline: float | None
    ) -> list[tuple[Row, str | None]]:
        if not view.scopes:
            return []
        nodes = self.find({end for _, a, b in triples for end in (a, b)}, deadline=deadline)
        numbers = {name: number for number, name in enumerate(self.relations)}
        pairs = {
            f"{nodes[a].element}|{nodes[b].element}|{numbers[name]}"
            for name, a, b in triples
            if a in nodes and b in nodes and name in numbers
        }
        found: list[tuple[Row, str | None]] = []
        given = {**self.access(view), "types": [item.type for item in self.relations.values()]}
        for chunk in _chunks(sorted(pairs)):
            for row in self.connection.read(queries.RELATION, {**given, "pairs": " ".join(chunk)}, deadline=deadline):
                found.append((self._row((*row[:9], ()), 0), row[9]))
        return found

    def facts(self, view: View) -> list[Row]:
        """Every readable relationship. Raises BackendError beyond `MAX_ROWS`."""
        if not view.scopes or not self.relations:
            return []
        given = {**self.access(view), "types": [item.type for item in self.relations.values()]}
        rows = self._slow(queries.ALL_FACTS, given, VIEW_SECONDS)
        _whole(rows, queries.ALL_FACTS)
        return [self._row(row, 0) for row in rows]

    # Walks counted by the server

    def walk(self, pattern: PathPattern, *, deadline: float | None = None) -> dict[str, Any] | None:
        """A pattern as the texts that count take it, its dates and values not tested; None where nothing can be walked."""
        known = {node.element: entity_id for entity_id, node in self.find(pattern.starts, deadline=deadline).items()}
        hops: list[dict[str, Any]] = []
        for hop in pattern.hops:
            names = dict.fromkeys(hop.predicates or self.relations)
            kinds = [self.relations[name].type for name in names if name in self.relations]
            ends = self.find(hop.ends or (), deadline=deadline)
            if not kinds or (hop.ends is not None and not ends):
                return None
            hops.append(
                {
                    "types": kinds,
                    "forward": hop.direction is not Direction.BACKWARD,
                    "backward": hop.direction is not Direction.FORWARD,
                    "typed": bool(hop.types),
                    "targets": [self.nodes[name].label for name in hop.types if name in self.nodes],
                    "narrow": hop.ends is not None,
                    "ends": {node.element: entity_id for entity_id, node in ends.items()},
                    "wanted": list(dict.fromkeys(test.key for test in hop.filters)),
                    "tested": False,
                    "accepted": {},
                }
            )
        return {"nodes": " ".join(sorted(known)), "known": known, "hops": hops} if known else None

    def said(
        self, walk: Mapping[str, Any], place: int, limit: int, *, view: View, deadline: float | None
    ) -> list[tuple[str, str | None, str | None, tuple[tuple[str, ...], ...]]]:
        """What the hop at `place` of a walk meets, each once and at most `limit`: a text for all of it, both dates, the values asked for."""
        asked = {"patterns": [_last_apart({**walk, "hops": walk["hops"][: place + 1]})], "limit": limit}
        rows = self.connection.read(queries.SAID, {**self.access(view), "asked": asked}, deadline=deadline)
        return [
            (said, start, end, tuple(tuple(item for item in group if item is not None) for group in values_of(found)))
            for said, start, end, found in rows
        ]

    def count_ends(
        self, walks: Sequence[Mapping[str, Any]], needed: int, first: int, *, view: View, deadline: float | None
    ) -> EndCount:
        """Entities that at least `needed` of the walks end at."""
        asked = {"patterns": list(walks), "needed": needed, "first": first}
        rows = self.connection.read(queries.COUNT_ENDS, {**self.access(view), "asked": asked}, deadline=deadline)
        return EndCount(int(rows[0][0]), tuple(rows[0][1]))

    def top_ends(self, walk: Mapping[str, Any], *, most: bool, view: View, deadline: float | None) -> TopEnds:
        """The entities that the last hop reaches from the most or the fewest entities."""
        asked = {"patterns": [_last_apart(walk)], "most": most}
        rows = self.connection.read(queries.TOP_ENDS, {**self.access(view), "asked": asked}, deadline=deadline)
        _whole(rows, queries.TOP_ENDS)
        return TopEnds(tuple(row[0] for row in rows), int(rows[0][1]), int(rows[0][2])) if rows else TopEnds()

    def value_counts(
        self, view: View, labels: Sequence[str], properties: Sequence[str]
    ) -> list[tuple[list[list[str]], int]]:
        """Different values of the properties of readable nodes of labels, and how many nodes have them, counted by the server."""
        if not view.scopes or not labels:
            return []
        given = {**self.access(view), "targets": list(labels), "wanted": list(properties) or [""]}
        rows = self.connection.read(queries.VALUES_OF, given)
        _whole(rows, queries.VALUES_OF)
        return [
            ([[item for item in group if item is not None] for group in values_of(found)[: len(properties)]], int(n))
            for found, n in rows
        ]

    def fact_counts(self, view: View) -> list[tuple[str, str, str, int]]:
        """(subject type, predicate, object type, readable relationships), counted by the server."""
        if not view.scopes or not self.relations:
            return []
        given = {**self.access(view), "types": [item.type for item in self.relations.values()]}
        rows = self._slow(queries.FACT_COUNTS, given, VIEW_SECONDS)
        return sorted((self._labels[a], self._types[kind], self._labels[b], int(n)) for a, kind, b, n in rows)

    def values(
        self, ids: Iterable[str], properties: Sequence[str], *, view: View, deadline: float | None = None
    ) -> dict[str, list[list[str]]]:
        """Values as text of the properties of readable nodes, a list for each property."""
        if not view.scopes:
            return {}
        elements = sorted(node.element for node in self.find(ids, deadline=deadline).values())
        found: dict[str, list[list[str]]] = {}
        for chunk in _chunks(elements):
            rows = self.connection.read(
                queries.NODES,
                {**self.access(view), "nodes": " ".join(chunk), "wanted": list(properties) or [""]},
                deadline=deadline,
            )
            for label, key, values in rows:
                found[self.id_of(label, key)] = [
                    [item for item in group if item is not None] for group in values_of(values)
                ]
        return found

    def scan(
        self, view: View, labels: Sequence[str], properties: Sequence[str], *, deadline: float | None = None
    ) -> dict[str, list[list[str]]]:
        """The same for all readable nodes of labels."""
        if not view.scopes or not labels:
            return {}
        given = {**self.access(view), "targets": list(labels), "wanted": list(properties) or [""]}
        rows = self.connection.read(queries.SCAN, given, deadline=deadline)
        _whole(rows, queries.SCAN)
        return {
            self.id_of(label, key): [
                [item for item in group if item is not None] for group in values_of(values)[: len(properties)]
            ]
            for label, key, values in rows
        }

    def distinct(self, view: View, label: str, name: str, limit: int) -> list[str]:
        """Different values of a property of readable nodes, at most `limit`."""
        if not view.scopes:
            return []
        given = {**self.access(view), "targets": [label], "property": name, "limit": limit}
        return [str(row[0]) for row in self.connection.read(queries.DISTINCT, given)]

    def relation_dates(self, view: View, relation: RelationMapping, name: str, limit: int) -> list[str]:
        """Different values of a property of readable relationships, at most `limit`."""
        if not view.scopes:
            return []
        given = {**self.access(view), "types": [relation.type], "property": name, "limit": limit}
        return [str(row[0]) for row in self.connection.read(queries.RELATION_DATES, given)]


def values_of(values: Sequence[Sequence[str | None] | None] | None) -> list[Sequence[str | None]]:
    """Lists of values, an absent property as an empty one."""
    return [group or () for group in values or ()]


def _last_apart(walk: Mapping[str, Any]) -> dict[str, Any]:
    """The walk with its last hop in the last place, where the texts look for it."""
    *inner, last = walk["hops"]
    return {**walk, "hops": [*inner, *([None] * (queries.MAX_HOPS - 1 - len(inner))), last]}


def _joined(properties: Sequence[str], values: Sequence[str | None]) -> list[str]:
    """The values with a space between, of Han without one and the family name first; [] without any."""
    pairs = [
        (name, " ".join(text.split())) for name, text in zip(properties, values, strict=True) if text and text.strip()
    ]
    if len(pairs) > 1 and all("㐀" <= char <= "鿿" for _, text in pairs for char in text):
        return ["".join(text for _, text in sorted(pairs, key=lambda pair: _FAMILY.search(pair[0]) is None))]
    return [" ".join(text for _, text in pairs)] if pairs else []


def _keys(key: str) -> list[object]:
    """A key as the text and, where it is one, the number that a property may hold."""
    number = key.isascii() and key.lstrip("-").isdigit() and len(key) < 19
    return [key, int(key)] if number else [key]


def _spellings(key: str) -> tuple[str, ...]:
    dashed = key.replace(" ", "-")
    return tuple(dict.fromkeys((key, key.upper(), dashed, dashed.upper())))


def _chunks(items: Sequence[Any]) -> Iterable[list[Any]]:
    for start in range(0, len(items), _SEPARATED):
        yield list(items[start : start + _SEPARATED])


def _whole(rows: Sequence[Any], query: Query) -> None:
    if len(rows) > MAX_ROWS:
        raise BackendError(
            f"{query.name} gives more than {MAX_ROWS:,} rows",
            hint="ask about fewer things, or take the type out of the ontology",
        )


def _digest(pairs: Iterable[tuple[str, int]]) -> str:
    return hashlib.blake2b(repr(tuple(pairs)).encode(), digest_size=8).hexdigest()


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
