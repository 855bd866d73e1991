"""Profiles a data set in one pass: types, predicates, kinds of record and shapes of ids, for ontology inference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from zlib import crc32

from graphroute.indexing.records import Field, parse_record, type_value
from graphroute.ontology.lexicon import is_agent, is_place, is_thing, lexicon
from graphroute.ontology.naming import field_noun, kind_noun, relation_words
from graphroute.text import fold
from graphroute.types.graph import Assertion
from graphroute.types.ontology import UNTYPED
from graphroute.types.source import Source
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, Instant, format_instant

_MAX_PREFIXES = 200
_NAME_KEYS = frozenset(["name", "title", "full_name", "display_name", "label"])
_PREFIX = re.compile(r"([^\W\d_][\w.-]{0,31})[:/](?=.)")
_SCHEMES = frozenset(["http", "https", "urn", "mailto", "ftp", "file", "doi"])
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeProfile:
    """Entities of one type. `locals`, `names`: a sample. `titled`: how many of `titles_seen` documents about an entity of the
    type have `PREFIX-local` in their title. `documents`: entities whose id is that of a document."""

    name: str
    entities: int
    prefix: str | None = None
    named: int = 0
    locals: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    titles_seen: int = 0
    titled: int = 0
    documents: int = 0
    restricted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldLink:
    """A field of a kind of record whose value states one end of a predicate's facts. `side`: `object` or `subject`; `facts`: of
    the sample."""

    kind: str
    key: str
    side: str
    facts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PredicateProfile:
    """Facts of one predicate. Shares are in [0, 1] and, like type counts, taken over a sample of whole subjects.

    `domain`, `range`: types in order of the facts they explain. `single`: share of subjects with one fact. `most_at_once`: most
    distinct objects of a subject at one instant, `several_at_once`: share of subjects with more than one. `started`: share of
    facts with a start. `at_source_date`: share whose start is the day of their source. `recorded`: share supported by
    record-like documents. `one_date`: share of subjects whose facts all start at once. `links`: fields that state an end.
    `date_fields`: keys of date fields of the supporting records that hold the start, with the facts of the sample ("" for a
    date beside the value that states the fact).
    """

    name: str
    facts: int
    domain: tuple[tuple[str, int], ...]
    range: tuple[tuple[str, int], ...]
    subjects: int
    objects: int
    single: float
    most_at_once: int
    several_at_once: float
    closed: int
    started: float
    at_source_date: float
    recorded: float
    restricted: bool = False
    one_date: float = 0.0
    sampled: int = 0
    links: tuple[FieldLink, ...] = ()
    date_fields: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldProfile:
    """One field of a kind of record. `present`: share of the documents. `unique`: distinct values per entity (or document) that has it.

    `kinds`: share of values by kind (text, number, date). `refers`: share of values that are the local part of a known
    entity's id, and the id prefix with the most. `in_id`: share of documents whose own id holds the value. `stated`: share of
    the values that state an end of a fact which the document supports.
    """

    key: str
    present: float
    distinct: int
    values: int
    unique: float
    length: float
    kinds: Mapping[str, float]
    prefix: str | None = None
    refers: float = 0.0
    in_id: float = 0.0
    stated: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KindProfile:
    """Documents of one kind (or table). `records`: share that holds `key: value` lines. `day_first`: dates that can only
    be read day first; `month_first` likewise. `subjects`: types of the entities the documents are about. `entities`: different
    entities that the documents of the sample are about."""

    name: str
    documents: int
    records: float
    nodes: float
    fields: tuple[FieldProfile, ...] = ()
    titles: tuple[str, ...] = ()
    day_first: int = 0
    month_first: int = 0
    subjects: tuple[tuple[str, int], ...] = ()
    entities: int = 0
    sampled: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DataProfile:
    """What ontology inference looks at. Everything is in name order."""

    types: tuple[TypeProfile, ...] = ()
    predicates: tuple[PredicateProfile, ...] = ()
    kinds: tuple[KindProfile, ...] = ()


class _Sample(Generic[_T]):
    """Keeps the items whose key hashes lowest, so that the choice depends on neither order nor seed."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bound = 1 << 32
        self._size = 0
        self.items: dict[str, list[_T]] = {}

    def add(self, key: str, item: Callable[[], _T]) -> None:
        """Keeps `item()` under `key` if the key is in the sample."""
        if _hash(key) >= self._bound:
            return
        self.items.setdefault(key, []).append(item())
        self._size += 1
        while self._size > self._limit and len(self.items) > 1:
            self._bound //= 2
            self.items = {key: kept for key, kept in self.items.items() if _hash(key) < self._bound}
            self._size = sum(len(kept) for kept in self.items.values())

    @property
    def scale(self) -> float:
        """Keys seen for each key kept, on average."""
        return (1 << 32) / self._bound

    def sorted(self) -> Iterator[tuple[str, list[_T]]]:
        """Keys with their items, by key."""
        return iter(sorted(self.items.items(), key=lambda entry: entry[0]))


def _hash(key: str) -> int:
    # Mixed with a constant, because CRC alone keeps neighbouring ids together.
    return (crc32(key.encode("utf-8", "surrogatepass")) * 0x9E3779B1) & 0xFFFFFFFF


_Supports = tuple[tuple[tuple[str, int | None, int | None], ...], ...]
_Fact = tuple[str, Instant, Instant, _Supports]


@dataclass(slots=True)
class _Predicate:
    facts: _Sample[_Fact]
    count: int = 0
    closed: int = 0


@dataclass(slots=True)
class _Document:
    id: str
    kind: str
    fields: tuple[Field, ...]
    node: str | None
    title: str
    length: int
    dates: dict[Instant, str] | None = None


@dataclass(slots=True)
class _Kind:
    documents: int = 0
    sample: _Sample[_Document] = field(default_factory=lambda: _Sample(2_000))


class ProfileBuilder:
    """Collects a profile from a stream of sources, entities and assertions, in any order.

    Holds ids, and samples of the rest; `sample` bounds the facts kept per predicate. `default_labels` tell open sources from
    restricted ones (`public` if none are given).
    """

    def __init__(self, *, default_labels: Iterable[str] = (), sample: int = 40_000) -> None:
        self._open_labels = frozenset(default_labels) or frozenset({"public"})
        self._sample = sample
        self._kind_names: dict[str, str] = {}
        self._sources: dict[str, tuple[str, Instant | None, bool]] = {}
        self._kinds: dict[str, _Kind] = {}
        self._ids: dict[str, tuple[str, ...]] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._predicates: dict[str, _Predicate] = {}
        self._any_open = False

    def add_source(self, source: Source) -> None:
        """Counts a document; the fields of a sample are read."""
        name = self._kind_names.setdefault(source.kind or "", source.kind or "")
        kind = self._kinds.setdefault(name, _Kind())
        kind.documents += 1
        open_source = not self._open_labels.isdisjoint(source.labels)
        self._any_open = self._any_open or open_source
        date = source.validity.start if source.validity.start is not None else source.timestamp
        self._sources[source.id] = (name, date, open_source)
        if source.node is not None:
            self._ids.setdefault(source.node, ())

        def document() -> _Document:
            text = source.text[:20_000]
            return _Document(source.id, name, parse_record(text), source.node, source.title, len(source.text))

        kind.sample.add(source.id, document)

    def add_entity(self, entity_id: str, types: Iterable[str], names: Iterable[str]) -> None:
        """Notes an entity's types (none: they are read from its id) and names."""
        given = tuple(dict.fromkeys(name for name in types if name))
        self._ids[entity_id] = tuple(dict.fromkeys((*self._ids.get(entity_id, ()), *given)))
        kept = tuple(names)
        if kept:
            self._names[entity_id] = (*self._names.get(entity_id, ()), *kept)

    def add_assertion(self, assertion: Assertion) -> None:
        """Counts a fact; the facts of a sample of subjects are kept."""
        self._ids.setdefault(assertion.subject, ())
        self._ids.setdefault(assertion.object, ())
        predicate = self._predicates.get(assertion.predicate)
        if predicate is None:
            predicate = self._predicates[assertion.predicate] = _Predicate(_Sample(self._sample))
        predicate.count += 1
        predicate.closed += assertion.validity.end is not None
        predicate.facts.add(
            assertion.subject,
            lambda: (
                assertion.object,
                assertion.validity.low,
                assertion.validity.high,
                tuple(tuple((span.source_id, span.start, span.end) for span in group) for group in assertion.supports),
            ),
        )

    def build(self) -> DataProfile:
        """The profile of everything added so far."""
        return _Build(self).profile()


class _Build:
    def __init__(self, builder: ProfileBuilder) -> None:
        self._sources = builder._sources
        self._kinds = builder._kinds
        self._ids = builder._ids
        self._names = builder._names
        self._predicates = builder._predicates
        self._any_open = builder._any_open
        self._prefixes = self._find_prefixes()
        self._prefix_types = self._find_prefix_types()
        self._documents = {
            document.id: document
            for _, kind in sorted(self._kinds.items())
            for _, kept in kind.sample.sorted()
            for document in kept
        }
        self._labels = self._find_labels()
        self._links: dict[str, Counter[tuple[str, str, str]]] = {}
        self._stated: Counter[tuple[str, str]] = Counter()
        self._date_fields: dict[str, Counter[str]] = {}
        self._link_fields()
        self._slot_types: Mapping[str, tuple[str, ...]] = {}
        self._slot_types = self._find_slot_types()
        self._open_types: set[str] = set()
        self._subjects_by_kind: dict[str, Counter[str]] = {}

    def profile(self) -> DataProfile:
        record_share = {name: self._record_share(kind) for name, kind in self._kinds.items()}
        predicates = tuple(
            self._predicate(name, predicate, record_share) for name, predicate in sorted(self._predicates.items())
        )
        kinds = tuple(self._kind(name, kind, record_share[name]) for name, kind in sorted(self._kinds.items()))
        return DataProfile(types=self._types(), predicates=predicates, kinds=kinds)

    def _find_prefixes(self) -> frozenset[str]:
        """Id prefixes that mark a type: few, and carried by nearly all entities without a type of their own."""
        counts: Counter[str] = Counter()
        for entity_id in self._ids:
            prefix = _prefix(entity_id)
            if prefix is not None:
                counts[prefix] += 1
        if len(counts) > _MAX_PREFIXES or 3 * len(counts) > max(len(self._ids), 12):
            return frozenset()
        return frozenset(counts)

    def types_of(self, entity_id: str) -> tuple[str, ...]:
        types = self._ids.get(entity_id, ())
        if types:
            return types
        prefix = _prefix(entity_id)
        if prefix in self._prefixes and prefix is not None:
            return (self._prefix_types.get(prefix, prefix),)
        return self._slot_types.get(entity_id, (UNTYPED,))

    def _find_prefix_types(self) -> Mapping[str, str]:
        """The type that most typed entities of a prefix have, for those of the prefix that have none."""
        counts: dict[str, Counter[str]] = {}
        for entity_id, types in self._ids.items():
            prefix = _prefix(entity_id)
            if types and prefix in self._prefixes and prefix is not None:
                counts.setdefault(prefix, Counter())[types[0]] += 1
        return {prefix: _ranked(found)[0][0] for prefix, found in counts.items()}

    def _find_labels(self) -> Mapping[str, frozenset[str]]:
        """What a field may call an entity: its id, the local part, its names and those that its own records give."""
        labels: dict[str, set[str]] = {}
        for entity_id in self._ids:
            names = (entity_id, local_part(entity_id), *self._names.get(entity_id, ()))
            labels[entity_id] = {_label(name) for name in names}
        for document in self._documents.values():
            for about in (document.node, document.id):
                if about in labels:
                    labels[about].add(_label(document.title))
                    labels[about].update(_label(item.value) for item in document.fields if item.key in _NAME_KEYS)
        return {entity_id: frozenset(found - {""}) for entity_id, found in labels.items()}

    def _link_fields(self) -> None:
        """Finds the fields that state facts, and those that hold their start."""
        stated: set[tuple[str, int]] = set()
        for name, predicate in sorted(self._predicates.items()):
            links = self._links.setdefault(name, Counter())
            dates = self._date_fields.setdefault(name, Counter())
            for subject, kept in predicate.facts.sorted():
                for obj, low, _, groups in kept:
                    seen: set[tuple[str, str, str]] = set()
                    dated: set[str] = set()
                    for source, start, end in {span for group in groups for span in group}:
                        document = self._documents.get(source)
                        if document is None or not document.fields:
                            continue
                        for place, side in self._stating(document, start, end, subject, obj):
                            item = document.fields[place]
                            seen.add((document.kind, item.key, side))
                            stated.add((document.id, place))
                            if low != MIN_INSTANT and _day(low) in item.value:
                                dated.add("")
                        if low != MIN_INSTANT and low in _dates(document):
                            dated.add(_dates(document)[low])
                    links.update(seen)
                    dates.update(dated)
        for source, place in stated:
            document = self._documents[source]
            self._stated[document.kind, document.fields[place].key] += 1

    def _stating(
        self, document: _Document, start: int | None, end: int | None, subject: str, obj: str
    ) -> Iterator[tuple[int, str]]:
        """Places of the fields that state an end of a fact, with the end: by the value, else by the span of the support."""
        first, stop = start or 0, document.length if end is None else end
        whole = first == 0 and stop >= document.length
        inside = [place for place, item in enumerate(document.fields) if item.start < stop and first < item.end]
        values = [_label(item.value) for item in document.fields]
        found: dict[str, list[int]] = {}
        for side, entity_id, other in (("object", obj, subject), ("subject", subject, obj)):
            if entity_id in (document.node, document.id):
                continue
            found[side] = [place for place, value in enumerate(values) if _calls(value, self._labels[entity_id])]
            near = [place for place in found[side] if place in inside]
            if not whole and near:
                found[side] = near
            elif not whole and len(inside) == 1 and not found[side] and other in (document.node, document.id):
                found[side] = inside
        for side, places in found.items():
            # A value that several fields hold may be said for another fact.
            if len({document.fields[place].key for place in places}) == 1:
                for place in places:
                    yield place, side

    def _find_slot_types(self) -> Mapping[str, tuple[str, ...]]:
        """Types for ids that tell none: the ends of relations that share many of their entities are one type.

        An entity has the types of all ends at which it stands.
        """
        slots: dict[tuple[str, bool], set[str]] = {}
        for name, predicate in sorted(self._predicates.items()):
            for subject, kept in predicate.facts.sorted():
                ends = [(subject, True), *((fact[0], False) for fact in kept)]
                for entity_id, is_subject in ends:
                    if self.types_of(entity_id) == (UNTYPED,):
                        slots.setdefault((name, is_subject), set()).add(entity_id)
        groups: list[list[tuple[str, bool]]] = []
        for slot in sorted(slots):
            joined = [group for group in groups if any(_overlap(slots[slot], slots[other]) for other in group)]
            groups = [group for group in groups if group not in joined]
            groups.append(sorted([slot, *(other for group in joined for other in group)]))
        used: Counter[str] = Counter()
        found: dict[str, tuple[str, ...]] = {}
        for group in sorted(groups):
            name = self._kind_of({entity_id for slot in group for entity_id in slots[slot]}) or self._slot_name(group)
            used[name] += 1
            if used[name] > 1:
                name = f"{name}_{used[name]}"
            for slot in group:
                for entity_id in slots[slot]:
                    found[entity_id] = tuple(dict.fromkeys((*found.get(entity_id, ()), name)))
        return found

    def _kind_of(self, entities: set[str]) -> str | None:
        """The noun of the kind whose records are about these entities, one each."""
        counts: Counter[str] = Counter()
        for name, kind in sorted(self._kinds.items()):
            nodes = [
                document.node for _, kept in kind.sample.sorted() for document in kept if document.node is not None
            ]
            noun = kind_noun(name)
            mine = sum(node in entities for node in nodes)
            if noun and mine >= 0.9 * len(nodes) and mine >= 2 and len(set(nodes)) >= 0.95 * len(nodes):
                counts[noun] += mine
        best = min(counts, key=lambda noun: (-counts[noun], noun), default=None)
        return best if best is not None and counts[best] >= 0.3 * len(entities) else None

    def _slot_name(self, group: Iterable[tuple[str, bool]]) -> str:
        """A name for the entities at these ends of relations: what fields or the relations call them, else `entity`."""
        candidates: dict[str, bool] = {}
        for predicate, is_subject in group:
            fields: Counter[str] = Counter()
            for (_, key, side), count in self._links.get(predicate, Counter()).items():
                noun = field_noun(key)
                if noun and (side == "subject") == is_subject:
                    fields[noun] += count
            if fields:
                noun = min(fields, key=lambda noun: (-fields[noun], noun))
                candidates.setdefault(noun, is_agent(noun) or noun in lexicon().frames_by_agent)
                continue
            words = relation_words(predicate)
            nouns = words.own.get("subject_nouns" if is_subject else "object_nouns", {})
            for noun in nouns:
                # Relations name many parts that people and organisations play; the entities are the same ones.
                part = noun in lexicon().frames_by_agent and not is_place(noun) and not is_thing(noun)
                candidates.setdefault("agent" if part or is_agent(noun) else noun, part or is_agent(noun))
                break
        if len(candidates) == 1:
            return next(iter(candidates))
        if candidates and all(candidates.values()):
            return "agent"
        return "agent" if "agent" in candidates else UNTYPED

    def _record_share(self, kind: _Kind) -> float:
        documents = [document for _, kept in kind.sample.sorted() for document in kept]
        return sum(bool(document.fields) for document in documents) / max(1, len(documents))

    def _predicate(self, name: str, predicate: _Predicate, record_share: Mapping[str, float]) -> PredicateProfile:
        domain_sets: Counter[tuple[str, ...]] = Counter()
        range_sets: Counter[tuple[str, ...]] = Counter()
        objects: set[str] = set()
        facts = single = several = started = dated = recorded = opened = most = one_date = 0
        for subject, kept in predicate.facts.sorted():
            subject_types = self.types_of(subject)
            spans: dict[str, list[tuple[Instant, Instant]]] = {}
            for obj, low, high, groups in kept:
                facts += 1
                objects.add(obj)
                object_types = self.types_of(obj)
                domain_sets[subject_types] += 1
                range_sets[object_types] += 1
                spans.setdefault(obj, []).append((low, high))
                started += low != MIN_INSTANT
                known = [self._sources[source] for group in groups for source, _, _ in group if source in self._sources]
                dated += low != MIN_INSTANT and any(date == low for _, date, _ in known)
                recorded += any(record_share.get(kind, 0.0) >= 0.5 for kind, _, _ in known)
                for kind in {kind for kind, _, _ in known}:
                    self._subjects_by_kind.setdefault(kind, Counter())[subject_types[0]] += 1
                if any(
                    all(source in self._sources and self._sources[source][2] for source, _, _ in group)
                    for group in groups
                ):
                    opened += 1
                    self._open_types.update(subject_types)
                    self._open_types.update(object_types)
            single += len(kept) == 1
            one_date += len({low for _, low, _, _ in kept}) == 1
            at_once = _at_once(spans)
            most = max(most, at_once)
            several += at_once > 1
        subjects = len(predicate.facts.items)
        return PredicateProfile(
            name=name,
            facts=predicate.count,
            domain=_explaining(domain_sets),
            range=_explaining(range_sets),
            subjects=round(subjects * predicate.facts.scale),
            objects=len(objects),
            single=single / max(1, subjects),
            most_at_once=most,
            several_at_once=several / max(1, subjects),
            closed=predicate.closed,
            started=started / max(1, facts),
            at_source_date=dated / max(1, facts),
            recorded=recorded / max(1, facts),
            restricted=self._any_open and not opened,
            one_date=one_date / max(1, subjects),
            sampled=facts,
            links=tuple(
                FieldLink(kind=kind, key=key, side=side, facts=count)
                for (kind, key, side), count in _ranked_links(self._links.get(name, Counter()))
            ),
            date_fields=_ranked(self._date_fields.get(name, Counter())),
        )

    def _types(self) -> tuple[TypeProfile, ...]:
        members: dict[str, _Sample[str]] = {}
        counts: Counter[str] = Counter()
        named: Counter[str] = Counter()
        documents: Counter[str] = Counter()
        prefixes: dict[str, Counter[str | None]] = {}
        for entity_id in self._ids:
            for type_name in self.types_of(entity_id):
                counts[type_name] += 1
                named[type_name] += entity_id in self._names
                documents[type_name] += entity_id in self._sources
                prefixes.setdefault(type_name, Counter())[_prefix(entity_id)] += 1
                members.setdefault(type_name, _Sample(3_000)).add(entity_id, lambda entity_id=entity_id: entity_id)  # type: ignore[misc]
        titles = self._node_titles()
        found = []
        for type_name in sorted(counts):
            ids = [entity_id for entity_id, _ in members[type_name].sorted()]
            prefix = prefixes[type_name].most_common(1)[0] if prefixes[type_name] else (None, 0)
            marked = prefix[0] if prefix[1] >= 0.9 * counts[type_name] else None
            seen = [(entity_id, title) for entity_id in ids for title in titles.get(entity_id, ())]
            titled = sum(
                marked is not None and f"{marked}-{local_part(entity_id)}".casefold() in title.casefold()
                for entity_id, title in seen
            )
            found.append(
                TypeProfile(
                    name=type_name,
                    entities=counts[type_name],
                    prefix=marked,
                    named=named[type_name],
                    locals=tuple(local_part(entity_id) if marked else entity_id for entity_id in ids),
                    names=tuple(name for entity_id in ids for name in self._names.get(entity_id, ())),
                    titles=tuple(sorted({title for _, title in seen})),
                    titles_seen=len(seen),
                    titled=titled,
                    documents=documents[type_name],
                    restricted=self._any_open and type_name not in self._open_types and bool(self._predicates),
                )
            )
        return tuple(found)

    def _node_titles(self) -> Mapping[str, tuple[str, ...]]:
        titles: dict[str, dict[str, None]] = {}
        for kind in self._kinds.values():
            for source_id, kept in kind.sample.sorted():
                for document in kept:
                    for about in (document.node, source_id if source_id in self._ids else None):
                        if about is not None and document.title:
                            titles.setdefault(about, {}).setdefault(document.title)
        return {about: tuple(found) for about, found in titles.items()}

    def _kind(self, name: str, kind: _Kind, records: float) -> KindProfile:
        documents = [document for _, kept in kind.sample.sorted() for document in kept]
        subjects = Counter(self.types_of(document.node)[0] for document in documents if document.node is not None)
        if not subjects:
            subjects = self._subjects_by_kind.get(name, Counter())
        values: dict[str, list[tuple[_Document, list[str]]]] = {}
        for document in documents:
            here: dict[str, list[str]] = {}
            for field_ in document.fields:
                here.setdefault(field_.key, []).append(field_.value)
            for key, found in here.items():
                values.setdefault(key, []).append((document, found))
        orders: Counter[bool] = Counter()
        fields = tuple(self._field(name, key, rows, len(documents), orders) for key, rows in sorted(values.items()))
        return KindProfile(
            name=name,
            documents=kind.documents,
            records=records,
            nodes=sum(document.node is not None for document in documents) / max(1, len(documents)),
            fields=fields,
            titles=tuple(sorted({document.title for document in documents if document.title})),
            day_first=orders[True],
            month_first=orders[False],
            subjects=_ranked(subjects),
            entities=len({document.node for document in documents if document.node is not None}),
            sampled=len(documents),
        )

    def _field(
        self, kind: str, key: str, rows: list[tuple[_Document, list[str]]], documents: int, orders: Counter[bool]
    ) -> FieldProfile:
        firsts = [row[0] for _, row in rows]
        every = [value for _, row in rows for value in row]
        about = {document.node or document.id for document, _ in rows}
        kinds: Counter[str] = Counter()
        refers: Counter[str] = Counter()
        for value in every[:2_000]:
            kinds[type_value(value).kind] += 1
            match = re.fullmatch(r"(\d{1,2})[/.](\d{1,2})[/.]\d{4}", value.strip())
            if match and int(match[1]) > 12 >= int(match[2]):
                orders[True] += 1
            elif match and int(match[2]) > 12 >= int(match[1]):
                orders[False] += 1
        for value in firsts[:2_000]:
            for prefix in self._prefixes:
                local = value.removeprefix("@")
                if f"{prefix}:{local}" in self._ids or f"{prefix}/{local}" in self._ids:
                    refers[prefix] += 1
        tested = max(1, min(len(firsts), 2_000))
        best = min(refers, key=lambda name: (-refers[name], name)) if refers else None
        total = max(1, sum(kinds.values()))
        return FieldProfile(
            key=key,
            present=len(rows) / max(1, documents),
            distinct=len(set(every)),
            values=len(every),
            unique=min(1.0, len(set(firsts)) / len(about)),
            in_id=sum(len(row[0]) >= 2 and row[0] in document.id for document, row in rows) / len(rows),
            length=sum(map(len, every)) / len(every),
            kinds={kind: kinds[kind] / total for kind in sorted(kinds)},
            prefix=best,
            refers=refers[best] / tested if best is not None else 0.0,
            stated=self._stated[kind, key] / len(every),
        )


def _overlap(one: set[str], other: set[str]) -> bool:
    small, large = sorted((one, other), key=len)
    return len(small & large) >= max(1, 0.3 * len(small))


def local_part(entity_id: str) -> str:
    """The id after its first ":" or, without one, after its last "/"."""
    head, mark, rest = entity_id.partition(":")
    if mark and rest:
        return rest
    return entity_id.rpartition("/")[2] or head


def _label(text: str) -> str:
    return " ".join(re.sub(r"[-_]+", " ", fold(text)).split()) if text.strip() else ""


def _calls(value: str, labels: frozenset[str]) -> bool:
    """The value is one of the labels, or begins with one ("Mobile since 2019-01-01")."""
    if value in labels:
        return True
    return any(value.startswith(label) and not value[len(label)].isalnum() for label in labels if len(label) >= 3)


def _dates(document: _Document) -> dict[Instant, str]:
    """Instants of the document's date fields, with the key of the first that holds each."""
    if document.dates is None:
        document.dates = {}
        for item in document.fields:
            typed = type_value(item.value)
            if typed.instant is not None:
                document.dates.setdefault(typed.instant, item.key)
    return document.dates


def _day(instant: Instant) -> str:
    return (format_instant(instant) or "")[:10]


def _prefix(entity_id: str) -> str | None:
    match = _PREFIX.match(entity_id)
    if match is None or match[1].casefold() in _SCHEMES:
        return None
    return match[1]


def _at_once(spans: Mapping[str, list[tuple[Instant, Instant]]]) -> int:
    """The most distinct objects whose intervals share an instant."""
    if len(spans) == 1:
        return 1
    events: list[tuple[Instant, int]] = []
    for intervals in spans.values():
        low, high = MAX_INSTANT, MIN_INSTANT
        for start, end in sorted(intervals):
            if start > high:
                if low < high:
                    events.extend(((low, 1), (high, -1)))
                low, high = start, end
            else:
                low, high = min(low, start), max(high, end)
        if low < high:
            events.extend(((low, 1), (high, -1)))
    current = most = 0
    for _, step in sorted(events):
        current += step
        most = max(most, current)
    return most


def _explaining(sets: Counter[tuple[str, ...]]) -> tuple[tuple[str, int], ...]:
    """Few types that together explain the facts: an entity of several types counts for a type that is needed anyway."""
    remaining = dict(sets)
    total = sum(remaining.values())
    chosen: list[tuple[str, int]] = []
    while remaining:
        counts: Counter[str] = Counter()
        for types, count in remaining.items():
            for name in types:
                counts[name] += count
        name, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        if chosen and (count < 0.002 * total or (count == 1 and total >= 20)):
            break
        chosen.append((name, count))
        remaining = {types: number for types, number in remaining.items() if name not in types}
    return tuple(chosen)


def _ranked_links(counts: Counter[tuple[str, str, str]]) -> list[tuple[tuple[str, str, str], int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _ranked(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
