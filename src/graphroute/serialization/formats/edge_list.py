r"""Typed edge list: one record a line, short local ids, made to be lean in tokens and safe to read back.

    #graphroute edge_list/2 full records=7 checksum=190412375 snapshot=9f3a as_of=2026-08-21
    answer [2]
    S1 kep:752:yaml
    S2 kep:752:motivation date=2020-10-05 "Motivation of KEP-752"
    [1] kep kep:752 "KEP-752"
    [2] group g:sig-network sig-network
    F1 [1] OWNED_BY [2] 2020-10-05.. e:0ffd S1:115-126
    U1 path F1> => [2]
    U2 text S2:0-35 : Endpoints do not scale past a few\nthousand.

Lines and fields, one space between fields:

- header: see `lines.header`; `records` counts the lines behind it.
- `degraded STAGE REASON`, `flag NAME`, `answer [N]` or `answer [N] DISPLAY` or `answer DISPLAY`.
- `SN ID`, then `date=` and a title where the source's text is shown.
- `[N] TYPES ID NAME`: types joined by commas, `-` for none.
- `FN [N] PREDICATE [N] LOW..HIGH`, with `not` before the predicate where the fact is denied, then assertion ids, each followed by the spans that prove it
  together and, behind `|`, by other sets of spans that prove it as well. `SN:a-b` is a range of code points, `SN` the whole source.
- `UN path` with hops `FN>` (subject to object) or `FN<` (against it), then `=> [N]` or `=> BINDING`, `conflict`, `note=`;
  `UN text SN:a-b`, `conflict`, `note=`, then ` : ` and the text; `UN report COMMUNITY TITLE` with sources, `note=`, then ` : ` and the text.
- `omitted STAGE WHAT REASON`.

Lean: sources and entities have no id, facts no assertion ids but the sources behind them, `LOW..HIGH` is left out where both sides are open, texts
name their source without bounds, reports have no community, and a source without title and date has no line.
Values are written as words and tails (`escaping`). Interleaved: an entity stands before the first fact that names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from graphroute.serialization.escaping import tail, unescape, word
from graphroute.serialization.lines import (
    INDEX,
    MARKER,
    NUMBER,
    Header,
    LineReader,
    SourceNumbers,
    header,
    joined,
    read_all,
)
from graphroute.serialization.orderings import interleaved
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
    instant_text,
    interval_text,
    parse_instant,
    parse_interval,
    project,
    seal,
    stated_sources,
)
from graphroute.types.evidence import Degradation, Omission
from graphroute.types.graph import Direction
from graphroute.types.retrieval import Binding
from graphroute.types.source import SourceSpan
from graphroute.types.time import ALWAYS


class EdgeList:
    """The typed edge list of the module's description."""

    name = "edge_list"
    version = "2"
    ordering = "given"
    grammar = (
        "One record a line. `[n] TYPE ID NAME` is an entity, `Fn [a] RELATION [b] FROM..TO` says that a stands in RELATION to b in "
        "that time (empty side: open), `not RELATION` that it does not, followed by assertion ids and the source spans that prove them; "
        "`Sn ID` is a source. `Un path` is a chain of facts, `Fn>` read from a to b and `Fn<` from b to a, `=>` what it leads to; "
        "`Un text` is a piece of a source; `Un report` is a summary over sources. `answer` lines list what the facts give. `omitted` and "
        "`degraded` say what is missing. A backslash escapes: \\n is a line break, \\u{hex} a character."
    )

    def dumps(self, records: Records, profile: Profile | None = None) -> str:
        """The finished text. Raises DataError for records that do not fit together."""
        records = check(records if profile is None else project(records, profile))
        opening = f"#graphroute {self.name}/{self.version}"
        return seal("\n".join([header(opening, records), *_lines(records)]), MARKER)

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with the line and the reason for anything not understood."""
        return read_all(text, lambda reader: _Reading(reader, f"#graphroute {self.name}/{self.version}").read())


def span_text(span: SourceSpan, numbers: dict[str, int]) -> str:
    """`SN` or `SN:a-b`."""
    number = numbers[span.source_id]
    return f"S{number}" if span.start is None else f"S{number}:{span.start}-{span.end}"


def proof_text(assertions: Sequence[AssertionRecord], numbers: dict[str, int], *, lean: bool) -> str:
    """Assertions with their support sets, each field with a space before it."""
    parts = []
    for assertion in assertions:
        if not lean:
            parts.append(f" {word(assertion.id)}")
        for number, support in enumerate(assertion.supports):
            if number:
                parts.append(" |")
            parts.extend([f" {span_text(span, numbers)}" for span in support])
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


def _lines(records: Records) -> Iterable[str]:
    lean = records.profile is Profile.LEAN
    sources = {source.id: number for number, source in enumerate(records.sources, start=1)}
    nodes = {node.id: number for number, node in enumerate(records.nodes, start=1)}
    for degradation in records.degraded:
        yield f"degraded {word(degradation.stage)} {word(degradation.reason)}"
    for flag in records.flags:
        yield f"flag {word(flag)}"
    yield from answer_lines(records, "[{}]")
    yield from source_lines(records)

    for kind, index in interleaved(records):
        if kind == "node":
            node = records.nodes[index]
            id = "" if lean else f" {word(node.id)}"
            yield f"[{index + 1}] {joined(node.types)}{id} {word(node.name)}"
            continue
        fact = records.facts[index]
        denied = "not " if fact.negated else ""
        time = "" if lean and fact.validity == ALWAYS else f" {interval_text(fact.validity)}"
        proof = proof_text(fact.assertions, sources, lean=lean) if fact.assertions else ""
        ends = f"[{nodes[fact.subject]}] {denied}{word(fact.predicate)} [{nodes[fact.object]}]"
        yield f"F{index + 1} {ends}{time}{proof}"
    for unit in records.units:
        if not isinstance(unit, PathRecord):
            yield text_unit(unit, sources, lean=lean)
            continue
        hops = " ".join([f"F{index + 1}{'>' if way is Direction.FORWARD else '<'}" for index, way in unit.hops])
        binding = ""
        if unit.binding is not None:
            binding = f" => [{nodes[unit.binding]}]" if unit.binding in nodes else f" => {word(unit.binding)}"
        note = "" if unit.note is None else f" note={word(unit.note)}"
        yield f"{unit.id} path {hops}{binding}{' conflict' if unit.conflict else ''}{note}"
    for omission in records.omissions:
        yield f"omitted {word(omission.stage)} {word(omission.what)} {word(omission.reason)}"


class Reading:
    """A text being read; what the edge list and the adjacency list have in common."""

    node = rf"\[{INDEX}\]"

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
        match = self.reader.take(rf" S{INDEX}(?::{NUMBER}-{NUMBER})?(?= |$)")
        if match is None:
            return None
        number, start, end = match.groups()
        if start is None:
            return self.sources.span(int(number), None, None)
        return self.sources.span(int(number), int(start), int(end))

    def supports(self) -> tuple[tuple[SourceSpan, ...], ...]:
        sets: list[list[SourceSpan]] = []
        while (span := self.span()) is not None:
            sets.append([span])
            while (span := self.span()) is not None:
                sets[-1].append(span)
            if not self.reader.take(r" \|(?= S)"):
                break
        return tuple(map(tuple, sets))

    def proof(self) -> tuple[AssertionRecord, ...]:
        reader = self.reader
        if self.head.lean:
            supports = self.supports()
            return (AssertionRecord(id="", supports=supports),) if supports else ()
        assertions = []
        while reader.rest:
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
        while unit := reader.take(r"(U[1-9][0-9]{0,8}) (path|text|report)(?= )"):
            id, kind = unit.groups()
            if kind == "path":
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


class _Reading(Reading):
    def graph(self) -> None:
        reader = self.reader
        while True:
            if reader.take(rf"\[{len(self.nodes) + 1}\] "):
                types = self.types()
                id = f"N{len(self.nodes) + 1}" if self.head.lean else reader.field()
                self.nodes.append(NodeRecord(id=id, types=types, name=reader.field()))
            elif reader.take(rf"F{len(self.facts) + 1}(?= )"):
                self.fact()
            else:
                return
            reader.next_line()

    def fact(self) -> None:
        reader = self.reader
        subject = self.entity(reader.need(rf" {self.node}", "an entity").group(1))
        negated = bool(reader.take(r" not(?= [^\[])"))
        predicate = reader.field()
        target = self.entity(reader.need(rf" {self.node}", "an entity").group(1))
        time = reader.take(r" ([^ |]*\.\.[^ |]*)") if self.head.lean else reader.need(r" (\S+)", "an interval")
        validity = parse_interval(time.group(1)) if time else ALWAYS
        if self.head.lean and time and validity == ALWAYS:
            reader.refuse("an interval that says nothing")
        self.facts.append(
            FactRecord(
                subject=subject,
                predicate=predicate,
                object=target,
                validity=validity,
                negated=negated,
                assertions=self.proof(),
            )
        )

    def path(self, unit_id: str) -> PathRecord:
        reader = self.reader
        hops = []
        while hop := reader.take(rf" F{INDEX}([<>])"):
            way = Direction.FORWARD if hop.group(2) == ">" else Direction.BACKWARD
            hops.append((reader.index(f"F{hop.group(1)}", hop.group(1), len(self.facts)), way))
        binding = self.binding()
        conflict = bool(reader.take(" conflict(?= |$)"))
        return PathRecord(id=unit_id, hops=tuple(hops), binding=binding, conflict=conflict, note=self.note())
