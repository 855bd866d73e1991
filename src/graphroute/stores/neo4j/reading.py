"""Parameters of the question path and the call that sends them: views, times and filters as values of one map."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from graphroute.errors import BackendError, BackendUnavailableError
from graphroute.stores.neo4j.connection import Neo4jConnection, Query
from graphroute.stores.neo4j.queries import MAX_ROWS, SNAPSHOT
from graphroute.text import fold
from graphroute.time_limit import unlimited
from graphroute.types.graph import AttributeFilter
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, TimeFilter, TimeMode
from graphroute.types.view import View

_CHECKED = 15
_LONG = 60.0
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1

Values = dict[str, Any]


def ask(
    connection: Neo4jConnection, query: Query, values: Values, deadline: float | None = None
) -> list[tuple[Any, ...]]:
    """The rows of a query of the question path, complete: BackendError where there are more than any answer may have."""
    limit = values.setdefault("limit", MAX_ROWS + 1)
    rows = connection.read(query, {"p": values}, deadline=deadline)
    if limit == MAX_ROWS + 1 and len(rows) > MAX_ROWS:
        raise BackendError(
            f"{query.name} found more than {MAX_ROWS:,} rows",
            where=connection.settings.uri,
            hint="ask a narrower question",
        )
    return rows


def ask_long(connection: Neo4jConnection, query: Query, values: Values) -> list[tuple[Any, ...]]:
    """`ask` for what is read whole, once for all questions of a view: a minute, whatever the question's own time is."""
    with unlimited():
        return ask(connection, query, values, time.monotonic() + _LONG)


class StoreCheck:
    """Sees to it that a view is used on a server with a copy of its own store only: scopes are numbers of a store.

    One query for each view, whichever stores of the connection read with it; none for a view of the server's own catalog.
    """

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection

    def passed(self, view: View) -> None:
        """The server itself said which store the view is of."""
        self._connection.checked = (*self._connection.checked[-_CHECKED:], view)

    def require(self, view: View, deadline: float | None = None) -> None:
        """Raises BackendUnavailableError if the server has another store, none, or an older snapshot."""
        if view.store is None or any(view is one for one in self._connection.checked):
            return
        rows = self._connection.read(SNAPSHOT, {"p": {"sequence": view.sequence}}, deadline=deadline)
        said = (
            "the store is not copied to Neo4j"
            if not rows or not rows[0][0]
            else "the database holds another store"
            if rows[0][3] != view.store
            else "the copy in Neo4j is older than the store"
            if rows[0][0] < view.sequence
            else None
        )
        if said is not None:
            raise BackendUnavailableError(
                said,
                where=self._connection.settings.uri,
                hint="run graphroute replicate; give each store a database of its own",
            )
        self.passed(view)


def scoped(view: View) -> Values:
    """The snapshot and the scopes of a view."""
    return {"sequence": view.sequence, "scopes": sorted(view.scopes)}


def bounds(time: TimeFilter, prefix: str = "") -> Values:
    """`TimeFilter.accepts` as half-open bounds on both ends of an interval."""
    low, high = [_LOWEST, _HIGHEST], [_LOWEST, _HIGHEST]
    start, end = time.interval.low, time.interval.high
    if time.mode is TimeMode.OVERLAPS:
        low[1], high[0] = end, start + 1
    elif time.mode is TimeMode.STARTS_IN:
        low[0], low[1] = max(start, MIN_INSTANT + 1), end
    elif time.mode is TimeMode.ENDS_IN:
        high[0], high[1] = start, min(end, MAX_INSTANT)
    return {
        f"{prefix}low_from": low[0],
        f"{prefix}low_to": low[1],
        f"{prefix}high_from": high[0],
        f"{prefix}high_to": high[1],
    }


def tests(filters: Sequence[AttributeFilter]) -> list[Values]:
    """Attribute filters as values; one that cannot be read as its operator needs passes nothing."""
    return [_test(test) for test in filters]


def _test(test: AttributeFilter) -> Values:
    values: Values = {"key": test.key, "operator": test.operator}
    try:
        if test.operator in ("eq", "ne"):
            values["text"] = fold(test.value)
        elif test.operator == "in_range":
            low, high = test.value.split("..")
            values["low"] = int(low) if low else MIN_INSTANT
            values["high"] = int(high) if high else MAX_INSTANT
        elif test.operator in ("lt", "le", "gt", "ge"):
            values["number"] = float(test.value)
        else:
            values["operator"] = "never"
    except ValueError:
        values["operator"] = "never"
    return values
