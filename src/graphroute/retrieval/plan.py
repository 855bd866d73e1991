"""Plans: a reading as path patterns for a graph store, in words and as Cypher text for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphroute.types.graph import AttributeFilter, Direction, HopPattern, PathPattern
from graphroute.types.ontology import Ontology
from graphroute.types.query import Branch, HopReading, Operation, Reading
from graphroute.types.time import TimeFilter, TimeMode, format_instant


def pattern_of(
    branch: Branch,
    starts: Sequence[str],
    *,
    ontology: Ontology,
    final_filters: Sequence[AttributeFilter] = (),
    ends: tuple[str, ...] | None = None,
    time: TimeFilter | None = None,
    limit: int,
) -> PathPattern:
    """The branch as a pattern from `starts`. `time` replaces the time tests of all hops (an event clause set the instant)."""
    hops = []
    for place, hop in enumerate(branch.hops):
        last = place == len(branch.hops) - 1
        relation = ontology.relations.get(hop.predicate)
        symmetric = relation is not None and relation.symmetric
        hops.append(
            HopPattern(
                predicates=(hop.predicate,),
                direction=None if symmetric else hop.direction,
                types=hop.types,
                time=time if time is not None else hop.time,
                ends=(ends if ends is not None else branch.ends) if last else None,
                filters=(*hop.filters, *(final_filters if last else ())),
            )
        )
    return PathPattern(starts=tuple(starts), hops=tuple(hops), limit=limit)


def without_time(pattern: PathPattern) -> PathPattern:
    """The same pattern over all of history."""
    return replace(pattern, hops=tuple(replace(hop, time=TimeFilter()) for hop in pattern.hops))


def describe(reading: Reading) -> tuple[str, ...]:
    """The plan in words, a line a branch."""
    lines = []
    for branch in reading.branches:
        start = ", ".join(branch.anchors) if branch.anchors else f"every {' or '.join(branch.start_types)}"
        parts = [start]
        for hop in branch.hops:
            arrow = f"-{hop.predicate}->" if hop.direction is Direction.FORWARD else f"<-{hop.predicate}-"
            implied = "" if hop.cue is not None else " (implied)"
            parts.append(f"{arrow}{implied} {'|'.join(hop.types)}")
        lines.append(" ".join(parts))
    joined = f" joined by {reading.combine}" if len(reading.branches) > 1 else ""
    tests = "".join(f", {f.key} {f.operator} {f.value}" for f in reading.filters)
    asked = f" of attribute {reading.attribute}" if reading.attribute else ""
    lines.append(f"{reading.operation.value} {'|'.join(reading.target_types)}{asked}{tests}{joined}")
    return tuple(lines)


def cypher_of(reading: Reading, *, limit: int) -> str:
    """The reading as one Cypher query with parameters. Names come from the ontology only; nothing of the question enters."""
    lines: list[str] = []
    conditions: list[str] = []
    end = "answer"
    for number, branch in enumerate(reading.branches):
        start = f"a{number}"
        label = _labels(branch.start_types)
        text = f"MATCH p{number} = ({start}{label})"
        for place, hop in enumerate(branch.hops):
            last = place == len(branch.hops) - 1
            node = end if last else f"n{number}_{place}"
            relation = f"r{number}_{place}"
            text += _hop(hop, relation, node)
            conditions.extend(_time_conditions(hop.time, relation))
            conditions.append(f"any(scope IN {relation}.scopes WHERE scope IN $readable)")
            conditions.extend(_filters(hop.filters, node, f"{number}_{place}"))
        lines.append(text if branch.hops else f"MATCH ({end}{label})")
        if branch.anchors:
            conditions.append(f"{start if branch.hops else end}.id IN $anchors{number}")
        conditions.extend(_filters(branch.start_filters, start, f"start{number}"))
        if branch.ends is not None:
            conditions.append(f"{end}.id IN $ends{number}")
    conditions.extend(_filters(reading.filters, end, "answer"))
    if conditions:
        lines.append("WHERE " + "\n  AND ".join(dict.fromkeys(conditions)))
    if reading.operation is Operation.COUNT:
        lines.append(f"RETURN count(DISTINCT {end}) AS answer")
    elif reading.operation in (Operation.MOST, Operation.LEAST):
        hops = reading.branches[0].hops
        counted = "a0" if len(hops) <= 1 else f"n0_{len(hops) - 2}"
        order = "DESC" if reading.operation is Operation.MOST else "ASC"
        lines.append(f"RETURN {end}.id AS answer, count(DISTINCT {counted}) AS n ORDER BY n {order}")
    elif reading.attribute:
        lines.append(f"RETURN {end}.id AS answer, {end}[$attribute] AS value")
    else:
        paths = ", ".join(f"p{number}" for number, branch in enumerate(reading.branches) if branch.hops)
        lines.append(f"RETURN DISTINCT {end}.id AS answer{', ' + paths if paths else ''}")
    lines.append(f"LIMIT {limit:d}")
    return "\n".join(lines)


def _labels(types: Sequence[str]) -> str:
    return ":" + "|".join(_quote(name) for name in types) if types else ""


def _quote(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else "`" + name.replace("`", "``") + "`"


def _hop(hop: HopReading, relation: str, node: str) -> str:
    body = f"[{relation}:{_quote(hop.predicate)}]"
    target = f"({node}{_labels(hop.types)})"
    return f"-{body}->{target}" if hop.direction is Direction.FORWARD else f"<-{body}-{target}"


def _time_conditions(time: TimeFilter, relation: str) -> list[str]:
    if time.mode is TimeMode.ANY:
        return []
    low, high = format_instant(time.interval.start), format_instant(time.interval.end)
    found = []
    if time.mode is TimeMode.OVERLAPS:
        if high:
            found.append(f"coalesce({relation}.valid_from, $always) < $until")
        if low:
            found.append(f"coalesce({relation}.valid_to, $forever) > $since")
    else:
        side = "valid_from" if time.mode is TimeMode.STARTS_IN else "valid_to"
        if low:
            found.append(f"{relation}.{side} >= $since")
        if high:
            found.append(f"{relation}.{side} < $until")
    return found


def _filters(filters: Sequence[AttributeFilter], node: str, number: str) -> list[str]:
    operators = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "in_range": "IN RANGE"}
    return [
        f"{node}[$key{number}_{place}] {operators[test.operator]} $value{number}_{place}"
        for place, test in enumerate(filters)
    ]
