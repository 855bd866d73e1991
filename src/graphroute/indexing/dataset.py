"""Reads a dataset directory row by row: documents, edges, entities and dataset.yaml, every row checked."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from graphroute.errors import ConfigurationError, DataError
from graphroute.indexing.jsonl import Line, Place, RowError, json_type, parse_row, read_lines
from graphroute.strict_yaml import Document as YamlDocument
from graphroute.strict_yaml import nearest, read_strict
from graphroute.text.dates import MOMENT_FORMS, parse_moment
from graphroute.types.graph import Assertion, SupportSet
from graphroute.types.source import Source, SourceSpan
from graphroute.types.time import Instant, Interval

FIRST_LINES = 20
"""Problems in a file's first lines are reported together; after them the first problem ends the reading."""

MAX_ID_CHARACTERS = 1024
_DATASET_KEYS = ("name", "licence", "default_labels", "readers", "as_of")
_FILE = re.compile(r"(?P<kind>docs|edges|entities).*\.jsonl(?:\.gz)?")
_DOCUMENT_FIELDS = frozenset(
    {
        "doc_id",
        "source_id",
        "title",
        "text",
        "labels",
        "valid_from",
        "valid_to",
        "source_timestamp",
        "origin",
        "kind",
        "table",
        "node",
        "lang",
    }
)
_EDGE_FIELDS = frozenset(
    {
        "edge_id",
        "s",
        "r",
        "o",
        "valid_from",
        "valid_to",
        "source_id",
        "source_span",
        "src",
        "span",
        "supports",
        "extraction_version",
        "review_status",
    }
)
_ENTITY_FIELDS = frozenset({"id", "type", "types", "name", "names"})


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as a source. `label_problem` says why it is stored hidden, if it is."""

    place: Place
    source: Source
    label_problem: str | None = None


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """An edge as an assertion. `named`: the row gives its id; else the id is derived from its content."""

    place: Place
    assertion: Assertion
    named: bool = True

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        """What is stored. Without an id of its own a row becomes one assertion for each support set.

        A derived id then says nothing about sources that a reader of the assertion may not read.
        """
        sets = self.assertion.supports
        if self.named or len(sets) <= 1:
            return (self.assertion,)
        parts = (replace(self.assertion, supports=(group,)) for group in sets)
        return tuple(replace(part, id=_derived_id(part)) for part in parts)


@dataclass(frozen=True, slots=True)
class EntityRow:
    """Types and names of an entity."""

    place: Place
    id: str
    types: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that was left out, and why."""

    place: Place
    error: DataError
    raw: bytes


OnBad = Callable[[BadRow], None]
"""Called for each bad row instead of raising; the row is left out."""

_Row = TypeVar("_Row", DocumentRow, EdgeRow, EntityRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A dataset directory. The rows are read anew, in file order, at each call; nothing is written to it.

    `default_labels`: labels of a document that names none; empty: such documents are hidden. `readers`: reader id
    (`user:*` for a prefix) to labels. `ignored` counts fields with lists or objects that nothing reads, as rows are read.
    """

    path: Path
    name: str
    licence: str = ""
    default_labels: tuple[str, ...] = ()
    readers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    as_of: Instant | None = None
    document_files: tuple[Path, ...] = ()
    edge_files: tuple[Path, ...] = ()
    entity_files: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()
    ignored: Counter[str] = field(default_factory=Counter)

    def documents(self, *, on_bad: OnBad | None = None) -> Iterator[DocumentRow]:
        """All documents. Raises DataError with file and line, unless `on_bad` takes the row."""
        return self._rows(self.document_files, self._document, on_bad)

    def edges(self, *, on_bad: OnBad | None = None) -> Iterator[EdgeRow]:
        """All edges. Raises DataError with file and line, unless `on_bad` takes the row."""
        return self._rows(self.edge_files, self._edge, on_bad)

    def entities(self, *, on_bad: OnBad | None = None) -> Iterator[EntityRow]:
        """All rows of entities files. Raises DataError with file and line, unless `on_bad` takes the row."""
        return self._rows(self.entity_files, self._entity, on_bad)

    def _rows(
        self, files: Iterable[Path], convert: Callable[[Place, dict[str, Any]], _Row], on_bad: OnBad | None
    ) -> Iterator[_Row]:
        for path in files:
            first: list[_Row] | None = []
            problems: list[DataError] = []
            for line in read_lines(path):
                if first is not None and line.place.line > FIRST_LINES:
                    _raise_all(problems)
                    yield from first
                    first = None
                try:
                    row = _convert(line, convert)
                except RowError as error:
                    bad = DataError(error.found, where=str(line.place), allowed=error.allowed, hint=error.hint)
                    if on_bad is not None:
                        on_bad(BadRow(line.place, bad, line.raw))
                    elif first is None:
                        raise bad from None
                    else:
                        problems.append(bad)
                    continue
                if first is None:
                    yield row
                else:
                    first.append(row)
            if first is not None:
                _raise_all(problems)
                yield from first

    def _document(self, place: Place, row: dict[str, Any]) -> DocumentRow:
        doc_id = _id(row, "doc_id")
        parent = _optional_id(row, "source_id")
        labels, problem = self._labels(row)
        kind, table = _text(row, "kind"), _text(row, "table")
        extra = self._scalars(row, _DOCUMENT_FIELDS)
        if table and kind:
            extra["kind"] = kind
        text = row.get("text")
        if not isinstance(text, str):
            raise RowError(
                "no text" if text is None else f"text is {json_type(text)}",
                allowed='a string (it may be empty: "")',
            )
        return DocumentRow(
            place,
            Source(
                id=doc_id,
                title=_text(row, "title") or "",
                text=text,
                labels=frozenset(labels),
                parent=None if parent == doc_id else parent,
                kind=table or kind or None,
                node=_optional_id(row, "node"),
                lang=_text(row, "lang") or None,
                validity=_interval(row),
                timestamp=_moment(row, "source_timestamp"),
                origin=_text(row, "origin") or None,
                extra=dict(sorted(extra.items())),
            ),
            problem,
        )

    def _labels(self, row: dict[str, Any]) -> tuple[tuple[str, ...], str | None]:
        if "labels" not in row:
            if self.default_labels:
                return self.default_labels, None
            return (), "no labels, and the dataset has no default labels"
        labels = row["labels"]
        if not isinstance(labels, list):
            return (), f"labels is {json_type(labels)}, not a list of strings"
        if not labels:
            return (), "labels is an empty list"
        for label in labels:
            if not isinstance(label, str):
                return (), f"labels holds {json_type(label)}, not strings only"
            if not label.strip():
                return (), "labels holds an empty string"
        return tuple(labels), None

    def _edge(self, place: Place, row: dict[str, Any]) -> EdgeRow:
        subject, predicate, object_ = _id(row, "s"), _id(row, "r"), _id(row, "o")
        validity = _interval(row)
        supports = _supports(row)
        attributes = dict(sorted(self._scalars(row, _EDGE_FIELDS).items()))
        version, review = _text(row, "extraction_version"), _text(row, "review_status")
        edge_id = _optional_id(row, "edge_id")
        assertion = Assertion(
            id=edge_id or "",
            subject=subject,
            predicate=predicate,
            object=object_,
            validity=validity,
            supports=supports,
            attributes=attributes,
            extraction_version=version or attributes.get("xv"),
            review_status=review or None,
        )
        if edge_id is None:
            assertion = replace(assertion, id=_derived_id(assertion))
        return EdgeRow(place=place, assertion=assertion, named=edge_id is not None)

    def _entity(self, place: Place, row: dict[str, Any]) -> EntityRow:
        types = _strings(row, "types") or _strings(row, "type")
        names = _strings(row, "names") or _strings(row, "name")
        for key, value in row.items():
            if key not in _ENTITY_FIELDS and value is not None:
                self.ignored[f"entities.{key}"] += 1
        return EntityRow(place, _id(row, "id"), types, names)

    def _scalars(self, row: dict[str, Any], known: frozenset[str]) -> dict[str, str]:
        kept: dict[str, str] = {}
        for key, value in row.items():
            if key in known or value is None:
                continue
            if isinstance(value, str):
                kept[key] = value
            elif isinstance(value, bool):
                kept[key] = "true" if value else "false"
            elif isinstance(value, int | float):
                kept[key] = str(value)
            else:
                self.ignored[key] += 1
        return kept


def read_dataset(path: str | Path, *, default_labels: Iterable[str] = ()) -> Dataset:
    """Opens a dataset directory: finds its files and reads dataset.yaml, not yet the rows.

    Files are `docs*`, `edges*` and `entities*`, `.jsonl` or `.jsonl.gz`; `edges.gold*` are oracles and never read.
    `default_labels`, if given, replace those of dataset.yaml. Raises DataError.
    """
    root = Path(path)
    if not root.is_dir():
        raise DataError(
            "is not a directory" if root.exists() else "no such directory",
            where=str(path),
            allowed="a directory with docs*.jsonl[.gz]",
        )
    files: dict[str, list[Path]] = {"docs": [], "edges": [], "entities": []}
    try:
        names = sorted(entry.name for entry in root.iterdir())
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=str(path)) from error
    for name in names:
        match = _FILE.fullmatch(name)
        if match and not name.startswith("edges.gold"):
            files[match["kind"]].append(root / name)
    if not files["docs"]:
        raise DataError(
            "no documents",
            where=str(path),
            allowed="docs*.jsonl or docs*.jsonl.gz",
            hint='write one document a line: {"doc_id": "...", "title": "...", "text": "...", "labels": ["..."]}',
        )
    meta, warnings = _read_meta(root / "dataset.yaml") if (root / "dataset.yaml").exists() else ({}, ())
    return Dataset(
        path=root,
        name=meta.get("name") or root.resolve().name,
        licence=meta.get("licence", ""),
        default_labels=tuple(dict.fromkeys(default_labels)) or meta.get("default_labels", ()),
        readers=meta.get("readers", {}),
        as_of=meta.get("as_of"),
        document_files=tuple(files["docs"]),
        edge_files=tuple(files["edges"]),
        entity_files=tuple(files["entities"]),
        warnings=warnings,
    )


def _convert(line: Line, convert: Callable[[Place, dict[str, Any]], _Row]) -> _Row:
    if line.problem is not None:
        raise line.problem
    return convert(line.place, parse_row(line.raw))


def _raise_all(problems: list[DataError]) -> None:
    if len(problems) == 1:
        raise problems[0]
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise DataError(f"{len(problems)} bad rows in the first {FIRST_LINES} lines:\n{listed}")


def _id(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if value is None:
        raise RowError(f"no {key}", allowed="a non-empty string")
    return check_id(value, key)


def _optional_id(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    return None if value is None else check_id(value, key)


def check_id(value: object, key: str) -> str:
    """`value` if it can be an id: a non-empty string without control characters. Raises RowError."""
    if not isinstance(value, str):
        raise RowError(f"{key} is {json_type(value)}", allowed="a non-empty string")
    if not value.strip():
        raise RowError(f"{key} is empty", allowed="a non-empty string")
    if len(value) > MAX_ID_CHARACTERS:
        raise RowError(f"{key} has {len(value)} characters", allowed=f"at most {MAX_ID_CHARACTERS}")
    if not value.isprintable() and any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in value):
        raise RowError(f"{key} {value[:80]!r} holds a control character", allowed="printable characters")
    return value


def _text(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise RowError(f"{key} is {json_type(value)}", allowed="a string")
    return value


def _strings(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = row.get(key)
    if value is None:
        return ()
    values = value if isinstance(value, list) else [value]
    for item in values:
        if not isinstance(item, str) or not item.strip():
            found = json_type(item) if not isinstance(item, str) else "an empty string"
            raise RowError(f"{key} holds {found}", allowed="non-empty strings")
    return tuple(dict.fromkeys(values))


def _moment(row: Mapping[str, Any], key: str) -> Instant | None:
    value = row.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise RowError(f"{key} is {json_type(value)}", allowed=MOMENT_FORMS)
    try:
        return parse_moment(value)
    except ValueError as error:
        raise RowError(f"{key}: {error}", allowed=MOMENT_FORMS) from None


def _interval(row: Mapping[str, Any]) -> Interval:
    start, end = _moment(row, "valid_from"), _moment(row, "valid_to")
    if start is not None and end is not None and end < start:
        raise RowError(
            f"valid_to {row['valid_to']} is before valid_from {row['valid_from']}",
            allowed="valid_to at or after valid_from (it is the first moment no longer in force)",
        )
    return Interval(start, end)


def _derived_id(assertion: Assertion) -> str:
    """An id from all that an assertion says but its id."""
    content = [
        assertion.subject,
        assertion.predicate,
        assertion.object,
        assertion.validity.start,
        assertion.validity.end,
        [[[span.source_id, span.start, span.end] for span in group] for group in assertion.supports],
        dict(assertion.attributes),
        assertion.extraction_version,
        assertion.review_status,
    ]
    digest = hashlib.sha256(json.dumps(content, ensure_ascii=True).encode()).hexdigest()
    return f"assertion:{digest[:24]}"


def _supports(row: Mapping[str, Any]) -> tuple[SupportSet, ...]:
    given = [key for key in ("supports", "src", "source_id") if row.get(key) is not None]
    allowed = "one of source_id (+ source_span), src (+ span), supports"
    if len(given) != 1:
        raise RowError("no source" if not given else f"sources given twice, as {' and '.join(given)}", allowed=allowed)
    groups: list[list[SourceSpan]]
    if given == ["source_id"]:
        groups = [[_span(_id(row, "source_id"), row.get("source_span"), "source_span")]]
    elif given == ["src"]:
        value = row["src"]
        sources = value if isinstance(value, list) else [value]
        groups = [[SourceSpan(check_id(source, "src"))] for source in sources]
        if groups:
            groups[-1] = [_span(groups[-1][0].source_id, row.get("span"), "span")]
    else:
        value = row["supports"]
        if not isinstance(value, list):
            raise RowError(f"supports is {json_type(value)}", allowed="a list of lists of {source, span} or of ids")
        groups = [
            [_member(member) for member in (group if isinstance(group, list) else [group])]
            for group in value
            if group != []
        ]
    if not groups:
        raise RowError(f"{given[0]} is empty", allowed=allowed)
    sets = {tuple(sorted(set(group), key=_span_key)) for group in groups}
    return tuple(sorted(sets, key=lambda group: [_span_key(span) for span in group]))


def _member(member: object) -> SourceSpan:
    if isinstance(member, dict):
        unknown = sorted(set(member) - {"source", "source_id", "span"})
        if unknown:
            raise RowError(f"supports holds unknown key {unknown[0]!r}", allowed="source, span")
        return _span(
            check_id(member.get("source", member.get("source_id")), "supports.source"), member.get("span"), "span"
        )
    return SourceSpan(check_id(member, "supports"))


def _span(source_id: str, value: object, key: str) -> SourceSpan:
    if value is None:
        return SourceSpan(source_id)
    if (
        not isinstance(value, list)
        or len(value) != 2
        or not all(isinstance(bound, int) and not isinstance(bound, bool) for bound in value)
        or not 0 <= value[0] <= value[1]
    ):
        raise RowError(
            f"{key} {json.dumps(value)[:80]} is no span", allowed="[start, end) in characters, 0 <= start <= end"
        )
    return SourceSpan(source_id, value[0], value[1])


def _span_key(span: SourceSpan) -> tuple[str, int, int]:
    return (span.source_id, -1 if span.start is None else span.start, -1 if span.end is None else span.end)


def _read_meta(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    try:
        document = read_strict(path)
    except ConfigurationError as error:
        raise DataError(error.message, where=error.where, allowed=error.allowed, hint=error.hint) from None
    if document.value is None:
        return {}, ()
    if not isinstance(document.value, dict):
        raise DataError("is not a mapping", where=f"{path}:1:1", allowed=", ".join(_DATASET_KEYS))
    meta: dict[str, Any] = {}
    warnings: list[str] = []
    for key, value in document.value.items():
        if key not in _DATASET_KEYS:
            near = nearest(key, _DATASET_KEYS)
            if near is not None:
                raise _meta_error(document, (key,), f"unknown key {key!r}", hint=f"did you mean {near!r}?")
            warnings.append(f"{document.place((key,), key=True)}: {key!r} is not used")
        elif value is None:
            continue
        elif key == "default_labels":
            meta[key] = _label_list(document, (key,), value)
        elif key == "readers":
            if not isinstance(value, dict):
                raise _meta_error(document, (key,), "is not a mapping", allowed="reader id: [labels]")
            meta[key] = {reader: _label_list(document, (key, reader), labels) for reader, labels in value.items()}
        elif not isinstance(value, str):
            raise _meta_error(document, (key,), "is not text", allowed="text (write numbers in quotes)")
        elif key == "as_of":
            try:
                meta[key] = parse_moment(value)
            except ValueError as error:
                raise _meta_error(document, (key,), str(error), allowed=MOMENT_FORMS) from None
        else:
            meta[key] = value
    return meta, tuple(warnings)


def _label_list(document: YamlDocument, path: tuple[str, ...], value: object) -> tuple[str, ...]:
    allowed = "a list of texts (write numbers in quotes)"
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _meta_error(document, path, "is not a list", allowed=allowed)
    for position, label in enumerate(value):
        if not isinstance(label, str) or not label.strip():
            raise _meta_error(document, (*path, position), "is not a label", allowed=allowed)
    return tuple(dict.fromkeys(value))


def _meta_error(
    document: YamlDocument,
    path: tuple[str | int, ...],
    message: str,
    *,
    allowed: str | None = None,
    hint: str | None = None,
) -> DataError:
    error = document.error(path, message, allowed=allowed, hint=hint)
    return DataError(error.message, where=error.where, allowed=allowed, hint=hint)
