"""Format port: records to text and back, exactly."""

from __future__ import annotations

from typing import Protocol

from graphroute.serialization.records import Profile, Records


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

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with line or place and reason for anything not understood."""
        ...
