r"""Records as rows of cells and back; shared by the formats that are tables.

Every row has a kind, a local id where its kind has one (`N1`, `F1`, `S1`, `U1`), and the cells of `COLUMNS`; a missing value is None and no empty string.
Cells of several parts: types are words joined by commas; `proof` is assertion ids, each followed by the spans that prove it together and,
behind `|`, by other such sets (lean: sets of sources alone); hops are `>F1` (subject to object) or `<F1` (against it); a binding is a node's
local id or a word. Words and escapes as in `escaping`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache

from graphroute.errors import DataError
from graphroute.serialization.draft import (
    Draft,
    PathDraft,
    Proof,
    UnitDraft,
    Written,
    draft_of_records,
    interleaved,
    numbered,
)
from graphroute.serialization.escaping import MAX_CACHED, by_number, is_plain, tail, unescape, word
from graphroute.serialization.line_records import LineProofs
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
    parse_instant,
    parse_interval,
    project,
    seal,
)
from graphroute.types.evidence import Degradation, Omission
from graphroute.types.graph import Direction
from graphroute.types.retrieval import Binding
from graphroute.types.source import SourceSpan
from graphroute.types.time import ALWAYS

Cell = str | None
Row = tuple[str, str, Sequence[Cell]]
"""Kind, local id or "", cells."""

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "degraded": ("stage", "reason"),
    "flag": ("name",),
    "answer": ("node", "display"),
    "source": ("title", "date", "source"),
    "node": ("type", "name", "entity"),
    "fact": ("subject", "predicate", "object", "valid", "not", "proof"),
    "path": ("hops", "to", "conflict", "note"),
    "text": ("source", "conflict", "note", "text"),
    "report": ("title", "sources", "note", "text", "community"),
    "omitted": ("stage", "what", "reason"),
}
"""Cells of each kind in full; lean rows lack `source` of sources, `entity` of nodes and `community` of reports."""

ONLY_FULL = frozenset({("source", "source"), ("node", "entity"), ("report", "community")})
ORDER = {
    kind: number
    for number, kinds in enumerate(
        (("degraded",), ("flag",), ("answer",), ("source",), ("node", "fact"), ("path", "text", "report"), ("omitted",))
    )
    for kind in kinds
}


@cache
def columns(kind: str, profile: Profile) -> tuple[str, ...]:
    """Names of the cells of a kind."""
    full = COLUMNS[kind]
    return full if profile is Profile.FULL else tuple(name for name in full if (kind, name) not in ONLY_FULL)


class CellProofs(LineProofs):
    """Assertions with their support sets, with spaces between them; lean: the sources alone."""

    space = ""

    def many(self, proof: Proof) -> str:
        return super().many(proof)[1:]


def types_cells(draft: Draft) -> list[Cell]:
    """Types of each node as a cell."""
    found: dict[tuple[str, ...], Cell] = {one: joined(one) if one else None for one in dict.fromkeys(draft.types)}
    return [found[one] for one in draft.types]


def source_cells(draft: Draft, index: int) -> Sequence[Cell]:
    """Title, date and, in full, id."""
    title, moment = draft.cited.get(index, (None, None))
    date = None if moment is None else instant_text(moment)
    return (title, date) if draft.lean else (title, date, draft.source_ids[index])


def answer_cells(draft: Draft, node: Sequence[str]) -> list[Sequence[Cell]]:
    """Node and display of each answer."""
    return [
        (None, display) if index is None else (node[index], None if display == draft.names[index] else display)
        for index, display in draft.answers
    ]


def hops_cell(hops: Sequence[int]) -> str:
    """`>F1` or `<F1` for each."""
    if len(hops) == 1:
        return f">F{hops[0] + 1}" if hops[0] >= 0 else f"<F{-hops[0]}"
    return " ".join([f">F{index + 1}" if index >= 0 else f"<F{-index}" for index in hops])


def binding_cell(binding: str, draft: Draft) -> str:
    """A node's local id, or a word."""
    index = draft.node_at.get(binding)
    return word(binding) if index is None else f"N{index + 1}"


def unit_cells(unit: UnitDraft, draft: Draft) -> tuple[str, Sequence[Cell]]:
    """Kind and cells of a unit."""
    if isinstance(unit, PathDraft):
        to = None if unit.binding is None else binding_cell(unit.binding, draft)
        return "path", (hops_cell(unit.hops), to, "conflict" if unit.conflict else None, unit.note)
    if isinstance(unit, PassageRecord):
        place = f"S{draft.source_at[unit.source_id]}{'' if draft.lean else f':{unit.start}-{unit.end}'}"
        return "text", (place, "conflict" if unit.conflict else None, unit.note, unit.text)
    cited = " ".join([f"S{draft.source_at[one]}" for one in unit.source_ids]) or None
    cells = (unit.title, cited, unit.note, unit.text)
    return "report", cells if draft.lean else (*cells, unit.community)


class Rows:
    """Gathers records from rows. Every method raises ValueError or DataError for what it does not understand."""

    def __init__(self, head: Header) -> None:
        self.head = head
        self.lean = head.lean
        self.sources = SourceNumbers(lean=head.lean)
        self.last = 0
        self.degraded: list[Degradation] = []
        self.flags: list[str] = []
        self.answers: list[tuple[str | None, str | None]] = []
        self.nodes: dict[str, NodeRecord] = {}
        self.facts: list[FactRecord] = []
        self.units: list[UnitRecord] = []
        self.omissions: list[Omission] = []
        self.node_ids: frozenset[str] | None = None

    def add(self, kind: str, id: str, cells: Sequence[Cell]) -> None:
        """Reads one row; `id` is "" for a kind without."""
        order = ORDER.get(kind, -1)
        if order < self.last:
            raise ValueError(f"row {kind!r} is unknown or out of order")
        self.last = order
        names = columns(kind, self.head.profile)
        if len(cells) > len(names):
            raise ValueError(f"{len(cells)} cells, {len(names)} expected")
        given = dict(zip(names, [*cells, *[None] * (len(names) - len(cells))], strict=True))
        getattr(self, f"_{kind}")(id, given)

    def records(self) -> Records:
        answers = []
        for node, display in self.answers:
            found = None if node is None else self._named(node)
            shown = found.name if found is not None and display is None else display
            assert shown is not None
            answers.append(Binding(id=None if found is None else found.id, display=shown))
        return self.head.records(
            degraded=tuple(self.degraded),
            flags=tuple(self.flags),
            answers=tuple(answers),
            sources=self.sources.records(),
            nodes=tuple(self.nodes.values()),
            facts=tuple(self.facts),
            units=tuple(self.units),
            omissions=tuple(self.omissions),
        )

    def _named(self, local: str) -> NodeRecord:
        node = self.nodes.get(local)
        if node is None:
            raise ValueError(f"undeclared {local}")
        return node

    def _degraded(self, id: str, given: Mapping[str, Cell]) -> None:
        self.degraded.append(Degradation(stage=_text(given, "stage"), reason=_text(given, "reason")))

    def _flag(self, id: str, given: Mapping[str, Cell]) -> None:
        self.flags.append(_text(given, "name"))

    def _answer(self, id: str, given: Mapping[str, Cell]) -> None:
        if given["node"] is None and given["display"] is None:
            raise ValueError("an answer that says nothing")
        self.answers.append((given["node"], given["display"]))

    def _source(self, id: str, given: Mapping[str, Cell]) -> None:
        date = given["date"]
        source = SourceRecord(
            id=id if self.lean else _text(given, "source"),
            title=given["title"],
            date=None if date is None else parse_instant(date),
        )
        self.sources.declare(int(_matched(f"S{INDEX}", id).group(1)), source)

    def _node(self, id: str, given: Mapping[str, Cell]) -> None:
        if id != f"N{len(self.nodes) + 1}":
            raise ValueError(f"node {id} is out of order")
        types = given["type"]
        self.nodes[id] = NodeRecord(
            id=id if self.lean else _text(given, "entity"),
            types=() if types is None else _types(types),
            name=_text(given, "name"),
        )

    def _fact(self, id: str, given: Mapping[str, Cell]) -> None:
        if id != f"F{len(self.facts) + 1}":
            raise ValueError(f"fact {id} is out of order")
        valid, proof = given["valid"], given["proof"]
        if given["not"] not in (None, "not"):
            raise ValueError(f"expected not, found {given['not']!r}")
        self.facts.append(
            FactRecord(
                subject=self._named(_text(given, "subject")).id,
                predicate=_text(given, "predicate"),
                object=self._named(_text(given, "object")).id,
                validity=ALWAYS if valid is None else parse_interval(valid),
                negated=given["not"] is not None,
                assertions=() if proof is None else self._proof(proof),
            )
        )

    def _proof(self, text: str) -> tuple[AssertionRecord, ...]:
        reader = LineReader(f" {text}")
        found: list[AssertionRecord] = []
        while reader.rest:
            id = "" if self.lean else reader.field()
            sets: list[tuple[SourceSpan, ...]] = []
            more: object = True
            while more and (spans := self._spans(reader)):
                sets.append(spans)
                more = reader.take(r" \|")
            if sets and more:
                raise ValueError(f"an alternative without sources: {text!r}")
            if self.lean and (found or not sets):
                raise ValueError(f"no sources: {text!r}")
            found.append(AssertionRecord(id=id, supports=tuple(sets)))
        return tuple(found)

    def _spans(self, reader: LineReader) -> tuple[SourceSpan, ...]:
        spans = []
        while match := reader.take(rf" S{INDEX}(?::{NUMBER}-{NUMBER})?(?= |$)"):
            number, start, end = match.groups()
            bounds = (None, None) if start is None else (int(start), int(end))
            spans.append(self.sources.span(int(number), *bounds))
        return tuple(spans)

    def _path(self, id: str, given: Mapping[str, Cell]) -> None:
        hops = []
        for hop in _text(given, "hops").split(" "):
            match = _matched(rf"([<>])F{INDEX}", hop)
            hops.append((int(match.group(2)) - 1, Direction.FORWARD if match.group(1) == ">" else Direction.BACKWARD))
        self.units.append(
            PathRecord(
                id=id,
                hops=tuple(hops),
                binding=self._binding(given["to"]),
                conflict=_conflict(given),
                note=given["note"],
            )
        )

    def _binding(self, cell: Cell) -> str | None:
        if cell is None:
            return None
        if re.fullmatch(f"N{INDEX}", cell):
            return self._named(cell).id
        reader = LineReader(cell)
        found = reader.value()
        reader.end()
        if self.node_ids is None:
            self.node_ids = frozenset(node.id for node in self.nodes.values())
        if found in self.node_ids:
            raise ValueError(f"{found!r} is a node that has a number")
        return found

    def _text(self, id: str, given: Mapping[str, Cell]) -> None:
        place = _text(given, "source")
        reader = LineReader(f" {place}")
        spans = self._spans(reader)
        reader.end()
        if len(spans) != 1:
            raise ValueError(f"expected a span of a source, found {place!r}")
        self.units.append(
            PassageRecord(
                id=id,
                source_id=spans[0].source_id,
                start=spans[0].start,
                end=spans[0].end,
                text=_text(given, "text"),
                conflict=_conflict(given),
                note=given["note"],
            )
        )

    def _report(self, id: str, given: Mapping[str, Cell]) -> None:
        cited = given["sources"]
        numbers = [] if cited is None else [int(_matched(f"S{INDEX}", one).group(1)) for one in cited.split(" ")]
        self.units.append(
            ReportRecord(
                id=id,
                community="" if self.lean else _text(given, "community"),
                title=_text(given, "title"),
                text=_text(given, "text"),
                source_ids=tuple(map(self.sources.id_of, numbers)),
                note=given["note"],
            )
        )

    def _omitted(self, id: str, given: Mapping[str, Cell]) -> None:
        self.omissions.append(
            Omission(stage=_text(given, "stage"), what=_text(given, "what"), reason=_text(given, "reason"))
        )


def _text(given: Mapping[str, Cell], name: str) -> str:
    value = given[name]
    if value is None:
        raise ValueError(f"{name} is missing")
    return value


def _conflict(given: Mapping[str, Cell]) -> bool:
    if given["conflict"] not in (None, "conflict"):
        raise ValueError(f"expected conflict, found {given['conflict']!r}")
    return given["conflict"] is not None


def _matched(pattern: str, text: str) -> re.Match[str]:
    match = re.fullmatch(pattern, text)
    if match is None:
        raise ValueError(f"unexpected {text!r}")
    return match


def _types(text: str) -> tuple[str, ...]:
    reader = LineReader(text)
    types = [reader.value()]
    while reader.take(","):
        types.append(reader.value())
    reader.end()
    return tuple(types)


def cut(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Cells without the missing ones at the end."""
    last = len(cells)
    while last and cells[last - 1] is None:
        last -= 1
    return cells[:last]


def escaped_cell(value: str, separator: str) -> str:
    r"""A cell between separators: a tail in which the separator is `\u{hex}` too; `\e` is the empty string, nothing a missing one.

    A `<` at its end is escaped, since with the separator it could open a tag.
    """
    if not value:
        return "\\e"
    body = tail(value).replace(separator, by_number(separator))
    return f"{body[:-1]}{by_number('<')}" if body[-1] == "<" else body


def read_cell(text: str, separator: str) -> Cell:
    """The inverse of `escaped_cell`. Raises ValueError for any other text."""
    if text in ("", "\\e"):
        return "" if text else None
    value = unescape(text)
    if escaped_cell(value, separator) != text:
        raise ValueError(f"{text!r} has other escapes than needed")
    return value


class Table:
    """A text with a header line and a line for each row.

    `sigils`: what the local ids of nodes, facts and sources start with where they open a row; `node`: where they are a cell of a fact or answer.
    `first` stands behind the tags of a row, `separator` between cells; `escape` writes a cell; `split` reads a row.
    """

    def __init__(
        self,
        opening: str,
        split: Callable[[str], Row],
        escape: Callable[[str], str],
        *,
        separator: str,
        first: str,
        sigils: Mapping[str, str],
        node: str,
        unsafe: str,
    ) -> None:
        self.opening = opening
        self.split = split
        self._escape = escape
        self._cached = lru_cache(maxsize=32_768)(escape)
        self._separator = separator
        self._first = first
        self._sigils = sigils
        self._node = node
        self._unsafe = unsafe

    def _cell(self, text: str) -> str:
        return self._cached(text) if len(text) <= MAX_CACHED else self._escape(text)

    def _column(self, texts: Sequence[str]) -> Sequence[str]:
        return texts if is_plain(texts, self._unsafe) else list(map(self._cell, texts))

    def _row(self, cells: Sequence[Cell], *tags: str) -> str:
        """A row of tags and cells, missing ones at its end left out."""
        shown = ["" if one is None else self._cell(one) for one in cut(cells)]
        return f"{self._first.join(tags)}{self._first}{self._separator.join(shown)}"

    def write(self, draft: Draft) -> Written:
        """The text of a draft, with its parts."""
        node = numbered(self._node, len(draft.node_ids))
        answers = []
        for index, display in draft.answers:
            named = None if index is not None and display == draft.names[index] else self._cell(display)
            shown = node[index] if index is not None else ""
            answers.append(f"answer{self._first}{shown}" + ("" if named is None else f"{self._separator}{named}"))
        sources = {
            index: self._row(source_cells(draft, index), f"{self._sigils['source']}{index + 1}")
            for index in draft.stated_sources()
        }
        nodes, facts = self._nodes(draft), self._facts(draft, node)
        units = []
        plain = self._first, self._separator
        for unit in draft.units:
            if isinstance(unit, PathDraft) and unit.binding is None and unit.note is None and not unit.conflict:
                units.append(f"{unit.id}{plain[0]}path{plain[0]}{hops_cell(unit.hops)}")
            else:
                kind, cells = unit_cells(unit, draft)
                units.append(self._row(cells, unit.id, kind))
        omissions = [self._row((one.stage, one.what, one.reason), "omitted") for one in draft.omissions]
        lines = [
            header(self.opening, draft),
            *[self._row((one.stage, one.reason), "degraded") for one in draft.degraded],
            *[self._row((flag,), "flag") for flag in draft.flags],
            *answers,
            *sources.values(),
            *interleaved(draft, nodes, facts),
            *units,
            *omissions,
        ]
        return Written(seal("\n".join(lines), MARKER), answers, sources, nodes, facts, units, omissions)

    def _nodes(self, draft: Draft) -> list[str]:
        between, sigil, first = self._separator, self._sigils["node"], self._first
        types = {one: "" if one is None else self._cell(one) for one in dict.fromkeys(types_cells(draft))}
        named = zip(types_cells(draft), self._column(draft.names), strict=True)
        if draft.lean:
            return [
                f"{sigil}{number}{first}{types[kind]}{between}{name}"
                for number, (kind, name) in enumerate(named, start=1)
            ]
        return [
            f"{sigil}{number}{first}{types[kind]}{between}{name}{between}{id}"
            for number, ((kind, name), id) in enumerate(zip(named, self._column(draft.node_ids), strict=True), start=1)
        ]

    def _facts(self, draft: Draft, node: Sequence[str]) -> list[str]:
        between, sigil, first = self._separator, self._sigils["fact"], self._first
        # What stands between the ends of a fact, and what behind them before the proof.
        relations = [f"{between}{self._cell(predicate)}{between}" for predicate, _ in draft.relations]
        denied = ["not" if one else "" for _, one in draft.relations]
        if all(draft.proofs) and not any(denied):
            ends = [f"{between}{between}{one}" for one in self._column(draft.proofs)]
            return [
                f"{sigil}{number}{first}{node[start]}{relations[relation]}{node[end]}{between}{time}{proof}"
                for number, ((start, relation, end, time), proof) in enumerate(
                    zip(draft.facts, ends, strict=True), start=1
                )
            ]
        found = []
        for number, ((start, relation, end, time), proof) in enumerate(
            zip(draft.facts, draft.proofs, strict=True), start=1
        ):
            cells = (time, denied[relation], self._cell(proof) if proof else "")
            behind = "".join([f"{between}{one}" for one in cells]).rstrip(between)
            found.append(f"{sigil}{number}{first}{node[start]}{relations[relation]}{node[end]}{behind}")
        return found

    def dumps(self, records: Records, profile: Profile | None) -> str:
        held = check(records if profile is None else project(records, profile))
        return self.write(draft_of_records(held, held.profile, CellProofs(held.profile))).text

    def loads(self, text: str) -> Records:
        return read_all(text, self._read)

    def _read(self, reader: LineReader) -> Records:
        found = Rows(reader.header(self.opening))
        while reader.more:
            try:
                kind, id, cells = self.split(reader.to_end())
                if cells and cells[-1] is None:
                    raise ValueError("a missing cell at the end of a row")
                found.add(kind, id, cells)
            except DataError as error:
                reader.at = 0
                reader.refuse(error.message)
            reader.next_line()
        return found.records()


SIGILS = {"node": "N", "fact": "F", "source": "S"}
KINDS = {"N": "node", "F": "fact", "S": "source"}


def untagged(parts: Sequence[Cell]) -> Row:
    """Kind, local id and cells of a row that starts as `tagged` says. Raises ValueError for an unknown kind."""
    first = parts[0] or ""
    if re.fullmatch(r"[NFS][1-9][0-9]{0,8}", first):
        return KINDS[first[0]], first, parts[1:]
    if re.fullmatch(r"U[1-9][0-9]{0,8}", first):
        kind = parts[1] if len(parts) > 1 else None
        if kind not in ("path", "text", "report"):
            raise ValueError(f"unit kind {kind!r}; allowed: path, text, report")
        return kind, first, parts[2:]
    if first not in ("degraded", "flag", "answer", "omitted"):
        raise ValueError(f"unknown row {first!r}")
    return first, "", parts[1:]
