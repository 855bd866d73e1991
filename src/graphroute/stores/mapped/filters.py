"""Tests values of a foreign graph as text against attribute filters, as the embedded store tests its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphroute.stores.mapped.values import parse_date
from graphroute.text import alias_key, fold
from graphroute.types.graph import AttributeFilter
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT

TRUTHS = ("true", "false")


def folded(key: str, value: str) -> frozenset[str]:
    """What a value is known by: itself, and a property that is true by the property's own name ("discontinued")."""
    forms = {fold(value), alias_key(value)}
    if value == "true":
        forms.add(flag(key))
    return frozenset(forms)


def flag(key: str) -> str:
    """The words of a property's name, by which questions name what it is true of: `isActive` -> active."""
    text = "".join(
        f" {char}" if char.isupper() and before.islower() else char
        for before, char in zip(" " + key, key, strict=False)
    )
    words = alias_key(text).split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in ("is", "has", "was") else words)


def passes(filters: Sequence[AttributeFilter], values: Mapping[str, Sequence[str]], order: str) -> bool:
    """True if every filter passes. `ne` asks for an entity that has the attribute and not this value; what cannot be read passes nothing."""
    return all(_passes(test, values.get(test.key, ()), order) for test in filters)


def _passes(test: AttributeFilter, values: Sequence[str], order: str) -> bool:
    if test.operator in ("eq", "ne"):
        wanted = {fold(test.value), alias_key(test.value)}
        held = any(folded(test.key, value) & wanted for value in values)
        return held if test.operator == "eq" else bool(values) and not held
    try:
        if test.operator == "in_range":
            low, high = test.value.split("..")
            start, end = int(low) if low else MIN_INSTANT, int(high) if high else MAX_INSTANT
            return any((moment := parse_date(value, order)) is not None and start <= moment < end for value in values)
        bound = float(test.value)
    except ValueError:
        return False
    numbers = [number for value in values if (number := number_of(value)) is not None]
    if test.operator == "lt":
        return any(number < bound for number in numbers)
    if test.operator == "le":
        return any(number <= bound for number in numbers)
    if test.operator == "gt":
        return any(number > bound for number in numbers)
    return test.operator == "ge" and any(number >= bound for number in numbers)


def number_of(text: str) -> float | None:
    """A finite number, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number - number == 0 else None
