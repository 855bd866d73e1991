"""Builds parsed questions for routing tests from the words that parsing would find."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import pytest

from graphroute.types.graph import Direction
from graphroute.types.query import (
    Branch,
    Candidate,
    Cue,
    CueKind,
    HopReading,
    Mention,
    Operation,
    ParsedQuery,
    Reading,
    RelationCue,
    Role,
)

FIELDS = {
    "type": "types",
    "attribute": "attributes",
    "value": "values",
    "aggregation": "aggregations",
    "modifier": "modifiers",
    "negation": "negations",
    "quote": "quotes",
    "scope": "scope",
    "unresolved": "unresolved",
}


def cue(question: str, kind: str, entry: str) -> Cue:
    value, _, words = entry.rpartition(": ")
    start = question.index(words)
    return Cue(kind=CueKind(kind), value=value or words, start=start, end=start + len(words), rule="test", text=words)


def mention(found: Cue) -> Mention:
    via = "fragment" if found.value == "fragment" else "name"
    return Mention(
        cue=found, candidates=(Candidate(entity_id=f"e:{found.text}", types=("t",), name=found.text, via=via),)
    )


def build(question: str, found: Mapping[str, Sequence[str]] | None = None, *, reading: bool = False) -> ParsedQuery:
    query = ParsedQuery(text=question, language="en", instant=0)
    for kind, entries in (found or {}).items():
        cues = tuple(cue(question, kind, entry) for entry in entries)
        if kind == "identifier":
            query = replace(query, identifiers=tuple(mention(item) for item in cues))
        elif kind == "mention":
            query = replace(query, mentions=tuple(mention(item) for item in cues))
        elif kind == "relation":
            query = replace(
                query, relations=tuple(RelationCue(cue=item, options=(("R", Role.FORWARD),)) for item in cues)
            )
        elif kind == "question":
            query = replace(query, question=cues[0])
        else:
            values: dict[str, Any] = {FIELDS[kind]: cues}
            query = replace(query, **values)
    if reading:
        hops = tuple(
            HopReading(predicate="R", direction=Direction.FORWARD, types=(), cue=relation.cue)
            for relation in query.relations
        )
        branch = Branch(anchors=tuple(f"e:{m.cue.text}" for m in query.mentions), start_types=(), hops=hops)
        query = replace(query, readings=(Reading(operation=Operation.LIST, target_types=("t",), branches=(branch,)),))
    return query


class Build(Protocol):
    def __call__(
        self, question: str, found: Mapping[str, Sequence[str]] | None = None, *, reading: bool = False
    ) -> ParsedQuery: ...


@pytest.fixture(name="parsed")
def parsed_fixture() -> Build:
    """A builder of parsed questions."""
    return build
