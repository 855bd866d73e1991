"""Vocabulary: the words of an ontology, indexed by stem sequence for longest-phrase matching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graphroute.ontology.lexicon import lemma
from graphroute.text import STOP_WORDS, detect_language, stem, words
from graphroute.types.ontology import Ontology
from graphroute.types.query import Role

FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "by",
        "in",
        "on",
        "at",
        "for",
        "from",
        "with",
        "into",
        "onto",
        "under",
        "as",
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "it",
        "its",
        "their",
        "his",
        "her",
        "our",
        "your",
        "my",
        "that",
        "which",
        "who",
        "whom",
        "whose",
        "what",
        "when",
        "where",
        "there",
        "this",
        "these",
        "those",
        "than",
    ]
)
"""Words skipped inside and between phrase words. Prepositions are skipped: the direction comes from voice and position."""


@lru_cache(maxsize=65536)
def word_stems(key: str) -> tuple[str, ...]:
    """Stems under which a folded word is matched: its own and its lemma's, without repeats."""
    language = detect_language(key)
    first = stem(key, language)
    if language != "en":
        return (first,)
    base = key.removesuffix("'s").removesuffix("'")
    second = stem(lemma(base), language)
    third = stem(base, language)
    return tuple(dict.fromkeys((second, third, first)))


def phrase_stems(phrase: str) -> tuple[str, ...]:
    """A phrase as the stems of its content words; of all its words if it has no other."""
    keys = [word.key for word in words(phrase)]
    content = [key for key in keys if key not in FUNCTION_WORDS] or keys
    return tuple(word_stems(key)[0] for key in content)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a phrase may stand for."""

    relations: tuple[tuple[str, Role], ...] = ()
    types: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    phrase: str = ""
    preposition: str = ""


class _Node:
    __slots__ = ("entry", "following")

    def __init__(self) -> None:
        self.following: dict[str, _Node] = {}
        self.entry: Entry | None = None


class Vocabulary:
    """Phrases of relations, types and attributes by stem sequence. Built once per ontology."""

    def __init__(self, ontology: Ontology) -> None:
        relations: dict[tuple[str, ...], dict[tuple[str, Role], None]] = {}
        types: dict[tuple[str, ...], dict[str, None]] = {}
        attributes: dict[tuple[str, ...], dict[tuple[str, str], None]] = {}
        phrases: dict[tuple[str, ...], str] = {}
        acronyms = _acronyms(ontology)
        turned: dict[tuple[str, ...], list[tuple[tuple[str, Role], str]]] = {}

        def put(
            table: dict[tuple[str, ...], dict[tuple[str, Role], None]], phrase: str, value: tuple[str, Role]
        ) -> None:
            stems = phrase_stems(phrase)
            if stems[:1] == ("co",) and len(stems) > 1:
                stems = stems[1:]
            if stems:
                table.setdefault(stems, {}).setdefault(value)
                phrases.setdefault(stems, phrase)
            if len(stems) == 2 and set(stems) & set(acronyms):
                turned.setdefault((stems[1], stems[0]), []).append((value, phrase))

        for name in sorted(ontology.relations):
            relation = ontology.relations[name]
            for role, group in (
                (Role.FORWARD, relation.forward),
                (Role.INVERSE, relation.inverse),
                (Role.OBJECT_NOUN, relation.object_nouns),
                (Role.SUBJECT_NOUN, relation.subject_nouns),
            ):
                for phrase in group:
                    put(relations, phrase, (name, role))
        for name in sorted(ontology.types):
            entity_type = ontology.types[name]
            for noun in entity_type.nouns:
                stems = phrase_stems(noun)
                if stems:
                    types.setdefault(stems, {}).setdefault(name)
                    phrases.setdefault(stems, noun)
        for type_name in sorted(ontology.attributes):
            for attribute in ontology.attributes[type_name]:
                for noun in (*attribute.nouns, attribute.key):
                    stems = phrase_stems(noun)
                    if stems:
                        attributes.setdefault(stems, {}).setdefault((type_name, attribute.key))
                        phrases.setdefault(stems, noun)
        # "stable PRR" for "PRR stable": names of relations put an acronym first, questions last.
        for stems, values in turned.items():
            if stems not in relations:
                for value, phrase in values:
                    relations.setdefault(stems, {}).setdefault(value)
                    phrases.setdefault(stems, phrase)
        self._entries: dict[tuple[str, ...], Entry] = {}
        for stems in {**relations, **types, **attributes}:
            self._entries[stems] = Entry(
                relations=tuple(relations.get(stems, ())),
                types=tuple(types.get(stems, ())),
                attributes=tuple(attributes.get(stems, ())),
                phrase=phrases[stems],
                preposition=_preposition(phrases[stems]) if stems not in types and len(stems) == 1 else "",
            )
        self._root = _Node()
        for stems, entry in self._entries.items():
            node = self._root
            for one in stems:
                node = node.following.setdefault(one, _Node())
            node.entry = entry
        self.acronyms = acronyms

    def __contains__(self, stems: object) -> bool:
        return stems in self._entries

    def known(self, key: str) -> bool:
        """True if the word alone is a phrase of the vocabulary, whatever stands beside it."""
        entries = (self._entries.get((one,)) for one in word_stems(key))
        return any(entry is not None and not entry.preposition for entry in entries)

    def match(self, options: Sequence[tuple[str, ...]], start: int) -> tuple[int, Entry] | None:
        """The longest phrase at `start`: (words used, entry). `options[i]` are the stems of word i, in order of preference."""
        best: tuple[int, Entry] | None = None
        frontier = [self._root]
        for length, stems in enumerate(options[start:], start=1):
            frontier = [node.following[one] for node in frontier for one in stems if one in node.following]
            if not frontier:
                break
            entry = next((node.entry for node in frontier if node.entry is not None), None)
            if entry is not None:
                best = (length, entry)
        return best


def _preposition(phrase: str) -> str:
    """The preposition a one-word phrase ends in ("implemented in"), other than those of voice and role."""
    last = phrase.casefold().split()[-1]
    return last if last in {"in", "on", "at", "from", "under", "into", "within"} else ""


def _acronyms(ontology: Ontology) -> Mapping[str, str]:
    """Words of relation names that may be acronyms (three letters or more without being a word), folded."""
    found: dict[str, str] = {}
    stop = STOP_WORDS.get("en", frozenset())
    for name in ontology.relations:
        for part in name.replace("-", "_").split("_"):
            key = part.lower()
            if 3 <= len(key) <= 5 and key.isalpha() and key not in stop and not set(key) & set("aeiou"):
                found[key] = part
    return found
