"""Fetches Neo4j Community from Maven Central, starts and stops it for tests, and runs a command with servers at hand."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import fcntl
import glob
import hashlib
import json
import os
import re
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
POMS = ROOT / "tests" / "servers"
MISSING = 3
"""Exit code when something that is needed is not installed."""
USER = "neo4j"
_STARTED: list[subprocess.Popen[bytes]] = []
"""Children that are meant to go on; kept, so that they are not warned of."""
START_TIMEOUT = 180.0
STOP_TIMEOUT = 30.0


class ServerError(Exception):
    """A server could not be fetched, started or stopped."""


class MissingError(ServerError):
    """Java, Maven or the driver is not there; the message says which and what would do."""


@dataclass(frozen=True)
class Version:
    """How one release is run. `java`: lowest and highest major version of the JDK."""

    name: str
    main: str
    java: tuple[int, int]
    jvm: tuple[str, ...]
    variable: str

    @property
    def pom(self) -> Path:
        """The file that pins the release."""
        return POMS / f"neo4j-{self.name}" / "pom.xml"


VERSIONS = {
    "5.26": Version("5.26", "org.neo4j.server.CommunityEntryPoint", (17, 21), (), "GRAPHROUTE_TEST_NEO4J_5"),
    "2026": Version(
        "2026",
        "org.neo4j.server.Neo4jCommunity",
        (25, 999),
        ("--add-modules", "jdk.incubator.vector"),
        "GRAPHROUTE_TEST_NEO4J_2026",
    ),
}
OPENS = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")

# The same keys stand in docs/security.md; a server for tests gets less memory.
HARDENED = {
    "dbms.security.auth_enabled": "true",
    "dbms.security.allow_csv_import_from_file_urls": "false",
    "dbms.security.procedures.allowlist": "db.*",
    "server.directories.import": "import",
    "db.transaction.timeout": "60s",
    "db.transaction.monitor.check.interval": "200ms",
    "db.lock.acquisition.timeout": "10s",
    "db.memory.transaction.max": "256m",
    "dbms.memory.transaction.total.max": "384m",
    "dbms.usage_report.enabled": "false",
}
LOCAL = {
    "server.http.enabled": "false",
    "server.https.enabled": "false",
    "server.memory.pagecache.size": "128m",
    "db.tx_log.rotation.retention_policy": "2 files",
}


def cache() -> Path:
    """Where jars and the shared servers are kept."""
    return Path(os.environ.get("GRAPHROUTE_SERVERS") or ROOT / ".graphroute" / "servers").absolute()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock file, so that two processes do not fetch or start the same thing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def java_homes() -> dict[Path, int]:
    """JDKs of this machine and their major versions."""
    found: list[Path] = [Path(value) for name, value in sorted(os.environ.items()) if name.startswith("JAVA_HOME")]
    on_path = shutil.which("java")
    launchers = [on_path] if on_path else []
    if shutil.which("update-alternatives"):
        listed = subprocess.run(["update-alternatives", "--list", "java"], capture_output=True, text=True, check=False)
        launchers += listed.stdout.split()
    found += [Path(launcher).resolve().parent.parent for launcher in launchers]
    for pattern in (
        "/usr/lib/jvm/*",
        "/opt/*jdk*",
        "/Library/Java/JavaVirtualMachines/*/Contents/Home",
        str(Path.home() / ".sdkman/candidates/java/*"),
        str(Path.home() / ".jdks/*"),
    ):
        found += [Path(place) for place in sorted(glob.glob(pattern))]
    homes: dict[Path, int] = {}
    for home in found:
        major = _java_version(home)
        if major is not None:
            homes.setdefault(home.resolve(), major)
    return homes


def _java_version(home: Path) -> int | None:
    if not (home / "bin" / "java").is_file():
        return None
    try:
        release = (home / "release").read_text(encoding="utf-8")
    except OSError:
        release = ""
    match = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release, re.MULTILINE)
    if match is None:
        told = subprocess.run([home / "bin" / "java", "-version"], capture_output=True, text=True, check=False)
        match = re.search(r'version "(?:1\.)?(\d+)', told.stderr)
    return int(match[1]) if match else None


def java_for(version: Version) -> Path:
    """The oldest JDK that runs the release. Raises MissingError."""
    homes = java_homes()
    lowest, highest = version.java
    fitting = sorted((major, str(home)) for home, major in homes.items() if lowest <= major <= highest)
    if not fitting:
        wanted = f"a JDK {lowest}" + (" or newer" if highest > 100 else f" to {highest}")
        seen = ", ".join(str(major) for major in sorted(set(homes.values()))) or "none"
        raise MissingError(f"Neo4j {version.name} needs {wanted}; found: {seen} (JAVA_HOME names one)")
    return Path(fitting[0][1])


def fetch(version: Version) -> Path:
    """The folder with the jars of a release, fetched once per pom. Raises MissingError, ServerError."""
    jars = cache() / "jars" / version.name
    pinned = hashlib.sha256(version.pom.read_bytes()).hexdigest()
    stamp = jars / ".pom.sha256"
    with locked(cache() / f"jars-{version.name}.lock"):
        if stamp.is_file() and stamp.read_text() == pinned:
            return jars
        maven = shutil.which("mvn")
        if maven is None:
            raise MissingError("Maven (mvn) is not on the PATH; it fetches Neo4j Community")
        partial = jars.with_name(jars.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        command = [
            maven,
            "-q",
            "-B",
            "-f",
            str(version.pom),
            "dependency:copy-dependencies",
            f"-DoutputDirectory={partial}",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not list(partial.glob("neo4j-server-*.jar")):
            lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
            raise ServerError(f"Maven could not fetch Neo4j {version.name}: {lines[0] if lines else 'no jar came'}")
        (partial / stamp.name).write_text(pinned)
        shutil.rmtree(jars, ignore_errors=True)
        partial.rename(jars)
    return jars


@dataclass(frozen=True)
class Server:
    """A server that was started. `home` holds its data, its log and its state file."""

    version: str
    home: str
    pid: int
    port: int
    password: str = dataclasses.field(repr=False)

    @property
    def uri(self) -> str:
        """Where it listens."""
        return f"bolt://127.0.0.1:{self.port}"

    def environment(self) -> dict[str, str]:
        """What a client of it needs."""
        return {
            "GRAPHROUTE_NEO4J_URI": self.uri,
            "GRAPHROUTE_NEO4J_USER": USER,
            "GRAPHROUTE_NEO4J_PASSWORD": self.password,
        }

    def test_environment(self) -> dict[str, str]:
        """What the tests look for."""
        name = VERSIONS[self.version].variable
        return {name: self.uri, f"{name}_PASSWORD": self.password}

    def alive(self) -> bool:
        """Whether the process with this pid is this server, by its command line."""
        return f"--home-dir={self.home}" in _command_line(self.pid)


def _command_line(pid: int) -> str:
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    listed = subprocess.run(["ps", "-p", str(pid), "-o", "args="], capture_output=True, text=True, check=False)
    return listed.stdout


def _write(path: Path, text: str) -> None:
    """Writes a file that only its owner reads: it holds a password."""
    partial = path.with_name(path.name + ".partial")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    partial.rename(path)


def home_of(version: Version) -> Path:
    """Where the shared server of a release lives."""
    return cache() / f"neo4j-{version.name}"


def env_file(home: Path) -> Path:
    """The file to `source` for a server."""
    return home.with_name(home.name + ".env")


def state(home: Path) -> Server | None:
    """The server that was started in `home`, running or not."""
    try:
        return Server(**json.loads((home / "server.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def free_port() -> int:
    """A port nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start(
    version: Version,
    home: Path | None = None,
    *,
    port: int | None = None,
    heap: str = "512m",
    settings: Mapping[str, str] | None = None,
    owner: int | None = None,
) -> Server:
    """Starts a server, or finds it running, and waits until it answers. Raises MissingError, ServerError.

    `home`: a folder of its own, the shared one if None; data in it are kept. `settings`: further keys of neo4j.conf. `owner`: the
    server and its data go when the process with this pid has ended, however it ended.
    """
    home = (home or home_of(version)).absolute()
    with locked(home.with_name(home.name + ".lock")):
        known = state(home)
        if known is not None and known.alive():
            return known
        java = java_for(version)
        _driver()
        jars = fetch(version)
        port = port or free_port()
        for folder in ("conf", "import", "logs", "data", "plugins"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        keys = {
            **HARDENED,
            **LOCAL,
            "server.default_listen_address": "127.0.0.1",
            "server.bolt.enabled": "true",
            "server.bolt.listen_address": f"127.0.0.1:{port}",
            **(settings or {}),
        }
        _write(home / "conf" / "neo4j.conf", "".join(f"{key}={value}\n" for key, value in keys.items()))
        opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENS]
        command = [
            str(java / "bin" / "java"),
            *(f"-Xm{letter}{heap}" for letter in "sx"),
            "-XX:+UseSerialGC",
            *opens,
            *version.jvm,
            "-Dfile.encoding=UTF-8",
            "-cp",
            f"{jars}/*",
            version.main,
            f"--home-dir={home}",
            f"--config-dir={home / 'conf'}",
        ]
        log = home / "logs" / "console.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=home, start_new_session=True
            )
        _STARTED.append(process)
        password = known.password if known is not None else secrets.token_urlsafe(18)
        server = Server(version.name, str(home), process.pid, port, password)
        try:
            _wait(server, process, log)
        except BaseException:
            process.kill()
            process.wait()
            raise
        _write(env_file(home), "".join(f"export {k}={shlex.quote(v)}\n" for k, v in server.environment().items()))
        if owner is not None:
            guard = [
                sys.executable,
                __file__,
                "guard",
                "--version",
                version.name,
                "--home",
                str(home),
                "--owner",
                str(owner),
            ]
            quiet = subprocess.DEVNULL
            _STARTED.append(subprocess.Popen(guard, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True))
        return server


def _driver() -> None:
    try:
        import neo4j  # noqa: F401
    except ImportError as error:
        raise MissingError("the neo4j driver is not installed: pip install 'graphroute[neo4j]'") from error


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    """Waits until Bolt answers; sets the password at the first start."""
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    deadline = time.monotonic() + START_TIMEOUT
    # Kept before the password is set, so that a start that is cut off does not leave a server nobody can enter.
    _write(Path(server.home) / "server.json", json.dumps(dataclasses.asdict(server)))
    secret = server.password
    problem = "no answer"
    while time.monotonic() < deadline:
        if process.poll() is not None:
            tail = [line for line in log.read_text(errors="replace").splitlines() if line.strip()][-3:]
            raise ServerError(f"Neo4j {server.version} ended at start: {' | '.join(tail)[:600]} (see {log})")
        try:
            with socket.create_connection(("127.0.0.1", server.port), 1):
                pass
            with GraphDatabase.driver(server.uri, auth=(USER, secret), connection_timeout=5) as driver:
                if secret != server.password:
                    driver.execute_query(
                        "ALTER CURRENT USER SET PASSWORD FROM $old TO $new",
                        old=secret,
                        new=server.password,
                        database_="system",
                    )
                    secret = server.password
                    continue
                driver.execute_query("RETURN 1", database_=None)
                return
        except AuthError as error:
            problem = type(error).__name__
            # A new home still has the password it comes with.
            secret = "neo4j" if secret == server.password else server.password
        except (OSError, DriverError, Neo4jError) as error:
            problem = type(error).__name__
        time.sleep(0.3)
    raise ServerError(f"Neo4j {server.version} did not answer within {START_TIMEOUT:g} s ({problem}; see {log})")


def stop(home: Path) -> bool:
    """Ends the server of `home` by its pid, if that pid is still that server; tells whether it ran."""
    server = state(home)
    if server is None or not server.alive():
        env_file(home).unlink(missing_ok=True)
        return False
    for number, patience in ((signal.SIGTERM, STOP_TIMEOUT), (signal.SIGKILL, 10.0)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(server.pid, number)
            # A stopped process acts on SIGTERM only when it goes on.
            os.kill(server.pid, signal.SIGCONT)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(server.pid, os.WNOHANG)
            if not server.alive():
                env_file(home).unlink(missing_ok=True)
                return True
            time.sleep(0.1)
    raise ServerError(f"pid {server.pid} does not end")


def discard(home: Path) -> None:
    """Stops the server of `home` and removes its data."""
    stop(home)
    shutil.rmtree(home, ignore_errors=True)
    home.with_name(home.name + ".lock").unlink(missing_ok=True)


def guard(home: Path, owner: int) -> None:
    """Waits until the owner or the server has ended, then sees to it that nothing of the server is left."""
    said = _command_line(owner)
    while said and _command_line(owner) == said:
        server = state(home)
        if server is None or not server.alive():
            return
        time.sleep(1)
    discard(home)


def run(command: Sequence[str], versions: Sequence[Version]) -> int:
    """Runs a command with fresh servers in its environment; what cannot be started is said and left out.

    With one release, GRAPHROUTE_NEO4J_URI, _USER and _PASSWORD name it as well.
    """
    environment = dict(os.environ)
    homes: list[Path] = []

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        for version in versions:
            home = cache() / f"run-{os.getpid()}-{version.name}"
            homes.append(home)
            try:
                server = start(version, home, owner=os.getpid())
            except ServerError as error:
                _say(f"neo4j {version.name}: not started: {error}")
                environment[f"{version.variable}_REASON"] = str(error)
                continue
            _say(f"neo4j {version.name}: {server.uri}")
            environment |= server.test_environment()
            if len(versions) == 1:
                # The one server is also what a command of ours is given by its own variables.
                environment |= server.environment()
        try:
            return subprocess.run(command, env=environment, check=False).returncode
        except KeyboardInterrupt:
            return 130
    finally:
        for home in homes:
            discard(home)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 3 if something needed is not installed, 1 if it failed."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    command: list[str] = []
    if "--" in given:
        cut = given.index("--")
        given, command = given[:cut], given[cut + 1 :]
    parser = argparse.ArgumentParser(prog="servers.py", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    texts = {
        "fetch": "download what is needed",
        "start": "start servers and write their env files",
        "stop": "stop servers that `start` started",
        "status": "say which servers run",
        "guard": "stop a server and remove its data once another process has ended",
        "run": "start fresh servers, run a command with them, stop them: run [--version V] -- COMMAND",
    }
    for name, text in texts.items():
        action = actions.add_parser(name, help=text)
        action.add_argument(
            "--version", choices=sorted(VERSIONS), help="one release; all that can be used if not given"
        )
        if name in ("start", "stop", "status", "guard"):
            action.add_argument("--home", type=Path, help="folder of one server's data; needs --version")
        if name == "guard":
            action.add_argument("--owner", type=int, required=True)
        if name == "start":
            action.add_argument("--port", default="auto", help="a number, or auto")
            action.add_argument("--heap", default="512m")
            action.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a key of neo4j.conf")
    options = parser.parse_args(given)
    versions = [VERSIONS[options.version]] if options.version else list(VERSIONS.values())
    home: Path | None = getattr(options, "home", None)
    if home is not None and len(versions) != 1:
        parser.error("--home needs --version")
    if options.action == "run":
        if not command:
            parser.error("run needs -- COMMAND")
        return run(command, versions)
    worst = 0
    for version in versions:
        place = (home or home_of(version)).absolute()
        try:
            if options.action == "fetch":
                _say(f"neo4j {version.name}: {fetch(version)}")
            elif options.action == "start":
                port = None if options.port == "auto" else int(options.port)
                settings = dict(item.split("=", 1) for item in options.set)
                server = start(version, place, port=port, heap=options.heap, settings=settings)
                _say(f"neo4j {version.name}: {server.uri}, pid {server.pid}; . {env_file(place)}")
            elif options.action == "guard":
                guard(place, options.owner)
            elif options.action == "stop":
                _say(f"neo4j {version.name}: {'stopped' if stop(place) else 'not running'}")
            else:
                found = state(place)
                running = found is not None and found.alive()
                _say(
                    f"neo4j {version.name}: "
                    + (f"{found.uri}, pid {found.pid}" if running and found else "not running")
                )
        except MissingError as error:
            _say(f"neo4j {version.name}: {error}")
            worst = max(worst, MISSING)
        except ServerError as error:
            _say(f"neo4j {version.name}: {error}")
            worst = max(worst, 1)
    return worst


if __name__ == "__main__":
    sys.exit(main())
