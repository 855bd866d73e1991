"""Packs whole evidence units into a token budget, measured on the finished text."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from graphroute.models.tokenizers.base import Tokenizer
from graphroute.serialization.draft import ARRANGED, Draft, PathDraft, draft_of_bundle, draft_of_records, time_text
from graphroute.serialization.formats.base import Format
from graphroute.serialization.orderings import Hints
from graphroute.serialization.orderings import ordering as ordering_of
from graphroute.serialization.records import Profile, check, records_of
from graphroute.types.evidence import EvidenceBundle, EvidenceUnit, Omission

MAX_SKIPPED = 16
"""How many units too large for what is left may be passed over in search of smaller ones."""

MAX_LOOKED_AT = 200
"""How many units may be looked at in that search, so that it takes no longer for a larger bundle."""

MAX_OMISSIONS = 12
"""How many omissions the text states; the bundle holds all of them."""

ANSWER_SHARE = 0.5
"""Share of the budget that the list of answers may take, where not all evidence fits."""

SAMPLE = 12
"""So many units are measured at first; what they take says how many will fit."""

LEAST_TOKENS = 3
"""What a unit, a new node and a new fact take at least, each."""

MOST_TOKENS = 100
"""What a hop takes at most, as far as anybody has seen: a bundle that fits with so many for each is written without being measured first."""

MAX_ROUNDS = 8
"""How often a text that is nearly full may be written again with a unit more or less."""

MOST_CHARACTERS = 12
"""How many characters of a text a token has at most on average, as far as anybody has seen."""

MOST_BLIND = 6
"""So many units may be added before the text is counted again and the next one is passed over."""

Key = tuple[object, ...]

_RANK = attrgetter("rank")


@dataclass(slots=True)
class Packed:
    """The text, its exact size, the units, and how many nodes and facts are in it. `references`: ids by the local ids of a lean text."""

    text: str
    tokens: int
    units: tuple[EvidenceUnit, ...]
    nodes: int = 0
    facts: int = 0
    references: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Packing:
    """Writes parts of one bundle."""

    bundle: EvidenceBundle
    form: Format
    budget: int
    tokenizer: Tokenizer
    profile: Profile
    ordering: str
    seed: int
    answers: int

    def draft(self, units: Sequence[EvidenceUnit], omissions: Sequence[Omission] = ()) -> Draft:
        """Draft of some units, in the order of their text."""
        proofs = self.form.proofs(self.profile)
        arrange = ARRANGED.get(self.ordering)
        if arrange is not None:
            draft = draft_of_bundle(
                self.bundle, self.profile, proofs, units=units, answers=self.answers, omissions=omissions
            )
            arrange(draft)
            return draft
        records = check(records_of(self.bundle, units=units, answers=self.answers, omissions=omissions))
        hints = Hints(anchors=self.bundle.anchors, seed=self.seed)
        return draft_of_records(ordering_of(self.ordering)(records, hints), self.profile, proofs)

    def packed(self, units: Sequence[EvidenceUnit], omissions: Sequence[Omission] = ()) -> Packed:
        """The finished text, also where it is over the budget."""
        ranked = tuple(sorted(units, key=_RANK))
        draft = self.draft(ranked, omissions)
        text = self.form.write(draft).text
        references = draft.references() if draft.lean else {}
        nodes, facts = len(draft.node_ids), len(draft.facts)
        return Packed(text, self.tokenizer.count(text), ranked, nodes, facts, references)


def pack(
    bundle: EvidenceBundle,
    *,
    form: Format,
    budget: int,
    tokenizer: Tokenizer,
    profile: Profile = Profile.FULL,
    ordering: str = "given",
    seed: int = 0,
) -> Packed:
    """The finished text of at most `budget` tokens.

    Units are taken in bundle order with complete paths first, and one too large for what is left is passed over. Then the reasons for what is
    missing, as far as there is room. Empty text if not even the header fits. A bundle that fits as a whole is written and counted once; else
    units are chosen by what their parts of a text take, each counted once, and the text of those chosen is counted and mended.
    """
    packing = _Packing(bundle, form, budget, tokenizer, profile, ordering, seed, len(bundle.answers))
    # No cycle collection meanwhile: tens of thousands of objects made at once, none in a cycle, would start several over the whole heap.
    enabled = gc.isenabled()
    gc.disable()
    try:
        return _packed(packing)
    finally:
        if enabled:
            gc.enable()


def _packed(packing: _Packing) -> Packed:
    bundle, budget = packing.bundle, packing.budget
    stated = bundle.omissions[:MAX_OMISSIONS]
    few = len(bundle.units) <= SAMPLE
    order = sorted(bundle.units, key=lambda unit: (unit.path is None, unit.rank))
    if few:
        whole = packing.packed(order, stated)
        if whole.tokens <= budget:
            return whole
    choice = _Choice(packing, order)
    if not few and _may_fit(packing, choice, order):
        whole = packing.packed(order, stated)
        if whole.tokens <= budget:
            return whole
    _limit_answers(packing)
    while True:
        empty = packing.packed(())
        if empty.tokens <= budget:
            break
        if not packing.answers:
            return Packed("", 0, ())
        packing.answers -= 1
    return _with_omissions(packing, choice.found(empty), stated)


def _may_fit(packing: _Packing, choice: _Choice, order: Sequence[EvidenceUnit]) -> bool:
    """Whether the whole bundle is worth writing."""
    left = float(packing.budget)
    paths = [unit for unit in order if unit.path]
    if sum([len(unit.path.hops) for unit in paths if unit.path]) * MOST_TOKENS > left:
        left -= choice.mean() * len(paths) * 0.7
    return left >= sum(map(_length, order[len(paths) :])) / 8


def _length(unit: EvidenceUnit) -> int:
    return len(unit.passage.text if unit.passage else unit.report.text if unit.report else "")


def _limit_answers(packing: _Packing) -> None:
    """Lists no more answers than their share of the budget has room for, by texts of answers alone."""
    share, total = packing.budget * ANSWER_SHARE, packing.answers
    if not total:
        return

    def tokens(count: int) -> int:
        packing.answers = count
        return packing.packed(()).tokens

    base = most = tokens(0)
    low, high, count = 0, total + 1, min(total, SAMPLE)
    for _ in range(MAX_ROUNDS):
        found = tokens(count)
        if found <= share:
            low, most = count, found
        else:
            high = count
        if low + 1 >= high:
            break
        each = max(1.0, (found - base) / count)
        count = min(max(low + int((share - most) / each), low + 1), high - 1)
    packing.answers = low


class _Choice:
    """Which units fit. Sizes are those of the parts of a text by themselves; the text of all that are chosen says how far these are wrong."""

    def __init__(self, packing: _Packing, order: Sequence[EvidenceUnit]) -> None:
        self._packing = packing
        self._order = order
        self._sizes: dict[Key, int] = {}
        self._measured: dict[int, tuple[int, list[Key]]] = {}
        """Of units by place: their own size, and what they need beside."""
        self._held: set[Key] = set()
        self._chosen: list[_Chosen] = []
        self._at = 0
        self._skipped = 0
        self._looked_at = 0
        self._too_many = 1_000_000

    def mean(self) -> float:
        """About what a path takes, by the first ones."""
        self._measure(0, SAMPLE)
        held: set[Key] = set()
        total = 0
        for place in range(min(SAMPLE, len(self._order))):
            size, needs = self._measured[place]
            total += size + sum([self._sizes[key] for key in needs if key not in held])
            held.update(needs)
        return total / SAMPLE

    def found(self, empty: Packed) -> Packed:
        """The text of all that fit. `empty`: the text without any unit."""
        budget = self._packing.budget
        self._held.update([("node", one.id) for one in self._packing.bundle.answers[: self._packing.answers]])
        best, tokens, scale, written = empty, float(empty.tokens), 1.0, 0
        for _ in range(MAX_ROUNDS):
            self._extend(budget - tokens, scale)
            if len(self._chosen) == written:
                break
            text = self._text()
            estimate = sum([one.size for one in self._chosen])
            scale = (text.tokens - empty.tokens) / max(1, estimate)
            tokens, written = text.tokens, len(self._chosen)
            if text.tokens <= budget:
                best = text
                continue
            while tokens > budget and self._chosen:
                last = self._chosen.pop()
                self._held.difference_update(last.brought)
                self._at = last.place
                tokens -= max(1.0, last.size * scale)
        while len(best.units) != len(self._chosen):
            text = self._text()
            if text.tokens <= budget:
                return text
            self._chosen.pop()
        return best

    def _text(self) -> Packed:
        return self._packing.packed([self._order[one.place] for one in self._chosen])

    def _extend(self, left: float, scale: float) -> None:
        """Chooses what fits into so many tokens beside what is chosen."""
        order, known = self._order, len(self._chosen)
        while self._at < len(order) and self._skipped <= MAX_SKIPPED and self._looked_at < MAX_LOOKED_AT:
            if left < 2 * LEAST_TOKENS:
                return
            place = self._at
            self._at += 1
            if not self._may_fit(order[place], left):
                self._looked_at += 1
                continue
            if place not in self._measured:
                self._measure(place, 1 if self._skipped else self._batch(left))
            own, needs = self._measured[place]
            brought = [key for key in needs if key not in self._held]
            size = own + sum([self._sizes[key] for key in brought])
            if size * scale > left:
                if len(self._chosen) - known > MOST_BLIND:
                    # What so many together leave is not known well enough to pass over this one.
                    self._at = place
                    return
                self._skipped += 1
                if order[place].path is not None:
                    self._too_many = min(self._too_many, self._new(order[place]))
                continue
            self._held.update(brought)
            self._chosen.append(_Chosen(place, size, brought))
            left -= size * scale

    def _batch(self, left: float) -> int:
        """About how many units fit into so many tokens."""
        if not self._chosen:
            return SAMPLE
        each = sum([one.size for one in self._chosen]) / len(self._chosen)
        return max(SAMPLE, int(left / max(1.0, each)) + 1)

    def _may_fit(self, unit: EvidenceUnit, left: float) -> bool:
        """Whether a unit is worth measuring: a path with as much that is new as one that did not fit will not either."""
        if unit.path is None:
            return _length(unit) / MOST_CHARACTERS <= left
        if self._too_many == 1_000_000:
            return True
        new = self._new(unit)
        return new < self._too_many and LEAST_TOKENS * (1 + new) <= left

    def _new(self, unit: EvidenceUnit) -> int:
        assert unit.path is not None
        found: set[Key] = set()
        for hop in unit.path.hops:
            fact = hop.fact
            found.add(("fact", fact.subject, fact.predicate, fact.negated, fact.object, time_text(fact.validity)))
            found.add(("node", fact.subject))
            found.add(("node", fact.object))
        return len(found - self._held)

    def _measure(self, start: int, count: int) -> None:
        """Measures units from that place on, and whatever they need that is not measured yet."""
        packing, sizes = self._packing, self._sizes
        measured = range(start, min(start + count, len(self._order)))
        places = sorted(measured, key=lambda place: self._order[place].rank)
        units = [self._order[place] for place in places]
        answers, packing.answers = packing.answers, 0
        draft = packing.draft(units)
        packing.answers = answers
        written = packing.form.write(draft)
        count_of, end, graph_end = packing.tokenizer.count, written.end, written.graph_end
        nodes: list[Key] = [("node", id) for id in draft.node_ids]
        for key, part in zip(nodes, written.nodes, strict=True):
            if key not in sizes:
                sizes[key] = count_of(part + graph_end)
        facts: list[Key] = []
        for (subject, relation, target, time), part in zip(draft.facts, written.facts, strict=True):
            key = ("fact", draft.node_ids[subject], *draft.relations[relation], draft.node_ids[target], time)
            facts.append(key)
            if key not in sizes:
                sizes[key] = count_of(part + graph_end)
        sources: dict[str, Key] = {}
        for index, part in written.sources.items():
            key = ("source", draft.source_ids[index])
            sources[draft.source_ids[index]] = key
            if key not in sizes:
                sizes[key] = count_of(part + end)
        for place, unit, held, part in zip(places, units, draft.units, written.units, strict=True):
            needs: dict[Key, None] = {}
            if isinstance(held, PathDraft):
                for index in held.hops:
                    fact = draft.facts[index if index >= 0 else ~index]
                    needs[facts[index if index >= 0 else ~index]] = None
                    needs[nodes[fact[0]]] = None
                    needs[nodes[fact[2]]] = None
            if sources:
                for id in _sources(packing.bundle, unit):
                    if id in sources:
                        needs[sources[id]] = None
            self._measured[place] = (count_of(part + end), list(needs))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A unit by its place in the order, its size with all that it brought."""

    place: int
    size: int
    brought: list[Key]


def _sources(bundle: EvidenceBundle, unit: EvidenceUnit) -> Iterator[str]:
    """Ids of the sources behind a unit, with repeats."""
    if unit.path is not None:
        for hop in unit.path.hops:
            for id in hop.fact.assertion_ids:
                for support in bundle.supports.get(id, ()):
                    yield support.span.source_id
    elif unit.passage is not None:
        yield unit.passage.source_id
    elif unit.report is not None:
        yield from unit.report.source_ids


def _with_omissions(packing: _Packing, found: Packed, stated: Sequence[Omission]) -> Packed:
    """The text with as many omissions as there is room for."""
    left = packing.budget - found.tokens
    if not stated or left <= 0:
        return found
    written = packing.form.write(packing.draft((), stated))
    shown = 0
    for part in written.omissions:
        left -= packing.tokenizer.count(part + written.end)
        if left < 0:
            break
        shown += 1
    while shown:
        text = packing.packed(found.units, stated[:shown])
        if text.tokens <= packing.budget:
            return text
        shown -= 1
    return found
