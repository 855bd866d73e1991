"""Catalog over a Neo4j graph that graphroute did not write: nodes are records, an element's type and keys are its provenance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from graphroute.stores.catalog.rows import candidates
from graphroute.stores.mapped.elements import Elements, Node
from graphroute.stores.mapped.filters import flag, number_of, passes
from graphroute.stores.mapped.values import parse_date, whole
from graphroute.text import alias_key
from graphroute.types.graph import Attribute, AttributeFilter, Entity, Support
from graphroute.types.mapping import DateOwner
from graphroute.types.ontology import AttributeType, Ontology
from graphroute.types.query import Candidate
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source, SourceSpan
from graphroute.types.time import ANY_TIME, MAX_INSTANT, MIN_INSTANT, Instant, Interval, TimeFilter
from graphroute.types.view import View

_ENUMERATED = 200
_DATES = 100_000


class MappedCatalog:
    """The catalog port over mapped elements. Safe to share between threads.

    Every node and every relationship is a source under its own id. A node's source is the record of its attributes, which can be shown
    and cited; a relationship's says which statement it is.
    """

    def __init__(self, elements: Elements) -> None:
        self._elements = elements

    def view(self, *, reader: Reader, sequence: int | None = None) -> View:
        """The reader's world now. Raises SnapshotError for any other sequence: a foreign graph keeps no older state.

        The token names the number of nodes and relationships that the reader may see of each type, and the mapping. A change of a property
        that changes no number leaves it as it is.
        """
        return self._elements.view(reader=reader, sequence=sequence)

    def settings(self) -> Mapping[str, str]:
        """Dataset name, `as_of` day and default labels, from the mapping."""
        mapping = self._elements.mapping
        found = {"dataset": mapping.dataset, "as_of": mapping.as_of, "default_labels": ",".join(mapping.default_labels)}
        return {key: value for key, value in found.items() if value}

    def ontology(self) -> Ontology:
        """The ontology the graph is read by."""
        return self._elements.ontology

    def sources(self, ids: Iterable[str], *, view: View) -> Mapping[str, Source]:
        """Readable nodes and relationships as sources, by id; hidden and absent ones are left out alike."""
        wanted = set(ids)
        nodes = self._elements.readable(wanted, view)
        records = self._records(nodes, view)
        found = {key: self._node_source(nodes[key], records.get(key, "")) for key in nodes}
        rows = self._elements.assertions(wanted - found.keys(), view=view)
        names = self.entities({end for row, _ in rows.values() for end in (row.key[0], row.key[2])}, view=view)
        for key, (row, said) in rows.items():
            subject, predicate, object_, low, high = row.key
            text = f"{_name(names, subject)} {predicate} {_name(names, object_)}"
            found[key] = Source(
                id=key, title=said or "", text=text, labels=frozenset(), origin=said, validity=_interval(low, high)
            )
        return {key: found[key] for key in sorted(found)}

    def _node_source(self, node: Node, text: str) -> Source:
        return Source(
            id=node.id,
            title=node.names[0] if node.names else "",
            text=text,
            labels=frozenset(node.access or self._elements.mapping.default_labels),
            kind=node.types[0],
            node=node.id,
            origin=node.source,
        )

    def _records(self, nodes: Mapping[str, Node], view: View) -> dict[str, str]:
        """`property: value` lines of nodes: their names' properties, then their attributes."""
        by_types: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for node in nodes.values():
            by_types[node.types].append(node.id)
        found: dict[str, str] = {}
        for types, ids in by_types.items():
            properties = self._shown(types)
            for entity_id, values in self._elements.values(ids, properties, view=view).items():
                lines = [f"{name}: {item}" for name, items in zip(properties, values, strict=True) for item in items]
                found[entity_id] = "\n".join(lines)
        return found

    def _shown(self, types: Sequence[str]) -> tuple[str, ...]:
        mapped = [self._elements.nodes[name] for name in types]
        properties = dict.fromkeys(
            prop for node in mapped for prop in (node.key, *(p for parts in node.names for p in parts))
        )
        properties.update(dict.fromkeys(item.key for name in types for item in self._kinds(name)))
        hidden = {prop for node in mapped for prop in (node.access,) if prop}
        return tuple(prop for prop in properties if prop not in hidden)

    def _kinds(self, type_: str) -> tuple[AttributeType, ...]:
        return self._elements.ontology.attributes.get(type_, ())

    def passages(self, ids: Iterable[str], *, view: View) -> Mapping[str, Passage]:
        """Readable records by id; a node has one passage, with the node's id."""
        return {passage.id: passage for passage in self.passages_of(ids, view=view)}

    def passages_of(self, source_ids: Iterable[str], *, view: View) -> Sequence[Passage]:
        """The records of readable nodes, in id order."""
        nodes = self._elements.readable(source_ids, view)
        records = self._records(nodes, view)
        return [
            Passage(
                id=key,
                source_id=key,
                start=0,
                end=len(records[key]),
                text=records[key],
                title=nodes[key].names[0] if nodes[key].names else "",
                kind=nodes[key].types[0],
                node=key,
            )
            for key in sorted(records)
            if records[key]
        ]

    def aliases(self, keys: Iterable[str], *, view: View) -> Mapping[str, tuple[Candidate, ...]]:
        """Entities by folded alias, in id order. Types with too many nodes for memory are found by their key alone."""
        found = self._elements.named(keys, view)
        entities = self.entities({entity_id for bearers in found.values() for entity_id in bearers}, view=view)
        return candidates(found, entities)

    def entities(self, ids: Iterable[str], *, view: View) -> Mapping[str, Entity]:
        """Readable entities with their display form."""
        nodes = self._elements.readable(ids, view)
        return {
            key: Entity(id=key, types=nodes[key].types, name=self._display(nodes[key]), names=nodes[key].names)
            for key in sorted(nodes)
        }

    def _display(self, node: Node) -> str:
        local = whole(node.id.partition("/")[2])
        for type_ in node.types:
            kind = self._elements.ontology.types.get(type_)
            if kind is not None and kind.display:
                text = kind.display
                for place, value in (
                    ("{id}", node.id),
                    ("{local}", local),
                    ("{name}", node.names[0] if node.names else local),
                ):
                    text = text.replace(place, value)
                return text
        return node.names[0] if node.names else local

    def attributes(
        self,
        entity_ids: Iterable[str],
        keys: Iterable[str] | None = None,
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
    ) -> Sequence[Attribute]:
        """Attributes of readable nodes that the ontology declares, in (entity, key) order. They hold at any time."""
        nodes = self._elements.readable(entity_ids, view)
        wanted = None if keys is None else set(keys)
        by_types: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for node in nodes.values():
            by_types[node.types].append(node.id)
        found: list[Attribute] = []
        order = self._elements.mapping.date_order
        for types, ids in by_types.items():
            kinds = {
                item.key: item for name in types for item in self._kinds(name) if wanted is None or item.key in wanted
            }
            if not kinds:
                continue
            shown = self._shown(types)
            for entity_id, values in self._elements.values(ids, shown, view=view).items():
                offset = 0
                for name, items in zip(shown, values, strict=True):
                    for item in items:
                        start = offset + len(name) + 2
                        offset = start + len(item) + 1
                        kind = kinds.get(name)
                        if kind is not None:
                            found.append(
                                Attribute(
                                    entity_id=entity_id,
                                    key=name,
                                    value=item,
                                    span=SourceSpan(entity_id, start, start + len(item)),
                                    number=number_of(item) if kind.kind == "number" else None,
                                    instant=parse_date(item, order) if kind.kind == "date" else None,
                                )
                            )
        return sorted(found, key=lambda item: (item.entity_id, item.key, item.span.start or 0))

    def attribute_values(self, keys: Iterable[str], *, view: View) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """For each folded value found: the (entity type, attribute key) pairs of enumerated attributes that have it."""
        memo = self._elements.memo(view)
        known = memo.get("values")
        if known is None:
            table: dict[str, set[tuple[str, str]]] = defaultdict(set)
            for type_, node in self._elements.nodes.items():
                for kind in self._kinds(type_):
                    if not kind.enumerated:
                        continue
                    values = self._elements.distinct(view, node.label, kind.key, _ENUMERATED + 1)
                    if len(values) > _ENUMERATED:
                        continue
                    for value in values:
                        if value in ("true", "false"):
                            table[flag(kind.key)].add((type_, kind.key))
                        else:
                            table[alias_key(value)].add((type_, kind.key))
            known = memo["values"] = {key: tuple(sorted(pairs)) for key, pairs in sorted(table.items()) if key}
        return {key: known[key] for key in sorted(set(keys)) if key in known}

    def entities_where(
        self,
        types: Sequence[str],
        filters: Sequence[AttributeFilter],
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
    ) -> tuple[str, ...]:
        """Ids of readable entities of the types that pass all filters, in id order."""
        labels = [self._elements.nodes[name].label for name in types if name in self._elements.nodes]
        wanted = tuple(dict.fromkeys(test.key for test in filters))
        order = self._elements.mapping.date_order
        found = self._elements.scan(view, labels, wanted)
        return tuple(key for key in sorted(found) if passes(filters, dict(zip(wanted, found[key], strict=True)), order))

    def count_where(
        self,
        types: Sequence[str],
        filters: Sequence[AttributeFilter],
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
    ) -> int:
        """How many entities `entities_where` finds, counted by the server for each group of equal values."""
        labels = [self._elements.nodes[name].label for name in types if name in self._elements.nodes]
        wanted = tuple(dict.fromkeys(test.key for test in filters))
        order = self._elements.mapping.date_order
        return sum(
            number
            for values, number in self._elements.value_counts(view, labels, wanted)
            if passes(filters, dict(zip(wanted, values, strict=True)), order)
        )

    def supports(self, assertion_ids: Iterable[str], *, view: View) -> Mapping[str, tuple[Support, ...]]:
        """Each readable relationship proves itself."""
        rows = self._elements.assertions(assertion_ids, view=view)
        return {
            key: (Support(assertion_id=key, span=SourceSpan(key), source_kind=rows[key][0].predicate),)
            for key in sorted(rows)
        }

    def facts_of_sources(self, source_ids: Iterable[str], *, view: View) -> Mapping[str, tuple[str, ...]]:
        """A relationship is the source of itself; a record of attributes proves no fact."""
        return {key: (key,) for key in sorted(self._elements.assertions(source_ids, view=view))}

    def source_ids_of(self, entity_ids: Iterable[str], *, view: View) -> Mapping[str, tuple[str, ...]]:
        """Each readable node's own record, then its relationships in id order."""
        nodes = self._elements.readable(entity_ids, view)
        found: dict[str, dict[str, None]] = {key: {key: None} for key in sorted(nodes)}
        rows = self._elements.level(sorted(nodes), (), (0, 1), view=view, loops=True)
        for row in sorted(rows, key=lambda row: row.assertion):
            found[row.node].setdefault(row.assertion)
        return {key: tuple(sources) for key, sources in found.items()}

    def counts(self, *, view: View) -> Mapping[str, int]:
        """Readable nodes and relationships; a node's record is its one passage."""
        memo = self._elements.memo(view)
        if "counts" not in memo:
            labels = [node.label for node in self._elements.nodes.values()]
            entities = len(self._elements.scan(view, labels, ()))
            assertions = sum(number for *_, number in self._elements.fact_counts(view))
            memo["counts"] = {
                "sources": entities + assertions,
                "passages": entities,
                "entities": entities,
                "assertions": assertions,
            }
        return dict(memo["counts"])

    def data_span(self, *, view: View) -> tuple[Instant | None, Instant | None]:
        """Earliest and latest instant of readable facts, by the properties that date them."""
        memo = self._elements.memo(view)
        if "span" not in memo:
            instants = [
                moment
                for text in self._dates(view)
                if (moment := parse_date(text, self._elements.mapping.date_order)) is not None
            ]
            memo["span"] = (min(instants), max(instants)) if instants else (None, None)
        span: tuple[Instant | None, Instant | None] = memo["span"]
        return span

    def _dates(self, view: View) -> list[str]:
        found: list[str] = []
        seen: set[tuple[str, str]] = set()
        for relation in self._elements.relations.values():
            date = relation.date
            if date is None:
                continue
            for name in filter(None, (date.start, date.end)):
                if date.of is DateOwner.RELATION:
                    found.extend(self._elements.relation_dates(view, relation, name, _DATES))
                    continue
                side = relation.domain if date.of is DateOwner.START else relation.range
                for type_ in side:
                    node = self._elements.nodes.get(type_)
                    if node is not None and (node.label, name) not in seen:
                        seen.add((node.label, name))
                        found.extend(self._elements.distinct(view, node.label, name, _DATES))
        return found


def _interval(low: int, high: int) -> Interval:
    return Interval(None if low == MIN_INSTANT else low, None if high == MAX_INSTANT else high)


def _name(names: Mapping[str, Entity], entity_id: str) -> str:
    return names[entity_id].name if entity_id in names else entity_id
