"""Names of facts and look-up forms of texts on the server, the same when a row is written and when it is asked for."""

from __future__ import annotations

import hashlib

_SHORT = 200
"""Longest text in bytes that is its own look-up form; an index of the server holds 8 kB a key."""
LONGEST_ID = 2_000
"""Longest id in bytes that an index takes with room for others beside it."""


def fact_hash(subject: str, predicate: str, object_: str, low: int, high: int) -> str:
    """The name of a fact on its relationship and on its supports: 128 bits in hexadecimal."""
    parts = hashlib.blake2b(digest_size=16)
    for part in (subject, predicate, object_):
        data = part.encode()
        parts.update(len(data).to_bytes(4, "big") + data)
    parts.update(low.to_bytes(8, "big", signed=True) + high.to_bytes(8, "big", signed=True))
    return parts.hexdigest()


def lookup_form(text: str) -> str:
    """The text itself, or its hash if it is too long for an index. What is found by it has to be compared with the text."""
    data = text.encode()
    return text if len(data) <= _SHORT else "blake2b:" + hashlib.blake2b(data, digest_size=16).hexdigest()
