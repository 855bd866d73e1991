"""The format report as Markdown."""

from __future__ import annotations

from graphroute.evaluation.formats.report import FormatReport
from graphroute.evaluation.formats.tables import Table, tables_of


def to_markdown(report: FormatReport) -> str:
    """report.md."""
    made = ", ".join(f"{name} {value}" for name, value in report.made_with.items())
    parts = [
        "# Graph formats",
        f"Measured with {made}. {report.overhead} tokens of each prompt are neither grammar, graph nor question.",
    ]
    parts += [_table(table) for table in tables_of(report)]
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    text = len(table.head) - table.numbers
    rule = "|" + "|".join([" --- "] * text + [" ---: "] * table.numbers) + "|"
    lines = ["| " + " | ".join(map(_cell, table.head)) + " |", rule]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in table.rows]
    return f"## {table.title}\n\n{table.about}\n\n" + "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
