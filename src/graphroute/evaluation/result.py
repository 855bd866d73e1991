"""What a system returned for one question, as one line of a results file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from graphroute.errors import DataError
from graphroute.evaluation.json_lines import read_rows
from graphroute.types.time import format_instant
from graphroute.types.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One line. `sources`: documents in rank order; `edges`: assertions used; `answers`: [{id, display}], a literal has no id.

    `as_of`: the instant the evidence holds for. `tokens`: of the finished evidence text, which is all that counts as shown.
    """

    qid: str
    route: str = ""
    retrievers: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()
    answers: tuple[Mapping[str, str | None], ...] = ()
    as_of: str | None = None
    abstained: bool = False
    reason: str = ""
    latency_ms: float = 0.0
    tokens: int = 0
    fallback: bool = False
    degraded: tuple[Mapping[str, str], ...] = ()


def result_of(qid: str, trace: Trace, latency_ms: float) -> Result:
    """The line of a finished run. Evidence that the budget left out of the text is not counted as shown."""
    bundle = trace.bundle
    if trace.serialized is not None:
        shown = frozenset(trace.serialized.included)
        bundle = replace(bundle, units=tuple(unit for unit in bundle.units if unit.id in shown))
    return Result(
        qid=qid,
        route=bundle.route,
        retrievers=bundle.retrievers,
        sources=bundle.sources,
        edges=bundle.edges,
        answers=tuple({"id": binding.id, "display": binding.display} for binding in bundle.answers),
        as_of=format_instant(bundle.as_of),
        abstained=bundle.abstained,
        reason=bundle.reason,
        latency_ms=round(latency_ms, 3),
        tokens=trace.serialized.tokens if trace.serialized is not None else 0,
        fallback=bundle.fallback,
        degraded=tuple({"stage": entry.stage, "reason": entry.reason} for entry in bundle.degraded),
    )


def dump_result(result: Result) -> str:
    """The line, without its end."""
    return json.dumps(asdict(result), ensure_ascii=False)


def load_results(path: Path) -> dict[str, Result]:
    """Results by qid; empty if the file is missing. Raises DataError for a bad line or a qid that comes twice."""
    found: dict[str, Result] = {}
    if not path.exists():
        return found
    for where, row in read_rows(path):
        result = parse_result(row, where)
        if result.qid in found:
            raise DataError(f"qid {result.qid!r} comes twice", where=where)
        found[result.qid] = result
    return found


def parse_result(row: Mapping[str, Any], where: str) -> Result:
    """One row of a results file, of ours or of another system. `answers` may also be one value or a list of values."""
    if not isinstance(row.get("qid"), str):
        raise DataError(f"qid is {row.get('qid')!r}", where=where, allowed="a string")
    for key in ("retrievers", "sources", "edges", "degraded"):
        if not isinstance(row.get(key, []), list):
            raise DataError(f"{key} is a {type(row[key]).__name__}", where=where, allowed="a list")
    return Result(
        qid=row["qid"],
        route=row.get("route") or "",
        retrievers=tuple(row.get("retrievers", ())),
        sources=tuple(row.get("sources", ())),
        edges=tuple(row.get("edges", ())),
        answers=_answers(row.get("answers"), where),
        as_of=row.get("as_of"),
        abstained=bool(row.get("abstained", False)),
        reason=row.get("reason") or "",
        latency_ms=float(row.get("latency_ms") or 0.0),
        tokens=int(row.get("tokens") or 0),
        fallback=bool(row.get("fallback", False)),
        degraded=tuple(
            entry if isinstance(entry, dict) else {"stage": str(entry), "reason": ""}
            for entry in row.get("degraded", ())
        ),
    )


def _answers(value: Any, where: str) -> tuple[Mapping[str, str | None], ...]:
    if value is None:
        return ()
    entries = value if isinstance(value, list) else [value]
    found: list[Mapping[str, str | None]] = []
    for entry in entries:
        if isinstance(entry, dict):
            id_ = entry.get("id")
            display = entry.get("display")
            found.append(
                {"id": str(id_) if id_ is not None else None, "display": str(display) if display is not None else ""}
            )
        elif isinstance(entry, (str, int, float)) and not isinstance(entry, bool):
            found.append({"id": None, "display": str(entry)})
        else:
            raise DataError(f"answer {entry!r}", where=where, allowed="{id, display} or a value")
    return tuple(found)
