"""Formats measured on recorded bundles: their size in whole, and how many complete paths the production packer gets into a budget."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphroute.errors import DataError
from graphroute.evaluation.bundles import RecordedBundle, load_bundles
from graphroute.evaluation.formats.variants import Variant, fidelity
from graphroute.models.tokenizers.base import Tokenizer
from graphroute.serialization.records import records_of
from graphroute.serialization.serialize import serialize

BUDGETS = (512, 1024, 2048, 4096)
"""Tokens of the evidence text, as a routes file has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleRow:
    """A file of bundles in one variant. `budget` None: whole bundles; else what the packer put in. Means over the bundles that hold paths.

    `paths`: complete paths in the text; `required`: share of the edges that the question requires, over the questions that require any; None if none does. `pressed`:
    bundles that do not fit whole in `compact_json` (without it: in the first variant), the same for every variant; `pressed_paths`: complete paths of these alone.
    """

    source: str
    variant: str
    budget: int | None
    bundles: int
    tokens: float
    paths: float
    required: float | None
    pressed: int
    pressed_paths: float | None
    round_trip_equal: bool


def bundle_rows(
    path: Path,
    variants: Sequence[Variant],
    tokenizer: Tokenizer,
    *,
    budgets: Sequence[int] = BUDGETS,
    limit: int = 50,
    note: Callable[[], None] = lambda: None,
) -> list[BundleRow]:
    """Rows of up to `limit` bundles of a file that hold paths, spread evenly over it. Raises DataError if there are none."""
    holding = [recorded for recorded in load_bundles(path) if any(unit.path for unit in recorded.bundle.units)]
    if not holding:
        raise DataError("no bundle with a path", where=str(path))
    taken = min(limit, len(holding))
    bundles = [holding[place * len(holding) // taken] for place in range(taken)]
    sizes = _reference_sizes(variants, bundles, tokenizer)
    # Runs of one system over several data sets differ by their folder only.
    source = f"{path.resolve().parent.name}/{path.name}"
    rows = []
    for variant in variants:
        rows.append(_whole(source, variant, bundles, tokenizer))
        for budget in budgets:
            pressed = [size > budget for size in sizes]
            rows.append(_packed(source, variant, bundles, tokenizer, budget, pressed))
            note()
    return rows


def _reference_sizes(variants: Sequence[Variant], bundles: Sequence[RecordedBundle], tokenizer: Tokenizer) -> list[int]:
    """Tokens of each whole bundle in the variant by which pressure is told."""
    reference = next((variant for variant in variants if variant.label == "compact_json"), variants[0])
    return [
        tokenizer.count(reference.form.dumps(records_of(recorded.bundle), reference.profile)) for recorded in bundles
    ]


def _whole(source: str, variant: Variant, bundles: Sequence[RecordedBundle], tokenizer: Tokenizer) -> BundleRow:
    tokens, equal = [], True
    for recorded in bundles:
        records = records_of(recorded.bundle)
        text = variant.form.dumps(records, variant.profile)
        tokens.append(tokenizer.count(text))
        equal = equal and fidelity(variant, text, records).equal
    held = [tuple(unit.id for unit in recorded.bundle.units) for recorded in bundles]
    return _row(source, variant, bundles, None, tokens, held, equal)


def _packed(
    source: str,
    variant: Variant,
    bundles: Sequence[RecordedBundle],
    tokenizer: Tokenizer,
    budget: int,
    pressed: Sequence[bool],
) -> BundleRow:
    tokens, held = [], []
    for recorded in bundles:
        written = serialize(
            recorded.bundle,
            format=variant.form.name,
            profile=variant.profile,
            budget=budget,
            tokenizer=tokenizer,
        )
        tokens.append(written.tokens)
        held.append(written.included)
    return _row(source, variant, bundles, budget, tokens, held, True, pressed)


def _row(
    source: str,
    variant: Variant,
    bundles: Sequence[RecordedBundle],
    budget: int | None,
    tokens: Sequence[int],
    held: Sequence[tuple[str, ...]],
    equal: bool,
    pressed: Sequence[bool] = (),
) -> BundleRow:
    paths, required = [], []
    for recorded, ids in zip(bundles, held, strict=True):
        shown = [unit for unit in recorded.bundle.units if unit.id in set(ids)]
        paths.append(sum(unit.path is not None for unit in shown))
        if recorded.required_edges:
            edges = {id for unit in shown if unit.path for hop in unit.path.hops for id in hop.fact.assertion_ids}
            required.append(len(edges & set(recorded.required_edges)) / len(set(recorded.required_edges)))
    squeezed = [count for count, under in zip(paths, pressed, strict=bool(pressed)) if under]
    return BundleRow(
        source=source,
        variant=variant.label,
        budget=budget,
        bundles=len(bundles),
        tokens=statistics.fmean(tokens),
        paths=statistics.fmean(paths),
        required=statistics.fmean(required) if required else None,
        pressed=sum(pressed),
        pressed_paths=statistics.fmean(squeezed) if squeezed else None,
        round_trip_equal=equal,
    )
