r"""Adjacency list: entities of one type on a line, facts of one subject on a line, paths as chains of entities.

    #graphroute adjacency/1 full records=8 checksum=570138864 snapshot=9f3a as_of=2026-08-21
    answer N2
    S1 kep:752:yaml
    S2 kep:752:motivation date=2020-10-05 "Motivation of KEP-752"
    kep: N1 KEP-752 = kep:752
    group: N2 sig-network = g:sig-network; N3 sig-node = g:sig-node
    N1 OWNED_BY N2 (2020-10-05..) e:0ffd S1:115-126, N3 e:10ab S1:130-141; STATUS_OF N2
    U1 N1>N2
    U2 text S2:0-35 : Endpoints do not scale past a few\nthousand.

- first line: see `lines.header`; `records` counts records, not lines.
- `degraded`, `flag`, `SN`, `UN text`, `UN report`, `omitted`: as in the edge list. `answer` lists `NN`, `NN DISPLAY` or `DISPLAY`, with `; ` between them.
- `TYPES: NN NAME = ID; NN NAME = ID`: entities that follow each other and have the same types (joined by commas, `-` for none). ` = ID` is left out where it equals
  the name.
- `NN PREDICATE NN, NN; PREDICATE NN`: facts that follow each other and have the same subject; `, ` goes on with the same predicate, `; ` with another, `not` stands before
  one that is denied. Behind the object: `(LOW..HIGH)`, left out where both sides are open, then assertion ids with their spans as in the edge list.
- `UN NN>NN<NN`: a path from its first entity; `>` walks a fact from subject to object, `<` against it. Of several facts with these ends in that direction `#2`
  names the second in the order of the text, and so on. Then ` => NN` or ` => BINDING` where it is not the last entity, ` => -` for none, `conflict`, `note=`.

Names are bare if they start with a letter, digit or `@`, hold none of `"`, `;`, `=`, `<`, `\` and nothing suspect, end in no blank and do not look like a local id;
types also hold no `:`. Other values are words and tails (`escaping`). Lean: as in the edge list.
Interleaved: an entity stands before the first fact that names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from graphroute.serialization.draft import Draft, PathDraft, Written, interleaved, numbered
from graphroute.serialization.escaping import escaped, is_bare, unescape, word
from graphroute.serialization.formats.base import dumped
from graphroute.serialization.line_records import (
    LineProofs,
    Reading,
    omission_lines,
    opening_lines,
    source_lines,
    text_unit,
)
from graphroute.serialization.lines import INDEX, MARKER, LineReader, read_all
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
from graphroute.serialization.visible import harmless
from graphroute.types.graph import Direction
from graphroute.types.time import ALWAYS

_PHRASE = re.compile(r'[^";=<\\]+')
_ASCII_PHRASE = re.compile(r"(?![NSFU][0-9])[A-Za-z0-9@][ !#-:>-\[\]-~]*")
_LOCAL = re.compile(r"[NSFU][0-9]")
_QUOTED = r'"(?:[^"\\]|\\.)*"'


def _is_phrase(text: str) -> bool:
    if text.isascii():
        return bool(_ASCII_PHRASE.fullmatch(text)) and text[-1] != " "
    if not (text[0].isalnum() or text[0] == "@") or text[-1] == " ":
        return False
    return bool(_PHRASE.fullmatch(text)) and not _LOCAL.match(text) and harmless(text)


def _quoted(text: str) -> str:
    body = escaped(text).replace('"', '\\"')
    return f'"{body}"'


@lru_cache(maxsize=32_768)
def phrase(text: str) -> str:
    """A name: bare with its blanks where that is safe, else quoted."""
    return text if _is_phrase(text) else _quoted(text)


@lru_cache(maxsize=1024)
def label(text: str) -> str:
    """A type: a word without a colon, or quoted."""
    return text if is_bare(text) and ":" not in text else _quoted(text)


class Adjacency:
    """The adjacency list of the module's description."""

    name = "adjacency"
    version = "1"
    ordering = "grouped"
    grammar = (
        "`TYPE: N1 NAME; N2 NAME` are entities (`= ID` their ids). `N1 RELATION N2, N3; RELATION N4` are facts: N1 stands in RELATION to N2, and to N3; "
        "`not RELATION` says that it does not; `(FROM..TO)` is when (missing or empty side: open), then what proves it, `Sn` a source. `Un N1>N2<N3` is a chain "
        "of facts, `>` read from subject to object, `<` from object to subject, `=>` what it leads to; `Un text` is a piece of a source; `Un report` is a "
        "summary over sources. `answer` lists what the facts give. `omitted` and `degraded` say what is missing. A backslash escapes: \\n is a line "
        "break, \\u{hex} a character."
    )

    proofs = LineProofs

    def dumps(self, records: Records, profile: Profile | None = None) -> str:
        """The finished text. Raises DataError for records that do not fit together."""
        return dumped(self, records, profile)

    def write(self, draft: Draft) -> Written:
        """The text of a draft, with its parts."""
        node = numbered("N", len(draft.node_ids))
        breaks = _breaks(draft)
        nodes, facts = _nodes(draft, node, breaks[0]), _facts(draft, node, breaks[1])
        answers = _answers(draft, node)
        units = _units(draft, node)
        sources, omissions = source_lines(draft), omission_lines(draft)
        lines = opening_lines(f"#graphroute {self.name}/{self.version}", draft)
        if answers:
            lines.append(f"answer {'; '.join(answers)}")
        before = "\n".join([*lines, *sources.values()])
        behind = "\n".join(["", *units, *omissions])
        text = "".join([before, *interleaved(draft, nodes, facts), behind])
        return Written(seal(text, MARKER), answers, sources, nodes, facts, units, omissions, graph_end="")

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with the line and the reason for anything not understood."""
        records = read_all(text, lambda reader: _Reading(reader, f"#graphroute {self.name}/{self.version}").read())
        return as_written(records, text, self.dumps)


def _answers(draft: Draft, node: Sequence[str]) -> list[str]:
    found = []
    for index, display in draft.answers:
        if index is None:
            found.append(word(display))
        else:
            found.append(node[index] if display == draft.names[index] else f"{node[index]} {word(display)}")
    return found


def _nodes(draft: Draft, node: Sequence[str], broken: Collection[int]) -> list[str]:
    """Each entity with what stands before it: a line end and its types, or a semicolon. `broken`: those behind a fact."""
    found: list[str] = []
    labels = {types: f"\n{','.join(map(label, types)) or '-'}: " for types in dict.fromkeys(draft.types)}
    last: tuple[str, ...] | None = None
    ids = draft.names if draft.lean else draft.node_ids
    for number, types, name, id in zip(node, draft.types, draft.names, ids, strict=True):
        before = "; " if types == last and len(found) not in broken else labels[types]
        found.append(
            f"{before}{number} {phrase(name)}" if id == name else f"{before}{number} {phrase(name)} = {phrase(id)}"
        )
        last = types
    return found


def _facts(draft: Draft, node: Sequence[str], broken: Collection[int]) -> list[str]:
    """Each fact with what stands before it: a line end and subject, `; ` and another relation, or `, `. `broken`: those behind an entity."""
    relations = [f"{'not ' if denied else ''}{word(predicate)} " for predicate, denied in draft.relations]
    others = [f"; {one}" for one in relations]
    lines = [f"\n{one} " for one in node]
    found: list[str] = []
    subject, named = -1, -1
    for (start, relation, end, time), proof in zip(draft.facts, draft.proofs, strict=True):
        if start != subject or len(found) in broken:
            before = lines[start] + relations[relation]
            subject, named = start, relation
        elif relation != named:
            before = others[relation]
            named = relation
        else:
            before = ", "
        found.append(f"{before}{node[end]} ({time}){proof}" if time else f"{before}{node[end]}{proof}")
    return found


def _breaks(draft: Draft) -> tuple[Collection[int], Collection[int]]:
    """Which entities stand behind a fact and which facts behind an entity, where both are mixed."""
    if not draft.interleaved:
        return (), ()
    nodes: set[int] = set()
    facts: set[int] = set()
    shown = 0
    for index, fact in enumerate(draft.facts):
        upto = max(fact[0], fact[2]) + 1
        if shown < upto:
            nodes.add(shown)
            facts.add(index)
            shown = upto
    nodes.add(shown)
    return nodes, facts


def _walks(draft: Draft, node: Sequence[str]) -> tuple[list[str], list[str]]:
    """Of each fact: `N1>N2`, and behind it `#2` if it is the second with its subject and object, and so on; the latter also by itself, unless each is the first."""
    walks = [f"{node[start]}>{node[end]}" for start, _, end, _ in draft.facts]
    if len(set(walks)) == len(walks):
        return walks, []
    seen: dict[str, int] = {}
    ranks = []
    for place, walk in enumerate(walks):
        seen[walk] = rank = seen.get(walk, 0) + 1
        ranks.append("" if rank == 1 else f"#{rank}")
        if rank > 1:
            walks[place] = f"{walk}#{rank}"
    return walks, ranks


def _units(draft: Draft, node: Sequence[str]) -> list[str]:
    facts = draft.facts
    walks, ranks = _walks(draft, node)
    found = []
    for unit in draft.units:
        if not isinstance(unit, PathDraft):
            found.append(text_unit(unit, draft))
            continue
        id, hops, binding, conflict, note = unit
        index = hops[0]
        if index >= 0 and len(hops) == 1 and binding is None and note is None and not conflict:
            found.append(f"{id} {walks[index]} => -")
            continue
        if index >= 0:
            walked, end = walks[index], facts[index][2]
        else:
            end, _, start, _ = facts[~index]
            walked = f"{node[start]}<{node[end]}{ranks[~index] if ranks else ''}"
        for index in hops[1:]:
            fact = facts[index if index >= 0 else ~index]
            mark, end = (">", fact[2]) if index >= 0 else ("<", fact[0])
            walked += f"{mark}{node[end]}{ranks[index if index >= 0 else ~index] if ranks else ''}"
        if binding is None:
            to = " => -"
        else:
            named = draft.node_at.get(binding)
            to = f" => {word(binding)}" if named is None else "" if named == end else f" => {node[named]}"
        if conflict or note is not None:
            to += f"{' conflict' if conflict else ''}{'' if note is None else f' note={word(note)}'}"
        found.append(f"{id} {walked}{to}")
    return found


class _Reading(Reading):
    node = f"N{INDEX}"
    unit = r"(U[1-9][0-9]{0,8}) (?:(text|report)(?= )|(?=N[0-9]))"

    def __init__(self, reader: LineReader, opening: str) -> None:
        super().__init__(reader, opening)
        self.between: dict[tuple[str, str], list[int]] | None = None
        self.last = ""

    def answers(self) -> list[tuple[int | None, str | None]]:
        reader = self.reader
        found: list[tuple[int | None, str | None]] = []
        if not reader.take("answer "):
            return found
        while True:
            node = reader.take(f"{self.node}(?= |;|$)")
            if node is None:
                found.append((None, reader.value()))
            else:
                found.append((int(node.group(1)) - 1, reader.value() if reader.take(" ") else None))
            if not reader.take("; "):
                reader.next_line()
                return found

    def graph(self) -> None:
        reader = self.reader
        while reader.more:
            if subject := reader.take(f"{self.node} "):
                self.group(self.entity(subject.group(1)))
            elif reader.take(rf"(?=(?:-|(?:[^\s\":]|{_QUOTED})+): N)"):
                self.entities()
            else:
                return
            reader.next_line()

    def entities(self) -> None:
        reader = self.reader
        types: tuple[str, ...] = ()
        if not reader.take("-(?=:)"):
            found = [self.label()]
            while reader.take(","):
                found.append(self.label())
            types = tuple(found)
        reader.need(": ", "`: `")
        if self.nodes and self.nodes[-1].types == types and self.last == "node":
            reader.refuse("entities of the same types go on the same line")
        while True:
            number = len(self.nodes) + 1
            if reader.need(f"{self.node} ", "an entity").group(1) != str(number):
                reader.refuse(f"expected N{number}")
            name = self.phrase()
            id = f"N{number}" if self.head.lean else name
            if not self.head.lean and reader.take(" = "):
                id = self.phrase()
                if id == name:
                    reader.refuse("an id that equals the name")
            self.nodes.append(NodeRecord(id=id, types=types, name=name))
            if not reader.take("; "):
                self.last = "node"
                return

    def label(self) -> str:
        reader = self.reader
        match = reader.need(rf"{_QUOTED}|[^\s\":,]+", "a type")
        return self.written(match.group(), label)

    def phrase(self) -> str:
        match = self.reader.need(rf"{_QUOTED}|[^\";=\\]+?(?= = |;|$)", "a name")
        return self.written(match.group(), phrase)

    def written(self, written: str, write: Callable[[str], str]) -> str:
        found = unescape(written[1:-1]) if written.startswith('"') else written
        if write(found) != written:
            self.reader.refuse(f"{written!r} has other quotes or escapes than needed")
        return found

    def group(self, subject: str) -> None:
        reader = self.reader
        if self.last == "fact" and self.facts and self.facts[-1].subject == subject:
            reader.refuse("facts of the same subject go on the same line")
        before: tuple[str, bool] | None = None
        while True:
            negated = bool(reader.take(r"not (?!N[0-9])"))
            predicate = reader.value()
            if (predicate, negated) == before:
                reader.refuse("facts of the same relation go on with a comma")
            before = (predicate, negated)
            reader.need(" ", "a space")
            while True:
                target = self.entity(reader.need(self.node, "an entity").group(1))
                time = reader.take(r" \(([^)]*)\)")
                validity = parse_interval(time.group(1)) if time else ALWAYS
                if time and validity == ALWAYS:
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
                if not reader.take(", "):
                    break
            if not reader.take("; "):
                self.last = "fact"
                return

    def path(self, unit_id: str) -> PathRecord:
        reader = self.reader
        if self.between is None:
            self.between = {}
            for index, fact in enumerate(self.facts):
                self.between.setdefault((fact.subject, fact.object), []).append(index)
        at = self.entity(reader.need(self.node, "an entity").group(1))
        hops = []
        while hop := reader.take(rf"([<>]){self.node}(?:#([1-9][0-9]{{0,8}}))?"):
            way = Direction.FORWARD if hop.group(1) == ">" else Direction.BACKWARD
            end = self.entity(hop.group(2))
            rank = int(hop.group(3) or 1)
            found = self.between.get((at, end) if way is Direction.FORWARD else (end, at), ())
            if rank > len(found) or hop.group(3) == "1":
                reader.refuse(f"no such fact: {hop.group()}")
            hops.append((found[rank - 1], way))
            at = end
        binding: str | None = at
        if reader.take(" =>(?= |$)"):
            binding = None
            if node := reader.take(f" {self.node}(?= |$)"):
                binding = self.entity(node.group(1))
                if binding == at:
                    reader.refuse("a binding that is the last entity")
            elif not reader.take(" -(?= |$)"):
                binding = reader.field()
                if binding in self.node_ids:
                    reader.refuse(f"{binding!r} is an entity that has a number")
        conflict = bool(reader.take(" conflict(?= |$)"))
        return PathRecord(id=unit_id, hops=tuple(hops), binding=binding, conflict=conflict, note=self.note())
