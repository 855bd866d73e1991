"""TLS against a real server with a certificate of an authority of our own: accepted when named, refused in one line otherwise."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import servers
from graphroute.errors import ConfigurationError, GraphRouteError
from graphroute.stores.neo4j.connection import Query
from neo4j_fixtures import Neo4jServer, missing

ONE = Query("one", "RETURN 1")


@dataclass(frozen=True)
class Secured:
    server: Neo4jServer
    authority: Path
    stranger: Path

    def uri(self, scheme: str) -> str:
        return f"{scheme}://localhost:{self.server.uri.rpartition(':')[2]}"


def certificate(folder: Path, name: str, host: str) -> Path:
    """A certificate that is its own authority, with its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        missing("openssl is not on the PATH")
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{name}.crt"
    subprocess.run(
        [str(openssl), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-keyout", str(folder / f"{name}.key"),
         "-out", str(made), "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host},IP:127.0.0.2"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return made


@pytest.fixture(scope="module")
def secured(neo4j_own: Callable[..., Neo4jServer], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("tls")
    made = certificate(folder / "bolt", "server", "localhost")
    policy = {
        "dbms.ssl.policy.bolt.enabled": "true",
        "dbms.ssl.policy.bolt.base_directory": str(made.parent),
        "dbms.ssl.policy.bolt.private_key": "server.key",
        "dbms.ssl.policy.bolt.public_certificate": "server.crt",
        "dbms.ssl.policy.bolt.client_auth": "NONE",
        # Both, so that the start can be waited for without TLS.
        "server.bolt.tls_level": "OPTIONAL",
    }
    server = neo4j_own("5.26", settings=policy)
    yield Secured(server, made, certificate(folder / "other", "other", "localhost"))
    assert server.home is not None
    servers.discard(server.home)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["bolt+s", "neo4j+s", "bolt+ssc"])
def test_an_authority_that_is_named_is_trusted(secured: Secured, scheme: str) -> None:
    named = str(secured.authority) if scheme.endswith("+s") else None
    with secured.server.connect(uri=secured.uri(scheme), authority=named) as connection:
        assert connection.read(ONE) == [(1,)]
        assert connection.write(ONE) == [(1,)]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["bolt+s", "neo4j+s"])
@pytest.mark.parametrize("named", ["none", "stranger", "no-file"])
def test_any_other_is_refused(secured: Secured, scheme: str, named: str) -> None:
    authority = {"none": None, "stranger": str(secured.stranger), "no-file": "/nowhere/ca.pem"}[named]
    with secured.server.connect(uri=secured.uri(scheme), authority=authority) as connection:
        began = time.monotonic()
        with pytest.raises(ConfigurationError, match="GRAPHROUTE_NEO4J_CA"):
            connection.read(ONE, deadline=began + 3)
        assert time.monotonic() - began < 3.3


@pytest.mark.slow
def test_a_certificate_of_another_host_is_refused(secured: Secured) -> None:
    uri = secured.uri("bolt+s").replace("localhost", "127.0.0.1")
    with (
        secured.server.connect(uri=uri, authority=str(secured.authority)) as connection,
        pytest.raises(ConfigurationError, match="certificate"),
    ):
        connection.read(ONE)


@pytest.mark.slow
def test_a_server_without_tls_is_not_talked_to_in_clear(secured: Secured, neo4j_5: Neo4jServer) -> None:
    uri = neo4j_5.uri.replace("bolt://", "bolt+ssc://")
    with neo4j_5.connect(uri=uri) as connection, pytest.raises(GraphRouteError):
        connection.read(ONE)
