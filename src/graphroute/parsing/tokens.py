"""Tokens: the question's words with their stems and what each was recognised as."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphroute.parsing.vocabulary import FUNCTION_WORDS, word_stems
from graphroute.text import words


@dataclass(slots=True)
class Token:
    """A word of the question. `owner` names the kind of cue that took it; empty while nothing has."""

    index: int
    text: str
    key: str
    start: int
    end: int
    stems: tuple[str, ...]
    function: bool
    owner: str = ""

    @property
    def content(self) -> bool:
        """Not a function word."""
        return not self.function


def tokenize(text: str) -> list[Token]:
    """The words of a question, in order."""
    return [
        Token(
            index=index,
            text=word.text,
            key=word.key,
            start=word.start,
            end=word.end,
            stems=word_stems(word.key),
            function=word.key in FUNCTION_WORDS,
        )
        for index, word in enumerate(words(text))
    ]


def claim(tokens: Sequence[Token], start: int, end: int, owner: str) -> list[Token]:
    """Give all unowned tokens inside `[start, end)` an owner and return them."""
    first = bisect_left(tokens, start, key=lambda token: token.start)
    taken = []
    for token in tokens[first:]:
        if token.start >= end:
            break
        if token.end <= end and not token.owner:
            taken.append(token)
    for token in taken:
        token.owner = owner
    return taken


def inside(spans: Iterable[tuple[int, int]], start: int, end: int) -> bool:
    """True if `[start, end)` overlaps one of the spans."""
    return any(low < end and start < high for low, high in spans)
