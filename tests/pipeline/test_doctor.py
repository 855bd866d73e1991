"""What the doctor finds wrong, and what it says to do about it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from graphroute.pipeline.doctor import Finding, State, examine
from graphroute.stores.database import Database
from graphroute.stores.writer import SnapshotWriter
from graphroute.types.source import Source


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    with Database(path) as database:
        writer = SnapshotWriter(database)
        writer.begin()
        writer.put_source(Source(id="s", text="text", labels=frozenset({"public"})))
        writer.put_setting("dataset", "проба 试验")
        writer.publish()
    return path


def wrong(found: list[Finding]) -> dict[str, tuple[str, int]]:
    return {one.subject: (one.said, one.exit_code) for one in found if one.state is State.WRONG}


def routes(tmp_path: Path, more: str) -> Path:
    path = tmp_path / "routes.yaml"
    path.write_text(f"routes:\n  - otherwise: lexical\n{more}", encoding="utf-8")
    return path


def test_a_right_store_is_ok(store: Path) -> None:
    found = examine(store)
    assert not wrong(found)
    assert {one.subject for one in found if one.state is State.OK} >= {
        "routes file",
        "tokenizer",
        "store file",
        "catalog",
    }
    assert any("проба 试验" in one.said for one in found)
    assert all(one.action for one in found if one.state is not State.OK)


@pytest.mark.parametrize(
    ("more", "subject", "said", "code"),
    [
        ("tokenizer: no_such_encoding\n", "routes file", "no_such_encoding", 3),
        ("stores: {lexical: qdrant}\n", "stores", "stores.qdrant is not set", 3),
        ("stores: {graph: neo4j}\n", "stores", "stores.neo4j is not set", 3),
        ("stores: {graph: neo4j, neo4j: 'bolt://127.0.0.1:9'}\n", "stores", "GRAPHROUTE_NEO4J_PASSWORD", 3),
        ("stores: {lexical: qdrant, qdrant: 'http://127.0.0.1:9'}\n", "Qdrant", "Qdrant at http://127.0.0.1:9", 5),
        ("stores: {vectors: qdrant}\n", "routes file", "vectors", 3),
        ("model: {base_url: 'http://127.0.0.1:9/v1', model: m}\n", "model", "cannot be reached", 5),
        ("log: {path: /proc/nowhere/log.jsonl}\n", "decision log", "cannot be written", 5),
    ],
)
def test_what_is_wrong_is_named(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, subject: str, said: str, code: int
) -> None:
    monkeypatch.delenv("GRAPHROUTE_NEO4J_PASSWORD", raising=False)
    found = wrong(examine(store, routes=routes(tmp_path, more)))
    assert subject in found
    assert said in found[subject][0]
    assert found[subject][1] == code


def test_a_file_that_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    assert wrong(examine(path))["stores"][1] == 4
    assert wrong(examine(tmp_path / "absent.sqlite"))["stores"] == (
        f"there is no store at {str(tmp_path / 'absent.sqlite')!r}",
        4,
    )


def test_a_snapshot_that_was_never_published_is_told(store: Path) -> None:
    def fails() -> None:
        raise RuntimeError

    with Database(store) as database:
        writer = SnapshotWriter(database)
        writer.begin()
        writer.put_source(Source(id="t", text="text", labels=frozenset({"public"})))
        with pytest.raises(RuntimeError):
            writer.publish(fails)
    assert [one.said for one in examine(store) if one.state is State.WARNING and one.subject == "store file"] == [
        "snapshot 2 is complete and not published (1 is)"
    ]


def test_a_server_that_is_not_there(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHROUTE_NEO4J_PASSWORD", "canary-7f")
    found = examine(store, routes=routes(tmp_path, "stores: {graph: neo4j, neo4j: 'bolt://127.0.0.1:9'}\n"))
    assert wrong(found)["stores"][1] == 5
    assert not any("canary-7f" in f"{one.said}{one.action}" for one in found)
