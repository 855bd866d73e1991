"""Neo4j servers for tests: given by the environment, or started here once per run, or a skip that says what is missing.

GRAPHROUTE_TEST_NEO4J_5 and GRAPHROUTE_TEST_NEO4J_2026 are URIs, with `_PASSWORD` beside them; `tools/servers.py run` sets them. Such
a server must be one for tests: its only database is emptied before each test. With GRAPHROUTE_REQUIRE_SERVERS=1 a skip is a failure.

Community has one database, so whoever holds a server holds it alone: the fixtures take its lock, which all workers of a run share.
Tests of one release are one group for `pytest -n 2 --dist loadgroup`, so that one worker's tests do not wait for another's (pytest-xdist
3.8 knows groups up to pytest 9.1). A test that takes both releases is of the group of 5.26 and takes that one first.
"""

import fcntl
import gc
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import servers
from graphroute.stores.neo4j.connection import Neo4jConnection, Neo4jSettings, Query

SHARED = "GRAPHROUTE_TEST_SHARED"
OWNER = "GRAPHROUTE_TEST_OWNER"
REQUIRED = "GRAPHROUTE_REQUIRE_SERVERS"
VERSIONS = ("5.26", "2026")
FIXTURES = {"neo4j", "neo4j_5", "neo4j_2026", "neo4j_lease", "neo4j_own"}

DELETE = Query("delete_all", "MATCH (n) WITH n LIMIT 10000 DETACH DELETE n RETURN count(*)")
DELETE_DATA = Query(
    "delete_data", "MATCH (n) WHERE NOT n:GraphrouteMigration WITH n LIMIT 10000 DETACH DELETE n RETURN count(*)"
)
SETTINGS = {"dbms.cypher.min_replan_interval": "1h"}
"""Every look-up names its index, so that plans made over little data hold; planning anew for each test takes longer than most tests."""
CONSTRAINTS = Query("constraints", "SHOW CONSTRAINTS YIELD name RETURN name ORDER BY name")
INDEXES = Query("indexes", "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name ORDER BY name")


@dataclass(frozen=True)
class Neo4jServer:
    """A server that a test has to itself."""

    version: str
    uri: str
    password: str = field(repr=False)
    home: Path | None = None

    def settings(self, **changes: Any) -> Neo4jSettings:
        return Neo4jSettings(**{"uri": self.uri, "user": servers.USER, "password": self.password, **changes})

    def connect(self, **changes: Any) -> Neo4jConnection:
        return Neo4jConnection(self.settings(**changes))

    def environment(self) -> dict[str, str]:
        """For a command of ours that is given the URI."""
        return {"GRAPHROUTE_NEO4J_USER": servers.USER, "GRAPHROUTE_NEO4J_PASSWORD": self.password}

    def wipe(self, *, migrated: bool = False) -> None:
        """Removes all data, constraints and indexes; `migrated`: but those of our migrations, if there are any, so that plans stay."""
        with self.connect() as connection:
            while connection.write(DELETE_DATA if migrated else DELETE) != [(0,)]:
                pass
            for kind, query in (("CONSTRAINT", CONSTRAINTS), ("INDEX", INDEXES)):
                for (name,) in connection.read(query):
                    if not (migrated and name.startswith("graphroute_")):
                        connection.write(Query("drop", f"DROP {kind} `{name}` IF EXISTS"))


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        os.environ[SHARED] = tempfile.mkdtemp(prefix="graphroute-servers-")
        os.environ[OWNER] = str(os.getpid())


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shared = Path(os.environ.pop(SHARED))
        for version in VERSIONS:
            servers.discard(shared / version)
        shutil.rmtree(shared, ignore_errors=True)


# Before xdist looks for the groups.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        wanted = FIXTURES & set(getattr(item, "fixturenames", ()))
        if wanted:
            item.add_marker(pytest.mark.integration)
            item.add_marker(pytest.mark.xdist_group(_group(item, wanted)))


def _group(item: pytest.Item, wanted: set[str]) -> str:
    callspec = getattr(item, "callspec", None)
    if wanted == {"neo4j_own"}:
        return "neo4j-own"
    newer = wanted <= {"neo4j_2026", "neo4j_own"} or (callspec is not None and "2026" in callspec.params.values())
    return "neo4j-2026" if newer else "neo4j-5.26"


def missing(reason: str) -> None:
    """Skips the test, or fails it where servers are required."""
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


_FOUND: dict[str, Neo4jServer | str] = {}
_HELD: set[str] = set()


def _find(version: str) -> Neo4jServer | str:
    """A server of a release, or why there is none."""
    release = servers.VERSIONS[version]
    uri = os.environ.get(release.variable)
    if uri:
        return Neo4jServer(version, uri, os.environ.get(f"{release.variable}_PASSWORD", ""))
    reason = os.environ.get(f"{release.variable}_REASON")
    if reason:
        return reason
    try:
        # Starting takes a lock, so the first worker starts the server and the others find it.
        owner = int(os.environ[OWNER])
        started = servers.start(release, Path(os.environ[SHARED]) / version, owner=owner, settings=SETTINGS)
    except servers.ServerError as error:
        return str(error)
    return Neo4jServer(version, started.uri, started.password, Path(started.home))


@contextmanager
def lease(version: str, *, migrated: bool = False) -> Iterator[Neo4jServer]:
    """An empty server, held alone until the end. `migrated`: our constraints and indexes may be there, from a test before."""
    if version not in _FOUND:
        _FOUND[version] = _find(version)
    found = _FOUND[version]
    if isinstance(found, str):
        missing(f"no Neo4j {version}: {found}")
    assert isinstance(found, Neo4jServer)
    if version in _HELD:
        found.wipe(migrated=migrated)
        yield found
        return
    if version == "5.26" and "2026" in _HELD:
        pytest.fail(
            "take the server of 5.26 before that of 2026: two workers could wait for one another", pytrace=False
        )
    with (Path(os.environ[SHARED]) / f"{version}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _HELD.add(version)
        try:
            found.wipe(migrated=migrated)
            yield found
        finally:
            _HELD.discard(version)


@pytest.fixture(autouse=True)
def collect_connections(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collects what the driver leaves of refused connections here, so that its warnings do not fail a later test."""
    yield
    if FIXTURES & set(request.fixturenames):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gc.collect()


@pytest.fixture(scope="session")
def neo4j_lease() -> Callable[..., AbstractContextManager[Neo4jServer]]:
    """For fixtures of a wider scope: `with neo4j_lease("5.26") as server`; see `lease`. Keep it no longer than a module."""
    return lease


@pytest.fixture
def neo4j_5() -> Iterator[Neo4jServer]:
    """An empty Neo4j 5.26."""
    with lease("5.26") as server:
        yield server


@pytest.fixture
def neo4j_2026() -> Iterator[Neo4jServer]:
    """An empty Neo4j of 2026."""
    with lease("2026") as server:
        yield server


@pytest.fixture(params=VERSIONS)
def neo4j(request: pytest.FixtureRequest) -> Iterator[Neo4jServer]:
    """An empty Neo4j of each release."""
    with lease(request.param) as server:
        yield server


@pytest.fixture(scope="session")
def neo4j_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Neo4jServer]]:
    """Starts servers that a test may stop, kill or set up otherwise: `neo4j_own("5.26", settings={...})`. They go at the end of the run."""
    homes: list[Path] = []

    def start(version: str, **options: Any) -> Neo4jServer:
        reason = os.environ.get(f"{servers.VERSIONS[version].variable}_REASON")
        if reason:
            missing(f"no Neo4j {version}: {reason}")
        home = options.pop("home", None) or tmp_path_factory.mktemp(f"neo4j-{version}") / "home"
        homes.append(home)
        try:
            started = servers.start(servers.VERSIONS[version], home, owner=os.getpid(), **options)
        except servers.MissingError as error:
            missing(f"no Neo4j {version}: {error}")
            raise
        return Neo4jServer(version, started.uri, started.password, home)

    yield start
    for home in homes:
        servers.discard(home)
