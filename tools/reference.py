"""Writes docs/reference/*.md from the code and the table in README.md from evals/results; --check fails if one is stale."""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

import graphroute.errors
from graphroute.cli.main import COMMANDS
from graphroute.cli.main import main as command_line
from graphroute.config.model import DEFAULT_STRATEGIES, RoutesConfig
from graphroute.evaluation.metrics import all_metrics
from graphroute.merging.params import MergeParams
from graphroute.models.embedders import EMBEDDERS
from graphroute.models.tokenizers import TOKENIZERS
from graphroute.ontology import load as ontology_file
from graphroute.retrieval import RETRIEVERS
from graphroute.retrieval.contract import Contract
from graphroute.routing.conditions import FEATURES, parse_condition
from graphroute.routing.sufficiency import assess
from graphroute.serialization.formats import FORMATS
from graphroute.types import ontology as ontology_types

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
RESULTS = ROOT / "evals" / "results"
TABLE = re.compile(r"(<!-- results -->\n).*?(<!-- end of results -->)", re.DOTALL)
SYSTEMS = ("lexical", "vector_lexical", "graph_only", "routed_hybrid")
MEASURES = ("complete_path", "answer_exactness", "source_completeness", "abstention")

Schema = Mapping[str, Any]


def page(title: str, *parts: str) -> str:
    """A generated page."""
    return (
        "\n\n".join((f"# {title}", "Written by `make docs` from the code; `make test` fails when it is stale.", *parts))
        + "\n"
    )


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines
    )


def prose(thing: object) -> str:
    """The docstring of a class or function as Markdown, without the sentences on errors of the call."""
    return inspect.cleandoc(inspect.getdoc(thing) or "").replace("\n    ", "\n")


def block(text: str) -> str:
    """A code block."""
    return f"```text\n{text.rstrip()}\n```"


def commands() -> str:
    """Help of every command, exit codes."""
    parts: list[str] = []

    def add(command: click.Command, name: str) -> None:
        context = click.Context(command, info_name=name, max_content_width=100, terminal_width=100)
        parts.append(f"## {name}\n\n{block(command.get_help(context))}")
        if isinstance(command, click.Group):
            for child in sorted(command.commands):
                add(command.commands[child], f"{name} {child}")

    for name in COMMANDS:
        found = command_line.get_command(click.Context(command_line), name)
        assert found is not None
        add(found, f"graphroute {name}")
    errors = inspect.cleandoc(graphroute.errors.__doc__ or "")
    parts.append(f"## Errors and exit codes\n\n0: answered, possibly degraded; 130: interrupted.\n\n{block(errors)}")
    return page("Commands", *parts)


def conditions() -> str:
    """Names and grammar of `when:`."""
    rows = [[f"`{name}`", "number" if item.number else "yes or no", item.meaning] for name, item in FEATURES.items()]
    return page(
        "Conditions",
        "What may stand after `when:` in a routes file. `graphroute check --conditions` prints the table.",
        table(("name", "kind", "meaning"), rows),
        "## Grammar",
        block(prose(parse_condition)),
        "## Sufficiency",
        "What `if_evidence_below` is compared with.",
        block(prose(assess)),
    )


def kind_of(schema: Schema, definitions: Mapping[str, Schema]) -> str:
    """Type and range of a value in words."""
    if "$ref" in schema:
        return kind_of(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions)
    if "anyOf" in schema:
        options = [option for option in schema["anyOf"] if option.get("type") != "null"]
        return " or ".join(dict.fromkeys(kind_of(option, definitions) for option in options))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return ("whole number" if kind == "integer" else "number") + bounds(schema)
    if kind == "array":
        return f"list of {kind_of(schema['items'], definitions)}"
    if isinstance(schema.get("additionalProperties"), Mapping):
        return f"name: {kind_of(schema['additionalProperties'], definitions)}"
    return {"boolean": "true or false", "string": "text"}.get(str(kind), "keys")


def number(bound: float | None) -> str:
    """A bound as it is written in a file."""
    return "" if bound is None else str(int(bound)) if bound == int(bound) else str(bound)


def bounds(schema: Schema) -> str:
    """` low..high`, empty if there is none."""
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is None and high is None:
        return ""
    above = "above " if "exclusiveMinimum" in schema else ""
    return f" {above}{number(low)}..{number(high)}"


def keys(model: Any, *, skip: Sequence[str] = ()) -> Iterator[list[str]]:
    """Rows of (key, value, default) of a model and of what it holds."""
    whole = model.model_json_schema()
    definitions: Mapping[str, Schema] = whole.get("$defs", {})

    def inner(schema: Schema) -> tuple[str, Schema | None]:
        """What is to be added to the key for the keys inside, and their schema."""
        for option in (schema, *schema.get("anyOf", ()), *schema.get("allOf", ())):
            if "$ref" in option:
                return ("", definitions[option["$ref"].rsplit("/", 1)[-1]])
            if option.get("type") == "array" and isinstance(option.get("items"), Mapping):
                added, found = inner(option["items"])
                if found is not None:
                    return (f"[]{added}", found)
            if isinstance(option.get("additionalProperties"), Mapping):
                added, found = inner(option["additionalProperties"])
                if found is not None:
                    return (f".NAME{added}", found)
        return ("", None)

    def walk(schema: Schema, prefix: str) -> Iterator[list[str]]:
        required = set(schema.get("required", ()))
        for key, value in schema.get("properties", {}).items():
            name = f"{prefix}{key}"
            if name in skip:
                continue
            if name == "strategies":
                yield [f"`{name}`", "name: list of retrievers, see below", ""]
                continue
            added, found = inner(value)
            if found is not None and "properties" in found:
                yield [
                    f"`{name}`",
                    "keys" if not added else "list" if added == "[]" else "by name",
                    "required" if key in required else "",
                ]
                yield from walk(found, f"{name}{added}.")
                continue
            default = (
                "required"
                if key in required
                else ""
                if value.get("default") is None
                else f"`{json.dumps(value['default'])}`"
            )
            yield [f"`{name}`", kind_of(value, definitions), default]

    yield from walk(whole, "")


HEADER = ("key", "value", "default")


def routes() -> str:
    """Keys of a routes file."""
    parts = [
        "`graphroute check FILE` checks a file and prints what it means; every mistake is told with line, column and what is allowed.",
        table(HEADER, keys(RoutesConfig)),
    ]
    for name in ("RouteConfig", "FallbackConfig", "LimitsConfig", "DeadlinesConfig", "LogConfig", "ModelConfig"):
        described = getattr(importlib.import_module("graphroute.config.model"), name)
        parts.append(f"`{name.removesuffix('Config').lower()}`: {prose(described)}")
    rows = [
        [f"`{name}`", ", ".join(f"`{step}`" for step in steps) or "none"] for name, steps in DEFAULT_STRATEGIES.items()
    ]
    parts += ["## Strategies there are without being written", table(("strategy", "retrievers"), rows)]
    parts += ["## Retrievers and their parameters", "In a strategy as `- NAME` or `- NAME: {KEY: VALUE}`."]
    for name in RETRIEVERS.names:
        retriever = RETRIEVERS.load(name)
        params = importlib.import_module(retriever.__module__).Params
        parts += [f"### {name}", prose(retriever), prose(params), table(HEADER, keys(params))]
    parts += ["## merging", prose(MergeParams), table(HEADER, keys(MergeParams))]
    parts += [
        "## Names of parts",
        *(
            f"- {kind}: {', '.join(f'`{name}`' for name in names)}"
            for kind, names in (
                ("`format`", FORMATS.names),
                ("`tokenizer`", TOKENIZERS.names),
                ("embedders", EMBEDDERS.names),
            )
        ),
    ]
    return page("Routes file", *parts)


def ontology() -> str:
    """Keys of an ontology file."""
    sections = (
        ("types.NAME", "EntityType", "_Type"),
        ("relations.NAME", "RelationType", "_Relation"),
        ("attributes.TYPE.NAME", "AttributeType", "_Attribute"),
        ("records[]", "RecordType", "_Record"),
    )
    parts = ["`graphroute check --ontology FILE` checks a file. In it `from` and `to` stand for domain and range."]
    for title, described, model in sections:
        parts += [
            f"## {title}",
            prose(getattr(ontology_types, described)),
            table(HEADER, keys(getattr(ontology_file, model))),
        ]
    own = keys(ontology_file._File, skip=("types", "relations", "attributes", "records"))
    parts += ["## Beside them", table(HEADER, own)]
    return page("Ontology file", *parts)


def contracts() -> str:
    """Keys of a contract file."""
    module = importlib.import_module("graphroute.retrieval.contract")
    parts = [prose(module.Contract), prose(module.Step), prose(module.Node)]
    return page("Contract file", *parts, table(HEADER, keys(Contract)))


def metrics() -> str:
    """Every metric."""
    rows = []
    for metric in all_metrics():
        kind = type(metric)
        default = "not scored" if metric.default is None else f"{metric.default:g}"
        rows.append(
            [f"`{metric.name}`", metric.kind.value, prose(kind.applies), prose(kind.score), default, prose(kind)]
        )
    return page(
        "Metrics",
        "In the order of the report. A question without a result scores what stands under `missing`, the worst there is. "
        "Shares are means, counts are sums, quantities are given as median, 95th percentile and mean.",
        table(("metric", "kind", "judged", "score", "missing", "note"), rows),
    )


def results() -> str:
    """The table of README.md: the bundled corpus, by family and system, as it was last measured."""
    report = RESULTS / "meridian" / "written" / "report.json"
    if not report.exists():
        return "`make eval` writes the table of all data sets to `evals/results/README.md`.\n"
    systems = json.loads(report.read_text(encoding="utf-8"))["systems"]
    rows: list[list[str]] = []
    for family, size in systems[SYSTEMS[-1]]["sizes"].items():
        groups = [systems[name]["families"].get(family, {}) for name in SYSTEMS if name in systems]
        measure = next((name for name in MEASURES if name in groups[-1]), "")
        cells = [f"{group[measure]['mean']:.2f}" if measure in group else "-" for group in groups]
        rows.append([family.replace("_", " "), str(size), measure.replace("_", " "), *cells])
    shown = [f"`{name}`" for name in SYSTEMS if name in systems]
    return (
        "Bundled corpus, written ontology, measured by `python tools/evaluate.py --sets meridian`. The routing was worked on with these\n"
        "questions at hand, so they show what is covered, not what to expect of unseen ones. `lexical` and\n"
        "`vector_lexical` return passages only: 0.00 in a path or answer measure says that, not that they missed the sources; [other data sets and measures](evals/results/README.md).\n\n"
        f"{table(('family', 'questions', 'measure', *shown), rows)}\n"
    )


def documents() -> Iterator[tuple[Path, str]]:
    """Every generated file and what it should hold."""
    for write in (commands, conditions, contracts, metrics, ontology, routes):
        yield FOLDER / f"{write.__name__}.md", write()
    readme = ROOT / "README.md"
    yield readme, TABLE.sub(lambda found: found[1] + results() + found[2], readme.read_text(encoding="utf-8"))


def main() -> int:
    """Writes the files, or with --check compares them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if a file is stale")
    check = parser.parse_args().check
    stale = [
        (path, text) for path, text in documents() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        if check:
            print(f"{path.relative_to(ROOT)} is stale: run `make docs` and commit it", file=sys.stderr)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
