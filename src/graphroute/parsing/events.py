"""Event clauses: "when release R17 was approved" sets the instant of the main clause."""

from __future__ import annotations

from collections.abc import Sequence

from graphroute.parsing.relations import WordCue
from graphroute.parsing.tokens import Token
from graphroute.types.ontology import Ontology, RelationKind
from graphroute.types.query import Cue, CueKind, DateMode, EventAnchor, Mention

_CONNECTIVES = {
    "when": DateMode.AT,
    "while": DateMode.AT,
    "as": DateMode.AT,
    "after": DateMode.AFTER,
    "before": DateMode.BEFORE,
    "since": DateMode.AFTER,
    "когда": DateMode.AT,
    "после": DateMode.AFTER,
    "до": DateMode.BEFORE,
}


def find_event(
    text: str, tokens: Sequence[Token], words: Sequence[WordCue], mentions: Sequence[Mention], ontology: Ontology
) -> EventAnchor | None:
    """The clause that dates the question by something that happened, or None.

    It begins with a connective inside the question and names a thing and what happened to it: a relation of its type or a
    date attribute. Without a verb the occurrence itself counts ("before INC-7").
    """
    for token in tokens[1:]:
        mode = _CONNECTIVES.get(token.key)
        if mode is None or token.owner:
            continue
        if not any(t.content for t in tokens[: token.index]):
            continue
        inside = [m for m in mentions if m.strong and m.cue.start > token.start]
        outside = any(m.strong and m.cue.start < token.start for m in mentions) or any(
            w.is_relation and w.start < token.start for w in words
        )
        if not inside or not outside:
            continue
        mention = inside[0]
        types = {t for c in mention.candidates for t in c.types}
        clause_words = [w for w in words if w.start > token.start]
        predicates: dict[str, None] = {}
        attributes: dict[str, None] = {}
        for word in clause_words:
            for predicate, _ in word.entry.relations:
                relation = ontology.relations[predicate]
                if types & {*relation.domain, *relation.range}:
                    predicates.setdefault(predicate)
            for type_name, key in word.entry.attributes:
                if type_name in types:
                    attributes.setdefault(key)
        if not predicates and not attributes:
            if mode is DateMode.AT or token.key in {"as", "since"}:
                continue
            for name in sorted(ontology.relations):
                relation = ontology.relations[name]
                if relation.kind is RelationKind.EVENT and types & {*relation.domain, *relation.range}:
                    predicates.setdefault(name)
        for type_name in sorted(types):
            for attribute in ontology.attributes.get(type_name, ()):
                if attribute.kind == "date" and not predicates:
                    attributes.setdefault(attribute.key)
        if not predicates and not attributes:
            continue
        start, end = token.start, len(text)
        cue = Cue(
            kind=CueKind.DATE,
            value=mention.cue.value,
            start=start,
            end=end,
            rule=f"event:{token.key}",
            text=text[start:end],
        )
        return EventAnchor(
            cue=cue,
            anchors=tuple(c.entity_id for c in mention.candidates),
            predicates=tuple(predicates),
            attributes=tuple(attributes),
            mode=mode,
        )
    return None
