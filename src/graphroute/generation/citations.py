"""Parses citations out of an answer and checks them against the units that were sent."""

from __future__ import annotations

import re
from collections.abc import Iterable

from graphroute.types.answer import Citation

_CITED = re.compile(r"\[\s*(U[0-9]{1,9}(?:[\s,;]+U[0-9]{1,9})*)\s*\]")
_UNIT = re.compile(r"U[0-9]+")


def citations_of(text: str, included: Iterable[str]) -> tuple[Citation, ...]:
    """Units cited as `[U3]` or `[U1, U4]`, each once, in order of first mention.

    A citation is valid if its unit was in the text the model was given; a unit left out for budget is not.
    """
    held = frozenset(included)
    found = dict.fromkeys(unit for match in _CITED.finditer(text) for unit in _UNIT.findall(match.group(1)))
    return tuple(Citation(unit_id=unit, valid=unit in held) for unit in found)
