"""Leftovers: what stands in a question, is explained by nothing, and may not be ignored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphroute.parsing.lexing import word_set
from graphroute.parsing.reading_costs import UNDATED
from graphroute.parsing.tokens import Token
from graphroute.parsing.vocabulary import word_stems
from graphroute.text import STOP_WORDS
from graphroute.types.ontology import Ontology
from graphroute.types.query import Cue, CueKind, DateConstraint, Reading

_COMPANY = frozenset(
    {
        stem
        for word in ("company", "firm", "organization", "organisation", "business", "party")
        for stem in (word, *word_stems(word))
    }
    | set(word_set("компания компании организация организации фирма фирмы"))
)
"""Nouns for whoever does something."""
_EMPTY = frozenset(
    {
        *("lie", "lies", "lay", "stand", "stands", "situated", "located", "placed", "found", "available", "recorded"),
        *("existing", "already", "always", "really", "actually", "altogether", "exact", "given", "record", "records"),
        *word_set("находятся находится расположены расположен имеется имеются всего вообще"),
        *"吗呢吧啊过着地得把将会能可以请问下上里中内",
    }
)
"""Words that place, stress or ask and restrict nothing."""


class Leftovers:
    """Built once per ontology."""

    def __init__(self, ontology: Ontology, *, no_text: bool) -> None:
        """`no_text`: of a graph without passages, so that no search could explain a word."""
        self._no_text = no_text
        self._agents = frozenset(name for name, kind in ontology.types.items() if kind.agent)

    def find(self, tokens: Sequence[Token], dates: Sequence[DateConstraint], reading: Reading) -> tuple[Cue, ...]:
        """What no answer may ignore: a date that nothing has, and, where no text could explain it, a word of no meaning."""
        if UNDATED in reading.reasons:
            return tuple(replace(date.cue, kind=CueKind.UNRESOLVED, rule="date:nowhere") for date in dates)
        if not self._no_text:
            return ()
        return tuple(
            Cue(
                kind=CueKind.UNRESOLVED,
                value=token.text,
                start=token.start,
                end=token.end,
                rule="word:unknown",
                text=token.text,
            )
            for token in tokens
            if token.text in reading.unexplained and not token.owner and not self._says_nothing(token, reading)
        )

    def _says_nothing(self, token: Token, reading: Reading) -> bool:
        """ "By which company", "which territories lie in": the word adds nothing to what the reading asks."""
        if token.key in _COMPANY or token.stems[0] in _COMPANY:
            return all(name in self._agents for name in reading.target_types)
        stopped = any(token.key in words for words in STOP_WORDS.values())
        return stopped or token.key in _EMPTY or not any(char.isalnum() for char in token.text)
