"""Catalog on Neo4j: rows of a store's copy on a server, put together as the embedded catalog does."""

from __future__ import annotations

import json
import time as clock
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from graphroute.errors import BackendUnavailableError, DataError
from graphroute.stores.catalog.rows import ENUMERATED, EntityRows, Row, RowCatalog
from graphroute.stores.neo4j import queries
from graphroute.stores.neo4j.connection import Neo4jConnection
from graphroute.stores.neo4j.facts import lookup_form
from graphroute.stores.neo4j.reading import StoreCheck, Values, ask, ask_long, bounds, scoped, tests
from graphroute.types.graph import AttributeFilter
from graphroute.types.ontology import Ontology
from graphroute.types.reader import Reader
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, Instant, TimeFilter
from graphroute.types.view import View

_KEPT_MARKS: Final = 1_000
_KEPT_QUESTIONS: Final = 8
_KEPT_SECONDS: Final = 2.0
"""About what a question takes; whoever holds a view for longer does not outlive an erasure."""


@dataclass(slots=True)
class _Read:
    """What one question has read so far, by id; an id without rows is known too."""

    view: View
    until: float
    passages: dict[str, list[Row]] = field(default_factory=dict)
    entities: dict[str, tuple[list[Row], list[Row], list[Row], list[Row]]] = field(default_factory=dict)


class Neo4jCatalog(RowCatalog):
    """The catalog port over a store's copy on a server. Safe to share between threads.

    Settings change with the published snapshot only, so they are kept until a read says that it moved.
    """

    def __init__(self, connection: Neo4jConnection) -> None:
        super().__init__()
        self._connection = connection
        self._settings: tuple[int, Mapping[str, str]] | None = None
        self._marks: dict[int, tuple[int | None, str]] = {}
        self._store_id = ""
        self._read: OrderedDict[int, _Read] = OrderedDict()

    # Snapshots and settings -------------------------------------------------------------------------------------------

    def _snapshot(self, sequence: int | None) -> tuple[int, bool]:
        rows = ask(self._connection, queries.SNAPSHOT, {"sequence": -1 if sequence is None else max(sequence, -2)})
        if not rows:
            raise self._empty()
        if not rows[0][0]:
            # Answers out of half a copy would say that there is nothing.
            raise BackendUnavailableError(
                "the copy of the store is not complete",
                where=self._connection.settings.uri,
                hint="wait for the copy that is under way, or run graphroute ingest or replicate again",
            )
        self._same(int(rows[0][0]) if sequence is None else sequence, (rows[0][2], rows[0][3]))
        return int(rows[0][0]), bool(rows[0][1]) and (sequence is None or sequence >= 0)

    def _store(self) -> str:
        return self._store_id

    def view(self, *, reader: Reader, sequence: int | None = None) -> View:
        """See `Catalog.view`."""
        view = super().view(reader=reader, sequence=sequence)
        StoreCheck(self._connection).passed(view)
        return view

    def _same(self, sequence: int, mark: tuple[int | None, str]) -> None:
        """Drop what was kept if a snapshot's number now names another one: the store was built again, and so were its scopes."""
        with self._lock:
            self._store_id = mark[1]
            if self._marks.setdefault(sequence, mark) != mark:
                self._views.clear()
                self._memos.clear()
                self._settings = None
                self._marks = {sequence: mark}
            while len(self._marks) > _KEPT_MARKS:
                del self._marks[min(self._marks)]

    def _digests(self, sequence: int) -> Iterable[tuple[int, str, bytes]]:
        rows = ask(self._connection, queries.DIGESTS, {"sequence": sequence})
        return [(row[0], row[1], bytes(row[2])) for row in rows]

    def _setting_rows(self) -> Iterable[tuple[str, str]]:
        return self._read_settings().items()

    def _setting(self, key: str) -> str | None:
        return self._read_settings().get(key)

    def _read_settings(self) -> Mapping[str, str]:
        rows = ask(self._connection, queries.SETTINGS, {})
        if not rows:
            raise self._empty()
        kept = json.loads(rows[0][0])
        values: dict[str, str] = kept.get("values", {})
        self._settings = (kept.get("sequence", 0), values)
        return values

    def _seen(self, published: int) -> None:
        """A read says which snapshot is published."""
        known = self._settings
        if known is None or known[0] != published:
            self._read_settings()

    def _ontology_of_rows(self) -> Ontology:
        known = self._settings
        return self.ontology() if known is None else self._read_ontology(known[1].get("_ontology"))

    def _empty(self) -> DataError:
        return DataError(
            "the database holds no store", where=self._connection.settings.uri, hint="run: graphroute ingest"
        )

    # Sources and passages -----------------------------------------------------------------------------------------------

    def _source_rows(self, ids: Sequence[str], view: View) -> Iterable[Row]:
        return ask(self._connection, queries.SOURCES, {**scoped(view), "ids": list(ids)})

    def _passage_rows(self, ids: Sequence[str], view: View) -> Iterable[Row]:
        known = self._of(view).passages
        missing = [one for one in ids if one not in known]
        if missing:
            rows = ask(self._connection, queries.PASSAGES, {**scoped(view), "ids": missing})
            known |= _by_id(missing, rows)
        return [row for one in ids for row in known[one]]

    def _passage_rows_of(self, source_ids: Sequence[str], view: View) -> Iterable[Row]:
        return ask(self._connection, queries.PASSAGES_OF_SOURCES, {**scoped(view), "ids": list(source_ids)})

    # Entities -----------------------------------------------------------------------------------------------------------

    def _alias_rows(self, keys: Sequence[str], view: View) -> Iterable[Row]:
        wanted = frozenset(keys)
        values: Values = {**scoped(view), "keys": sorted({lookup_form(key) for key in keys})}
        return [row for row in ask(self._connection, queries.ALIASES, values) if row[0] in wanted]

    def _entity_rows(self, ids: Sequence[str], view: View) -> EntityRows:
        known = self._of(view).entities
        missing = [one for one in ids if one not in known]
        if missing:
            rows = ask(self._connection, queries.ENTITIES, {**scoped(view), "ids": missing})
            if not rows:
                raise self._empty()
            self._seen(rows[0][0])
            parts = [_by_id(missing, part) for part in rows[0][1:]]
            known |= {one: (parts[0][one], parts[1][one], parts[2][one], parts[3][one]) for one in missing}
        found = [known[one] for one in ids]
        visible, said, told, stated = ([row for rows in found for row in rows[part]] for part in range(4))
        return EntityRows(visible=visible, said=said, told=told, stated=stated)

    def _of(self, view: View) -> _Read:
        """What the question that this view was made for has read. A view is made once for each question."""
        now = clock.monotonic()
        with self._lock:
            for key in [key for key, kept in self._read.items() if now > kept.until]:
                del self._read[key]
            read = self._read.get(id(view))
            if read is None or read.view is not view:
                read = self._read[id(view)] = _Read(view, now + _KEPT_SECONDS)
                while len(self._read) > _KEPT_QUESTIONS:
                    self._read.popitem(last=False)
            return read

    def _attribute_rows(
        self, entity_ids: Sequence[str], keys: Sequence[str] | None, time: TimeFilter, view: View
    ) -> Iterable[Row]:
        values: Values = {
            **scoped(view),
            **bounds(time, "value_"),
            "ids": list(entity_ids),
            "narrowed": keys is not None,
            "keys": list(keys or ()),
        }
        return ask(self._connection, queries.ATTRIBUTES, values)

    def _value_rows(self, values: Sequence[str], view: View) -> Iterable[tuple[str, str, str]]:
        wanted = frozenset(values)
        given: Values = {**scoped(view), "keys": sorted({lookup_form(value) for value in values})}
        rows = ask(self._connection, queries.ATTRIBUTE_VALUES, given)
        if not rows:
            raise self._empty()
        self._seen(rows[0][0])
        return [(folded, type_, key) for folded, type_, key in rows[0][1] if folded in wanted]

    def _distinct_values(self, type_: str, key: str, view: View) -> int:
        values: Values = {**scoped(view), "type": type_, "key": key, "limit": ENUMERATED + 1}
        return int(ask(self._connection, queries.DISTINCT_VALUES, values)[0][0])

    def _where_rows(
        self, types: Sequence[str], filters: Sequence[AttributeFilter], time: TimeFilter, view: View
    ) -> Iterable[str]:
        return [row[0] for row in ask(self._connection, queries.ENTITIES_WHERE, _where(types, filters, time, view))]

    def _where_count(
        self, types: Sequence[str], filters: Sequence[AttributeFilter], time: TimeFilter, view: View
    ) -> int:
        return int(ask(self._connection, queries.COUNT_WHERE, _where(types, filters, time, view))[0][0])

    # Supports -----------------------------------------------------------------------------------------------------------

    def _support_rows(self, assertion_ids: Sequence[str], view: View) -> Iterable[Row]:
        return ask(self._connection, queries.SUPPORTS, {**scoped(view), "ids": list(assertion_ids)})

    def _supported_rows(self, source_ids: Sequence[str], view: View) -> Iterable[tuple[str, str]]:
        rows = ask(self._connection, queries.ASSERTIONS_OF_SOURCES, {**scoped(view), "ids": list(source_ids)})
        return [(row[0], row[1]) for row in rows]

    def _attached_rows(self, entity_ids: Sequence[str], view: View) -> tuple[Iterable[Row], Iterable[Row]]:
        values: Values = {**scoped(view), "ids": list(entity_ids)}
        own, proving = ask(self._connection, queries.SOURCES_OF_ENTITIES, values)[0]
        return own, proving

    # What there is --------------------------------------------------------------------------------------------------------

    def _counts(self, view: View) -> Mapping[str, int]:
        row = ask_long(self._connection, queries.COUNTS, scoped(view))[0]
        return dict(zip(("sources", "passages", "entities", "assertions"), row, strict=True))

    def _span(self, view: View) -> tuple[Instant | None, Instant | None]:
        values: Values = {**scoped(view), "unknown_start": MIN_INSTANT, "open_end": MAX_INSTANT}
        row = ask_long(self._connection, queries.DATA_SPAN, values)[0]
        instants = [instant for instant in row if instant is not None]
        return (min(instants), max(instants)) if instants else (None, None)


def _by_id(ids: Iterable[str], rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by the id that they start with."""
    found: dict[str, list[Row]] = {one: [] for one in ids}
    for row in rows:
        found[row[0]].append(row)
    return found


def _where(types: Sequence[str], filters: Sequence[AttributeFilter], time: TimeFilter, view: View) -> Values:
    return {**scoped(view), **bounds(time, "value_"), "types": list(types), "filters": tests(filters)}
