"""English inflection, synonyms and word classes for relations and types, from data files of our own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

PREPOSITIONS = frozenset(
    [
        "about",
        "after",
        "against",
        "among",
        "as",
        "at",
        "before",
        "between",
        "by",
        "during",
        "for",
        "from",
        "in",
        "into",
        "of",
        "on",
        "onto",
        "over",
        "per",
        "through",
        "to",
        "toward",
        "towards",
        "under",
        "upon",
        "via",
        "with",
        "within",
        "without",
    ]
)
"""Words that may begin or end a relation's name and say how the other side is attached."""

_VOWELS = frozenset("aeiou")
_DOER_ENDINGS = ("er", "or", "ist", "ant", "ian", "ier", "ee")
_PLURAL_ACRONYM = re.compile(r"[^\W\daeiouy_]{2,4}es")
_NEEDS_E = (
    "at", "iv", "ov", "av", "us", "as", "iz", "uc", "ag", "dg", "rg", "ng", "ur", "ir", "ar", "or", "ul", "ut", "bl",
    "pl", "tl", "dl", "gl", "kl", "fl", "nc", "rc", "rv", "lv", "nv", "yp", "yz", "ys", "ens", "aus", "ers", "uir",
    "ok", "ak", "ik", "id", "ibe", "ib", "op", "ap", "ul", "iev", "eiv", "in", "um", "ot", "ud", "od", "ad", "uas",
)  # fmt: skip
_KEEP = (
    "er",
    "en",
    "on",
    "it",
    "et",
    "ow",
    "ew",
    "ay",
    "oy",
    "ey",
    "ish",
    "ct",
    "pt",
    "rt",
    "st",
    "nt",
    "ft",
    "ck",
    "ll",
)
_NO_E = frozenset(
    [
        "join",
        "explain",
        "maintain",
        "contain",
        "obtain",
        "train",
        "remain",
        "gain",
        "attain",
        "retain",
        "sustain",
        "complain",
        "repair",
        "load",
        "read",
        "need",
        "exceed",
        "succeed",
        "proceed",
        "upload",
        "download",
        "group",
    ]
)


@lru_cache(maxsize=1)
def _irregular() -> tuple[Mapping[str, str], Mapping[str, tuple[str, ...]]]:
    base_of: dict[str, str] = {}
    forms_of: dict[str, tuple[str, ...]] = {}
    for line in files("graphroute.ontology").joinpath("irregular.txt").read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            base, *forms = line.split()
            forms_of[base] = tuple(forms)
            for form in forms:
                base_of.setdefault(form, base)
    return base_of, forms_of


def lemma(word: str) -> str:
    """The base of an irregular English form ("wrote" -> "write", "people" -> "person") or of a plural acronym ("cves"); any
    other word unchanged.

    `word` is folded. Regular forms are left to the stemmer.
    """
    base = _irregular()[0].get(word)
    if base is not None:
        return base
    # "CVEs": the stemmer takes an "s" only behind another vowel.
    return word[:-1] if _PLURAL_ACRONYM.fullmatch(word) else word


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Words of one meaning: `verbs` and `weak` verbs of the doer, nouns for the doer and for the other side.

    `converse` verbs say the same with the other side as their subject ("employ" for "work for").
    """

    verbs: tuple[str, ...]
    weak: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    patients: tuple[str, ...] = ()
    converse: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """The word lists of `lexicon.yaml`, indexed. All words folded, in base form."""

    frames: tuple[Frame, ...]
    frames_by_verb: Mapping[str, tuple[Frame, ...]]
    frames_by_agent: Mapping[str, tuple[Frame, ...]]
    frames_by_patient: Mapping[str, tuple[Frame, ...]]
    synonyms: Mapping[str, tuple[str, ...]]
    abbreviations: Mapping[str, str]
    agents: frozenset[str]
    times: frozenset[str]
    places: frozenset[str]
    things: frozenset[str]
    forms: frozenset[str]
    achievements: frozenset[str]
    lasting: frozenset[str]
    personal: frozenset[str]
    impersonal: frozenset[str]
    light: frozenset[str]
    units: frozenset[str]
    documents: tuple[str, ...]
    events: Mapping[str, tuple[str, ...]]
    actions: Mapping[str, str]
    agents_of: Mapping[str, tuple[str, ...]]
    verb_forms: Mapping[str, str] = field(repr=False)


def _shipped(name: str) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = files("graphroute.ontology").joinpath(name).read_text(encoding="utf-8")
    return yaml.load(text, loader)  # noqa: S506 - both loaders are safe


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The shipped lexicon, read once."""
    data = _shipped("lexicon.yaml")
    frames = tuple(Frame(**{key: tuple(words) for key, words in item.items()}) for item in data["frames"])
    synonyms: dict[str, tuple[str, ...]] = {}
    for group in data["nouns"]:
        synonyms.setdefault(group[0], tuple(group[1:]))
    classes = data["classes"]
    verbs: dict[str, None] = {}
    for frame in frames:
        for phrase in (*frame.verbs, *frame.weak, *frame.converse):
            verbs.setdefault(phrase.split()[0])
    for phrase in (
        *data["actions"].values(),
        *data["agents"],
        *data["verbs"]["achievements"],
        *data["verbs"]["personal"],
    ):
        verbs.setdefault(phrase)
    for skipped in ("be", "have", "do", "green"):
        verbs.pop(skipped, None)
    verb_forms: dict[str, str] = {}
    for verb in verbs:
        for form in verb_inflections(verb):
            verb_forms.setdefault(form, verb)
    for verb in verbs:
        verb_forms[verb] = verb
    return Lexicon(
        frames=frames,
        frames_by_verb=_index((frame.verbs, frame) for frame in frames),
        frames_by_agent=_index((frame.agents, frame) for frame in frames),
        frames_by_patient=_index((frame.patients, frame) for frame in frames),
        synonyms=synonyms,
        abbreviations={key: value.lower() for key, value in data["abbreviations"].items()},
        agents=frozenset(classes["agents"]),
        times=frozenset(classes["times"]),
        places=frozenset(classes["places"]),
        things=frozenset((*classes["things"], *classes["devices"])),
        forms=frozenset(classes["forms"]),
        achievements=frozenset(data["verbs"]["achievements"]),
        lasting=frozenset(data["verbs"]["lasting"]),
        personal=frozenset(data["verbs"]["personal"]),
        impersonal=frozenset(data["verbs"]["impersonal"]),
        light=frozenset(data["verbs"]["light"]),
        units=frozenset(data["units"]),
        documents=tuple(classes["documents"]),
        events={noun: tuple(words) for noun, words in classes["events"].items()},
        actions=data["actions"],
        agents_of={verb: tuple(nouns) for verb, nouns in data["agents"].items()},
        verb_forms=verb_forms,
    )


@lru_cache(maxsize=1)
def _translations() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    return {
        group: {
            word: tuple(form for words in languages for one in words.split(",") for form in _forms(one.strip()))
            for word, languages in entries.items()
        }
        for group, entries in _shipped("translations.yaml").items()
    }


def _forms(word: str) -> tuple[str, ...]:
    """The word, and for a Russian infinitive whose past tense has another stem to the stemmer, the past tense."""
    return (word, f"{word[:-2]}л") if word.endswith(("уть", "еть", "оть")) else (word,)


def translations(phrase: str, *, verb: bool) -> tuple[str, ...]:
    """Russian and Chinese words for an English verb phrase or noun, or ().

    A verb phrase that ends in a preposition and is not listed itself has the words of its verb.
    """
    group = _translations()["verbs" if verb else "nouns"]
    folded = phrase.casefold()
    head, _, last = folded.rpartition(" ")
    return group.get(folded) or (group.get(head, ()) if verb and last in PREPOSITIONS else ())


def _index(entries: Iterable[tuple[tuple[str, ...], Frame]]) -> Mapping[str, tuple[Frame, ...]]:
    found: dict[str, list[Frame]] = {}
    for words, frame in entries:
        for word in words:
            found.setdefault(word, []).append(frame)
    return {word: tuple(frames) for word, frames in found.items()}


def verb_inflections(verb: str) -> Iterator[str]:
    """Third person, past, participles and -ing form of an English verb, irregular ones included."""
    irregular = _irregular()[1].get(verb, ())
    yield from irregular
    consonant_y = verb.endswith("y") and verb[-2:-1] not in _VOWELS
    if consonant_y:
        yield from (verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing")
        return
    yield verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    if verb.endswith("e"):
        if verb.endswith("ie"):
            gerund = verb[:-2] + "ying"
        else:
            gerund = verb + "ing" if verb.endswith(("ee", "oe", "ye")) else verb[:-1] + "ing"
        yield from (verb + "d", gerund)
        return
    yield from (verb + "ed", verb + "ing")
    if _doubles(verb):
        yield from (verb + verb[-1] + "ed", verb + verb[-1] + "ing")


def _doubles(verb: str) -> bool:
    """Ends in one consonant after one vowel, so that the consonant may be doubled ("ship" -> "shipped")."""
    return (
        len(verb) >= 3
        and verb[-1] not in _VOWELS
        and verb[-1] not in "wxyh"
        and verb[-2] in _VOWELS
        and verb[-3] not in _VOWELS
    )


def known_verb(form: str) -> str | None:
    """The base of a form of a verb that the lexicon knows, else None."""
    return lexicon().verb_forms.get(form)


def participle_base(form: str) -> str | None:
    """The base of a past or -ing form, by the lexicon or by spelling rules; None if it does not look like one."""
    known = known_verb(form)
    if known is not None and known != form:
        return known
    base = lemma(form)
    if base != form:
        return base
    for ending in ("ied", "ed", "ing"):
        if form.endswith(ending) and len(form) - len(ending) >= 2:
            trunk = form[: -len(ending)]
            if ending == "ied":
                return trunk + "y"
            if not _VOWELS & set(trunk) and "y" not in trunk:
                return None
            if len(trunk) >= 3 and trunk[-1] == trunk[-2] and trunk[-1] not in "lsz":
                return trunk[:-1]
            return trunk if trunk in _NO_E or trunk.endswith(_KEEP) or not trunk.endswith(_NEEDS_E) else trunk + "e"
    return None


def third_person_base(form: str) -> str | None:
    """The base of a third-person form of a verb that the lexicon knows ("supplies" -> "supply"), else None."""
    known = known_verb(form)
    return known if known is not None and known != form and form.endswith("s") else None


def singular(noun: str) -> str:
    """The singular of an English noun or noun phrase; a word that does not look plural is returned unchanged."""
    head, _, last = noun.rpartition(" ")
    if last:
        base = lemma(last)
        if base == last and last.isascii():
            if last.endswith("ies") and len(last) > 4:
                base = last[:-3] + "y"
            elif last.endswith(("sses", "xes", "ches", "shes", "zes", "uses")) and last != "uses":
                base = last[:-2]
            elif (
                last.endswith("s") and len(last) > 3 and not last.endswith(("ss", "us", "is", "ics", "series", "news"))
            ):
                base = last[:-1]
        last = base
    return f"{head} {last}" if head else last


def agent_nouns(verb: str) -> tuple[str, ...]:
    """Nouns for who does it: "direct" -> director, "write" -> writer, "approve" -> approver; those of its frames first."""
    words = lexicon()
    formed = _formed_agent(verb)
    listed = words.agents_of.get(verb, ())
    own = tuple(noun for frame in words.frames_by_verb.get(verb, ()) for noun in frame.agents)
    if listed:
        return listed
    related = tuple(noun for noun in own if noun in (verb, formed) or _shares_root(noun, verb))
    return tuple(dict.fromkeys(related)) or (formed,)


def _shares_root(noun: str, verb: str) -> bool:
    root = verb[: max(4, len(verb) - 2)]
    return noun.startswith(root)


def _formed_agent(verb: str) -> str:
    if verb.endswith("e"):
        return verb[:-1] + "or" if verb.endswith("ate") else verb + "r"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return verb[:-1] + "ier"
    if verb.endswith(("ct", "dit", "sist", "vest")):
        return verb + "or"
    if _doubles(verb) and len(verb) <= 4:
        return verb + verb[-1] + "er"
    return verb + "er"


def synonyms(noun: str) -> tuple[str, ...]:
    """Other nouns for a type of thing, or () if the lexicon has none."""
    return lexicon().synonyms.get(noun, ())


def expand(word: str) -> str:
    """What an abbreviation stands for ("txn" -> "transaction"); any other word unchanged."""
    return lexicon().abbreviations.get(word, word)


def is_agent(noun: str) -> bool:
    """Names people or organisations: by the noun, by its last word, or by an ending on a verb that people do ("lecturer")."""
    words = lexicon()
    if _in(noun, words.agents):
        return True
    last = noun.rpartition(" ")[2]
    if not last.isascii() or any(_in(last, group) for group in (words.things, words.places, words.times)):
        return False
    if last.endswith(("ologist", "ician", "grapher", "ographer", "woman", "person")):
        return True
    return last in _doers()


@lru_cache(maxsize=1)
def _doers() -> frozenset[str]:
    """Nouns for people and organisations from the verbs that they do."""
    words = lexicon()
    found: set[str] = set()
    for verb in words.personal:
        found.add(_formed_agent(verb))
        found.update(words.agents_of.get(verb, ()))
        found.update(noun for frame in words.frames_by_verb.get(verb, ()) for noun in frame.agents)
    return frozenset(noun for noun in found if noun.endswith(_DOER_ENDINGS) and noun not in words.things)


def is_form(word: str) -> bool:
    """Names a kind of text ("record", "profile") rather than what the text is about."""
    return word in lexicon().forms


def is_time(noun: str) -> bool:
    """Names a date or period."""
    return _in(noun, lexicon().times)


def is_place(noun: str) -> bool:
    """Names a place."""
    return _in(noun, lexicon().places)


def is_event(noun: str) -> bool:
    """Names something that happens at one moment."""
    return _in(noun, lexicon().events)


def is_thing(noun: str) -> bool:
    """Names something that lasts."""
    return _in(noun, lexicon().things)


def event_verbs(noun: str) -> tuple[str, ...]:
    """What the person behind an event does with it ("order" -> place, make), or ()."""
    events = lexicon().events
    return events.get(noun) or events.get(noun.rpartition(" ")[2], ())


def _in(noun: str, group: Iterable[str]) -> bool:
    assert isinstance(group, (frozenset, Mapping))
    return noun in group or noun.rpartition(" ")[2] in group
