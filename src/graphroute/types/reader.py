"""Reader: on whose behalf a question is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphroute.errors import ReaderError


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader and the labels of its verified identity. Labels are opaque: no wildcard, no case folding.

    `Reader(id, labels=())` is valid and sees nothing.
    """

    id: str
    labels: frozenset[str]

    def __init__(self, id: str, labels: Iterable[str]) -> None:
        if not isinstance(id, str) or not id.strip():
            raise ReaderError("reader id is empty", hint="pass the id of the verified identity")
        if isinstance(labels, str):
            raise ReaderError(f"labels is a string {labels!r}", allowed="a collection of strings")
        held = frozenset(labels)
        for label in held:
            if not isinstance(label, str):
                raise ReaderError(f"label {label!r} is a {type(label).__name__}", allowed="strings")
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "labels", held)
