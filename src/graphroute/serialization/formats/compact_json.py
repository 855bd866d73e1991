r"""JSON on one line with short keys: the smallest text that any JSON parser reads.

The object of `pretty_json` without blanks and with the keys of `json_tree.SHORT_KEYS`; the same rules for what is left out, for strings, record
count, checksum and the lean profile.
"""

from __future__ import annotations

from graphroute.errors import DataError
from graphroute.serialization.draft import Draft, Written
from graphroute.serialization.formats.base import dumped
from graphroute.serialization.json_text import JsonLayout, JsonProofs, whole
from graphroute.serialization.json_tree import SHORT_KEYS, parsed, read_whole
from graphroute.serialization.records import BLANK_CHECKSUM, Profile, Records, as_written, seal, unsealed

_MARKER = '"checksum":"'
_LAYOUT = JsonLayout(SHORT_KEYS)


class CompactJson:
    """JSON on one line."""

    name = "compact_json"
    version = "1"
    ordering = "given"
    grammar = (
        "A JSON object. `nodes` have id `i`, types `ty` and name `n`. `edges` say that `s` stands in relation `r` to `t` (with `not`: that it does "
        "not) in the time `v` (from..to, empty side or no `v`: open); `by` are assertions and sets of source spans that prove them. `units` are "
        "what may be cited: a `path` is a chain `h` of edges `f`, each walked in direction `d`, `to` what it leads to; a `text` `x` is a piece of "
        "source `src`; a `report` is a summary over sources. `ans` list what the facts give. `omit` and `deg` say what is missing."
    )

    def dumps(self, records: Records, profile: Profile | None = None) -> str:
        """The finished text. Raises DataError for records that do not fit together, or a lone surrogate in a string."""
        return dumped(self, records, profile)

    def proofs(self, profile: Profile) -> JsonProofs:
        """How it writes what proves a fact."""
        return JsonProofs(_LAYOUT, profile)

    def write(self, draft: Draft) -> Written:
        """The text of a draft, with its parts."""
        written = whole(draft, _LAYOUT, f"{self.name}/{self.version}", BLANK_CHECKSUM)
        written.text = seal(written.text, _MARKER)
        return written

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with line or place and reason for anything not understood."""
        if unsealed(text, _MARKER):
            raise DataError("the checksum is missing or does not fit the text", where="evidence text, line 1")
        records = read_whole(parsed(text), f"{self.name}/{self.version}", SHORT_KEYS)
        return as_written(records, text, self.dumps)
