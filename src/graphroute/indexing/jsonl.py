"""Reads JSON lines strictly: bounded lines, depth, size and expansion, no duplicate keys, no lone surrogates, no NaN."""

from __future__ import annotations

import gzip
import json
import re
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from graphroute.errors import DataError

MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 64
MAX_VALUES = 200_000
MAX_GZIP_RATIO = 200
_GZIP_FREE_BYTES = 16 * 1024 * 1024
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_BRACKET = re.compile(r"[\[\]{}]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, counted from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class RowError(Exception):
    """What is wrong with one row; becomes a DataError or a quarantined row. `allowed` says what would be right."""

    def __init__(self, found: str, *, allowed: str | None = None, hint: str | None = None) -> None:
        super().__init__(found)
        self.found = found
        self.allowed = allowed
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Line:
    """One line as read: `problem` is set if it cannot even be cut from the file whole."""

    place: Place
    raw: bytes
    problem: RowError | None = None


def read_lines(path: Path) -> Iterator[Line]:
    r"""Non-blank lines of a file, gzip if its name ends in `.gz`; lines end at "\n" only.

    A line above MAX_LINE_BYTES comes cut, with its problem. Raises DataError for a file that cannot be read, a broken
    gzip stream, or one that expands more than MAX_GZIP_RATIO times.
    """
    name = str(path)
    number = 0
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DataError("is not a regular file", where=name, allowed="files named docs*, edges*, entities*")
        with path.open("rb") as raw:
            stream: IO[bytes] = gzip.GzipFile(fileobj=raw) if name.endswith(".gz") else raw  # type: ignore[assignment]
            produced = 0
            while True:
                line = stream.readline(MAX_LINE_BYTES + 1)
                if not line:
                    return
                number += 1
                produced += len(line)
                place = Place(name, number)
                _check_ratio(raw, stream, produced, place)
                if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
                    head = line[:1024]
                    while line and not line.endswith(b"\n"):
                        line = stream.readline(MAX_LINE_BYTES + 1)
                        produced += len(line)
                        _check_ratio(raw, stream, produced, place)
                    yield Line(
                        place,
                        head,
                        RowError("line is too long", allowed=f"at most {MAX_LINE_BYTES} bytes", hint="split the row"),
                    )
                    continue
                if number == 1 and line.startswith(_BOM):
                    line = line[len(_BOM) :]
                if line.strip(b" \t\r\n"):
                    yield Line(place, line)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"not a whole gzip stream ({error})",
            where=f"{name}:{number + 1}",
            hint="compress the file again, or drop the .gz from its name if it is plain text",
        ) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", where=name) from error


def parse_row(raw: bytes) -> dict[str, Any]:
    """One JSON object. Raises RowError."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RowError(
            f"not UTF-8 at byte {error.start + 1} of the line", allowed="UTF-8", hint="save the file as UTF-8"
        ) from None
    brackets = text.count("[") + text.count("{")
    if brackets > MAX_DEPTH or brackets + text.count(",") > MAX_VALUES:
        _check_shape(text)
    try:
        row = _DECODER.decode(text.strip(" \t\r\n"))
    except json.JSONDecodeError as error:
        raise RowError(
            f"not JSON at character {error.pos + 1}: {error.msg}",
            allowed="one JSON object a line",
            hint="correct the line, or quarantine it with --skip-bad",
        ) from None
    except ValueError as error:
        raise RowError(f"number out of range ({error})") from None
    if not isinstance(row, dict):
        raise RowError(f"the row is {json_type(row)}", allowed="an object")
    if _SURROGATE.search(text):
        try:
            json.dumps(row, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise RowError(
                "lone surrogate in a string", allowed="Unicode text", hint="write the character whole or as U+FFFD"
            ) from None
    return row


def json_type(value: object) -> str:
    """What JSON calls the type of a value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object"


def _check_ratio(raw: IO[bytes], stream: IO[bytes], produced: int, place: Place) -> None:
    if stream is not raw and produced > _GZIP_FREE_BYTES and produced > MAX_GZIP_RATIO * max(raw.tell(), 1):
        raise DataError(
            f"gzip expands more than {MAX_GZIP_RATIO} times",
            where=str(place),
            hint="give the file uncompressed if it is meant to be so",
        )


def _check_shape(text: str) -> None:
    """Refuses what would take far more memory than its text, before it is parsed."""
    bare = _STRING.sub("", text)
    if bare.count(",") + bare.count("[") + bare.count("{") > MAX_VALUES:
        raise RowError(f"more than {MAX_VALUES} values in a row", allowed=f"at most {MAX_VALUES}", hint="split the row")
    depth = 0
    for match in _BRACKET.finditer(bare):
        depth += 1 if match[0] in "[{" else -1
        if depth > MAX_DEPTH:
            raise RowError(f"nesting depth > {MAX_DEPTH}", allowed=f"at most {MAX_DEPTH} levels")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise RowError(f"key {key!r} is given twice in one object", allowed="each key once")
            seen.add(key)
    return row


def _refuse_constant(name: str) -> float:
    raise RowError(f"{name} is not a JSON number", allowed="finite numbers")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise RowError(f"number {text[:40]} is out of range", allowed="finite numbers")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_finite)
