"""Documents, assertions and entities of the corpus, and what a reader may know of them at a moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Span = tuple[str, int, int]
"""Document id and half-open offsets in its text."""


@dataclass(kw_only=True)
class Document:
    """One citable document. Days are ISO dates; `valid_to` is the first day no longer in force."""

    id: str
    kind: str
    title: str
    text: str
    labels: tuple[str, ...]
    node: str | None = None
    lang: str = "en"
    at: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None

    def row(self) -> dict[str, Any]:
        """The row of docs.jsonl."""
        values = {
            "doc_id": self.id,
            "title": self.title,
            "text": self.text,
            "labels": list(self.labels),
            "kind": self.kind,
            "node": self.node,
            "lang": self.lang,
            "valid_from": self.valid_from,
            "valid_to": self.valid_to,
            "source_timestamp": self.at,
        }
        return {key: value for key, value in values.items() if value is not None}


@dataclass(kw_only=True)
class Assertion:
    """One statement. `supports`: alternatives of spans that prove it together."""

    id: str
    s: str
    r: str
    o: str
    start: str | None
    end: str | None
    supports: tuple[tuple[Span, ...], ...]
    review: str

    def row(self) -> dict[str, Any]:
        """The row of edges.jsonl."""
        row: dict[str, Any] = {"edge_id": self.id, "s": self.s, "r": self.r, "o": self.o}
        row |= {"valid_from": self.start} if self.start else {}
        row |= {"valid_to": self.end} if self.end else {}
        if len(self.supports) == 1 and len(self.supports[0]) == 1:
            source, low, high = self.supports[0][0]
            row |= {"source_id": source, "source_span": [low, high]}
        else:
            row["supports"] = [
                [{"source": source, "span": [low, high]} for source, low, high in group] for group in self.supports
            ]
        return row | {"extraction_version": "records-v1", "review_status": self.review}


@dataclass(kw_only=True)
class Entity:
    """An entity with its names, the first of which is shown, and its record's fields for the filters of gold queries."""

    id: str
    type: str
    names: tuple[str, ...]
    fields: dict[str, str] = field(default_factory=dict)


class World:
    """Everything there is, with checks as it is filled."""

    def __init__(self, max_age_days: Mapping[str, int], today: str) -> None:
        self.documents: dict[str, Document] = {}
        self.assertions: dict[str, Assertion] = {}
        self.entities: dict[str, Entity] = {}
        self.max_age_days = max_age_days
        self.today = today

    def document(self, document: Document) -> Document:
        """Adds a document."""
        assert document.id not in self.documents, document.id
        assert document.labels, document.id
        self.documents[document.id] = document
        return document

    def entity(self, kind: str, local: str, *names: str | None, **fields: str) -> Entity:
        """Adds an entity `kind:local`."""
        entity = Entity(
            id=f"{kind}:{local}", type=kind, names=tuple(dict.fromkeys(n for n in names if n)), fields=fields
        )
        assert entity.id not in self.entities, entity.id
        self.entities[entity.id] = entity
        return entity

    def span(self, document_id: str, words: str) -> Span:
        """Where the words first stand in the document."""
        at = self.documents[document_id].text.find(words)
        assert at >= 0, (document_id, words)
        return (document_id, at, at + len(words))

    def fact(
        self,
        s: str,
        r: str,
        o: str,
        *supports: Sequence[tuple[str, str]],
        start: str | None = None,
        end: str | None = None,
        tag: str = "",
        review: str = "source-verified",
    ) -> Assertion:
        """Adds an assertion; each support is a list of (document, words that state it) that prove it together."""
        assert s in self.entities, s
        assert o in self.entities, o
        assert supports, (s, r, o)
        parts = [r, s.partition(":")[2], o.partition(":")[2], *([start] if start else []), *([tag] if tag else [])]
        assertion = Assertion(
            id=":".join(parts),
            s=s,
            r=r,
            o=o,
            start=start,
            end=end,
            supports=tuple(tuple(self.span(*member) for member in group) for group in supports),
            review=review,
        )
        assert assertion.id not in self.assertions, assertion.id
        self.assertions[assertion.id] = assertion
        return assertion

    # What a reader may know

    def readable(self, document_id: str, labels: Iterable[str]) -> bool:
        """True if the reader holds a label of the document."""
        return not set(labels).isdisjoint(self.documents[document_id].labels)

    def proofs(self, assertion: Assertion, labels: Iterable[str]) -> list[tuple[Span, ...]]:
        """The support sets that are wholly readable."""
        held = set(labels)
        return [group for group in assertion.supports if all(self.readable(source, held) for source, _, _ in group)]

    def display(self, entity_id: str) -> str:
        """The name shown for an entity."""
        return self.entities[entity_id].names[0]
