r"""Typed edge list: one record a line, short local ids, made to be lean in tokens and safe to read back.

    #graphroute edge_list/1 records=7 checksum=1f0c2a9b snapshot=9f3a as_of=2026-08-21
    answer [2]
    S1 kep:752:yaml@2020-10-05
    S2 kep:752:motivation date=2020-10-05 "Motivation of KEP-752"
    [1] kep kep:752 "KEP-752"
    [2] group g:sig-network sig-network
    F1 [1] OWNED_BY [2] 2020-10-05.. e:0ffd S1:115-126
    U1 path F1> => g:sig-network
    U2 text S2:0-35 : Endpoints do not scale past a few\nthousand.

Lines and fields, one space between fields:

- header: `records` counts the lines behind it, `checksum` is the start of the SHA-256 of the text with the checksum's digits as zeros;
  then, where they apply, `left_out=` (units that did not fit), `answers=` (their number, where not all are listed),
  `truncated=` (`paths`, `evidence` or `paths,evidence`), `abstained=` (the reason).
- `degraded STAGE REASON`, `flag NAME`, `answer [N]` or `answer [N] DISPLAY` or `answer DISPLAY`.
- `SN ID`, then `date=` and a title where the source's text is shown.
- `[N] TYPES ID NAME`: types joined by commas, `-` for none.
- `FN [N] PREDICATE [N] LOW..HIGH`, then assertion ids, each followed by the spans that prove it together. `SN:a-b` is a range of code points, `SN` the whole
  source.
- `UN path` with hops `FN>` (subject to object) or `FN<` (against it), then `=> BINDING`, `conflict`, `note=`;
  `UN text SN:a-b`, `conflict`, `note=`, then ` : ` and the text; `UN report COMMUNITY TITLE` with sources, `note=`, then ` : ` and the text.
- `omitted STAGE WHAT REASON`.

A value is bare if it starts with a letter, digit or `@`, goes on with these or `_ : @ . / + -`, and does not look like a local id; any other value stands in
double quotes. Text behind ` : ` runs to the end of the line. Escapes in both: `\\`, `\n`, `\t`, `\r`, `\u{hex}`, in quotes also `\"`. Every control, format, private and
unassigned character, every blank other than the space, spaces at either end of a text, and `<` where it could open or close a tag are written
as `\u{hex}`. So a value cannot start a line, and no header, record or closing tag can stand inside one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NoReturn

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

_BARE = re.compile(r"[\w@:./+-]+")
_LOCAL = re.compile(r"[SFU][0-9]")
_MARKER = "checksum="
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-f]{1,6})\}|(.)|$)")
_DECODED = {"\\": "\\", "n": "\n", "t": "\t", "r": "\r", '"': '"'}
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NUMBER = r"(0|[1-9][0-9]{0,17})"


def _by_number(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"


def _is_bare(text: str) -> bool:
    if not text or not (text[0].isalnum() or text[0] == "@"):
        return False
    return bool(_BARE.fullmatch(text)) and not _LOCAL.match(text) and harmless(text)


def _short(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def word(text: str) -> str:
    """A value as a field of a line: bare where that is safe, else quoted."""
    if _is_bare(text):
        return text
    body = _short(text).replace('"', '\\"')
    return f'"{visible(body, _by_number)}"'


def tail(text: str) -> str:
    """A text as the rest of a line."""
    body = _short(text)
    if body.startswith(" "):
        body = _by_number(" ") + body[1:]
    if body.endswith(" "):
        body = body[:-1] + _by_number(" ")
    return visible(body, _by_number)


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        number, character = match.groups()
        if number:
            point = int(number, 16)
            if point > 0x10FFFF:
                raise ValueError(f"no such code point: {match.group()}")
            return chr(point)
        if character not in _DECODED:
            raise ValueError(f"unknown escape {match.group()!r}")
        return _DECODED[character]

    return _ESCAPE.sub(one, text) if "\\" in text else text


class EdgeList:
    """The typed edge list of the module's description."""

    name = "edge_list"
    version = "1"
    grammar = (
        "One record a line. `[n] TYPE ID NAME` is an entity, `Fn [a] RELATION [b] FROM..TO` says that a stands in RELATION to b in "
        "that time (empty side: open), followed by assertion ids and the source spans that prove them; `Sn ID` is a source. "
        "`Un path` is a chain of facts, `Fn>` read from a to b and `Fn<` from b to a, `=>` what it leads to; `Un text` is a "
        "piece of a source; `Un report` is a summary over sources. `answer` lines list what the facts give. `omitted` and "
        "`degraded` say what is missing. A backslash escapes: \\n is a line break, \\u{hex} a character."
    )

    def dumps(self, records: Records) -> str:
        """The finished text. Raises DataError for records that do not fit together."""
        check(records)
        lines = list(_lines(records))
        header = [f"#graphroute {self.name}/{self.version} records={len(lines)} {_MARKER}{BLANK_CHECKSUM}"]
        header.append(f"snapshot={word(records.snapshot)} as_of={instant_text(records.as_of)}")
        if records.left_out:
            header.append(f"left_out={records.left_out}")
        if records.total_answers != len(records.answers):
            header.append(f"answers={records.total_answers}")
        cut = [
            name for name, is_cut in (("paths", records.truncated), ("evidence", records.evidence_truncated)) if is_cut
        ]
        if cut:
            header.append(f"truncated={','.join(cut)}")
        if records.abstained or records.reason:
            header.append(f"{'abstained' if records.abstained else 'reason'}={word(records.reason)}")
        return seal("\n".join([" ".join(header), *lines]), _MARKER)

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with the line and the reason for anything not understood."""
        reader = _Reader(text.split("\n"))
        try:
            return reader.read(self, text)
        except ValueError as error:
            reader.refuse(str(error))
        except DataError as error:
            if error.where:
                raise
            raise DataError(error.message, where="evidence text") from error


def _lines(records: Records) -> Iterable[str]:
    source_numbers = {source.id: number for number, source in enumerate(records.sources, start=1)}
    node_numbers = {node.id: number for number, node in enumerate(records.nodes, start=1)}
    names = {node.id: node.name for node in records.nodes}

    def span_text(span: SourceSpan) -> str:
        place = "" if span.start is None else f":{span.start}-{span.end}"
        return f"S{source_numbers[span.source_id]}{place}"

    for degradation in records.degraded:
        yield f"degraded {word(degradation.stage)} {word(degradation.reason)}"
    for flag in records.flags:
        yield f"flag {word(flag)}"
    for answer in records.answers:
        if answer.id is None:
            yield f"answer {word(answer.display)}"
        elif answer.display == names[answer.id]:
            yield f"answer [{node_numbers[answer.id]}]"
        else:
            yield f"answer [{node_numbers[answer.id]}] {word(answer.display)}"
    for number, source in enumerate(records.sources, start=1):
        date = "" if source.date is None else f" date={instant_text(source.date)}"
        title = "" if source.title is None else f" {word(source.title)}"
        yield f"S{number} {word(source.id)}{date}{title}"
    for number, node in enumerate(records.nodes, start=1):
        types = ",".join(map(word, node.types)) or "-"
        yield f"[{number}] {types} {word(node.id)} {word(node.name)}"
    for number, fact in enumerate(records.facts, start=1):
        fields = [f"F{number} [{node_numbers[fact.subject]}] {word(fact.predicate)} [{node_numbers[fact.object]}]"]
        fields.append(interval_text(fact.validity))
        for assertion in fact.assertions:
            fields.append(word(assertion.id))
            fields.extend(map(span_text, assertion.spans))
        yield " ".join(fields)
    for unit in records.units:
        note = "" if unit.note is None else f" note={word(unit.note)}"
        if isinstance(unit, PathRecord):
            hops = " ".join(f"F{index + 1}{'>' if way is Direction.FORWARD else '<'}" for index, way in unit.hops)
            binding = "" if unit.binding is None else f" => {word(unit.binding)}"
            yield f"{unit.id} path {hops}{binding}{' conflict' if unit.conflict else ''}{note}"
        elif isinstance(unit, PassageRecord):
            place = f"S{source_numbers[unit.source_id]}:{unit.start}-{unit.end}"
            yield f"{unit.id} text {place}{' conflict' if unit.conflict else ''}{note} : {tail(unit.text)}"
        else:
            sources = "".join(f" S{source_numbers[source_id]}" for source_id in unit.source_ids)
            yield f"{unit.id} report {word(unit.community)} {word(unit.title)}{sources}{note} : {tail(unit.text)}"
    for omission in records.omissions:
        yield f"omitted {word(omission.stage)} {word(omission.what)} {word(omission.reason)}"


class _Reader:
    """Reads line by line, left to right; `line` and `at` say where, for errors."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.number = 0
        self.at = 0

    def refuse(self, reason: str) -> NoReturn:
        raise DataError(reason, where=f"evidence text, line {self.number + 1}, column {self.at + 1}")

    @property
    def line(self) -> str:
        return self.lines[self.number] if self.number < len(self.lines) else ""

    def take(self, pattern: str) -> re.Match[str] | None:
        match = re.compile(pattern).match(self.line, self.at)
        if match:
            self.at = match.end()
        return match

    def need(self, pattern: str, what: str) -> re.Match[str]:
        match = self.take(pattern)
        if match is None:
            self.refuse(f"expected {what}, found {self.line[self.at : self.at + 20]!r}")
        return match

    def value(self) -> str:
        match = _QUOTED.match(self.line, self.at)
        if match:
            self.at = match.end()
            found = _unescape(match.group(1))
            if _is_bare(found):
                self.refuse(f"{match.group()} needs no quotes")
            return found
        bare = _BARE.match(self.line, self.at)
        if bare is None or not _is_bare(bare.group()):
            self.refuse(f"expected a value, found {self.line[self.at : self.at + 20]!r}")
        self.at = bare.end()
        return bare.group()

    def field(self) -> str:
        self.need(" ", "a space")
        return self.value()

    def end(self) -> None:
        if self.at != len(self.line):
            self.refuse(f"unexpected {self.line[self.at : self.at + 20]!r}")

    def next_line(self) -> None:
        self.end()
        self.number += 1
        self.at = 0

    def reference(self, letter: str, of: int, match: re.Match[str]) -> int:
        index = int(match.group(1)) - 1
        if not 0 <= index < of:
            self.refuse(f"undeclared {letter}{match.group(1)}{']' if letter == '[' else ''}")
        return index

    def read(self, form: EdgeList, text: str) -> Records:
        name = self.need(r"#graphroute (\w+)/(\w+) ", "a header")
        if name.groups() != (form.name, form.version):
            self.refuse(f"format {name.group(1)}/{name.group(2)}, not {form.name}/{form.version}")
        stated = int(self.need(rf"records={_NUMBER} ", "the number of records").group(1))
        self.need(rf"{_MARKER}[0-9a-f]{{8}} ", "a checksum")
        if unsealed(text, _MARKER):
            self.refuse("the checksum does not fit the text")
        self.need("snapshot=", "a snapshot")
        snapshot = self.value()
        as_of = parse_instant(self.need(r" as_of=(\S+)", "an instant").group(1))
        left_out = self.take(rf" left_out={_NUMBER}")
        total = self.take(rf" answers={_NUMBER}")
        cut = self.take(r" truncated=(paths,evidence|paths|evidence)")
        stopped = self.take(r" (abstained|reason)=")
        reason = self.value() if stopped else ""
        self.next_line()
        if stated != len(self.lines) - 1:
            self.refuse(f"{len(self.lines) - 1} records, not {stated}")
        degraded = []
        while self.take("degraded"):
            degraded.append(Degradation(stage=self.field(), reason=self.field()))
            self.next_line()
        flags = []
        while self.take("flag"):
            flags.append(self.field())
            self.next_line()
        pending: list[tuple[int | None, str | None]] = []
        while self.take("answer "):
            node = self.take(r"\[([1-9][0-9]{0,8})\]")
            display = None if node and self.at == len(self.line) else self.field() if node else self.value()
            pending.append((int(node.group(1)) - 1 if node else None, display))
            self.next_line()
        sources = self.sources()
        nodes = self.nodes()
        answers = []
        for index, display in pending:
            if index is not None and index >= len(nodes):
                self.refuse(f"undeclared [{index + 1}] in an answer")
            shown = display if display is not None else nodes[index or 0].name
            answers.append(Binding(id=None if index is None else nodes[index].id, display=shown))
        facts = self.facts(sources, nodes)
        units = self.units(sources, len(facts))
        omissions = []
        while self.take("omitted"):
            stage, what, why = self.field(), self.field(), self.field()
            omissions.append(Omission(what=what, stage=stage, reason=why))
            self.next_line()
        if self.number < len(self.lines):
            self.refuse(f"not a record, or out of order: {self.line[:20]!r}")
        cuts = cut.group(1).split(",") if cut else []
        return check(
            Records(
                snapshot=snapshot,
                as_of=as_of,
                abstained=bool(stopped and stopped.group(1) == "abstained"),
                reason=reason,
                truncated="paths" in cuts,
                evidence_truncated="evidence" in cuts,
                left_out=int(left_out.group(1)) if left_out else 0,
                total_answers=int(total.group(1)) if total else len(answers),
                degraded=tuple(degraded),
                flags=tuple(flags),
                answers=tuple(answers),
                sources=tuple(sources),
                nodes=tuple(nodes),
                facts=tuple(facts),
                units=tuple(units),
                omissions=tuple(omissions),
            )
        )

    def sources(self) -> list[SourceRecord]:
        found: list[SourceRecord] = []
        while self.take(rf"S{len(found) + 1}(?= )"):
            id = self.field()
            date = self.take(r" date=(\S+)")
            title = self.field() if self.at < len(self.line) else None
            found.append(SourceRecord(id=id, title=title, date=parse_instant(date.group(1)) if date else None))
            self.next_line()
        return found

    def nodes(self) -> list[NodeRecord]:
        found: list[NodeRecord] = []
        while self.take(rf"\[{len(found) + 1}\] "):
            types: list[str] = []
            if not self.take("-(?= )"):
                types.append(self.value())
                while self.take(","):
                    types.append(self.value())
            id, name = self.field(), self.field()
            found.append(NodeRecord(id=id, types=tuple(types), name=name))
            self.next_line()
        return found

    def span(self, sources: list[SourceRecord]) -> SourceSpan | None:
        match = self.take(rf" S([1-9][0-9]{{0,8}})(?::{_NUMBER}-{_NUMBER})?(?= |$)")
        if match is None:
            return None
        source = sources[self.reference("S", len(sources), match)]
        if match.group(2) is None:
            return SourceSpan(source.id)
        return SourceSpan(source.id, int(match.group(2)), int(match.group(3)))

    def facts(self, sources: list[SourceRecord], nodes: list[NodeRecord]) -> list[FactRecord]:
        found: list[FactRecord] = []
        while self.take(rf"F{len(found) + 1}(?= )"):
            subject = self.reference("[", len(nodes), self.need(r" \[([1-9][0-9]{0,8})\]", "an entity"))
            predicate = self.field()
            target = self.reference("[", len(nodes), self.need(r" \[([1-9][0-9]{0,8})\]", "an entity"))
            validity = parse_interval(self.need(r" (\S+)", "an interval").group(1))
            assertions = []
            while self.at < len(self.line):
                id = self.field()
                spans = []
                while (span := self.span(sources)) is not None:
                    spans.append(span)
                assertions.append(AssertionRecord(id=id, spans=tuple(spans)))
            found.append(
                FactRecord(
                    subject=nodes[subject].id,
                    predicate=predicate,
                    object=nodes[target].id,
                    validity=validity,
                    assertions=tuple(assertions),
                )
            )
            self.next_line()
        return found

    def units(self, sources: list[SourceRecord], facts: int) -> list[UnitRecord]:
        found: list[UnitRecord] = []
        while unit := self.take(r"(U[1-9][0-9]{0,8}) (path|text|report)(?= )"):
            id, kind = unit.groups()
            if kind == "path":
                hops = []
                while hop := self.take(r" F([1-9][0-9]{0,8})([<>])"):
                    way = Direction.FORWARD if hop.group(2) == ">" else Direction.BACKWARD
                    hops.append((self.reference("F", facts, hop), way))
                binding = self.field() if self.take(" =>") else None
                conflict = bool(self.take(" conflict"))
                found.append(PathRecord(id=id, hops=tuple(hops), binding=binding, conflict=conflict, note=self.note()))
            elif kind == "text":
                span = self.span(sources)
                if span is None or span.start is None or span.end is None:
                    self.refuse("expected a span of a source")
                conflict = bool(self.take(" conflict"))
                note = self.note()
                found.append(
                    PassageRecord(
                        id=id,
                        source_id=span.source_id,
                        start=span.start,
                        end=span.end,
                        text=self.text(),
                        conflict=conflict,
                        note=note,
                    )
                )
            else:
                community, title = self.field(), self.field()
                spans = []
                while (span := self.span(sources)) is not None:
                    spans.append(span)
                if any(span.start is not None for span in spans):
                    self.refuse("a report names whole sources")
                note = self.note()
                found.append(
                    ReportRecord(
                        id=id,
                        community=community,
                        title=title,
                        text=self.text(),
                        source_ids=tuple(span.source_id for span in spans),
                        note=note,
                    )
                )
            self.next_line()
        return found

    def note(self) -> str | None:
        return self.value() if self.take(" note=") else None

    def text(self) -> str:
        self.need(" : ", "` : ` and the text")
        rest = self.line[self.at :]
        self.at = len(self.line)
        return _unescape(rest)
