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
    columns,
    hops_cell,
    source_cells,
    types_cells,
    unit_cells,
)
from graphroute.serialization.draft import Draft, PathDraft, Written, numbered
from graphroute.serialization.escaping import MAX_CACHED, is_plain
from graphroute.serialization.formats.base import dumped
from graphroute.serialization.lines import Header
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
        stated = draft.stated_sources()
        answers = _rows(list(map(list, zip(*answer_cells(draft, node), strict=True))))
        omissions = [[one.stage for one in draft.omissions]]
        omissions += [[one.what for one in draft.omissions], [one.reason for one in draft.omissions]]
        degraded = [[one.stage for one in draft.degraded], [one.reason for one in draft.degraded]]
        tables: dict[str, tuple[list[int], list[str]]] = {
            "degraded": _rows(degraded),
            "answer": answers,
            "source": _rows(
                [
                    [f"S{index + 1}" for index in stated],
                    *map(list, zip(*[source_cells(draft, index) for index in stated], strict=True)),
                ]
            ),
            "node": _rows([node, types_cells(draft), draft.names, *([] if lean else [draft.node_ids])], local=(0,)),
            "fact": _facts(draft, node),
            "omitted": _rows(omissions),
        }
        units = [""] * len(draft.units)
        for kind, (places, table) in _units(draft).items():
            tables[kind] = _rows(table, local=(0, 1) if kind == "path" else (0,))
            for index, row in zip(places, tables[kind][1], strict=True):
                units[index] = row
        text = "\n".join([*self._head(draft), *_table_lines(tables, draft)])
        try:
            return Written(
                seal(text, _MARKER),
                answers[1],
                dict(zip(stated, tables["source"][1], strict=True)),
                tables["node"][1],
                tables["fact"][1],
                units,
                tables["omitted"][1],
            )
        except UnicodeEncodeError as error:
            raise DataError("a lone surrogate cannot be written", where="evidence") from error

    def _head(self, records: Draft) -> list[str]:
        total = records.total_answers
        given: dict[str, Value] = {
            "snapshot": records.snapshot or None,
            "access": records.access or None,
            "as_of": None if records.as_of is None else instant_text(records.as_of),
            "left_out": records.left_out or None,
            "total_answers": None if total == len(records.answers) else total,
            "truncated": records.truncated or None,
            "evidence_truncated": records.evidence_truncated or None,
            "abstained": records.abstained or None,
            "reason": records.reason or None,
        }
        lines = [f"format: {self.name}/{self.version}", f"profile: {records.profile}", f"records: {records.count}"]
        lines.append(f"{_MARKER}{BLANK_CHECKSUM}")
        return [*lines, *(f"{key}: {primitive(value)}" for key, value in given.items() if value is not None)]

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with the line and the reason for anything not understood."""
        records = _Reader(text).read(f"{self.name}/{self.version}")
        return as_written(records, text, self.dumps)


def _column(cells: Sequence[Cell]) -> Sequence[str]:
    """Cells of one column as they are written, tested together where they are many."""
    texts = [one for one in cells if one is not None]
    if not texts:
        return ["null"] * len(cells)
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


def _rows(table: Sequence[Sequence[Cell]], *, local: Sequence[int] = ()) -> tuple[list[int], list[str]]:
    """Which columns hold something, and the rows of these. `local`: columns of local ids, which are written as they are."""
    if not table or not table[0]:
        return [], []
    shown = [place for place, column in enumerate(table) if place in local or any(one is not None for one in column)]
    columns_of = [table[place] if place in local else _column(table[place]) for place in shown]
    return shown, [f"  {','.join(row)}" for row in zip(*columns_of, strict=True)]


def _facts(draft: Draft, node: Sequence[str]) -> tuple[list[int], list[str]]:
    """The same for facts, of which there are many."""
    facts = draft.facts
    times = {time: _cell(time or None) for time in {fact[3] for fact in facts}}
    relations = [_cell(predicate) for predicate, _ in draft.relations]
    shown = [0, 1, 2, 3]
    parts: list[Sequence[str]] = []
    if times.keys() - {""}:
        shown.append(4)
        parts.append([times[fact[3]] for fact in facts])
    if any(denied for _, denied in draft.relations):
        shown.append(5)
        parts.append(["not" if draft.relations[fact[1]][1] else "null" for fact in facts])
    if any(draft.proofs):
        shown.append(6)
        parts.append(_column(draft.proofs if all(draft.proofs) else [one or None for one in draft.proofs]))
    behind = map(",".join, zip(*parts, strict=True)) if parts else None
    rows = [
        f"  F{number},{node[start]},{relations[relation]},{node[end]}"
        for number, (start, relation, end, _) in enumerate(facts, start=1)
    ]
    return shown, rows if behind is None else [f"{row},{rest}" for row, rest in zip(rows, behind, strict=True)]


def _units(draft: Draft) -> dict[str, tuple[list[int], list[list[Cell]]]]:
    """Places and columns of the units of each kind."""
    found: dict[str, tuple[list[int], list[list[Cell]]]] = {}
    for index, unit in enumerate(draft.units):
        plain = isinstance(unit, PathDraft) and unit.binding is None and unit.note is None and not unit.conflict
        kind, cells = ("path", ()) if plain else unit_cells(unit, draft)
        held = found.get(kind)
        if held is None:
            width = len(columns(kind, draft.profile))
            held = found[kind] = ([], [[] for _ in range(width + 1)])
        places, table = held
        places.append(index)
        table[0].append(unit[0])
        if isinstance(unit, PathDraft) and plain:
            table[1].append(hops_cell(unit[1]))
            for column in table[2:]:
                column.append(None)
            continue
        for column, cell in zip(table[1:], cells, strict=True):
            column.append(cell)
    return found


def _table_lines(tables: Mapping[str, tuple[list[int], list[str]]], draft: Draft) -> list[str]:
    lines: list[str] = []
    for kind, table in _TABLES.items():
        if kind == "flag":
            if draft.flags:
                lines.append(f"{table}[{len(draft.flags)}]: {','.join(map(primitive, draft.flags))}")
            continue
        shown, rows = tables.get(kind, ((), ()))
        if not rows:
            continue
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
