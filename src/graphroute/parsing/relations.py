"""Relation, type and attribute words of a question, from the ontology: longest phrase, voice and direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphroute.parsing.tokens import Token
from graphroute.parsing.vocabulary import Entry, Vocabulary
from graphroute.types.query import Cue, CueKind, RelationCue, Role

BE_FORMS = frozenset(["is", "are", "was", "were", "be", "been", "being", "am", "get", "gets", "got"])
DO_FORMS = frozenset(["do", "does", "did"])
PASSIVE_MARKERS = frozenset({"by"})
IRREGULAR_PARTICIPLES = frozenset(
    ["written", "led", "made", "held", "given", "taken", "sold", "bought", "sent", "paid", "built", "run", "begun", "driven", "known", "seen", "shown", "drawn", "chosen", "put", "set", "cut", "hit", "met", "won", "kept", "left", "lost", "found", "brought", "taught", "caught", "thought", "told"]
)

GENERIC_WORDS = frozenset(
    ["list", "show", "give", "tell", "name", "find", "return", "display", "get", "provide", "please", "can", "could", "would", "you", "me", "us", "i", "we", "current", "currently", "present", "different", "distinct", "unique", "separate", "total", "all", "any", "every", "each", "overall", "listed", "known", "called", "named", "main", "primary", "various", "several", "few", "people", "person", "thing", "things", "item", "items", "one", "ones", "some", "only", "just", "also", "too", "again", "together", "both", "same", "common", "share", "shared", "co", "many", "much", "number", "count", "how", "most", "least", "more", "less", "first", "last", "earliest", "latest", "right", "here", "there", "now", "today", "make", "makes", "made", "did", "do", "does", "done", "have", "has", "had", "get", "gets", "got", "go", "goes", "went", "come", "comes", "be", "been", "being", "exactly", "actually", "specific", "certain", "particular", "following", "above", "below", "etc", "respectively", "so", "far", "ever", "still", "about"]
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
    prefix_before: str = ""
    optional: bool = False
    apposition_of: int | None = None
    double: bool = False
    distances: dict[int, int] = field(default_factory=dict)

    @property
    def is_relation(self) -> bool:
        """Names at least one relation."""
        return bool(self.entry.relations)

    @property
    def is_type(self) -> bool:
        """Names at least one type."""
        return bool(self.entry.types)


def find_words(text: str, tokens: Sequence[Token], vocabulary: Vocabulary) -> list[WordCue]:
    """All phrases of the vocabulary in runs of unowned words, longest first at each place, function words skipped.

    A run ends at an owned word (a mention, a date), so that no phrase reaches across a name.
    """
    cues: list[WordCue] = []
    for run in _runs(tokens):
        options = [token.stems for token in run]
        options, spans = _fold_acronyms(run, options, vocabulary)
        at = 0
        while at < len(options):
            matched = vocabulary.match(options, at)
            if matched is None:
                at += 1
                continue
            length, entry = matched
            first, last = spans[at][0], spans[at + length - 1][1]
            start, end = tokens[first].start, tokens[last].end
            cue = WordCue(entry=entry, first=first, last=last, start=start, end=end, text=text[start:end])
            cue.passive = _is_passive(tokens, first, last)
            cues.append(cue)
            for token in tokens[first : last + 1]:
                if not token.owner and (token.content or first == last):
                    token.owner = "word"
            at += length
    return cues


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
    run: Sequence[Token], options: list[tuple[str, ...]], vocabulary: Vocabulary
) -> tuple[list[tuple[str, ...]], list[tuple[int, int]]]:
    """Words whose initials spell an acronym of a relation's name stand for it: "production readiness review" for PRR."""
    spans = [(token.index, token.index) for token in run]
    for acronym in vocabulary.acronyms:
        size = len(acronym)
        at = 0
        while at + size <= len(options):
            window = run[at : at + size] if len(run) == len(options) else ()
            if len(window) == size and "".join(token.key[:1] for token in window) == acronym:
                options = [*options[:at], (acronym,), *options[at + size :]]
                spans = [*spans[:at], (window[0].index, window[-1].index), *spans[at + size :]]
                return options, spans
            at += 1
    return options, spans


def _is_passive(tokens: Sequence[Token], first: int, last: int) -> bool:
    word = tokens[first].key
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
