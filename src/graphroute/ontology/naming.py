"""Turns the name of a relation or type into the words that questions use for it, from its form and the lexicon."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphroute.ontology.lexicon import (
    PREPOSITIONS,
    Frame,
    agent_nouns,
    event_verbs,
    expand,
    is_agent,
    is_form,
    is_place,
    known_verb,
    lexicon,
    participle_base,
    singular,
    synonyms,
    third_person_base,
)

_AUXILIARIES = frozenset(["has", "have", "had", "is", "are", "was", "were", "be", "been", "gets", "got"])
_POSSESSIVE = re.compile(r"(?<=[^\W\d_])['`\u2019]s\b", re.IGNORECASE)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+(?:\.\d+)*|[^\W\d_]+")
_ATTACHED = {
    "in": ("belong to", "fall under", "sit in"),
    "within": ("belong to", "fall under"),
    "of": ("belong to",),
    "on": ("post to", "book to"),
    "onto": ("post to",),
    "with": ("use", "involve"),
    "without": ("lack",),
    "for": ("serve", "intend for"),
    "to": ("go to", "belong to"),
    "into": ("go into",),
    "from": ("come from", "originate from"),
    "at": ("locate at", "happen at"),
    "under": ("fall under", "belong to"),
    "about": ("concern", "regard"),
    "via": ("use", "go through"),
    "through": ("use", "go through"),
    "as": ("serve as",),
    "during": ("happen during",),
}
_IN_PLACE = ("work in", "cover", "serve", "be responsible for", "be assigned to", "operate in", "handle")
"""What people do in a place that is theirs."""
_DONE = ("make", "do", "perform", "carry out")
_HAVE = ("include", "contain", "come with")
_OTHER_TIMES = frozenset(
    ["former", "previous", "old", "ex", "past", "next", "future", "planned", "last", "first", "prior"]
)
_LABELS = frozenset(["id", "ids", "name", "no", "number", "code", "key", "ref", "login", "email"])
_NO_INITIALS = frozenset(
    [
        "ad",
        "am",
        "an",
        "do",
        "eg",
        "ex",
        "go",
        "he",
        "hi",
        "hr",
        "id",
        "ie",
        "if",
        "is",
        "it",
        "la",
        "ma",
        "me",
        "my",
        "no",
        "ok",
        "or",
        "pa",
        "pm",
        "so",
        "tv",
        "uk",
        "un",
        "up",
        "us",
        "vs",
        "we",
        "all",
        "and",
        "any",
        "are",
        "can",
        "did",
        "for",
        "had",
        "has",
        "how",
        "its",
        "may",
        "new",
        "not",
        "now",
        "old",
        "one",
        "our",
        "out",
        "set",
        "she",
        "the",
        "two",
        "was",
    ]
)
_EMPTY = frozenset(["be", "have", "do", "a", "an", "the", "it", "there", "who", "which", "what", "also"]) | PREPOSITIONS
_COMMANDS = frozenset(["list", "name", "show", "give", "get", "tell", "count", "find", "do", "take", "be", "relate"])

_NO_COMMANDS = frozenset(["take over", "show in", "take place"])


@dataclass(slots=True)
class RelationWords:
    """Phrases by role: `own` phrases come from the relation's name, `other` ones from the lexicon. Insertion order."""

    own: dict[str, dict[str, None]] = field(default_factory=dict)
    other: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, role: str, *phrases: str, own: bool = False) -> None:
        """Adds phrases of a role (`forward`, `inverse`, `object_nouns`, `subject_nouns`)."""
        table = (self.own if own else self.other).setdefault(role, {})
        for phrase in phrases:
            parts = phrase.split()
            # Words that any question may hold say nothing about a relation unless they are its very name.
            command = parts and parts[0] in _COMMANDS and phrase not in _NO_COMMANDS and _EMPTY.issuperset(parts[1:])
            if not own and (command or _EMPTY.issuperset(parts)):
                continue
            if parts:
                table.setdefault(phrase)

    def phrases(self, role: str) -> tuple[str, ...]:
        """All phrases of a role, own ones first."""
        return tuple(dict.fromkeys((*self.own.get(role, ()), *self.other.get(role, ()))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What is known of the entities on one side of a relation: the nouns of their types, the plainest first."""

    nouns: tuple[str, ...] = ()
    agent: bool = False
    temporal: bool = False


def name_parts(name: str) -> list[str]:
    """The words of a name in snake, kebab or camel case, folded: `directedBy`, `DIRECTED_BY` -> directed, by."""
    return [part.casefold() for part in _PARTS.findall(_POSSESSIVE.sub("s", name))]


def variants(parts: Sequence[str]) -> tuple[str, ...]:
    """A phrase as written and with its abbreviations expanded."""
    written = " ".join(parts)
    return tuple(dict.fromkeys((written, " ".join(expand(part) for part in parts))))


def type_nouns(name: str) -> tuple[str, ...]:
    """Nouns for a type from its name: as written, abbreviations expanded, and synonyms."""
    parts = name_parts(name) or [name.casefold()]
    if not name.isascii() and len(parts) == 1:
        return (name.casefold(),)
    found: dict[str, None] = {}
    for phrase in variants(parts):
        noun = singular(phrase)
        found.setdefault(noun)
    for noun in tuple(found):
        for other in synonyms(noun):
            found.setdefault(other)
    if len(parts) > 1 and not any(synonyms(noun) for noun in tuple(found)):
        head = singular(expand(parts[-1]))
        found.setdefault(head)
    return tuple(found)


def field_noun(key: str) -> str:
    """The noun that a record's field gives to its value ("root_cause", "owner.name" -> owner), or "" if its name is no noun."""
    parts = _noun_parts(key)
    if not parts or parts[0] in PREPOSITIONS or parts[-1] in PREPOSITIONS or parts[0] in _AUXILIARIES:
        return ""
    verb = third_person_base(parts[0]) or participle_base(parts[0])
    if verb and len(parts) == 1 and not parts[0].endswith("ing") and not names_agent(singular(parts[0])):
        return ""
    return singular(" ".join(expand(part) for part in parts))


def _noun_parts(key: str) -> list[str]:
    parts = [part for part in name_parts(key) if not part.isdigit()]
    while len(parts) > 1 and parts[-1] in _LABELS:
        parts = parts[:-1]
    return parts


def of_other_time(key: str) -> bool:
    """The field holds what was or will be so ("former_site"), which its noun does not say of the relation."""
    return bool(_OTHER_TIMES & set(name_parts(key)))


def kind_noun(kind: str) -> str:
    """The noun for what records of a kind are about ("ticket_record" -> ticket), or "" if the kind only says what text it is."""
    parts = [part for part in name_parts(kind) if not part.isdigit()]
    while parts and is_form(singular(parts[-1])):
        parts = parts[:-1]
    return singular(" ".join(expand(part) for part in parts)) if parts and all(map(str.isalpha, parts)) else ""


def abbreviates(short: str, phrase: str) -> bool:
    """True if the letters of `short` stand in `phrase` in order, from its first on, and are much fewer ("insp", inspection)."""
    letters = iter(phrase)
    return (
        " " not in phrase
        and 2 <= len(short) <= 5
        and len(short) < len(phrase)
        and short[0] == phrase[:1]
        and all(letter in letters for letter in short)
    )


def initials(parts: Sequence[str]) -> tuple[str, ...]:
    """The initials of two to four words ("principal investigator" -> pi), with the plural where a stemmer would miss it."""
    if not 2 <= len(parts) <= 4 or not all(part.isascii() and part.isalpha() and len(part) > 2 for part in parts):
        return ()
    short = "".join(part[0] for part in parts)
    if short in _NO_INITIALS or short in PREPOSITIONS or known_verb(short):
        return ()
    return (short, f"{short}s") if short[-1] in "aeiou" and not set(short[:-1]) & set("aeiou") else (short,)


def relation_words(name: str, subject: Side = Side(), obj: Side = Side()) -> RelationWords:
    """The words of a relation from the form of its name.

    X_BY makes the object the agent; a verb (OWNS, worksFor) the subject; HAS_X, IN_X and plain nouns name the object;
    X_OF names the subject. Synonyms come from the frames of the verb or noun found.
    """
    words = RelationWords()
    parts = name_parts(name)
    if not parts:
        words.add("object_nouns", name.casefold(), own=True)
        return words
    possessive = parts[0] in ("has", "have", "had") and len(parts) > 1
    while len(parts) > 1 and parts[0] in _AUXILIARIES:
        parts = parts[1:]
    if possessive and not (parts[-1] in PREPOSITIONS and participle_base(parts[0])):
        _noun_of_object(words, parts, subject, obj)
        words.add("forward", *_HAVE, *(() if obj.agent or obj.temporal else ("introduce", "add")))
    elif parts[-1] == "by" and len(parts) > 1:
        _done_by(words, parts[:-1], subject, obj)
    elif parts[0] in PREPOSITIONS:
        _attached(words, parts[0], parts[1:], subject, obj)
    elif parts[-1] in PREPOSITIONS and len(parts) > 1:
        _with_preposition(words, parts[:-1], parts[-1], subject, obj)
    elif (place := _inner_preposition(parts)) is not None:
        _with_preposition(words, parts[:place], parts[place], subject, obj)
        words.add("forward", " ".join((*words.own["forward"],)[:1] + tuple(parts[place + 1 :])), own=True)
        _noun_of_object(words, parts[place + 1 :], subject, obj, frames=False)
    else:
        _plain(words, parts, subject, obj)
    _deed_of_event(words, obj)
    return words


def _deed_of_event(words: RelationWords, obj: Side) -> None:
    """Who places an order buys: a verb that only brings an event about also means what the event does."""
    own = set(words.own.get("forward", ()))
    for noun in obj.nouns:
        if own & set(event_verbs(noun)):
            for frame in lexicon().frames_by_patient.get(noun, ()):
                words.add("forward", *frame.verbs, *frame.weak)


def _done_by(words: RelationWords, parts: list[str], subject: Side, obj: Side) -> None:
    verb = participle_base(parts[-1])
    modifiers = parts[:-1]
    if verb is None:
        for order in (parts, [*parts[1:], parts[0]], [*reversed(parts)]):
            words.add("object_nouns", *variants(order), own=True)
        return
    happening = _event(subject)
    if verb in ("make", "do", "perform") and happening:
        words.add("inverse", verb, own=True)
        words.add("inverse", *happening, *_DONE)
        return
    if modifiers:
        for phrase in variants(modifiers):
            words.add("inverse", f"{phrase} {verb}", f"{verb} {phrase}", own=True)
            words.add("object_nouns", *(f"{phrase} {noun}" for noun in agent_nouns(verb)), own=True)
        words.add("inverse", verb)
        words.add("object_nouns", *agent_nouns(verb))
    else:
        words.add("inverse", verb, own=True)
        words.add("object_nouns", *agent_nouns(verb), own=True)
    _add_frames(words, _verb_frames(verb, "by"), subject_is_agent=False)
    if any(lexicon().actions.get(noun) == verb for noun in subject.nouns):
        words.add("inverse", *happening)
    if verb in ("create", "make"):
        # What makers of such things are said to do: an artist paints.
        for frame in (frame for noun in obj.nouns for frame in lexicon().frames_by_agent.get(noun, ())):
            words.add("inverse", *frame.verbs)


def _inner_preposition(parts: Sequence[str]) -> int | None:
    """The place of the preposition in `belongs_to_movement`: behind a verb form and before a noun."""
    place = next((at for at, part in enumerate(parts) if part in PREPOSITIONS and 0 < at < len(parts) - 1), None)
    if place is None or parts[place] in ("of", "as", "by"):
        return None
    first = parts[0]
    verb = third_person_base(first) or participle_base(first) or (known_verb(first) == first and place == 1)
    return place if verb else None


def _attached(words: RelationWords, preposition: str, rest: list[str], subject: Side, obj: Side) -> None:
    if len(rest) > 1 and rest[-1] in PREPOSITIONS:
        words.add("forward", f"be {' '.join((preposition, *rest))}", own=True)
        return
    if rest:
        _noun_of_object(words, rest, subject, obj, frames=False)
    if preposition == "by":
        words.add("inverse", *(_event(subject) or ()), *_DONE)
        return
    phrase = " ".join((preposition, *rest))
    words.add("forward", f"be {phrase}", own=True)
    words.add("forward", *_ATTACHED.get(preposition, ()))
    if subject.agent and preposition in ("in", "within", "at") and any(is_place(noun) for noun in obj.nouns):
        words.add("forward", *_IN_PLACE)
    for frame in lexicon().frames_by_verb.get(f"be {preposition}", ()):
        words.add("forward", *frame.verbs, *frame.weak)
        words.add("object_nouns", *frame.patients)


def _with_preposition(words: RelationWords, parts: list[str], preposition: str, subject: Side, obj: Side) -> None:
    verb = third_person_base(parts[0]) or participle_base(parts[0])
    if verb is None and known_verb(parts[0]) == parts[0] and preposition != "of" and len(parts) == 1:
        verb = parts[0]
    if verb is not None:
        rest = " ".join(singular(part) for part in parts[1:])
        phrase = " ".join(part for part in (verb, rest, preposition) if part)
        words.add("forward", phrase, own=True)
        if rest:
            words.add("forward", f"{verb} {rest}", own=True)
            words.add("forward", verb)
        specific = _frames_with(verb, preposition)
        if specific:
            _add_frames(words, specific, subject_is_agent=True)
        else:
            _bare_verb(words, verb, parts[0], preposition, subject, obj)
        return
    nouns = [singular(phrase) for phrase in variants(parts)]
    words.add("subject_nouns", *nouns, own=True)
    words.add("forward", *(verb for noun in nouns for verb in event_verbs(noun)))
    head = singular(parts[-1])
    _add_noun_frames(words, [*nouns, head], names_subject=True)
    if preposition != "of":
        words.add("forward", *_ATTACHED.get(preposition, ()))
    for noun in nouns:
        words.add("subject_nouns", *synonyms(noun))


def _plain(words: RelationWords, parts: list[str], subject: Side, obj: Side) -> None:
    first, rest = parts[0], parts[1:]
    noun = singular(" ".join(parts))
    verb = third_person_base(first) or participle_base(first)
    if verb is None and known_verb(first) == first and (subject.agent or not rest) and not names_agent(first):
        verb = first
    if verb is None and subject.agent and rest:
        compound = third_person_base(parts[-1])
        if compound is not None:
            _compound_verb(words, parts[:-1], compound)
            return
    if verb is not None and not rest and not subject.agent and obj.agent and names_agent(noun):
        verb = None  # `authors`, `members` of a document: a plural noun, not a verb
    phrase_frames = lexicon().frames_by_verb.get(" ".join(parts), ()) if rest else ()
    if phrase_frames:
        words.add("forward", " ".join(parts), own=True)
        words.add("object_nouns", " ".join(parts), own=True)
        _add_frames(words, phrase_frames, subject_is_agent=True)
        return
    if verb is None:
        _noun_of_object(words, parts, subject, obj)
        if not name_is_english(parts):
            words.add("forward", " ".join(parts), own=True)
        return
    if not rest and first.endswith("ing") and obj.agent and not subject.agent:
        words.add("inverse", verb, own=True)
        words.add("object_nouns", *(f"{first} {noun}" for noun in obj.nouns[:3]), own=True)
        _add_frames(words, _verb_frames(verb, ""), subject_is_agent=False)
        return
    if not rest:
        words.add("forward", verb, own=True)
        if subject.agent or not participle_base(first):
            words.add("subject_nouns", *agent_nouns(verb), own=subject.agent)
        if verb in subject.nouns:  # ORDERS from an order: the thing itself, not what is done with it
            words.add("forward", "contain", "include", "consist of", *agent_free_verbs(verb))
            words.add("object_nouns", "item", "line", "content")
        else:
            _add_frames(words, _verb_frames(verb, ""), subject_is_agent=True)
        return
    phrase = singular(" ".join(rest))
    doers = [other for other in (phrase, singular(rest[-1])) if other in lexicon().frames_by_agent]
    if obj.agent and not subject.agent and (doers or is_agent(phrase)):
        words.add("object_nouns", phrase, own=True)
        words.add("inverse", verb, own=True)
        words.add("forward", verb, own=True)
        _add_noun_frames(words, doers, names_subject=False)
        return
    words.add("forward", f"{verb} {phrase}", own=True)
    if any(noun.split()[-1] == phrase.split()[-1] for noun in obj.nouns):
        words.add("forward", verb, own=True)
        words.add("object_nouns", phrase, own=True)
        _add_frames(words, _verb_frames(verb, ""), subject_is_agent=True)
    else:
        words.add("object_nouns", f"{phrase} {verb}", own=True)
        for frame in _verb_frames(verb, ""):
            words.add("forward", *(f"{other} {phrase}" for other in frame.verbs if " " not in other))


def agent_free_verbs(verb: str) -> tuple[str, ...]:
    """Verbs of the frames of `verb`, without their nouns."""
    return tuple(phrase for frame in _verb_frames(verb, "") for phrase in (*frame.verbs, *frame.weak))


def name_is_english(parts: Sequence[str]) -> bool:
    """True if the name is in ASCII letters, so that its form can be read."""
    return all(part.isascii() for part in parts)


def _compound_verb(words: RelationWords, modifiers: list[str], verb: str) -> None:
    for phrase in variants(modifiers):
        words.add("forward", f"{phrase} {verb}", own=True)
        words.add(
            "subject_nouns", *(f"{phrase} {noun}" for noun in dict.fromkeys((verb, *agent_nouns(verb)))), own=True
        )
    for frame in _verb_frames(verb, ""):
        words.add("forward", *frame.verbs)


def _noun_of_object(words: RelationWords, parts: list[str], subject: Side, obj: Side, *, frames: bool = True) -> None:
    nouns = [singular(phrase) for phrase in variants(parts)]
    head = singular(expand(parts[-1]))
    words.add("object_nouns", *nouns, own=True)
    if len(parts) > 1:
        words.add("object_nouns", head, *(initials(parts) if obj.agent else ()))
        if obj.temporal or head in obj.nouns:
            _action_words(words, parts[:-1], obj)
    for noun in dict.fromkeys((*nouns, head)):
        words.add("object_nouns", *synonyms(noun))
    if frames:
        _add_noun_frames(words, [*nouns, head], names_subject=False)


def _action_words(words: RelationWords, modifiers: list[str], obj: Side) -> None:
    """`release year` of a film: also "when was it released"."""
    for part in modifiers:
        verb = lexicon().actions.get(part) or participle_base(part) or known_verb(part)
        if verb is not None:
            words.add("forward", verb, own=True)
            if obj.temporal:
                words.add("object_nouns", f"{part} date", f"date of {part}")
                for frame in _verb_frames(verb, ""):
                    words.add("forward", *frame.verbs, *frame.weak)


def names_agent(noun: str) -> bool:
    """Names people or organisations, or a part that they play."""
    return is_agent(noun) or noun in lexicon().frames_by_agent


def _event(subject: Side) -> tuple[str, ...]:
    return tuple(dict.fromkeys(verb for noun in subject.nouns for verb in event_verbs(noun)))


def _frames_with(verb: str, preposition: str) -> tuple[Frame, ...]:
    frames = lexicon().frames_by_verb
    return frames.get(f"{verb} {preposition}") or frames.get(f"be {verb} {preposition}") or ()


def _verb_frames(verb: str, preposition: str) -> tuple[Frame, ...]:
    return (_frames_with(verb, preposition) if preposition else ()) or lexicon().frames_by_verb.get(verb, ())


def _bare_verb(words: RelationWords, verb: str, form: str, preposition: str, subject: Side, obj: Side) -> None:
    """Words of a verb that is known only without its preposition: the other side is neither its doer nor what it is done to.

    `PRODUCED_AT` says where: the place may be said to do it too ("the plant that produced it"). A light verb means
    something else with a preposition (`HELD_IN`).
    """
    words.add("forward", verb)
    frames = () if verb in lexicon().light or preposition == "of" else lexicon().frames_by_verb.get(verb, ())
    if form == verb or third_person_base(form):
        if subject.agent:
            for frame in frames:
                words.add("forward", *(phrase for phrase in frame.verbs if " " not in phrase))
                words.add("subject_nouns", *frame.agents)
        return
    for frame in frames:
        phrases = [phrase for phrase in frame.verbs if " " not in phrase]
        words.add("forward", *phrases)
        if preposition in ("in", "at", "on", "within", "under") and not subject.agent:
            words.add("inverse", verb, *phrases)


def _add_frames(words: RelationWords, frames: Iterable[Frame], *, subject_is_agent: bool) -> None:
    doer, other = ("forward", "inverse") if subject_is_agent else ("inverse", "forward")
    doer_nouns, other_nouns = (
        ("subject_nouns", "object_nouns") if subject_is_agent else ("object_nouns", "subject_nouns")
    )
    for frame in frames:
        words.add(doer, *frame.verbs, *frame.weak)
        words.add(other, *frame.converse)
        words.add(doer_nouns, *frame.agents)
        words.add(other_nouns, *frame.patients)


def field_words(key: str, subject: Side, obj: Side) -> RelationWords:
    """The words that the field of a record gives to a relation from the record's entity (`subject`) to the value (`obj`).

    A noun is what the value is called, with its synonyms; of verbs and phrases only the words as written are taken.
    """
    words = RelationWords()
    noun = field_noun(key)
    if noun:
        words.add(
            "object_nouns", *dict.fromkeys((*(singular(one) for one in variants(_noun_parts(key))), noun)), own=True
        )
        words.add("object_nouns", *synonyms(noun))
        if len(lexicon().frames_by_agent.get(noun, ())) + len(lexicon().frames_by_patient.get(noun, ())) == 1:
            _add_noun_frames(words, [noun], names_subject=False)
    else:
        own = relation_words(key, subject, obj).own
        words.own = {role: dict(phrases) for role, phrases in own.items() if role in ("forward", "inverse")}
    return words


def _add_noun_frames(words: RelationWords, nouns: Iterable[str], *, names_subject: bool) -> None:
    table = lexicon()
    seen: set[Frame] = set()
    for noun in dict.fromkeys(nouns):
        for frame in table.frames_by_agent.get(noun, ()):
            if frame not in seen:
                seen.add(frame)
                _add_frames(words, (frame,), subject_is_agent=names_subject)
        for frame in table.frames_by_patient.get(noun, ()):
            # A noun of the other side: the relation is the converse one, its doer on the far side.
            if frame not in seen and not table.frames_by_agent.get(noun):
                seen.add(frame)
                _add_frames(words, (frame,), subject_is_agent=not names_subject)
