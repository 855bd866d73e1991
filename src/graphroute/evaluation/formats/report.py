"""The result of one benchmark as plain data: report.json, the tables that Markdown and HTML show, and the file that `format: auto` reads."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from graphroute.errors import UsageError
from graphroute.evaluation.formats.experiments import BudgetRow, OrderRow, SizeRow, WindowRow
from graphroute.evaluation.formats.fronts import ALL, WALK, Point, undominated
from graphroute.evaluation.formats.leaks import Leak
from graphroute.evaluation.formats.outcomes import ModelRow, Share
from graphroute.evaluation.formats.recorded import BundleRow
from graphroute.serialization.choice import SCHEMA

EMPTY = ""
"""What a table shows where nothing was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices per million tokens, in whatever currency; None: not given, so nothing is computed from them."""

    input: float | None = None
    output: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphInfo:
    """A graph that was measured, and the file that keeps it."""

    name: str
    base: str
    size: str
    seed: int | None
    nodes: int
    facts: int
    questions: int
    sha256: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantInfo:
    """A variant: format, version and profile."""

    label: str
    format: str
    version: str
    profile: str
    grammar_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatReport:
    """Everything that was measured. Whatever was not is an empty list."""

    made_with: Mapping[str, str]
    settings: Mapping[str, Any]
    baseline: str
    overhead: int
    graphs: Sequence[GraphInfo]
    variants: Sequence[VariantInfo]
    sizes: Sequence[SizeRow]
    windows: Sequence[WindowRow] = ()
    budgets: Sequence[BudgetRow] = ()
    orders: Sequence[OrderRow] = ()
    points: Sequence[Point] = ()
    bundles: Sequence[BundleRow] = ()
    model: Sequence[ModelRow] = ()
    leaks: Sequence[Leak] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    prices: Prices = field(default_factory=Prices)

    def to_json(self) -> dict[str, Any]:
        """Plain data, keys in a stable order."""
        return {
            "schema": SCHEMA,
            "made_with": dict(self.made_with),
            "settings": dict(self.settings),
            "baseline": self.baseline,
            "prompt_overhead_tokens": self.overhead,
            "prices": asdict(self.prices),
            "graphs": [asdict(one) for one in self.graphs],
            "questions_left_out": dict(self.left_out),
            "variants": [asdict(one) for one in self.variants],
            "sizes": [{**asdict(row), "input_cost": self.input_cost(row.prompt_tokens_mean)} for row in self.sizes],
            "same_graph": [asdict(row) for row in self.windows],
            "same_budget": [asdict(row) for row in self.budgets],
            "orders": [asdict(row) for row in self.orders],
            "points": [asdict(point) for point in self.points],
            "undominated": self.undominated(),
            "bundles": [asdict(row) for row in self.bundles],
            "model": [{**asdict(row), **self.model_cost(row)} for row in self.model],
            "leaks": [asdict(leak) for leak in self.leaks],
        }

    def dumps(self) -> str:
        """report.json."""
        return json.dumps(self.to_json(), ensure_ascii=False, indent=1) + "\n"

    def input_cost(self, tokens: float | None) -> float | None:
        """Cost of one prompt, None without a price or a count."""
        if tokens is None or self.prices.input is None:
            return None
        return tokens / 1_000_000 * self.prices.input

    def model_cost(self, row: ModelRow) -> dict[str, float | None]:
        """Mean cost of one answer from the endpoint's own counts."""
        output = None
        if row.completion_tokens is not None and self.prices.output is not None:
            output = row.completion_tokens / 1_000_000 * self.prices.output
        return {"input_cost": self.input_cost(row.prompt_tokens), "output_cost": output}

    @property
    def yardstick(self) -> str | None:
        """The variant that ratios are to: the baseline in its fullest profile; None if it was not measured."""
        return next((info.label for info in self.variants if info.format == self.baseline), None)

    def whole_tokens(self) -> dict[str, float]:
        """Mean prompt tokens of the whole graphs by variant."""
        found: dict[str, list[float]] = {}
        for row in self.sizes:
            found.setdefault(row.variant, []).append(row.prompt_tokens_mean)
        return {variant: statistics.fmean(tokens) for variant, tokens in found.items()}

    def scope(self) -> str:
        """What plots and the choice are made over: all graphs, or the only one."""
        return ALL if len({row.graph for row in self.sizes}) > 1 else self.sizes[0].graph

    def undominated(self) -> dict[str, list[str]]:
        """For each basis and order the variants that no other beats over all budgets together."""
        found: dict[str, list[str]] = {}
        scope, tokens = self.scope(), self.whole_tokens()
        for basis, order in dict.fromkeys((point.basis, point.order) for point in self.points):
            points = [
                point for point in self.points if (point.scope, point.basis, point.order) == (scope, basis, order)
            ]
            if points:
                found[f"{basis}, {order}"] = undominated(points, tokens)
        return found

    def ratios(self, info: VariantInfo) -> list[float]:
        """Whole prompt over the baseline's in the same profile, for each graph."""
        label = next(one.label for one in self.variants if (one.format, one.profile) == (self.baseline, info.profile))
        base = {row.graph: row.prompt_tokens_mean for row in self.sizes if row.variant == label}
        return [row.prompt_tokens_mean / base[row.graph] for row in self.sizes if row.variant == info.label]

    def measurements(self, *, order: str, tolerance: Mapping[str, float] | None = None) -> str:
        """measurements.json, from the walk in one order and from every model. Raises UsageError if the baseline was not among the variants."""
        known = {info.format for info in self.variants}
        if self.baseline not in known:
            raise UsageError(f"the baseline {self.baseline!r} was not measured", allowed=", ".join(sorted(known)))
        rows = [*self._walk_measurements(order), *self._model_measurements()]
        value = {
            "schema": SCHEMA,
            "tokenizer": self.made_with["tokenizer"],
            "overhead": self.overhead,
            "baseline": self.baseline,
            "tolerance": dict(tolerance or {}),
            "graphs": {graph.name: graph.sha256 for graph in self.graphs},
            "rows": rows,
        }
        return json.dumps(value, ensure_ascii=False, indent=1) + "\n"

    def _walk_measurements(self, order: str) -> list[dict[str, Any]]:
        rows = []
        scope = self.scope()
        for info in self.variants:
            budgets: dict[int, list[BudgetRow]] = {}
            for row in self.budgets:
                if (row.variant, row.cut, row.order) == (info.label, "records", order):
                    budgets.setdefault(row.budget, []).append(row)
            for budget, members in sorted(budgets.items()):
                point = next(
                    one
                    for one in self.points
                    if (one.scope, one.basis, one.order, one.budget, one.variant)
                    == (scope, WALK, order, budget, info.label)
                )
                answerable = sum(row.answerable for row in members)
                without = sum(row.questions - row.answerable for row in members)
                valid = sum(row.traversal * row.answerable for row in members)
                false = sum(row.false_answers for row in members)
                rows.append(
                    self._measured(
                        info,
                        model=None,
                        budget=budget,
                        valid_paths=valid / answerable if answerable else 0.0,
                        abstention=1 - false / without if without else None,
                        accuracy=point.accuracy,
                        n=point.n,
                    )
                )
        return rows

    def _model_measurements(self) -> list[dict[str, Any]]:
        rows = []
        groups: dict[tuple[str, int | None, str], list[ModelRow]] = {}
        for row in self.model:
            groups.setdefault((row.model, row.budget, row.variant), []).append(row)
        for (model, budget, variant), members in groups.items():
            info = next(one for one in self.variants if one.label == variant)
            valid = _pooled([row.valid_path for row in members])
            correct = _pooled([row.correct for row in members])
            if valid is None or correct is None:
                continue
            abstention = _pooled([row.abstention for row in members])
            rows.append(
                self._measured(
                    info,
                    model=model,
                    budget=budget,
                    valid_paths=valid[0],
                    abstention=abstention[0] if abstention else None,
                    accuracy=correct[0],
                    n=correct[1],
                )
            )
        return rows

    def _measured(self, info: VariantInfo, **values: Any) -> dict[str, Any]:
        ratios = self.ratios(info)
        equal = [row.round_trip_equal for row in self.sizes if row.variant == info.label]
        shown = {name: round(value, 6) if isinstance(value, float) else value for name, value in values.items()}
        return {
            "model": shown.pop("model"),
            "format": info.format,
            "version": info.version,
            "profile": info.profile,
            "budget": shown.pop("budget"),
            "prompt_ratio": round(statistics.fmean(ratios), 6),
            "prompt_ratio_most": round(max(ratios), 6),
            "round_trip": statistics.fmean(equal),
            **shown,
        }


def _pooled(shares: Sequence[Share | None]) -> tuple[float, int] | None:
    known = [share for share in shares if share is not None]
    n = sum(share.n for share in known)
    return (sum(share.mean * share.n for share in known) / n, n) if n else None
