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

from collections.abc import Sequence
from itertools import count

from graphroute.serialization.draft import Draft, PathDraft, Written, interleaved
from graphroute.serialization.escaping import word, words
from graphroute.serialization.formats.base import dumped
from graphroute.serialization.line_records import (
    LineProofs,
    Reading,
    omission_lines,
    opening_lines,
    source_lines,
    text_unit,
)
from graphroute.serialization.lines import INDEX, MARKER, joined, read_all
from graphroute.serialization.records import (
    FactRecord,
    NodeRecord,
    PathRecord,
    Profile,
    Records,
    as_written,
    parse_interval,
    seal,
)
from graphroute.types.graph import Direction
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

    proofs = LineProofs

    def dumps(self, records: Records, profile: Profile | None = None) -> str:
        """The finished text. Raises DataError for records that do not fit together."""
        return dumped(self, records, profile)

    def write(self, draft: Draft) -> Written:
        """The text of a draft, with its parts."""
        lean, node = draft.lean, [f"[{number}]" for number in range(1, len(draft.node_ids) + 1)]
        types = {one: joined(one) for one in dict.fromkeys(draft.types)}
        named = zip(node, draft.types, words(draft.names), strict=True)
        if lean:
            nodes = [f"{number} {types[kinds]} {name}" for number, kinds, name in named]
        else:
            nodes = [
                f"{number} {types[kinds]} {id} {name}"
                for id, (number, kinds, name) in zip(words(draft.node_ids), named, strict=True)
            ]
        relations = [f"{'not ' if denied else ''}{word(predicate)}" for predicate, denied in draft.relations]
        if lean:
            facts = [
                f"F{number} {node[start]} {relations[relation]} {node[end]}{time and ' ' + time}{proof}"
                for number, (start, relation, end, time), proof in zip(count(1), draft.facts, draft.proofs)
            ]
        else:
            facts = [
                f"F{number} {node[start]} {relations[relation]} {node[end]} {time or '..'}{proof}"
                for number, (start, relation, end, time), proof in zip(count(1), draft.facts, draft.proofs)
            ]
        answers = _answers(draft, node)
        units = [
            _path(unit, draft, node) if isinstance(unit, PathDraft) else text_unit(unit, draft) for unit in draft.units
        ]
        sources, omissions = source_lines(draft), omission_lines(draft)
        lines = opening_lines(f"#graphroute {self.name}/{self.version}", draft)
        text = "\n".join([*lines, *answers, *sources.values(), *interleaved(draft, nodes, facts), *units, *omissions])
        return Written(seal(text, MARKER), answers, sources, nodes, facts, units, omissions)

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with the line and the reason for anything not understood."""
        records = read_all(text, lambda reader: _Reading(reader, f"#graphroute {self.name}/{self.version}").read())
        return as_written(records, text, self.dumps)


def _answers(draft: Draft, node: Sequence[str]) -> list[str]:
    found = []
    for index, display in draft.answers:
        if index is None:
            found.append(f"answer {word(display)}")
        else:
            shown = "" if display == draft.names[index] else f" {word(display)}"
            found.append(f"answer {node[index]}{shown}")
    return found


def _path(unit: PathDraft, draft: Draft, node: Sequence[str]) -> str:
    id, hops, binding, conflict, note = unit
    if len(hops) == 1:
        index = hops[0]
        walked = f"F{index + 1}>" if index >= 0 else f"F{-index}<"
    else:
        walked = " ".join([f"F{index + 1}>" if index >= 0 else f"F{-index}<" for index in hops])
    if binding is None and note is None and not conflict:
        return f"{id} path {walked}"
    end = draft.node_at.get(binding) if binding is not None else None
    to = "" if binding is None else f" => {word(binding) if end is None else node[end]}"
    return f"{id} path {walked}{to}{' conflict' if conflict else ''}{'' if note is None else f' note={word(note)}'}"


class _Reading(Reading):
    def graph(self) -> None:
        reader = self.reader
        while True:
            if node := reader.take(rf"{self.node} "):
                if node.group(1) != str(len(self.nodes) + 1):
                    reader.refuse(f"expected [{len(self.nodes) + 1}]")
                types = self.types()
                id = f"N{len(self.nodes) + 1}" if self.head.lean else reader.field()
                self.nodes.append(NodeRecord(id=id, types=types, name=reader.field()))
            elif fact := reader.take(rf"F{INDEX}(?= )"):
                if fact.group(1) != str(len(self.facts) + 1):
                    reader.refuse(f"expected F{len(self.facts) + 1}")
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
