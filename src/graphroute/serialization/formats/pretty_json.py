r"""Indented JSON with ids written out: the form to read and to compare others with.

One object; keys that are empty are left out. Strings are JSON strings; every control, format, private and unassigned character, every
blank other than the space, and `<` where it could open or close a tag stand as `\uXXXX`. `records` and `checksum` as in the edge list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from graphroute.errors import DataError
from graphroute.serialization.records import (
    BLANK_CHECKSUM,
    AssertionRecord,
    FactRecord,
    NodeRecord,
    PassageRecord,
    PathRecord,
    Records,
    ReportRecord,
    SourceRecord,
    UnitRecord,
    check,
    instant_text,
    interval_text,
    parse_instant,
    parse_interval,
    seal,
    unsealed,
)
from graphroute.serialization.visible import harmless, visible
from graphroute.types.evidence import Degradation, Omission
from graphroute.types.graph import Direction
from graphroute.types.retrieval import Binding
from graphroute.types.source import SourceSpan

T = TypeVar("T")
_MARKER = '"checksum": "'
_SURROGATE = re.compile("[\ud800-\udfff]")


def _by_number(character: str) -> str:
    point = ord(character)
    if point < 0x10000:
        return f"\\u{point:04x}"
    point -= 0x10000
    return f"\\u{0xD800 + (point >> 10):04x}\\u{0xDC00 + (point & 0x3FF):04x}"


def _span(span: SourceSpan) -> dict[str, Any]:
    if span.start is None:
        return {"source": span.source_id}
    return {"source": span.source_id, "start": span.start, "end": span.end}


def _filled(pairs: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in pairs.items() if value is not None and value is not False and value != []}


def _unit(unit: UnitRecord) -> dict[str, Any]:
    if isinstance(unit, PathRecord):
        hops = [{"fact": f"F{index + 1}", "direction": direction.value} for index, direction in unit.hops]
        rest = {"binding": unit.binding, "conflict": unit.conflict, "note": unit.note}
        return {"id": unit.id, "kind": "path", "hops": hops, **_filled(rest)}
    if isinstance(unit, PassageRecord):
        place = {"source": unit.source_id, "start": unit.start, "end": unit.end}
        rest = _filled({"conflict": unit.conflict, "note": unit.note})
        return {"id": unit.id, "kind": "text", **place, **rest, "text": unit.text}
    head = {"id": unit.id, "kind": "report", "community": unit.community, "title": unit.title}
    return {**head, **_filled({"sources": list(unit.source_ids), "note": unit.note}), "text": unit.text}


class PrettyJson:
    """Indented JSON."""

    name = "pretty_json"
    version = "1"
    grammar = (
        "A JSON object. `facts` say that `subject` stands in `predicate` to `object` in the time `valid` (from..to, empty side: open), "
        "with assertions and the source spans that prove them. `units` are what may be cited: a `path` is a chain of facts, each "
        "walked forward (subject to object) or backward; a `text` is a piece of a source; a `report` is a summary over sources. "
        "`answers` list what the facts give. `omissions` and `degraded` say what is missing."
    )

    def dumps(self, records: Records) -> str:
        """The finished text. Raises DataError for records that do not fit together, or a lone surrogate in a string."""
        check(records)
        value = {
            "format": f"{self.name}/{self.version}",
            "records": records.count,
            "checksum": BLANK_CHECKSUM,
            "snapshot": records.snapshot,
            "as_of": instant_text(records.as_of),
            **_filled(
                {
                    "abstained": records.abstained,
                    "reason": records.reason or None,
                    "truncated": records.truncated,
                    "evidence_truncated": records.evidence_truncated,
                    "left_out": records.left_out or None,
                    "total_answers": records.total_answers if records.total_answers != len(records.answers) else None,
                    "degraded": [{"stage": each.stage, "reason": each.reason} for each in records.degraded],
                    "flags": list(records.flags),
                    "answers": [_filled({"id": each.id, "display": each.display}) for each in records.answers],
                    "sources": [
                        _filled(
                            {
                                "id": each.id,
                                "title": each.title,
                                "date": None if each.date is None else instant_text(each.date),
                            }
                        )
                        for each in records.sources
                    ],
                    "nodes": [
                        {"id": each.id, **_filled({"types": list(each.types)}), "name": each.name}
                        for each in records.nodes
                    ],
                    "facts": [
                        {
                            "id": f"F{number}",
                            "subject": each.subject,
                            "predicate": each.predicate,
                            "object": each.object,
                            "valid": interval_text(each.validity),
                            "assertions": [
                                {"id": assertion.id, "spans": list(map(_span, assertion.spans))}
                                for assertion in each.assertions
                            ],
                        }
                        for number, each in enumerate(records.facts, start=1)
                    ],
                    "units": list(map(_unit, records.units)),
                    "omissions": [
                        {"stage": each.stage, "what": each.what, "reason": each.reason} for each in records.omissions
                    ],
                }
            ),
        }
        text = json.dumps(value, ensure_ascii=False, indent=2)
        if _SURROGATE.search(text):
            raise DataError("a lone surrogate cannot be written as JSON", where="evidence")
        if not harmless(text.replace("\n", "")):
            text = "\n".join(visible(line, _by_number) for line in text.split("\n"))
        return seal(text, _MARKER)

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with line or place and reason for anything not understood."""
        if unsealed(text, _MARKER):
            raise DataError("the checksum is missing or does not fit the text", where="evidence text, line 4")
        try:
            value = json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
        except json.JSONDecodeError as error:
            raise DataError(error.msg, where=f"evidence text, line {error.lineno}") from error
        except (ValueError, RecursionError) as error:
            raise DataError(f"not readable: {error}", where="evidence text") from error
        try:
            return _records(_Place(value, "evidence"), self)
        except ValueError as error:
            raise DataError(str(error), where="evidence") from error


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


class _Place:
    """An object being read: every key is asked for once, and the rest is refused."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise DataError(f"expected an object, found {type(value).__name__}", where=where)
        self._left = dict(value)
        self.where = where

    def get(self, key: str, kind: type[T], default: T | None = None, *, optional: bool = False) -> T:
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

    def each(self, key: str, read: Callable[[_Place], T]) -> tuple[T, ...]:
        found = []
        for number, value in enumerate(self.get(key, list, [])):
            place = _Place(value, f"{self.where}.{key}[{number}]")
            found.append(read(place))
            place.end()
        return tuple(found)

    def strings(self, key: str) -> tuple[str, ...]:
        found = self.get(key, list, [])
        if any(not isinstance(value, str) for value in found):
            raise DataError("expected strings", where=f"{self.where}.{key}")
        return tuple(found)

    def end(self) -> None:
        if self._left:
            raise DataError(f"unknown key {min(self._left)!r}", where=self.where)


def _records(place: _Place, form: PrettyJson) -> Records:
    stated = place.get("format", str)
    if stated != f"{form.name}/{form.version}":
        raise DataError(f"format {stated}, not {form.name}/{form.version}", where=place.where)
    count = place.get("records", int)
    place.get("checksum", str)
    answers = place.each("answers", lambda at: Binding(id=at.maybe("id", str), display=at.get("display", str)))
    total = place.get("total_answers", int, len(answers))
    records = Records(
        snapshot=place.get("snapshot", str),
        as_of=parse_instant(place.get("as_of", str)),
        abstained=place.get("abstained", bool, False),
        reason=place.get("reason", str, ""),
        truncated=place.get("truncated", bool, False),
        evidence_truncated=place.get("evidence_truncated", bool, False),
        left_out=place.get("left_out", int, 0),
        total_answers=total,
        degraded=place.each(
            "degraded", lambda at: Degradation(stage=at.get("stage", str), reason=at.get("reason", str))
        ),
        flags=place.strings("flags"),
        answers=answers,
        sources=place.each("sources", _source),
        nodes=place.each(
            "nodes", lambda at: NodeRecord(id=at.get("id", str), types=at.strings("types"), name=at.get("name", str))
        ),
        facts=_facts(place),
        units=place.each("units", _read_unit),
        omissions=place.each(
            "omissions",
            lambda at: Omission(stage=at.get("stage", str), what=at.get("what", str), reason=at.get("reason", str)),
        ),
    )
    place.end()
    if records.count != count:
        raise DataError(f"{records.count} records, not {count}", where=place.where)
    return check(records)


def _source(place: _Place) -> SourceRecord:
    date = place.maybe("date", str)
    return SourceRecord(
        id=place.get("id", str), title=place.maybe("title", str), date=None if date is None else parse_instant(date)
    )


def _read_span(place: _Place) -> SourceSpan:
    return SourceSpan(place.get("source", str), place.maybe("start", int), place.maybe("end", int))


def _facts(place: _Place) -> tuple[FactRecord, ...]:
    numbers = iter(range(1, 10**9))

    def read(at: _Place) -> FactRecord:
        id = at.get("id", str)
        if id != f"F{next(numbers)}":
            raise DataError(f"fact {id!r} is out of order", where=at.where)
        return FactRecord(
            subject=at.get("subject", str),
            predicate=at.get("predicate", str),
            object=at.get("object", str),
            validity=parse_interval(at.get("valid", str)),
            assertions=at.each(
                "assertions", lambda one: AssertionRecord(id=one.get("id", str), spans=one.each("spans", _read_span))
            ),
        )

    return place.each("facts", read)


def _read_hop(place: _Place) -> tuple[int, Direction]:
    fact = place.get("fact", str)
    if not re.fullmatch(r"F[1-9][0-9]{0,8}", fact):
        raise DataError(f"fact {fact!r}", where=place.where, allowed="F1, F2, ...")
    return int(fact[1:]) - 1, Direction(place.get("direction", str))


def _read_unit(place: _Place) -> UnitRecord:
    id, kind = place.get("id", str), place.get("kind", str)
    if kind == "path":
        return PathRecord(
            id=id,
            hops=place.each("hops", _read_hop),
            binding=place.maybe("binding", str),
            conflict=place.get("conflict", bool, False),
            note=place.maybe("note", str),
        )
    if kind == "text":
        return PassageRecord(
            id=id,
            source_id=place.get("source", str),
            start=place.get("start", int),
            end=place.get("end", int),
            conflict=place.get("conflict", bool, False),
            note=place.maybe("note", str),
            text=place.get("text", str),
        )
    if kind == "report":
        return ReportRecord(
            id=id,
            community=place.get("community", str),
            title=place.get("title", str),
            source_ids=place.strings("sources"),
            note=place.maybe("note", str),
            text=place.get("text", str),
        )
    raise DataError(f"unit kind {kind!r}", where=place.where, allowed="path, text, report")
