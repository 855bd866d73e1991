"""View: what one reader may see at one snapshot; made once per question and passed to every read."""

from __future__ import annotations

from dataclasses import dataclass

from graphroute.types.reader import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A scoped, pinned world. Made by `Catalog.view` only.

    `scopes`: ids of the readable scopes, internal to the stores, never shown. `sequence`: the pinned snapshot, for the
    operator. `token`: names the readable part of the snapshot, so a hidden write leaves it unchanged.
    """

    reader: Reader
    sequence: int
    scopes: frozenset[int]
    token: str
