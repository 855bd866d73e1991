"""The compose file, the security page and the servers of the tests have the same keys; nothing listens beyond this machine."""

from pathlib import Path
from typing import Any

import yaml

import servers

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "examples" / "servers" / "compose.yaml"
SIZES = {
    "server.http.enabled", "server.https.enabled", "server.memory.heap.initial_size", "server.memory.heap.max_size",
    "server.memory.pagecache.size", "server.bolt.advertised_address",
}  # fmt: skip


def services() -> dict[str, Any]:
    return yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]  # type: ignore[no-any-return]


def conf(name: str) -> str:
    """The key of neo4j.conf that the image makes from a variable."""
    return name.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_")


def test_the_compose_file_has_the_hardened_keys() -> None:
    given = {conf(name): value for name, value in services()["neo4j"]["environment"].items() if name != "NEO4J_AUTH"}
    # The image sets the folder of imports itself, to one that is empty.
    wanted = {key: value for key, value in servers.HARDENED.items() if key != "server.directories.import"}
    assert {key: value for key, value in given.items() if key in servers.HARDENED} == wanted
    assert set(given) - set(wanted) == SIZES


def test_the_security_page_lists_the_hardened_keys() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    rows = dict(
        tuple(cell.strip(" `") for cell in line.split("|")[1:3]) for line in page.splitlines() if line.startswith("| `")
    )
    assert {key: value for key, value in rows.items() if "." in key and key in servers.HARDENED} == servers.HARDENED


def test_services_are_bounded_watched_and_local() -> None:
    for name, service in services().items():
        assert service["image"].rpartition(":")[2] not in ("", "latest", service["image"]), name
        assert all(port.startswith("127.0.0.1:") for port in service["ports"]), name
        assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory"}, name
        assert service["healthcheck"]["test"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name


def test_no_secret_stands_in_the_file() -> None:
    for service in services().values():
        for name, value in service["environment"].items():
            if "AUTH" in name.split("_") or "KEY" in name:
                assert ":?" in value, name
