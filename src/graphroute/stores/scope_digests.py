"""Digests of scopes: sums of hashes of the rows in force, so that equal readable content gives equal snapshot tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from graphroute.stores.schema import LIVE
from graphroute.stores.staging import KEYS, Row, Staging, digest

_MODULUS = 2**128


def add_up(staging: Staging, deltas: dict[int, int]) -> None:
    """Add the hashes of born rows to their scopes and take off those of dead ones."""
    for table, hashed in (
        ("source", "hash"),
        ("passage", "hash"),
        ("name", "'name', entity, name, source, start, end"),
        ("attribute", "'attribute', entity, key, value, number, instant, low, high, source, start, end"),
        ("entity_source", "'record', entity, source, type"),
    ):
        for sign, row in _born_and_dead(staging, table, f"scope, {hashed}"):
            content = bytes(row[1]) if hashed == "hash" else digest(*row[1:])
            deltas[row[0]] += sign * int.from_bytes(content, "big")
    sql = staging.sql
    for sign, where, keys in (
        (1, "s.key > ?", [staging.first_key["support_set"]]),
        *((-1, "s.key = ?", [key]) for key in sorted(staging.killed["support_set"])),
    ):
        current: tuple[int, int, bytes] | None = None
        members: list[Row] = []
        rows = sql.execute(
            "SELECT s.key, s.scope, a.hash, m.source, m.start, m.end FROM support_set s "
            "CROSS JOIN assertion a ON a.key = s.assertion CROSS JOIN support_member m ON m.support_set = s.key "
            f"WHERE {where} ORDER BY s.key, m.ordinal",
            keys,
        )
        for key, scope, content, *member in rows:
            if current is not None and current[0] != key:
                deltas[current[1]] += sign * _support_hash(current[2], members)
                members = []
            current = (key, scope, bytes(content))
            members.append(tuple(member))
        if current is not None:
            deltas[current[1]] += sign * _support_hash(current[2], members)


def _born_and_dead(staging: Staging, table: str, columns: str) -> Iterator[tuple[int, Row]]:
    key, first = KEYS[table], staging.first_key[table]
    for row in staging.sql.execute(f"SELECT {columns} FROM {table} WHERE {key} > ? AND died = ?", (first, LIVE)):
        yield 1, row
    for killed in sorted(staging.killed[table]):
        if killed <= first:
            yield -1, staging.sql.execute(f"SELECT {columns} FROM {table} WHERE {key} = ?", (killed,)).fetchone()


def write_digests(staging: Staging, deltas: Mapping[int, int]) -> None:
    for scope in sorted(deltas):
        delta = deltas[scope] % _MODULUS
        if scope == staging.unreadable or not delta:
            continue
        before = staging.first_value(
            "SELECT digest FROM scope_digest WHERE scope = ? ORDER BY sequence DESC LIMIT 1", (scope,)
        )
        total = (int.from_bytes(before or b"", "big") + delta) % _MODULUS
        staging.sql.execute(
            "INSERT INTO scope_digest VALUES (?, ?, ?)", (scope, staging.next, total.to_bytes(16, "big"))
        )


def _support_hash(assertion: bytes, members: Iterable[Row]) -> int:
    return int.from_bytes(digest("support", assertion.hex(), list(members)), "big")
