"""Format port: records to text and back, exactly."""

from __future__ import annotations

from typing import Protocol

from graphroute.serialization.draft import Draft, Proofs, Written, draft_of_records
from graphroute.serialization.records import Profile, Records, check, project


class Format(Protocol):
    """A versioned text form of `Records`.

    `loads(dumps(records, profile)) == project(records, profile)`. The text holds no control or invisible character but the line feed, no
    "</" and no "<|", and no value can start a record or end the evidence block. The header states format, version, profile, the number of
    records and a checksum. `grammar` tells a reader of the text how it is read. `ordering`: which of `orderings.ORDERINGS` suits it best.
    """

    name: str
    version: str
    grammar: str
    ordering: str

    def dumps(self, records: Records, profile: Profile | None = None) -> str:
        """The finished text, of the records' own profile by default. Raises DataError for records no format can carry."""
        ...

    def proofs(self, profile: Profile) -> Proofs:
        """How it writes what proves a fact."""
        ...

    def write(self, draft: Draft) -> Written:
        """The finished text of a draft whose proofs it wrote. Raises DataError as `dumps` does."""
        ...

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with line or place and reason for anything not understood."""
        ...


def dumped(form: Format, records: Records, profile: Profile | None) -> str:
    """What `dumps` gives, in terms of `write`."""
    held = check(records if profile is None else project(records, profile))
    return form.write(draft_of_records(held, held.profile, form.proofs(held.profile))).text
