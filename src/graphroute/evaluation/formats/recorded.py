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

    `paths`: complete paths in the text; `required`: share of the edges that the question requires, over the questions that require any; None if none does.
    """

    source: str
    variant: str
    budget: int | None
    bundles: int
    tokens: float
    paths: float
    required: float | None
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
    """Rows of the first bundles of a file that hold paths. Raises DataError if there are none."""
    bundles: list[RecordedBundle] = []
    for recorded in load_bundles(path):
        if any(unit.path for unit in recorded.bundle.units):
            bundles.append(recorded)
        if len(bundles) == limit:
            break
    if not bundles:
        raise DataError("no bundle with a path", where=str(path))
    rows = []
    for variant in variants:
        rows.append(_whole(path.name, variant, bundles, tokenizer))
        for budget in budgets:
            rows.append(_packed(path.name, variant, bundles, tokenizer, budget))
            note()
    return rows


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
    source: str, variant: Variant, bundles: Sequence[RecordedBundle], tokenizer: Tokenizer, budget: int
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
    return _row(source, variant, bundles, budget, tokens, held, True)


def _row(
    source: str,
    variant: Variant,
    bundles: Sequence[RecordedBundle],
    budget: int | None,
    tokens: Sequence[int],
    held: Sequence[tuple[str, ...]],
    equal: bool,
) -> BundleRow:
    paths, required = [], []
    for recorded, ids in zip(bundles, held, strict=True):
        shown = [unit for unit in recorded.bundle.units if unit.id in set(ids)]
        paths.append(sum(unit.path is not None for unit in shown))
        if recorded.required_edges:
            edges = {id for unit in shown if unit.path for hop in unit.path.hops for id in hop.fact.assertion_ids}
            required.append(len(edges & set(recorded.required_edges)) / len(set(recorded.required_edges)))
    return BundleRow(
        source=source,
        variant=variant.label,
        budget=budget,
        bundles=len(bundles),
        tokens=statistics.fmean(tokens),
        paths=statistics.fmean(paths),
        required=statistics.fmean(required) if required else None,
        round_trip_equal=equal,
    )
