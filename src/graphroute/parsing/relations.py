"""Relation, type and attribute words of a question, from the ontology: longest phrase, voice and direction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphroute.parsing.lexing import word_set
from graphroute.parsing.tokens import Token
from graphroute.parsing.vocabulary import Entry, Vocabulary, word_stems
from graphroute.types.query import Cue, CueKind, RelationCue, Role

BE_FORMS = frozenset(["is", "are", "was", "were", "be", "been", "being", "am", "get", "gets", "got"])
DO_FORMS = frozenset(["do", "does", "did"])
PASSIVE_MARKERS = frozenset({"by"})
IRREGULAR_PARTICIPLES = frozenset(
    [
        "written",
        "led",
        "made",
        "held",
        "given",
        "taken",
        "sold",
        "bought",
        "sent",
        "paid",
        "built",
        "run",
        "begun",
        "driven",
        "known",
        "seen",
        "shown",
        "drawn",
        "chosen",
        "put",
        "set",
        "cut",
        "hit",
        "met",
        "won",
        "kept",
        "left",
        "lost",
        "found",
        "brought",
        "taught",
        "caught",
        "thought",
        "told",
    ]
)

_COME = word_stems("come")
_RECEIVING = re.compile(
    r"\b(?:get|buy|bought|purchased?|order(?:ed)?|received?|obtain(?:ed)?|procured?|sourced?|import(?:ed)?|acquired?|"
    r"получ\w+|(?:за)?куп\w+|(?:за|по)купа\w+|заказыва\w+|заказал\w*|бер[её]м|приобр\w+)\b|获得|得到|采购|购买|进货|拿到|买",
    re.IGNORECASE,
)
_FROM_WHOM = re.compile(
    r"\bfrom\s+(?:whom|who|which|what)\b.*\b(?:we|i|us)\b|\b(?:who|whom|which|what)\b.*\b(?:we|i)\b.*\bfrom\s*\W*\Z|"
    r"\b(?:от|у)\s+(?:кого|какого|каких)\b.*\bмы\b|我们?[^，。]{0,4}从(?:谁|哪)|从(?:谁|哪)[^，。]{0,6}我们",
    re.IGNORECASE,
)
"""Asks where something comes from to the one who asks."""

GENERIC_WORDS = frozenset(
    [
        "list",
        "show",
        "give",
        "tell",
        "name",
        "find",
        "return",
        "display",
        "get",
        "provide",
        "please",
        "can",
        "could",
        "would",
        "you",
        "me",
        "us",
        "i",
        "we",
        "current",
        "currently",
        "present",
        "different",
        "distinct",
        "unique",
        "separate",
        "total",
        "all",
        "any",
        "every",
        "everything",
        "anything",
        "each",
        "overall",
        "listed",
        "known",
        "called",
        "named",
        "main",
        "primary",
        "various",
        "several",
        "few",
        "people",
        "person",
        "thing",
        "things",
        "item",
        "items",
        "one",
        "ones",
        "some",
        "only",
        "just",
        "also",
        "too",
        "again",
        "together",
        "both",
        "same",
        "common",
        "share",
        "shared",
        "co",
        "many",
        "much",
        "number",
        "count",
        "how",
        "most",
        "least",
        "more",
        "less",
        "first",
        "last",
        "earliest",
        "latest",
        "right",
        "here",
        "there",
        "now",
        "today",
        "make",
        "makes",
        "made",
        "did",
        "do",
        "does",
        "done",
        "have",
        "has",
        "had",
        "gets",
        "got",
        "go",
        "goes",
        "went",
        "come",
        "comes",
        "be",
        "been",
        "being",
        "exactly",
        "actually",
        "specific",
        "certain",
        "particular",
        "following",
        "above",
        "below",
        "etc",
        "respectively",
        "so",
        "far",
        "ever",
        "still",
        "about",
        "among",
        "fall",
        "belong",
        "whole",
        "entire",
        "full",
        "complete",
        "other",
        "others",
        "another",
        "than",
        "exist",
        "exists",
        "want",
        "need",
        "know",
        "like",
        "see",
        "look",
        "looking",
        "using",
        "case",
        "cases",
        "via",
        "along",
        "alongside",
        "regarding",
        "concerning",
        "over",
        "under",
        "within",
        "across",
        "time",
        "times",
        "day",
        "days",
        "month",
        "months",
        "week",
        "weeks",
        "as",
        "well",
        "id",
        "ids",
        "numbers",
        *word_set("сейчас теперь текущий текущие все всех номер номера год года году месяц месяце"),
        *"哪个些什么几多少份位名条项件人员现请列出们为已经之前后时候如何",
    ]
)
"""Words that ask, quantify or link; they neither restrict a result nor need an explanation."""


@dataclass(slots=True)
class WordCue:
    """A phrase of the vocabulary found in the question, with everything the search for readings needs."""

    entry: Entry
    first: int
    last: int
    start: int
    end: int
    text: str
    passive: bool = False
    optional: bool = False
    apposition_of: int | None = None
    double: bool = False
    shadowed: bool = False

    @property
    def is_relation(self) -> bool:
        """Names at least one relation."""
        return bool(self.entry.relations)

    @property
    def is_type(self) -> bool:
        """Names at least one type."""
        return bool(self.entry.types)


def find_words(
    text: str, tokens: Sequence[Token], vocabulary: Vocabulary, others: Sequence[tuple[int, int]] = ()
) -> list[WordCue]:
    """All phrases of the vocabulary in runs of unowned words, longest first at each place, function words skipped.

    A run ends at an owned word (a mention, a date), so that no phrase reaches across a name. `others`: spans that have another
    meaning too (a weak mention, a value): there a phrase counts only with the preposition it is written with.
    """
    cues: list[WordCue] = []
    received = _received(text, tokens)
    for run in _runs(tokens):
        plain = [
            (_COME, received) if received and token.index == received[0] else (token.stems, (token.index, token.index))
            for token in run
            if not received or not received[0] < token.index <= received[1]
        ]
        found = _match(plain, tokens, vocabulary)
        folded = _fold_acronyms(run, vocabulary)
        if folded is not None:
            other = _match(folded, tokens, vocabulary)
            if _covered(other) > _covered(found):
                found = other
        for first, last, entry in found:
            start, end = tokens[first].start, tokens[last].end
            content = [t.key for t in tokens[first : last + 1] if t.content] or [tokens[last].key]
            entry = _by_form(entry.narrowed(content), tokens[last].key, done=_is_done(tokens, first))
            if entry.preposition and any(low < end and start < high for low, high in others):
                near = [token.key for token in tokens[last + 1 : last + 4]] + [token.key for token in tokens[:2]]
                if entry.preposition not in near:
                    continue
            cue = WordCue(entry=entry, first=first, last=last, start=start, end=end, text=text[start:end])
            cue.passive = _is_passive(tokens, first, last)
            cues.append(cue)
            for token in tokens[first : last + 1]:
                if not token.owner and (token.content or first == last):
                    token.owner = "word"
    return cues


def _received(text: str, tokens: Sequence[Token]) -> tuple[int, int] | None:
    """The verb of "from whom do we get X", which asks what X comes from, whoever else may buy or get things; its tokens."""
    if not _FROM_WHOM.search(text):
        return None
    verb = _RECEIVING.search(text)
    if verb is None:
        return None
    inside = [token.index for token in tokens if verb.start() <= token.start < verb.end() and not token.owner]
    return (inside[0], inside[-1]) if inside else None


def _is_done(tokens: Sequence[Token], first: int) -> bool:
    """ "what did X order", "who does the lead of X report to": the word behind a name that a form of "do" stands before.

    More than a name may stand between where the word ends the clause, but for a word that stands behind an article or preposition.
    """
    before = first - 1
    ends = all(token.function or token.owner in {"date", "aggregation"} for token in tokens[first + 1 :])
    if (
        ends
        and before >= 0
        and (tokens[before].content or tokens[before].owner)
        and not tokens[first].key.endswith("ing")
    ):
        helping = next((t.index for t in reversed(tokens[:first]) if t.key in DO_FORMS and not t.owner), None)
        possessive = tokens[before].key.endswith("'s")
        if helping is not None and helping < before and not possessive:
            return True
    while before >= 0 and tokens[before].owner in {"mention", "identifier"}:
        before -= 1
    return before < first - 1 and before >= 0 and tokens[before].key in DO_FORMS


def _by_form(entry: Entry, key: str, *, done: bool = False) -> Entry:
    """A word that is a type and a verb is the one its form says: "films" is a noun, "filmed" a verb."""
    verbs = tuple(option for option in entry.relations if option[1] in (Role.FORWARD, Role.INVERSE))
    if done and verbs and not key.endswith("s"):
        return replace(entry, types=(), relations=verbs)
    if not entry.types or not verbs:
        return entry
    if key.endswith(("ed", "ing")):
        return replace(entry, types=(), relations=verbs)
    return replace(entry, relations=tuple(option for option in entry.relations if option not in verbs))


def _match(
    items: Sequence[tuple[tuple[str, ...], tuple[int, int]]], tokens: Sequence[Token], vocabulary: Vocabulary
) -> list[tuple[int, int, Entry]]:
    options = [stems for stems, _ in items]
    found: list[tuple[int, int, Entry]] = []
    at = 0
    while at < len(options):
        matched = vocabulary.match(options, at)
        if matched is not None and matched[0] > 1 and _verb_before_noun(tokens, items[at][1][0], matched[1]):
            matched = vocabulary.match(options[: at + matched[0] - 1], at)
        if matched is None:
            at += 1
            continue
        length, entry = matched
        found.append((items[at][1][0], items[at + length - 1][1][1], entry))
        at += length
    return found


def _verb_before_noun(tokens: Sequence[Token], first: int, entry: Entry) -> bool:
    """ "customers purchased orders" holds a verb and its object, not the noun "purchase order"."""
    verbs = any(role in (Role.FORWARD, Role.INVERSE) for _, role in entry.relations)
    key = tokens[first].key
    return not verbs and key.endswith("ed") and key not in entry.phrase.casefold().split()


def _covered(found: Sequence[tuple[int, int, Entry]]) -> int:
    """Words covered, longer phrases first."""
    return sum((last - first + 1) ** 2 for first, last, _ in found)


def phrase_spans(
    text: str, tokens: Sequence[Token], vocabulary: Vocabulary, *, single: bool = False
) -> list[tuple[int, int]]:
    """Spans of phrases of two words or more, before anything is owned: a lower-case name inside one is no name.

    `single`: of phrases of one word too.
    """
    fresh = [replace(token, owner="") for token in tokens]
    return [(cue.start, cue.end) for cue in find_words(text, fresh, vocabulary) if single or cue.last > cue.first]


def relation_cue(cue: WordCue) -> RelationCue:
    """The public form of a relation word."""
    voice = "passive" if cue.passive else "active"
    predicates = ",".join(dict.fromkeys(predicate for predicate, _ in cue.entry.relations))
    return RelationCue(
        cue=Cue(
            kind=CueKind.RELATION,
            value=predicates,
            start=cue.start,
            end=cue.end,
            rule=f"relation:{cue.entry.phrase}:{voice}",
            text=cue.text,
        ),
        options=cue.entry.relations,
    )


def agent_before(cue: WordCue, role: Role) -> bool | None:
    """True if the noun before the verb is the subject of the predicate, False if its object, None for nouns.

    Active voice: what stands before acts. Passive voice: what follows "by" acts. `inverse` verbs have the object of the predicate
    as their agent.
    """
    if role is Role.FORWARD:
        return not cue.passive
    if role is Role.INVERSE:
        return cue.passive
    return None


def _runs(tokens: Sequence[Token]) -> list[list[Token]]:
    runs: list[list[Token]] = []
    current: list[Token] = []
    gap = 0
    for token in tokens:
        if token.owner:
            if current:
                runs.append(current)
            current, gap = [], 0
        elif token.function:
            gap += 1
            if gap > 3 and current:
                runs.append(current)
                current = []
        else:
            current.append(token)
            gap = 0
    if current:
        runs.append(current)
    return runs


def _fold_acronyms(
    run: Sequence[Token], vocabulary: Vocabulary
) -> list[tuple[tuple[str, ...], tuple[int, int]]] | None:
    """Words whose initials spell an acronym of a relation's name stand for it: "production readiness review" for PRR."""
    initials = "".join(token.key[:1] for token in run)
    for acronym in vocabulary.acronyms:
        at = initials.find(acronym)
        if at < 0:
            continue
        items = [(token.stems, (token.index, token.index)) for token in run]
        size = len(acronym)
        return [*items[:at], ((acronym,), (run[at].index, run[at + size - 1].index)), *items[at + size :]]
    return None


_PARTICIPLE_RU = re.compile(r"\w{2,}(?:[еая]н[аоы]?|[еая]нн(?:ый|ая|ое|ые|ого|ой|ых|ым|ыми|ому|ую|ом)|[ыиу]т[аоы]?)")
_AGENT_ZH = frozenset("被由")


def _is_passive(tokens: Sequence[Token], first: int, last: int) -> bool:
    word = tokens[first].key
    if not word.isascii():
        if len(word) > 1:
            return _PARTICIPLE_RU.fullmatch(word) is not None
        return any(token.key in _AGENT_ZH for token in tokens[max(0, first - 8) : first])
    participle = word.endswith("ed") or word in IRREGULAR_PARTICIPLES or word.endswith("en")
    following = [token.key for token in tokens[last + 1 : last + 4]]
    for key in following:
        if key in PASSIVE_MARKERS:
            return participle or word.endswith("ed")
        if key not in {"in", "on", "at", "only", "also", "together", "jointly"}:
            break
    if not participle:
        return False
    seen_noun = False
    for token in reversed(tokens[max(0, first - 8) : first]):
        if token.key in BE_FORMS:
            return True
        if token.key in DO_FORMS | {"that", "which", "who", "has", "have", "had", "and"}:
            return False
        if token.owner in {"word"} and seen_noun:
            return False
        seen_noun = seen_noun or token.content
    # "by whom was Alpha acquired": the marker stands at the front.
    return any(token.key in PASSIVE_MARKERS for token in tokens[:2])
