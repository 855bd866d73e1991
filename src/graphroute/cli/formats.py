"""`graphroute formats`: lists formats, shows the grammar of one, and measures them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from graphroute.cli import output
from graphroute.cli.options import FilePath, common
from graphroute.errors import UsageError


@click.group("formats")
def formats() -> None:
    """List, show and measure the formats of evidence text."""


@formats.command("list")
@common
def list_formats(as_json: bool) -> None:
    """List the formats with version and the tokens of their grammar."""
    from graphroute.models.tokenizers import load_tokenizer
    from graphroute.serialization.formats import FORMATS

    tokenizer = load_tokenizer("o200k_base")
    rows = []
    for name in FORMATS:
        form = FORMATS.load(name)()
        rows.append((form.name, form.version, tokenizer.count(form.grammar)))
    if as_json:
        output.write_json([{"name": name, "version": version, "grammar_tokens": size} for name, version, size in rows])
        return
    output.table(
        [[name, version, str(size)] for name, version, size in rows], header=["format", "version", "grammar tokens"]
    )


@formats.command("show")
@click.argument("name")
@common
def show_format(name: str, as_json: bool) -> None:
    """Show how the format NAME is read: its grammar as a model gets it, and how it is written."""
    import inspect

    from graphroute.serialization.formats import FORMATS

    kind = FORMATS.load(name)
    form = kind()
    module = inspect.getmodule(kind)
    written = inspect.getdoc(module) or ""
    if as_json:
        output.write_json(
            {"name": form.name, "version": form.version, "grammar": form.grammar, "specification": written}
        )
        return
    output.write(f"{form.name}/{form.version}")
    output.heading("For a model")
    output.write(form.grammar)
    output.heading("In full")
    output.write(written)


def _names(value: str | None) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in (value or "").split(",") if name.strip()))


@formats.command("bench")
@click.option("--out", type=FilePath, required=True, help="Folder for the report, graphs, texts and replies.")
@click.option(
    "--graphs",
    metavar="A,B,...",
    default="projects,services",
    show_default=True,
    help="Bundled graphs, or graph files.",
)
@click.option(
    "--sizes",
    metavar="A,B,...",
    default="base,small,medium,large",
    show_default=True,
    help="Sizes to which distractors are added.",
)
@click.option("--seed", type=int, default=7, show_default=True, help="Seed of distractors, samples and new ids.")
@click.option("--large-facts", type=click.IntRange(min=1), metavar="N", help="Facts of a large graph.")
@click.option("--dataset", "datasets", type=FilePath, multiple=True, help="A dataset directory; may be repeated.")
@click.option("--dataset-questions", type=click.IntRange(min=1), default=12, show_default=True, metavar="N")
@click.option("--dataset-facts", type=click.IntRange(min=1), default=300, show_default=True, metavar="N")
@click.option("--bundles", type=FilePath, multiple=True, help="Bundles recorded by graphroute eval; may be repeated.")
@click.option("--bundle-limit", type=click.IntRange(min=1), default=50, show_default=True, metavar="N")
@click.option("--formats", "format_names", metavar="A,B,...", help="Formats; all if left out.")
@click.option("--profiles", metavar="A,B", default="full,lean", show_default=True)
@click.option(
    "--budgets",
    metavar="N,N,...",
    default="512,1024,2048,4096,8192",
    show_default=True,
    help="Tokens of the whole prompt.",
)
@click.option(
    "--permutations", type=click.IntRange(min=1), default=5, show_default=True, metavar="N", help="Runs of a shuffle."
)
@click.option("--tokenizer", default="o200k_base", show_default=True)
@click.option("--language", metavar="CODE", help="Language of the questions, where a graph has it.")
@click.option("--pseudonymize", is_flag=True, help="Give every node an id that says nothing.")
@click.option("--baseline", default="pretty_json", show_default=True, help="What `format: auto` falls back to.")
@click.option("--price-in", type=click.FloatRange(min=0), metavar="X", help="Price of a million input tokens.")
@click.option("--price-out", type=click.FloatRange(min=0), metavar="X", help="Price of a million output tokens.")
@click.option(
    "--tolerate-paths",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="How much worse valid paths may be for `format: auto`.",
)
@click.option(
    "--tolerate-abstention",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="The same for abstention.",
)
@click.option("--endpoint", metavar="URL", help="Ask a model at this OpenAI-compatible address too.")
@click.option("--model", "model_name", metavar="NAME", help="The model's exact name.")
@click.option("--api-key-variable", metavar="NAME", help="Environment variable with the key.")
@click.option("--temperature", type=click.FloatRange(min=0), default=0.0, show_default=True)
@click.option("--max-tokens", type=click.IntRange(min=1), default=800, show_default=True)
@click.option("--model-seed", type=int, metavar="N", help="Seed sent to the endpoint.")
@click.option("--structured", is_flag=True, help="Ask the endpoint to hold replies to the schema.")
@click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True, metavar="N")
@click.option(
    "--model-sizes",
    metavar="A,B,...",
    default="base,dataset",
    show_default=True,
    help="Sizes of graphs the model is asked about.",
)
@click.option("--model-orders", metavar="A,B,...", default="canonical", show_default=True)
@click.option("--model-permutations", type=click.IntRange(min=1), default=3, show_default=True, metavar="N")
@click.option("--model-budgets", metavar="N,...", help="Budgets for the model; whole graphs if left out.")
@click.option(
    "--window", type=click.IntRange(min=1), metavar="N", help="Context window; larger prompts are CONTEXT_OVERFLOW."
)
@click.option("--timeout", type=click.FloatRange(min=0.1), default=120.0, show_default=True, metavar="SECONDS")
@click.option("--quiet", is_flag=True, help="No progress.")
@common
def bench(
    out: Path,
    graphs: str,
    sizes: str,
    seed: int,
    large_facts: int | None,
    datasets: tuple[Path, ...],
    dataset_questions: int,
    dataset_facts: int,
    bundles: tuple[Path, ...],
    bundle_limit: int,
    format_names: str | None,
    profiles: str,
    budgets: str,
    permutations: int,
    tokenizer: str,
    language: str | None,
    pseudonymize: bool,
    baseline: str,
    price_in: float | None,
    price_out: float | None,
    tolerate_paths: float,
    tolerate_abstention: float,
    endpoint: str | None,
    model_name: str | None,
    api_key_variable: str | None,
    temperature: float,
    max_tokens: int,
    model_seed: int | None,
    structured: bool,
    repeats: int,
    model_sizes: str,
    model_orders: str,
    model_permutations: int,
    model_budgets: str | None,
    window: int | None,
    timeout: float,
    quiet: bool,
    as_json: bool,
) -> None:
    """Measure formats: tokens, round trips, what survives budgets and orders, and, with an endpoint, a model's answers.

    A second run with the same folder asks the model only what has no reply yet. Costs are computed from the prices given here and from nothing else.
    """
    from graphroute.evaluation.formats.bench import ModelSettings, Settings, measure
    from graphroute.evaluation.formats.model_runs import Sampling
    from graphroute.evaluation.formats.report import Prices
    from graphroute.evaluation.formats.structured import SCHEMA
    from graphroute.models.llm.openai import OpenAIChat

    if (endpoint is None) != (model_name is None):
        raise UsageError("a model needs --endpoint and --model", allowed="both or neither")
    settings = Settings(
        graphs=_names(graphs),
        sizes=_names(sizes),
        seed=seed,
        large_facts=large_facts,
        datasets=datasets,
        dataset_questions=dataset_questions,
        dataset_facts=dataset_facts,
        bundles=bundles,
        bundle_limit=bundle_limit,
        formats=_names(format_names),
        profiles=_names(profiles),
        budgets=_numbers(budgets, "--budgets"),
        permutations=permutations,
        tokenizer=tokenizer,
        language=language,
        pseudonymize=pseudonymize,
        baseline=baseline,
        prices=Prices(input=price_in, output=price_out),
        tolerance={"valid_paths": tolerate_paths, "abstention": tolerate_abstention},
    )
    model = None
    if endpoint is not None and model_name is not None:
        chat = OpenAIChat(
            base_url=endpoint,
            model=model_name,
            api_key_variable=api_key_variable,
            max_tokens=max_tokens,
            temperature=temperature,
            seed=model_seed,
            schema=SCHEMA if structured else None,
        )
        given = _numbers(model_budgets, "--model-budgets") if model_budgets else []
        model = ModelSettings(
            chat=chat,
            sampling=Sampling(temperature=temperature, max_tokens=max_tokens, seed=model_seed, structured=structured),
            sizes=_names(model_sizes),
            orders=_names(model_orders),
            budgets=given or [None],
            permutations=model_permutations,
            repeats=repeats,
            window=window,
            timeout=timeout,
        )
    with output.Progress(quiet=quiet) as bar:
        began = False

        def progress(stage: str, steps: int) -> Callable[[], None]:
            nonlocal began
            if began:
                bar.finish()
            began = True
            bar.start(stage, steps)
            return bar.advance

        report = measure(settings, out, model=model, progress=progress)
        if began:
            bar.finish()
    if as_json:
        output.write_json(report.to_json())
        return
    tokens = report.whole_tokens()
    base = tokens.get(report.yardstick or "")
    rows = []
    for label in sorted(tokens, key=lambda label: (tokens[label], label)):
        ratio = "" if base is None else f"{tokens[label] / base:.2f}"
        rows.append([label, f"{tokens[label]:.0f}", ratio])
    output.table(rows, header=["format", "prompt tokens, mean", f"to {report.baseline}"])
    for leak in report.leaks:
        if leak.grave:
            output.warn(f"{leak.graph} {leak.task}: {leak.what}")
    output.note(f"written to {out}: report.html, report.md, report.json, measurements.json")


def _numbers(value: str, option: str) -> list[int]:
    try:
        found = sorted({int(one) for one in _names(value)})
    except ValueError:
        found = []
    if not found or found[0] < 1:
        raise UsageError(f"{option} {value!r}", allowed="whole numbers from 1, joined by commas")
    return found
