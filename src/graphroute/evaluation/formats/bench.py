"""One benchmark of formats from graphs to report: gold first, then sizes, budgets, orders, recorded bundles and, if asked for, a model."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from graphroute.errors import DataError, UsageError
from graphroute.evaluation.formats.datasets import graph_of_dataset
from graphroute.evaluation.formats.distractors import enlarged
from graphroute.evaluation.formats.experiments import BUDGETS, Bench, BudgetRow, SizeRow, WindowRow, order_rows
from graphroute.evaluation.formats.fronts import model_points, walk_points
from graphroute.evaluation.formats.gold import check_gold
from graphroute.evaluation.formats.graph import BenchGraph, dump_graph, load_graph, pseudonymized
from graphroute.evaluation.formats.html import to_html
from graphroute.evaluation.formats.leaks import Leak, leaks_of
from graphroute.evaluation.formats.markdown import to_markdown
from graphroute.evaluation.formats.model_runs import REPLIES, Sampling, cases_of, load_replies, run
from graphroute.evaluation.formats.orders import SHUFFLED, Order
from graphroute.evaluation.formats.outcomes import marked, summed
from graphroute.evaluation.formats.prompt import FORMS, SYSTEM, joined, messages_of
from graphroute.evaluation.formats.recorded import BundleRow, bundle_rows
from graphroute.evaluation.formats.report import FormatReport, GraphInfo, Prices, VariantInfo
from graphroute.evaluation.formats.variants import Variant, variants_of
from graphroute.models.llm.base import ChatModel
from graphroute.models.tokenizers import load_tokenizer
from graphroute.resources import resource
from graphroute.serialization.formats import FORMATS

BUNDLED = ("projects", "services")
"""Graphs that ship with the package."""

FOLDER = "schema/benchmark/graphs"

PRODUCTION_ORDER = "breadth_first"
"""The order whose measurements `format: auto` reads: facts around the entities of the question come first, as retrieval returns them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is measured, and how.

    `graphs`: names of bundled graphs or files. `orders`: those that all variants are cut in; `factor_orders`: those compared as a factor, in the lean profile if
    it is among the profiles, on graphs of medium size; a shuffle among them runs `permutations` times. `window`: of the model, for whole graphs.
    """

    graphs: Sequence[str] = BUNDLED
    sizes: Sequence[str] = ("base", "small", "medium", "large")
    seed: int = 7
    large_facts: int | None = None
    datasets: Sequence[Path] = ()
    dataset_questions: int = 12
    dataset_facts: int = 300
    bundles: Sequence[Path] = ()
    bundle_limit: int = 50
    formats: Sequence[str] = ()
    profiles: Sequence[str] = ("full", "lean")
    budgets: Sequence[int] = BUDGETS
    orders: Sequence[str] = ("canonical", PRODUCTION_ORDER)
    factor_orders: Sequence[str] = (
        "canonical",
        "shuffled",
        "relevant_first",
        "breadth_first",
        "interleaved",
        "grouped",
    )
    permutations: int = 5
    tokenizer: str = "o200k_base"
    language: str | None = None
    pseudonymize: bool = False
    baseline: str = "pretty_json"
    prices: Prices = field(default_factory=Prices)
    tolerance: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """How a model is asked: on which sizes of graphs, in which orders, at which budgets (None: whole graphs), how often."""

    chat: ChatModel
    sampling: Sampling
    sizes: Sequence[str] = ("base", "dataset")
    orders: Sequence[str] = ("canonical",)
    budgets: Sequence[int | None] = (None,)
    permutations: int = 1
    repeats: int = 1
    window: int | None = None
    timeout: float = 120.0


Progress = Callable[[str, int], Callable[[], None]]
"""Called with the name of a stage and its number of steps; returns what is called after each step."""


def _silent(stage: str, steps: int) -> Callable[[], None]:
    return lambda: None


def graphs_of(settings: Settings) -> tuple[list[BenchGraph], dict[str, str]]:
    """The graphs, with gold checked, and for each dataset how many questions were left out. Raises DataError where solvers or stored gold disagree."""
    found: list[BenchGraph] = []
    left_out: dict[str, str] = {}
    for name in settings.graphs:
        path = resource(f"{FOLDER}/{name}.yaml") if name in BUNDLED else Path(name)
        graph = load_graph(path)
        check_gold(graph)
        if graph.size != "base":
            found.append(graph)
            continue
        found += [enlarged(graph, size, seed=settings.seed, facts=settings.large_facts) for size in settings.sizes]
    for directory in settings.datasets:
        made = graph_of_dataset(
            directory, questions=settings.dataset_questions, facts=settings.dataset_facts, seed=settings.seed
        )
        found.append(made.graph)
        left_out[made.graph.name] = f"{made.left_out} of {made.looked_at}"
    if settings.pseudonymize:
        found = [pseudonymized(graph, settings.seed) for graph in found]
        for graph in found:
            check_gold(graph)
    names = [graph.name for graph in found]
    if len(set(names)) != len(names):
        raise UsageError("two graphs have the same name", allowed="each name once")
    if not found:
        raise UsageError("no graph to measure", hint="name some with --graphs or --dataset")
    return found, left_out


def measure(
    settings: Settings, out: Path, *, model: ModelSettings | None = None, progress: Progress = _silent
) -> FormatReport:
    """Measures everything that the settings name and writes report.json, report.md, report.html, measurements.json, graphs and texts to `out`.

    Replies of a model are kept in `out` and marked again in every later run on the same graphs, with or without a model. Raises DataError
    before anything is measured if gold is in doubt, and after the sizes if a text does not come back as it was.
    """
    graphs, left_out = graphs_of(settings)
    variants = variants_of(settings.formats or FORMATS.names, settings.profiles)
    bench = Bench(tokenizer=load_tokenizer(settings.tokenizer), language=settings.language)
    out.mkdir(parents=True, exist_ok=True)
    files = {graph.name: f"graphs/{graph.name}.json" for graph in graphs}
    for graph in graphs:
        _write(out / files[graph.name], dump_graph(graph))

    sizes, windows = _sizes(bench, graphs, variants, settings, out, progress)
    budgets = _budgets(bench, graphs, variants, settings, progress)
    factor = _factor(bench, graphs, variants, settings, progress)
    bundles: list[BundleRow] = []
    for path in settings.bundles:
        bench.note = progress(f"bundles of {path.name}", len(variants) * 4)
        bundles += bundle_rows(path, variants, bench.tokenizer, limit=settings.bundle_limit, note=bench.note)
    if model is not None:
        _ask(bench, graphs, variants, model, out, progress)
    rows = summed(marked(load_replies(out / REPLIES), graphs, variants, bench))
    report = FormatReport(
        made_with={
            "graphroute": version("graphroute"),
            "python": platform.python_version(),
            "tokenizer": bench.tokenizer.identity,
        },
        settings={
            "seed": settings.seed,
            "budgets": list(settings.budgets),
            "orders": list(settings.orders),
            "permutations": settings.permutations,
            "language": settings.language,
            "pseudonymize": settings.pseudonymize,
        },
        baseline=settings.baseline,
        overhead=_overhead(bench),
        graphs=[
            GraphInfo(
                name=graph.name,
                base=graph.base,
                size=graph.size,
                seed=graph.seed,
                nodes=len(graph.nodes),
                facts=len(graph.edges),
                questions=len(graph.tasks),
                sha256=graph.sha256,
                file=files[graph.name],
            )
            for graph in graphs
        ],
        variants=[
            VariantInfo(
                label=variant.label,
                format=variant.form.name,
                version=variant.form.version,
                profile=variant.profile.value,
                grammar_tokens=bench.tokenizer.count(variant.form.grammar),
            )
            for variant in variants
        ],
        sizes=sizes,
        windows=windows,
        budgets=budgets,
        orders=order_rows(factor),
        points=[*walk_points(budgets), *model_points(rows, sizes)],
        bundles=bundles,
        model=rows,
        leaks=_leaks(graphs, variants, settings, out),
        left_out=left_out,
        prices=settings.prices,
    )
    _write(out / "report.json", report.dumps())
    _write(out / "report.md", to_markdown(report))
    _write(out / "report.html", to_html(report))
    order = PRODUCTION_ORDER if PRODUCTION_ORDER in settings.orders else settings.orders[0]
    if settings.baseline in {info.format for info in report.variants}:
        _write(out / "measurements.json", report.measurements(order=order, tolerance=settings.tolerance))
    return report


def _sizes(
    bench: Bench,
    graphs: Sequence[BenchGraph],
    variants: Sequence[Variant],
    settings: Settings,
    out: Path,
    progress: Progress,
) -> tuple[list[SizeRow], list[WindowRow]]:
    bench.note = progress("sizes", len(graphs) * len(variants))
    sizes, windows = [], []
    for graph in graphs:
        for variant in variants:
            row, text = bench.size(graph, variant)
            if not row.round_trip_equal or row.traversal < 1.0:
                raise DataError(
                    f"{variant.label} does not carry the graph: round trip {row.round_trip:.4f}, traversal {row.traversal:.4f}",
                    where=graph.name,
                    hint="nothing else is measured until it does",
                )
            sizes.append(row)
            windows += bench.windows(graph, variant, text, settings.budgets)
            _write(out / "texts" / graph.name / f"{variant.label.replace(':', '.')}.txt", text)
    return sizes, windows


def _budgets(
    bench: Bench, graphs: Sequence[BenchGraph], variants: Sequence[Variant], settings: Settings, progress: Progress
) -> list[BudgetRow]:
    runs = (len(settings.orders) + 1) * len(settings.budgets)
    bench.note = progress("budgets", len(graphs) * len(variants) * runs)
    rows = []
    for graph in graphs:
        for variant in variants:
            for order in settings.orders:
                rows += bench.budgets(graph, variant, settings.budgets, Order(order))
            rows += bench.raw(graph, variant, settings.budgets)
    return rows


def _factor(
    bench: Bench, graphs: Sequence[BenchGraph], variants: Sequence[Variant], settings: Settings, progress: Progress
) -> list[BudgetRow]:
    chosen = [graph for graph in graphs if graph.size in ("medium", "dataset")]
    lean = [variant for variant in variants if variant.profile.value == "lean"] or list(variants)
    budgets = [budget for budget in settings.budgets if 1024 <= budget <= 4096] or list(settings.budgets)
    orders = [order for name in settings.factor_orders for order in permutations(name, settings.permutations)]
    bench.note = progress("orders", len(chosen) * len(lean) * len(orders) * len(budgets))
    rows = []
    for graph in chosen:
        for variant in lean:
            for order in orders:
                rows += bench.budgets(graph, variant, budgets, order)
    return rows


def permutations(name: str, count: int) -> list[Order]:
    """The order, or for a shuffle one for each seed."""
    return [Order(name, seed) for seed in range(1, count + 1)] if name == SHUFFLED else [Order(name)]


def _ask(
    bench: Bench,
    graphs: Sequence[BenchGraph],
    variants: Sequence[Variant],
    model: ModelSettings,
    out: Path,
    progress: Progress,
) -> None:
    chosen = [graph for graph in graphs if graph.size in model.sizes]
    if not chosen:
        raise UsageError("no graph for the model", allowed=", ".join(sorted({graph.size for graph in graphs})))
    orders = [order for name in model.orders for order in permutations(name, model.permutations)]
    bench.note = lambda: None
    cases = list(
        cases_of(
            bench,
            chosen,
            variants,
            orders=orders,
            budgets=model.budgets,
            window=model.window,
            repeats=model.repeats,
        )
    )
    run(
        cases,
        model.chat,
        out,
        sampling=model.sampling,
        tokenizer=bench.tokenizer.identity,
        timeout=model.timeout,
        note=progress(f"model {model.chat.name}", len(cases)),
    )


def _leaks(graphs: Sequence[BenchGraph], variants: Sequence[Variant], settings: Settings, out: Path) -> list[Leak]:
    instructions = [SYSTEM, *FORMS.values(), *(variant.form.grammar for variant in variants)]
    names = [path.name for path in sorted(out.rglob("*")) if path.is_file()]
    return [
        leak
        for graph in graphs
        for leak in leaks_of(graph, instructions=instructions, file_names=names, language=settings.language)
    ]


def _overhead(bench: Bench) -> int:
    """Tokens of a prompt without grammar, relations, graph and question."""
    return bench.tokenizer.count(joined(messages_of("", grammar="", semantics=(), question="", kind="one")))


def _write(path: Path, text: str) -> None:
    """Writes the whole file or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
