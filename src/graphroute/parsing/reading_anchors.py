"""Anchors: the groups of names from which the paths of a reading may begin, and the words that mean the same there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise, product

from graphroute.parsing.reading_question import ADVICE, AND, LINKING, PERSONAL, Anchor, Question, noun_side, plain_gap
from graphroute.parsing.relations import BE_FORMS, GENERIC_WORDS, WordCue
from graphroute.parsing.tokens import Token
from graphroute.types.ontology import Ontology
from graphroute.types.query import Mention, Operation, Role

_JOINING = AND | {"or", "with", "both", "или", "或"}


class Anchors:
    """Chooses the things named in a question from which its paths may begin. Holds no state between questions."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        self._agents = frozenset(name for name, kind in ontology.types.items() if kind.agent)

    def mark(self, question: Question) -> None:
        """Marks words that only qualify a mention ("the film X"): they need no place of their own in a reading."""
        for index, mention in enumerate(question.mentions):
            before = [t for t in question.tokens if t.end <= mention.cue.start]
            while before and before[-1].key in LINKING:
                before.pop()
            after = [t for t in question.tokens if t.start >= mention.cue.end]
            copula = bool(after) and after[0].key in BE_FORMS
            joined = bool(after) and not question.text[mention.cue.end : after[0].start].strip()
            behind = after[0].index if joined else None
            while after and after[0].key in LINKING:
                after.pop(0)
            mention_types = {t for c in mention.candidates for t in c.types}
            for word in question.words:
                if copula and after and word.first == after[0].index and set(word.entry.types) & mention_types:
                    word.apposition_of = index
                # "the Identity team": the type stands right behind the name.
                if behind == word.first and mention.strong and set(word.entry.types) & mention_types:
                    word.apposition_of = index
                if before and word.last == before[-1].index and plain_gap(question, word.end, mention.cue.start):
                    if word.is_type and set(word.entry.types) & mention_types:
                        word.apposition_of = index
                    elif word.is_relation and all(
                        role in (Role.OBJECT_NOUN, Role.SUBJECT_NOUN) for _, role in word.entry.relations
                    ):
                        word.apposition_of = index
                        word.optional = mention.strong
        for word in question.words:
            if word.apposition_of is not None:
                types = {t for c in question.mentions[word.apposition_of].candidates for t in c.types}
                word.shadowed = bool(types & set(word.entry.types))
            content = [t.key for t in question.tokens[word.first : word.last + 1] if t.content]
            if word.is_relation and content and all(key in GENERIC_WORDS for key in content):
                word.optional = True
        self._free_values(question)
        self._shadow(question)
        if question.modifiers & {"same", "share", "shared", "common", "co", "together", "each other"}:
            self._double(question)

    @staticmethod
    def _free_values(question: Question) -> None:
        """ "an open critical issue": a value right before the noun of its type is no verb, whatever else the word may mean.

        Nor is one a noun of a relation that a verb beside it names ("which sales representatives sold X").
        """
        for cue, pairs in question.values:
            for word in question.words:
                if (word.start, word.end) == (cue.start, cue.end) and word.is_relation and not word.is_type:
                    predicates = {predicate for predicate, _ in word.entry.relations}
                    word.shadowed |= any(
                        predicate in predicates and role in (Role.FORWARD, Role.INVERSE)
                        for other in question.words
                        if other is not word
                        for predicate, role in other.entry.relations
                    )
            types = {type_name for type_name, _ in pairs}
            for noun in question.words:
                gap = [t for t in question.tokens if cue.end <= t.start and t.end <= noun.start]
                valued = all(any(c.start <= t.start < c.end for c, _ in question.values) for t in gap)
                if noun.is_type and noun.start >= cue.end and types & set(noun.entry.types) and valued:
                    for word in question.words:
                        if word is not noun and cue.start <= word.start < cue.end:
                            word.shadowed = True

    def _shadow(self, question: Question) -> None:
        """A second word for one hop names no second hop: "refers to under see-also", "describe X in a few words".

        Only where the relation's object is no agent and no type word stands between the two ("the director of X also directed"
        walks twice).
        """
        if question.modifiers & {"same", "share", "common", "co"}:
            return
        relations = [word for word in question.words if word.is_relation and word.apposition_of is None]
        for first, second in pairwise(relations):
            shared = {p for p, _ in first.entry.relations} & {p for p, _ in second.entry.relations}
            between = any(first.end <= w.start < second.start and w.is_type for w in question.words)
            if second.last > second.first and not between and self._same_ends(first, second):
                # "approved the beta readiness review of X": the longer phrase names the hop, the verb only carries it.
                first.shadowed = True
                continue
            nouns = all(noun_side(role) is not None for _, role in first.entry.relations)
            if first.shadowed or first.is_type or second.is_type or nouns or between or not shared:
                continue
            if all(not set(self._ontology.relations[name].range) & self._agents for name in shared):
                second.shadowed = True

    def _same_ends(self, verb: WordCue, noun: WordCue) -> bool:
        """A verb and another relation's noun that link the same types."""
        verbal = all(noun_side(role) is None for _, role in verb.entry.relations)
        nominal = all(noun_side(role) is not None for _, role in noun.entry.relations)
        ends = [
            {(self._ontology.relations[p].domain, self._ontology.relations[p].range) for p, _ in word.entry.relations}
            for word in (verb, noun)
        ]
        names = [{p for p, _ in word.entry.relations} for word in (verb, noun)]
        return verbal and nominal and not names[0] & names[1] and bool(ends[0] & ends[1])

    def _double(self, question: Question) -> None:
        strong = [m for m in question.mentions if m.strong]
        if len(strong) > 1:
            return
        relations = [w for w in question.words if w.is_relation and w.apposition_of is None]
        markers = [
            token
            for token in question.tokens
            if token.key in {"same", "share", "shares", "shared", "sharing", "common", "co", "together", "other"}
        ]
        counted: dict[str, int] = {}
        for word in relations:
            for predicate, _ in word.entry.relations:
                counted[predicate] = counted.get(predicate, 0) + 1
        for marker in markers[:1]:
            near = sorted(relations, key=lambda w: (abs(w.first - marker.index), w.first))
            for word in near:
                if all(counted[p] == 1 for p, _ in word.entry.relations):
                    word.double = True
                    return

    def choices(self, question: Question) -> list[tuple[Anchor, ...]]:
        """Sets of anchors to try: all strong mentions grouped by coordination; without strong ones each weak one; none."""
        usable = [m for m in question.mentions if not any(low <= m.cue.start < high for low, high in question.excluded)]
        strong = [m for m in usable if m.strong]
        weak = [m for m in usable if not m.strong]
        choices: list[tuple[Anchor, ...]] = []
        if strong:
            groups = self._group(question, strong)
            choices.extend(self._typed(question, groups))
            for extra in weak:
                choices.extend(self._typed(question, [*groups, [extra]]))
            if len(groups) > 1:
                for group in groups:
                    choices.extend(self._typed(question, [group]))
        else:
            groups = self._group(question, weak)
            for group in groups:
                choices.extend(self._typed(question, [group]))
            if len(groups) < len(weak):
                for mention in weak:
                    choices.extend(self._typed(question, [[mention]]))
            if 2 <= len(groups) <= 4:
                for one, other in combinations(groups, 2):
                    choices.extend(self._typed(question, [one, other]))
            if self._may_be_unanchored(question):
                choices.append(())
        return choices[:40]

    @staticmethod
    def _may_be_unanchored(question: Question) -> bool:
        """A question about all there is: it names nobody, asks no advice, and counts, compares or narrows by a value."""
        keys = [token.key for token in question.tokens]
        personal = PERSONAL & set(keys)
        advice = ADVICE & set(keys[:3])
        operation = question.asked.operation
        counting = operation in (Operation.COUNT, Operation.MOST, Operation.LEAST)
        if operation is Operation.COUNT and {"have", "has"} & set(keys):
            # "How many customers do we have?"
            personal = personal - {"we", "our"}
        narrowed = bool(question.values) or bool(question.dates)
        return not question.unresolved and not personal and not advice and (counting or narrowed)

    def _group(self, question: Question, mentions: Sequence[Mention]) -> list[list[Mention]]:
        groups: list[list[Mention]] = []
        for mention in mentions:
            if groups:
                last = groups[-1][-1]
                between = [t for t in question.tokens if last.cue.end <= t.start and t.end <= mention.cue.start]
                said = {t.key for t in question.tokens if t.end <= last.cue.start}
                linking = all(
                    t.function
                    or t.key in said
                    or t.key in GENERIC_WORDS
                    or t.owner in {"modifier", "aggregation", "negation"}
                    or self._names_type_of(question, t, mention)
                    for t in between
                )
                joined = (
                    any(t.key in _JOINING for t in between)
                    or "as well as" in question.text[last.cue.end : mention.cue.start].casefold()
                    or "," in question.text[last.cue.end : mention.cue.start]
                    or "&" in question.text[last.cue.end : mention.cue.start]
                )
                types_last = {t for c in last.candidates for t in c.types}
                types_this = {t for c in mention.candidates for t in c.types}
                if linking and joined and types_last & types_this:
                    groups[-1].append(mention)
                    continue
            groups.append([mention])
        return groups

    def _names_type_of(self, question: Question, token: Token, mention: Mention) -> bool:
        types = {t for c in mention.candidates for t in c.types}
        return any(word.first <= token.index <= word.last and set(word.entry.types) & types for word in question.words)

    def _typed(self, question: Question, groups: Sequence[Sequence[Mention]]) -> list[tuple[Anchor, ...]]:
        options: list[list[Anchor]] = []
        for group in groups:
            shared: set[str] | None = None
            for mention in group:
                types = {t for c in mention.candidates for t in c.types}
                shared = types if shared is None else shared & types
            qualifying: set[str] = set()
            for word in question.words:
                if word.apposition_of is not None and question.mentions[word.apposition_of] in group and word.is_type:
                    qualifying |= set(word.entry.types)
            types_now = sorted((shared or set()) & qualifying or (shared or set()))
            options.append(
                [
                    Anchor(
                        mentions=tuple(group),
                        types=(one,),
                        start=group[0].cue.start,
                        end=group[-1].cue.end,
                        strong=all(m.strong for m in group),
                    )
                    for one in types_now[:4]
                ]
            )
        if any(not option for option in options):
            return []
        return list(product(*options))[:12]
