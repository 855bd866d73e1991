from __future__ import annotations

from dataclasses import replace

import pytest

from graphroute.parsing.families import family_of
from graphroute.types.graph import Direction
from graphroute.types.query import (
    Branch,
    Cue,
    CueKind,
    DateConstraint,
    DateMode,
    Family,
    HopReading,
    Mention,
    Operation,
    ParsedQuery,
    Reading,
)
from graphroute.types.time import Interval

EMPTY = ParsedQuery(text="x", language="en", instant=0)


def _cue(kind: CueKind, value: str = "x", rule: str = "r") -> Cue:
    return Cue(kind=kind, value=value, start=0, end=1, rule=rule, text="x")


def _branch(*predicates: str, anchor: str = "a") -> Branch:
    hops = tuple(HopReading(predicate=name, direction=Direction.FORWARD, types=()) for name in predicates)
    return Branch(anchors=(anchor,), start_types=(), hops=hops)


def _reading(operation: Operation, *branches: Branch) -> ParsedQuery:
    return replace(EMPTY, readings=(Reading(operation=operation, target_types=(), branches=branches),))


IDENTIFIER = Mention(cue=_cue(CueKind.IDENTIFIER), candidates=())
IN_2024 = DateConstraint(cue=_cue(CueKind.DATE, rule="in:year"), mode=DateMode.DURING, interval=Interval(0, 1))
NOW = replace(IN_2024, cue=_cue(CueKind.DATE, rule="now"))


@pytest.mark.parametrize(
    ("query", "family"),
    [
        (EMPTY, Family.SINGLE_FRAGMENT),
        (replace(EMPTY, identifiers=(IDENTIFIER,)), Family.EXACT_ID),
        (replace(EMPTY, scope=(_cue(CueKind.SCOPE, "corpus"),)), Family.MULTI_DOCUMENT),
        (replace(EMPTY, scope=(_cue(CueKind.SCOPE, "not:corpus"),)), Family.SINGLE_FRAGMENT),
        (replace(EMPTY, unresolved=(_cue(CueKind.UNRESOLVED),)), Family.UNANSWERABLE),
        (_reading(Operation.LIST, _branch("OWNS")), Family.NEIGHBOURHOOD),
        (_reading(Operation.LIST, _branch("OWNS", "CHAIRS")), Family.BOUNDED_PATH),
        (replace(_reading(Operation.LIST, _branch("OWNS")), dates=(IN_2024,)), Family.TEMPORAL_PATH),
        (replace(_reading(Operation.LIST, _branch("OWNS")), dates=(NOW,)), Family.NEIGHBOURHOOD),
        (replace(_reading(Operation.VALUE, _branch()), identifiers=(IDENTIFIER,)), Family.EXACT_ID),
        (replace(_reading(Operation.VALUE, _branch("OWNS")), identifiers=(IDENTIFIER,)), Family.EXACT_ID),
        (_reading(Operation.COUNT, _branch("OWNS")), Family.AGGREGATION),
        (_reading(Operation.MOST, _branch("OWNS")), Family.AGGREGATION),
        (_reading(Operation.FIRST, _branch("OWNS")), Family.AGGREGATION),
        (_reading(Operation.FIRST, _branch(), _branch(anchor="b")), Family.MULTI_DOCUMENT),
        (_reading(Operation.LIST, _branch("OWNS"), _branch("OWNS", anchor="b")), Family.MULTI_DOCUMENT),
    ],
)
def test_family(query: ParsedQuery, family: Family) -> None:
    assert family_of(query) is family
