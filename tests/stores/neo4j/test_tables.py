"""Rows of the record for a copy: those that a snapshot changed are found by an index, and none is missed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graphroute.stores.database import Database
from graphroute.stores.neo4j.tables import TABLES, Table
from graphroute.stores.schema import SCHEMA
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.strategies import put_world, random_world

VERSIONED = tuple(table for table in TABLES if table.ended is not None)


@pytest.fixture
def sql() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        yield connection


def bound(table: Table, since: int, target: int) -> dict[str, object]:
    return {"since": since, "target": target, **{f"a{i}": value for i, value in enumerate(table.start)}}


@pytest.mark.parametrize("table", VERSIONED, ids=lambda table: table.name)
def test_changed_rows_are_found_by_index(table: Table, sql: sqlite3.Connection) -> None:
    assert table.ended is not None

    def plan(text: str) -> str:
        rows = sql.execute(f"EXPLAIN QUERY PLAN {text}", bound(table, 5, 6)).fetchall()
        return "; ".join(step for *_, step in rows)

    assert f"INDEX {table.name}_born (born>? AND born<?)" in plan(table.later)
    assert f"INDEX {table.name}_died (died>? AND died<?)" in plan(table.ended)
    assert "SCAN" not in plan(table.later) + plan(table.ended)
    assert f"{table.name}_born" not in plan(table.select), "control: the index does not have all rows"


def test_later_rows_are_those_of_the_whole_select(tmp_path: Path) -> None:
    with Database(tmp_path / "record.db") as db:
        for seed in (1, 2, 3):
            put_world(random_world(seed, size=3), SnapshotWriter(db), sessions=2)
        last = db.sequence()
        found = 0
        for table in TABLES:
            for since in range(1, last):
                for target in range(since + 1, last + 1):
                    given = bound(table, since, target)
                    rows = db.connection.execute(table.later, given).fetchall()
                    assert rows == db.connection.execute(table.select, given).fetchall(), table.name
                    found += len(rows)
        assert last >= 4
        assert found > 100
