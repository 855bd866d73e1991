"""Packs whole evidence units into a token budget, measured on the finished text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphroute.models.tokenizers.base import Tokenizer
from graphroute.serialization.formats.base import Format
from graphroute.serialization.records import records_of
from graphroute.types.evidence import EvidenceBundle, EvidenceUnit, Omission

MAX_SKIPPED = 16
"""How many units too large for what is left may be passed over in search of smaller ones."""

MAX_OMISSIONS = 12
"""How many omissions the text states; the bundle holds all of them."""

LEAST_PATH_TOKENS = 8
"""About what the shortest path takes: where even so many each are too many, the text of all units is not tried first."""

ANSWER_SHARE = 0.5
"""Share of the budget that the list of answers may take."""


@dataclass(frozen=True, slots=True)
class Packed:
    """The text, its exact size, and the units in it."""

    text: str
    tokens: int
    units: tuple[EvidenceUnit, ...]


class _Estimate:
    """Sizes by line, counted once each: close to the size of the whole, since encodings seldom join across line ends."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._count = tokenizer.count
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        total = 0
        for line in text.split("\n"):
            if line not in self._known:
                self._known[line] = self._count(f"{line}\n")
            total += self._known[line]
        return total


def pack(bundle: EvidenceBundle, *, form: Format, budget: int, tokenizer: Tokenizer) -> Packed:
    """The finished text of at most `budget` tokens.

    Units are taken in bundle order with complete paths first, and one too large for what is left is passed over. Then the reasons for what is
    missing, as far as there is room. Empty text if not even the header fits.
    """
    estimate = _Estimate(tokenizer)

    answers = _longest(
        len(bundle.answers),
        lambda count: (
            estimate(form.dumps(records_of(bundle, units=(), answers=count, omissions=()))) <= budget * ANSWER_SHARE
        ),
    )
    order = sorted(bundle.units, key=lambda unit: (unit.kind != "path", unit.rank))
    chosen: list[EvidenceUnit] = []

    written: dict[object, str] = {}
    sizes: dict[object, int] = {}

    def units_with(extra: Sequence[EvidenceUnit]) -> list[EvidenceUnit]:
        return sorted([*chosen, *extra], key=lambda unit: unit.rank)

    def key_of(extra: Sequence[EvidenceUnit], omissions: Sequence[Omission]) -> object:
        return (answers, len(omissions), *(unit.id for unit in units_with(extra)))

    def write(extra: Sequence[EvidenceUnit], omissions: Sequence[Omission] = ()) -> str:
        key = key_of(extra, omissions)
        if key not in written:
            # The text asked for again is the one that was tried last; sizes of all are kept.
            written.clear()
            written[key] = form.dumps(records_of(bundle, units=units_with(extra), answers=answers, omissions=omissions))
        return written[key]

    def size(extra: Sequence[EvidenceUnit], omissions: Sequence[Omission] = ()) -> int:
        key = key_of(extra, omissions)
        if key not in sizes:
            sizes[key] = estimate(write(extra, omissions))
        return sizes[key]

    start, skipped = 0, 0
    while start < len(order) and skipped <= MAX_SKIPPED:
        left = budget - size(())
        while start < len(order) and _at_least(order[start], estimate) > left:
            start += 1
        rest = order[start:]

        def room_for(count: int, rest: Sequence[EvidenceUnit] = rest) -> bool:
            return size(rest[:count]) <= budget

        hopeful = not skipped and left >= sum(
            LEAST_PATH_TOKENS if unit.path else _at_least(unit, estimate) for unit in rest
        )
        taken = _longest(len(rest), room_for, hopeful=hopeful)
        chosen.extend(rest[:taken])
        start += taken + 1
        skipped += 1
    stated = bundle.omissions[:MAX_OMISSIONS]
    shown = _longest(len(stated), lambda count: size((), stated[:count]) <= budget, hopeful=True)
    while True:
        text = write((), stated[:shown])
        tokens = tokenizer.count(text)
        if tokens <= budget:
            return Packed(text, tokens, tuple(sorted(chosen, key=lambda unit: unit.rank)))
        if shown:
            shown -= 1
        elif chosen:
            chosen.pop()
        elif answers:
            answers -= 1
        else:
            return Packed("", 0, ())


def _at_least(unit: EvidenceUnit, estimate: _Estimate) -> int:
    """Tokens that a unit takes whatever the format: those of its text, less what other line ends may save."""
    text = unit.passage.text if unit.passage else unit.report.text if unit.report else ""
    return estimate(text) * 9 // 10


def _longest(most: int, fits: Callable[[int], bool], *, hopeful: bool = False) -> int:
    """The largest count up to `most` that fits, found by doubling and halving; 0 is taken for granted.

    `hopeful`: `most` is tried first.
    """
    if hopeful and (most == 0 or fits(most)):
        return most
    low, step = 0, 1
    while low < most:
        probe = min(low + step, most)
        if not fits(probe):
            break
        low, step = probe, step * 2
    else:
        return low
    high = min(low + step, most)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low
