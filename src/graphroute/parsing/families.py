"""Families: which family of the evaluation a parsed question belongs to."""

from __future__ import annotations

from graphroute.types.query import DateConstraint, Family, Operation, ParsedQuery, Reading

_COMPUTED = frozenset((Operation.COUNT, Operation.MOST, Operation.LEAST))
_CHOSEN = frozenset((Operation.COMPARE, Operation.FIRST, Operation.LAST, Operation.EXISTS))


def is_dated(dates: tuple[DateConstraint, ...]) -> bool:
    """True if a date other than "now" constrains the question."""
    return any(not date.cue.rule.endswith("now") for date in dates)


def family_of(query: ParsedQuery) -> Family:
    """The family a question is handled and reported as, from its cues and its best reading.

    In order: a named slot unresolved -> unanswerable; corpus scope -> multi_document; no reading -> exact_id if an identifier was found, else
    single_fragment; counts and extremes over bindings -> aggregation; several branches or anchors joined or compared -> multi_document;
    a date -> temporal_path; otherwise by hops: 0 -> exact_id, 1 -> neighbourhood (exact_id for a single value of an identifier), more ->
    bounded_path.
    """
    if query.unresolved:
        return Family.UNANSWERABLE
    if any(not cue.value.startswith("not:") for cue in query.scope):
        return Family.MULTI_DOCUMENT
    if not query.readings:
        return Family.EXACT_ID if query.identifiers else Family.SINGLE_FRAGMENT
    return _of_reading(query, query.readings[0])


def _of_reading(query: ParsedQuery, reading: Reading) -> Family:
    if reading.operation in _COMPUTED:
        return Family.AGGREGATION
    anchors = {anchor for branch in reading.branches for anchor in branch.anchors}
    hops = max((len(branch.hops) for branch in reading.branches), default=0)
    if reading.operation in _CHOSEN and len(reading.branches) < 2 and len(anchors) < 2:
        return (
            Family.AGGREGATION
            if reading.operation in (Operation.FIRST, Operation.LAST)
            else _by_hops(query, reading, hops)
        )
    if len(reading.branches) > 1:
        return Family.MULTI_DOCUMENT
    return _by_hops(query, reading, hops)


def _by_hops(query: ParsedQuery, reading: Reading, hops: int) -> Family:
    if hops and is_dated(query.dates):
        return Family.TEMPORAL_PATH
    if hops == 0:
        return Family.EXACT_ID if query.identifiers or query.mentions else Family.SINGLE_FRAGMENT
    if hops == 1:
        single = reading.operation in (Operation.VALUE, Operation.DATE) and bool(query.identifiers)
        return Family.EXACT_ID if single else Family.NEIGHBOURHOOD
    return Family.BOUNDED_PATH
