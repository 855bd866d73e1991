"""Records that look alike in the edge list and the adjacency list, written and read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphroute.serialization.draft import Draft, Proof, bounds, lean_sets
from graphroute.serialization.escaping import tail, unescape, word, words
from graphroute.serialization.lines import (
    INDEX,
    NUMBER,
    Header,
    LineReader,
    SourceNumbers,
    header,
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
)
from graphroute.types.evidence import Degradation, Omission
from graphroute.types.retrieval import Binding
from graphroute.types.source import SourceSpan


class LineProofs:
    """Assertions with their support sets, each field with a space before it; lean: the sources alone."""

    space = " "

    def __init__(self, profile: Profile) -> None:
        self._lean = profile is Profile.LEAN

    def single(self, ids: Sequence[str], numbers: Sequence[int], spans: Sequence[SourceSpan]) -> list[str]:
        space = self.space
        if self._lean:
            shown = {number: f"{space}S{number}" for number in set(numbers)}
            return [shown[number] for number in numbers]
        found = []
        for id, number, span in zip(words(ids), numbers, spans, strict=True):
            start, end = span.start, span.end
            if start is None or end is None or not 0 <= start <= end:
                found.append(f"{space}{id} S{number}{bounds(span)}")
            else:
                found.append(f"{space}{id} S{number}:{start}-{end}")
        return found

    def many(self, proof: Proof) -> str:
        if self._lean:
            return " |".join(["".join([f" S{number}" for number in one]) for one in lean_sets(proof)])
        return "".join(
            [
                f" {word(id)}"
                + " |".join(["".join([f" S{number}{bounds(span)}" for number, span in one]) for one in sets])
                for id, sets in proof
            ]
        )


def opening_lines(opening: str, draft: Draft) -> list[str]:
    """The header and what stands right behind it."""
    return [
        header(opening, draft),
        *[f"degraded {word(one.stage)} {word(one.reason)}" for one in draft.degraded],
        *[f"flag {word(flag)}" for flag in draft.flags],
    ]


def source_lines(draft: Draft) -> dict[int, str]:
    """`SN ID date= TITLE` by index."""
    cited = draft.cited
    if not draft.lean and not cited:
        return {number - 1: f"S{number} {id}" for number, id in enumerate(words(draft.source_ids), start=1)}
    found = {}
    for index in draft.stated_sources():
        id = "" if draft.lean else f" {word(draft.source_ids[index])}"
        title, moment = cited.get(index, (None, None))
        date = "" if moment is None else f" date={instant_text(moment)}"
        shown = "" if title is None else f" {word(title)}"
        found[index] = f"S{index + 1}{id}{date}{shown}"
    return found


def omission_lines(draft: Draft) -> list[str]:
    """`omitted STAGE WHAT REASON`."""
    return [f"omitted {word(one.stage)} {word(one.what)} {word(one.reason)}" for one in draft.omissions]


def text_unit(unit: PassageRecord | ReportRecord, draft: Draft) -> str:
    """The line of a passage or report."""
    note = "" if unit.note is None else f" note={word(unit.note)}"
    numbers, lean = draft.source_at, draft.lean
    if isinstance(unit, PassageRecord):
        place = f"S{numbers[unit.source_id]}{'' if lean else f':{unit.start}-{unit.end}'}"
        return f"{unit.id} text {place}{' conflict' if unit.conflict else ''}{note} : {tail(unit.text)}"
    sources = "".join([f" S{numbers[source_id]}" for source_id in unit.source_ids])
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
