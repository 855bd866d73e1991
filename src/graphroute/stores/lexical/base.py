"""Lexical port: BM25 over passages, with statistics over what the reader may see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from graphroute.types.search import NO_FILTER, PassageFilter, Scored
from graphroute.types.view import View

__all__ = ["NO_FILTER", "LexicalStore", "PassageFilter", "Scored"]


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
