"""Migrations on real servers: from empty and every older state, edited, missing or newer, two at once, killed half-way."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from graphroute.errors import BackendError, ConfigurationError, GraphRouteError
from graphroute.stores.neo4j import migrate as migrations
from graphroute.stores.neo4j.connection import Neo4jConnection, Query
from graphroute.stores.neo4j.migrate import migrate, read_migrations, require_current, status
from neo4j_fixtures import Neo4jServer

SCHEMA = Query(
    "schema",
    "SHOW INDEXES YIELD name, type, state, options RETURN name, type, state, options.indexConfig ORDER BY name",
)
FILES = {
    "0001_first.cypher": "// A remark; with a semicolon.\nCREATE INDEX one IF NOT EXISTS FOR (n:T) ON (n.a);\n"
    "CREATE CONSTRAINT two IF NOT EXISTS\n  FOR (n:T) REQUIRE n.b IS UNIQUE;\n",
    "0002_second.cypher": "CREATE FULLTEXT INDEX three IF NOT EXISTS FOR (n:T) ON EACH [n.c]\n"
    "  OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}};\nDROP INDEX one IF EXISTS;\n",
    "0003_third.cypher": "CREATE VECTOR INDEX vec_$size IF NOT EXISTS FOR (n:T) ON (n.v_$size)\n"
    "  OPTIONS {indexConfig: {`vector.dimensions`: $size, `vector.similarity_function`: '$similarity'}};\n",
}


@pytest.fixture(scope="module", params=["5.26", "2026"])
def held(
    request: pytest.FixtureRequest, neo4j_lease: Callable[[str], AbstractContextManager[Neo4jServer]]
) -> Iterator[Neo4jServer]:
    with neo4j_lease(request.param) as found:
        yield found


@pytest.fixture
def server(held: Neo4jServer) -> Neo4jServer:
    held.wipe()
    return held


@pytest.fixture
def connection(server: Neo4jServer) -> Iterator[Neo4jConnection]:
    with server.connect() as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def schema(connection: Neo4jConnection) -> list[tuple[object, ...]]:
    return [row for row in connection.read(SCHEMA) if row[1] != "LOOKUP"]


def test_the_shipped_ones_from_empty(connection: Neo4jConnection) -> None:
    known = read_migrations()
    assert status(connection, [384]).pending
    with pytest.raises(ConfigurationError, match="graphroute migrate"):
        require_current(connection, [384])
    steps: list[str] = []
    report = migrate(connection, [384], progress=lambda stage, done, total: steps.append(stage))
    assert report.version == len(known)
    assert len(steps) >= len(known[0].statements)
    found = {name: (kind, state, config) for name, kind, state, config in schema(connection)}
    assert {state for _, state, _ in found.values()} == {"ONLINE"}
    analysers = {name: config["fulltext.analyzer"] for name, (kind, _, config) in found.items() if kind == "FULLTEXT"}
    assert set(analysers.values()) == {"english", "russian", "cjk"}
    assert [config["vector.dimensions"] for kind, _, config in found.values() if kind == "VECTOR"] == [384]
    require_current(connection, [384])
    again = migrate(connection, [384])
    assert (again.applied, again.repaired) == ([], [])


@pytest.mark.parametrize("number", range(1, len(read_migrations()) + 1))
def test_the_shipped_ones_from_every_older_state(connection: Neo4jConnection, number: int) -> None:
    migrate(connection, migrations=read_migrations()[: number - 1])
    migrate(connection, [384])
    found = schema(connection)
    for name, kind, *_ in found:
        connection.write(
            Query("drop", f"DROP {'CONSTRAINT' if _is_key(connection, str(name)) else 'INDEX'} {name} IF EXISTS")
        )
        assert kind != "LOOKUP"
    connection.write(Query("clear", "MATCH (n) DETACH DELETE n"))
    migrate(connection, [384])
    assert schema(connection) == found


def _is_key(connection: Neo4jConnection, name: str) -> bool:
    return (name,) in connection.read(Query("names", "SHOW CONSTRAINTS YIELD name RETURN name"))


def test_each_once_and_in_order_from_every_state(
    server: Neo4jServer, connection: Neo4jConnection, folder: Path
) -> None:
    known = read_migrations(folder)
    migrate(connection, [8], migrations=known)
    whole = schema(connection)
    assert [row[0] for row in whole] == ["graphroute_lease", "graphroute_migration", "three", "two", "vec_8"]
    for done in range(len(known)):
        server.wipe()
        migrate(connection, migrations=known[:done])
        found = status(connection, [8], migrations=known)
        assert (found.version, [step.migration.number for step in found.pending]) == (
            done,
            [*range(done + 1, 4), 3],
        )
        report = migrate(connection, [8], migrations=known)
        assert len(report.applied) == 4 - done
        assert schema(connection) == whole


def test_another_size_is_one_more_index(connection: Neo4jConnection, folder: Path) -> None:
    known = read_migrations(folder)
    migrate(connection, [8], migrations=known)
    assert status(connection, [8], migrations=known).current
    assert not status(connection, [8, 16], migrations=known).current
    assert migrate(connection, [8, 16], migrations=known).applied == ["0003_third size 16"]
    assert {row[0] for row in schema(connection)} >= {"vec_8", "vec_16"}


def test_an_edited_file_is_refused(connection: Neo4jConnection, folder: Path) -> None:
    migrate(connection, migrations=read_migrations(folder))
    path = folder / "0002_second.cypher"
    path.write_text(path.read_text() + "\n// one more remark\n")
    for call in (status, migrate):
        with pytest.raises(ConfigurationError, match="0002_second was edited"):
            call(connection, migrations=read_migrations(folder))


def test_line_ends_are_no_edit(connection: Neo4jConnection, folder: Path) -> None:
    migrate(connection, migrations=read_migrations(folder))
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert status(connection, migrations=read_migrations(folder)).current


def test_a_gap_is_refused(connection: Neo4jConnection, folder: Path) -> None:
    migrate(connection, migrations=read_migrations(folder))
    connection.write(Query("lose", "MATCH (n:GraphrouteMigration {number: 2}) DELETE n"))
    with pytest.raises(ConfigurationError, match="0002 was not applied and a later one was"):
        migrate(connection, migrations=read_migrations(folder))
    (folder / "0002_second.cypher").unlink()
    with pytest.raises(ConfigurationError, match=r"\[1, 3\]"):
        read_migrations(folder)


def test_a_newer_database_is_refused(connection: Neo4jConnection, folder: Path) -> None:
    known = read_migrations(folder)
    migrate(connection, migrations=known)
    with pytest.raises(ConfigurationError, match=r"at migration 0003, newer than .* 0002"):
        migrate(connection, migrations=known[:2])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("1_x.cypher", ""),
        ("0001_X.cypher", ""),
        ("0001_x.cypher", "CREATE INDEX one FOR (n:T) ON (n.a);"),
        ("0001_x.cypher", "MATCH (n) DELETE n;"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigurationError):
        read_migrations(tmp_path)


@pytest.mark.parametrize(
    ("sizes", "similarity"), [([0], "cosine"), ([5000], "cosine"), ([8], "dot"), ([8], "cosine'}")]
)
def test_vectors_that_no_index_takes(connection: Neo4jConnection, sizes: list[int], similarity: str) -> None:
    with pytest.raises(ConfigurationError):
        migrate(connection, sizes, similarity=similarity)
    assert schema(connection) == []


def test_a_place_that_is_taken_is_noticed(connection: Neo4jConnection, folder: Path) -> None:
    """A second FULLTEXT index on a property is silently not made."""
    connection.write(
        Query(
            "other",
            "CREATE FULLTEXT INDEX other FOR (n:T) ON EACH [n.c] OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}",
        )
    )
    with pytest.raises(BackendError, match="FULLTEXT index three is missing"):
        migrate(connection, migrations=read_migrations(folder))
    connection.write(Query("drop", "DROP INDEX other"))
    connection.write(
        Query(
            "same",
            "CREATE FULLTEXT INDEX three FOR (n:T) ON EACH [n.c] OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}",
        )
    )
    with pytest.raises(BackendError, match=r"three has fulltext\.analyzer english, not cjk"):
        migrate(connection, migrations=read_migrations(folder))
    connection.write(Query("drop", "DROP INDEX three"))
    migrate(connection, migrations=read_migrations(folder))
    assert status(connection, migrations=read_migrations(folder)).current


def test_a_lost_index_is_told_and_made_again(connection: Neo4jConnection, folder: Path) -> None:
    known = read_migrations(folder)
    migrate(connection, [8], migrations=known)
    connection.write(Query("drop", "DROP INDEX vec_8"))
    assert status(connection, [8], migrations=known).defects == ("VECTOR index vec_8 is missing",)
    assert migrate(connection, [8], migrations=known).repaired == ["vec_8"]
    assert status(connection, [8], migrations=known).current


def test_populated_data_is_waited_for(connection: Neo4jConnection, folder: Path) -> None:
    connection.write(Query("fill", "UNWIND range(1, 20000) AS x CREATE (n:T {a: x, b: x, c: 'word ' + x})"))
    migrate(connection, [8], migrations=read_migrations(folder))
    assert connection.read(
        Query("words", "CALL db.index.fulltext.queryNodes('three', '777') YIELD node RETURN count(node)")
    ) == [(1,)]


def test_two_at_once(server: Neo4jServer, folder: Path) -> None:
    known, outcomes, gate = read_migrations(folder), [], threading.Barrier(4)

    def run() -> None:
        with server.connect() as connection:
            connection.server_version()
            gate.wait()
            try:
                outcomes.append(len(migrate(connection, [8], migrations=known).applied))
            except GraphRouteError as error:
                outcomes.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 4 in outcomes, outcomes
    assert all(
        outcome in (0, 4) or "another migration of this database runs" in str(outcome) for outcome in outcomes
    ), outcomes
    assert outcomes.count(4) == 1
    with server.connect() as connection:
        assert status(connection, [8], migrations=known).current


def test_a_held_lease_keeps_others_out_until_it_runs_out(
    connection: Neo4jConnection, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = read_migrations(folder)
    monkeypatch.setattr(migrations, "LEASE", 2.0)
    with migrations._lease(connection) as held:
        time.sleep(2.5)
        with pytest.raises(BackendError, match="another migration of this database runs"):
            migrate(connection, migrations=known)
        held()
        # Somebody takes it away: the owner notices.
        connection.write(
            Query("steal", "MATCH (n:GraphrouteLease) SET n.owner = 'other', n.until = timestamp() + 2000")
        )
        time.sleep(1.0)
        with pytest.raises(BackendError, match="lease of this migration was lost"):
            held()
    with pytest.raises(BackendError, match="another migration"):
        migrate(connection, migrations=known)
    time.sleep(2.0)
    assert len(migrate(connection, migrations=known).applied) == 3


@pytest.mark.parametrize("statements", [1, 3, 4])
def test_killed_between_statements(
    server: Neo4jServer, connection: Neo4jConnection, folder: Path, statements: int
) -> None:
    code = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from graphroute.stores.neo4j import migrate as m\nfrom graphroute.stores.neo4j.connection import *\n"
        "m.LEASE = 3.0\n"
        "def kill(stage, done, total):\n"
        f"    if done == {statements}: os.kill(os.getpid(), signal.SIGKILL)\n"
        "c = Neo4jConnection(Neo4jSettings.from_environment(sys.argv[1]))\n"
        "m.migrate(c, [8], migrations=m.read_migrations(Path(sys.argv[2])), progress=kill)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, server.uri, str(folder)], env={**os.environ, **server.environment()}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    known = read_migrations(folder)
    with pytest.raises(BackendError, match="the next run takes over in"):
        migrate(connection, [8], migrations=known)
    time.sleep(3.1)
    migrate(connection, [8], migrations=known)
    assert status(connection, [8], migrations=known).current
    assert [row[0] for row in schema(connection)] == [
        "graphroute_lease",
        "graphroute_migration",
        "three",
        "two",
        "vec_8",
    ]


def command(server: Neo4jServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "graphroute", "migrate", "--store", server.uri, "--quiet", *arguments],
        env={**os.environ, **server.environment()},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command(server: Neo4jServer, connection: Neo4jConnection) -> None:
    told = json.loads(command(server, "--status", "--json").stdout)
    assert (told["version"], told["current"]) == (0, False)
    planned = command(server, "--dry-run", "--vector-size", "16")
    assert "CREATE VECTOR INDEX graphroute_vector_16 IF NOT EXISTS" in planned.stdout
    assert schema(connection) == []
    done = command(server, "--vector-size", "16")
    assert (done.returncode, done.stderr) == (0, "")
    assert "applied 0001_initial\napplied 0001_initial size 16\n" in done.stdout
    again = json.loads(command(server, "--vector-size", "16", "--json").stdout)
    assert again["applied"] == []
    assert "up to date" in command(server, "--status", "--vector-size", "16").stdout


def test_mistakes_at_the_command(server: Neo4jServer) -> None:
    assert command(server, "--status", "--dry-run").returncode == 2
    assert command(server, "--vector-size", "0").returncode == 3
    assert command(server, "--similarity", "dot").returncode == 3
    wrong = subprocess.run(
        [sys.executable, "-m", "graphroute", "migrate", "--store", "store.sqlite"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
