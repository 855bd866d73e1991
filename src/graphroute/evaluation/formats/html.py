"""The format report as one HTML page: plots first, then every table; nothing is fetched and nothing runs."""

from __future__ import annotations

from html import escape

from graphroute.evaluation.formats.fronts import ALL, WALK
from graphroute.evaluation.formats.plots import COLOURS, Bar, Dot, Line, bars, lines, scatter
from graphroute.evaluation.formats.report import FormatReport
from graphroute.evaluation.formats.tables import Table, count, share, tables_of

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #667085; --rule: #dde1e8; --page: #ffffff; --panel: #f7f8fa; --accent: #3b6fd4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --soft: #98a2b3; --rule: #333b48; --page: #14181f; --panel: #1b2029; --accent: #7fa5f0; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 32px 24px 80px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 44px 0 4px; }
p { max-width: 82ch; margin: 4px 0 12px; } .soft, p.about { color: var(--soft); }
.facts { display: flex; flex-wrap: wrap; gap: 12px; margin: 20px 0; }
.fact { background: var(--panel); border: 1px solid var(--rule); border-radius: 8px; padding: 10px 16px; }
.fact b { display: block; font-size: 20px; } .fact span { color: var(--soft); font-size: 13px; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 16px; }
figure { margin: 0; padding: 12px 14px; background: var(--panel); border: 1px solid var(--rule); border-radius: 8px; }
figcaption { font-weight: 600; margin-bottom: 6px; }
svg { width: 100%; height: auto; display: block; overflow: visible; }
svg text { font: 11px ui-monospace, "DejaVu Sans Mono", monospace; paint-order: stroke; stroke: var(--panel); stroke-width: 3px; }
svg text:not([fill]) { fill: var(--ink); } svg text.soft { fill: var(--soft); }
svg .end { text-anchor: end; } svg .mid { text-anchor: middle; }
svg .rule { stroke: var(--rule); } svg .front { fill: none; stroke: var(--soft); stroke-dasharray: 2 3; }
.wide { overflow: auto; max-height: 560px; border: 1px solid var(--rule); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 10px; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--rule); }
th { position: sticky; top: 0; background: var(--panel); font-weight: 600; } tr:last-child td { border-bottom: 0; }
td.n, th.n { text-align: right; } td.bad { color: #c4433b; font-weight: 600; }
details { margin-top: 36px; } summary { cursor: pointer; font-size: 19px; font-weight: 600; } details h2 { display: none; }
"""

_BAD = frozenset({"NO", "GRAVE", "CONTEXT_OVERFLOW"})
_FOLDED = 60
"""A table with more rows than this is folded away at first."""


def to_html(report: FormatReport) -> str:
    """report.html."""
    made = ", ".join(f"{name} {value}" for name, value in report.made_with.items())
    body = [
        "<h1>Graph formats</h1>",
        f'<p class="soft">Measured with {escape(made)}. {report.overhead} tokens of each prompt are neither grammar, graph nor question.</p>',
        _facts(report),
        _plots(report),
        *(_table(table) for table in tables_of(report)),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>Graph formats</title>\n<style>{_STYLE}</style>\n</head>\n<body><main>\n"
        + "\n".join(body)
        + "\n</main></body>\n</html>\n"
    )


def _facts(report: FormatReport) -> str:
    tokens = report.whole_tokens()
    shortest = min(tokens, key=lambda label: (tokens[label], label))
    base = report.yardstick
    ratio = f", {share(tokens[shortest] / tokens[base])} of {base}'s" if base in tokens else ""
    facts = [
        (str(len(report.variants)), "formats and profiles"),
        (str(len(report.graphs)), "graphs"),
        (count(sum(graph.facts for graph in report.graphs)), "facts"),
        (shortest, f"shortest whole prompts{ratio}"),
        ("exact" if all(row.round_trip_equal for row in report.sizes) else "NOT exact", "round trips"),
        (str(sum(leak.grave for leak in report.leaks)), "grave leaks"),
    ]
    asked = sum(row.asked for row in report.model)
    facts.append((str(asked) if asked else "none", "model replies" if asked else "model was asked"))
    return (
        '<div class="facts">'
        + "".join(f'<div class="fact"><b>{escape(value)}</b><span>{escape(name)}</span></div>' for value, name in facts)
        + "</div>"
    )


def _plots(report: FormatReport) -> str:
    formats = sorted({info.format for info in report.variants})
    colours = {info.label: COLOURS[formats.index(info.format) % len(COLOURS)] for info in report.variants}
    parts = [
        "<h2>Tokens of each format</h2>",
        '<p class="about">Whole prompts. The full colour is the graph, the pale part everything around it.</p>',
        '<div class="plots">',
    ]
    for graph in report.graphs:
        items = [
            Bar(
                label=row.variant,
                inner=row.graph_tokens,
                outer=row.prompt_tokens_mean - row.graph_tokens,
                colour=colours[row.variant],
            )
            for row in report.sizes
            if row.graph == graph.name
        ]
        parts.append(bars(f"{graph.name}: {graph.facts} facts", items))
    parts.append("</div>")
    parts.append(_survival(report, colours))
    parts.append(_fronts(report, colours))
    return "\n".join(parts)


def _survival(report: FormatReport, colours: dict[str, str]) -> str:
    cut = [row for row in report.budgets if row.cut == "records" and not row.seed]
    if not cut:
        return ""
    graphs = [graph.name for graph in report.graphs if graph.size in ("medium", "large", "dataset")] or [
        graph.name for graph in report.graphs
    ]
    xs = sorted({row.budget for row in cut})
    profiles = sorted({info.profile for info in report.variants})
    parts = [
        "<h2>What survives a budget</h2>",
        '<p class="about">Share of the questions whose gold path is in the prompt in whole, cut by whole records.</p>',
        '<div class="plots">',
    ]
    for order in dict.fromkeys(row.order for row in cut):
        for graph in graphs:
            for profile in profiles:
                series = []
                for info in report.variants:
                    found = {
                        row.budget: row.complete
                        for row in cut
                        if (row.graph, row.order, row.variant) == (graph, order, info.label)
                    }
                    if found and info.profile == profile:
                        series.append(
                            Line(label=info.format, colour=colours[info.label], values=[found.get(x) for x in xs])
                        )
                if series:
                    parts.append(lines(f"{graph}, {order}, {profile}", xs, series, y_label="complete paths"))
    return "\n".join([*parts, "</div>"])


def _fronts(report: FormatReport, colours: dict[str, str]) -> str:
    scope = report.scope()
    groups: dict[tuple[str, str, int | None], list[Dot]] = {}
    for point in report.points:
        if point.scope != scope:
            continue
        groups.setdefault((point.basis, point.order, point.budget), []).append(
            Dot(
                label=point.variant,
                colour=colours[point.variant],
                x=point.tokens,
                y=point.accuracy,
                low=point.low,
                high=point.high,
                front=point.on_front,
            )
        )
    if not groups:
        return ""
    where = "over all graphs" if scope == ALL else f"on {scope}"
    parts = [
        "<h2>Pareto fronts</h2>",
        f'<p class="about">Tokens sent and questions answered rightly {where}, budget by budget; filled points lie on the front, bars are 95 % intervals.</p>',
        '<div class="plots">',
    ]
    for (basis, order, budget), dots in groups.items():
        who = "parsed and walked" if basis == WALK else basis
        size = "whole graphs" if budget is None else f"{budget} tokens"
        parts.append(scatter(f"{size}, {order}, {who}", dots, x_label="tokens sent, mean", y_label="right"))
    return "\n".join([*parts, "</div>"])


def _table(table: Table) -> str:
    text = len(table.head) - table.numbers

    def kind(place: int) -> str:
        return ' class="n"' if place >= text else ""

    head = "".join(f"<th{kind(place)}>{escape(cell)}</th>" for place, cell in enumerate(table.head))
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td class="bad">{escape(cell)}</td>' if cell in _BAD else f"<td{kind(place)}>{escape(cell)}</td>"
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in table.rows
    )
    body = f'<p class="about">{escape(table.about)}</p><div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    if len(table.rows) > _FOLDED:
        return f"<details><summary>{escape(table.title)} ({len(table.rows)} rows)</summary>{body}</details>"
    return f"<h2>{escape(table.title)}</h2>{body}"
