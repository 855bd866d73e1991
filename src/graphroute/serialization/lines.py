"""Header and line reader of the formats that have a line for each record."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

from graphroute.errors import DataError
from graphroute.serialization.draft import Draft
from graphroute.serialization.escaping import BARE, QUOTED, is_bare, unescape, word
from graphroute.serialization.records import (
    BLANK_CHECKSUM,
    CHECKSUM_DIGITS,
    Profile,
    Records,
    SourceRecord,
    check,
    instant_text,
    parse_instant,
    unsealed,
)
from graphroute.types.source import SourceSpan

MARKER = "checksum="
NUMBER = r"(0|[1-9][0-9]{0,17})"
INDEX = r"([1-9][0-9]{0,8})"

compiled = lru_cache(maxsize=1024)(re.compile)


def header(opening: str, records: Draft) -> str:
    """The first line: format, profile, number of records, checksum as zeros, and what holds for all records.

    Behind the checksum, each only where it says something: `snapshot=`, `access=`, `as_of=`, `left_out=` (units that did not fit), `answers=`
    (their number, where not all are listed), `truncated=` (`paths`, `evidence` or `paths,evidence`), `abstained=` or `reason=`.
    """
    fields = [f"{opening} {records.profile.value} records={records.count} {MARKER}{BLANK_CHECKSUM}"]
    if records.snapshot:
        fields.append(f"snapshot={word(records.snapshot)}")
    if records.access:
        fields.append(f"access={word(records.access)}")
    if records.as_of is not None:
        fields.append(f"as_of={instant_text(records.as_of)}")
    if records.left_out:
        fields.append(f"left_out={records.left_out}")
    if records.total_answers != len(records.answers):
        fields.append(f"answers={records.total_answers}")
    if records.truncated:
        fields.append("truncated=paths,evidence" if records.evidence_truncated else "truncated=paths")
    elif records.evidence_truncated:
        fields.append("truncated=evidence")
    if records.abstained or records.reason:
        fields.append(f"{'abstained' if records.abstained else 'reason'}={word(records.reason)}")
    return " ".join(fields)


@dataclass(frozen=True, slots=True)
class Header:
    """What the first line says; `given` are fields of `Records`, `total_answers` is None where all are listed."""

    profile: Profile
    count: int
    given: dict[str, Any]
    total_answers: int | None

    @property
    def lean(self) -> bool:
        return self.profile is Profile.LEAN

    def records(self, **parts: Any) -> Records:
        """Header and parts as records that fit together. Raises DataError if they do not, or are not as many as stated."""
        total = len(parts.get("answers", ())) if self.total_answers is None else self.total_answers
        records = Records(profile=self.profile, total_answers=total, **self.given, **parts)
        if records.count != self.count:
            raise DataError(f"{records.count} records, not {self.count}")
        return check(records)


class LineReader:
    """Reads line by line, left to right; `number` and `at` say where, for errors."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.number = 0
        self.at = 0

    def refuse(self, reason: str) -> NoReturn:
        raise DataError(reason, where=f"evidence text, line {self.number + 1}, column {self.at + 1}")

    @property
    def line(self) -> str:
        return self.lines[self.number] if self.number < len(self.lines) else ""

    @property
    def rest(self) -> str:
        return self.line[self.at :]

    @property
    def more(self) -> bool:
        """True before the last line is read."""
        return self.number < len(self.lines)

    def take(self, pattern: str) -> re.Match[str] | None:
        match = compiled(pattern).match(self.line, self.at)
        if match:
            self.at = match.end()
        return match

    def need(self, pattern: str, what: str) -> re.Match[str]:
        match = self.take(pattern)
        if match is None:
            self.refuse(f"expected {what}, found {self.rest[:20]!r}")
        return match

    def value(self) -> str:
        """A word."""
        match = QUOTED.match(self.line, self.at)
        if match:
            self.at = match.end()
            found = unescape(match.group(1))
            if word(found) != match.group():
                self.refuse(f"{match.group()} needs no quotes or other escapes")
            return found
        bare = BARE.match(self.line, self.at)
        if bare is None or not is_bare(bare.group()):
            self.refuse(f"expected a value, found {self.rest[:20]!r}")
        self.at = bare.end()
        return bare.group()

    def field(self) -> str:
        self.need(" ", "a space")
        return self.value()

    def to_end(self) -> str:
        """What is left of the line, with its escapes."""
        rest = self.rest
        self.at = len(self.line)
        return rest

    def end(self) -> None:
        if self.at != len(self.line):
            self.refuse(f"unexpected {self.rest[:20]!r}")

    def next_line(self) -> None:
        self.end()
        self.number += 1
        self.at = 0

    def done(self) -> None:
        if self.more:
            self.refuse(f"not a record, or out of order: {self.line[:20]!r}")

    def index(self, name: str, number: str, of: int) -> int:
        """Index from 0 of a local number from 1."""
        index = int(number) - 1
        if not 0 <= index < of:
            self.refuse(f"undeclared {name}")
        return index

    def header(self, opening: str) -> Header:
        """Reads the first line. `opening` ends in `name/version`."""
        mark, _, stated = opening.rpartition(" ")
        self.need(re.escape(mark) + " ", "a header")
        found = self.need(r"([\w-]+/\w+) ", "a format").group(1)
        if found != stated:
            self.refuse(f"format {found}, not {stated}")
        profile = Profile(self.need("(full|lean) ", "a profile").group(1))
        count = int(self.need(rf"records={NUMBER} ", "the number of records").group(1))
        self.need(rf"{MARKER}[0-9]{{{CHECKSUM_DIGITS}}}(?= |$)", "a checksum")
        if unsealed(self.text, MARKER):
            self.refuse("the checksum does not fit the text")
        given: dict[str, Any] = {}
        for key in ("snapshot", "access"):
            if self.take(f" {key}="):
                given[key] = self.value()
        as_of = self.take(r" as_of=(\S+)")
        if as_of:
            given["as_of"] = parse_instant(as_of.group(1))
        left_out = self.take(rf" left_out={NUMBER}")
        if left_out:
            given["left_out"] = int(left_out.group(1))
        total = self.take(rf" answers={NUMBER}")
        cut = self.take(r" truncated=(paths,evidence|paths|evidence)")
        if cut:
            cuts = cut.group(1).split(",")
            given.update(truncated="paths" in cuts, evidence_truncated="evidence" in cuts)
        stopped = self.take(r" (abstained|reason)=")
        if stopped:
            given.update(abstained=stopped.group(1) == "abstained", reason=self.value())
        self.next_line()
        return Header(profile, count, given, int(total.group(1)) if total else None)


def read_all(text: str, read: Callable[[LineReader], Records]) -> Records:
    """What `read` makes of the text; any error is a DataError with its line, or that of the text where no line is at fault."""
    reader = LineReader(text)
    try:
        return read(reader)
    except DataError as error:
        if error.where:
            raise
        raise DataError(error.message, where="evidence text", allowed=error.allowed) from error
    except ValueError as error:
        reader.refuse(str(error))


class SourceNumbers:
    """Sources while a text is read: those declared, and in lean texts those that are no more than a number."""

    def __init__(self, *, lean: bool) -> None:
        self.lean = lean
        self._declared: dict[int, SourceRecord] = {}
        self._cited: dict[int, None] = {}

    def declare(self, number: int, source: SourceRecord) -> None:
        """Raises ValueError unless numbers rise, in full texts by one."""
        last = next(reversed(self._declared), 0)
        if number <= last or (not self.lean and number != last + 1):
            raise ValueError(f"source S{number} is out of order")
        if self.lean and source.title is None and source.date is None:
            raise ValueError(f"source S{number} says nothing")
        self._declared[number] = source

    def id_of(self, number: int) -> str:
        """Id of a source by its number. Raises ValueError for one that is undeclared in a full text."""
        if self.lean:
            self._cited[number] = None
            return f"S{number}"
        source = self._declared.get(number)
        if source is None:
            raise ValueError(f"undeclared S{number}")
        return source.id

    def span(self, number: int, start: int | None, end: int | None) -> SourceSpan:
        if self.lean and start is not None:
            raise ValueError(f"S{number} has bounds in a lean text")
        return SourceSpan(self.id_of(number), start, end)

    def records(self) -> tuple[SourceRecord, ...]:
        """All of them in order. Raises ValueError where a number is missing."""
        if not self.lean:
            return tuple(self._declared.values())
        numbers = {*self._declared, *self._cited}
        if numbers and max(numbers) != len(numbers):
            raise ValueError(f"S{max(numbers)} is cited, and not all before it")
        return tuple(self._declared.get(one) or SourceRecord(id=f"S{one}") for one in sorted(numbers))


def joined(types: Sequence[str]) -> str:
    """Types of a node: words joined by commas, `-` for none."""
    return ",".join(map(word, types)) or "-"
