"""Parser: runs the extractors in order and assembles the ParsedQuery."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from graphroute.parsing.aggregation import find_aggregations
from graphroute.parsing.asked import find_asked
from graphroute.parsing.cleaning import clean
from graphroute.parsing.dates import find_dates
from graphroute.parsing.descriptions import find_described
from graphroute.parsing.events import find_event
from graphroute.parsing.families import family_of
from graphroute.parsing.identifiers import find_identifiers
from graphroute.parsing.leftovers import Leftovers
from graphroute.parsing.mentions import find_mentions
from graphroute.parsing.questions import read_question
from graphroute.parsing.rankings import claim_counting, find_places, ranked, ranked_by, ranking_cues
from graphroute.parsing.reading import ReadingSearch
from graphroute.parsing.reading_question import Question
from graphroute.parsing.relations import BE_FORMS, GENERIC_WORDS, WordCue, find_words, relation_cue
from graphroute.parsing.scope import find_modifiers, find_negations, find_quotes
from graphroute.parsing.tokens import Token, claim, inside, tokenize
from graphroute.parsing.unknown_verbs import find_unknown_verb
from graphroute.parsing.vocabulary import FUNCTION_WORDS, Vocabulary
from graphroute.stores.catalog.base import Catalog
from graphroute.stores.lexical.base import LexicalStore
from graphroute.text import detect_language
from graphroute.types.ontology import Ontology
from graphroute.types.query import Cue, CueKind, DateConstraint, DateMode, Mention, ParsedQuery, Reading
from graphroute.types.time import Instant
from graphroute.types.view import View

PROCEDURE_COST = 0.6
"""A "how ..." question is about facts only if a reading explains it this well ("how popular was X")."""

_AGENT_BY = re.compile(r"\bby(?=\s+(?:last|this|next|yesterday|today|tomorrow)\b[\w\s]{0,16}['’]s\b)", re.IGNORECASE)
"""The "by" of "touched by last Friday's change" names what did it and is no deadline."""


class Parser:
    """Takes questions apart. Built once per ontology; safe to share between threads."""

    def __init__(
        self,
        ontology: Ontology,
        catalog: Catalog,
        lexical: LexicalStore,
        *,
        date_order: str = "MDY",
        undated: frozenset[str] | None = None,
    ) -> None:
        """`undated`: for a graph without text, the relations whose facts have no dates."""
        self._ontology = ontology
        self._catalog = catalog
        self._lexical = lexical
        self._date_order = date_order
        self._vocabulary = Vocabulary(ontology)
        self._search = ReadingSearch(ontology, undated=undated)
        self._leftovers = Leftovers(ontology, no_text=undated is not None)
        patterns = [pattern for name in sorted(ontology.types) for pattern in ontology.types[name].patterns]
        self._patterns = tuple(dict.fromkeys((*ontology.identifier_patterns, *patterns)))

    def parse(self, question: str, *, view: View, instant: Instant) -> ParsedQuery:
        """Everything found in the question, for one reader. `instant`: the moment it is asked.

        Raises UsageError for an empty or over-long question.
        """
        text, notes = clean(question)
        language = detect_language(text)
        quotes = find_quotes(text)
        identifier_cues = [cue for cue in find_identifiers(text, self._patterns) if not _preposition_and_year(cue.text)]
        masked = [(cue.start, cue.end) for cue in identifier_cues]
        masked.extend(found.span() for found in _AGENT_BY.finditer(text))
        tokens = tokenize(text)
        dates, date_notes = find_dates(text, instant=instant, order=self._date_order, masked=masked, language=language)
        found = find_mentions(
            text,
            tokens,
            identifier_cues=identifier_cues,
            quotes=quotes,
            dates=[(date.cue.start, date.cue.end) for date in dates],
            vocabulary=self._vocabulary,
            catalog=self._catalog,
            lexical=self._lexical,
            view=view,
        )
        mentions = sorted((*found.identifiers, *found.mentions), key=lambda m: m.cue.start)
        places = find_places(text)
        if places is not None:
            mentions = [mention for mention in mentions if not places.covers(mention.cue)]
        strong_spans = [(m.cue.start, m.cue.end) for m in mentions if m.strong]
        if any(date.mode in (DateMode.STARTED, DateMode.ENDED) for date in dates) and strong_spans:
            # A word of a name ("QUICK-Stop") is no verb that ends anything.
            named = [*masked, *((m.cue.start, m.cue.end) for m in found.mentions if m.strong)]
            dates, _ = find_dates(text, instant=instant, order=self._date_order, masked=named, language=language)
        dates = tuple(d for d in dates if not inside(strong_spans, d.cue.start, d.cue.end))
        aggregations = find_aggregations(text, masked=[*strong_spans, *(_date_itself(date.cue) for date in dates)])
        if places is not None:
            aggregations = ranking_cues(text, aggregations, places)
        types = {name for mention in mentions if mention.strong for one in mention.candidates for name in one.types}
        totals = [cue for cue in aggregations if cue.text.casefold().removeprefix("the ") == "total"]
        if totals and types & set(self._vocabulary.holders_of("total")):
            # "the total of ORD-7" is what the record of the order calls so.
            aggregations = tuple(cue for cue in aggregations if cue not in totals)
        modifiers = find_modifiers(text, masked=[*strong_spans, *((cue.start, cue.end) for cue in aggregations)])
        negations = find_negations(text, masked=strong_spans)
        asking = read_question(text, masked=strong_spans)
        self._own(tokens, mentions, dates, quotes, found.unresolved)
        for cue in aggregations:
            for token in claim(tokens, cue.start, cue.end, "aggregation"):
                if token.key not in GENERIC_WORDS and self._vocabulary.known(token.key):
                    token.owner = ""
        others = [(m.cue.start, m.cue.end) for m in mentions if not m.strong]
        others.extend((cue.start, cue.end) for cue, _ in found.values)
        words = find_words(text, tokens, self._vocabulary, others)
        unresolved = found.unresolved
        if not unresolved and not quotes:
            unknown = find_unknown_verb(
                text,
                tokens,
                words,
                mentions,
                asking.cue if asking is not None else None,
                catalog=self._catalog,
                lexical=self._lexical,
                view=view,
            )
            unresolved = (unknown,) if unknown is not None else ()
        readings: tuple[Reading, ...] = ()
        scope = tuple(cue for cue in aggregations if cue.kind is CueKind.SCOPE)
        counting = [cue for cue in aggregations if cue.kind is CueKind.AGGREGATION]
        text_only = asking is not None and asking.text_only
        procedure = text_only and asking is not None and asking.cue.value != "definition" and not _asks_why(asking.cue)
        if (not text_only or procedure) and not _negated(words, negations):
            described = find_described(
                text,
                tokens,
                words,
                dates,
                mentions,
                [(cue.start, cue.end) for cue, _ in found.values],
                catalog=self._catalog,
                lexical=self._lexical,
                view=view,
            )
            if described is not None:
                mentions = sorted((*mentions, described.mention), key=lambda m: m.cue.start)
                words = [
                    word
                    for word in words
                    if not (described.mention.cue.start <= word.start < described.mention.cue.end)
                ]
                dates = tuple(d for d in dates if d not in described.dates)
                claim(tokens, described.mention.cue.start, described.mention.cue.end, "mention")
            event = find_event(text, tokens, words, mentions, self._ontology)
            excluded = ((event.cue.start, event.cue.end),) if event is not None else ()
            if event is not None:
                claim(tokens, event.cue.start, event.cue.end, "clause")
            asked = find_asked(
                tokens,
                words,
                counting,
                [(cue.start, cue.end) for cue, _ in found.values],
                asking.cue if asking is not None else None,
            )
            if places is not None:
                asked = ranked_by(asked, words, places.end)
                claim_counting(text, tokens)
            readings = self._search.search(
                Question(
                    text=text,
                    tokens=tokens,
                    mentions=mentions,
                    words=words,
                    values=found.values,
                    dates=dates,
                    asked=asked,
                    instant=instant,
                    modifiers=frozenset(cue.value for cue in modifiers),
                    event=event,
                    excluded=excluded,
                    unresolved=bool(unresolved),
                    membership=any(
                        one.key in BE_FORMS and other.key in {"in", "on", "at", "within"}
                        for one, other in pairwise(tokens)
                    ),
                )
            )
            if places is not None:
                readings = ranked(readings, asked, places)
            if procedure:
                readings = tuple(reading for reading in readings if reading.cost <= PROCEDURE_COST)
            if readings and not unresolved:
                unresolved = self._leftovers.find(tokens, dates, readings[0])
        moved = next((d for d in dates if d.mode is DateMode.AT and d.interval.start not in (None, instant)), None)
        now = moved.interval.low if moved is not None and not moved.interval.contains(instant) else instant
        query = ParsedQuery(
            text=text,
            language=language,
            instant=now,
            moved=now != instant,
            identifiers=tuple(m for m in mentions if m.cue.kind is CueKind.IDENTIFIER),
            mentions=tuple(m for m in mentions if m.cue.kind is not CueKind.IDENTIFIER),
            relations=tuple(relation_cue(word) for word in words if word.is_relation),
            types=tuple(_word_cue(word, CueKind.TYPE, ",".join(word.entry.types)) for word in words if word.is_type),
            attributes=tuple(
                _word_cue(word, CueKind.ATTRIBUTE, ",".join(sorted({key for _, key in word.entry.attributes})))
                for word in words
                if word.entry.attributes
            ),
            values=tuple(cue for cue, _ in found.values),
            dates=dates,
            aggregations=tuple(counting),
            modifiers=tuple(modifiers),
            negations=tuple(negations),
            quotes=tuple(quotes),
            scope=scope,
            question=asking.cue if asking is not None else None,
            unresolved=unresolved,
            readings=readings,
            notes=(*notes, *date_notes),
        )
        return replace(query, family=family_of(query))

    @staticmethod
    def _own(
        tokens: Sequence[Token],
        mentions: Sequence[Mention],
        dates: Sequence[DateConstraint],
        quotes: Sequence[Cue],
        unresolved: Sequence[Cue],
    ) -> None:
        for mention in mentions:
            if mention.strong:
                claim(tokens, mention.cue.start, mention.cue.end, "mention")
        for date in dates:
            claim(tokens, date.cue.start, date.cue.end, "date")
        for cue in quotes:
            claim(tokens, cue.start, cue.end, "quote")
        for cue in unresolved:
            claim(tokens, cue.start, cue.end, "unresolved")


def _word_cue(word: WordCue, kind: CueKind, value: str) -> Cue:
    return Cue(
        kind=kind, value=value, start=word.start, end=word.end, rule=f"{kind.value}:{word.entry.phrase}", text=word.text
    )


def _date_itself(cue: Cue) -> tuple[int, int]:
    """The span of a date without an "of" before it, which may belong to "number of"."""
    before = len(cue.text) - len(cue.text.casefold().removeprefix("of "))
    return cue.start + before, cue.end


def _preposition_and_year(text: str) -> bool:
    """ "in 2023" is a date, whatever pattern of ids it fits."""
    head, _, tail = text.partition(" ")
    return head in FUNCTION_WORDS and len(tail) == 4 and tail.isdigit()


def _asks_why(cue: Cue) -> bool:
    return cue.text.casefold().startswith(("why", "почему", "зачем", "为什么", "为何"))


def _negated(words: Sequence[WordCue], negations: Sequence[Cue]) -> bool:
    """A negated relation asks for a complement, which no path can prove; "don't count them" only takes back an operation."""
    return any(
        word.is_relation and negation.start <= word.start < negation.end
        for word in words
        for negation in negations
        if negation.value != "prohibition"
    )
