"""Calls to a real server: values, modes, bookmarks, threads, loops, forks, cancellation, and one clear line for each mistake."""

from graphroute.stores.neo4j.connection import Query
from neo4j_fixtures import Neo4jServer

COUNT = Query("count", "UNWIND range(1, $n) AS x RETURN x, [x, 'a'], {a: x}")


def test_values_come_in_order(neo4j: Neo4jServer) -> None:
    with neo4j.connect() as connection:
        assert connection.read(COUNT, {"n": 2}) == [(1, [1, "a"], {"a": 1}), (2, [2, "a"], {"a": 2})]
        assert connection.server_version().startswith("Neo4j/" + neo4j.version)
