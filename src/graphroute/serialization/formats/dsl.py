r"""Compact graph language: a dictionary of nodes with short numbers, then facts between the numbers.

    GRAPH_FORMAT compact-dsl/1 full records=4 checksum=318452230 as_of=2026-08-21
    $1 ||kep:752:yaml
    @1 kep|KEP-752|kep:752
    @2 group|sig-network|g:sig-network
    >1 1|OWNED_BY|2|2020-10-05..||e:0ffd S1:115-126

The first line is that of `lines.header`. `@` starts a node, `>` a fact, `$` a source, each with its number; `U1 path`, `U1 text` and `U1 report` start a unit; the
other kinds start with their name. Behind a space stand the cells of `cells.COLUMNS`, with `|` between them; missing cells at the end are left out,
nodes of facts and answers are bare numbers. A cell is a tail (`escaping`), with `\u{7c}` for `|`: nothing means missing, `\e` the empty string.
Interleaved: a node stands before the first fact that names it.
"""

from __future__ import annotations

import re

from graphroute.serialization.cells import KINDS, CellProofs, Row, Table, escaped_cell, read_cell, untagged
from graphroute.serialization.draft import Draft, Written
from graphroute.serialization.records import Profile, Records, as_written

_SIGILS = {"node": "@", "fact": ">", "source": "$"}
_LETTERS = {"@": "N", ">": "F", "$": "S"}
_NODES = {"fact": (0, 2), "answer": (0,)}
"""Which cells of a kind are nodes."""
_ROW = re.compile(r"(?:([@>$])([1-9][0-9]{0,8})|(U[1-9][0-9]{0,8} [a-z]+)|([a-z]+)) ")


def _cell(value: str) -> str:
    return escaped_cell(value, "|")


def _split(line: str) -> Row:
    match = _ROW.match(line)
    if match is None:
        raise ValueError(f"not a record: {line[:20]!r}")
    sigil, number, unit, kind = match.groups()
    cells = [read_cell(one, "|") for one in line[match.end() :].split("|")]
    if cells == [None]:
        cells = []
    if sigil:
        found: Row = (KINDS[_LETTERS[sigil]], f"{_LETTERS[sigil]}{number}", cells)
    else:
        found = untagged([*(unit.split(" ") if unit else [kind]), *cells])
    for place in _NODES.get(found[0], ()):
        if place < len(found[2]) and found[2][place] is not None:
            if not re.fullmatch(r"[1-9][0-9]{0,8}", found[2][place] or ""):
                raise ValueError(f"expected the number of a node, found {found[2][place]!r}")
            found = (found[0], found[1], [f"N{one}" if at == place else one for at, one in enumerate(found[2])])
    return found


class Dsl:
    """The compact graph language."""

    name = "dsl"
    version = "1"
    ordering = "given"
    grammar = (
        "`@n type|name|id` is an entity; `>n a|RELATION|b|from..to|not|proof` says that entity a stands in RELATION to b in that time (empty: open), with "
        "`not` that it does not, and by which assertions and sources. `$n title|date|id` is a source. `Un path` is a chain of facts, `>F1` read from a to b "
        "and `<F1` from b to a, then what it leads to; `Un text` has source, conflict, note and a piece of the source; `Un report` has title, sources, note and "
        "text. `answer` lines list what the facts give. `omitted` and `degraded` say what is missing. A backslash escapes: \\n is a line break, "
        "\\u{hex} a character, \\e an empty text."
    )
    proofs = CellProofs
    _table = Table(
        "GRAPH_FORMAT compact-dsl/1", _split, _cell, separator="|", first=" ", sigils=_SIGILS, node="", unsafe="|"
    )

    def dumps(self, records: Records, profile: Profile | None = None) -> str:
        """The finished text. Raises DataError for records that do not fit together."""
        return self._table.dumps(records, profile)

    def write(self, draft: Draft) -> Written:
        """The text of a draft, with its parts."""
        return self._table.write(draft)

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with the line and the reason for anything not understood."""
        records = self._table.loads(text)
        return as_written(records, text, self.dumps)
