"""Lexical store without passages, for graphs that have no documents."""

from __future__ import annotations

from collections.abc import Sequence

from graphroute.stores.lexical.base import NO_FILTER, PassageFilter, Scored
from graphroute.types.view import View


class NoPassages:
    """Finds nothing, which is all there is."""

    def search(
        self, query: str, *, view: View, k: int, where: PassageFilter = NO_FILTER, deadline: float | None = None
    ) -> Sequence[Scored]:
        """No passage."""
        return ()

    def document_frequencies(self, terms: Sequence[str], *, view: View) -> Sequence[int]:
        """Zero for every term."""
        return [0] * len(terms)

    def prepare(self, *, view: View) -> None:
        """Nothing to load."""
