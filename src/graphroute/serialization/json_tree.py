"""Records as JSON values and back; shared by the formats that are JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from graphroute.errors import DataError
from graphroute.serialization.records import (
    AssertionRecord,
    FactRecord,
    NodeRecord,
    PassageRecord,
    PathRecord,
    Profile,
    Records,
    ReportRecord,
    SourceRecord,
    UnitRecord,
    check,
    parse_instant,
    parse_interval,
)
from graphroute.serialization.visible import harmless, visible
from graphroute.types.evidence import Degradation, Omission
from graphroute.types.graph import Direction
from graphroute.types.retrieval import Binding
from graphroute.types.source import SourceSpan
from graphroute.types.time import ALWAYS

T = TypeVar("T")
JsonObject = dict[str, Any]

_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBERED = re.compile(r"([NFS])([1-9][0-9]{0,8})")

SHORT_KEYS: Mapping[str, str] = {
    "kind": "k",
    "id": "i",
    "types": "ty",
    "name": "n",
    "subject": "s",
    "predicate": "r",
    "object": "t",
    "negated": "not",
    "valid": "v",
    "assertions": "by",
    "supports": "by",
    "source": "src",
    "start": "a",
    "end": "b",
    "hops": "h",
    "fact": "f",
    "direction": "d",
    "binding": "to",
    "conflict": "c",
    "note": "nb",
    "text": "x",
    "title": "ti",
    "date": "on",
    "community": "com",
    "display": "show",
    "sources": "srcs",
    "answers": "ans",
    "nodes": "nodes",
    "facts": "edges",
    "units": "units",
    "omissions": "omit",
    "degraded": "deg",
    "stage": "st",
    "what": "w",
    "reason": "why",
}
"""Keys of the compact forms where they differ from the long ones; two that are one here never stand in one object."""


def by_number(character: str) -> str:
    r"""`\uXXXX`, above the basic plane as a surrogate pair."""
    point = ord(character)
    if point < 0x10000:
        return f"\\u{point:04x}"
    point -= 0x10000
    return f"\\u{0xD800 + (point >> 10):04x}\\u{0xDC00 + (point & 0x3FF):04x}"


def shown(text: str) -> str:
    """JSON text on one line with every suspect character inside its strings as an escape. Raises DataError for a lone surrogate."""
    if harmless(text):
        return text
    if _SURROGATE.search(text):
        raise DataError("a lone surrogate cannot be written as JSON", where="evidence")
    return visible(text, by_number)


def parsed(text: str, *, line: int | None = None) -> Any:
    """A JSON value. Raises DataError with the line; keys given twice and values that are no JSON are refused."""
    at = "evidence text" if line is None else f"evidence text, line {line}"
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except json.JSONDecodeError as error:
        found = error.lineno if line is None else line
        raise DataError(error.msg, where=f"evidence text, line {found}, column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"not readable: {error}", where=at) from error


def _pairs(pairs: list[tuple[str, Any]]) -> JsonObject:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


class Place:
    """An object being read: every key is asked for once, and the rest is refused."""

    def __init__(self, value: Any, where: str, keys: Mapping[str, str]) -> None:
        if not isinstance(value, dict):
            raise DataError(f"expected an object, found {type(value).__name__}", where=where)
        self._left = dict(value)
        self.where = where
        self.keys = keys

    def get(self, key: str, kind: type[T], default: T | None = None, *, optional: bool = False) -> T:
        key = self.keys.get(key, key)
        if key not in self._left:
            if default is None and not optional:
                raise DataError(f"{key!r} is missing", where=self.where)
            return default  # type: ignore[return-value]
        value = self._left.pop(key)
        if type(value) is not kind:
            raise DataError(f"expected {kind.__name__}, found {type(value).__name__}", where=f"{self.where}.{key}")
        return value

    def maybe(self, key: str, kind: type[T]) -> T | None:
        return self.get(key, kind, None, optional=True)

    def places(self, key: str) -> Iterator[Place]:
        key_shown = self.keys.get(key, key)
        for number, value in enumerate(self.get(key, list, [])):
            yield Place(value, f"{self.where}.{key_shown}[{number}]", self.keys)

    def each(self, key: str, read: Callable[[Place], T]) -> tuple[T, ...]:
        found = []
        for place in self.places(key):
            found.append(read(place))
            place.end()
        return tuple(found)

    def strings(self, key: str) -> tuple[str, ...]:
        return self._strings(self.get(key, list, []), key)

    def lists(self, key: str) -> tuple[tuple[str, ...], ...]:
        return tuple(self._strings(one, key) for one in self.get(key, list, []))

    def _strings(self, found: Any, key: str) -> tuple[str, ...]:
        if not isinstance(found, list) or any(not isinstance(value, str) for value in found):
            raise DataError("expected strings", where=f"{self.where}.{key}")
        return tuple(found)

    def end(self) -> None:
        if self._left:
            raise DataError(f"unknown key {min(self._left)!r}", where=self.where)


class Reader:
    """Gathers records from their objects, in any kind of JSON text."""

    def __init__(self, head: Place) -> None:
        try:
            self.profile = Profile(head.get("profile", str))
        except ValueError as error:
            raise DataError(str(error), where=head.where) from error
        self.lean = self.profile is Profile.LEAN
        self.stated = head.get("records", int)
        as_of = head.maybe("as_of", str)
        self.total = head.maybe("total_answers", int)
        self.given: JsonObject = {
            "snapshot": head.get("snapshot", str, ""),
            "access": head.get("access", str, ""),
            "as_of": None if as_of is None else parse_instant(as_of),
            "abstained": head.get("abstained", bool, False),
            "reason": head.get("reason", str, ""),
            "truncated": head.get("truncated", bool, False),
            "evidence_truncated": head.get("evidence_truncated", bool, False),
            "left_out": head.get("left_out", int, 0),
        }
        self.degraded: list[Degradation] = []
        self.flags: list[str] = []
        self.answers: list[Binding] = []
        self.sources: list[SourceRecord] = []
        self.nodes: list[NodeRecord] = []
        self.facts: list[FactRecord] = []
        self.units: list[UnitRecord] = []
        self.omissions: list[Omission] = []
        self.cited: dict[str, None] = {}

    def records(self) -> Records:
        total = len(self.answers) if self.total is None else self.total
        records = Records(
            profile=self.profile,
            **self.given,
            total_answers=total,
            degraded=tuple(self.degraded),
            flags=tuple(self.flags),
            answers=tuple(self.answers),
            sources=self._sources(),
            nodes=tuple(self.nodes),
            facts=tuple(self.facts),
            units=tuple(self.units),
            omissions=tuple(self.omissions),
        )
        if records.count != self.stated:
            raise DataError(f"{records.count} records, not {self.stated}")
        return check(records)

    def _sources(self) -> tuple[SourceRecord, ...]:
        if not self.lean:
            return tuple(self.sources)
        declared = {one.id: one for one in self.sources}
        if len(declared) < len(self.sources):
            raise DataError("a source is declared twice")
        numbers = {}
        for id in {**declared, **self.cited}:
            match = _NUMBERED.fullmatch(id)
            if match is None or match.group(1) != "S":
                raise DataError(f"source {id!r}", allowed="S1, S2, ... in lean records")
            numbers[int(match.group(2))] = id
        return tuple(declared.get(id) or SourceRecord(id=id) for _, id in sorted(numbers.items()))

    def cite(self, id: str) -> str:
        self.cited[id] = None
        return id

    def add_degraded(self, at: Place) -> None:
        self.degraded.append(Degradation(stage=at.get("stage", str), reason=at.get("reason", str)))

    def add_answer(self, at: Place) -> None:
        self.answers.append(Binding(id=at.maybe("id", str), display=at.get("display", str)))

    def add_source(self, at: Place) -> None:
        date = at.maybe("date", str)
        source = SourceRecord(
            id=at.get("id", str), title=at.maybe("title", str), date=None if date is None else parse_instant(date)
        )
        if self.lean and source.title is None and source.date is None:
            raise DataError(f"source {source.id!r} says nothing", where=at.where)
        self.sources.append(source)

    def add_node(self, at: Place) -> None:
        self.nodes.append(NodeRecord(id=at.get("id", str), types=at.strings("types"), name=at.get("name", str)))

    def add_fact(self, at: Place) -> None:
        id = at.get("id", str)
        if id != f"F{len(self.facts) + 1}":
            raise DataError(f"fact {id!r} is out of order", where=at.where)
        valid = at.maybe("valid", str)
        proof: tuple[AssertionRecord, ...]
        if self.lean:
            sets = at.lists("assertions")
            supports = tuple(tuple(SourceSpan(self.cite(one)) for one in support) for support in sets)
            proof = (AssertionRecord(id="", supports=supports),) if supports else ()
        else:
            proof = at.each("assertions", self._assertion)
        self.facts.append(
            FactRecord(
                subject=at.get("subject", str),
                predicate=at.get("predicate", str),
                object=at.get("object", str),
                negated=at.get("negated", bool, False),
                validity=ALWAYS if valid is None else parse_interval(valid),
                assertions=proof,
            )
        )

    def _assertion(self, at: Place) -> AssertionRecord:
        id = at.get("id", str)
        supports = []
        for support in at.get("supports", list, []):
            holder = Place({"spans": support}, at.where, {**at.keys, "spans": "spans"})
            supports.append(holder.each("spans", _span))
        return AssertionRecord(id=id, supports=tuple(supports))

    def add_unit(self, at: Place, kind: str) -> None:
        id = at.get("id", str)
        if kind == "path":
            self.units.append(
                PathRecord(
                    id=id,
                    hops=at.each("hops", _hop),
                    binding=at.maybe("binding", str),
                    conflict=at.get("conflict", bool, False),
                    note=at.maybe("note", str),
                )
            )
        elif kind == "text":
            self.units.append(
                PassageRecord(
                    id=id,
                    source_id=self.cite(at.get("source", str)),
                    start=at.maybe("start", int),
                    end=at.maybe("end", int),
                    conflict=at.get("conflict", bool, False),
                    note=at.maybe("note", str),
                    text=at.get("text", str),
                )
            )
        elif kind == "report":
            self.units.append(
                ReportRecord(
                    id=id,
                    community="" if self.lean else at.get("community", str),
                    title=at.get("title", str),
                    source_ids=tuple(map(self.cite, at.strings("sources"))),
                    note=at.maybe("note", str),
                    text=at.get("text", str),
                )
            )
        else:
            raise DataError(f"unit kind {kind!r}", where=at.where, allowed="path, text, report")

    def add_omission(self, at: Place) -> None:
        self.omissions.append(
            Omission(stage=at.get("stage", str), what=at.get("what", str), reason=at.get("reason", str))
        )


def _span(place: Place) -> SourceSpan:
    return SourceSpan(place.get("source", str), place.maybe("start", int), place.maybe("end", int))


def _hop(place: Place) -> tuple[int, Direction]:
    fact = place.get("fact", str)
    match = _NUMBERED.fullmatch(fact)
    if match is None or match.group(1) != "F":
        raise DataError(f"fact {fact!r}", where=place.where, allowed="F1, F2, ...")
    return int(match.group(2)) - 1, Direction(place.get("direction", str))


def read_whole(value: Any, name: str, keys: Mapping[str, str]) -> Records:
    """The inverse of `whole`."""
    place = Place(value, "evidence", keys)
    try:
        stated = place.get("format", str)
        if stated != name:
            raise DataError(f"format {stated}, not {name}", where=place.where)
        place.get("checksum", str)
        reader = Reader(place)
        for key, add in (
            ("degraded", reader.add_degraded),
            ("answers", reader.add_answer),
            ("sources", reader.add_source),
            ("nodes", reader.add_node),
            ("facts", reader.add_fact),
            ("units", lambda at: reader.add_unit(at, at.get("kind", str))),
            ("omissions", reader.add_omission),
        ):
            place.each(key, add)
        reader.flags.extend(place.strings("flags"))
        place.end()
        return reader.records()
    except DataError as error:
        if error.where:
            raise
        raise DataError(error.message, where="evidence", allowed=error.allowed) from error
    except ValueError as error:
        raise DataError(str(error), where="evidence") from error
