r"""Token-Oriented Object Notation after its published specification (version 4.4), comma-delimited, two spaces a level.

One object. The header's keys first (`format`, `profile`, `records`, `checksum`, then those of `lines.header` that say something), then a table for each kind of
record: `degraded`, `flags`, `answers`, `sources`, `nodes`, `facts`, `paths`, `texts`, `reports`, `omitted`. Tables have a column `id` where the kind has local ids, and those
of `cells.COLUMNS` that hold something in at least one row; `null` is a missing value. A table without rows is left out. Units are in the order of their numbers.

Strings are quoted and escaped as the specification says; a suspect character of the basic plane is its `\uXXXX`. Escapes of the notation reach no
further, so that one beyond stands in the value as `\u{hex}`, and backslashes before `u{` or such a character are doubled there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NoReturn

from graphroute.errors import DataError
from graphroute.serialization.cells import (
    Cell,
    CellProofs,
    Rows,
    answer_cells,
    binding_cell,
    columns,
    hops_cell,
    source_cells,
    unit_cells,
)
from graphroute.serialization.draft import Draft, PathDraft, Written, numbered
from graphroute.serialization.escaping import MAX_CACHED, is_plain
from graphroute.serialization.formats.base import dumped
from graphroute.serialization.lines import Header, joined
from graphroute.serialization.records import (
    BLANK_CHECKSUM,
    Profile,
    Records,
    as_written,
    instant_text,
    parse_instant,
    seal,
    unsealed,
)
from graphroute.serialization.visible import harmless, visible

Value = str | int | bool | None

_MARKER = "checksum: "
_TABLES = {
    "degraded": "degraded",
    "flag": "flags",
    "answer": "answers",
    "source": "sources",
    "node": "nodes",
    "fact": "facts",
    "path": "paths",
    "text": "texts",
    "report": "reports",
    "omitted": "omitted",
}
_KINDS = {table: kind for kind, table in _TABLES.items()}
_WITH_ID = frozenset({"source", "node", "fact", "path", "text", "report"})
_NUMERIC = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_STRUCTURAL = re.compile(r'[:"\\\[\]{},\x00-\x1f]')
_STRUCTURAL_BUT_LINES = re.compile(r'[:"\\[\]{},]')
_UNLIKE_TEXT = re.compile(r"(?m)^(?:[-#]|(?:true|false|null)$|\+?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$)")
"""What is quoted although it holds nothing that structures."""
_NAME = r'(?!(?:true|false|null)$)[^\W\d_](?:[^"\\\[\]{},<\x00-\x1f]*[^"\\\[\]{},<\x00-\x1f ])?'
_NAME_LINES = re.compile(rf"(?m:{_NAME})(?:\n(?m:{_NAME}))*+")
"""Texts that are written as they are, or in quotes if they hold a colon, as long as nothing in them is suspect."""
_NONE: tuple[Sequence[int], list[str]] = ((), [])
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_BARE = re.compile(r'[^,"]*')
_INTEGER = re.compile(r"0|[1-9][0-9]{0,17}")
_ESCAPE = re.compile(r'\\(?:u([0-9a-f]{4})|(["\\nrt])|)')
_DECODED = {"\\": "\\", "n": "\n", "t": "\t", "r": "\r", '"': '"'}
_ENCODED = {value: f"\\{letter}" for letter, value in _DECODED.items()}
_HEADER = re.compile(r"([a-z]+)\[(0|[1-9][0-9]{0,8})\](?:\{([a-z,]+)\})?:(?: (.*))?")
_KEY = re.compile(r"([a-z_]+): (.*)")
_BEYOND = re.compile(r"(?<!\\)(\\*+)(u\{|[\U00010000-\U0010ffff])")
_BACK = re.compile(r"(?<!\\)(\\++)u\{(?:([0-9a-f]{5,6})\})?")
_ORDER = ("degraded", "flags", "answers", "sources", "nodes", "facts", "paths", "texts", "reports", "omitted")


def _by_number(character: str) -> str:
    return f"\\u{ord(character):04x}"


def _beyond(text: str) -> str:
    """The value that stands for one with suspect characters above the basic plane; most values stand for themselves."""

    def one(match: re.Match[str]) -> str:
        backslashes, rest = match.groups()
        if rest == "u{":
            return backslashes * 2 + rest
        if harmless(rest):
            return match.group()
        return f"{backslashes * 2}\\u{{{ord(rest):x}}}"

    return _BEYOND.sub(one, text)


def _back(text: str) -> str:
    """The inverse of `_beyond`."""

    def one(match: re.Match[str]) -> str:
        backslashes, number = match.groups()
        half = "\\" * (len(backslashes) // 2)
        if len(backslashes) % 2 == 0:
            return half + match.group()[len(backslashes) :]
        if number is None or int(number, 16) > 0x10FFFF:
            raise ValueError(f"unknown escape in {match.group()!r}")
        return half + chr(int(number, 16))

    return _BACK.sub(one, text)


def primitive(value: Value) -> str:
    """A value by itself or as a cell (sections 2, 7.1 and 7.2 of the specification)."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if "u{" in value or not value.isascii():
        value = _beyond(value)
    plain = harmless(value)
    if (
        plain
        and value
        and value[0] not in " -#"
        and value[-1] != " "
        and value not in ("true", "false", "null")
        and not _STRUCTURAL.search(value)
        and not _NUMERIC.fullmatch(value)
    ):
        return value
    body = "".join(_ENCODED.get(character, character) for character in value)
    return f'"{body if plain else visible(body, _by_number)}"'


def _decoded(written: str) -> Value:
    """The inverse of `primitive`. Raises ValueError for any other text."""
    if written.startswith('"'):
        match = _QUOTED.fullmatch(written)
        if match is None:
            raise ValueError(f"a string that does not end: {written[:20]!r}")
        value: Value = _back(_ESCAPE.sub(_escape, match.group(1)))
    elif written in ("null", "true", "false"):
        value = {"null": None, "true": True, "false": False}[written]
    elif _INTEGER.fullmatch(written):
        value = int(written)
    else:
        value = _back(written)
    if primitive(value) != written:
        raise ValueError(f"{written[:20]!r} has other quotes or escapes than needed")
    return value


def _escape(match: re.Match[str]) -> str:
    number, letter = match.groups()
    if number:
        return chr(int(number, 16))
    if not letter:
        raise ValueError("unknown escape")
    return _DECODED[letter]


def _cells(line: str) -> list[Value]:
    found: list[Value] = []
    at = 0
    while True:
        match = _QUOTED.match(line, at) or _BARE.match(line, at)
        assert match is not None
        found.append(_decoded(match.group()))
        at = match.end()
        if at == len(line):
            return found
        if line[at] != ",":
            raise ValueError(f"expected a comma, found {line[at : at + 20]!r}")
        at += 1


class Toon:
    """Token-Oriented Object Notation."""

    name = "toon"
    version = "1"
    ordering = "given"
    grammar = (
        "TOON: `name[count]{columns}:` starts a table, a row a line, `null` for what is missing. `nodes` are entities. `facts` say that `subject` stands in "
        "`predicate` to `object` in the time `valid` (from..to, empty side or null: open), with `not` that it does not; `proof` are assertions and sources. What may "
        "be cited: `paths` are chains of facts, `>F1` read from subject to object, `<F1` from object to subject, `to` what they lead to; `texts` are pieces of a source; "
        "`reports` are summaries over sources. `answers` list what the facts give. `omitted` and `degraded` say what is missing."
    )

    proofs = CellProofs

    def dumps(self, records: Records, profile: Profile | None = None) -> str:
        """The finished text. Raises DataError for records that do not fit together, units out of order, or a lone surrogate."""
        return dumped(self, records, profile)

    def write(self, draft: Draft) -> Written:
        """The text of a draft, with its parts."""
        if len(draft.units) > 1:
            numbers = [int(unit.id[1:]) for unit in draft.units]
            if numbers != sorted(numbers):
                raise DataError("units that are not in the order of their numbers")
        lean, node = draft.lean, numbered("N", len(draft.node_ids))
        tables: dict[str, tuple[Sequence[int], list[str]]] = {}
        if draft.degraded:
            tables["degraded"] = _rows([[one.stage for one in draft.degraded], [one.reason for one in draft.degraded]])
        if draft.answers:
            tables["answer"] = _rows(list(zip(*answer_cells(draft, node), strict=True)))
        stated = draft.stated_sources()
        if stated:
            tables["source"] = _sources(draft, stated)
        if node:
            kinds = {one: _cell(joined(one) if one else None) for one in set(draft.types)}
            types = [kinds[one] for one in draft.types] if any(kinds) else None
            named = [node, types, _column(draft.names), *([] if lean else [_column(draft.node_ids)])]
            tables["node"] = _written(named)
        if draft.facts:
            tables["fact"] = _facts(draft, node)
        if draft.omissions:
            omissions = [[one.stage for one in draft.omissions]]
            omissions += [[one.what for one in draft.omissions], [one.reason for one in draft.omissions]]
            tables["omitted"] = _rows(omissions)
        units = _units(draft, tables)
        text = "\n".join([*self._head(draft), *_table_lines(tables, draft)])
        try:
            return Written(
                seal(text, _MARKER),
                tables.get("answer", _NONE)[1],
                dict(zip(stated, tables.get("source", _NONE)[1], strict=True)),
                tables.get("node", _NONE)[1],
                tables.get("fact", _NONE)[1],
                units,
                tables.get("omitted", _NONE)[1],
            )
        except UnicodeEncodeError as error:
            raise DataError("a lone surrogate cannot be written", where="evidence") from error

    def _head(self, records: Draft) -> list[str]:
        lines = [f"format: {self.name}/{self.version}", f"profile: {records.profile}", f"records: {records.count}"]
        lines.append(f"{_MARKER}{BLANK_CHECKSUM}")
        if records.snapshot:
            lines.append(f"snapshot: {primitive(records.snapshot)}")
        if records.access:
            lines.append(f"access: {primitive(records.access)}")
        if records.as_of is not None:
            lines.append(f"as_of: {primitive(instant_text(records.as_of))}")
        if records.left_out:
            lines.append(f"left_out: {records.left_out}")
        if records.total_answers != len(records.answers):
            lines.append(f"total_answers: {records.total_answers}")
        if records.truncated:
            lines.append("truncated: true")
        if records.evidence_truncated:
            lines.append("evidence_truncated: true")
        if records.abstained:
            lines.append("abstained: true")
        if records.reason:
            lines.append(f"reason: {primitive(records.reason)}")
        return lines

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with the line and the reason for anything not understood."""
        records = _Reader(text).read(f"{self.name}/{self.version}")
        return as_written(records, text, self.dumps)


def _column(cells: Sequence[Cell]) -> Sequence[str]:
    """Cells of one column as they are written, tested together."""
    texts = [one for one in cells if one is not None]
    if not texts:
        return ["null"] * len(cells)
    lines = "\n".join(texts)
    if lines.count("\n") == len(texts) - 1 and _NAME_LINES.fullmatch(lines) and harmless(lines.replace("\n", "")):
        if ":" in lines:
            return ["null" if one is None else f'"{one}"' if ":" in one else one for one in cells]
        return texts if len(texts) == len(cells) else ["null" if one is None else one for one in cells]
    if is_plain(texts, '"') and not _UNLIKE_TEXT.search("\n".join(texts)):
        joined = "\n".join(texts)
        if "{" in joined and "u{" in joined:
            return list(map(_cell, cells))
        if not _STRUCTURAL_BUT_LINES.search(joined):
            return texts if len(texts) == len(cells) else ["null" if one is None else one for one in cells]
        quotes = _STRUCTURAL.search
        return ["null" if one is None else f'"{one}"' if ":" in one or quotes(one) else one for one in cells]
    return list(map(_cell, cells))


@lru_cache(maxsize=32_768)
def _kept(value: str) -> str:
    return primitive(value)


def _cell(value: Cell) -> str:
    return "null" if value is None else _kept(value) if len(value) <= MAX_CACHED else primitive(value)


def _rows(table: Sequence[Sequence[Cell]], ids: Sequence[str] | None = None) -> tuple[Sequence[int], list[str]]:
    """Which columns hold something, and the rows of these. `ids`: a column of local ids before them."""
    columns_of = [_column(column) if any([one is not None for one in column]) else None for column in table]
    return _written(columns_of if ids is None else [ids, *columns_of])


def _written(table: Sequence[Sequence[str] | None]) -> tuple[Sequence[int], list[str]]:
    """The same for columns whose cells are as they are written, None for one that holds nothing."""
    shown = [place for place, column in enumerate(table) if column is not None]
    held = [column for column in table if column is not None]
    return shown, [f"  {row}" for row in map(",".join, zip(*held, strict=True))]


def _sources(draft: Draft, stated: Sequence[int]) -> tuple[Sequence[int], list[str]]:
    ids = [f"S{index + 1}" for index in stated]
    if not draft.cited:
        return _written([ids, None, None, _column(draft.source_ids)])
    return _rows(list(zip(*[source_cells(draft, index) for index in stated], strict=True)), ids)


def _proofs(draft: Draft) -> Sequence[str]:
    """The column of proofs. In lean they are numbers of sources; else whatever structures is a colon as long as no id is in quotes."""
    proofs = draft.proofs
    if draft.lean:
        return [one or "null" for one in proofs]
    if '"' in "".join(proofs):
        return _column([one or None for one in proofs])
    return [f'"{one}"' if ":" in one else _cell(one or None) for one in proofs]


def _facts(draft: Draft, node: Sequence[str]) -> tuple[Sequence[int], list[str]]:
    """Facts, of which there are many."""
    facts = draft.facts
    relations = [_cell(predicate) for predicate, _ in draft.relations]
    times = {time: _cell(time or None) for time in {fact[3] for fact in facts}}
    timed = len(times) > 1 or "" not in times
    if timed and all(draft.proofs) and not any([denied for _, denied in draft.relations]):
        return (0, 1, 2, 3, 4, 6), [
            f"  F{number},{node[start]},{relations[relation]},{node[end]},{times[time]},{proof}"
            for number, ((start, relation, end, time), proof) in enumerate(
                zip(facts, _proofs(draft), strict=True), start=1
            )
        ]
    starts, named, ends, in_force = zip(*facts, strict=True)
    denials = ["not" if denied else "null" for _, denied in draft.relations]
    return _written(
        [
            numbered("F", len(facts)),
            [node[one] for one in starts],
            [relations[one] for one in named],
            [node[one] for one in ends],
            [times[one] for one in in_force] if timed else None,
            [denials[one] for one in named] if "not" in denials else None,
            _proofs(draft) if any(draft.proofs) else None,
        ]
    )


def _units(draft: Draft, tables: dict[str, tuple[Sequence[int], list[str]]]) -> list[str]:
    """Rows of all units in their order; into `tables` goes that of each kind."""
    units = draft.units
    paths = [unit for unit in units if type(unit) is PathDraft]
    if paths:
        bindings = [unit.binding for unit in paths]
        conflicts = [unit.conflict for unit in paths]
        notes = [unit.note for unit in paths]
        to: Sequence[str] | None = None
        if any([one is not None for one in bindings]):
            to = _column([None if one is None else binding_cell(one, draft) for one in bindings])
        tables["path"] = _written(
            [
                [unit[0] for unit in paths],
                [hops_cell(unit[1]) for unit in paths],
                to,
                ["conflict" if one else "null" for one in conflicts] if any(conflicts) else None,
                _column(notes) if any([one is not None for one in notes]) else None,
            ]
        )
        if len(paths) == len(units):
            return tables["path"][1]
    ids: dict[str, list[str]] = {}
    cells: dict[str, list[Sequence[Cell]]] = {}
    kinds = []
    for unit in units:
        if type(unit) is PathDraft:
            kinds.append("path")
            continue
        kind, found = unit_cells(unit, draft)
        kinds.append(kind)
        ids.setdefault(kind, []).append(unit[0])
        cells.setdefault(kind, []).append(found)
    for kind, held in cells.items():
        tables[kind] = _rows(list(zip(*held, strict=True)), ids[kind])
    rows = {kind: iter(tables[kind][1]) for kind in set(kinds)}
    return [next(rows[kind]) for kind in kinds]


def _table_lines(tables: Mapping[str, tuple[Sequence[int], list[str]]], draft: Draft) -> list[str]:
    lines: list[str] = []
    for kind, table in _TABLES.items():
        if kind == "flag":
            if draft.flags:
                lines.append(f"{table}[{len(draft.flags)}]: {','.join(map(primitive, draft.flags))}")
            continue
        if kind not in tables:
            continue
        shown, rows = tables[kind]
        names = columns(kind, draft.profile)
        if kind in _WITH_ID:
            names = ("id", *names)
        lines.append(f"{table}[{len(rows)}]{{{','.join([names[place] for place in shown])}}}:")
        lines.extend(rows)
    return lines


class _Reader:
    """Reads the subset of the notation that `Toon` writes; anything else is refused."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.number = 0

    def refuse(self, reason: str) -> NoReturn:
        raise DataError(reason, where=f"evidence text, line {self.number + 1}")

    def read(self, name: str) -> Records:
        try:
            return self._read(name)
        except DataError as error:
            if error.where:
                raise
            raise DataError(error.message, where="evidence text", allowed=error.allowed) from error
        except ValueError as error:
            self.refuse(str(error))

    def _read(self, name: str) -> Records:
        if unsealed(self.text, _MARKER):
            self.refuse("the checksum is missing or does not fit the text")
        given = self._head()
        if given.pop("format", None) != name:
            self.refuse(f"not {name}")
        profile = Profile(self._text(given, "profile"))
        count = self._integer(given, "records")
        self._integer(given, "checksum")
        total = self._integer(given, "total_answers") if "total_answers" in given else None
        if "as_of" in given:
            given["as_of"] = parse_instant(self._text(given, "as_of"))
        for key, kind in (("snapshot", str), ("access", str), ("reason", str), ("left_out", int)):
            if type(given.get(key, kind())) is not kind:
                self.refuse(f"{key} is no {kind.__name__}")
        for key in ("truncated", "evidence_truncated", "abstained"):
            if given.get(key, True) is not True:
                self.refuse(f"{key} is left out or true")
        known = {"snapshot", "access", "as_of", "left_out", "truncated", "evidence_truncated", "abstained", "reason"}
        if given.keys() - known:
            self.refuse(f"unknown key {min(given.keys() - known)!r}")
        head = Header(profile, count, given, total)
        found, last = Rows(head), -1
        units: list[tuple[int, str, str, list[Cell]]] = []
        while self.number < len(self.lines):
            match = _HEADER.fullmatch(self.lines[self.number])
            if match is None or match.group(1) not in _KINDS:
                self.refuse(f"expected a table, found {self.lines[self.number][:20]!r}")
            table, length, names, inline = match.groups()
            if _ORDER.index(table) <= last:
                self.refuse(f"table {table} is given twice or out of order")
            last = _ORDER.index(table)
            if table == "omitted":
                self._add_units(found, units)
                units = []
            self._table(found, units, _KINDS[table], int(length), names, inline)
        self._add_units(found, units)
        return found.records()

    def _head(self) -> dict[str, Value]:
        given: dict[str, Value] = {}
        while self.number < len(self.lines):
            match = _KEY.fullmatch(self.lines[self.number])
            if match is None:
                break
            if match.group(1) in given:
                self.refuse(f"{match.group(1)} is given twice")
            given[match.group(1)] = match.group(2) if match.group(1) == "format" else _decoded(match.group(2))
            self.number += 1
        return given

    def _text(self, given: dict[str, Value], key: str) -> str:
        value = given.pop(key, None)
        if not isinstance(value, str):
            self.refuse(f"{key} is missing or no text")
        return value

    def _integer(self, given: dict[str, Value], key: str) -> int:
        value = given.pop(key, None)
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse(f"{key} is missing or no integer")
        return value

    def _table(
        self,
        found: Rows,
        units: list[tuple[int, str, str, list[Cell]]],
        kind: str,
        length: int,
        names: str | None,
        inline: str | None,
    ) -> None:
        if kind == "flag":
            if names is not None or inline is None:
                self.refuse("flags stand on one line")
            flags = [one for one in _cells(inline) if isinstance(one, str)]
            if len(flags) != length or length == 0:
                self.refuse(f"{len(flags)} flags, not {length}")
            for flag in flags:
                found.add(kind, "", [flag])
            self.number += 1
            return
        known = columns(kind, found.head.profile)
        known = ("id", *known) if kind in _WITH_ID else known
        shown = (names or "").split(",")
        if inline is not None or [name for name in known if name in shown] != shown:
            self.refuse(f"columns {names!r}; allowed: {','.join(known)}")
        self.number += 1
        filled: set[int] = set()
        for _ in range(length):
            if self.number >= len(self.lines) or not self.lines[self.number].startswith("  "):
                self.refuse(f"fewer than {length} rows")
            values = _cells(self.lines[self.number][2:])
            if len(values) != len(shown) or any(isinstance(one, int) for one in values):
                self.refuse(f"expected {len(shown)} texts")
            filled.update(place for place, one in enumerate(values) if one is not None)
            by_name = dict(zip(shown, values, strict=True))
            cells: list[Cell] = [one if isinstance(one := by_name.get(name), str) else None for name in known]
            id = (cells.pop(0) or "") if kind in _WITH_ID else ""
            if kind in ("path", "text", "report"):
                if not re.fullmatch(r"U[1-9][0-9]{0,8}", id):
                    self.refuse(f"unit id {id!r}")
                units.append((int(id[1:]), kind, id, cells))
            else:
                found.add(kind, id, cells)
            self.number += 1
        if length == 0 or len(filled) < len(shown):
            self.refuse("a table without rows or a column without values")

    def _add_units(self, found: Rows, units: list[tuple[int, str, str, list[Cell]]]) -> None:
        for _, kind, id, cells in sorted(units, key=lambda unit: unit[0]):
            found.add(kind, id, cells)
