"""The report of one evaluation as JSON and Markdown: per family and per route, with intervals and what was lost and won."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphroute.evaluation.comparison import BASELINES, WinLoss, compare, compare_to_better
from graphroute.evaluation.metrics import METRICS, TABLE
from graphroute.evaluation.metrics.base import Kind
from graphroute.evaluation.question_set import Question
from graphroute.evaluation.scoring import Group, Scores, Summary

DEFINITIONS = """\
Shares carry their 95 % Wilson interval and the number of questions judged. A question without a result scores the worst there is.
Source recall looks at the first max(10, required) documents; another readable document that states a required edge counts for that edge's.
A complete path has every required edge, or, where one path an answer is given, a whole path of required edges from a topic entity to each answer.
Edge precision is the mean share of edges shown that are required; "at half" is a complete path in a result whose own precision is at least 0.5.
An answer is exact when the bindings are the gold set, by display form, id or local part. Latency is median / 95th percentile in milliseconds,
tokens likewise. A question is right in the comparison if it was abstained from where it has no answer, else if its path is complete where edges are
required, else if its sources are complete, else if its answer is exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was measured. `systems`: name to scores; `runs`: name to how it was run; `errors`: name to qid to message."""

    dataset: str
    questions: Sequence[Question]
    systems: Mapping[str, Scores]
    runs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    errors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def comparisons(self, system: str) -> list[WinLoss]:
        """Rows against each other system, by family, and against the better baseline last (`against` says which)."""
        others = {name: scores for name, scores in self.systems.items() if name != system}
        return [
            row for name, other in others.items() for row in compare(self.systems[system], other, name, self.questions)
        ]

    def against_better(self, system: str) -> list[WinLoss]:
        """Rows against the better of the baselines that were run; empty for a baseline itself."""
        baselines = {name: self.systems[name] for name in BASELINES if name in self.systems}
        return [] if system in baselines else compare_to_better(self.systems[system], baselines, self.questions)

    def to_json(self) -> dict[str, Any]:
        """The report as plain data; stable key order."""
        return {
            "dataset": self.dataset,
            "systems": {
                name: {
                    "run": dict(self.runs.get(name, {})),
                    "families": {family: _group(group) for family, group in scores.families.items()},
                    "routes": {route: _group(group) for route, group in scores.routes.items()},
                    "sizes": dict(scores.sizes),
                    "missing": list(scores.missing),
                    "unknown_results": scores.unknown,
                    "errors": dict(self.errors.get(name, {})),
                    "against_better": [_row(row) for row in self.against_better(name)],
                    "against": [_row(row) for row in self.comparisons(name)],
                }
                for name, scores in self.systems.items()
            },
        }

    def dumps(self) -> str:
        """report.json."""
        return json.dumps(self.to_json(), ensure_ascii=False, indent=1) + "\n"

    def to_markdown(self) -> str:
        """report.md."""
        parts = [f"# {self.dataset}", DEFINITIONS]
        for name, run in self.runs.items():
            parts.append(f"`{name}`: " + ", ".join(f"{key} {value}" for key, value in run.items()))
        for name, scores in self.systems.items():
            if scores.missing:
                parts.append(f"`{name}`: {len(scores.missing)} questions without a result.")
            if scores.unknown:
                parts.append(f"`{name}`: {scores.unknown} results belong to no question of this set.")
        families = sorted({family for scores in self.systems.values() for family in scores.families})
        for family in families:
            groups = {name: scores.families.get(family, {}) for name, scores in self.systems.items()}
            size = max(scores.sizes.get(family, 0) for scores in self.systems.values())
            parts += [f"## Family {family} ({size})", _table("system", groups)]
        for name, scores in self.systems.items():
            if scores.routes:
                parts += [f"## Routes of {name}", _table("route", scores.routes)]
        for name in self.systems:
            rows = self.against_better(name)
            if rows:
                parts += [f"## {name} against the better of {' and '.join(BASELINES)}", _win_loss(rows)]
        return "\n\n".join(parts) + "\n"


def _group(group: Group) -> dict[str, dict[str, Any]]:
    return {name: _summary(summary) for name, summary in group.items()}


def _summary(summary: Summary) -> dict[str, Any]:
    if summary.kind is Kind.COUNT:
        return {"n": summary.n, "sum": round(summary.value, 6)}
    names = ("mean", "low", "high") if summary.kind is Kind.SHARE else ("p50", "mean", "p95")
    values = (summary.value, summary.low, summary.high)
    return {"n": summary.n, **{name: round(value, 6) for name, value in zip(names, values, strict=True)}}


def _row(row: WinLoss) -> dict[str, Any]:
    return {
        "family": row.family,
        "against": row.against,
        "n": row.n,
        "won": list(row.won),
        "lost": list(row.lost),
        "net_lost": row.net_lost,
        "allowed": row.allowed,
        "kept": row.kept,
    }


def _cell(summary: Summary | None) -> str:
    if summary is None:
        return "-"
    if summary.kind is Kind.COUNT:
        return f"{summary.value:.0f} of {summary.n}"
    if summary.kind is Kind.QUANTITY:
        return f"{summary.value:.0f} / {summary.high:.0f}"
    return f"{summary.value:.2f} [{summary.low:.2f}, {summary.high:.2f}] ({summary.n})"


def _table(head: str, groups: Mapping[str, Group]) -> str:
    used = [name for name in TABLE if any(name in group for group in groups.values())]
    titles = [METRICS.load(name).name.replace("_", " ") for name in used]
    rows = [[name or "(unnamed)", *(_cell(group.get(metric)) for metric in used)] for name, group in groups.items()]
    return _markdown([head, *titles], rows)


def _win_loss(rows: Sequence[WinLoss]) -> str:
    return _markdown(
        ["family", "against", "n", "won", "lost", "net lost", "allowed", "kept"],
        [
            [
                row.family,
                row.against,
                str(row.n),
                str(len(row.won)),
                str(len(row.lost)),
                str(row.net_lost),
                f"{row.allowed:g}",
                "yes" if row.kept else "NO",
            ]
            for row in rows
        ],
    )


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
