"""Entity mentions: exact and folded alias look-up over what the reader may see, longest first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphroute.ontology.lexicon import singular
from graphroute.parsing.aggregation import find_aggregations
from graphroute.parsing.lexing import is_han
from graphroute.parsing.questions import read_question
from graphroute.parsing.relations import GENERIC_WORDS, phrase_spans
from graphroute.parsing.scope import find_modifiers
from graphroute.parsing.tokens import Token, inside
from graphroute.parsing.vocabulary import Vocabulary, word_stems
from graphroute.stores.catalog.base import Catalog
from graphroute.stores.lexical.base import LexicalStore
from graphroute.text import alias_key, terms
from graphroute.text.declension import MAX_WORDS, nominatives
from graphroute.types.query import Candidate, Cue, CueKind, Mention
from graphroute.types.view import View

MAX_NAME_WORDS = 16
MAX_NAME_CHARACTERS_ZH = 24
MAX_UNKNOWN_HAN = 8
"""Longest unknown word of a Chinese question taken for a name; a longer one is a sentence of its own."""
_COMPOSED_WORDS = 4
"""A name of so many words may be put together from shorter ones."""
_PRONOUN = re.compile(r"I(?:['’](?:m|d|ve|ll))?")


@dataclass(frozen=True, slots=True)
class Found:
    """What the look-up found: identifiers and mentions with candidates, value words, and named slots without any."""

    identifiers: tuple[Mention, ...]
    mentions: tuple[Mention, ...]
    values: tuple[tuple[Cue, tuple[tuple[str, str], ...]], ...]
    unresolved: tuple[Cue, ...]


def find_mentions(
    text: str,
    tokens: Sequence[Token],
    *,
    identifier_cues: Sequence[Cue],
    quotes: Sequence[Cue],
    dates: Sequence[tuple[int, int]],
    vocabulary: Vocabulary,
    catalog: Catalog,
    lexical: LexicalStore,
    view: View,
) -> Found:
    """Names and identifiers of the question with all their candidates, in text order.

    One batch look-up of every word n-gram; the longest match wins, a quoted name first. A lower-case ordinary word that
    happens to be a name is kept as a weak mention.
    """
    grams = _grams(tokens)
    grams.extend(_declined(tokens))
    keys = {key for _, _, key in grams} | {alias_key(cue.text) for cue in identifier_cues}
    aliases = catalog.aliases(sorted(keys), view=view)
    named = [gram for gram in grams if gram[2] in aliases]
    identifier_cues = [_widened(cue, text, tokens, named) for cue in identifier_cues]
    identifiers, unresolved = _identifiers(identifier_cues, aliases, lexical=lexical, view=view)
    taken = [(mention.cue.start, mention.cue.end) for mention in identifiers]
    quoted = {(cue.start, cue.end): cue for cue in quotes}
    found: list[Mention] = []
    coded: list[Mention] = []

    def quote_of(start: int, end: int) -> Cue | None:
        for (low, high), cue in quoted.items():
            if low <= start and end <= high:
                return cue
        return None

    spans: list[tuple[tuple[int, ...], int, int, tuple[Candidate, ...], bool]] = []
    for first, last, key in grams:
        candidates = aliases.get(key, ())
        if not candidates:
            continue
        start, end = tokens[first].start, tokens[last].end
        quote = quote_of(start, end)
        whole_quote = quote is not None and alias_key(text[quote.start : quote.end].strip("\"'«»“”‘’「」《》")) == key
        if quote is not None and not whole_quote:
            continue
        strong = (
            whole_quote
            or _strong(text, tokens[first : last + 1], candidates, vocabulary)
            or _beside_its_type(text, tokens, first, last, candidates, vocabulary)
        )
        order = (0 if whole_quote else 1, 0 if strong else 1, first - last, first)
        spans.append((order, start, end, candidates, strong))
    spans.sort(key=lambda span: span[0])
    phrases = phrase_spans(text, tokens, vocabulary)
    for rank, start, end, candidates, strong in spans:
        if text[start:end].islower() and any(low <= start and end <= high for low, high in phrases):
            continue
        if inside(taken, start, end) or (inside(dates, start, end) and not strong):
            continue
        if not strong and all(_ordinary(token, vocabulary) for token in tokens if start <= token.start < end):
            continue
        taken.append((start, end))
        code = strong and _is_code(text[start:end])
        rule = "name:code" if code else "name:quoted" if rank[0] == 0 else "name:exact" if strong else "name:weak"
        cue = Cue(kind=CueKind.MENTION, value=candidates[0].name, start=start, end=end, rule=rule, text=text[start:end])
        mention = Mention(cue=cue, candidates=candidates, strong=strong)
        if code:
            coded.append(replace(mention, cue=replace(cue, kind=CueKind.IDENTIFIER)))
        else:
            found.append(mention)
    identifiers = (*identifiers, *coded)
    strong_spans = [(m.cue.start, m.cue.end) for m in (*identifiers, *found) if m.strong]
    values = _values(text, tokens, grams, [*strong_spans, *dates], vocabulary=vocabulary, catalog=catalog, view=view)
    if not quotes:
        unresolved = (
            *unresolved,
            *_unknown_names(
                text,
                tokens,
                [*taken, *dates, *((cue.start, cue.end) for cue, _ in values)],
                vocabulary=vocabulary,
                lexical=lexical,
                catalog=catalog,
                view=view,
            ),
        )
        if sum(is_han(token.key[0]) for token in tokens) > len(tokens) / 2:
            unresolved = (
                *unresolved,
                *_unknown_han(
                    text,
                    tokens,
                    [
                        *taken,
                        *dates,
                        *((cue.start, cue.end) for cue, _ in values),
                        *((cue.start, cue.end) for cue in unresolved),
                    ],
                    vocabulary=vocabulary,
                    lexical=lexical,
                    catalog=catalog,
                    view=view,
                ),
            )
    found.sort(key=lambda mention: mention.cue.start)
    return Found(identifiers, tuple(found), values, unresolved)


def _widened(
    cue: Cue,
    text: str,
    tokens: Sequence[Token],
    named: Sequence[tuple[int, int, str]],
) -> Cue:
    """An identifier inside a longer name is that name: "MKT 10.1.3" in "MKT 10.1.3B.(1).Guidance"."""
    best = (cue.start, cue.end)
    for first, last, _ in named:
        start, end = tokens[first].start, tokens[last].end
        if start <= cue.start and cue.end <= end and end - start > best[1] - best[0]:
            best = (start, end)
    if best == (cue.start, cue.end):
        return cue
    raw = text[best[0] : best[1]].removesuffix("'s").removesuffix("’s")
    return replace(
        cue,
        start=best[0],
        end=best[1],
        text=raw,
        value=raw,
        rule=f"{cue.rule}+name",
    )


def _grams(tokens: Sequence[Token]) -> list[tuple[int, int, str]]:
    grams: list[tuple[int, int, str]] = []
    for first in range(len(tokens)):
        limit = (
            MAX_NAME_CHARACTERS_ZH
            if len(tokens[first].key) == 1 and ord(tokens[first].key) > 0x2E7F
            else MAX_NAME_WORDS
        )
        key = ""
        for last in range(first, min(first + limit, len(tokens))):
            key = f"{key} {tokens[last].key}" if key else tokens[last].key
            grams.append((first, last, key))
            bare = key.removesuffix("'s").removesuffix("'")
            if bare and bare != key:
                # "Nadia Tanaka's manager": the name may stand without its ending.
                grams.append((first, last, bare))
    return grams


def _declined(tokens: Sequence[Token]) -> list[tuple[int, int, str]]:
    """Russian names in another case than the one they are known in: "Анной Ковалёвой" for Анна Ковалёва."""
    grams: list[tuple[int, int, str]] = []
    for first, token in enumerate(tokens):
        if token.text.isascii() or not token.text[:1].isupper() or token.function:
            continue
        for last in range(first, min(first + MAX_WORDS, len(tokens))):
            names = nominatives(tuple(one.key for one in tokens[first : last + 1]))
            grams.extend((first, last, name) for name in names)
    return grams


def _beside_its_type(
    text: str,
    tokens: Sequence[Token],
    first: int,
    last: int,
    candidates: Sequence[Candidate],
    vocabulary: Vocabulary,
) -> bool:
    """ "the reporting service", "package requests": a plain word next to the noun of its own type is a name."""
    types = {t for candidate in candidates for t in candidate.types}
    if all(token.function or token.key in GENERIC_WORDS for token in tokens[first : last + 1]):
        return False
    after, before = last + 1, first - 1
    places = []
    if after < len(tokens) and not text[tokens[last].end : tokens[after].start].strip():
        places.append(after)
    if before >= 0 and not text[tokens[before].end : tokens[first].start].strip():
        places.append(before)
    return any(types & set(vocabulary.types_of(tokens[place].key)) for place in places)


def _is_code(raw: str) -> bool:
    """A name that looks like an identifier: a digit in it, and no ordinary word ("PIN 9.4.5", "R17")."""
    return any(char.isdigit() for char in raw) and all(
        any(char.isdigit() for char in word) or word.isupper() for word in raw.split()
    )


def _ordinary(token: Token, vocabulary: Vocabulary) -> bool:
    return token.function or token.key in GENERIC_WORDS or vocabulary.known(token.key)


def _strong(text: str, run: Sequence[Token], candidates: Sequence[Candidate], vocabulary: Vocabulary) -> bool:
    raw = text[run[0].start : run[-1].end]
    ordinary = all(token.function or vocabulary.known(token.key) for token in run)
    if raw.isdigit():
        return False
    if run[0].start > 0 and text[run[0].start - 1] == "@":
        return True
    if any("㐀" <= char <= "鿿" or "぀" <= char <= "ヿ" for char in raw):
        return len(run) > 1
    if any(char.isdigit() for char in raw) and any(char.isalpha() for char in raw):
        return True
    initial = run[0].index == 0
    capitals = sum(token.text[:1].isupper() for token in run)
    inner_capitals = capitals - (1 if initial and run[0].text[:1].isupper() else 0)
    named_in_lower_case = any(candidate.name == raw for candidate in candidates)
    if len(run) > 1:
        if (
            ordinary
            and any(mark in raw.strip("-_:") for mark in "-_:")
            and any(c.via in ("id", "local") for c in candidates)
        ):
            return True
        if ordinary:
            return inner_capitals > 0 and not _all_types(run, vocabulary)
        return True
    token = run[0]
    if ordinary:
        return inner_capitals > 0 and token.function
    if inner_capitals or (initial and capitals and not token.function):
        return True
    return "-" in raw or "_" in raw or (named_in_lower_case and any(c.via == "id" for c in candidates))


def _all_types(run: Sequence[Token], vocabulary: Vocabulary) -> bool:
    return all(not token.function and vocabulary.known(token.key) and token.text.islower() for token in run)


def _identifiers(
    cues: Sequence[Cue], aliases: Mapping[str, tuple[Candidate, ...]], *, lexical: LexicalStore, view: View
) -> tuple[tuple[Mention, ...], tuple[Cue, ...]]:
    found: list[Mention] = []
    unresolved: list[Cue] = []
    for cue in cues:
        candidates = aliases.get(alias_key(cue.text), ())
        if candidates:
            found.append(Mention(cue=cue, candidates=candidates))
            continue
        if cue.rule == "shape" and _occurs(cue.text, lexical=lexical, view=view):
            continue
        unresolved.append(
            Cue(kind=CueKind.UNRESOLVED, value=cue.value, start=cue.start, end=cue.end, rule=cue.rule, text=cue.text)
        )
    return tuple(found), tuple(unresolved)


def _occurs(name: str, *, lexical: LexicalStore, view: View) -> bool:
    found = terms(name)
    return bool(found) and all(lexical.document_frequencies(found, view=view))


def _values(
    text: str,
    tokens: Sequence[Token],
    grams: Sequence[tuple[int, int, str]],
    taken: Sequence[tuple[int, int]],
    *,
    vocabulary: Vocabulary,
    catalog: Catalog,
    view: View,
) -> tuple[tuple[Cue, tuple[tuple[str, str], ...]], ...]:
    """Values of attributes, longest first; also in the plural, where that is no noun of a type ("engineers")."""
    usable = [
        (first, last, key)
        for first, last, key in grams
        if not all(token.function for token in tokens[first : last + 1])
        and last - first < 6
        and not inside(taken, tokens[first].start, tokens[last].end)
    ]
    plurals = {key: one for _, _, key in usable if key.isascii() and (one := singular(key)) != key}
    holders = catalog.attribute_values(sorted({*plurals.values(), *(key for _, _, key in usable)}), view=view)
    found: list[tuple[Cue, tuple[tuple[str, str], ...]]] = []
    used: list[tuple[int, int]] = []
    for first, last, key in sorted(usable, key=lambda gram: (gram[0] - gram[1], gram[0])):
        pairs, rule = holders.get(key), "value:exact"
        start, end = tokens[first].start, tokens[last].end
        if (
            not pairs
            and key in plurals
            and not vocabulary.types_of_phrase([token.key for token in tokens[first : last + 1]])
        ):
            key, rule = plurals[key], "value:plural"
            pairs = holders.get(key)
        if not pairs or inside(used, start, end):
            continue
        used.append((start, end))
        cue = Cue(kind=CueKind.VALUE, value=key, start=start, end=end, rule=rule, text=text[start:end])
        found.append((cue, pairs))
    return tuple(sorted(found, key=lambda item: item[0].start))


def _unknown_names(
    text: str,
    tokens: Sequence[Token],
    taken: Sequence[tuple[int, int]],
    *,
    vocabulary: Vocabulary,
    lexical: LexicalStore,
    catalog: Catalog,
    view: View,
) -> tuple[Cue, ...]:
    """Names that nothing readable bears: capitalised runs, or Han runs in other text, of which no readable passage knows all words together.

    "the Obsidian Rewards Card", "Wanda Kirkpatrick", "the Astronomy department". Long, chatty questions are left alone: there a strange name
    is seldom what is asked for.
    """
    if len(tokens) > 30 or not any(vocabulary.known(token.key) for token in tokens) or _title_case(tokens):
        return ()
    found: list[Cue] = []
    for run in _name_runs(text, tokens, taken, vocabulary):
        start, end = run[0].start, run[-1].end
        raw = text[start:end].removesuffix("'s").removesuffix("’s")
        if _written(raw, lexical=lexical, catalog=catalog, view=view):
            continue
        found.append(Cue(kind=CueKind.UNRESOLVED, value=raw, start=start, end=end, rule="name:unknown", text=raw))
    return tuple(found)


def _unknown_han(
    text: str,
    tokens: Sequence[Token],
    taken: Sequence[tuple[int, int]],
    *,
    vocabulary: Vocabulary,
    lexical: LexicalStore,
    catalog: Catalog,
    view: View,
) -> tuple[Cue, ...]:
    """The Han word of a Chinese question that nothing readable holds, where all others are explained.

    Chinese writes no capitals, so a name is told from other words by what remains: "吴刚批准了哪些合同".
    """
    asking = read_question(text)
    if asking is None or asking.text_only:
        return ()
    spoken = [(cue.start, cue.end) for cue in (asking.cue, *find_aggregations(text), *find_modifiers(text))]
    known = phrase_spans(text, tokens, vocabulary, single=True)
    if not known:
        return ()
    runs: list[list[Token]] = []
    for token in tokens:
        free = (
            is_han(token.key[0])
            and not token.function
            and token.key not in GENERIC_WORDS
            and not inside((*taken, *spoken, *known), token.start, token.end)
        )
        if free and runs and runs[-1][-1].index + 1 == token.index:
            runs[-1].append(token)
        elif free:
            runs.append([token])
    if len(runs) != 1 or not 2 <= len(runs[0]) <= MAX_UNKNOWN_HAN:
        return ()
    start, end = runs[0][0].start, runs[0][-1].end
    raw = text[start:end]
    if _written(raw, lexical=lexical, catalog=catalog, view=view):
        return ()
    return (Cue(kind=CueKind.UNRESOLVED, value=raw, start=start, end=end, rule="name:unknown", text=raw),)


def _name_runs(
    text: str, tokens: Sequence[Token], taken: Sequence[tuple[int, int]], vocabulary: Vocabulary
) -> list[list[Token]]:
    runs: list[list[Token]] = []
    latin = sum(token.text.isascii() for token in tokens) > len(tokens) / 2
    index = 0
    while index < len(tokens):
        run: list[Token] = []
        while (
            index < len(tokens)
            and _namelike(tokens[index], latin)
            and not inside(taken, tokens[index].start, tokens[index].end)
        ):
            if run and text[run[-1].end : tokens[index].start].strip() not in ("", "-", "'"):
                break
            run.append(tokens[index])
            index += 1
        if not run:
            index += 1
            continue
        initial = run[0].index == 0 or text[: run[0].start].rstrip()[-1:] in {
            ".",
            "?",
            "!",
            ":",
            ";",
            "…",
            "。",
            "？",
            "！",
            "：",
        }
        if initial and (run[0].function or run[0].key in GENERIC_WORDS or vocabulary.known(run[0].key)):
            run = run[1:]
        elif initial and len(run) == 1:
            run = []
        while run and run[-1].text.isascii() and vocabulary.known(run[-1].key):
            run.pop()
        if all(token.function or token.key in GENERIC_WORDS for token in run):
            continue
        han = bool(run) and not run[0].text.isascii()
        acronym = len(run) == 1 and (run[0].text.removesuffix("s").isupper() or len(run[0].key) < 3)
        if run and not acronym and ((han and len(run) > 1) or not han):
            runs.append(run)
    return runs


def _title_case(tokens: Sequence[Token]) -> bool:
    """Most content words are capitalised: a heading, where a capital says nothing."""
    content = [
        token
        for token in tokens[1:]
        if token.content and token.text != "I" and token.text[:1].isalpha() and token.text.isascii()
    ]
    return len(content) > 4 and sum(token.text[:1].isupper() for token in content) > 0.7 * len(content)


def _namelike(token: Token, latin: bool) -> bool:
    if not token.text.isascii():
        return token.text[:1].isupper() or (latin and "\u3400" <= token.text[:1] <= "\u9fff")
    return token.text[:1].isupper() and not _PRONOUN.fullmatch(token.text)


def _written(name: str, *, lexical: LexicalStore, catalog: Catalog, view: View) -> bool:
    """True if a readable passage holds the name's words side by side, in any inflection or spelling.

    A name of four words or more is also written if it falls into parts of two words or more that are: "Venture Capital Fund Manager".
    """
    wanted = _stemmed(name)
    if not wanted:
        return True
    found = lexical.search(name, view=view, k=20)
    passages = catalog.passages([scored.passage_id for scored in found], view=view)
    key = f" {alias_key(name)} "
    texts = [f"{passage.title} {passage.text}" for passage in passages.values()]
    if any(key in f" {alias_key(text)} " for text in texts):
        return True
    stems = [f" {' '.join(_stemmed(text))} " for text in texts]

    def beside(first: int, last: int) -> bool:
        part = f" {' '.join(wanted[first:last])} "
        return any(part in text for text in stems)

    size = len(wanted)
    if size < _COMPOSED_WORDS:
        return beside(0, size)
    # falls[n]: the first n words fall into written parts.
    falls = [True] + [False] * size
    for last in range(2, size + 1):
        falls[last] = any(falls[first] and beside(first, last) for first in range(last - 1))
    return falls[size]


def _stemmed(text: str) -> list[str]:
    return [word_stems(key)[-1] for key in alias_key(text.replace("'s", "").replace("\u2019s", "")).split()]
