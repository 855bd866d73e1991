r"""Comma-separated values: a row for each record, quoted as in RFC 4180, one record a line.

Rows and cells as in `tsv`. A cell stands in double quotes if it holds a comma or a double quote, which is doubled, or is empty; nothing at all means missing.
Inside, line breaks and whatever is suspect are escaped as in `escaping`, so that a record never takes two lines. No apostrophe or
other mark is added for spreadsheets.
"""

from __future__ import annotations

import re

from graphroute.serialization.cells import SIGILS, Cell, CellProofs, Row, Table, untagged
from graphroute.serialization.draft import Draft, Written
from graphroute.serialization.escaping import tail, unescape
from graphroute.serialization.records import Profile, Records, as_written

_CELL = re.compile(r'(?:"((?:[^"]|"")*)"|([^",]*))(?:,|$)')


def _cell(value: str) -> str:
    body = tail(value)
    if not body or '"' in body or "," in body:
        body = body.replace('"', '""')
        return f'"{body}"'
    return body


def _split(line: str) -> Row:
    found: list[Cell] = []
    at, more = 0, True
    while more:
        match = _CELL.match(line, at)
        if match is None:
            raise ValueError(f"expected a cell, found {line[at : at + 20]!r}")
        quoted, bare = match.groups()
        value = unescape(quoted.replace('""', '"')) if quoted is not None else unescape(bare) if bare else None
        more = match.group().endswith(",") if quoted is None else match.end() > match.end(1) + 1
        written = match.group().removesuffix(",") if more else match.group()
        if ("" if value is None else _cell(value)) != written:
            raise ValueError(f"{written!r} has other quotes or escapes than needed")
        found.append(value)
        at = match.end()
    return untagged(found)


class Csv:
    """Comma-separated values."""

    name = "csv"
    version = "1"
    ordering = "given"
    grammar = (
        "Comma-separated rows; nothing in a cell means missing. N rows: an entity, its type, name, id. F rows: a fact, subject, predicate, object, "
        "from..to (empty side or cell: open), `not` if it does not hold, then assertions and sources that prove it. S rows: a source, title, date, id. "
        "U rows may be cited: `path` with facts, `>F1` read from subject to object, `<F1` from object to subject, then what it leads to; `text` with "
        "source, note and a piece of it; `report` with title, sources, note and text. `answer` rows list what the facts give. `omitted` and "
        "`degraded` say what is missing. Quotes as in CSV; a backslash escapes: \\n is a line break, \\u{hex} a character."
    )
    proofs = CellProofs
    _table = Table(
        f"#graphroute {name}/{version}",
        _split,
        _cell,
        separator=",",
        first=",",
        sigils=SIGILS,
        node="N",
        unsafe=',"',
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
