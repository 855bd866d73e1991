"""Writes docs/formats.md from the formats' own descriptions and golden texts; --check fails if it is stale."""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path

from graphroute.serialization import cells, escaping, lines
from graphroute.serialization.formats import FORMATS
from graphroute.serialization.orderings import ORDERINGS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "formats.md"
GOLDEN = ROOT / "tests" / "serialization" / "golden"

USES = {
    "adjacency": "the smallest text, full or lean: small budgets, lists of many facts, paths that share entities",
    "compact_json": "a consumer that has nothing but a JSON parser",
    "csv": "records for a table; no quotes where none are needed",
    "dsl": "an own line and number for each fact and entity, separate from names, without the edge list's brackets",
    "edge_list": "the default: a line and a number for each record, direction and relation in plain sight",
    "jsonl": "streams, and readers that take a line at a time",
    "pretty_json": "to read, and to compare others with",
    "toon": "a consumer that knows TOON",
    "tsv": "tables of long texts with commas and quotes in them",
}

HEAD = """# Formats of evidence text

Written by `tools/formats.py` from the code; a test fails when it is stale.

A format turns the records of a bundle into text and back, exactly: `loads(dumps(records, profile)) == project(records, profile)`. A routes file names one as
`format:`, with `profile: full` or `profile: lean`; `serialize(..., ordering=...)` arranges nodes and facts. What a model is told about a format is its `grammar`, which stands before
the text in the prompt.

**Full** carries ids and names of nodes, facts with direction, validity, negation, assertions and the sets of spans that prove each, passages with their bounds, reports, paths in
order, omissions, snapshot and access mark. **Lean** carries what an answer is drawn from: local ids, names, types, facts with direction, validity and negation, and which sources prove
each; `SerializedEvidence.references` leads from the local ids back. Both state the number of records and a checksum: a text that was cut or changed is refused, with line and reason,
and so is one that is signed again but says something the writer would have written otherwise.

The file of each format holds its full description; the sample is the same in all of them."""


def page() -> str:
    """The whole page."""
    parts = [HEAD, "## Which one", "\n".join(f"- `{name}`: {USES[name]}." for name in FORMATS)]
    orders = [f"- `{name}`: {inspect.getdoc(order)}" for name, order in ORDERINGS.items()]
    parts += ["## Orderings", "\n".join(orders)]
    parts += ["## Header of the formats with lines", _prose(lines.header)]
    parts += ["## Escaping in the formats with lines", _prose(escaping)]
    parts += ["## Cells of tables", _prose(cells), _columns()]
    for name in FORMATS:
        form = FORMATS.load(name)()
        module = sys.modules[type(form).__module__]
        parts += [f"## {name}", f"`{form.name}/{form.version}`, ordering `{form.ordering}`.", _prose(module)]
        parts += ["In the prompt:", f"> {form.grammar}"]
        parts += ["Lean:", _fenced((GOLDEN / f"{name}.lean.txt").read_text(encoding="utf-8"))]
    return "\n\n".join(parts) + "\n"


def _prose(described: object) -> str:
    return inspect.getdoc(described) or ""


def _columns() -> str:
    rows = [f"| {kind} | {', '.join(names)} |" for kind, names in cells.COLUMNS.items()]
    return "\n".join(["| kind | cells |", "| --- | --- |", *rows])


def _fenced(text: str) -> str:
    return f"```text\n{text}\n```"


def main() -> int:
    """Writes or checks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is stale")
    text = page()
    if not parser.parse_args().check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        print("docs/formats.md is stale: run `python tools/formats.py` and commit it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
