"""Who may read what: the canonical form of a scope and the test of a reader's labels against it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

Clause = frozenset[str]
"""Labels of one source; holding any one of them suffices."""


def scope_form(clauses: Iterable[Iterable[str]]) -> str:
    """Canonical text of AND over `clauses` of OR over labels, one clause a source.

    Clauses implied by a stronger one are dropped, which makes the form unique for the readers it admits (the minimal
    conjunctive form of a monotone formula is unique). No clause at all, or a clause without labels, gives the
    form that admits nobody.
    """
    distinct = {frozenset(clause) for clause in clauses}
    if not distinct or frozenset() in distinct:
        return "[[]]"
    minimal = [clause for clause in distinct if not any(other < clause for other in distinct)]
    return json.dumps(sorted(sorted(clause) for clause in minimal), ensure_ascii=False, separators=(",", ":"))


def scope_clauses(form: str) -> tuple[Clause, ...]:
    """The clauses of a canonical form."""
    return tuple(frozenset(clause) for clause in json.loads(form))


def admits(clauses: Iterable[Clause], labels: frozenset[str]) -> bool:
    """True if `labels` meet every clause. Labels compare exactly; without labels nothing is admitted."""
    if not labels:
        return False
    seen = False
    for clause in clauses:
        seen = True
        if clause.isdisjoint(labels):
            return False
    return seen


def access_mark(labels: Iterable[str]) -> str:
    """Nine digits that name a set of labels without showing one: equal sets have equal marks, whatever their order.

    It tells two readers' texts apart; it is no secret, since whoever can guess the labels can make the mark.
    """
    form = json.dumps(["graphroute access", *sorted(set(labels))], ensure_ascii=True, separators=(",", ":"))
    return str(100_000_000 + int.from_bytes(hashlib.sha256(form.encode()).digest()[:8]) % 900_000_000)
