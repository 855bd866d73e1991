"""Paths: bounded depth-first walks over the triples of the ontology, each with its cost and reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise

from graphroute.ontology.lexicon import PREPOSITIONS, is_event, lexicon, participle_base
from graphroute.ontology.naming import name_parts
from graphroute.parsing.lexing import word_set
from graphroute.parsing.reading_costs import (
    DATE_OF_FACT,
    IMPLIED_HOP,
    IMPLIED_HOP_TO_NAMED_TYPE,
    MEMBERSHIP,
    NOT_AN_AGENT,
    NOUN_OF_THE_ANCHOR,
    REUSED_RELATION,
    REUSED_RELATION_TO_NAMED_TYPE,
    SHARED_WORD,
    TARGET_WORD_ELSEWHERE,
    THE_DEED_ITSELF,
    THERE_AND_BACK,
    UNUSED_OPTIONAL_WORD,
    UNUSED_RELATION_WORD,
    UNUSED_TYPE_WORD,
    WALKED_ONCE,
    WRONG_ORDER,
    WRONG_ORDER_TO_QUESTION,
    WRONG_TARGET,
    WRONG_VOICE,
)
from graphroute.parsing.reading_question import (
    Anchor,
    Path,
    Question,
    Step,
    copula_between,
    noun_side,
    reverse,
    to_question,
)
from graphroute.parsing.relations import GENERIC_WORDS, WordCue, agent_before
from graphroute.parsing.tokens import Token
from graphroute.types.graph import Direction
from graphroute.types.ontology import Ontology
from graphroute.types.query import Operation, Role

_SIBLINGS = frozenset({"same", "share", "shared", "common", "co", "together", "each other", "other"})
_ALSO = word_set(
    "also another other others else similar too both same shared share too также тоже другие других ещё еще тот та те 也 还 其他 另"
)
"""Words that ask for what stands beside the anchor."""
_OBLIQUE = frozenset({"кому", "чему", "кого", "чего"})
"""Question words that are no subject, so that the name is one, wherever it stands."""
_TOWARDS = ("向", "给", "对", "跟")
"""Before a name that is no subject though it stands before the verb."""
_LOCATIVE = frozenset({"in", "on", "at", "under", "within"})
_FAR = 1000
_BOUNDS = (0.8, 1.6, 2.8)
_KEEP = 14


class PathWalker:
    """Walks from an anchor over the relations that the question names. Built once per ontology; holds no state between questions."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
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
        self.memberships = frozenset(
            name
            for name, relation in ontology.relations.items()
            if any(
                word in phrase.casefold().split()
                for phrase in (*relation.subject_nouns, *relation.object_nouns, *relation.forward, *relation.inverse)
                for word in ("member", "belong", "part", "contain", "include", "участник", "содержать", "成员", "包含")
            )
        )
        self.temporal = frozenset(name for name, kind in ontology.types.items() if kind.temporal)
        self._places = frozenset(name for name, kind in ontology.types.items() if kind.place)

    def paths(self, question: Question, anchor: Anchor, *, alone: bool) -> list[Path]:
        """Paths from an anchor, the cheapest first. `alone`: there is no other anchor."""
        key = (anchor.types, tuple(m.cue.start for m in anchor.mentions), alone, question.asked.operation)
        if key not in question.walked:
            question.walked[key] = self.walk(question, anchor.types, anchor, alone=alone)
        return question.walked[key]

    def walk(
        self, question: Question, start_types: tuple[str, ...], anchor: Anchor | None, *, alone: bool
    ) -> list[Path]:
        """Complete paths from `start_types` with their cost, best first. The bound on the cost is raised until some are found."""
        found: list[Path] = []
        for bound in _BOUNDS:
            found = self._walk_within(question, start_types, anchor, bound, alone=alone)
            if any(path.cost <= bound for path in found):
                break
        return found

    def _walk_within(
        self, question: Question, start_types: tuple[str, ...], anchor: Anchor | None, bound: float, *, alone: bool
    ) -> list[Path]:
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
        distance = self.distances(question, anchor)
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
        results: list[Path] = []

        def finish(
            steps: tuple[Step, ...],
            used: tuple[int, ...],
            types: tuple[tuple[str, ...], ...],
            cost: float,
            reasons: tuple[str, ...],
        ) -> None:
            total, why = self._finish(question, anchor, steps, used, types, type_words, slots, distance, alone=alone)
            if cost + total <= bound + (0.5 if alone else 3.0):
                results.append(Path(steps, start_types, frozenset(used), cost + total, (*reasons, *why), types))

        def extend(
            types: tuple[str, ...],
            steps: tuple[Step, ...],
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
                        if question.membership and predicate in self.memberships:
                            extra -= MEMBERSHIP
                        why = (f"{predicate} implied",)
                    if cost + extra > bound:
                        continue
                    extend(
                        reached,
                        (*steps, Step(predicate, direction, reached, cue, reused)),
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
        steps: tuple[Step, ...],
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
                    and to_question(question, near) < to_question(question, far)
                ):
                    cost += WRONG_ORDER_TO_QUESTION
                    why.append("order against the question word")
        if anchor is not None and steps and steps[0].cue is not None:
            word = question.words[steps[0].cue]
            sides = {noun_side(role) for predicate, role in word.entry.relations if predicate == steps[0].predicate}
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
                steps[-1].predicate == p and noun_side(r) is steps[-1].direction for p, r in target.entry.relations
            )
            as_type = target.is_type and bool(end & set(target.entry.types))
            if target.is_relation and (as_relation or reused_as_relation):
                roles = [role for predicate, role in target.entry.relations if predicate == steps[-1].predicate]
                sides = {noun_side(role) for role in roles}
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
            if not end & self.temporal:
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
    def _there_and_back(question: Question, steps: Sequence[Step], type_words: Sequence[int]) -> bool:
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
                noun_side(role) is not None and predicate == there.predicate
                for predicate, role in question.words[there.cue].entry.relations
            )
            met = any(set(question.words[i].entry.types) & set(back.types) for i in type_words if i != target)
            if not named and not met:
                return True
        return False

    def _locates(self, steps: Sequence[Step]) -> bool:
        """The last hop leads to what the thing is in, on or at, whatever it is called: a part INSTALLED_ON a machine."""
        if not steps or steps[-1].direction is not Direction.FORWARD:
            return False
        phrases = self._ontology.relations[steps[-1].predicate].forward
        return any(phrase.casefold().split()[-1] in _LOCATIVE for phrase in phrases[:1])

    def _is_deed(self, question: Question, steps: Sequence[Step]) -> bool:
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

    def distances(self, question: Question, anchor: Anchor | None) -> dict[int, int]:
        """Content words between the anchor and each word cue; a word that asks is far from every anchor."""
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
        steps: tuple[Step, ...],
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
        side = noun_side(role)
        if side is not None:
            # "the parent of X": the noun is the far end. "X is the parent of": X fills the noun.
            fills = before and copula_between(question, near_start, word) and not word.text.endswith("'s")
            expected = side if not fills else reverse(side)
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
