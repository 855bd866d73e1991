"""Packs whole evidence units into a token budget, measured on the finished text."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from graphroute.models.tokenizers.base import Tokenizer
from graphroute.serialization.formats.base import Format
from graphroute.serialization.orderings import Hints, Ordering, given
from graphroute.serialization.records import Profile, Records, local_ids, project, records_of
from graphroute.types.evidence import EvidenceBundle, EvidenceUnit, Omission
from graphroute.types.graph import Path

MAX_SKIPPED = 16
"""How many units too large for what is left may be passed over in search of smaller ones."""

MAX_LOOKED_AT = 200
"""How many units may be looked at in that search, so that it takes no longer for a larger bundle."""

MAX_OMISSIONS = 12
"""How many omissions the text states; the bundle holds all of them."""

ANSWER_SHARE = 0.5
"""Share of the budget that the list of answers may take, where not all evidence fits."""

SAMPLE = 12
"""From so many units it is judged how many will fit."""

LEAST_TOKENS = 3
"""What a unit, a new node and a new fact take at least, each."""


@dataclass(frozen=True, slots=True)
class Packed:
    """The text, its exact size, the units, and how many nodes and facts are in it. `references`: ids by the local ids of a lean text."""

    text: str
    tokens: int
    units: tuple[EvidenceUnit, ...]
    nodes: int = 0
    facts: int = 0
    references: Mapping[str, str] = field(default_factory=dict)


class _Estimate:
    """Sizes by line, counted once each: close to the size of the whole, since encodings seldom join across line ends."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._count = tokenizer.count
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        known, count, total = self._known, self._count, 0
        for line in text.split("\n"):
            size = known.get(line)
            if size is None:
                known[line] = size = count(f"{line}\n")
            total += size
        return total


class _Packing:
    """Texts of parts of one bundle and their sizes, kept by what is in them."""

    def __init__(
        self,
        bundle: EvidenceBundle,
        form: Format,
        budget: int,
        tokenizer: Tokenizer,
        profile: Profile,
        arrange: Ordering,
        seed: int,
    ) -> None:
        self.bundle = bundle
        self.form = form
        self.budget = budget
        self.count = tokenizer.count
        self.estimate = _Estimate(tokenizer)
        self.profile = profile
        self.arrange = arrange
        self.hints = Hints(anchors=bundle.anchors, seed=seed)
        self.answers = len(bundle.answers)
        self.sizes: dict[object, int] = {}

    def write(self, units: Sequence[EvidenceUnit], omissions: Sequence[Omission] = ()) -> tuple[str, Records]:
        """The text of some units, in order of rank, and the records it was made from, in full."""
        ranked = sorted(units, key=lambda unit: unit.rank)
        records = records_of(self.bundle, units=ranked, answers=self.answers, omissions=omissions)
        records = self.arrange(records, self.hints)
        return self.form.dumps(project(records, self.profile)), records

    def size(self, units: Sequence[EvidenceUnit], omissions: Sequence[Omission] = ()) -> int:
        """About how many tokens their text has."""
        key = (self.answers, len(omissions), *sorted(unit.id for unit in units))
        if key not in self.sizes:
            self.sizes[key] = self.estimate(self.write(units, omissions)[0])
        return self.sizes[key]

    def fits(self, units: Sequence[EvidenceUnit], omissions: Sequence[Omission] = ()) -> bool:
        """True if their text is about within the budget."""
        return self.size(units, omissions) <= self.budget

    def packed(self, units: Sequence[EvidenceUnit], omissions: Sequence[Omission]) -> Packed | None:
        """The finished text, None if it is over the budget."""
        text, records = self.write(units, omissions)
        tokens = self.count(text)
        if tokens > self.budget:
            return None
        references: dict[str, str] = {}
        if self.profile is Profile.LEAN:
            for ids in local_ids(records):
                references.update((local, id) for id, local in ids.items())
        ranked = tuple(sorted(units, key=lambda unit: unit.rank))
        return Packed(text, tokens, ranked, len(records.nodes), len(records.facts), references)


def pack(
    bundle: EvidenceBundle,
    *,
    form: Format,
    budget: int,
    tokenizer: Tokenizer,
    profile: Profile = Profile.FULL,
    arrange: Ordering = given,
    seed: int = 0,
) -> Packed:
    """The finished text of at most `budget` tokens.

    Units are taken in bundle order with complete paths first, and one too large for what is left is passed over. Then the reasons for what is
    missing, as far as there is room. Empty text if not even the header fits. A bundle that fits as a whole is written and counted once; else
    the number of units that fit is judged from a few of them and found by texts of about that size.
    """
    with _collector_paused():
        return _packed(_Packing(bundle, form, budget, tokenizer, profile, arrange, seed))


@contextmanager
def _collector_paused() -> Iterator[None]:
    """No cycle collection meanwhile: tens of thousands of records made at once, none in a cycle, would start several over the whole heap."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _packed(packing: _Packing) -> Packed:
    bundle, budget = packing.bundle, packing.budget
    order = sorted(bundle.units, key=lambda unit: (unit.kind != "path", unit.rank))
    stated = bundle.omissions[:MAX_OMISSIONS]
    share = _judged(packing, order)
    if share >= len(order):
        whole = packing.packed(order, stated)
        if whole is not None:
            return whole
    answers = len(bundle.answers)

    def room_for(count: int) -> bool:
        packing.answers = count
        return packing.size(()) <= budget * ANSWER_SHARE

    packing.answers = _longest(answers, room_for, guess=answers)
    chosen = _chosen(packing, order, share)
    shown = _longest(len(stated), lambda count: packing.fits(chosen, stated[:count]), guess=len(stated))
    while True:
        found = packing.packed(chosen, stated[:shown])
        if found is not None:
            return found
        if shown:
            shown -= 1
        elif chosen:
            chosen.pop()
        elif packing.answers:
            packing.answers -= 1
        else:
            return Packed("", 0, ())


def _judged(packing: _Packing, order: Sequence[EvidenceUnit]) -> int:
    """About how many units of the order fit: the number of paths from a few of them, texts by their length."""
    if len(order) <= SAMPLE:
        return len(order)
    left = float(packing.budget)
    paths = [unit for unit in order if unit.path]
    if paths:
        sample = paths[:SAMPLE]
        text, _ = packing.write(sample)
        each = packing.estimate(text) / len(sample)
        if each * len(paths) * 0.5 > left:
            return max(1, int(left / each))
        left -= each * len(paths) * 0.5
    for number, unit in enumerate(order[len(paths) :], start=len(paths)):
        left -= _length(unit) / 8
        if left < 0:
            return number
    return len(order)


def _length(unit: EvidenceUnit) -> int:
    return len(unit.passage.text if unit.passage else unit.report.text if unit.report else "")


def _chosen(packing: _Packing, order: Sequence[EvidenceUnit], guess: int) -> list[EvidenceUnit]:
    chosen: list[EvidenceUnit] = []
    start, skipped, looked_at = 0, 0, 0
    beside = _Beside(packing)
    while start < len(order) and skipped <= MAX_SKIPPED and looked_at < MAX_LOOKED_AT:
        left = packing.budget - packing.size(chosen)
        if left < 2 * LEAST_TOKENS:
            break
        while start < len(order) and looked_at < MAX_LOOKED_AT and not beside.may_fit(order[start], left):
            start += 1
            looked_at += 1
        rest = order[start:]

        def room_for(count: int, rest: Sequence[EvidenceUnit] = rest) -> bool:
            return packing.fits([*chosen, *rest[:count]])

        taken = _longest(len(rest), room_for, guess=1 if skipped else guess)
        chosen.extend(rest[:taken])
        beside.take(rest[:taken])
        if taken < len(rest):
            beside.refuse(rest[taken])
        start += taken + 1
        skipped += 1
    return chosen


class _Beside:
    """What a unit would add to the chosen ones, and whether it is worth a try."""

    def __init__(self, packing: _Packing) -> None:
        self._estimate = packing.estimate
        self._held: set[object] = set()
        self._too_many = 1_000_000

    def take(self, units: Sequence[EvidenceUnit]) -> None:
        for unit in units:
            if unit.path:
                for hop in unit.path.hops:
                    self._held.update((hop.fact.key, hop.start, hop.end))

    def refuse(self, unit: EvidenceUnit) -> None:
        """Remembers how much was new in a path that did not fit: another with as much will not either."""
        if unit.path:
            self._too_many = min(self._too_many, self._new(unit.path))

    def may_fit(self, unit: EvidenceUnit, left: int) -> bool:
        if unit.path is None:
            text = unit.passage.text if unit.passage else unit.report.text if unit.report else ""
            # Other line ends than the text's own may save a little.
            return self._estimate(text) * 0.9 <= left
        new = self._new(unit.path)
        return new < self._too_many and LEAST_TOKENS * (1 + new) <= left

    def _new(self, path: Path) -> int:
        return len({one for hop in path.hops for one in (hop.fact.key, hop.start, hop.end)} - self._held)


def _longest(most: int, fits: Callable[[int], bool], *, guess: int) -> int:
    """The largest count up to `most` that fits, found by ever larger steps from the guess and then by halving; 0 is taken for granted."""
    guess = min(max(guess, 0), most)
    low, high, step = 0, most + 1, max(1, guess // 16)
    probe = guess
    while 0 < probe < high:
        if fits(probe):
            low = probe
            if high <= most:
                break
            probe = min(probe + step, most)
            if low == most:
                return most
        else:
            high = probe
            if low:
                break
            probe -= step
        step *= 2
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low
