"""Readings: ways to read a question as a query over facts, searched over the ontology and ordered by cost.

A reading joins branches on the asked-for slot; a branch is a meta-path from an anchor through the relations that the question
names to the type it asks for. The search is a bounded depth-first walk over the ontology's (domain, relation, range)
triples. Its cost counts what the question does not explain (implied hops) and what the reading does not explain (relation
words left over, type words without an entity, content words beside a relation), plus violations of word order and voice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from graphroute.parsing.dated import DatedStep, Placed, Placing, comparable, is_priced
from graphroute.parsing.reading_anchors import Anchors
from graphroute.parsing.reading_costs import (
    EACH_OF_SEVERAL,
    GUESSED_CHAIN,
    MAX_COST,
    MAX_NAMES,
    MAX_WORDS,
    NEARER_TO_ANOTHER_ANCHOR,
    NO_DATE,
    SHARED_WORD,
    UNDATED,
    UNEXPLAINED_BESIDE_RELATION,
    UNEXPLAINED_WORD,
    UNKNOWN_VERB,
    UNUSED_GOVERNED_MENTION,
    UNUSED_MENTION,
    UNUSED_OPTIONAL_WORD,
    UNUSED_RELATION_WORD,
    UNUSED_TYPE_WORD,
    UNUSED_VALUE,
    UNUSED_WEAK_MENTION,
    WEAK_ANCHOR,
    WEAK_ANCHOR_BESIDE_STRONG,
    WORD_IS_ANCHOR_TOO,
    WRONG_TARGET,
)
from graphroute.parsing.reading_paths import PathWalker
from graphroute.parsing.reading_question import (
    ADVICE,
    PERSONAL,
    Anchor,
    Asked,
    Path,
    Question,
    Step,
    are_apart,
    asked_interval,
    governed_alike,
    hop_count,
    signature,
    time_filter,
)
from graphroute.parsing.relations import GENERIC_WORDS, relation_cue
from graphroute.parsing.tokens import Token, inside
from graphroute.types.graph import AttributeFilter
from graphroute.types.ontology import Ontology
from graphroute.types.query import Branch, DateConstraint, DateMode, HopReading, Operation, Reading
from graphroute.types.time import ANY_TIME, Interval, TimeFilter, TimeMode

_GOVERNING = frozenset({"of", "for", "in", "on", "by", "from", "with", "to", "at", "against", "under"})
_JOINT = frozenset({"both", "common", "same", "share", "shared"})
_WHO = frozenset({"who", "кто", "谁"})
_COMPARING = (Operation.FIRST, Operation.LAST, Operation.COMPARE, Operation.MOST, Operation.LEAST)
"""Operations that pick one of several named things by an attribute."""
_ORDERED_BY = {
    Operation.MOST: "number",
    Operation.LEAST: "number",
    Operation.FIRST: "date",
    Operation.LAST: "date",
}
"""The kind of attribute by which an operation orders all entities of a type."""


class ReadingSearch:
    """Finds readings. Built once per ontology; holds no state between questions."""

    def __init__(self, ontology: Ontology, *, undated: frozenset[str] | None = None) -> None:
        """`undated`: relations whose facts have no dates; None where that is not known."""
        self._ontology = ontology
        self._placing = Placing(ontology, undated)
        self._anchors = Anchors(ontology)
        self._walker = PathWalker(ontology)
        self._agents = frozenset(name for name, kind in ontology.types.items() if kind.agent)

    def search(self, question: Question) -> tuple[Reading, ...]:
        """Readings of the question, best first, at most eight; empty if none explains enough of it."""
        if len(question.mentions) > MAX_NAMES or len(question.words) > MAX_WORDS:
            return ()
        self._anchors.mark(question)
        weak = [(m.cue.start, m.cue.end) for m in question.mentions if not m.strong]
        strange = [t for t, _ in self._unexplained(question, (), set()) if not inside(weak, t.start, t.end)]
        if UNEXPLAINED_WORD * len(strange) > MAX_COST:
            return ()
        keys = [token.key for token in question.tokens]
        if question.asked.operation is Operation.EXISTS and ADVICE & set(keys[:2]) and PERSONAL & set(keys):
            return ()
        found = self._attribute_readings(question)
        compares = question.asked.operation in _COMPARING
        if found and compares and all(len(reading.branches) > 1 for reading in found):
            # "Which was created first, X or Y" asks for one of the two, which no path from them can be.
            return self._ordered(found)
        named = question.asked.target is not None or any(word.is_relation for word in question.words)
        if question.membership or named or self._valued(question):
            for anchors in self._anchors.choices(question):
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
        ordered = sorted(best.values(), key=lambda r: (round(r.cost, 6), hop_count(r), signature(r)))
        return tuple(ordered[:8])

    def _with_anchors(self, question: Question, anchors: tuple[Anchor, ...]) -> list[Reading]:
        if not anchors:
            return self._unanchored(question)
        if len(anchors) == 1:
            anchor = anchors[0]
            readings = []
            for path in self._walker.paths(question, anchor, alone=True):
                reading = self._assemble(question, (anchor,), (path,))
                readings.append(reading)
                if reading.combine == "all" and len(reading.branches) > 1 and not question.modifiers & _JOINT:
                    # "who owns X and Y" may mean one owner of both or the owners of each.
                    readings.append(replace(reading, combine="any", cost=reading.cost + EACH_OF_SEVERAL))
            return readings
        if question.asked.operation in (Operation.EXISTS, Operation.DATE) and len(anchors) == 2:
            return self._between(question, anchors[0], anchors[1])
        options = [self._walker.paths(question, anchor, alone=False) for anchor in anchors]
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
        for path in self._walker.paths(replace(question, asked=goal), first, alone=True):
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
            path = Path((), valued, frozenset(), 0.0, (), (valued,))
            return [reading for reading in [self._assemble(question, (), (path,))] if reading.filters]
        if all(word is target for word in words):
            if target is not None and target.is_type and question.asked.operation in (Operation.COUNT, Operation.LIST):
                path = Path((), target.entry.types, frozenset(), 0.0, (), (target.entry.types,))
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
            for path in self._walker.walk(question, (start,), None, alone=True):
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

    def _assemble(self, question: Question, anchors: tuple[Anchor, ...], paths: tuple[Path, ...]) -> Reading:
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
        if asked.operation in _COMPARING and self._alternatives(question, anchors):
            cost += WRONG_TARGET
            reasons.append("the answer is one of the things compared")
        inside_anchor = question.membership and any(
            s.predicate in self._walker.memberships for p in paths for s in p.steps
        )
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
                        cue=relation_cue(question.words[step.cue]).cue if step.cue is not None else None,
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
        if operation is Operation.DATE and asked.kind == "when" and target_types & self._walker.temporal:
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
        self, question: Question, anchors: tuple[Anchor, ...], paths: tuple[Path, ...]
    ) -> tuple[float, list[str]]:
        """What several branches together leave unused, relation words they share, and words nearer to another anchor."""
        cost = 0.0
        why: list[str] = []
        distances = [self._walker.distances(question, anchor) for anchor in anchors]
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
        if governed_alike(question, anchors[0]):
            return False
        if "together with" in between or "as well as" in between or " or " in between:
            return True
        if any(t.key in _WHO and anchors[0].start < t.start < anchors[0].end for t in question.tokens):
            # "who owns X and who owns Y": two questions.
            return True
        asked = question.asked
        return asked.operation not in _COMPARING and asked.kind != "who"

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
        self, question: Question, anchors: tuple[Anchor, ...], paths: tuple[Path, ...], target: set[str]
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
                comparing = asked.operation in _COMPARING and len(holders) > 1
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
                path = Path((), (type_name,), frozenset(), 0.0, (), ((type_name,),))
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

    def _overall_time(self, question: Question) -> TimeFilter:
        if not question.dates:
            return TimeFilter(TimeMode.OVERLAPS, Interval(question.instant, question.instant + 1))
        return TimeFilter(TimeMode.OVERLAPS, asked_interval(question.dates))

    def _time(self, question: Question, step: Step, dates: Sequence[DateConstraint]) -> TimeFilter:
        if question.asked.operation is Operation.DATE and not question.dates:
            return ANY_TIME
        relation = self._ontology.relations[step.predicate]
        return time_filter(
            relation, dates, question.instant, question.words[step.cue] if step.cue is not None else None
        )

    def _place_dates(
        self, question: Question, paths: tuple[Path, ...], target: set[str], *, anchored: bool = False
    ) -> Placed:
        """Where the dates of the question belong, unless they say "now" or ask for what a date gives."""
        dates = [d for d in question.dates if d.mode is not DateMode.AT or not d.interval.contains(question.instant)]
        if not dates or question.event is not None or question.asked.operation is Operation.DATE:
            return Placed()
        branches = tuple(
            tuple(DatedStep(step.predicate, step.types, step.cue) for step in path.steps) for path in paths
        )
        starts = () if anchored else paths[0].start_types
        interval, apart = asked_interval(dates), are_apart(dates)
        return self._placing.place(question.words, dates, interval, branches, starts, frozenset(target), apart=apart)
