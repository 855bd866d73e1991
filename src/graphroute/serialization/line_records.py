"""Records that look alike in the edge list and the adjacency list, written and read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphroute.serialization.escaping import tail, unescape, word
from graphroute.serialization.lines import (
    INDEX,
    NUMBER,
    Header,
    LineReader,
    SourceNumbers,
)
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
    instant_text,
    parse_instant,
    stated_sources,
)
from graphroute.types.evidence import Degradation, Omission
from graphroute.types.retrieval import Binding
from graphroute.types.source import SourceSpan


def span_text(span: SourceSpan, numbers: dict[str, int]) -> str:
    """`SN` or `SN:a-b`."""
    number = numbers[span.source_id]
    return f"S{number}" if span.start is None else f"S{number}:{span.start}-{span.end}"


def proof_text(assertions: Sequence[AssertionRecord], numbers: dict[str, int], *, lean: bool) -> str:
    """Assertions with their support sets, each field with a space before it."""
    parts = []
    for id, supports in assertions:
        if not lean:
            parts.append(f" {word(id)}")
        for number, support in enumerate(supports):
            if number:
                parts.append(" |")
            for span in support:
                parts.append(f" {span_text(span, numbers)}")
    return "".join(parts)


def answer_lines(records: Records, node: str) -> Iterator[str]:
    """`answer`, with the node written by `node` (a template for its number)."""
    numbers = {one.id: number for number, one in enumerate(records.nodes, start=1)}
    for answer in records.answers:
        if answer.id is None:
            yield f"answer {word(answer.display)}"
            continue
        number = numbers[answer.id]
        display = "" if answer.display == records.nodes[number - 1].name else f" {word(answer.display)}"
        yield f"answer {node.format(number)}{display}"


def source_lines(records: Records) -> Iterator[str]:
    """`SN ID date= TITLE`."""
    lean = records.profile is Profile.LEAN
    for number, source in stated_sources(records):
        id = "" if lean else f" {word(source.id)}"
        date = "" if source.date is None else f" date={instant_text(source.date)}"
        title = "" if source.title is None else f" {word(source.title)}"
        yield f"S{number}{id}{date}{title}"


def text_unit(unit: PassageRecord | ReportRecord, numbers: dict[str, int], *, lean: bool) -> str:
    """The line of a passage or report."""
    note = "" if unit.note is None else f" note={word(unit.note)}"
    if isinstance(unit, PassageRecord):
        place = span_text(SourceSpan(unit.source_id, unit.start, unit.end), numbers)
        return f"{unit.id} text {place}{' conflict' if unit.conflict else ''}{note} : {tail(unit.text)}"
    sources = "".join(f" S{numbers[source_id]}" for source_id in unit.source_ids)
    community = "" if lean else f" {word(unit.community)}"
    return f"{unit.id} report{community} {word(unit.title)}{sources}{note} : {tail(unit.text)}"


class Reading:
    """A text being read; what the edge list and the adjacency list have in common."""

    node = rf"\[{INDEX}\]"
    unit = r"(U[1-9][0-9]{0,8}) (path|text|report)(?= )"

    def __init__(self, reader: LineReader, opening: str) -> None:
        self.reader = reader
        self.head: Header = reader.header(opening)
        self.sources = SourceNumbers(lean=self.head.lean)
        self.nodes: list[NodeRecord] = []
        self.node_ids: frozenset[str] = frozenset()
        self.facts: list[FactRecord] = []

    def read(self) -> Records:
        reader = self.reader
        degraded, flags, omissions = [], [], []
        while reader.take("degraded(?= )"):
            degraded.append(Degradation(stage=reader.field(), reason=reader.field()))
            reader.next_line()
        while reader.take("flag(?= )"):
            flags.append(reader.field())
            reader.next_line()
        pending = self.answers()
        while number := reader.take(rf"S{INDEX}(?= )"):
            self.source(int(number.group(1)))
        self.graph()
        self.node_ids = frozenset(one.id for one in self.nodes)
        units = tuple(self.units())
        while reader.take("omitted(?= )"):
            stage, what, why = reader.field(), reader.field(), reader.field()
            omissions.append(Omission(what=what, stage=stage, reason=why))
            reader.next_line()
        reader.done()
        answers = []
        for index, display in pending:
            if index is not None and index >= len(self.nodes):
                raise ValueError(f"undeclared entity {index + 1} in an answer")
            id, name = (None, "") if index is None else (self.nodes[index].id, self.nodes[index].name)
            answers.append(Binding(id=id, display=name if display is None else display))
        return self.head.records(
            degraded=tuple(degraded),
            flags=tuple(flags),
            answers=tuple(answers),
            sources=self.sources.records(),
            nodes=tuple(self.nodes),
            facts=tuple(self.facts),
            units=units,
            omissions=tuple(omissions),
        )

    def answers(self) -> list[tuple[int | None, str | None]]:
        reader = self.reader
        found: list[tuple[int | None, str | None]] = []
        while reader.take("answer "):
            node = reader.take(f"{self.node}(?= |$)")
            display = None if node and not reader.rest else reader.field() if node else reader.value()
            found.append((int(node.group(1)) - 1 if node else None, display))
            reader.next_line()
        return found

    def source(self, number: int) -> None:
        reader = self.reader
        id = f"S{number}" if self.head.lean else reader.field()
        date = reader.take(r" date=(\S+)")
        title = reader.field() if reader.rest else None
        moment = parse_instant(date.group(1)) if date else None
        self.sources.declare(number, SourceRecord(id=id, title=title, date=moment))
        reader.next_line()

    def graph(self) -> None:
        raise NotImplementedError

    def path(self, unit_id: str) -> PathRecord:
        raise NotImplementedError

    def types(self) -> tuple[str, ...]:
        reader = self.reader
        if reader.take("-(?= )"):
            return ()
        types = [reader.value()]
        while reader.take(","):
            types.append(reader.value())
        return tuple(types)

    def span(self) -> SourceSpan | None:
        match = self.reader.take(rf" S{INDEX}(?::{NUMBER}-{NUMBER})?(?=[ ,;]|$)")
        if match is None:
            return None
        number, start, end = match.groups()
        if start is None:
            return self.sources.span(int(number), None, None)
        return self.sources.span(int(number), int(start), int(end))

    def supports(self) -> tuple[tuple[SourceSpan, ...], ...]:
        sets: list[list[SourceSpan]] = []
        more: object = True
        while more and (span := self.span()) is not None:
            sets.append([span])
            while (span := self.span()) is not None:
                sets[-1].append(span)
            more = self.reader.take(r" \|")
        if sets and more:
            raise ValueError("an alternative without sources")
        return tuple(map(tuple, sets))

    def proof(self) -> tuple[AssertionRecord, ...]:
        reader = self.reader
        if self.head.lean:
            supports = self.supports()
            return (AssertionRecord(id="", supports=supports),) if supports else ()
        assertions = []
        while reader.line.startswith(" ", reader.at):
            assertions.append(AssertionRecord(id=reader.field(), supports=self.supports()))
        return tuple(assertions)

    def entity(self, match_number: str) -> str:
        return self.nodes[self.reader.index(f"entity {match_number}", match_number, len(self.nodes))].id

    def binding(self) -> str | None:
        reader = self.reader
        if not reader.take(" =>(?= )"):
            return None
        node = reader.take(f" {self.node}(?= |$)")
        if node:
            return self.entity(node.group(1))
        found = reader.field()
        if found in self.node_ids:
            reader.refuse(f"{found!r} is an entity that has a number")
        return found

    def note(self) -> str | None:
        return self.reader.value() if self.reader.take(" note=") else None

    def text(self) -> str:
        self.reader.need(" : ", "` : ` and the text")
        rest = self.reader.to_end()
        found = unescape(rest)
        if tail(found) != rest:
            self.reader.refuse("a text with other escapes than needed")
        return found

    def units(self) -> Iterator[UnitRecord]:
        reader = self.reader
        while unit := reader.take(self.unit):
            id, kind = unit.groups()
            if kind in (None, "path"):
                yield self.path(id)
            elif kind == "text":
                span = self.span()
                if span is None:
                    reader.refuse("expected a span of a source")
                conflict = bool(reader.take(" conflict(?= )"))
                note = self.note()
                yield PassageRecord(
                    id=id,
                    source_id=span.source_id,
                    start=span.start,
                    end=span.end,
                    text=self.text(),
                    conflict=conflict,
                    note=note,
                )
            else:
                community = "" if self.head.lean else reader.field()
                title = reader.field()
                sources = []
                while source := reader.take(rf" S{INDEX}(?= |$)"):
                    sources.append(self.sources.id_of(int(source.group(1))))
                note = self.note()
                yield ReportRecord(
                    id=id, community=community, title=title, text=self.text(), source_ids=tuple(sources), note=note
                )
            reader.next_line()
