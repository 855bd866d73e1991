"""The filter that every read of Qdrant carries: a positive, non-empty allow-list of scopes and one snapshot.

Qdrant returns everything for None, an empty filter or an empty list inside one, so a search takes a `ScopedFilter` and
nothing else, and `checked` refuses what is not one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphroute.errors import BackendError, UsageError
from graphroute.types.search import NO_FILTER, PassageFilter
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, Interval, TimeFilter, TimeMode
from graphroute.types.view import View

if TYPE_CHECKING:
    from qdrant_client import models

_EXACT_IN_FLOAT = 2**53


@dataclass(frozen=True, slots=True)
class ScopedFilter:
    """What a view may read at its snapshot, narrowed by `where`; made by `scoped_filter` only."""

    view: View
    where: PassageFilter
    access: models.Filter
    filter: models.Filter


def scoped_filter(view: View, where: PassageFilter = NO_FILTER) -> ScopedFilter | None:
    """The filter of a search, or None where nothing can match: no readable scope, or an empty list in `where`."""
    from qdrant_client import models

    if not view.scopes:
        return None
    access: list[models.Condition] = [
        models.FieldCondition(key="scope", match=models.MatchAny(any=sorted(view.scopes))),
        models.FieldCondition(key="born", range=models.Range(lte=view.sequence)),
        models.FieldCondition(key="died", range=models.Range(gt=view.sequence)),
    ]
    required = list(access)
    for key, wanted in (("source", where.source_ids), ("node", where.nodes), ("kind", where.kinds)):
        if wanted is None:
            continue
        if not wanted:
            return None
        required.append(models.FieldCondition(key=key, match=models.MatchAny(any=sorted(set(wanted)))))
    required.extend(
        models.FieldCondition(key=key, range=models.Range(**bounds)) for key, bounds in _time_ranges(where.time)
    )
    return ScopedFilter(view, where, models.Filter(must=access), models.Filter(must=required))


def checked(filter_: object, view: View) -> models.Filter:
    """The filter itself if it admits nothing beyond the view; else UsageError, before anything is sent.

    Allowed is `must` alone, holding the allow-list (non-empty, within the view's scopes), both bounds of the snapshot, and
    conditions on one field each.
    """
    from qdrant_client import models

    if not isinstance(filter_, models.Filter):
        raise UsageError("a search of Qdrant without a filter is refused")
    if filter_.should is not None or filter_.must_not is not None or filter_.min_should is not None:
        raise UsageError("a filter of Qdrant may only require, never exclude or offer a choice")
    conditions = filter_.must if isinstance(filter_.must, list) else []
    if not conditions or not all(isinstance(one, models.FieldCondition) for one in conditions):
        raise UsageError("a filter of Qdrant is empty or nested")
    fields = [one for one in conditions if isinstance(one, models.FieldCondition)]
    if any(isinstance(one.match, models.MatchAny) and not one.match.any for one in fields):
        raise UsageError("a filter of Qdrant holds an empty list")
    allowed = [one.match.any for one in fields if one.key == "scope" and isinstance(one.match, models.MatchAny)]
    if not allowed or not all(set(scopes) <= set(view.scopes) for scopes in allowed):
        raise UsageError("a filter of Qdrant lacks the allow-list of the view")
    born = any(
        one.key == "born" and isinstance(one.range, models.Range) and one.range.lte == view.sequence for one in fields
    )
    died = any(
        one.key == "died" and isinstance(one.range, models.Range) and one.range.gt == view.sequence for one in fields
    )
    if not born or not died:
        raise UsageError("a filter of Qdrant lacks the snapshot of the view")
    return filter_


def narrowed(filter_: models.Filter, key: str, value: int) -> models.Filter:
    """The filter with one more condition: `key` has `value`."""
    from qdrant_client import models

    must = filter_.must if isinstance(filter_.must, list) else []
    return models.Filter(must=[*must, models.FieldCondition(key=key, match=models.MatchValue(value=value))])


def source_filter(source_ids: Sequence[str]) -> models.Filter:
    """All points of these sources, for a purge. Raises UsageError for none: an empty filter deletes everything."""
    from qdrant_client import models

    if not source_ids:
        raise UsageError("a purge of Qdrant without a source is refused")
    return models.Filter(must=[models.FieldCondition(key="source", match=models.MatchAny(any=sorted(set(source_ids))))])


def is_wanted(payload: Mapping[str, Any], scoped: ScopedFilter) -> bool:
    """True if a returned point passes `where`, compared as integers (the server compares bounds of time as floats).

    Raises BackendError if it is not the view's to read.
    """
    view, where = scoped.view, scoped.where
    if payload["scope"] not in view.scopes or not payload["born"] <= view.sequence < payload["died"]:
        raise BackendError("Qdrant returned a passage that its filter excludes", where="search")
    for key, wanted in (("source", where.source_ids), ("node", where.nodes), ("kind", where.kinds)):
        if wanted is not None and payload.get(key) not in wanted:
            raise BackendError("Qdrant returned a passage that its filter excludes", where="search")
    low, high = int(payload["low"]), int(payload["high"])
    return where.time.accepts(Interval(None if low == MIN_INSTANT else low, None if high == MAX_INSTANT else high))


def _time_ranges(time: TimeFilter) -> list[tuple[str, dict[str, float]]]:
    start, end = time.interval.low, time.interval.high
    if time.mode is TimeMode.ANY:
        return []
    if time.mode is TimeMode.OVERLAPS:
        return [("low", {"lt": _above(end)}), ("high", {"gt": _below(start)})]
    if time.mode is TimeMode.STARTS_IN:
        return [("low", {"gte": _below(start), "lt": _above(end)}), ("low", {"gt": float(MIN_INSTANT)})]
    return [("high", {"gte": _below(start), "lt": _above(end)}), ("high", {"lt": float(MAX_INSTANT)})]


def _below(instant: int) -> float:
    """A float not above the instant."""
    return float(instant) if abs(instant) <= _EXACT_IN_FLOAT else math.nextafter(float(instant), -math.inf)


def _above(instant: int) -> float:
    """A float not below the instant."""
    return float(instant) if abs(instant) <= _EXACT_IN_FLOAT else math.nextafter(float(instant), math.inf)
