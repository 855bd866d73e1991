"""Rankings: "top 3 customers by number of orders", how many places are asked for and by what they are counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphroute.parsing.date_words import HAN_DIGITS, NUMBERS
from graphroute.parsing.reading_question import Asked
from graphroute.parsing.relations import WordCue
from graphroute.parsing.tokens import Token, claim, inside
from graphroute.types.query import Cue, CueKind, Operation, Reading

_NUMBERS = {**NUMBERS, **HAN_DIGITS, "十": 10}
_TOP = re.compile(
    r"\b(?:top|топ)[\s-]*(?P<n>\d{1,3}|two|three|four|five|six|seven|eight|nine|ten)\b(?!\s*%)|"
    r"(?:排名)?前\s*(?P<h>\d{1,3}|[一二两三四五六七八九十])\s*(?:名|个|位|大|家|款)|"
    r"\b(?:which|what|the|какие)\s+(?P<w>\d{1,3}|two|three|four|five|six|seven|eight|nine|ten)\s+"
    r"(?=.*(?:\bmost\b|больше всего|чаще всего|больше всех))",
    re.IGNORECASE,
)
MAX_PLACES = 100
_BY_NUMBER = re.compile(r"\bпо\s+(?:числу|количеству)\b|(?:数量|总数|数)(?=最多|排名|前|的|排|$)", re.IGNORECASE)
""" "By number of" in a ranking."""


@dataclass(frozen=True, slots=True)
class Places:
    """ "top 3": how many of the first places are asked for, and where that stands."""

    number: int
    start: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end

    def covers(self, cue: Cue) -> bool:
        """The cue is made of these words: the number of "top 3" is nobody's name or id."""
        return inside([self.span], cue.start, cue.end) and len(cue.text) <= self.end - self.start


def find_places(text: str) -> Places | None:
    """The "top 3" of a question: English, Russian ("топ-3") or Chinese ("前三名"); None without one, or beyond `MAX_PLACES`."""
    found = _TOP.search(text)
    if found is None:
        return None
    said = (found["n"] or found["h"] or found["w"]).casefold()
    number = int(said) if said.isdecimal() else _NUMBERS[said]
    return Places(number, found.start(), found.end()) if 1 <= number <= MAX_PLACES else None


def ranking_cues(text: str, aggregations: Sequence[Cue], places: Places) -> tuple[Cue, ...]:
    """The cues of "top 3 customers by number of orders": the most, and neither a count nor a grouping of its own."""
    cue = Cue(
        kind=CueKind.AGGREGATION,
        value=Operation.MOST.value,
        start=places.start,
        end=places.end,
        rule="aggregation:top",
        text=text[places.start : places.end],
    )
    rest = (
        one
        for one in aggregations
        if one.value not in (Operation.COUNT.value, "group") and not inside([places.span], one.start, one.end)
    )
    return tuple(sorted((cue, *rest), key=lambda one: (one.start, one.end)))


def ranked(readings: Sequence[Reading], asked: Asked, places: Places) -> tuple[Reading, ...]:
    """Readings that give that many places; none where the question does not say by the number of what."""
    if asked.counted is None:
        return ()
    return tuple(
        replace(reading, places=places.number)
        for reading in readings
        if reading.operation is Operation.MOST and reading.attribute is None
    )


def ranked_by(asked: Asked, words: Sequence[WordCue], after: int) -> Asked:
    """The slot of "top 3 customers by number of orders", whose number ends at `after`: the noun behind it, counted by the one other noun."""
    nouns = [n for n, word in enumerate(words) if word.is_type and word.apposition_of is None]
    target = next((n for n in nouns if words[n].start >= after), None)
    others = [n for n in nouns if n != target]
    counted = others[0] if target is not None and len(others) == 1 else None
    return replace(asked, kind="list", operation=Operation.MOST, target=target, counted=counted, unknown=False)


def claim_counting(text: str, tokens: Sequence[Token]) -> None:
    """Take the "by number of" that English aggregation cues do not hold."""
    for by in _BY_NUMBER.finditer(text):
        claim(tokens, by.start(), by.end(), "aggregation")
