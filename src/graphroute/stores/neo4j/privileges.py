"""What a Neo4j server and account allow beyond what answering questions needs, and how to close it; used by `graphroute doctor`."""

from __future__ import annotations

import ipaddress
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from graphroute.errors import BackendError, BackendUnavailableError, DeadlineError
from graphroute.stores.neo4j.connection import Neo4jConnection, Query

COMPONENTS = Query(
    "components",
    "CYPHER 5 CALL dbms.components() YIELD name, versions, edition RETURN name, versions[0], edition LIMIT 10",
)
SETTINGS = Query("settings", "SHOW SETTINGS YIELD name, value WHERE name IN $names RETURN name, value LIMIT 100")
PROCEDURES = Query(
    "procedures", "SHOW PROCEDURES EXECUTABLE YIELD name, mode RETURN name, mode ORDER BY name LIMIT 10000"
)
# The division fails after the node was made, so that the transaction is rolled back. A node without a label leaves no trace.
WRITE_PROBE = Query("write_probe", "CYPHER 5 CREATE (n) WITH n RETURN 1 / $zero")
PROBED = "Neo.ClientError.Statement.ArithmeticError"

_FILES = "dbms.security.allow_csv_import_from_file_urls"
_TIMEOUT = "db.transaction.timeout"
_INTERVAL = "db.transaction.monitor.check.interval"
_MEMORY = "db.memory.transaction.max"
_TOTAL_MEMORY = "dbms.memory.transaction.total.max"
_AUTH = "dbms.security.auth_enabled"
_UNRESTRICTED = "dbms.security.procedures.unrestricted"
_NAMES = (_FILES, _TIMEOUT, _INTERVAL, _MEMORY, _TOTAL_MEMORY, _AUTH, _UNRESTRICTED)

_BUILT_IN = re.compile(r"(?:db|dbms|tx|jwt|internal|genai|fleetManagement|cdc|auth)\.", re.IGNORECASE)
_OUTWARD = re.compile(r"(?:apoc\.(?:load|export|import|cypher|trigger|periodic|util|nlp|ml)|gds\.)", re.IGNORECASE)
_HOUSEKEEPING = re.compile(r"(?:killConnections?|listConfig|setConfigValue|upgrade)$")
_SLOWEST_CHECK = 1.0
"""Seconds between looks at overdue transactions above which the server's own timeouts come late."""


@dataclass(frozen=True, slots=True)
class Privilege:
    """One thing that is allowed. `weight`: "wrong" where anybody may use it, "warning" where the account may, "note" where nothing closes it.

    `close`: how to close it, or what keeps it closed in practice.
    """

    name: str
    weight: str
    said: str
    close: str


@dataclass(frozen=True, slots=True)
class Examination:
    """What the server is, and all that it allows too much."""

    version: str
    edition: str
    findings: tuple[Privilege, ...]


def examine(connection: Neo4jConnection, *, deadline: float | None = None) -> Examination:
    """Looks at version, edition, account and settings. Nothing is kept on the server: the one write is rolled back.

    Raises what `Neo4jConnection.read` raises; what the account may not see is a finding.
    """
    version, edition = "", ""
    for name, number, kind in connection.read(COMPONENTS, deadline=deadline):
        if name == "Neo4j Kernel":
            version, edition = str(number), str(kind)
    findings = [
        *_network(connection.settings.uri),
        *_account(connection, edition, deadline),
        *_settings(connection, deadline),
        *_procedures(connection, deadline),
    ]
    if edition == "community":
        findings.append(
            Privilege(
                "roles",
                "note",
                "Community has no roles: every account may read, write and administer everything",
                "give the account to graphroute alone, and keep data of other applications on another server",
            )
        )
    return Examination(version, edition, tuple(findings))


def may_write(connection: Neo4jConnection, *, deadline: float | None = None) -> bool:
    """Whether the account may write, tried in a transaction that is rolled back. Raises what `Neo4jConnection.write` raises."""
    try:
        connection.write(WRITE_PROBE, {"zero": 0}, deadline=deadline)
    except (BackendUnavailableError, DeadlineError):
        raise
    except BackendError as error:
        return PROBED in str(error)
    return True


def _network(uri: str) -> Iterator[Privilege]:
    parts = urllib.parse.urlsplit(uri)
    if "+" not in parts.scheme and not _here(parts.hostname or ""):
        yield Privilege(
            "encryption",
            "warning",
            f"{parts.scheme}:// is not encrypted and the server is on another machine",
            f"use {parts.scheme}+s:// and set server.bolt.tls_level=REQUIRED",
        )
    if parts.scheme.endswith("+ssc"):
        yield Privilege(
            "certificate",
            "warning",
            f"{parts.scheme}:// takes any certificate",
            "use +s with a certificate of a known authority, or name the authority in GRAPHROUTE_NEO4J_CA",
        )


def _here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _account(connection: Neo4jConnection, edition: str, deadline: float | None) -> Iterator[Privilege]:
    if may_write(connection, deadline=deadline):
        close = (
            "questions are asked in READ transactions only; a server that only answers questions can be closed with "
            "server.databases.default_to_read_only=true"
            if edition == "community"
            else "ask questions as a user of the role reader; ingest and migrate as another"
        )
        yield Privilege("write", "note" if edition == "community" else "warning", "the account may write", close)


def _settings(connection: Neo4jConnection, deadline: float | None) -> Iterator[Privilege]:
    try:
        found: Mapping[str, str] = {
            name: value for name, value in connection.read(SETTINGS, {"names": list(_NAMES)}, deadline=deadline)
        }
    except (BackendUnavailableError, DeadlineError):
        raise
    except BackendError:
        found = {}
    if not found:
        yield Privilege(
            "settings",
            "note",
            "the account may not see the server's settings",
            "see to it that its neo4j.conf has the keys of docs/security.md",
        )
        return
    if found.get(_AUTH) == "false":
        yield Privilege("auth", "wrong", "the server asks for no password", f"set {_AUTH}=true")
    if found.get(_FILES) == "true":
        yield Privilege(
            "load_csv",
            "warning",
            "LOAD CSV may read files of the server",
            f"set {_FILES}=false and server.directories.import",
        )
    yield Privilege(
        "load_csv_network",
        "note",
        "LOAD CSV may fetch URLs; no setting of Community turns that off",
        "let the server open no connections outwards, by firewall or network policy",
    )
    if not _amount(found.get(_TIMEOUT, "")):
        yield Privilege("timeout", "warning", "transactions of other clients have no time limit", f"set {_TIMEOUT}=60s")
    if _INTERVAL in found and not 0 < _amount(found[_INTERVAL]) <= _SLOWEST_CHECK:
        yield Privilege(
            "timeout_check",
            "warning",
            f"overdue transactions are looked for every {found[_INTERVAL]}",
            f"set {_INTERVAL}=200ms",
        )
    for name in (_MEMORY, _TOTAL_MEMORY):
        if not _amount(found.get(name, "")):
            yield Privilege("memory", "warning", f"{name} sets no limit", f"set {name} below the heap, such as 256m")
    if found.get(_UNRESTRICTED):
        yield Privilege(
            "unrestricted",
            "warning",
            f"procedures may go past the access rules: {found[_UNRESTRICTED][:80]}",
            f"empty {_UNRESTRICTED}",
        )


def _amount(text: str) -> float:
    """The number of a setting, in seconds where it is a time; 0 for none."""
    total = 0.0
    units = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    for number, unit in re.findall(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text):
        total += float(number) * units.get(unit, 1.0)
    return total


def _procedures(connection: Neo4jConnection, deadline: float | None) -> Iterator[Privilege]:
    rows = connection.read(PROCEDURES, deadline=deadline)
    foreign = [name for name, _ in rows if not _BUILT_IN.match(name)]
    outward = [name for name in foreign if _OUTWARD.match(name)]
    if outward:
        yield Privilege(
            "procedures",
            "warning",
            f"{len(outward)} procedures may load, export or run text, such as {outward[0]}",
            "set dbms.security.procedures.allowlist=db.* or take the plug-in away; graphroute calls no plug-in",
        )
    elif foreign:
        yield Privilege(
            "procedures",
            "note",
            f"{len(foreign)} procedures of plug-ins may be called, such as {foreign[0]}",
            "set dbms.security.procedures.allowlist=db.*; graphroute calls no plug-in",
        )
    powers = [name for name, mode in rows if mode == "DBMS" and _HOUSEKEEPING.search(name)]
    if powers:
        yield Privilege(
            "administration",
            "note",
            f"the account may call {', '.join(powers[:4])}; no allow-list stops built-in procedures",
            "graphroute sends fixed texts only, and none of these; on Enterprise deny EXECUTE ADMIN PROCEDURES to the role",
        )
