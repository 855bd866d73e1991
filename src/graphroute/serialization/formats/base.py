"""Format port: records to text and back, exactly."""

from __future__ import annotations

from typing import Protocol

from graphroute.serialization.records import Records


class Format(Protocol):
    """A versioned text form of `Records`.

    `loads(dumps(records)) == records`. The text holds no control or invisible character but the line feed, no "</" and no "<|",
    and no value can start a record or end the evidence block. The header states the number of records and a checksum.
    """

    name: str
    version: str
    grammar: str

    def dumps(self, records: Records) -> str:
        """The finished text. Raises DataError for records no format can carry."""
        ...

    def loads(self, text: str) -> Records:
        """The records. Raises DataError with line or place and reason for anything not understood."""
        ...
