"""Catalog port: sources, passages, names, attributes, supports, snapshots and the ontology in force."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from graphroute.types.graph import Attribute, AttributeFilter, Entity, Support
from graphroute.types.ontology import Ontology
from graphroute.types.query import Candidate
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source
from graphroute.types.time import ANY_TIME, Instant, TimeFilter
from graphroute.types.view import View


class Catalog(Protocol):
    """Everything about sources and entities that is not a traversal. All reads are scoped by a `View`."""

    def view(self, *, reader: Reader, sequence: int | None = None) -> View:
        """The reader's world at a snapshot (the published one if None). Raises SnapshotError if it is gone."""
        ...

    def settings(self) -> Mapping[str, str]:
        """Dataset name, `as_of` day, embedder, default labels: the operator's configuration kept in the store."""
        ...

    def ontology(self) -> Ontology:
        """The ontology the store was ingested with."""
        ...

    def sources(self, ids: Iterable[str], *, view: View) -> Mapping[str, Source]:
        """Readable sources by external id; hidden and absent ones are left out alike."""
        ...

    def passages(self, ids: Iterable[str], *, view: View) -> Mapping[str, Passage]:
        """Readable passages by id."""
        ...

    def passages_of(self, source_ids: Iterable[str], *, view: View) -> Sequence[Passage]:
        """Readable passages of sources, in source then start order."""
        ...

    def aliases(self, keys: Iterable[str], *, view: View) -> Mapping[str, tuple[Candidate, ...]]:
        """Entities by folded alias (`graphroute.text.alias_key`), in id order; names by their own supports."""
        ...

    def entities(self, ids: Iterable[str], *, view: View) -> Mapping[str, Entity]:
        """Readable entities with their display form for this reader."""
        ...

    def attributes(
        self,
        entity_ids: Iterable[str],
        keys: Iterable[str] | None = None,
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
    ) -> Sequence[Attribute]:
        """Readable attributes, tested on the validity of their source, in (entity, key, newest first) order."""
        ...

    def attribute_values(self, keys: Iterable[str], *, view: View) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """For each folded value found: the (entity type, attribute key) pairs that have it, for enumerated attributes."""
        ...

    def entities_where(
        self,
        types: Sequence[str],
        filters: Sequence[AttributeFilter],
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
    ) -> tuple[str, ...]:
        """Ids of readable entities of the types that pass all filters, in id order."""
        ...

    def count_where(
        self,
        types: Sequence[str],
        filters: Sequence[AttributeFilter],
        *,
        view: View,
        time: TimeFilter = ANY_TIME,
    ) -> int:
        """How many entities `entities_where` finds."""
        ...

    def supports(self, assertion_ids: Iterable[str], *, view: View) -> Mapping[str, tuple[Support, ...]]:
        """For each assertion the spans of its readable support sets: sets newest first, members of a set together."""
        ...

    def facts_of_sources(self, source_ids: Iterable[str], *, view: View) -> Mapping[str, tuple[str, ...]]:
        """For each source the ids of the readable assertions it supports, in id order."""
        ...

    def source_ids_of(self, entity_ids: Iterable[str], *, view: View) -> Mapping[str, tuple[str, ...]]:
        """For each entity the readable sources attached to it: its own record or prose, then sources of its facts."""
        ...

    def counts(self, *, view: View) -> Mapping[str, int]:
        """Readable sources, passages, entities and assertions."""
        ...

    def data_span(self, *, view: View) -> tuple[Instant | None, Instant | None]:
        """Earliest and latest instant named by readable sources and facts."""
        ...
