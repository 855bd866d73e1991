"""A term as a number of 63 bits, which servers store and compare."""

from __future__ import annotations

import hashlib


def term_hash(term: str) -> int:
    """63 bits of BLAKE2b over the UTF-8 text; never 0."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1 or 1
