"""Described anchors: "last Friday's database certificate change" names no id; its words and date find the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphroute.parsing.relations import GENERIC_WORDS, WordCue
from graphroute.parsing.tokens import Token, inside
from graphroute.stores.catalog.base import Catalog
from graphroute.stores.lexical.base import LexicalStore, PassageFilter
from graphroute.text import terms
from graphroute.types.query import Candidate, Cue, CueKind, DateConstraint, Mention
from graphroute.types.source import Passage
from graphroute.types.time import ANY_TIME, Interval
from graphroute.types.view import View

_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Described:
    """The anchor found, and the dates of the question that belong to its description."""

    mention: Mention
    dates: tuple[DateConstraint, ...]


def find_described(
    text: str,
    tokens: Sequence[Token],
    words: Sequence[WordCue],
    dates: Sequence[DateConstraint],
    mentions: Sequence[Mention],
    values: Sequence[tuple[int, int]],
    *,
    catalog: Catalog,
    lexical: LexicalStore,
    view: View,
) -> Described | None:
    """A type noun with at least two describing words before it, of which every one occurs in a record of the type.

    A date beside the description must agree with the record's own date. Only where no name anchors the question.
    """
    if any(mention.strong for mention in mentions):
        return None
    for word in reversed(list(words)):
        if not word.is_type:
            continue
        run = _description(tokens, words, word, values)
        if len(run) < 2:
            continue
        start, end = run[0].start, word.end
        near = tuple(date for date in dates if 0 <= start - date.cue.end <= 3 or 0 <= date.cue.start - end <= 4)
        wanted = [one for token in run for one in terms(token.text)[:1]]
        query = text[start:end]
        found = lexical.search(query, view=view, k=_DEPTH, where=PassageFilter(time=ANY_TIME))
        passages = catalog.passages([scored.passage_id for scored in found], view=view)
        nodes: dict[str, None] = {}
        for scored in found:
            passage = passages.get(scored.passage_id)
            if passage is None or passage.node is None or not _dated(passage, near):
                continue
            if set(wanted) <= set(terms(f"{passage.title}\n{passage.text}")):
                nodes.setdefault(passage.node)
        entities = catalog.entities(nodes, view=view)
        candidates = tuple(
            Candidate(entity_id=node, types=entities[node].types, name=entities[node].name, via="description")
            for node in nodes
            if node in entities and set(entities[node].types) & set(word.entry.types)
        )[:3]
        if not candidates:
            continue
        cue = Cue(
            kind=CueKind.MENTION,
            value=candidates[0].name,
            start=min([start, *(d.cue.start for d in near if d.cue.start < start)]),
            end=end,
            rule="description:lexical",
            text=query,
        )
        return Described(Mention(cue=cue, candidates=candidates), near)
    return None


def _description(
    tokens: Sequence[Token], words: Sequence[WordCue], noun: WordCue, values: Sequence[tuple[int, int]]
) -> list[Token]:
    """The unbroken run of content words before the noun that name no relation and no type of their own use."""
    run: list[Token] = []
    index = noun.first - 1
    while index >= 0:
        token = tokens[index]
        if token.owner in {"mention", "date", "identifier", "quote", "aggregation", "unresolved"}:
            break
        verb = any(word.is_relation and not word.is_type and word.first <= index <= word.last for word in words)
        if token.function or verb or token.key in GENERIC_WORDS or inside(values, token.start, token.end):
            break
        run.append(token)
        index -= 1
    run.reverse()
    return run


def _dated(passage: Passage, dates: Sequence[DateConstraint]) -> bool:
    if not dates:
        return True
    moments = [m for m in (passage.timestamp, passage.validity.start) if m is not None]
    return any(date.interval.contains(moment) for date in dates for moment in moments) or any(
        date.interval.overlaps(Interval(passage.validity.start, passage.validity.end))
        for date in dates
        if passage.validity.end is not None
    )
