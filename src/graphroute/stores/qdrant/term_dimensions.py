"""Where a term stands in a sparse vector: a stable hash of 32 bits, with other places for terms that collide.

A term is known by 63 bits of its hash, which fit the integers of a payload. Any client finds its place from the text
alone and the few exceptions kept with the collection; no dictionary is copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphroute.errors import DataError
from graphroute.stores.term_hash import term_hash

SENTINEL = 0
"""The dimension that every passage has, so that passages without a term count as documents."""

_BITS = 32


def natural_dimension(term: int, bits: int = _BITS) -> int:
    """The low bits of a term's hash; 1 for the sentinel's own."""
    return (term & ((1 << bits) - 1)) or 1


def dimension(term: int, exceptions: Mapping[int, int], bits: int = _BITS) -> int:
    """The dimension of a term by its hash."""
    return exceptions.get(term) or natural_dimension(term, bits)


def exceptions_of(terms: Iterable[str], known: Mapping[int, int], bits: int = _BITS) -> dict[int, int]:
    """Places of the terms whose natural dimension is another's, given those of earlier copies, which never move.

    `terms` in the order they came to the store. Raises DataError if two terms share all 63 bits.
    """
    found = dict(known)
    hashes: dict[int, str] = {}
    taken = set(known.values())
    for term in terms:
        number = term_hash(term)
        other = hashes.setdefault(number, term)
        if other != term:
            raise DataError(f"the terms {other!r} and {term!r} have one hash", hint="leave one of them out")
        if number in found:
            continue
        place = natural_dimension(number, bits)
        if place in taken:
            place = next(free for free in range(1, 1 << bits) if free not in taken)
            found[number] = place
        taken.add(place)
    return found
