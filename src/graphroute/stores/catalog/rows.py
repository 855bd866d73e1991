"""Catalog answers put together from rows of a store: display forms, orders, tokens of views; shared by the catalogs."""

from __future__ import annotations

import hashlib
import json
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphroute.access import admits, scope_clauses
from graphroute.errors import SnapshotError
from graphroute.stores.kept import local_part, read_ontology
from graphroute.types.graph import Attribute, AttributeFilter, Entity, Support
from graphroute.types.ontology import Ontology
from graphroute.types.query import Candidate
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source, SourceSpan
from graphroute.types.time import ANY_TIME, MAX_INSTANT, MIN_INSTANT, Instant, Interval, TimeFilter
from graphroute.types.view import View

_KEPT_VIEWS = 64
ENUMERATED = 200
"""An attribute of a type with no more distinct readable values is an enumerated one."""
_VIA = {"id": 0, "local": 1, "name": 2}

Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class EntityRows:
    """What a store holds of some entities for a view, each part in any order.

    `visible`: entity, lowest `via` of its readable scopes. `said`: entity, types, names of the entities file as JSON. `told`:
    entity, type that is not stated. `stated`: entity, name, source, start, low and timestamp of the source in force.
    """

    visible: Iterable[Row]
    said: Iterable[Row]
    told: Iterable[Row]
    stated: Iterable[Row]


class RowCatalog(ABC):
    """The catalog port over a store's rows. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._views: OrderedDict[tuple[int, frozenset[str]], tuple[frozenset[int], str]] = OrderedDict()
        self._memos: OrderedDict[tuple[int, frozenset[int], str], dict[Any, Any]] = OrderedDict()
        self._ontology: tuple[str | None, Ontology] | None = None

    # Rows of the store ----------------------------------------------------------------------------------------------------
    # Ids and keys are distinct and in order. Rows come in any order; whatever a view may not read is left out inside the store.

    @abstractmethod
    def _snapshot(self, sequence: int | None) -> tuple[int, bool]:
        """The published snapshot, and whether the one asked for (the published one if None) is there."""

    @abstractmethod
    def _store(self) -> str:
        """The store's id, empty if it has none yet; asked for after `_snapshot`."""

    @abstractmethod
    def _digests(self, sequence: int) -> Iterable[tuple[int, str, bytes]]:
        """Each scope written up to a snapshot: its id, its form and its digest then."""

    @abstractmethod
    def _setting_rows(self) -> Iterable[tuple[str, str]]:
        """All settings, the store's own too."""

    @abstractmethod
    def _setting(self, key: str) -> str | None: ...

    @abstractmethod
    def _source_rows(self, ids: Sequence[str], view: View) -> Iterable[Row]:
        """id, title, text, labels, parent, kind, node, lang, low, high, timestamp, origin, extra; two are JSON."""

    @abstractmethod
    def _passage_rows(self, ids: Sequence[str], view: View) -> Iterable[Row]:
        """id, source id, start, end, text, title, low, high, timestamp, kind, node."""

    @abstractmethod
    def _passage_rows_of(self, source_ids: Sequence[str], view: View) -> Iterable[Row]:
        """As `_passage_rows`, of all passages of the sources."""

    @abstractmethod
    def _alias_rows(self, keys: Sequence[str], view: View) -> Iterable[Row]:
        """key, entity, via."""

    @abstractmethod
    def _entity_rows(self, ids: Sequence[str], view: View) -> EntityRows: ...

    @abstractmethod
    def _attribute_rows(
        self, entity_ids: Sequence[str], keys: Sequence[str] | None, time: TimeFilter, view: View
    ) -> Iterable[Row]:
        """entity, key, value, source, start, end, number, instant, low, high, low and timestamp of the source in force, row."""

    @abstractmethod
    def _value_rows(self, values: Sequence[str], view: View) -> Iterable[tuple[str, str, str]]:
        """Distinct folded value, type, key of the attributes that have one of the values."""

    @abstractmethod
    def _distinct_values(self, type_: str, key: str, view: View) -> int:
        """Number of distinct values of an attribute of a type, at most one more than `ENUMERATED`."""

    @abstractmethod
    def _where_rows(
        self, types: Sequence[str], filters: Sequence[AttributeFilter], time: TimeFilter, view: View
    ) -> Iterable[str]:
        """Entities of the types that pass all filters."""

    @abstractmethod
    def _where_count(
        self, types: Sequence[str], filters: Sequence[AttributeFilter], time: TimeFilter, view: View
    ) -> int:
        """How many distinct ones those are."""

    @abstractmethod
    def _support_rows(self, assertion_ids: Sequence[str], view: View) -> Iterable[Row]:
        """assertion, set, ordinal, source, start, end, then low, high, timestamp and kind of the source in force."""

    @abstractmethod
    def _supported_rows(self, source_ids: Sequence[str], view: View) -> Iterable[tuple[str, str]]:
        """source, assertion."""

    @abstractmethod
    def _attached_rows(self, entity_ids: Sequence[str], view: View) -> tuple[Iterable[Row], Iterable[Row]]:
        """entity, source, low and timestamp of the source: of its records and prose, and of its facts."""

    @abstractmethod
    def _counts(self, view: View) -> Mapping[str, int]: ...

    @abstractmethod
    def _span(self, view: View) -> tuple[Instant | None, Instant | None]: ...

    # Port -----------------------------------------------------------------------------------------------------------------

    def view(self, *, reader: Reader, sequence: int | None = None) -> View:
        """The reader's world at a snapshot (the published one if None). Raises SnapshotError if it is gone."""
        published, there = self._snapshot(sequence)
        pinned = published if sequence is None else sequence
        if not there or pinned > published:
            raise SnapshotError(f"snapshot {pinned} is not there", hint="ask against the published one")
        key = (pinned, reader.labels)
        with self._lock:
            known = self._views.get(key)
            if known is not None:
                self._views.move_to_end(key)
        if known is None:
            known = self._readable(pinned, reader.labels)
            with self._lock:
                self._views[key] = known
                while len(self._views) > _KEPT_VIEWS:
                    self._views.popitem(last=False)
        return View(reader=reader, sequence=pinned, scopes=known[0], token=known[1], store=self._store())

    def _readable(self, sequence: int, labels: frozenset[str]) -> tuple[frozenset[int], str]:
        """Readable scopes that hold something at the snapshot, and the token made of their digests alone."""
        scopes: set[int] = set()
        digests: list[tuple[str, bytes]] = []
        for scope, form, digest in self._digests(sequence):
            if any(digest) and admits(scope_clauses(form), labels):
                scopes.add(scope)
                digests.append((form, digest))
        total = hashlib.blake2b(digest_size=8)
        for form, digest in sorted(digests):
            total.update(hashlib.blake2b(form.encode(), digest_size=16).digest() + digest)
        return frozenset(scopes), total.hexdigest()

    def _memo(self, view: View) -> dict[Any, Any]:
        """What was computed for all views that read the same rows."""
        key = view.rows
        with self._lock:
            memo = self._memos.setdefault(key, {})
            self._memos.move_to_end(key)
            while len(self._memos) > _KEPT_VIEWS:
                self._memos.popitem(last=False)
        return memo

    def settings(self) -> Mapping[str, str]:
        """Dataset name, `as_of` day, embedder, default labels: the operator's configuration kept in the store."""
        return {key: value for key, value in sorted(self._setting_rows()) if not key.startswith("_")}

    def ontology(self) -> Ontology:
        """The ontology the store was ingested with."""
        return self._read_ontology(self._setting("_ontology"))

    def _read_ontology(self, text: str | None) -> Ontology:
        known = self._ontology
        if known is None or known[0] != text:
            known = self._ontology = (text, read_ontology(text))
        return known[1]

    def _ontology_of_rows(self) -> Ontology:
        """The ontology in force when the last rows were read; a store may know it without asking again."""
        return self.ontology()

    def ontology_text(self) -> str:
        """The ontology as YAML, as the operator wrote it or inference did; empty if none was put."""
        return self._setting("_ontology_text") or ""

    def sources(self, ids: Iterable[str], *, view: View) -> Mapping[str, Source]:
        """Readable sources by external id; hidden and absent ones are left out alike."""
        wanted = _distinct(ids)
        rows = self._source_rows(wanted, view) if _asks(wanted, view) else ()
        return {
            row[0]: Source(
                id=row[0],
                title=row[1],
                text=row[2],
                labels=frozenset(json.loads(row[3])),
                parent=row[4],
                kind=row[5],
                node=row[6],
                lang=row[7],
                validity=_interval(row[8], row[9]),
                timestamp=row[10],
                origin=row[11],
                extra=json.loads(row[12]),
            )
            for row in sorted(rows, key=_first)
        }

    def passages(self, ids: Iterable[str], *, view: View) -> Mapping[str, Passage]:
        """Readable passages by id."""
        wanted = _distinct(ids)
        rows = self._passage_rows(wanted, view) if _asks(wanted, view) else ()
        return {row[0]: _passage(row) for row in sorted(rows, key=_first)}

    def passages_of(self, source_ids: Iterable[str], *, view: View) -> Sequence[Passage]:
        """Readable passages of sources, in source then start order."""
        wanted = _distinct(source_ids)
        rows = self._passage_rows_of(wanted, view) if _asks(wanted, view) else ()
        return [_passage(row) for row in sorted(rows, key=lambda row: (row[1], row[2], row[3], row[0]))]

    def aliases(self, keys: Iterable[str], *, view: View) -> Mapping[str, tuple[Candidate, ...]]:
        """Entities by folded alias (`graphroute.text.alias_key`), in id order; names by their own supports."""
        wanted = _distinct(keys)
        best: dict[str, dict[str, str]] = defaultdict(dict)
        for key, entity_id, via in self._alias_rows(wanted, view) if _asks(wanted, view) else ():
            before = best[key].get(entity_id)
            if before is None or _VIA[via] < _VIA[before]:
                best[key][entity_id] = via
        entities = self.entities({entity_id for found in best.values() for entity_id in found}, view=view)
        return candidates(best, entities)

    def entities(self, ids: Iterable[str], *, view: View) -> Mapping[str, Entity]:
        """Readable entities with their display form for this reader."""
        wanted = _distinct(ids)
        if not _asks(wanted, view):
            return {}
        rows = self._entity_rows(wanted, view)
        visible: dict[str, int] = {row[0]: row[1] for row in rows.visible}
        said = {row[0]: (json.loads(row[1]), json.loads(row[2])) for row in rows.said}
        told: dict[str, list[str]] = defaultdict(list)
        for entity_id, type_ in sorted({(row[0], row[1]) for row in rows.told}):
            told[entity_id].append(type_)
        stated: dict[str, list[str]] = defaultdict(list)
        for row in sorted(rows.stated, key=lambda row: (-_age(row[4], row[5]), row[2], _bound(row[3]), row[1])):
            stated[row[0]].append(row[1])
        ontology = self._ontology_of_rows()
        found: dict[str, Entity] = {}
        for entity_id in sorted(visible):
            types, names = said.get(entity_id, ((), ()))
            types = types or told.get(entity_id, ())
            readable = tuple(dict.fromkeys([*(names if visible[entity_id] == 0 else ()), *stated.get(entity_id, ())]))
            found[entity_id] = Entity(
                id=entity_id, types=tuple(types), name=_display(entity_id, types, readable, ontology), names=readable
            )
        return found

    def attributes(
        self,
        entity_ids: Iterable[str],
        keys: Iterable[str] | None = None,
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
    ) -> Sequence[Attribute]:
        """Readable attributes, tested on the validity of their source, in (entity, key, newest first) order."""
        wanted, narrowed = _distinct(entity_ids), None if keys is None else _distinct(keys)
        if not _asks(wanted, view) or narrowed == []:
            return []

        def order(row: Row) -> tuple[Any, ...]:
            return (row[0], row[1], -_age(row[10], row[11]), row[3], _bound(row[4]), row[2], _bound(row[5]), row[12])

        return [
            Attribute(
                entity_id=row[0],
                key=row[1],
                value=row[2],
                span=SourceSpan(row[3], row[4], row[5]),
                number=row[6],
                instant=row[7],
                validity=_interval(row[8], row[9]),
            )
            for row in sorted(self._attribute_rows(wanted, narrowed, time, view), key=order)
        ]

    def attribute_values(self, keys: Iterable[str], *, view: View) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """For each folded value found: the (entity type, attribute key) pairs that have it, for enumerated attributes.

        Enumerated is what the ontology marks so, and else an attribute of a type with at most 200 distinct readable values.
        """
        wanted = _distinct(keys)
        rows = sorted(set(self._value_rows(wanted, view))) if _asks(wanted, view) else []
        if not rows:
            return {}
        memo = self._memo(view)
        ontology = self._ontology_of_rows()
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for folded, type_, key in rows:
            enumerated = memo.get(("enumerated", type_, key))
            if enumerated is None:
                marked = any(kind.key == key and kind.enumerated for kind in ontology.attributes.get(type_, ()))
                enumerated = marked or self._distinct_values(type_, key, view) <= ENUMERATED
                memo["enumerated", type_, key] = enumerated
            if enumerated:
                found[folded].append((type_, key))
        return {folded: tuple(pairs) for folded, pairs in sorted(found.items())}

    def entities_where(
        self,
        types: Sequence[str],
        filters: Sequence[AttributeFilter],
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
    ) -> tuple[str, ...]:
        """Ids of readable entities of the types that pass all filters, in id order."""
        wanted = _distinct(types)
        rows = self._where_rows(wanted, tuple(filters), time, view) if _asks(wanted, view) else ()
        return tuple(sorted(set(rows)))

    def count_where(
        self,
        types: Sequence[str],
        filters: Sequence[AttributeFilter],
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
    ) -> int:
        """How many entities `entities_where` finds."""
        wanted = _distinct(types)
        return self._where_count(wanted, tuple(filters), time, view) if _asks(wanted, view) else 0

    def supports(self, assertion_ids: Iterable[str], *, view: View) -> Mapping[str, tuple[Support, ...]]:
        """For each assertion the spans of its readable support sets: sets newest first, members of a set together.

        A set is as new as its newest member: by the start of the source's validity, else by its timestamp.
        """
        wanted = _distinct(assertion_ids)
        rows = self._support_rows(wanted, view) if _asks(wanted, view) else ()
        sets: dict[str, dict[int, list[tuple[int, Support]]]] = defaultdict(lambda: defaultdict(list))
        for row in sorted(rows, key=lambda row: (row[0], row[1], row[2])):
            support = Support(
                assertion_id=row[0],
                span=SourceSpan(row[3], row[4], row[5]),
                source_validity=_interval(row[6], row[7]),
                source_timestamp=row[8],
                source_kind=row[9],
            )
            sets[row[0]][row[1]].append((_age(row[6], row[8]), support))
        found: dict[str, tuple[Support, ...]] = {}
        for assertion_id in sorted(sets):
            ordered = sorted(
                sets[assertion_id].values(),
                key=lambda members: (
                    -max(age for age, _ in members),
                    [(s.span.source_id, s.span.start or 0, s.span.end or 0) for _, s in members],
                ),
            )
            found[assertion_id] = tuple(
                replace(support, group=group) for group, members in enumerate(ordered) for _, support in members
            )
        return found

    def facts_of_sources(self, source_ids: Iterable[str], *, view: View) -> Mapping[str, tuple[str, ...]]:
        """For each source the ids of the readable assertions it supports, in id order."""
        wanted = _distinct(source_ids)
        rows = self._supported_rows(wanted, view) if _asks(wanted, view) else ()
        found: dict[str, list[str]] = defaultdict(list)
        for source_id, assertion_id in sorted({(row[0], row[1]) for row in rows}):
            found[source_id].append(assertion_id)
        return {source_id: tuple(assertions) for source_id, assertions in found.items()}

    def source_ids_of(self, entity_ids: Iterable[str], *, view: View) -> Mapping[str, tuple[str, ...]]:
        """For each entity the readable sources attached to it: its own record or prose, then sources of its facts.

        Each part newest first, then by id.
        """
        wanted = _distinct(entity_ids)
        if not _asks(wanted, view):
            return {}
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for rows in self._attached_rows(wanted, view):
            for row in sorted(rows, key=lambda row: (row[0], -_age(row[2], row[3]), row[1])):
                found[row[0]].setdefault(row[1])
        return {entity_id: tuple(found[entity_id]) for entity_id in sorted(found)}

    def counts(self, *, view: View) -> Mapping[str, int]:
        """Readable sources, passages, entities and assertions."""
        memo = self._memo(view)
        if "counts" not in memo:
            memo["counts"] = self._counts(view)
        return dict(memo["counts"])

    def data_span(self, *, view: View) -> tuple[Instant | None, Instant | None]:
        """Earliest and latest instant named by readable sources and facts."""
        memo = self._memo(view)
        if "span" not in memo:
            memo["span"] = self._span(view)
        span: tuple[Instant | None, Instant | None] = memo["span"]
        return span


def _asks(wanted: Collection[str], view: View) -> bool:
    """False where nothing is asked for, or nothing may be read."""
    return bool(wanted and view.scopes)


def _distinct(ids: Iterable[str]) -> list[str]:
    return sorted(set(ids))


def _first(row: Row) -> str:
    text: str = row[0]
    return text


def _age(low: int | None, timestamp: int | None) -> int:
    """How new a source is: the start of its validity, else its timestamp; lowest for one that is not there."""
    if low is not None and low > MIN_INSTANT:
        return low
    return MIN_INSTANT if timestamp is None else timestamp


def _bound(offset: int | None) -> int:
    return -1 if offset is None else offset


def _passage(row: Row) -> Passage:
    return Passage(
        id=row[0],
        source_id=row[1],
        start=row[2],
        end=row[3],
        text=row[4],
        title=row[5],
        validity=_interval(row[6], row[7]),
        timestamp=row[8],
        kind=row[9],
        node=row[10],
    )


def _interval(low: int, high: int) -> Interval:
    return Interval(None if low == MIN_INSTANT else low, None if high == MAX_INSTANT else high)


def _display(entity_id: str, types: Sequence[str], names: Sequence[str], ontology: Ontology) -> str:
    local = local_part(entity_id)
    for type_ in types:
        declared = ontology.types.get(type_)
        if declared is not None and declared.display:
            text = declared.display
            for place, value in (("{id}", entity_id), ("{local}", local), ("{name}", names[0] if names else local)):
                text = text.replace(place, value)
            return text
    return names[0] if names else local


def candidates(
    found: Mapping[str, Mapping[str, str]], entities: Mapping[str, Entity]
) -> dict[str, tuple[Candidate, ...]]:
    """By alias the readable entities that bear it, in id order. `found`: alias to entity id to how it bears it."""
    return {
        key: tuple(
            Candidate(entity_id=one, types=entities[one].types, name=entities[one].name, via=found[key][one])
            for one in sorted(found[key])
            if one in entities
        )
        for key in sorted(found)
        if entities.keys() & found[key].keys()
    }
