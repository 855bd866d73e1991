r"""Tab-separated values: a row for each record, cells without quotes.

The first line is that of `lines.header`. A row starts with its local id (`N1` node, `F1` fact, `S1` source, `U1` and the kind of unit) or, where it has none, its
kind (`degraded`, `flag`, `answer`, `omitted`), then come the cells of `cells.COLUMNS`; missing cells at the end are left out. A cell is a tail
(`escaping`), with `\t` for a tab: nothing means missing, `\e` the empty string.
"""

from __future__ import annotations

from graphroute.serialization.cells import SIGILS, CellProofs, Row, Table, escaped_cell, read_cell, untagged
from graphroute.serialization.draft import Draft, Written
from graphroute.serialization.records import Profile, Records, as_written


def _cell(value: str) -> str:
    return escaped_cell(value, "\t")


def _split(line: str) -> Row:
    return untagged([read_cell(one, "\t") for one in line.split("\t")])


class Tsv:
    """Tab-separated values."""

    name = "tsv"
    version = "1"
    ordering = "given"
    separators = "\t"
    grammar = (
        "Tab-separated rows; nothing in a cell means missing. N rows: an entity, its type, name, id. F rows: a fact, subject, predicate, object, "
        "from..to (empty side or cell: open), `not` if it does not hold, then assertions and sources that prove it. S rows: a source, title, date, id. "
        "U rows may be cited: `path` with facts, `>F1` read from subject to object, `<F1` from object to subject, then what it leads to; `text` with "
        "source, note and a piece of it; `report` with title, sources, note and text. `answer` rows list what the facts give. `omitted` and "
        "`degraded` say what is missing. A backslash escapes: \\n is a line break, \\u{hex} a character, \\e an empty text."
    )
    proofs = CellProofs
    _table = Table(
        f"#graphroute {name}/{version}",
        _split,
        _cell,
        separator="\t",
        first="\t",
        sigils=SIGILS,
        node="N",
        unsafe="",
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
