"""Vocabulary: the words of an ontology, indexed by stem sequence for longest-phrase matching."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from graphroute.ontology.lexicon import known_verb, lemma, translations
from graphroute.parsing.lexing import word_set
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
        *word_set(
            "и или от у в на с к по из о об за для при кто кого кому кем ком что чего чему чем мы нас нам "
            "они их это эти был была было были"
        ),
        *word_set("的 了 在 是 和 与 及 或 谁 由 被 向 从 给 对 那 里 我 们 我们 都 所 有"),
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


def phrase_lemmas(phrase: str) -> tuple[str, ...]:
    """A phrase as the base forms of its content words."""
    keys = [word.key for word in words(phrase)]
    return tuple(word_lemma(key) for key in [key for key in keys if key not in FUNCTION_WORDS] or keys)


@lru_cache(maxsize=65536)
def word_lemma(key: str) -> str:
    """The base form of a folded word as a noun."""
    if detect_language(key) != "en":
        return key
    base = lemma(key.removesuffix("'s").removesuffix("'"))
    if len(base) > 4 and base.endswith("ies"):
        return base[:-3] + "y"
    if base.endswith(("sses", "shes", "ches", "xes", "zes")):
        return base[:-2]
    return base[:-1] if len(base) > 3 and base.endswith("s") and not base.endswith(("ss", "us", "is")) else base


@lru_cache(maxsize=65536)
def word_bases(key: str) -> frozenset[str]:
    """Base forms that a folded word may be an inflection of, as a noun or a verb."""
    base = word_lemma(key)
    found = {base, key}
    for ending in ("ed", "ing"):
        if key.endswith(ending) and len(key) > len(ending) + 2:
            stripped = key.removesuffix(ending)
            found |= {stripped, stripped + "e"}
            if stripped[-1] == stripped[-2]:
                found.add(stripped[:-1])
            if ending == "ed" and stripped.endswith("i"):
                found.add(stripped[:-1] + "y")
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a phrase may stand for. `exact`: the part of it that a phrase with these very base forms stands for."""

    relations: tuple[tuple[str, Role], ...] = ()
    types: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    phrase: str = ""
    preposition: str = ""
    exact: tuple[tuple[tuple[str, ...], Entry], ...] = ()

    def narrowed(self, keys: Sequence[str]) -> Entry:
        """The entry of the very words where there is one: "author" is not "authorize", though their stems are one."""
        bases = [word_bases(key) for key in keys]
        lemmas = tuple(word_lemma(key) for key in keys)
        for forms, entry in self.exact:
            if forms in (lemmas, tuple(keys)):
                return entry
        for forms, entry in self.exact:
            if len(forms) == len(bases) and all(form in base for form, base in zip(forms, bases, strict=True)):
                return entry
        return self


class _Node:
    __slots__ = ("entry", "following")

    def __init__(self) -> None:
        self.following: dict[str, _Node] = {}
        self.entry: Entry | None = None


@dataclass(slots=True)
class _Meanings:
    relations: dict[tuple[str, Role], None] = field(default_factory=dict)
    types: dict[str, None] = field(default_factory=dict)
    attributes: dict[tuple[str, str], None] = field(default_factory=dict)
    phrase: str = ""

    def add(self, sense: _Sense) -> None:
        """One thing more that the phrase may stand for."""
        if isinstance(sense, str):
            self.types.setdefault(sense)
        elif isinstance(sense[1], Role):
            self.relations.setdefault((sense[0], sense[1]))
        else:
            self.attributes.setdefault(sense)

    def entry(self, exact: tuple[tuple[tuple[str, ...], Entry], ...] = ()) -> Entry:
        return Entry(
            relations=tuple(self.relations),
            types=tuple(self.types),
            attributes=tuple(self.attributes),
            phrase=self.phrase,
            preposition="" if self.types or len(phrase_stems(self.phrase)) > 1 else _preposition(self.phrase),
            exact=exact,
        )


_Sense = tuple[str, Role] | str | tuple[str, str]
"""A relation with a role, a type, or an attribute of a type."""


def _phrases(ontology: Ontology) -> Iterator[tuple[str, bool, _Sense]]:
    """The ontology's phrases, whether each is said of a verb, and what they stand for."""
    for name in sorted(ontology.relations):
        relation = ontology.relations[name]
        for role, group in (
            (Role.FORWARD, relation.forward),
            (Role.INVERSE, relation.inverse),
            (Role.OBJECT_NOUN, relation.object_nouns),
            (Role.SUBJECT_NOUN, relation.subject_nouns),
        ):
            for phrase in group:
                yield phrase, role in (Role.FORWARD, Role.INVERSE), (name, role)
    for name in sorted(ontology.types):
        for noun in ontology.types[name].nouns:
            yield noun, False, name
    for type_name in sorted(ontology.attributes):
        for attribute in ontology.attributes[type_name]:
            for noun in (*attribute.nouns, attribute.key):
                yield noun, False, (type_name, attribute.key)
            if attribute.kind == "date":
                # "approval date", also "approve": when it was approved.
                for noun in attribute.nouns:
                    if known_verb(noun.casefold()) is not None:
                        yield noun, True, (type_name, attribute.key)


def _may_be_typed(meanings: Iterable[_Meanings]) -> bool:
    """True for words that name no type so far and are no verb of a relation."""
    verbs = (Role.FORWARD, Role.INVERSE)
    return not any(meaning.types or any(role in verbs for _, role in meaning.relations) for meaning in meanings)


class Vocabulary:
    """Phrases of relations, types and attributes by stem sequence. Built once per ontology."""

    def __init__(self, ontology: Ontology) -> None:
        self.acronyms = _acronyms(ontology)
        self._meanings: dict[tuple[str, ...], dict[tuple[str, ...], _Meanings]] = {}
        phrases = tuple(_phrases(ontology))
        for phrase, _, sense in phrases:
            self._put(phrase, sense)
        own = {stems: _may_be_typed(forms.values()) for stems, forms in self._meanings.items()}
        for phrase, verb, sense in phrases:
            for word in translations(phrase, verb=verb):
                open_to_types = own.get(phrase_stems(word))
                # The ontology's own words win, but a noun of a relation may be that of the type it leads to as well.
                if open_to_types is None or (isinstance(sense, str) and open_to_types):
                    self._put(word, sense)
        self._add_variants(ontology)
        self._entries = {stems: _joined(forms) for stems, forms in self._meanings.items()}
        self._root = _Node()
        for stems, entry in self._entries.items():
            node = self._root
            for one in stems:
                node = node.following.setdefault(one, _Node())
            node.entry = entry

    def _put(self, phrase: str, sense: _Sense) -> None:
        stems, lemmas = phrase_stems(phrase), phrase_lemmas(phrase)
        if stems[:1] == ("co",) and len(stems) > 1:
            stems, lemmas = stems[1:], lemmas[1:]
        if stems:
            self._meanings.setdefault(stems, {}).setdefault(lemmas, _Meanings(phrase=phrase)).add(sense)

    def _add_variants(self, ontology: Ontology) -> None:
        """Other forms of phrases, where they are no phrase themselves.

        "stable PRR" for "PRR stable": names of relations put an acronym first, questions last. A phrase of four words or more
        with one inner word left out.
        """
        variants: dict[tuple[str, ...], dict[tuple[str, ...], _Meanings]] = {}
        for stems, forms in self._meanings.items():
            others: list[tuple[str, ...]] = []
            if len(stems) == 2 and set(stems) & set(self.acronyms):
                others.append((stems[1], stems[0]))
            if len(stems) >= 4:
                others.extend((*stems[:place], *stems[place + 1 :]) for place in range(1, len(stems) - 1))
            for other in others:
                if other not in self._meanings:
                    for lemmas, meanings in forms.items():
                        if meanings.relations:
                            variants.setdefault(other, {}).setdefault(lemmas, meanings)
        self._meanings.update(variants)

    def __contains__(self, stems: object) -> bool:
        return stems in self._entries

    def known(self, key: str) -> bool:
        """True if the word alone is a phrase of the vocabulary, whatever stands beside it."""
        entries = (self._entries.get((one,)) for one in word_stems(key))
        return any(entry is not None and not entry.preposition for entry in entries)

    def holders_of(self, key: str) -> tuple[str, ...]:
        """Types that have an attribute which the word alone names."""
        entries = (self._entries.get((one,)) for one in word_stems(key))
        return tuple(name for entry in entries if entry is not None for name, _ in entry.attributes)

    def types_of(self, key: str) -> tuple[str, ...]:
        """Types that the word alone names."""
        return tuple(t for one in word_stems(key) if (entry := self._entries.get((one,))) for t in entry.types)

    def types_of_phrase(self, keys: Sequence[str]) -> tuple[str, ...]:
        """Types that the words together name."""
        found = self.match([word_stems(key) for key in keys], 0)
        return found[1].types if found is not None and found[0] == len(keys) else ()

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


def _joined(forms: Mapping[tuple[str, ...], _Meanings]) -> Entry:
    whole = _Meanings(phrase=next(iter(forms.values())).phrase)
    for meanings in forms.values():
        whole.relations.update(meanings.relations)
        whole.types.update(meanings.types)
        whole.attributes.update(meanings.attributes)
    exact = tuple((lemmas, meanings.entry()) for lemmas, meanings in forms.items()) if len(forms) > 1 else ()
    return whole.entry(exact)


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
