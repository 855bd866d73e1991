"""Parameters of the search texts: the reader's view and the filter of a search, always of the same types."""

from __future__ import annotations

from graphroute.errors import BackendError
from graphroute.types.search import PassageFilter
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, TimeFilter, TimeMode
from graphroute.types.view import View


def view_parameters(view: View) -> dict[str, object]:
    """The allow-list and the snapshot."""
    return {"scopes": sorted(view.scopes), "sequence": view.sequence}


def filter_parameters(where: PassageFilter) -> dict[str, object] | None:
    """The rest of a filter, or None where it admits nothing."""
    if () in (where.source_ids, where.nodes, where.kinds):
        return None
    low_from, low_to, high_from, high_to = _bounds(where.time)
    return {
        "by_source": where.source_ids is not None,
        "sources": sorted(set(where.source_ids or ())),
        "by_node": where.nodes is not None,
        "nodes": sorted(set(where.nodes or ())),
        "by_kind": where.kinds is not None,
        "kinds": sorted(set(where.kinds or ())),
        "low_from": low_from,
        "low_to": low_to,
        "high_from": high_from,
        "high_to": high_to,
    }


def check_scope(scope: object, view: View, where: str) -> None:
    """Raises BackendError for a row that the allow-list excludes."""
    if scope not in view.scopes:
        raise BackendError("Neo4j returned a passage that the query excludes", where=where)


def _bounds(time: TimeFilter) -> tuple[int, int, int, int]:
    """`TimeFilter.accepts` as half-open bounds of `low` and of `high`."""
    start, end = time.interval.low, time.interval.high
    least, beyond = MIN_INSTANT, MAX_INSTANT + 1
    if time.mode is TimeMode.OVERLAPS:
        return least, end, start + 1, beyond
    if time.mode is TimeMode.STARTS_IN:
        return max(start, MIN_INSTANT + 1), end, least, beyond
    if time.mode is TimeMode.ENDS_IN:
        return least, beyond, start, end
    return least, beyond, least, beyond
