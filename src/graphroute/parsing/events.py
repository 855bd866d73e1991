"""Event clauses: "when release R17 was approved" sets the instant of the main clause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphroute.parsing.relations import WordCue
from graphroute.parsing.tokens import Token
from graphroute.types.ontology import Ontology, RelationKind
from graphroute.types.query import Cue, CueKind, DateMode, EventAnchor, Mention

_CONNECTIVES = {
    ("when",): DateMode.AT,
    ("while",): DateMode.AT,
    ("as",): DateMode.AT,
    ("at", "the", "time"): DateMode.AT,
    ("at", "the", "moment"): DateMode.AT,
    ("after",): DateMode.AFTER,
    ("before",): DateMode.BEFORE,
    ("since",): DateMode.AFTER,
    ("когда",): DateMode.AT,
    ("на", "момент"): DateMode.AT,
    ("в", "момент"): DateMode.AT,
    ("во", "время"): DateMode.AT,
    ("после",): DateMode.AFTER,
    ("до",): DateMode.BEFORE,
    ("перед",): DateMode.BEFORE,
}
"""Words that begin a clause, and what they say of the instant."""
_CLOSING = {
    ("的", "时", "候"): DateMode.AT,
    ("之", "时"): DateMode.AT,
    ("时",): DateMode.AT,
    ("之", "后"): DateMode.AFTER,
    ("以", "后"): DateMode.AFTER,
    ("后",): DateMode.AFTER,
    ("之", "前"): DateMode.BEFORE,
    ("以", "前"): DateMode.BEFORE,
    ("前",): DateMode.BEFORE,
}
"""Chinese words that end a clause, longer ones first."""
_OPENING = frozenset("在当")
_COMMAS = ",，"
_NEEDS_A_VERB = frozenset({"as", "since"})


@dataclass(frozen=True, slots=True)
class _Clause:
    """Characters `[start, end)`; `word`: what marks it."""

    start: int
    end: int
    word: str
    mode: DateMode

    def holds(self, position: int) -> bool:
        return self.start <= position < self.end


def find_event(
    text: str, tokens: Sequence[Token], words: Sequence[WordCue], mentions: Sequence[Mention], ontology: Ontology
) -> EventAnchor | None:
    """The clause that dates the question by something that happened, or None.

    It stands at the end, at the beginning before a comma, or in Chinese before its own last word, and names a thing and what happened
    to it: a relation of its type or a date attribute. Without a verb the occurrence itself counts ("before INC-7"). Of several
    things in it, that which is no person or organisation is what it happened to.
    """
    for clause in (*_begun(text, tokens, mentions), *_ended(text, tokens, mentions)):
        inside = [m for m in mentions if m.strong and clause.holds(m.cue.start)]
        outside = any(m.strong and not clause.holds(m.cue.start) for m in mentions) or any(
            w.is_relation and not clause.holds(w.start) for w in words
        )
        if not inside or not outside:
            continue
        said = [word for word in words if clause.holds(word.start)]
        for mention in sorted(inside, key=lambda m: _acts(m, ontology)):
            predicates, attributes = _happenings(mention, said, clause, ontology)
            if predicates or attributes:
                cue = Cue(
                    kind=CueKind.DATE,
                    value=mention.cue.value,
                    start=clause.start,
                    end=clause.end,
                    rule=f"event:{clause.word}",
                    text=text[clause.start : clause.end],
                )
                return EventAnchor(
                    cue=cue,
                    anchors=tuple(c.entity_id for c in mention.candidates),
                    predicates=predicates,
                    attributes=attributes,
                    mode=clause.mode,
                )
    return None


def _begun(text: str, tokens: Sequence[Token], mentions: Sequence[Mention]) -> Iterator[_Clause]:
    """Clauses after a connective: to the end of the question, or to the comma if nothing stands before them."""
    for index, token in enumerate(tokens):
        found = _marker(_CONNECTIVES, tokens, index)
        if found is None:
            continue
        end = len(text)
        if not any(t.content for t in tokens[:index]):
            first = next((m.cue.end for m in mentions if m.strong and m.cue.start >= token.start), end)
            end = min((comma for comma in (text.find(sign, first) for sign in _COMMAS) if comma >= 0), default=-1)
            if end < 0:
                continue
        yield _Clause(token.start, end, " ".join(found[0]), found[1])


def _ended(text: str, tokens: Sequence[Token], mentions: Sequence[Mention]) -> Iterator[_Clause]:
    """Chinese clauses, from the word that opens them, else from the thing named."""
    for index, token in enumerate(tokens):
        found = _marker(_CLOSING, tokens, index)
        if found is None:
            continue
        before = [m.cue for m in mentions if m.strong and m.cue.end <= token.start]
        if not before or any(sign in text[before[-1].end : token.start] for sign in _COMMAS):
            continue
        thing = before[-1].start
        comma = max(text.rfind(sign, 0, thing) for sign in _COMMAS)
        begin = max((t.start for t in tokens[:index] if t.key in _OPENING and comma < t.start < thing), default=thing)
        yield _Clause(begin, tokens[index + len(found[0]) - 1].end, "".join(found[0]), found[1])


def _marker(
    markers: dict[tuple[str, ...], DateMode], tokens: Sequence[Token], index: int
) -> tuple[tuple[str, ...], DateMode] | None:
    for keys, mode in markers.items():
        these = tokens[index : index + len(keys)]
        if tuple(token.key for token in these) == keys and not any(token.owner for token in these):
            return keys, mode
    return None


def _acts(mention: Mention, ontology: Ontology) -> bool:
    """True for a person or an organisation."""
    types = {t for c in mention.candidates for t in c.types if t in ontology.types}
    return bool(types) and all(ontology.types[t].agent for t in types)


def _happenings(
    mention: Mention, said: Sequence[WordCue], clause: _Clause, ontology: Ontology
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Relations and date attributes of the thing that tell when what is said of it happened."""
    types = {t for c in mention.candidates for t in c.types}
    predicates: dict[str, None] = {}
    attributes: dict[str, None] = {}
    for word in said:
        for predicate, _ in word.entry.relations:
            relation = ontology.relations[predicate]
            if types & {*relation.domain, *relation.range}:
                predicates.setdefault(predicate)
        for type_name, key in word.entry.attributes:
            if type_name in types:
                attributes.setdefault(key)
    if not predicates and not attributes:
        if clause.mode is DateMode.AT or clause.word in _NEEDS_A_VERB:
            return (), ()
        for name in sorted(ontology.relations):
            relation = ontology.relations[name]
            if relation.kind is RelationKind.EVENT and types & {*relation.domain, *relation.range}:
                predicates.setdefault(name)
    if not predicates:
        for type_name in sorted(types):
            for attribute in ontology.attributes.get(type_name, ()):
                if attribute.kind == "date":
                    attributes.setdefault(attribute.key)
    return tuple(predicates), tuple(attributes)
