"""Lexical port: BM25 over passages, with statistics over what the reader may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graphroute.types.time import ANY_TIME, TimeFilter
from graphroute.types.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageFilter:
    """Narrows a search inside the view. None: no restriction; an empty tuple: nothing."""

    source_ids: tuple[str, ...] | None = None
    nodes: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    time: TimeFilter = ANY_TIME


NO_FILTER = PassageFilter()


@dataclass(frozen=True, slots=True)
class Scored:
    """A passage id and its score; equal scores are ordered by id."""

    passage_id: str
    score: float


class LexicalStore(Protocol):
    """Full-text search. Scores are always above zero for a hit; no hit is ever dropped for a low score."""

    def search(
        self,
        query: str,
        *,
        view: View,
        k: int,
        where: PassageFilter = NO_FILTER,
        deadline: float | None = None,
    ) -> Sequence[Scored]:
        """The k best readable passages. Empty for a query without searchable terms.

        `where` narrows the candidates; document frequencies and lengths stay those of the view.
        """
        ...

    def document_frequencies(self, terms: Sequence[str], *, view: View) -> Sequence[int]:
        """In how many readable passages each analysed term occurs."""
        ...
