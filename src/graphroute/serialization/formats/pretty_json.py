r"""Indented JSON with ids written out: the form to read and to compare others with.

One object; keys that are missing, false or empty lists are left out, `valid` where both sides are open. Strings are JSON strings; every
control, format, private and unassigned character, every blank other than the space, and `<` where it could open or close a tag stand as
`\uXXXX`. `records` counts the records behind the header, `checksum` is made with zeros in its place. Lean: ids are `N1`, `S1`, ..., facts name sets of
sources instead of assertions, texts have no bounds and reports no community.
"""

from __future__ import annotations

from graphroute.errors import DataError
from graphroute.serialization.draft import Draft, Written
from graphroute.serialization.formats.base import dumped
from graphroute.serialization.json_text import JsonLayout, JsonProofs, whole
from graphroute.serialization.json_tree import parsed, read_whole
from graphroute.serialization.records import BLANK_CHECKSUM, Profile, Records, as_written, seal, unsealed

_MARKER = '"checksum": "'
_LAYOUT = JsonLayout({}, indent=True)


class PrettyJson:
    """Indented JSON."""

    name = "pretty_json"
    version = "2"
    ordering = "given"
    grammar = (
        "A JSON object. `facts` say that `subject` stands in `predicate` to `object` (with `negated`: that it does not) in the time `valid` "
        "(from..to, empty side or no `valid`: open), with assertions and, for each, sets of source spans that prove it. `units` are what may be "
        "cited: a `path` is a chain of facts, each walked forward (subject to object) or backward; a `text` is a piece of a source; a `report` "
        "is a summary over sources. `answers` list what the facts give. `omissions` and `degraded` say what is missing."
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
            raise DataError("the checksum is missing or does not fit the text", where="evidence text, line 5")
        records = read_whole(parsed(text), f"{self.name}/{self.version}", {})
        return as_written(records, text, self.dumps)
