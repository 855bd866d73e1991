"""Reads a whole dataset once before anything is written: checks between rows, and what the rows say of entities."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from graphroute.errors import DataError
from graphroute.indexing.dataset import BadRow, Dataset, OnBad
from graphroute.indexing.jsonl import Place
from graphroute.types.graph import Assertion
from graphroute.types.ontology import Ontology
from graphroute.types.source import Source


@dataclass(slots=True)
class EntityNotes:
    """What the rows say of one entity: types and names of entities files."""

    rows: set[tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=set)

    @property
    def types(self) -> tuple[str, ...]:
        """Types of all rows, whatever order the rows came in."""
        return tuple(dict.fromkeys(name for types, _ in sorted(self.rows) for name in types))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all rows, whatever order the rows came in."""
        return tuple(dict.fromkeys(name for _, names in sorted(self.rows) for name in names))


@dataclass(slots=True)
class Survey:
    """Result of `survey_dataset`.

    `lengths`: code points of each document's text; `labels`: who may read it. `subjects`: for each source the one subject of
    all facts that it supports for each of its readers, None if there are several. `hidden`: documents without usable labels, by reason. `left_out`: rows that must not
    be written.
    """

    documents: int = 0
    edges: int = 0
    lengths: dict[str, int] = field(default_factory=dict)
    labels: dict[str, frozenset[str]] = field(default_factory=dict)
    subjects: dict[str, str | None] = field(default_factory=dict)
    entities: dict[str, EntityNotes] = field(default_factory=dict)
    hidden: Counter[str] = field(default_factory=Counter)
    left_out: set[Place] = field(default_factory=set)

    def entity(self, entity_id: str) -> EntityNotes:
        """The notes of an entity, made if need be."""
        notes = self.entities.get(entity_id)
        if notes is None:
            notes = self.entities[entity_id] = EntityNotes()
        return notes


def survey_dataset(
    dataset: Dataset,
    *,
    on_bad: OnBad | None = None,
    stored_length: Callable[[str], int | None] = lambda source_id: None,
    on_document: Callable[[Source], None] = lambda source: None,
    on_edge: Callable[[Assertion], None] = lambda assertion: None,
    on_row: Callable[[], None] = lambda: None,
) -> Survey:
    """Checks every row of a dataset, alone and against the others.

    An id given twice must come with the same content; a support must name a document of the dataset or one for which
    `stored_length` knows the length of its text; a span must lie in the text. Raises DataError with file and line, or
    hands the row to `on_bad`; of an id given twice with different content all rows are bad, so that their order is without
    effect. `on_document` and `on_edge` see each good row once, `on_row` is called for every row.
    """
    survey = Survey()

    def refuse(place: Place, message: str, allowed: str, hint: str | None = None) -> None:
        error = DataError(message, where=str(place), allowed=allowed, hint=hint)
        if on_bad is None:
            raise error
        if place not in survey.left_out:
            survey.left_out.add(place)
            on_bad(BadRow(place, error, b""))

    def unique(key: str, row_id: str, digest: bytes, place: Place, seen: dict[str, tuple[bytes, Place]]) -> bool:
        first = seen.setdefault(row_id, (digest, place))
        if first[1] == place:
            return True
        if first[0] != digest:
            message = f"{key} {row_id!r} is given twice with different content"
            allowed = "one row an id, or rows that are alike"
            refuse(place, f"{message} (first at {first[1]})", allowed)
            refuse(first[1], f"{message} (again at {place})", allowed)
        else:
            survey.left_out.add(place)
        return False

    label_sets: dict[frozenset[str], frozenset[str]] = {}
    seen: dict[str, tuple[bytes, Place]] = {}
    for document in dataset.documents(on_bad=on_bad):
        on_row()
        source = document.source
        if unique("doc_id", source.id, _source_digest(source), document.place, seen):
            survey.lengths[source.id] = len(source.text)
            survey.labels[source.id] = label_sets.setdefault(source.labels, source.labels)
            if document.label_problem:
                survey.hidden[document.label_problem] += 1
            if source.node is not None:
                survey.entity(source.node)
            on_document(source)
    survey.documents = len(seen)
    for source_id, (_, place) in seen.items():
        if place in survey.left_out:
            del survey.lengths[source_id]
            survey.documents -= 1

    seen = {}
    for edge in dataset.edges(on_bad=on_bad):
        on_row()
        assertion = edge.assertion
        problem = _support_problem(assertion, survey.lengths, stored_length)
        if problem:
            refuse(edge.place, *problem)
        elif not edge.named:
            # Rows of equal content share derived ids; a row is left out only where all of it was seen before.
            fresh = [part for part in edge.assertions if part.id not in seen]
            if not fresh:
                survey.left_out.add(edge.place)
            for part in fresh:
                seen[part.id] = (assertion_digest(part), edge.place)
                _note(survey, part)
                on_edge(part)
        elif unique("edge_id", assertion.id, assertion_digest(assertion), edge.place, seen):
            _note(survey, assertion)
            on_edge(assertion)
    survey.edges = sum(place not in survey.left_out for _, place in seen.values())

    for row in dataset.entities(on_bad=on_bad):
        on_row()
        survey.entity(row.id).rows.add((row.types, row.names))
    return survey


class TypeFinder:
    """Finds the types stated of an entity: those its rows give, else by id prefix.

    Types that records or facts tell are not for all readers; the store finds those. Only types that the ontology declares
    are kept; `unknown` counts the others.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        self._prefixes: dict[str, str] = {}
        for name in sorted(ontology.types, reverse=True):
            self._prefixes[ontology.types[name].prefix or name] = name
        self._odd = sorted(
            (prefix for prefix in self._prefixes if prefix[-1] in ":/#-_."), key=lambda prefix: (-len(prefix), prefix)
        )
        self.unknown: Counter[str] = Counter()

    def of(self, entity_id: str, notes: EntityNotes | None = None) -> tuple[str, ...]:
        """The types stated of an entity; () if nothing states them."""
        if notes is not None and notes.rows:
            declared = []
            for name in notes.types:
                if name in self._ontology.types:
                    declared.append(name)
                else:
                    self.unknown[name] += 1
            if declared:
                return tuple(declared)
        by_prefix = self.by_prefix(entity_id)
        return (by_prefix,) if by_prefix else ()

    def by_prefix(self, entity_id: str) -> str | None:
        """The type whose id prefix the id carries."""
        for mark in (":", "/"):
            head, found, rest = entity_id.partition(mark)
            if found and rest and head in self._prefixes:
                return self._prefixes[head]
        return next((self._prefixes[prefix] for prefix in self._odd if entity_id.startswith(prefix)), None)


def assertion_digest(assertion: Assertion) -> bytes:
    """A digest of all an assertion says."""
    return _digest(
        [
            assertion.subject,
            assertion.predicate,
            assertion.object,
            assertion.validity.start,
            assertion.validity.end,
            [[(span.source_id, span.start, span.end) for span in group] for group in assertion.supports],
            sorted(assertion.attributes.items()),
            assertion.extraction_version,
            assertion.review_status,
        ]
    )


def _source_digest(source: Source) -> bytes:
    return _digest(
        [
            source.title,
            source.text,
            sorted(source.labels),
            source.parent,
            source.kind,
            source.node,
            source.lang,
            source.validity.start,
            source.validity.end,
            source.timestamp,
            source.origin,
            sorted(source.extra.items()),
        ]
    )


def _digest(content: Iterable[object]) -> bytes:
    return hashlib.blake2b(json.dumps(list(content)).encode(), digest_size=16).digest()


def _note(survey: Survey, assertion: Assertion) -> None:
    survey.entity(assertion.subject)
    survey.entity(assertion.object)
    for group in assertion.supports:
        members = {span.source_id: survey.labels.get(span.source_id, frozenset()) for span in group}
        for source_id in members:
            # A fact that some readers of the source cannot see must not decide what they see the source as.
            if (
                _for_all(source_id, members)
                and survey.subjects.setdefault(source_id, assertion.subject) != assertion.subject
            ):
                survey.subjects[source_id] = None


def _for_all(source_id: str, members: Mapping[str, frozenset[str]]) -> bool:
    """True if every reader of the source may read all members of the support set."""
    labels = members[source_id]
    return len(members) == 1 or (bool(labels) and all(labels <= other for other in members.values()))


def _support_problem(
    assertion: Assertion, lengths: dict[str, int], stored_length: Callable[[str], int | None]
) -> tuple[str, str, str | None] | None:
    for group in assertion.supports:
        for span in group:
            length = lengths.get(span.source_id)
            if length is None:
                length = stored_length(span.source_id)
            if length is None:
                return (
                    f"edge {assertion.id!r} names source {span.source_id!r}, which is no document",
                    "the doc_id of a document of this directory or of the store",
                    "add the document, or leave the row out with --skip-bad",
                )
            if span.end is not None and span.end > length:
                return (
                    f"edge {assertion.id!r} has span [{span.start}, {span.end}) in source {span.source_id!r}",
                    f"a span in its {length} characters",
                    "count Unicode code points, not bytes or UTF-16 units",
                )
    return None
