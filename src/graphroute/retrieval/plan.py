"""Plans: a reading as path patterns for a graph store, in words and as Cypher text for people to read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from graphroute.types.graph import AttributeFilter, Direction, HopPattern, PathPattern
from graphroute.types.ontology import Ontology
from graphroute.types.query import Branch, DateMode, EventAnchor, HopReading, Operation, Reading
from graphroute.types.time import Interval, TimeFilter, TimeMode, format_instant


def pattern_of(
    branch: Branch,
    starts: Sequence[str],
    *,
    ontology: Ontology,
    final_filters: Sequence[AttributeFilter] = (),
    ends: tuple[str, ...] | None = None,
    limit: int,
) -> PathPattern:
    """The branch as a pattern from `starts`. `final_filters` test the entities reached, `ends` replaces those the branch allows."""
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
                time=hop.time,
                ends=(ends if ends is not None else branch.ends) if last else None,
                filters=(*hop.filters, *(final_filters if last else ())),
            )
        )
    return PathPattern(starts=tuple(starts), hops=tuple(hops), limit=limit)


def before_now(pattern: PathPattern) -> PathPattern:
    """The same pattern over all facts that began before the end of the time each hop asks about."""
    hops = tuple(
        hop
        if hop.time.mode is TimeMode.ANY
        else replace(hop, time=TimeFilter(TimeMode.OVERLAPS, Interval(None, hop.time.interval.end)))
        for hop in pattern.hops
    )
    return replace(pattern, hops=hops)


def describe(reading: Reading) -> tuple[str, ...]:
    """The plan in words: the event that sets the instant if there is one, a line a branch, then what is asked."""
    lines = []
    if reading.event is not None:
        event = reading.event
        dated = " or ".join((*event.predicates, *event.attributes))
        lines.append(f"{event.mode.value} the first {dated} of {', '.join(event.anchors)}")
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


def cypher_of(reading: Reading, *, limit: int, events: Collection[str] = ()) -> str:
    """The reading as one Cypher query with parameters, for people to read; no store runs it.

    `events`: predicates that are events, which a clause such as "after R17" tests by their start and not by overlap. Names come
    from the ontology only, quoted; nothing of the question enters. Of united branches, each an optional match, one must be found.
    """
    united = reading.combine == "any" and len(reading.branches) > 1
    lines = _event_lines(reading.event) if reading.event is not None else []
    conditions: list[str] = []
    found: list[str] = []
    if united:
        lines.append(f"MATCH (answer{_labels(reading.target_types)})")
    for number, branch in enumerate(reading.branches):
        own = _branch_conditions(reading, number, events)
        if united and branch.hops:
            lines.append(f"OPTIONAL MATCH {_branch_pattern(branch, number)}\n  WHERE " + "\n    AND ".join(own))
            found.append(f"p{number} IS NOT NULL")
        elif united:
            found.append("(" + " AND ".join(own) + ")" if own else "true")
        else:
            lines.append("MATCH " + _branch_pattern(branch, number))
            conditions.extend(own)
    if united:
        conditions.append("(" + " OR ".join(found) + ")")
    conditions.extend(_filters(reading.filters, "answer", "answer"))
    since = _since(reading)
    if since:
        conditions.append(f"{since} IS NOT NULL")
    if conditions:
        lines.append(("WITH * WHERE " if united else "WHERE ") + "\n  AND ".join(dict.fromkeys(conditions)))
    lines.append(_returned(reading, since))
    lines.append(f"LIMIT {limit:d}")
    return "\n".join(lines)


def quoted(name: str) -> str:
    """A name as a Cypher identifier, in back-ticks unless it is a plain ASCII one.

    Back-ticks are doubled. Cypher decodes Unicode escapes before it reads quotes, so that an escaped back-tick would end the name: every
    backslash is itself written as an escape, and the name keeps its characters.
    """
    if name.isidentifier() and name.isascii():
        return name
    return "`" + name.replace("\\", "\\u005C").replace("`", "``") + "`"


def _event_lines(event: EventAnchor) -> list[str]:
    lines = ["MATCH (event)", "WHERE event.id IN $event"]
    moments = [f"min(event[$dated{place}])" for place in range(len(event.attributes))]
    if event.predicates:
        kinds = "|".join(quoted(name) for name in event.predicates)
        lines.append(f"OPTIONAL MATCH (event)-[happened:{kinds}]-()")
        lines.append(f"  WHERE {_readable('happened')}")
        moments.insert(0, "min(happened.valid_from)")
    moment = moments[0] if len(moments) == 1 else f"coalesce({', '.join(moments)})"
    lines.append(f"WITH {moment} AS moment")
    return lines


def _branch_pattern(branch: Branch, number: int) -> str:
    if not branch.hops:
        return f"(answer{_labels(branch.start_types)})"
    text = f"p{number} = (a{number}{_labels(branch.start_types)})"
    for place, hop in enumerate(branch.hops):
        text += _hop(hop, f"r{number}_{place}", _node(branch, number, place))
    return text


def _branch_conditions(reading: Reading, number: int, events: Collection[str]) -> list[str]:
    branch = reading.branches[number]
    start = f"a{number}" if branch.hops else "answer"
    conditions: list[str] = []
    for place, hop in enumerate(branch.hops):
        relation = f"r{number}_{place}"
        if reading.event is None:
            conditions.extend(_time_conditions(hop.time, relation))
        else:
            conditions.extend(_moment_conditions(hop, relation, reading.event.mode, hop.predicate in events))
        conditions.append(_readable(relation))
        conditions.extend(_filters(hop.filters, _node(branch, number, place), f"{number}_{place}"))
    if branch.anchors:
        conditions.append(f"{start}.id IN $anchors{number}")
    conditions.extend(_filters(branch.start_filters, start, f"start{number}"))
    if branch.ends is not None:
        conditions.append(f"answer.id IN $ends{number}")
    return conditions


def _node(branch: Branch, number: int, place: int) -> str:
    return "answer" if place == len(branch.hops) - 1 else f"n{number}_{place}"


def _readable(relation: str) -> str:
    return f"any(scope IN {relation}.scopes WHERE scope IN $readable)"


def _since(reading: Reading) -> str | None:
    """What orders the answers of FIRST and LAST: the start of the last fact of a path."""
    if reading.operation not in (Operation.FIRST, Operation.LAST) or reading.attribute is not None:
        return None
    starts = [f"r{n}_{len(b.hops) - 1}.valid_from" for n, b in enumerate(reading.branches) if b.hops]
    return starts[0] if len(starts) == 1 else f"coalesce({', '.join(starts)})" if starts else None


def _returned(reading: Reading, since: str | None) -> str:
    operation = reading.operation
    ascending = operation in (Operation.FIRST, Operation.LEAST)
    order = "ASC" if ascending else "DESC"
    if reading.attribute is not None:
        chosen = operation in (Operation.FIRST, Operation.LAST, Operation.MOST, Operation.LEAST, Operation.COMPARE)
        ordered = f" ORDER BY value {order}" if chosen else ""
        return f"RETURN answer.id AS answer, answer[$attribute] AS value{ordered}"
    if operation is Operation.COUNT:
        return "RETURN count(DISTINCT answer) AS answer"
    if operation in (Operation.MOST, Operation.LEAST):
        hops = reading.branches[0].hops
        counted = "a0" if len(hops) <= 1 else f"n0_{len(hops) - 2}"
        return f"RETURN answer.id AS answer, count(DISTINCT {counted}) AS n ORDER BY n {order}"
    paths = "".join(f", p{number}" for number, branch in enumerate(reading.branches) if branch.hops)
    if since:
        return f"RETURN DISTINCT answer.id AS answer, {since} AS since{paths} ORDER BY since {order}"
    return f"RETURN DISTINCT answer.id AS answer{paths}"


def _labels(types: Sequence[str]) -> str:
    return ":" + "|".join(quoted(name) for name in types) if types else ""


def _hop(hop: HopReading, relation: str, node: str) -> str:
    body = f"[{relation}:{quoted(hop.predicate)}]"
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


def _moment_conditions(hop: HopReading, relation: str, mode: DateMode, event: bool) -> list[str]:
    began, ended = f"coalesce({relation}.valid_from, $always)", f"coalesce({relation}.valid_to, $forever)"
    if mode not in (DateMode.AFTER, DateMode.BEFORE):
        return [f"{began} <= moment", f"{ended} > moment"]
    sign = ">=" if mode is DateMode.AFTER else "<"
    if event or hop.time.mode is TimeMode.STARTS_IN:
        return [f"{relation}.valid_from {sign} moment"]
    if hop.time.mode is TimeMode.ENDS_IN:
        return [f"{relation}.valid_to {sign} moment"]
    return [f"{ended} > moment" if mode is DateMode.AFTER else f"{began} < moment"]


def _filters(filters: Sequence[AttributeFilter], node: str, number: str) -> list[str]:
    operators = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "in_range": "IN RANGE"}
    return [
        f"{node}[$key{number}_{place}] {operators[test.operator]} $value{number}_{place}"
        for place, test in enumerate(filters)
    ]
