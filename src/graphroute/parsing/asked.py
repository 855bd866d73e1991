"""The asked-for slot: the question word, the operation, and the noun that names what is wanted."""

from __future__ import annotations

from collections.abc import Sequence

from graphroute.parsing.reading_question import Asked
from graphroute.parsing.relations import BE_FORMS, DO_FORMS, GENERIC_WORDS, IRREGULAR_PARTICIPLES, WordCue
from graphroute.parsing.tokens import Token, claim, inside
from graphroute.types.query import Cue, Operation, Role

QUESTION_WORDS = {
    "who": "who",
    "whom": "who",
    "whose": "who",
    "which": "which",
    "what": "what",
    "when": "when",
    "where": "where",
    "how": "how",
    "кто": "who",
    "кого": "who",
    "кому": "who",
    "кем": "who",
    "какой": "which",
    "какая": "which",
    "какое": "which",
    "какие": "which",
    "каких": "which",
    "какими": "which",
    "что": "what",
    "когда": "when",
    "где": "where",
}
IMPERATIVES = frozenset(
    [
        "list",
        "name",
        "show",
        "give",
        "tell",
        "find",
        "count",
        "get",
        "describe",
        "return",
        "display",
        "назови",
        "перечисли",
        "покажи",
    ]
)
_KINDS = frozenset({"who", "whose", "when", "where", "which", "what", "list"})
"""Question words of more than one English word that say what is asked for."""
_YES_NO = frozenset(["is", "are", "was", "were", "does", "do", "did", "has", "have", "can", "could"])
_NOUN_ROLES = frozenset({Role.OBJECT_NOUN, Role.SUBJECT_NOUN})
_PEOPLE = frozenset({"people", "person", "persons", "individuals", "staff", "human", "humans", "somebody", "someone"})
_SMALLER = frozenset({"shorter", "fewer", "less", "lower", "smaller", "cheaper", "slower", "weaker", "worse"})
_ORDER = (
    Operation.COUNT,
    Operation.MOST,
    Operation.LEAST,
    Operation.FIRST,
    Operation.LAST,
    Operation.COMPARE,
)


def find_asked(
    tokens: Sequence[Token],
    words: Sequence[WordCue],
    aggregations: Sequence[Cue],
    values: Sequence[tuple[int, int]] = (),
    asking: Cue | None = None,
) -> Asked:
    """What the question asks for, from its question word or imperative, its aggregation cues and its nouns.

    `asking`: the question word of the question, which may be several words or characters. `values`: spans of attribute values, which restrict the slot and do not name it ("tier 1 services").
    """
    operation = _operation(aggregations)
    position = _question_word(tokens, words)
    behind: int | None = None
    if asking is not None and asking.value in _KINDS and _whole_cue(asking):
        position, behind = _positions(tokens, asking)
        claim(tokens, asking.start, asking.end, "question")
        kind = "who" if asking.value == "whose" else asking.value
    elif position is None:
        position = _imperative(tokens)
        kind = "list" if position is not None else "other"
    else:
        kind = QUESTION_WORDS[tokens[position].key]
    if position is None and tokens and tokens[0].key in _YES_NO and operation is Operation.LIST:
        return Asked(kind="yes_no", operation=Operation.EXISTS, start=tokens[0].start, end=tokens[0].end)
    counted = next((cue for cue in aggregations if cue.value == Operation.COUNT.value), None)
    start = tokens[position].start if position is not None else 0
    end = tokens[position].end if position is not None else 0
    first = position + 1 if position is not None else 0
    if behind is not None:
        end, first = tokens[behind - 1].end, behind
    if counted is not None:
        start, end = counted.start, counted.end
        first = next((t.index for t in tokens if t.start >= counted.end), len(tokens))
        kind = "count"
    leading = next((t for t in tokens[first:] if t.content), None)
    if leading is not None and leading.key in _PEOPLE and not any(w.first <= leading.index <= w.last for w in words):
        kind = "who"
    whose = position is not None and tokens[position].key == "whose"
    target = None if kind == "when" or whose else _target(tokens, words, first, kind, values)
    if kind == "when" and operation is Operation.LIST:
        operation = Operation.DATE
    if kind == "how" and target is not None and words[target].first != first:
        target = None
    if kind == "where" and target is not None and _verb_behind(words, target):
        # "where is the supplier of X located": the place is asked for, not the noun.
        target = None
    if target is None and counted is not None and not counted.text.isascii():
        target = _noun_before(tokens, words, counted)
    if target is None and kind in {"other", "list"}:
        target = _demonstrative(tokens, words) if kind == "other" else None
        if target is None:
            target = _first_noun(tokens, words)
    return Asked(
        kind=kind,
        operation=operation,
        start=start,
        end=end,
        target=target,
        counted=_counted(tokens, words, aggregations, target),
        unknown=kind == "count" and target is None and _unknown_noun(tokens, words, first, values),
    )


def _whole_cue(cue: Cue) -> bool:
    """The words of the cue ask together: those of other languages than English, and "on what date"."""
    return not cue.text.isascii() or (
        cue.value == "when" and cue.text.casefold().split()[-1] in {"date", "day", "dates"}
    )


def _positions(tokens: Sequence[Token], cue: Cue) -> tuple[int | None, int | None]:
    """The first token of a cue and the one behind it."""
    inside = [token.index for token in tokens if cue.start <= token.start < cue.end]
    return (inside[0], inside[-1] + 1) if inside else (None, None)


def _unknown_noun(
    tokens: Sequence[Token], words: Sequence[WordCue], first: int, values: Sequence[tuple[int, int]]
) -> bool:
    """ "How many weeks": the noun counted is none of the ontology's."""
    for token in tokens[first:]:
        if token.function or token.key in GENERIC_WORDS:
            continue
        known = any(word.first <= token.index <= word.last for word in words)
        return not token.owner and not known and not inside(values, token.start, token.end)
    return False


def _counted(
    tokens: Sequence[Token], words: Sequence[WordCue], aggregations: Sequence[Cue], target: int | None
) -> int | None:
    """The noun right after "the most": what is counted for each candidate."""
    extreme = next((cue for cue in aggregations if cue.value in ("most", "least")), None)
    if extreme is None:
        return None
    after = next((token.index for token in tokens if token.start >= extreme.end and token.content), None)
    return next((n for n, word in enumerate(words) if word.first == after and word.is_type and n != target), None)


def _operation(aggregations: Sequence[Cue]) -> Operation:
    values = {cue.value for cue in aggregations}
    if any(cue.value == "compare" and cue.text.casefold() in _SMALLER for cue in aggregations):
        return Operation.LEAST
    return next((operation for operation in _ORDER if operation.value in values), Operation.LIST)


def _question_word(tokens: Sequence[Token], words: Sequence[WordCue]) -> int | None:
    """Index of the interrogative; a "who" or "which" after a noun is a relative pronoun."""
    found: list[int] = []
    for token in tokens:
        if token.key not in QUESTION_WORDS or token.owner in {"mention", "identifier", "quote", "clause"}:
            continue
        if token.index == 0:
            return token.index
        before = tokens[token.index - 1]
        noun_before = any(
            word.last == before.index and (word.is_type or _is_noun(word, tokens)) for word in words
        ) or before.owner in {"mention", "identifier"}
        leading = all(t.function or t.key in GENERIC_WORDS for t in tokens[: token.index])
        if leading or not noun_before:
            found.append(token.index)
    return found[0] if found else None


def _imperative(tokens: Sequence[Token]) -> int | None:
    for token in tokens[:6]:
        if token.key in IMPERATIVES and token.owner not in {"mention", "identifier", "quote"}:
            return token.index
    return None


def _is_noun(word: WordCue, tokens: Sequence[Token]) -> bool:
    """A noun by its role and form: "directed" is never one."""
    if not (word.is_type or word.entry.attributes or any(role in _NOUN_ROLES for _, role in word.entry.relations)):
        return False
    verbal = any(role not in _NOUN_ROLES for _, role in word.entry.relations)
    last = tokens[word.last].key
    return not (verbal and (last.endswith("ed") or last.endswith("ing")))


def _target(
    tokens: Sequence[Token],
    words: Sequence[WordCue],
    first: int,
    kind: str,
    values: Sequence[tuple[int, int]],
) -> int | None:
    skipped = 0
    copula = False
    index = first
    while index < len(tokens):
        token = tokens[index]
        if inside(values, token.start, token.end):
            index += 1
            continue
        cue = next((n for n, word in enumerate(words) if word.first <= index <= word.last), None)
        if cue is not None:
            word = words[cue]
            if word.apposition_of is not None and word.is_type and not copula:
                return None
            if not _is_noun(word, tokens):
                return None
            if kind == "who" and not copula and any(role not in _NOUN_ROLES for _, role in word.entry.relations):
                return None
            return cue if tokens[word.last].key.endswith("'s") else _head(tokens, words, cue)
        if token.owner in {"mention", "identifier", "date"}:
            return None
        if token.key in DO_FORMS and kind != "who":
            # "what did the director of X direct": what follows acts and is not asked for.
            return None
        if token.key in BE_FORMS:
            copula = True
        elif token.content and token.key not in GENERIC_WORDS:
            skipped += 1
            if skipped > 3:
                return None
        index += 1
    return None


def _demonstrative(tokens: Sequence[Token], words: Sequence[WordCue]) -> int | None:
    """ "X is a film written by this person": the slot is the noun after "this"."""
    for index, word in enumerate(words):
        if word.is_type and word.first > 0 and tokens[word.first - 1].key in {"this", "these"}:
            return index
    return None


def _head(tokens: Sequence[Token], words: Sequence[WordCue], cue: int) -> int:
    """The last noun of a compound: "card transactions", "movie co-directors"."""
    word = words[cue]
    after = word.last + 1
    joined = after < len(tokens) and tokens[after].key == "co"
    if joined:
        after += 1
    for index, other in enumerate(words):
        if other.first != after or word.is_relation or _is_participle(other, tokens):
            continue
        verbal = any(role not in _NOUN_ROLES for _, role in other.entry.relations)
        if _is_noun(other, tokens) and (joined or not verbal):
            return index
    return cue


def _is_participle(word: WordCue, tokens: Sequence[Token]) -> bool:
    """ "books published": what the word names is an attribute of the noun before it."""
    key = tokens[word.last].key
    return (
        not word.is_type
        and not word.is_relation
        and (key.endswith("ed") or key == "born" or key in IRREGULAR_PARTICIPLES)
    )


def _verb_behind(words: Sequence[WordCue], target: int) -> bool:
    return any(
        word.first > words[target].last and any(role not in _NOUN_ROLES for _, role in word.entry.relations)
        for word in words
    )


def _noun_before(tokens: Sequence[Token], words: Sequence[WordCue], counted: Cue) -> int | None:
    """ "由李雷批准的合同有多少": what is counted stands right before the word that counts."""
    before = [index for index, word in enumerate(words) if word.end <= counted.start and word.is_type]
    if not before:
        return None
    gap = [token for token in tokens if words[before[-1]].end <= token.start and token.end <= counted.start]
    return before[-1] if all(token.function for token in gap) else None


def _first_noun(tokens: Sequence[Token], words: Sequence[WordCue]) -> int | None:
    for index, word in enumerate(words):
        if word.first > 0 and tokens[word.first - 1].key == "as":
            # "with X as approver": the noun is the part that X plays, not what is asked for.
            continue
        if word.apposition_of is None and (
            word.is_type or word.entry.attributes or any(role in _NOUN_ROLES for _, role in word.entry.relations)
        ):
            return index
    return None
