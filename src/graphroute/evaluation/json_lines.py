"""Reads JSON lines, plain or gzip, with the file and line of what is wrong."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphroute.errors import DataError


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object of the file with its place, `file:line`. Empty lines are skipped. Raises DataError."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.strip():
                    continue
                where = f"{path}:{number}"
                try:
                    row = json.loads(line)
                except json.JSONDecodeError as error:
                    raise DataError(f"not JSON: {error.msg}", where=where) from error
                if not isinstance(row, dict):
                    raise DataError(f"a {type(row).__name__}", where=where, allowed="a JSON object")
                yield where, row
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", where=str(path)) from error
