"""Readings: ways to read a question as a query over facts, searched over the ontology and ordered by cost.

A reading joins branches on the asked-for slot; a branch is a meta-path from an anchor through the relations that the question
names to the type it asks for. The search is a bounded depth-first walk over the ontology's (domain, relation, range)
triples. Its cost counts what the question does not explain (implied hops) and what the reading does not explain (relation
words left over, type words without an entity, content words beside a relation), plus violations of word order and voice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise, product

from graphroute.ontology.lexicon import PREPOSITIONS, is_event, lexicon, participle_base
from graphroute.ontology.naming import name_parts
from graphroute.parsing.dated import DatedStep, Placed, Placing, comparable, is_priced
from graphroute.parsing.lexing import word_set
from graphroute.parsing.relations import BE_FORMS, GENERIC_WORDS, WordCue, agent_before, relation_cue
from graphroute.parsing.tokens import Token, inside
from graphroute.types.graph import AttributeFilter, Direction
from graphroute.types.ontology import Ontology, RelationKind, RelationType
from graphroute.types.query import (
    Branch,
    Cue,
    DateConstraint,
    DateMode,
    EventAnchor,
    HopReading,
    Mention,
    Operation,
    Reading,
    Role,
)
from graphroute.types.time import ANY_TIME, MAX_INSTANT, MIN_INSTANT, Instant, Interval, TimeFilter, TimeMode

MAX_HOPS = 4
IMPLIED_HOP = 1.0
IMPLIED_HOP_TO_NAMED_TYPE = 0.4
REUSED_RELATION = 0.5
REUSED_RELATION_TO_NAMED_TYPE = 0.3
UNUSED_RELATION_WORD = 2.5
UNUSED_OPTIONAL_WORD = 0.1
UNUSED_TYPE_WORD = 0.8
UNUSED_MENTION = 1.5
UNUSED_WEAK_MENTION = 0.3
UNUSED_GOVERNED_MENTION = 0.6
"""A lower-case word that is a name and stands behind a preposition ("CVEs for requests")."""
WEAK_ANCHOR = 0.2
WEAK_ANCHOR_BESIDE_STRONG = 0.6
WRONG_VOICE = 2.0
WRONG_ORDER = 0.5
WRONG_ORDER_TO_QUESTION = 0.3
WRONG_TARGET = 3.0
NOT_AN_AGENT = 1.5
DATE_OF_FACT = 0.2
"""A "when" read as the date of a fact rather than as an entity that is a time."""
TARGET_WORD_ELSEWHERE = 1.2
UNEXPLAINED_WORD = 0.35
UNEXPLAINED_BESIDE_RELATION = 0.9
UNUSED_VALUE = 0.5
SHARED_WORD = 0.3
EACH_OF_SEVERAL = 0.3
UNKNOWN_VERB = 1.0
THERE_AND_BACK = 1.7
"""A relation walked to something and back again, which no second word and no "same", "other" or "also" asks for."""
WALKED_ONCE = 1.2
NEARER_TO_ANOTHER_ANCHOR = 0.4
MEMBERSHIP = 0.3
"""What a relation of members gains where the question says "is in"."""
WORD_IS_ANCHOR_TOO = 1.5
THE_DEED_ITSELF = 0.6
"""What "what did X order" loses by ending at the order and not at what was ordered."""
NOUN_OF_THE_ANCHOR = 0.4
"""A noun taken for the anchor itself that does not stand beside it: "products from Pavlova" where Pavlova is the product."""
GUESSED_CHAIN = 1.5
"""A chain of hops of which the question names none, in a graph without text."""
NO_DATE = 0.25
"""A date of the question that neither a fact nor an attribute on the path has. Less than an implied hop, which would go round it."""
UNDATED = "nothing on the path has a date"
"""The reason such a reading is given."""
MAX_COST = 2.6
"""Readings that leave more unexplained than this are not readings of the question."""

_LINKING = frozenset({"the", "a", "an", "named", "called", "is", "are", "was", "were"})
_GOVERNING = frozenset({"of", "for", "in", "on", "by", "from", "with", "to", "at", "against", "under"})
_PERSONAL = frozenset({"i", "my", "me", "we", "our", "you", "your"})
_ADVICE = frozenset({"can", "could", "should", "may", "must", "shall", "would"})
_SIBLINGS = frozenset({"same", "share", "shared", "common", "co", "together", "each other", "other"})
_ALSO = word_set(
    "also another other others else similar too both same shared share too также тоже другие других ещё еще тот та те 也 还 其他 另"
)
"""Words that ask for what stands beside the anchor."""
_JOINT = frozenset({"both", "common", "same", "share", "shared"})
_OBLIQUE = frozenset({"кому", "чему", "кого", "чего"})
"""Question words that are no subject, so that the name is one, wherever it stands."""
_TOWARDS = ("向", "给", "对", "跟")
"""Before a name that is no subject though it stands before the verb."""
_PREPOSITIONS = word_set("by from for with to of on in у от для к с на в 被 由 向 从 给")
_WHO = frozenset({"who", "кто", "谁"})
_LOCATIVE = frozenset({"in", "on", "at", "under", "within"})
_AND = frozenset({"and", "и", "和", "与", "及"})
_JOINING = _AND | {"or", "with", "both", "или", "或"}
_FAR = 1000
COMPARING = (Operation.FIRST, Operation.LAST, Operation.COMPARE, Operation.MOST, Operation.LEAST)
"""Operations that pick one of several named things by an attribute."""

_ORDERED_BY = {
    Operation.MOST: "number",
    Operation.LEAST: "number",
    Operation.FIRST: "date",
    Operation.LAST: "date",
}
"""The kind of attribute by which an operation orders all entities of a type."""

MAX_NAMES = 12
MAX_WORDS = 40
"""Questions that name more things or relations than this are texts, not queries; the bound keeps the search short."""

_BOUNDS = (0.8, 1.6, 2.8)
_KEEP = 14


@dataclass(frozen=True, slots=True)
class Asked:
    """What the question asks for: the question word, the operation, and the word cue that names the slot."""

    kind: str
    operation: Operation
    start: int
    end: int
    target: int | None = None
    counted: int | None = None
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class Anchor:
    """A mention, or several coordinated ones, read as entities of certain types."""

    mentions: tuple[Mention, ...]
    types: tuple[str, ...]
    start: int
    end: int
    strong: bool

    def ids(self, index: int) -> tuple[str, ...]:
        """Entity ids of one mention that have one of the types."""
        return tuple(c.entity_id for c in self.mentions[index].candidates if set(c.types) & set(self.types))


@dataclass(slots=True)
class _Step:
    predicate: str
    direction: Direction
    types: tuple[str, ...]
    cue: int | None
    reused: bool


@dataclass(slots=True)
class _Path:
    steps: tuple[_Step, ...]
    start_types: tuple[str, ...]
    used: frozenset[int]
    cost: float
    reasons: tuple[str, ...]
    types_seen: tuple[tuple[str, ...], ...]


@dataclass(slots=True)
class Question:
    """Everything the search needs to know about one question."""

    text: str
    tokens: Sequence[Token]
    mentions: Sequence[Mention]
    words: list[WordCue]
    values: Sequence[tuple[Cue, tuple[tuple[str, str], ...]]]
    dates: Sequence[DateConstraint]
    asked: Asked
    instant: Instant
    modifiers: frozenset[str] = frozenset()
    event: EventAnchor | None = None
    excluded: tuple[tuple[int, int], ...] = ()
    unresolved: bool = False
    membership: bool = False
    limit_hops: int = MAX_HOPS
    walked: dict[tuple[object, ...], list[_Path]] = field(default_factory=dict)


class ReadingSearch:
    """Finds readings. Built once per ontology; holds no state between questions."""

    def __init__(self, ontology: Ontology, *, undated: frozenset[str] | None = None) -> None:
        """`undated`: relations whose facts have no dates; None where that is not known."""
        self._ontology = ontology
        self._placing = Placing(ontology, undated)
        edges: dict[str, list[tuple[str, Direction, tuple[str, ...]]]] = {}
        for name in sorted(ontology.relations):
            relation = ontology.relations[name]
            for side in relation.domain:
                edges.setdefault(side, []).append((name, Direction.FORWARD, relation.range))
            for side in relation.range:
                if not (relation.symmetric and side in relation.domain):
                    edges.setdefault(side, []).append((name, Direction.BACKWARD, relation.domain))
        self._edges = edges
        self._agents = frozenset(name for name, kind in ontology.types.items() if kind.agent)
        self._memberships = frozenset(
            name
            for name, relation in ontology.relations.items()
            if any(
                word in phrase.casefold().split()
                for phrase in (*relation.subject_nouns, *relation.object_nouns, *relation.forward, *relation.inverse)
                for word in ("member", "belong", "part", "contain", "include", "участник", "содержать", "成员", "包含")
            )
        )
        self._temporal = frozenset(name for name, kind in ontology.types.items() if kind.temporal)
        self._places = frozenset(name for name, kind in ontology.types.items() if kind.place)

    def search(self, question: Question) -> tuple[Reading, ...]:
        """Readings of the question, best first, at most eight; empty if none explains enough of it."""
        if len(question.mentions) > MAX_NAMES or len(question.words) > MAX_WORDS:
            return ()
        self._mark(question)
        weak = [(m.cue.start, m.cue.end) for m in question.mentions if not m.strong]
        strange = [t for t, _ in self._unexplained(question, (), set()) if not inside(weak, t.start, t.end)]
        if UNEXPLAINED_WORD * len(strange) > MAX_COST:
            return ()
        keys = [token.key for token in question.tokens]
        if question.asked.operation is Operation.EXISTS and _ADVICE & set(keys[:2]) and _PERSONAL & set(keys):
            return ()
        found = self._attribute_readings(question)
        compares = question.asked.operation in COMPARING
        if found and compares and all(len(reading.branches) > 1 for reading in found):
            # "Which was created first, X or Y" asks for one of the two, which no path from them can be.
            return self._ordered(found)
        named = question.asked.target is not None or any(word.is_relation for word in question.words)
        if question.membership or named or self._valued(question):
            for anchors in self._anchor_choices(question):
                found.extend(self._with_anchors(question, anchors))
        return self._ordered(found)

    @staticmethod
    def _ordered(found: Sequence[Reading]) -> tuple[Reading, ...]:
        best: dict[tuple[object, ...], Reading] = {}
        for reading in found:
            if reading.cost > MAX_COST:
                continue
            key = (
                reading.operation,
                reading.target_types,
                reading.branches,
                reading.combine,
                reading.filters,
                reading.attribute,
            )
            if key not in best or reading.cost < best[key].cost:
                best[key] = reading
        ordered = sorted(best.values(), key=lambda r: (round(r.cost, 6), _hop_count(r), _signature(r)))
        return tuple(ordered[:8])

    # Anchors

    def _mark(self, question: Question) -> None:
        """Marks words that only qualify a mention ("the film X"): they need no place of their own in a reading."""
        for index, mention in enumerate(question.mentions):
            before = [t for t in question.tokens if t.end <= mention.cue.start]
            while before and before[-1].key in _LINKING:
                before.pop()
            after = [t for t in question.tokens if t.start >= mention.cue.end]
            copula = bool(after) and after[0].key in BE_FORMS
            joined = bool(after) and not question.text[mention.cue.end : after[0].start].strip()
            behind = after[0].index if joined else None
            while after and after[0].key in _LINKING:
                after.pop(0)
            mention_types = {t for c in mention.candidates for t in c.types}
            for word in question.words:
                if copula and after and word.first == after[0].index and set(word.entry.types) & mention_types:
                    word.apposition_of = index
                # "the Identity team": the type stands right behind the name.
                if behind == word.first and mention.strong and set(word.entry.types) & mention_types:
                    word.apposition_of = index
                if before and word.last == before[-1].index and _plain_gap(question, word.end, mention.cue.start):
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
            nouns = all(_noun_side(role) is not None for _, role in first.entry.relations)
            if first.shadowed or first.is_type or second.is_type or nouns or between or not shared:
                continue
            if all(not set(self._ontology.relations[name].range) & self._agents for name in shared):
                second.shadowed = True

    def _same_ends(self, verb: WordCue, noun: WordCue) -> bool:
        """A verb and another relation's noun that link the same types."""
        verbal = all(_noun_side(role) is None for _, role in verb.entry.relations)
        nominal = all(_noun_side(role) is not None for _, role in noun.entry.relations)
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

    def _anchor_choices(self, question: Question) -> list[tuple[Anchor, ...]]:
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
        personal = _PERSONAL & set(keys)
        advice = _ADVICE & set(keys[:3])
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

    # Branches

    def _with_anchors(self, question: Question, anchors: tuple[Anchor, ...]) -> list[Reading]:
        if not anchors:
            return self._unanchored(question)
        if len(anchors) == 1:
            anchor = anchors[0]
            readings = []
            for path in self._paths(question, anchor, alone=True):
                reading = self._assemble(question, (anchor,), (path,))
                readings.append(reading)
                if reading.combine == "all" and len(reading.branches) > 1 and not question.modifiers & _JOINT:
                    # "who owns X and Y" may mean one owner of both or the owners of each.
                    readings.append(replace(reading, combine="any", cost=reading.cost + EACH_OF_SEVERAL))
            return readings
        if question.asked.operation in (Operation.EXISTS, Operation.DATE) and len(anchors) == 2:
            return self._between(question, anchors[0], anchors[1])
        options = [self._paths(question, anchor, alone=False) for anchor in anchors]
        readings = []
        if all(options):
            kept = max(1, round(64 ** (1 / len(options))))
            combos = sorted(product(*[option[:kept] for option in options]), key=lambda c: sum(p.cost for p in c))
            for combo in combos[:40]:
                ends = [set(path.types_seen[-1]) for path in combo]
                if not set.intersection(*ends):
                    continue
                readings.append(self._assemble(question, anchors, combo))
        return readings

    def _between(self, question: Question, first: Anchor, second: Anchor) -> list[Reading]:
        readings = []
        operation = question.asked.operation
        goal = Asked(kind="yes_no", operation=operation, start=question.asked.start, end=question.asked.end)
        for path in self._paths(replace_asked(question, goal), first, alone=True):
            if set(path.types_seen[-1]) & set(second.types):
                reading = self._assemble(question, (first,), (path,))
                ends = tuple(sorted({i for n in range(len(second.mentions)) for i in second.ids(n)}))
                branches = tuple(replace(branch, ends=ends) for branch in reading.branches)
                readings.append(
                    replace(
                        reading,
                        branches=branches,
                        cost=max(0.0, reading.cost - UNUSED_MENTION),
                        operation=operation,
                    )
                )
        return readings

    def _unanchored(self, question: Question) -> list[Reading]:
        words = [w for w in question.words if w.is_relation]
        readings: list[Reading] = []
        target = question.words[question.asked.target] if question.asked.target is not None else None
        unnamed = target is None or not (target.is_type or target.is_relation)
        valued = self._valued(question) if unnamed and not words else ()
        if valued and question.asked.operation in (Operation.COUNT, Operation.LIST):
            path = _Path((), valued, frozenset(), 0.0, (), (valued,))
            return [reading for reading in [self._assemble(question, (), (path,))] if reading.filters]
        if all(word is target for word in words):
            if target is not None and target.is_type and question.asked.operation in (Operation.COUNT, Operation.LIST):
                path = _Path((), target.entry.types, frozenset(), 0.0, (), (target.entry.types,))
                reading = self._assemble(question, (), (path,))
                if question.asked.operation is Operation.COUNT or reading.filters:
                    readings.append(reading)
            return readings
        starts: dict[str, None] = {}
        for word in words:
            for predicate, _ in word.entry.relations:
                relation = self._ontology.relations[predicate]
                for one in (*relation.domain, *relation.range):
                    starts.setdefault(one)
        for word in question.words:
            for one in word.entry.types:
                starts.setdefault(one)
        counting = question.asked.operation in (Operation.COUNT, Operation.MOST, Operation.LEAST)
        for start in starts:
            for path in self._walk(question, (start,), None, alone=True):
                if not path.steps or any(step.cue is None for step in path.steps):
                    continue
                reading = self._assemble(question, (), (path,))
                narrowed = reading.filters or any(
                    b.start_filters or any(h.filters for h in b.hops) for b in reading.branches
                )
                dated = self._placing.known and bool(question.dates) and UNDATED not in reading.reasons
                if (counting or narrowed or dated) and not reading.unexplained:
                    readings.append(reading)
        return readings

    @staticmethod
    def _valued(question: Question) -> tuple[str, ...]:
        """The type asked for by a value in the plural, which stands for its noun: "how many engineers are there"."""
        for cue, pairs in question.values:
            kinds = tuple(dict.fromkeys(name for name, _ in pairs))
            if cue.rule == "value:plural" and len(kinds) == 1:
                return kinds
        return ()

    def _paths(self, question: Question, anchor: Anchor, *, alone: bool) -> list[_Path]:
        key = (anchor.types, tuple(m.cue.start for m in anchor.mentions), alone, question.asked.operation)
        if key not in question.walked:
            question.walked[key] = self._walk(question, anchor.types, anchor, alone=alone)
        return question.walked[key]

    def _walk(
        self, question: Question, start_types: tuple[str, ...], anchor: Anchor | None, *, alone: bool
    ) -> list[_Path]:
        """Complete paths from `start_types` with their cost, best first. The bound on the cost is raised until some are found."""
        found: list[_Path] = []
        for bound in _BOUNDS:
            found = self._walk_within(question, start_types, anchor, bound, alone=alone)
            if any(path.cost <= bound for path in found):
                break
        return found

    def _walk_within(
        self, question: Question, start_types: tuple[str, ...], anchor: Anchor | None, bound: float, *, alone: bool
    ) -> list[_Path]:
        """Depth-first over the ontology's triples."""
        slots: list[int] = []
        by_predicate: dict[str, list[tuple[int, Role]]] = {}
        for index, word in enumerate(question.words):
            if (
                not word.is_relation
                or word.shadowed
                or any(low <= word.start < high for low, high in question.excluded)
            ):
                continue
            slots.append(index)
            for predicate, role in word.entry.relations:
                by_predicate.setdefault(predicate, []).append((index, role))
        distance = self._distances(question, anchor)
        for options in by_predicate.values():
            options.sort(key=lambda item: (distance[item[0]], item[0]))
        type_words = [
            index
            for index, word in enumerate(question.words)
            if word.is_type
            and word.apposition_of is None
            and not any(low <= word.start < high for low, high in question.excluded)
        ]
        any_cued = bool(by_predicate)
        results: list[_Path] = []

        def finish(
            steps: tuple[_Step, ...],
            used: tuple[int, ...],
            types: tuple[tuple[str, ...], ...],
            cost: float,
            reasons: tuple[str, ...],
        ) -> None:
            total, why = self._finish(question, anchor, steps, used, types, type_words, slots, distance, alone=alone)
            if cost + total <= bound + (0.5 if alone else 3.0):
                results.append(_Path(steps, start_types, frozenset(used), cost + total, (*reasons, *why), types))

        def extend(
            types: tuple[str, ...],
            steps: tuple[_Step, ...],
            used: tuple[int, ...],
            implied: int,
            cost: float,
            seen: tuple[tuple[str, ...], ...],
            reasons: tuple[str, ...],
        ) -> None:
            if steps:
                finish(steps, used, seen, cost, reasons)
            if len(steps) >= question.limit_hops:
                return
            tried: set[tuple[str, Direction]] = set()
            for side in types:
                for predicate, direction, reached in self._edges.get(side, ()):
                    if (predicate, direction) in tried:
                        continue
                    tried.add((predicate, direction))
                    back = bool(steps) and steps[-1].predicate == predicate and steps[-1].direction is not direction
                    if back and anchor is None:
                        continue
                    options = by_predicate.get(predicate, [])
                    free = [
                        (index, role)
                        for index, role in options
                        if used.count(index) < (2 if question.words[index].double else 1)
                    ]
                    extra = 0.0
                    why: tuple[str, ...] = ()
                    cue: int | None = None
                    reused = False
                    if free:
                        cue, role = free[0]
                        penalty = self._voice(question, anchor, cue, role, predicate, direction, steps)
                        for other, other_role in free[1:]:
                            if penalty == 0:
                                break
                            other_penalty = self._voice(
                                question, anchor, other, other_role, predicate, direction, steps
                            )
                            if other_penalty < penalty:
                                cue, role, penalty = other, other_role, other_penalty
                        extra += penalty
                        if penalty:
                            why = (f"voice of {question.words[cue].text!r}",)
                    elif options or any(step.predicate == predicate for step in steps):
                        reused = True
                        named = any(set(question.words[i].entry.types) & set(reached) for i in type_words)
                        extra += REUSED_RELATION_TO_NAMED_TYPE if named else REUSED_RELATION
                        why = (f"{predicate} used again",)
                    else:
                        if implied >= (1 if any_cued else 2) + (1 if any_cued and len(slots) == 1 else 0):
                            continue
                        named = any(set(question.words[i].entry.types) & set(reached) for i in type_words)
                        extra += IMPLIED_HOP_TO_NAMED_TYPE if named else IMPLIED_HOP
                        if question.membership and predicate in self._memberships:
                            extra -= MEMBERSHIP
                        why = (f"{predicate} implied",)
                    if cost + extra > bound:
                        continue
                    extend(
                        reached,
                        (*steps, _Step(predicate, direction, reached, cue, reused)),
                        (*used, cue) if cue is not None else used,
                        implied + (1 if cue is None and not reused else 0),
                        cost + extra,
                        (*seen, reached),
                        (*reasons, *why),
                    )

        extend(start_types, (), (), 0, 0.0, (start_types,), ())
        results.sort(key=lambda p: (round(p.cost, 6), len(p.steps), tuple((s.predicate, s.direction) for s in p.steps)))
        return results[: _KEEP if alone else _KEEP * 2]

    def _finish(
        self,
        question: Question,
        anchor: Anchor | None,
        steps: tuple[_Step, ...],
        used: tuple[int, ...],
        types: tuple[tuple[str, ...], ...],
        type_words: Sequence[int],
        slots: Sequence[int],
        distance: Mapping[int, int],
        *,
        alone: bool,
    ) -> tuple[float, tuple[str, ...]]:
        cost = 0.0
        why: list[str] = []
        asked = question.asked
        target = question.words[asked.target] if asked.target is not None else None
        # Order: words nearer to the anchor name hops nearer to it.
        cued = [step.cue for step in steps if step.cue is not None]
        if anchor is not None:
            for near, far in pairwise(cued):
                if distance[near] > distance[far]:
                    cost += WRONG_ORDER
                    why.append(f"order of {question.words[near].text!r} and {question.words[far].text!r}")
                elif (
                    distance[near] == distance[far]
                    and near != far
                    and _to_question(question, near) < _to_question(question, far)
                ):
                    cost += WRONG_ORDER_TO_QUESTION
                    why.append("order against the question word")
        if anchor is not None and steps and steps[0].cue is not None:
            word = question.words[steps[0].cue]
            sides = {_noun_side(role) for predicate, role in word.entry.relations if predicate == steps[0].predicate}
            relation = self._ontology.relations[steps[0].predicate]
            mixed = bool(set(relation.domain) & set(relation.range))
            if (
                not mixed
                and sides
                and None not in sides
                and steps[0].direction not in sides
                and word.apposition_of is None
            ):
                cost += NOUN_OF_THE_ANCHOR
                why.append(f"{word.text!r} would name the anchor")
        if anchor is not None and self._there_and_back(question, steps, type_words):
            cost += THERE_AND_BACK
            why.append("there and back")
        # Target.
        end = set(types[-1])
        if target is not None and asked.target is not None:
            as_relation = steps and steps[-1].cue == asked.target
            reused_as_relation = steps and any(
                steps[-1].predicate == p and _noun_side(r) is steps[-1].direction for p, r in target.entry.relations
            )
            as_type = target.is_type and bool(end & set(target.entry.types))
            if target.is_relation and (as_relation or reused_as_relation):
                roles = [role for predicate, role in target.entry.relations if predicate == steps[-1].predicate]
                sides = {_noun_side(role) for role in roles}
                if None not in sides and steps[-1].direction not in sides and not self._symmetric(steps[-1].predicate):
                    cost += WRONG_TARGET
                    why.append(f"{target.text!r} names the other end")
            elif as_type:
                pass
            elif target.is_relation and not target.is_type:
                cost += TARGET_WORD_ELSEWHERE if asked.target in used else WRONG_TARGET
                why.append(f"{target.text!r} is not what is reached")
            else:
                cost += WRONG_TARGET
                why.append(f"{target.text!r} is not what is reached")
        elif (
            asked.kind in ("what", "list", "other")
            and asked.operation is Operation.LIST
            and self._is_deed(question, steps)
        ):
            cost += THE_DEED_ITSELF
            why.append(f"{question.words[steps[-1].cue or 0].text!r} asks for what it was done to")
        elif asked.kind == "who":
            if self._agents and not end & self._agents:
                cost += NOT_AN_AGENT
                why.append("who asks for an agent")
        elif asked.kind == "when":
            if not end & self._temporal:
                cost += DATE_OF_FACT
        elif asked.kind == "where" and self._places and not end & self._places and not self._locates(steps):
            cost += NOT_AN_AGENT
            why.append("where asks for a place")
        if asked.operation in (Operation.MOST, Operation.LEAST) and asked.counted is not None:
            counted = set(question.words[asked.counted].entry.types)
            if not counted & set(types[-2]):
                cost += WRONG_TARGET
                why.append("counts something else")
        # Type words need an entity of their own on the path.
        unmatched_nodes = [set(one) for one in types[1:]] if anchor is not None else [set(one) for one in types]
        missing = []
        for index in type_words:
            word = question.words[index]
            if index in used:
                continue
            place = next((n for n, node in enumerate(unmatched_nodes) if node & set(word.entry.types)), None)
            if place is None:
                missing.append(index)
            else:
                unmatched_nodes.pop(place)
        if alone:
            for index in missing:
                word = question.words[index]
                if index == asked.target or all(t in GENERIC_WORDS for t in word.text.casefold().split()):
                    continue
                cost += UNUSED_TYPE_WORD
                why.append(f"no entity for {word.text!r}")
            for index in slots:
                word = question.words[index]
                if index in used:
                    named = {predicate for predicate, _ in word.entry.relations}
                    if word.double and sum(step.predicate in named for step in steps) < 2:
                        cost += WALKED_ONCE
                        why.append(f"{word.text!r} is shared and walked once")
                    continue
                if word.is_type and index not in missing:
                    continue
                if any(step.predicate == p for step in steps for p, _ in word.entry.relations):
                    cost += UNUSED_OPTIONAL_WORD if index == asked.target or word.optional else SHARED_WORD
                    continue
                cost += UNUSED_OPTIONAL_WORD if word.optional else UNUSED_RELATION_WORD
                why.append(f"{word.text!r} not used")
        return cost, tuple(why)

    @staticmethod
    def _there_and_back(question: Question, steps: Sequence[_Step], type_words: Sequence[int]) -> bool:
        """A relation is walked and later walked back, though no word asks for what stands beside the anchor: "other", "the director of X"."""
        if question.modifiers & _SIBLINGS or _ALSO & {token.key for token in question.tokens}:
            return False
        target = question.asked.target
        implied = any(step.cue is None and not step.reused for step in steps)
        for there, back in combinations(steps, 2):
            if there.predicate != back.predicate or there.direction is back.direction:
                continue
            # "in how many orders was X sold": the noun of what is asked for names no second hop behind an implied one.
            if back.cue is not None and not (back.cue == target and implied):
                continue
            named = there.cue is not None and any(
                _noun_side(role) is not None and predicate == there.predicate
                for predicate, role in question.words[there.cue].entry.relations
            )
            met = any(set(question.words[i].entry.types) & set(back.types) for i in type_words if i != target)
            if not named and not met:
                return True
        return False

    def _locates(self, steps: Sequence[_Step]) -> bool:
        """The last hop leads to what the thing is in, on or at, whatever it is called: a part INSTALLED_ON a machine."""
        if not steps or steps[-1].direction is not Direction.FORWARD:
            return False
        phrases = self._ontology.relations[steps[-1].predicate].forward
        return any(phrase.casefold().split()[-1] in _LOCATIVE for phrase in phrases[:1])

    def _is_deed(self, question: Question, steps: Sequence[_Step]) -> bool:
        """The last verb leads to the things that stand for its own doing: X -PURCHASED-> Order by "ordered" or "bought"."""
        last = steps[-1]
        if last.cue is None:
            return False
        word = question.words[last.cue]
        if any(
            role in (Role.OBJECT_NOUN, Role.SUBJECT_NOUN) for p, role in word.entry.relations if p == last.predicate
        ):
            return False
        phrase = word.entry.phrase.casefold()
        deeds = {phrase, *(noun for frame in lexicon().frames_by_verb.get(phrase, ()) for noun in frame.patients)}
        kinds = [self._ontology.types[name] for name in last.types if name in self._ontology.types]
        return bool(kinds) and all(
            any(is_event(noun) for noun in kind.nouns) and deeds & {noun.casefold() for noun in kind.nouns}
            for kind in kinds
        )

    def _symmetric(self, predicate: str) -> bool:
        return self._ontology.relations[predicate].symmetric

    def _distances(self, question: Question, anchor: Anchor | None) -> dict[int, int]:
        if anchor is None:
            return dict.fromkeys(range(len(question.words)), 0)
        distances: dict[int, int] = {}
        for index, word in enumerate(question.words):
            best = 10_000
            for mention in anchor.mentions:
                low, high = sorted(((word.start, word.end), (mention.cue.start, mention.cue.end)))
                between = [
                    t
                    for t in question.tokens
                    if low[1] <= t.start
                    and t.end <= high[0]
                    and t.content
                    and t.owner != "qualifier"
                    and not self._is_apposition(question, t)
                ]
                best = min(best, len(between))
            distances[index] = best + (_FAR if index == question.asked.target or self._asks(question, word) else 0)
        return distances

    def _asks(self, question: Question, word: WordCue) -> bool:
        """The word stands beside a question word inside the sentence ("directed by who"): it names the last hop."""
        asked = question.asked
        if asked.kind in {"list", "other", "count", "yes_no"} or asked.end <= asked.start:
            return False
        if word.end <= asked.start:
            gap = [t for t in question.tokens if word.end <= t.start and t.end <= asked.start]
            return all(t.function for t in gap)
        return False

    def _is_apposition(self, question: Question, token: Token) -> bool:
        return any(
            word.apposition_of is not None and word.is_type and word.first <= token.index <= word.last
            for word in question.words
        )

    def _voice(
        self,
        question: Question,
        anchor: Anchor | None,
        cue: int,
        role: Role,
        predicate: str,
        direction: Direction,
        steps: tuple[_Step, ...],
    ) -> float:
        """Cost of walking a same-typed relation against the voice of the verb that names it."""
        relation = self._ontology.relations[predicate]
        if relation.symmetric or not set(relation.domain) & set(relation.range):
            return 0.0
        word = question.words[cue]
        if anchor is None:
            return self._voice_of_slot(question, word, role, direction) if not steps else 0.0
        near_start = anchor.start
        for step in reversed(steps):
            if step.cue is not None:
                near_start = question.words[step.cue].start
                break
        before = self._before(question, anchor, near_start, word)
        side = _noun_side(role)
        if side is not None:
            # "the parent of X": the noun is the far end. "X is the parent of": X fills the noun.
            fills = before and _copula_between(question, near_start, word) and not word.text.endswith("'s")
            expected = side if not fills else _reverse(side)
        else:
            acting = agent_before(word, role)
            if acting is None:
                return 0.0
            if role is Role.FORWARD and word.passive and self._is_state_of(question, word, predicate):
                acting = True
            near_is_subject = acting if before else not acting
            expected = Direction.FORWARD if near_is_subject else Direction.BACKWARD
        return 0.0 if direction is expected else WRONG_VOICE

    @staticmethod
    def _is_state_of(question: Question, word: WordCue, predicate: str) -> bool:
        """ "X is based on Y" by BASED_ON: a participle and its preposition say what the subject is, not what is done to it."""
        parts = name_parts(predicate)
        if len(parts) < 2 or parts[-1] == "by" or parts[-1] not in PREPOSITIONS:
            return False
        behind = next((t.key for t in question.tokens if t.start >= word.end), "")
        return participle_base(parts[-2]) == word.entry.phrase.casefold().split()[0] and behind != "by"

    @staticmethod
    def _before(question: Question, anchor: Anchor, near_start: int, word: WordCue) -> bool:
        """Whether what the hop leaves stands where the subject does: before the verb, unless a case or a particle says otherwise."""
        if near_start == anchor.start:
            if any(token.key in _OBLIQUE for token in question.tokens[:2]):
                return True
            if question.text[: anchor.start].rstrip().endswith(_TOWARDS):
                return False
        return near_start < word.start

    @staticmethod
    def _voice_of_slot(question: Question, word: WordCue, role: Role, direction: Direction) -> float:
        """The same for a question without anchor: "which thesis is cited most" asks for what is cited."""
        acting = agent_before(word, role)
        if acting is None or question.asked.target is None:
            return 0.0
        before = question.words[question.asked.target].start < word.start
        slot_is_subject = acting if before else not acting
        expected = Direction.BACKWARD if slot_is_subject else Direction.FORWARD
        return 0.0 if direction is expected else WRONG_VOICE

    # Assembly

    def _assemble(self, question: Question, anchors: tuple[Anchor, ...], paths: tuple[_Path, ...]) -> Reading:
        asked = question.asked
        cost = sum(path.cost for path in paths)
        reasons = [reason for path in paths for reason in path.reasons]
        target_types = set(paths[0].types_seen[-1])
        for path in paths[1:]:
            target_types &= set(path.types_seen[-1])
        if len(paths) > 1:
            extra, why = self._joint_cost(question, anchors, paths)
            cost += extra
            reasons.extend(why)
        used_mentions = {id(m) for anchor in anchors for m in anchor.mentions}
        for mention in question.mentions:
            if id(mention) in used_mentions or any(low <= mention.cue.start < high for low, high in question.excluded):
                continue
            if mention.strong:
                cost += UNUSED_MENTION
            else:
                governed = any(
                    t.key in _GOVERNING and not question.text[t.end : mention.cue.start].strip()
                    for t in question.tokens
                    if t.end <= mention.cue.start
                )
                cost += UNUSED_GOVERNED_MENTION if governed else UNUSED_WEAK_MENTION
            reasons.append(f"{mention.cue.text!r} not used")
        some_strong = any(one.strong for one in anchors)
        cost += sum(WEAK_ANCHOR_BESIDE_STRONG if some_strong else WEAK_ANCHOR for one in anchors if not one.strong)
        for index in sorted({index for path in paths for index in path.used}):
            word = question.words[index]
            if any(m.cue.start < word.end and word.start < m.cue.end for one in anchors for m in one.mentions):
                cost += WORD_IS_ANCHOR_TOO
                reasons.append(f"{word.text!r} is both a relation and an anchor")
        if asked.operation in COMPARING and self._alternatives(question, anchors):
            cost += WRONG_TARGET
            reasons.append("the answer is one of the things compared")
        inside_anchor = question.membership and any(s.predicate in self._memberships for p in paths for s in p.steps)
        if (
            asked.target is None
            and not inside_anchor
            and any(path.steps for path in paths)
            and all(step.cue is None for path in paths for step in path.steps)
        ):
            cost += WRONG_TARGET
            reasons.append("no word of the question names a relation or what is asked for")
        if asked.unknown:
            cost += WRONG_TARGET
            reasons.append("what is counted is not in the ontology")
        if question.unresolved:
            cost += UNUSED_MENTION
            reasons.append("a named slot is unresolved")
        explained = {index for path in paths for index in path.used}
        unexplained = self._unexplained(question, anchors, explained)
        cued = any(step.cue is not None for path in paths for step in path.steps)
        if self._placing.known and anchors and not cued and not inside_anchor and any(len(p.steps) > 1 for p in paths):
            # "How many employees does X have": no word says how the two are linked, and no text could.
            cost += GUESSED_CHAIN
            reasons.append("no word names any of several hops")
        for token, beside in unexplained:
            # Where no word names a relation, a word that is not understood may be the one that does.
            cost += UNEXPLAINED_BESIDE_RELATION if beside or (paths[0].steps and not cued) else UNEXPLAINED_WORD
            reasons.append(f"{token.text!r} unexplained" + (" beside a relation" if beside else ""))
        if unexplained and paths[0].steps and not cued and not any(token.key.isascii() for token, _ in unexplained):
            # In languages with few words in most ontologies an unknown verb is the rule, and no relation may be guessed for it.
            cost += UNKNOWN_VERB
            reasons.append("an unknown word and no known one names a relation")
        target_word = question.words[asked.target] if asked.target is not None else None
        narrowed = target_types
        if target_word is not None and target_word.is_type and narrowed & set(target_word.entry.types):
            narrowed = narrowed & set(target_word.entry.types)
        elif asked.kind == "who" and narrowed & self._agents:
            narrowed = narrowed & self._agents
        filters, hop_filters, start_filters, value_cost, value_reasons = self._place_values(
            question, anchors, paths, narrowed
        )
        cost += value_cost
        reasons.extend(value_reasons)
        placed = self._place_dates(question, paths, narrowed, anchored=bool(anchors))
        if placed.nowhere:
            cost += NO_DATE
            reasons.append(UNDATED)
        if placed.test is not None:
            if placed.where == "target":
                filters.append(placed.test)
            elif placed.where == "start":
                start_filters.append(placed.test)
            else:
                hop_filters.setdefault(placed.hop, []).append(placed.test)
        dates = placed.rest if placed.test is not None else question.dates
        attribute = self._ordering(question, narrowed) if any(path.steps for path in paths) else None
        if attribute is None and is_priced(question.tokens):
            cost += WRONG_TARGET
            reasons.append("no price to order by")
        branches: list[Branch] = []
        combine = "any" if self._union(question, anchors) else "all"
        for number, path in enumerate(paths):
            anchor: Anchor | None = anchors[number] if anchors else None
            hops = []
            for place, step in enumerate(path.steps):
                last = place == len(path.steps) - 1
                hop_types = tuple(sorted(narrowed)) if last else step.types
                hops.append(
                    HopReading(
                        predicate=step.predicate,
                        direction=step.direction,
                        types=hop_types,
                        cue=_public(question.words[step.cue]) if step.cue is not None else None,
                        filters=tuple(hop_filters.get((number, place), ())),
                        time=self._time(question, step, dates),
                    )
                )
            if anchor is None:
                branches.append(
                    Branch(
                        anchors=(),
                        start_types=path.start_types,
                        hops=tuple(hops),
                        start_filters=tuple(start_filters),
                    )
                )
                continue
            if combine == "any" or len(anchor.mentions) == 1:
                ids = tuple(sorted({i for n in range(len(anchor.mentions)) for i in anchor.ids(n)}))
                branches.append(
                    Branch(anchors=ids, start_types=anchor.types, hops=tuple(hops), mention=anchor.mentions[0].cue)
                )
            else:
                for n, mention in enumerate(anchor.mentions):
                    branches.append(
                        Branch(anchors=anchor.ids(n), start_types=anchor.types, hops=tuple(hops), mention=mention.cue)
                    )
        operation = asked.operation
        if operation is Operation.DATE and asked.kind == "when" and target_types & self._temporal:
            operation = Operation.LIST
        return Reading(
            operation=operation,
            target_types=tuple(sorted(narrowed)),
            branches=tuple(branches),
            combine=combine,
            filters=tuple(filters),
            attribute=attribute,
            time=self._overall_time(question),
            cost=cost,
            reasons=tuple(reasons),
            unexplained=tuple(token.text for token, _ in unexplained),
            event=question.event,
        )

    def _ordering(self, question: Question, target: set[str]) -> str | None:
        """The number that the question orders what is reached by: "the most expensive book written by X"."""
        asked = question.asked
        if asked.operation not in (Operation.MOST, Operation.LEAST) or asked.counted is not None or len(target) != 1:
            return None
        (name,) = target
        own = self._ontology.attributes.get(name, ())
        found = comparable(question.words, question.tokens, own, name, "number")
        return found[0][0] if len(found) == 1 else None

    @staticmethod
    def _alternatives(question: Question, anchors: tuple[Anchor, ...]) -> bool:
        """Two or more anchors of one kind of which the question asks for one: "which came first, X or Y"."""
        return any(
            len(anchor.mentions) > 1
            and any(t.key == "or" for t in question.tokens if anchor.start < t.start < anchor.end)
            for anchor in anchors
        )

    def _joint_cost(
        self, question: Question, anchors: tuple[Anchor, ...], paths: tuple[_Path, ...]
    ) -> tuple[float, list[str]]:
        """What several branches together leave unused, relation words they share, and words nearer to another anchor."""
        cost = 0.0
        why: list[str] = []
        distances = [self._distances(question, anchor) for anchor in anchors]
        for number, path in enumerate(paths):
            for index in path.used:
                if any(other[index] < distances[number][index] for other in distances):
                    cost += NEARER_TO_ANOTHER_ANCHOR
                    why.append(f"{question.words[index].text!r} stands nearer to another name")
        used: dict[int, int] = {}
        for path in paths:
            for index in path.used:
                used[index] = used.get(index, 0) + 1
        nodes = [set(one) for path in paths for one in path.types_seen[1:-1]]
        nodes.append(set(paths[0].types_seen[-1]))
        predicates = {step.predicate for path in paths for step in path.steps}
        for index, word in enumerate(question.words):
            if any(low <= word.start < high for low, high in question.excluded):
                continue
            if word.apposition_of is not None and (word.is_type or word.optional):
                continue
            matched = False
            if index in used:
                matched = True
                cost += SHARED_WORD * (used[index] - 1)
            elif word.is_relation and any(p in predicates for p, _ in word.entry.relations):
                matched = True
                cost += UNUSED_OPTIONAL_WORD
            elif word.is_type:
                place = next((n for n, node in enumerate(nodes) if node & set(word.entry.types)), None)
                if place is not None:
                    nodes.pop(place)
                    matched = True
            if not matched:
                cost += UNUSED_RELATION_WORD if word.is_relation and not word.is_type else UNUSED_TYPE_WORD
                why.append(f"{word.text!r} not used")
        return cost, why

    def _union(self, question: Question, anchors: tuple[Anchor, ...]) -> bool:
        if len(anchors) != 1 or len(anchors[0].mentions) == 1:
            return len(anchors) <= 1
        if question.modifiers & _JOINT:
            return False
        between = question.text[anchors[0].start : anchors[0].end].casefold()
        if _governed_alike(question, anchors[0]):
            return False
        if "together with" in between or "as well as" in between or " or " in between:
            return True
        if any(t.key in _WHO and anchors[0].start < t.start < anchors[0].end for t in question.tokens):
            # "who owns X and who owns Y": two questions.
            return True
        asked = question.asked
        return asked.operation not in COMPARING and asked.kind != "who"

    def _unexplained(
        self, question: Question, anchors: tuple[Anchor, ...], explained: set[int]
    ) -> list[tuple[Token, bool]]:
        relation_tokens: set[int] = set()
        for index, word in enumerate(question.words):
            if word.is_relation and index in explained:
                relation_tokens |= set(range(word.first, word.last + 1))
        qualifiers: set[str] = set()
        for index in explained:
            for predicate, _ in question.words[index].entry.relations:
                for phrase in self._ontology.relations[predicate].qualifiers:
                    qualifiers |= set(phrase.casefold().split())
        placed = [(m.cue.start, m.cue.end) for anchor in anchors for m in anchor.mentions]
        placed.extend((cue.start, cue.end) for cue, _ in question.values)
        found: list[tuple[Token, bool]] = []
        for token in question.tokens:
            if token.owner or token.function or token.key in GENERIC_WORDS or token.key in qualifiers:
                continue
            if any(low <= token.start < high for low, high in question.excluded):
                continue
            if any(low <= token.start < high for low, high in placed):
                continue
            beside = token.index - 1 in relation_tokens or token.index + 1 in relation_tokens
            found.append((token, beside))
        return found

    def _place_values(
        self, question: Question, anchors: tuple[Anchor, ...], paths: tuple[_Path, ...], target: set[str]
    ) -> tuple[
        list[AttributeFilter],
        dict[tuple[int, int], list[AttributeFilter]],
        list[AttributeFilter],
        float,
        list[str],
    ]:
        """Values ("active", "critical") become filters on the entity of the type word they stand before, else on the slot."""
        anchored = [(m.cue.start, m.cue.end) for anchor in anchors for m in anchor.mentions]
        filters: list[AttributeFilter] = []
        hops: dict[tuple[int, int], list[AttributeFilter]] = {}
        start: list[AttributeFilter] = []
        cost = 0.0
        reasons: list[str] = []
        for cue, pairs in question.values:
            if any(low <= cue.start < high for low, high in (*question.excluded, *anchored)):
                continue
            if any(w.is_relation and not w.shadowed and w.start <= cue.start < w.end for w in question.words):
                continue
            owners: dict[str, list[str]] = {}
            for type_name, key in pairs:
                owners.setdefault(type_name, []).append(key)
            places: list[tuple[int, str, int | None, str, str]] = []
            noun = next(
                (
                    w
                    for w in sorted(question.words, key=lambda w: w.start)
                    if w.start >= cue.end and w.is_type and w.start - cue.end < 40
                ),
                None,
            )
            preferred = set(noun.entry.types) if noun else set()
            for type_name, keys in owners.items():
                key = sorted(keys)[0]
                near = 0 if type_name in preferred else 1
                if type_name in target:
                    places.append((near, "target", None, key, type_name))
                for number, path in enumerate(paths):
                    for place, step in enumerate(path.steps[:-1]):
                        if type_name in step.types:
                            places.append((near, f"hop{number}", place, key, type_name))
                    if number == 0 and type_name in path.start_types and path.steps:
                        places.append((near, "start", None, key, type_name))
            if not places:
                cost += UNUSED_VALUE
                reasons.append(f"{cue.text!r} restricts nothing here")
                continue
            places.sort(key=lambda p: (p[0], {"target": 0, "start": 2}.get(p[1], 1), p[2] or 0, p[3]))
            near, where, hop_place, key, _ = places[0]
            test = AttributeFilter(key, "eq", cue.value)
            if where == "target":
                filters.append(test)
            elif where == "start":
                start.append(test)
            elif hop_place is not None:
                hops.setdefault((int(where[3:]), hop_place), []).append(test)
        return filters, hops, start, cost, reasons

    # Attributes

    def _attribute_readings(self, question: Question) -> list[Reading]:
        """ "What is the amount of X", "which was created first, X or Y": an attribute of named entities."""
        readings: list[Reading] = []
        asked = question.asked
        strong = [
            m
            for m in question.mentions
            if m.strong and not any(low <= m.cue.start < high for low, high in question.excluded)
        ]
        if not strong:
            return self._extremes(question)
        for index, word in enumerate(question.words):
            if not word.entry.attributes:
                continue
            for type_name in sorted({t for t, _ in word.entry.attributes}):
                keys = sorted(k for t, k in word.entry.attributes if t == type_name)
                holders = [m for m in strong if any(type_name in c.types for c in m.candidates)]
                if not holders:
                    continue
                comparing = asked.operation in COMPARING and len(holders) > 1
                cost = 0.0
                reasons: list[str] = []
                for other, other_word in enumerate(question.words):
                    if other != index and other_word.is_relation and not other_word.entry.attributes:
                        cost += UNUSED_RELATION_WORD
                        reasons.append(f"{other_word.text!r} not used")
                    elif (
                        other != index
                        and other_word.is_type
                        and other_word.apposition_of is None
                        and type_name not in other_word.entry.types
                    ):
                        cost += UNUSED_TYPE_WORD
                if word.is_relation:
                    cost += 0.3
                for mention in question.mentions:
                    if mention.strong and mention not in holders:
                        cost += UNUSED_MENTION
                for token, beside in self._unexplained(question, (), {index}):
                    cost += UNEXPLAINED_BESIDE_RELATION if beside else UNEXPLAINED_WORD
                    reasons.append(f"{token.text!r} unexplained")
                branches = tuple(
                    Branch(
                        anchors=tuple(c.entity_id for c in m.candidates if type_name in c.types),
                        start_types=(type_name,),
                        hops=(),
                        mention=m.cue,
                    )
                    for m in (holders if comparing else holders[:1])
                )
                operation = asked.operation if comparing else Operation.VALUE
                readings.append(
                    Reading(
                        operation=operation,
                        target_types=(type_name,),
                        branches=branches,
                        combine="any",
                        attribute=keys[0],
                        time=self._overall_time(question),
                        cost=cost,
                        reasons=tuple(reasons),
                        event=question.event,
                    )
                )
        return readings

    def _extremes(self, question: Question) -> list[Reading]:
        """ "What is the most expensive product?": all entities of the type asked for, by a number or a date they have."""
        asked = question.asked
        kinds = _ORDERED_BY.get(asked.operation)
        nouns = [index for index, word in enumerate(question.words) if word.is_type]
        place = asked.target if asked.target is not None else nouns[0] if len(nouns) == 1 else None
        if kinds is None or place is None or question.unresolved:
            return []
        target = question.words[place]
        readings: list[Reading] = []
        for type_name in target.entry.types:
            own = self._ontology.attributes.get(type_name, ())
            for key, used in comparable(question.words, question.tokens, own, type_name, kinds):
                others = [
                    word
                    for index, word in enumerate(question.words)
                    if index not in (place, used) and (word.is_relation or word.is_type)
                ]
                unexplained = self._unexplained(question, (), set())
                path = _Path((), (type_name,), frozenset(), 0.0, (), ((type_name,),))
                filters, _, _, cost, reasons = self._place_values(question, (), (path,), {type_name})
                placed = self._place_dates(question, (path,), {type_name})
                if others or unexplained or placed.nowhere:
                    continue
                tests = (*filters, *((placed.test,) if placed.test is not None else ()))
                branch = Branch(anchors=(), start_types=(type_name,), hops=(), start_filters=tests)
                readings.append(
                    Reading(
                        operation=asked.operation,
                        target_types=(type_name,),
                        branches=(branch,),
                        combine="any",
                        attribute=key,
                        time=self._overall_time(question),
                        cost=cost,
                        reasons=tuple(reasons),
                    )
                )
        return readings if len(readings) == 1 else []

    # Time

    def _overall_time(self, question: Question) -> TimeFilter:
        if not question.dates:
            return TimeFilter(TimeMode.OVERLAPS, Interval(question.instant, question.instant + 1))
        return TimeFilter(TimeMode.OVERLAPS, _asked_interval(question.dates))

    def _time(self, question: Question, step: _Step, dates: Sequence[DateConstraint]) -> TimeFilter:
        if question.asked.operation is Operation.DATE and not question.dates:
            return ANY_TIME
        relation = self._ontology.relations[step.predicate]
        return time_filter(
            relation, dates, question.instant, question.words[step.cue] if step.cue is not None else None
        )

    def _place_dates(
        self, question: Question, paths: tuple[_Path, ...], target: set[str], *, anchored: bool = False
    ) -> Placed:
        """Where the dates of the question belong, unless they say "now" or ask for what a date gives."""
        dates = [d for d in question.dates if d.mode is not DateMode.AT or not d.interval.contains(question.instant)]
        if not dates or question.event is not None or question.asked.operation is Operation.DATE:
            return Placed()
        branches = tuple(
            tuple(DatedStep(step.predicate, step.types, step.cue) for step in path.steps) for path in paths
        )
        starts = () if anchored else paths[0].start_types
        interval, apart = _asked_interval(dates), _apart(dates)
        return self._placing.place(question.words, dates, interval, branches, starts, frozenset(target), apart=apart)


def time_filter(
    relation: RelationType, dates: Sequence[DateConstraint], instant: Instant, word: WordCue | None = None
) -> TimeFilter:
    """How facts of a relation are tested for a question's dates (semantics: Time).

    No date: a state must hold at the instant, an event must have begun by then. A date or range: an event starts inside, a
    state overlaps, unless the cue is inchoative.
    """
    if not dates:
        if relation.kind is RelationKind.EVENT:
            return TimeFilter(TimeMode.OVERLAPS, Interval(None, instant + 1))
        return TimeFilter(TimeMode.OVERLAPS, Interval(instant, instant + 1))
    interval = _asked_interval(dates)
    inchoative = next((date for date in dates if date.mode in (DateMode.STARTED, DateMode.ENDED)), None)
    if inchoative is not None and (word is not None or relation.kind is RelationKind.EVENT):
        mode = TimeMode.STARTS_IN if inchoative.mode is DateMode.STARTED else TimeMode.ENDS_IN
        return TimeFilter(mode, interval)
    if relation.kind is RelationKind.EVENT:
        return TimeFilter(TimeMode.STARTS_IN, interval)
    return TimeFilter(TimeMode.OVERLAPS, interval)


def _apart(dates: Sequence[DateConstraint]) -> bool:
    """No moment fits all the dates: they are said of different things."""
    return max(date.interval.low for date in dates) >= min(date.interval.high for date in dates)


def _asked_interval(dates: Sequence[DateConstraint]) -> Interval:
    low, high = MIN_INSTANT, MAX_INSTANT
    for date in dates:
        low, high = max(low, date.interval.low), min(high, date.interval.high)
    if low >= high:
        return dates[0].interval
    return Interval(None if low == MIN_INSTANT else low, None if high == MAX_INSTANT else high)


def replace_asked(question: Question, asked: Asked) -> Question:
    """The same question with another asked-for slot."""
    return replace(question, asked=asked)


def _noun_side(role: Role) -> Direction | None:
    if role is Role.OBJECT_NOUN:
        return Direction.FORWARD
    if role is Role.SUBJECT_NOUN:
        return Direction.BACKWARD
    return None


def _reverse(direction: Direction) -> Direction:
    return Direction.BACKWARD if direction is Direction.FORWARD else Direction.FORWARD


def _plain_gap(question: Question, start: int, end: int) -> bool:
    gap = question.text[start:end]
    return not any(char in gap for char in ",;:?") and all(
        t.key in _LINKING for t in question.tokens if start <= t.start and t.end <= end
    )


def _governed_alike(question: Question, anchor: Anchor) -> bool:
    """ "by X and by Y": a preposition repeated before each name asks for what fits all of them."""
    words: list[str] = []
    for mention in anchor.mentions:
        before = [token for token in question.tokens if token.end <= mention.cue.start]
        if not before or question.text[before[-1].end : mention.cue.start].strip():
            return False
        words.append(before[-1].key)
        if len(words) > 1 and not any(token.key in _AND for token in before[-3:-1]):
            return False
    return len(set(words)) == 1 and words[0] in _PREPOSITIONS


def _copula_between(question: Question, near_start: int, word: WordCue) -> bool:
    """ "X is a part of", "which is X a part of": X fills the noun."""
    before = [t for t in question.tokens if t.end <= near_start]
    rest = [t for t in question.tokens if t.start >= word.end]
    if before and before[-1].key in {"is", "was", "are", "were"} and len(rest) == 1 and rest[0].function:
        return True
    return any(t.key in {"is", "was", "are", "were"} and near_start < t.start < word.start for t in question.tokens)


def _to_question(question: Question, index: int) -> int:
    word = question.words[index]
    return min(abs(word.start - question.asked.end), abs(question.asked.start - word.end))


def _public(word: WordCue) -> Cue:
    return relation_cue(word).cue


def _hop_count(reading: Reading) -> int:
    return sum(len(branch.hops) for branch in reading.branches)


def _signature(reading: Reading) -> str:
    return "|".join(
        ",".join((*branch.anchors, *(f"{h.predicate}{h.direction}" for h in branch.hops)))
        for branch in reading.branches
    )
