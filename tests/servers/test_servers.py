"""The tool that runs servers says what is missing, ends only its own process and leaves nothing behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import servers
from neo4j_fixtures import Neo4jServer, missing

TOOL = Path(servers.__file__)


def tool(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TOOL), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def jdk(folder: Path, version: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text("#!/bin/sh\n")
    (folder / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\n')
    return folder


def test_the_oldest_fitting_jdk_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    homes = {
        jdk(tmp_path / name, name): major
        for name, major in {"1.8.0_1": 8, "17.0.2": 17, "21": 21, "25.0.1": 25}.items()
    }
    assert {home: servers._java_version(home) for home in homes} == homes
    monkeypatch.setattr(servers, "java_homes", lambda: homes)
    assert servers.java_for(servers.VERSIONS["5.26"]).name == "17.0.2"
    assert servers.java_for(servers.VERSIONS["2026"]).name == "25.0.1"


def test_a_missing_jdk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "java_homes", lambda: {Path("x"): 11})
    with pytest.raises(servers.MissingError, match=r"Neo4j 5\.26 needs a JDK 17 to 21; found: 11"):
        servers.java_for(servers.VERSIONS["5.26"])
    with pytest.raises(servers.MissingError, match="Neo4j 2026 needs a JDK 25 or newer; found: 11"):
        servers.java_for(servers.VERSIONS["2026"])


def test_missing_maven_is_exit_code_3(tmp_path: Path) -> None:
    done = tool("fetch", "--version", "5.26", PATH=str(tmp_path), GRAPHROUTE_SERVERS=str(tmp_path))
    assert (done.returncode, "Maven (mvn) is not on the PATH" in done.stderr) == (3, True)


def test_a_pid_that_is_another_process_is_left_alone(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        home = tmp_path / "home"
        home.mkdir()
        (home / "server.json").write_text(
            f'{{"version": "5.26", "home": "{home}", "pid": {other.pid}, "port": 1, "password": "x"}}'
        )
        assert "not running" in tool("status", "--version", "5.26", "--home", str(home)).stderr
        assert "not running" in tool("stop", "--version", "5.26", "--home", str(home)).stderr
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_usage() -> None:
    assert tool("start", "--home", "x").returncode == 2
    assert tool("run").returncode == 2
    assert tool("start", "--version", "4.4").returncode == 2


def test_secrets_are_for_the_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "x.env"
    servers._write(path, "secret")
    assert path.stat().st_mode & 0o777 == 0o600
    assert "canary" not in repr(servers.Server("5.26", "h", 1, 2, "canary"))


@pytest.mark.slow
def test_run_starts_stops_and_hands_on_the_exit_code(neo4j_5: Neo4jServer, tmp_path: Path) -> None:
    """A server that is there shows that one can be started here."""
    assert neo4j_5.uri
    jars = servers.cache() / "jars"
    (tmp_path / "jars").symlink_to(jars)
    code = "import os, sys; print(os.environ['GRAPHROUTE_TEST_NEO4J_5']); sys.exit(7)"
    done = tool("run", "--version", "5.26", "--", sys.executable, "-c", code, GRAPHROUTE_SERVERS=str(tmp_path))
    if "not started" in done.stderr:
        missing(done.stderr)
    assert done.returncode == 7
    assert done.stdout.startswith("bolt://127.0.0.1:")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("run-")] == []


@pytest.mark.slow
def test_a_server_goes_when_its_owner_was_killed(neo4j_5: Neo4jServer, tmp_path: Path) -> None:
    assert neo4j_5.uri
    code = (
        f"import sys; sys.path.insert(0, {str(TOOL.parent)!r})\nimport os, servers\nfrom pathlib import Path\n"
        f"servers.start(servers.VERSIONS['5.26'], Path({str(tmp_path / 'home')!r}), owner=os.getpid())\nos.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    until = time.monotonic() + 60
    while (tmp_path / "home").exists() and time.monotonic() < until:
        time.sleep(0.2)
    assert not (tmp_path / "home").exists()
