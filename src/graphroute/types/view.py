"""View: what one reader may see at one snapshot; made once per question and passed to every read."""

from __future__ import annotations

from dataclasses import dataclass

from graphroute.types.reader import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A scoped, pinned world. Made by `Catalog.view` only.

    `scopes`: ids of the readable scopes, internal to the stores, never shown. `sequence`: the pinned snapshot, for the
    operator. `token`: names the readable part of the snapshot, so a hidden write leaves it unchanged. `store`: the store that
    the scopes are numbers of, empty for one that was never copied, None where nothing else can be meant.
    """

    reader: Reader
    sequence: int
    scopes: frozenset[int]
    token: str
    store: str | None = None

    @property
    def rows(self) -> tuple[int, frozenset[int], str]:
        """Equal for views that read the same rows, also of a store that was built again under the same numbers: what to keep answers by."""
        return self.sequence, self.scopes, self.token
