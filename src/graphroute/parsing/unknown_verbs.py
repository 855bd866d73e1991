"""The verb of a question that neither the ontology knows nor any readable passage says of the thing named."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphroute.ontology.lexicon import participle_base
from graphroute.parsing.relations import BE_FORMS, GENERIC_WORDS, WordCue
from graphroute.parsing.tokens import Token, inside
from graphroute.parsing.vocabulary import word_stems
from graphroute.stores.catalog.base import Catalog
from graphroute.stores.lexical.base import LexicalStore
from graphroute.text import alias_key, words
from graphroute.types.query import Cue, CueKind, Mention
from graphroute.types.view import View

_ASKING = frozenset({"who", "which", "when"})
_VERB_RU = re.compile(r"\w{2,}(?:л|ла|ло|ли|лся|лась|лись|[ае]ет|ит|[юуая]т|[еая]н[аоы]?)")
PASSAGES = 20
"""Passages looked through for the verb."""


def find_unknown_verb(
    text: str,
    tokens: Sequence[Token],
    found: Sequence[WordCue],
    mentions: Sequence[Mention],
    asking: Cue | None,
    *,
    catalog: Catalog,
    lexical: LexicalStore,
    view: View,
) -> Cue | None:
    """ "Who insured ORD-7", "when was ORD-7 painted": the verb beside the one thing named, if it is all that is not understood.

    None if a passage that names the thing holds the verb in any form, so that the text may answer.
    """
    strong = [mention for mention in mentions if mention.strong]
    if asking is None or asking.value not in _ASKING or len(strong) != 1:
        return None
    if any(word.is_relation and not word.is_type for word in found):
        return None
    thing = strong[0].cue
    left = [
        token
        for token in tokens
        if not token.owner
        and token.content
        and token.key not in GENERIC_WORDS
        and not inside([(asking.start, asking.end)], token.start, token.end)
    ]
    if len(left) != 1 or not _is_verb(left[0]):
        return None
    verb = left[0]
    low, high = sorted(((verb.start, verb.end), (thing.start, thing.end)))
    between = [token for token in tokens if low[1] <= token.start and token.end <= high[0]]
    if verb.start > thing.end and (between or not any(t.key in BE_FORMS for t in tokens if t.end <= thing.start)):
        return None
    if not all(token.function or token.owner == "word" for token in between):
        return None
    key = f" {alias_key(thing.text)} "
    names = {key, *(f" {alias_key(candidate.name)} " for candidate in strong[0].candidates)}
    hits = lexical.search(f"{verb.text} {thing.text}", view=view, k=PASSAGES)
    for passage in catalog.passages([hit.passage_id for hit in hits], view=view).values():
        said = f"{passage.title} {passage.text}"
        folded = f" {alias_key(said)} "
        if any(name in folded for name in names):
            stems = {stem for word in words(said) for stem in word_stems(word.key)}
            if stems & set(verb.stems):
                return None
    return Cue(
        kind=CueKind.UNRESOLVED,
        value=verb.text,
        start=verb.start,
        end=verb.end,
        rule="verb:unknown",
        text=text[verb.start : verb.end],
    )


def _is_verb(token: Token) -> bool:
    if token.key.isascii():
        return token.text.islower() and participle_base(token.key) is not None
    return token.text.islower() and _VERB_RU.fullmatch(token.key) is not None
