r"""JSON lines: one object for each record, so that a reader needs no more than a line at a time.

The first line is the header, `{"k":"graph","format":"jsonl/1",...}`; each further one is a record of kind `k`: `degraded`, `flag`, `answer`, `source`,
`node`, `fact`, `path`, `text`, `report`, `omitted`, in this order, with the keys of `json_tree.SHORT_KEYS`. The rest as in `compact_json`.
Interleaved: a node stands before the first fact that names it.
"""

from __future__ import annotations

from graphroute.errors import DataError
from graphroute.serialization.draft import Draft, Written, interleaved
from graphroute.serialization.formats.base import dumped
from graphroute.serialization.json_text import JsonLayout, JsonProofs, JsonWriter, strings
from graphroute.serialization.json_tree import SHORT_KEYS, Place, Reader, parsed, shown
from graphroute.serialization.records import BLANK_CHECKSUM, Profile, Records, as_written, seal, unsealed

_MARKER = '"checksum":"'
_LAYOUT = JsonLayout(SHORT_KEYS, kind_first=True)
_ORDER = {
    "degraded": 0,
    "flag": 1,
    "answer": 2,
    "source": 3,
    "node": 4,
    "fact": 4,
    "path": 5,
    "text": 5,
    "report": 5,
    "omitted": 6,
}


class JsonLines:
    """One JSON object a line."""

    name = "jsonl"
    version = "1"
    ordering = "given"
    grammar = (
        "One JSON object a line; `k` says of what kind. A `node` has id `i`, types `ty` and name `n`. A `fact` says that `s` stands in relation `r` to "
        "`t` (with `not`: that it does not) in the time `v` (from..to, empty side or no `v`: open); `by` are assertions and sets of source spans that "
        "prove them. What may be cited: a `path` is a chain `h` of facts `f`, each walked in direction `d`, `to` what it leads to; a `text` `x` is a "
        "piece of source `src`; a `report` is a summary over sources. `answer` lines list what the facts give. `omitted` and `degraded` say what is "
        "missing."
    )

    def dumps(self, records: Records, profile: Profile | None = None) -> str:
        """The finished text. Raises DataError for records that do not fit together, or a lone surrogate in a string."""
        return dumped(self, records, profile)

    def proofs(self, profile: Profile) -> JsonProofs:
        """How it writes what proves a fact."""
        return JsonProofs(_LAYOUT, profile)

    def write(self, draft: Draft) -> Written:
        """The text of a draft, with its parts."""
        writer = JsonWriter(draft, _LAYOUT)
        head = {
            "k": "graph",
            "format": f"{self.name}/{self.version}",
            "profile": draft.profile.value,
            "records": draft.count,
            "checksum": BLANK_CHECKSUM,
            **writer.header(),
        }
        written = Written(
            "",
            writer.answers(),
            writer.sources(),
            writer.nodes(),
            writer.facts(),
            writer.units(),
            writer.omissions(),
        )
        lines = [
            shown(_LAYOUT.text(head, 0)),
            *writer.degraded(),
            *[f'{{"k":"flag","x":{flag}}}' for flag in strings(draft.flags)],
            *written.answers,
            *written.sources.values(),
            *interleaved(draft, written.nodes, written.facts),
            *written.units,
            *written.omissions,
        ]
        written.text = seal("\n".join(lines), _MARKER)
        return written

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with the line and the reason for anything not understood."""
        if unsealed(text, _MARKER):
            raise DataError("the checksum is missing or does not fit the text", where="evidence text, line 1")
        reader, last = None, 0
        for number, line in enumerate(text.split("\n"), start=1):
            where = f"evidence text, line {number}"
            place = Place(parsed(line, line=number), where, SHORT_KEYS)
            kind = place.get("kind", str)
            try:
                if reader is None:
                    reader = self._header(place, kind)
                else:
                    if _ORDER.get(kind, -1) < last:
                        raise DataError(f"record {kind!r} is unknown or out of order")
                    last = _ORDER[kind]
                    _add(reader, place, kind)
                place.end()
            except DataError as error:
                if error.where:
                    raise
                raise DataError(error.message, where=where, allowed=error.allowed) from error
            except ValueError as error:
                raise DataError(str(error), where=where) from error
        assert reader is not None
        try:
            records = reader.records()
        except DataError as error:
            raise DataError(error.message, where="evidence text", allowed=error.allowed) from error
        return as_written(records, text, self.dumps)

    def _header(self, place: Place, kind: str) -> Reader:
        if kind != "graph":
            raise DataError(f"expected a header, found {kind!r}")
        stated = place.get("format", str)
        if stated != f"{self.name}/{self.version}":
            raise DataError(f"format {stated}, not {self.name}/{self.version}")
        place.get("checksum", str)
        return Reader(place)


def _add(reader: Reader, place: Place, kind: str) -> None:
    if kind == "flag":
        reader.flags.append(place.get("text", str))
    elif kind in ("path", "text", "report"):
        reader.add_unit(place, kind)
    else:
        add = {
            "degraded": reader.add_degraded,
            "answer": reader.add_answer,
            "source": reader.add_source,
            "node": reader.add_node,
            "fact": reader.add_fact,
            "omitted": reader.add_omission,
        }
        add[kind](place)
