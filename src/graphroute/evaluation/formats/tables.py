"""The tables of a format report, once for Markdown and HTML alike: a title, what it says, and cells that stay empty where nothing was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphroute.evaluation.formats.experiments import SizeRow
from graphroute.evaluation.formats.fronts import WALK
from graphroute.evaluation.formats.outcomes import ModelRow, Share
from graphroute.evaluation.formats.report import EMPTY, FormatReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table. `numbers`: how many of the last columns hold numbers."""

    title: str
    about: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: int


def tables_of(report: FormatReport) -> list[Table]:
    """All tables, in order; those that would have no row are left out."""
    every = [
        _graphs(report),
        _research(report),
        _minimal(report),
        _sizes(report),
        _windows(report),
        _budgets(report),
        _orders(report),
        _fronts(report),
        _bundles(report),
        _model(report),
        _leaks(report),
    ]
    return [table for table in every if table.rows]


def count(value: float | None) -> str:
    """A whole number with thin groups, or nothing."""
    return EMPTY if value is None else f"{value:,.0f}".replace(",", "\u202f")


def share(value: float | None) -> str:
    """Two decimals, or nothing."""
    return EMPTY if value is None else f"{value:.2f}"


def interval(value: Share | None) -> str:
    """Mean, interval and number of values, or nothing."""
    return EMPTY if value is None else f"{value.mean:.2f} [{value.low:.2f}, {value.high:.2f}] ({value.n})"


def money(value: float | None) -> str:
    """Six decimals, or nothing."""
    return EMPTY if value is None else f"{value:.6f}"


def _yes(value: bool) -> str:
    return "yes" if value else "NO"


def _graphs(report: FormatReport) -> Table:
    return Table(
        title="Graphs",
        about="Distractors are drawn from the seed and leave every answer and path as it is. The same graph has the same hash in every run.",
        head=("graph", "made from", "size", "seed", "SHA-256", "nodes", "facts", "questions"),
        rows=tuple(
            (
                graph.name,
                graph.base,
                graph.size,
                EMPTY if graph.seed is None else str(graph.seed),
                graph.sha256[:12],
                count(graph.nodes),
                count(graph.facts),
                count(graph.questions),
            )
            for graph in report.graphs
        ),
        numbers=3,
    )


def _bases(report: FormatReport) -> list[str]:
    """Graphs without distractors: those the small tables are about."""
    return [graph.name for graph in report.graphs if graph.size == "base"] or [graph.name for graph in report.graphs]


def _models(report: FormatReport, graph: str, variant: str) -> Sequence[ModelRow | None]:
    """Rows of whole graphs in canonical order, one for each model asked; one None if none was."""
    rows = [
        row
        for row in report.model
        if (row.graph, row.variant, row.budget, row.order) == (graph, variant, None, "canonical")
    ]
    return rows or (None,)


def _research(report: FormatReport) -> Table:
    rows = []
    for name in _bases(report):
        for size in _of(report, name):
            for model in _models(report, name, size.variant):
                rows.append(
                    (
                        name,
                        size.variant,
                        model.model if model else EMPTY,
                        count(size.graph_tokens),
                        count(size.prompt_tokens_mean),
                        share(size.round_trip),
                        interval(model.parse_success if model else None),
                        interval(model.answer_exact if model else None),
                        interval(model.path_exact if model else None),
                        interval(model.valid_path if model else None),
                        interval(model.abstention if model else None),
                        money(report.input_cost(size.prompt_tokens_mean)),
                    )
                )
    return Table(
        title="Format, tokens and what a model makes of it",
        about="Whole graphs without distractors. The prompt holds rules, grammar, relations, graph and question. Columns of a model are empty until one was asked; cost until a price was given.",
        head=(
            "graph",
            "format",
            "model",
            "graph tokens",
            "prompt tokens",
            "round trip",
            "replies parsed",
            "answer exact",
            "path exact",
            "valid path",
            "abstention",
            "input cost",
        ),
        rows=tuple(rows),
        numbers=9,
    )


def _minimal(report: FormatReport) -> Table:
    budgets = {
        (row.graph, row.variant, row.budget): row
        for row in report.budgets
        if row.cut == "records" and row.order == "canonical"
    }
    asked = {
        (row.graph, row.variant, row.budget): row for row in report.model if row.order == "canonical" and row.budget
    }
    rows = []
    for graph in report.graphs:
        if graph.size not in ("medium", "dataset"):
            continue
        for size in _of(report, graph.name):
            for budget in sorted({key[2] for key in budgets if key[:2] == (graph.name, size.variant)}):
                row, model = budgets[graph.name, size.variant, budget], asked.get((graph.name, size.variant, budget))
                rows.append(
                    (
                        graph.name,
                        size.variant,
                        count(size.graph_tokens),
                        _yes(size.round_trip_equal),
                        share(size.traversal),
                        count(budget),
                        share(row.traversal),
                        interval(model.parse_success if model else None),
                        interval(model.answer_exact if model else None),
                    )
                )
    return Table(
        title="Format at a budget",
        about="Traversal is first that of the whole text, then that of what the budget left of it in canonical order.",
        head=(
            "graph",
            "format",
            "tokens",
            "round trip equal",
            "traversal, whole",
            "budget",
            "traversal, cut",
            "replies parsed",
            "answer exact",
        ),
        rows=tuple(rows),
        numbers=7,
    )


def _of(report: FormatReport, graph: str) -> list[SizeRow]:
    return [row for row in report.sizes if row.graph == graph]


def _sizes(report: FormatReport) -> Table:
    rows = []
    for graph in report.graphs:
        own = _of(report, graph.name)
        base = next((row for row in own if row.variant == report.yardstick), None)
        compact = next((row for row in own if row.variant == "compact_json"), None)
        for row in own:
            rows.append(
                (
                    graph.name,
                    row.variant,
                    row.sha256[:12],
                    count(row.bytes),
                    count(row.graph_tokens),
                    count(row.grammar_tokens),
                    f"{count(row.prompt_tokens_min)} – {count(row.prompt_tokens_max)}",
                    share(row.graph_tokens / base.graph_tokens if base else None),
                    share(row.graph_tokens / compact.graph_tokens if compact else None),
                    share(row.prompt_tokens_mean / base.prompt_tokens_mean if base else None),
                    share(row.round_trip),
                    share(row.traversal),
                )
            )
    return Table(
        title="Sizes",
        about=f"Whole graphs in canonical order. Ratios are to {report.yardstick or report.baseline} and to compact_json, both of the same graph.",
        head=(
            "graph",
            "format",
            "SHA-256",
            "bytes",
            "graph tokens",
            "grammar tokens",
            "prompt tokens",
            f"graph / {report.yardstick or report.baseline}",
            "graph / compact_json",
            f"prompt / {report.yardstick or report.baseline}",
            "round trip",
            "traversal",
        ),
        rows=tuple(rows),
        numbers=9,
    )


def _windows(report: FormatReport) -> Table:
    windows = sorted({row.window for row in report.windows})
    rows = []
    for key in dict.fromkeys((row.graph, row.variant) for row in report.windows):
        found = {row.window: row for row in report.windows if (row.graph, row.variant) == key}
        cells = [
            EMPTY if window not in found else "fits" if found[window].outcome == "FITS" else found[window].outcome
            for window in windows
        ]
        rows.append((*key, *cells))
    return Table(
        title="The same graph in a window",
        about="Every format gets every fact. A prompt that is larger than the window is an outcome, CONTEXT_OVERFLOW; nothing is cut.",
        head=("graph", "format", *(f"{window} tokens" for window in windows)),
        rows=tuple(rows),
        numbers=len(windows),
    )


def _budgets(report: FormatReport) -> Table:
    return Table(
        title="The same budget",
        about=(
            "`records`: whole facts in one order, each with its nodes, as many as the finished prompt has room for. `raw`: the text cut after a token. "
            "Never to be read together with the table before. Complete: questions whose gold path is there in whole, with the 95 % Wilson interval. "
            "Traversal: those answered by parsing and walking what was sent."
        ),
        head=(
            "graph",
            "format",
            "order",
            "cut",
            "budget",
            "parsed",
            "facts",
            "nodes",
            "prompt tokens",
            "required facts",
            "complete paths",
            "traversal",
            "false answers",
        ),
        rows=tuple(
            (
                row.graph,
                row.variant,
                row.order,
                row.cut,
                count(row.budget),
                share(row.parsed),
                f"{row.facts:.1f}",
                f"{row.nodes:.1f}",
                count(row.prompt_tokens),
                share(row.required),
                f"{row.complete:.2f} [{row.complete_low:.2f}, {row.complete_high:.2f}] ({row.answerable})",
                share(row.traversal),
                str(row.false_answers),
            )
            for row in report.budgets
            if row.seed is None
        ),
        numbers=9,
    )


def _orders(report: FormatReport) -> Table:
    return Table(
        title="Orders of records",
        about="The order is a factor of its own: the same facts, the same budgets. A shuffle is run with several seeds; the spread is the population standard deviation over them.",
        head=(
            "graph",
            "format",
            "order",
            "budget",
            "runs",
            "complete, mean",
            "spread",
            "least – most",
            "traversal, mean",
            "spread",
        ),
        rows=tuple(
            (
                row.graph,
                row.variant,
                row.order,
                count(row.budget),
                str(row.permutations),
                share(row.complete_mean),
                share(row.complete_spread),
                f"{row.complete_least:.2f} – {row.complete_most:.2f}",
                share(row.traversal_mean),
                share(row.traversal_spread),
            )
            for row in report.orders
        ),
        numbers=7,
    )


def _fronts(report: FormatReport) -> Table:
    rows = []
    order = sorted(report.points, key=lambda one: (one.basis, one.order, one.budget or 0, one.tokens))
    for point in order:
        if point.on_front and point.scope == report.scope():
            rows.append(
                (
                    "parsed and walked" if point.basis == WALK else point.basis,
                    point.order,
                    "whole" if point.budget is None else count(point.budget),
                    point.variant,
                    count(point.tokens),
                    f"{point.accuracy:.2f} [{point.low:.2f}, {point.high:.2f}] ({point.n})",
                )
            )
    beaten = "; ".join(f"{key}: {', '.join(names)}" for key, names in report.undominated().items())
    return Table(
        title="Pareto fronts",
        about=f"Over {report.scope()}: variants that no other beats in tokens sent or in right answers without losing in the other, budget by budget. "
        f"Not beaten over all budgets together, by whole prompts and accuracy at each budget: {beaten}.",
        head=("answered by", "order", "budget", "format", "tokens", "right"),
        rows=tuple(rows),
        numbers=2,
    )


def _bundles(report: FormatReport) -> Table:
    compact = {
        (row.source, row.budget, row.variant.partition(":")[2]): row
        for row in report.bundles
        if row.variant.partition(":")[0] == "compact_json"
    }
    rows = []
    for row in report.bundles:
        other = compact.get((row.source, row.budget, "")) if row.budget else compact.get((row.source, None, ""))
        ratio = None
        if other is not None:
            ratio = (
                row.tokens / other.tokens if row.budget is None else row.paths / other.paths if other.paths else None
            )
        pressed = None
        if other is not None and row.pressed_paths is not None and other.pressed_paths:
            pressed = row.pressed_paths / other.pressed_paths
        rows.append(
            (
                row.source,
                row.variant,
                "whole" if row.budget is None else count(row.budget),
                str(row.bundles),
                count(row.tokens),
                f"{row.paths:.2f}",
                share(row.required),
                share(ratio),
                EMPTY if row.budget is None else str(row.pressed),
                share(row.pressed_paths),
                share(pressed),
            )
        )
    return Table(
        title="Recorded bundles",
        about=(
            "Packed as in production: complete paths first, the budget is that of the evidence text. To compact_json: tokens for whole bundles, complete paths at a budget. "
            "Pressed: the bundles that do not fit whole in compact_json; the last columns are about these alone."
        ),
        head=(
            "bundles of",
            "format",
            "budget",
            "bundles",
            "tokens",
            "complete paths",
            "required edges",
            "to compact_json",
            "pressed",
            "their paths",
            "to compact_json",
        ),
        rows=tuple(rows),
        numbers=9,
    )


def _model(report: FormatReport) -> Table:
    return Table(
        title="Model runs",
        about=(
            "Broken JSON fails every mark. Correct: an exact answer on a valid path, or a right abstention. A valid path names facts that are there, with the evidence of each, "
            "never turned round, each hop from where the one before arrived, and gives the answer by itself. Wilson intervals; bootstrap over questions for precision, recall and F1."
        ),
        head=(
            "graph",
            "format",
            "order",
            "budget",
            "model",
            "asked",
            "overflow",
            "errors",
            "parsed",
            "answer",
            "answer id",
            "path exact",
            "valid path",
            "edge precision",
            "edge recall",
            "set precision",
            "set recall",
            "set F1",
            "abstention",
            "false abstention",
            "correct",
            "spread",
            "prompt tokens",
            "completion tokens",
            "input cost",
            "output cost",
        ),
        rows=tuple(
            (
                row.graph,
                row.variant,
                row.order,
                "whole" if row.budget is None else count(row.budget),
                row.model,
                str(row.asked),
                str(row.overflow),
                str(row.errors),
                interval(row.parse_success),
                interval(row.answer_exact),
                interval(row.answer_id_exact),
                interval(row.path_exact),
                interval(row.valid_path),
                interval(row.edge_precision),
                interval(row.edge_recall),
                interval(row.set_precision),
                interval(row.set_recall),
                interval(row.set_f1),
                interval(row.abstention),
                interval(row.false_abstention),
                interval(row.correct),
                share(row.spread),
                count(row.prompt_tokens),
                count(row.completion_tokens),
                money(report.model_cost(row)["input_cost"]),
                money(report.model_cost(row)["output_cost"]),
            )
            for row in report.model
        ),
        numbers=21,
    )


def _leaks(report: FormatReport) -> Table:
    return Table(
        title="Leak checks",
        about="Grave: the answer can be read off without walking the graph. The others are worth knowing.",
        head=("graph", "question", "where", "what", "grave"),
        rows=tuple(
            (leak.graph, leak.task, leak.where, leak.what, "GRAVE" if leak.grave else "no") for leak in report.leaks
        ),
        numbers=0,
    )
