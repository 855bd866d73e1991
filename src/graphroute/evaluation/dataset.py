"""A dataset as scoring sees it: labels of documents, ends and supports of edges, readers; read from its own files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphroute.errors import DataError
from graphroute.evaluation.json_lines import read_rows
from graphroute.evaluation.question_set import Question
from graphroute.strict_yaml import read_strict
from graphroute.types.reader import Reader

PUBLIC = "public"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One assertion. `supports`: alternatives of document sets; a set proves the edge when all its members are readable."""

    subject: str
    object: str
    supports: tuple[frozenset[str], ...]

    @property
    def documents(self) -> frozenset[str]:
        """All documents that state the edge, alone or with others."""
        return frozenset().union(*self.supports)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """`labels`: document id to labels; `readers`: reader id, or `prefix*`, to labels; `names`: entity id to names."""

    name: str
    labels: Mapping[str, frozenset[str]]
    edges: Mapping[str, Edge]
    readers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    default_labels: tuple[str, ...] = ()
    as_of: str | None = None
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def reader(self, question: Question) -> Reader:
        """The reader who asks: by exact id, else by the longest `prefix*`, else one without labels.

        A question that names no reader is asked by `public` if the dataset has one, else with the default labels.
        """
        wanted = question.reader_id
        if wanted is None:
            return Reader(PUBLIC, self.readers.get(PUBLIC, self.default_labels))
        if wanted in self.readers:
            return Reader(wanted, self.readers[wanted])
        patterns = [name for name in self.readers if name.endswith("*") and wanted.startswith(name[:-1])]
        if not patterns:
            return Reader(wanted, ())
        held = self.readers[max(patterns, key=len)]
        return Reader(wanted, [label.replace("<reader>", wanted) for label in held])

    def day(self, question: Question) -> str | None:
        """The day the question is asked."""
        return question.asked_on or self.as_of

    def readable(self, document: str, labels: frozenset[str]) -> bool:
        """True if the document exists and any of its labels is held."""
        return not labels.isdisjoint(self.labels.get(document, frozenset()))

    def proven(self, edge: Edge, labels: frozenset[str]) -> bool:
        """True if one support set of the edge is wholly readable."""
        return any(members and all(self.readable(member, labels) for member in members) for members in edge.supports)

    def needs_path(self, question: Question) -> bool:
        """True if the question requires edges that the dataset holds; edges known to an oracle only cannot be required."""
        return question.answerable and any(edge in self.edges for edge in question.required_edges)


def load_dataset(directory: Path) -> Dataset:
    """Reads dataset.yaml, docs*, edges* (never edges.gold*) and entities*. Raises DataError or ConfigurationError.

    A directory of nodes.jsonl and rels.jsonl is a property graph: each node and relationship is the document that proves it.
    """
    if not directory.is_dir():
        raise DataError("no such directory", where=str(directory))
    settings = _settings(directory)
    if any(_rows(directory, "rels")):
        return _property_graph(directory, settings)
    default = frozenset(settings["default_labels"])
    labels: dict[str, frozenset[str]] = {}
    for where, row in _rows(directory, "docs"):
        document = _text(row, "doc_id", where)
        labels[document] = frozenset(row["labels"]) if isinstance(row.get("labels"), list) else default
    edges: dict[str, Edge] = {}
    for where, row in _rows(directory, "edges"):
        edge = Edge(subject=_text(row, "s", where), object=_text(row, "o", where), supports=_supports(row, where))
        edges[_text(row, "edge_id", where)] = edge
    names: dict[str, tuple[str, ...]] = {}
    for where, row in _rows(directory, "entities"):
        given = row.get("names") or ([row["name"]] if row.get("name") else [])
        names[_text(row, "id", where)] = tuple(str(name) for name in given)
    return Dataset(
        name=settings["name"] or directory.resolve().name,
        labels=labels,
        edges=edges,
        readers=settings["readers"],
        default_labels=settings["default_labels"],
        as_of=settings["as_of"],
        names=names,
    )


def _property_graph(directory: Path, settings: Mapping[str, Any]) -> Dataset:
    """Everything has the default labels, `public` where none are given; the reader `public` holds them."""
    default = frozenset(settings["default_labels"] or (PUBLIC,))
    labels = {_text(row, "id", where): default for where, row in _rows(directory, "nodes")}
    edges: dict[str, Edge] = {}
    for where, row in _rows(directory, "rels"):
        edge_id = _text(row, "id", where)
        ends = _text(row, "start", where), _text(row, "end", where)
        for end in ends:
            if end not in labels:
                raise DataError(f"relationship {edge_id!r} ends at {end!r}", where=where, allowed="the id of a node")
        edges[edge_id] = Edge(subject=ends[0], object=ends[1], supports=(frozenset({edge_id}),))
    labels.update(dict.fromkeys(edges, default))
    return Dataset(
        name=settings["name"] or directory.resolve().name,
        labels=labels,
        edges=edges,
        readers=settings["readers"] or {PUBLIC: tuple(sorted(default))},
        default_labels=tuple(sorted(default)),
        as_of=settings["as_of"],
    )


def _settings(directory: Path) -> dict[str, Any]:
    path = directory / "dataset.yaml"
    value = read_strict(path).value if path.exists() else {}
    if not isinstance(value, dict):
        raise DataError(f"a {type(value).__name__}", where=str(path), allowed="keys and values")
    readers = value.get("readers") or {}
    as_of = value.get("as_of")
    return {
        "name": value.get("name"),
        "default_labels": tuple(value.get("default_labels") or ()),
        "readers": {str(name): tuple(held or ()) for name, held in readers.items()},
        "as_of": str(as_of) if as_of is not None else None,
    }


def _rows(directory: Path, stem: str) -> Iterable[tuple[str, dict[str, Any]]]:
    for path in sorted(directory.glob(f"{stem}*")):
        if path.name.endswith((".jsonl", ".jsonl.gz")) and not path.name.startswith("edges.gold"):
            yield from read_rows(path)


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value:
        raise DataError(f"{key} is {value!r}", where=where, allowed="a non-empty string")
    return value


def _supports(row: Mapping[str, Any], where: str) -> tuple[frozenset[str], ...]:
    """`supports` ([[ids that prove it together], ...]), else `src` (each proves it alone), else `source_id`."""
    if isinstance(row.get("supports"), list):
        return tuple(_members(entry, where) for entry in row["supports"])
    if isinstance(row.get("src"), list):
        return tuple(_members(entry, where) for entry in row["src"])
    return (frozenset({_text(row, "source_id", where)}),)


def _members(entry: Any, where: str) -> frozenset[str]:
    if isinstance(entry, str):
        return frozenset({entry})
    if isinstance(entry, Mapping):
        return frozenset({_text(entry, "source" if "source" in entry else "source_id", where)})
    if isinstance(entry, list):
        return frozenset().union(*(_members(member, where) for member in entry))
    raise DataError(f"support {entry!r}", where=where, allowed="a document id or a list of them")
