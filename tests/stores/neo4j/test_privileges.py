"""What the account and server allow: seen on real servers, hardened and not, and nothing of it through a read."""

import os
import time
from collections.abc import Callable, Iterator

import pytest

import servers
from graphroute.errors import BackendError
from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings, Query
from graphroute.stores.neo4j.privileges import _amount, _network, examine, may_write
from neo4j_fixtures import Neo4jServer

ATTEMPTS = [
    "CREATE (n:Evil {x: 1})",
    "MERGE (n:Evil {x: 1}) RETURN n",
    "MATCH (n:Good) SET n.name = 'evil'",
    "MATCH (n:Good) SET n:Evil",
    "MATCH (n:Good) REMOVE n.name",
    "MATCH (n:Good) DETACH DELETE n",
    "MATCH (n:Good) FOREACH (x IN [1] | SET n.name = 'evil')",
    "MATCH (n:Good) CALL (n) { SET n.name = 'evil' } RETURN n",
    "UNWIND [1, 2] AS x CALL (x) { CREATE (:Evil {x: x}) } IN TRANSACTIONS RETURN x",
    "MATCH (n:Good) RETURN n UNION MATCH (n:Good) DETACH DELETE n RETURN n",
    "CREATE INDEX evil FOR (n:Evil) ON (n.x)",
    "DROP INDEX good",
    "CREATE CONSTRAINT evil FOR (n:Evil) REQUIRE n.x IS UNIQUE",
    "CREATE FULLTEXT INDEX evil FOR (n:Evil) ON EACH [n.x]",
    "CREATE USER evil SET PASSWORD 'evil-password'",
    "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'evil-password'",
    "DROP USER neo4j",
    "CREATE DATABASE evil",
    "STOP DATABASE neo4j",
    "CALL db.createLabel('Evil')",
    "CALL db.createProperty('evil')",
    "CALL db.index.vector.createNodeIndex('evil', 'Evil', 'v', 4, 'cosine')",
    "CALL apoc.cypher.run('CREATE (:Evil)', {})",
    "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    "USE system CREATE USER evil SET PASSWORD 'evil-password'",
]
STATE = Query("state", "MATCH (n) RETURN labels(n), properties(n) ORDER BY n.name")
USERS = Query("users", "SHOW USERS YIELD user RETURN user")
SCHEMA = Query("schema", "SHOW INDEXES YIELD name RETURN name ORDER BY name")
LABELS = Query("labels", "CALL db.labels() YIELD label RETURN label ORDER BY label")
NAMES = Query("names", "CALL db.propertyKeys() YIELD propertyKey AS key WHERE key CONTAINS 'evil' RETURN key")


@pytest.fixture
def filled(neo4j: Neo4jServer) -> Iterator[Neo4jConnection]:
    with neo4j.connect() as connection:
        connection.write(Query("good", "CREATE INDEX good FOR (n:Good) ON (n.name)"))
        connection.write(Query("fill", "UNWIND ['a', 'b'] AS name CREATE (:Good {name: name})"))
        yield connection


def everything(connection: Neo4jConnection) -> list[object]:
    return [connection.read(query) for query in (STATE, USERS, SCHEMA, LABELS, NAMES)]


def test_none_of_25_attempts_is_carried_out_by_a_read(filled: Neo4jConnection) -> None:
    before = everything(filled)
    assert len(ATTEMPTS) == 25
    done = []
    for text in ATTEMPTS:
        try:
            filled.read(Query("attempt", text))
            done.append(text)
        except BackendError:
            pass
    assert done == []
    assert everything(filled) == before


def test_an_explained_write_is_not_carried_out(filled: Neo4jConnection) -> None:
    before = everything(filled)
    assert filled.read(Query("attempt", "EXPLAIN CREATE (:Evil {evil: 1})")) == []
    assert everything(filled) == before


def test_as_a_value_none_of_them_does_anything(filled: Neo4jConnection) -> None:
    before = everything(filled)
    for text in ATTEMPTS:
        for form in (text, f"'}}) {text} //", f"` {text}", f'" {text} /*', f"\\u0060{text}"):
            assert filled.read(Query("named", "MATCH (n:Good) WHERE n.name = $name RETURN n"), {"name": form}) == []
    assert everything(filled) == before


def test_by_a_write_some_are_carried_out(filled: Neo4jConnection) -> None:
    """The control: what keeps them out is the READ transaction."""
    before = everything(filled)
    done = []
    for text in ATTEMPTS[:8]:
        try:
            filled.write(Query("attempt", text))
            done.append(text)
        except BackendError:
            pass
    assert len(done) == 8
    assert everything(filled) != before


def test_a_hardened_server(neo4j: Neo4jServer) -> None:
    with neo4j.connect() as connection:
        found = examine(connection)
        assert connection.read(Query("count", "MATCH (n) RETURN count(n)")) == [(0,)]
    assert found.version.startswith(neo4j.version)
    assert found.edition == "community"
    names = {finding.name: finding.weight for finding in found.findings}
    assert names == {"write": "note", "load_csv_network": "note", "administration": "note", "roles": "note"}
    assert all(finding.close for finding in found.findings)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["5.26", "2026"] if os.environ.get("GRAPHROUTE_ASSURE") == "1" else ["5.26"])
def test_a_server_as_it_comes(neo4j_own: Callable[..., Neo4jServer], version: str) -> None:
    """Each key taken away is a finding, and a read-only server takes no write."""
    loose = {
        "dbms.security.allow_csv_import_from_file_urls": "true",
        "db.transaction.timeout": "0s",
        "db.transaction.monitor.check.interval": "2s",
        "db.memory.transaction.max": "0",
        "dbms.memory.transaction.total.max": "0",
        "dbms.security.procedures.unrestricted": "db.*",
    }
    server = neo4j_own(version, settings=loose)
    with server.connect() as connection:
        names = [finding.name for finding in examine(connection).findings if finding.weight == "warning"]
        assert sorted(names) == ["load_csv", "memory", "memory", "timeout", "timeout_check", "unrestricted"]
        assert may_write(connection)
    assert server.home is not None
    servers.stop(server.home)
    closed = neo4j_own(version, home=server.home, settings={"server.databases.default_to_read_only": "true"})
    with closed.connect() as connection:
        assert not may_write(connection)
        assert "write" not in [finding.name for finding in examine(connection).findings]
    servers.discard(server.home)


@pytest.mark.parametrize(
    ("uri", "names"),
    [
        ("bolt://127.0.0.1:1", []), ("neo4j://localhost", []), ("bolt://[::1]:1", []), ("neo4j+s://db.example.org", []),
        ("neo4j://db.example.org", ["encryption"]), ("bolt://10.0.0.1", ["encryption"]), ("bolt+ssc://db.example.org", ["certificate"]),
    ],
)  # fmt: skip
def test_an_open_network_is_told(uri: str, names: list[str]) -> None:
    assert [finding.name for finding in _network(uri)] == names


@pytest.mark.parametrize(
    ("text", "amount"), [("", 0), ("0s", 0), ("0B", 0), ("1m", 60), ("1m30s", 90), ("200ms", 0.2), ("256.00MiB", 256)]
)
def test_amounts(text: str, amount: float) -> None:
    assert _amount(text) == pytest.approx(amount)


def test_a_server_that_is_not_there_is_an_error_and_no_finding() -> None:
    with (
        Neo4jConnection(Neo4jSettings(uri="bolt://127.0.0.1:1", password="x")) as connection,
        pytest.raises(BackendError),
    ):
        examine(connection, deadline=time.monotonic() + 1)
