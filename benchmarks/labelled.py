"""A store whose sources have labels so that three readers see all, a quarter and a twentieth of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphroute.stores.database import Database
from graphroute.stores.writer import SnapshotWriter
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source

READERS = (
    ("all", Reader("all", ["all"])),
    ("25 %", Reader("quarter", ["quarter"])),
    ("5 %", Reader("twentieth", ["twentieth"])),
)


def labels(number: int) -> frozenset[str]:
    """The labels of source `number`."""
    held = {"all"}
    held |= {"quarter"} if number % 4 == 0 else set()
    held |= {"twentieth"} if number % 20 == 0 else set()
    return frozenset(held)


def readable(number: int, reader: Reader) -> bool:
    """True if the reader may read source `number`."""
    return bool(labels(number) & reader.labels)


def write(path: Path, texts: Iterable[tuple[str, str]], vectors: NDArray[np.float32] | None = None) -> None:
    """Sources p0000000, p0000001, ... of (title, text), each one passage of the same id; `vectors` has a row for each."""
    with Database(path) as database:
        writer = SnapshotWriter(database)
        writer.begin()
        for number, (title, text) in enumerate(texts):
            name = passage_id(number)
            writer.put_source(Source(id=name, title=title, text=text, labels=labels(number)))
            writer.put_passages([Passage(id=name, source_id=name, start=0, end=len(text), text=text, title=title)])
            if vectors is not None:
                writer.put_vectors(f"benchmark@1/{vectors.shape[1]}", [(name, vectors[number])])
        if vectors is not None:
            writer.put_setting("embedder", f"benchmark@1/{vectors.shape[1]}")
        writer.publish()


def passage_id(number: int) -> str:
    """The id of source `number` and its passage; ids sort as numbers do."""
    return f"p{number:07d}"
