"""Reads decision records of every schema version, over all rotated files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphroute.decision_log.record import SCHEMA
from graphroute.decision_log.writer import log_files
from graphroute.errors import DataError


def _to_2(record: dict[str, Any]) -> dict[str, Any]:
    """Adds the profile of the text, which was full, and the unknown numbers of its nodes and facts."""
    prompt = record.get("prompt")
    if prompt is not None:
        prompt = {**prompt, "format_reason": None, "profile": "full", "nodes": None, "facts": None}
    return {**record, "schema": 2, "prompt": prompt}


UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _to_2}
"""For each past schema version the step to the next one."""


def read_records(path: str | Path, *, skip_bad: bool = False) -> Iterator[dict[str, Any]]:
    """Records in the shape of the present schema, oldest file first.

    Raises DataError with file and line for a line that is no record or a record of a later version; with `skip_bad` such
    lines are left out.
    """
    for file in log_files(path):
        with file.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.strip():
                    continue
                try:
                    yield upgrade(_parsed(line), where=f"{file}:{number}")
                except DataError:
                    if not skip_bad:
                        raise
                except ValueError:
                    if not skip_bad:
                        raise DataError("not a decision record", where=f"{file}:{number}") from None


def _parsed(line: bytes) -> dict[str, Any]:
    record = json.loads(line)
    if not isinstance(record, dict):
        raise ValueError("not an object")
    return record


def upgrade(record: dict[str, Any], *, where: str | None = None) -> dict[str, Any]:
    """A record of any past version in the present shape. Raises DataError for an unknown version."""
    version = record.get("schema")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= SCHEMA:
        raise DataError(
            f"decision record of schema {version!r}", where=where, allowed=f"1..{SCHEMA}", hint="update graphroute"
        )
    while version < SCHEMA:
        record = UPGRADES[version](record)
        version += 1
    return record
