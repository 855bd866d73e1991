"""Intervals and quantiles for the report."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

Z_95 = 1.959963984540054


def wilson(mean: float, n: int) -> tuple[float, float]:
    """95 % score interval of a share (Wilson 1927). For a mean of values in [0, 1] it is wider than needed, never narrower."""
    if n == 0:
        return (0.0, 1.0)
    z2 = Z_95 * Z_95
    centre = (mean + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 * math.sqrt(mean * (1 - mean) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return (max(0.0, centre - half), min(1.0, centre + half))


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value at or above `share` of all values (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def bootstrap(groups: Sequence[Sequence[float]], *, draws: int = 1_000, seed: int = 0) -> tuple[float, float]:
    """95 % percentile interval of the mean (Efron 1979), resampling whole groups: values of one question stay together. No values: (0, 1)."""
    filled = [list(group) for group in groups if group]
    if not filled:
        return (0.0, 1.0)
    rng = random.Random(seed)  # noqa: S311 - a repeatable interval, nothing secret
    means = []
    for _ in range(draws):
        drawn = [value for group in rng.choices(filled, k=len(filled)) for value in group]
        means.append(sum(drawn) / len(drawn))
    return (quantile(means, 0.025), quantile(means, 0.975))
