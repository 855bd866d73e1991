"""Plans: a reading as path patterns for a graph store, in words and as a Cypher text that can be run on the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from graphroute.stores.printing import PlanSchema, Statement
from graphroute.types.graph import AttributeFilter, Direction, HopPattern, PathPattern
from graphroute.types.ontology import Ontology, RelationKind
from graphroute.types.query import Branch, HopReading, Operation, Reading
from graphroute.types.time import ANY_TIME, MAX_INSTANT, MIN_INSTANT, Interval, TimeFilter, TimeMode

_INSTANT = 1
"""Microseconds of an interval that facts which all overlap it share."""


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
    places = f" {reading.places}" if reading.places > 1 else ""
    lines.append(f"{reading.operation.value}{places} {'|'.join(reading.target_types)}{asked}{tests}{joined}")
    return tuple(lines)


def cypher_of(reading: Reading, schema: PlanSchema, *, ontology: Ontology, limit: int) -> Statement:
    """The reading as one query over a schema, which gives the paths that answer it, as rows of entity ids.

    An event clause is no part of it: its instant stands in the hops of the reading. Names come from the ontology and the mapping only,
    quoted, and values go into the parameter. What rests on more than facts is left to the router: the age of sources, and which of
    several sources of an attribute is the newest.
    """
    printed = _Printed(reading, schema, ontology)
    lines = ["CYPHER 5", *printed.lines(), f"LIMIT {limit:d}"]
    return Statement("\n".join(lines), dict(schema.given))


@dataclass(slots=True)
class _Printed:
    """Lines of a text; `a0` is the start of branch 0, `n0_1` what its hop 1 reaches, `answer` what all branches reach."""

    reading: Reading
    schema: PlanSchema
    ontology: Ontology

    def lines(self) -> list[str]:
        reading = self.reading
        if reading.combine == "any" and len(reading.branches) > 1:
            return self._united()
        lines: list[str] = []
        id = ""
        for number, branch in enumerate(self._counted()):
            found, id = self._branch(number, branch)
            lines.extend(found)
        return [*lines, *self._returned(id)]

    def _counted(self) -> tuple[Branch, ...]:
        extreme = self.reading.operation in (Operation.MOST, Operation.LEAST) and self.reading.attribute is None
        return self.reading.branches[:1] if extreme else self.reading.branches

    def _united(self) -> list[str]:
        parts = []
        for number, branch in enumerate(self.reading.branches):
            found, id = self._branch(number, branch)
            parts.append("\n".join([*found, f"RETURN {id} AS answer, {self._path(number, branch)} AS path"]))
        inner = "\nUNION\n".join(parts).replace("\n", "\n  ")
        lines = [f"CALL () {{\n  {inner}\n}}"]
        if self.reading.attribute is not None:
            found, value, _ = self.schema.value("answer", "answer", self.reading.attribute)
            return [*lines, *found, f"RETURN DISTINCT answer, {value} AS value"]
        if self.reading.operation is Operation.COUNT:
            return [*lines, "RETURN count(DISTINCT answer) AS answers"]
        return [*lines, "RETURN DISTINCT answer, path", "ORDER BY answer, path"]

    def _branch(self, number: int, branch: Branch) -> tuple[list[str], str]:
        """Lines that match one branch, and the text of the id of what it reaches."""
        schema, reading = self.schema, self.reading
        if not branch.hops:
            lines, id = schema.every("answer", branch.start_types, branch.anchors, f"anchors{number}")
            tests = schema.attribute_tests(id, "answer", (*branch.start_filters, *reading.filters), ANY_TIME, "value")
            if tests:
                lines.append("WITH * WHERE " + "\n  AND ".join(tests))
            return lines, id
        nodes = [f"a{number}", *(self._node(branch, number, place) for place in range(len(branch.hops)))]
        text = schema.node(nodes[0], branch.start_types)
        anchors = branch.anchors or None
        tests = schema.node_tests(nodes[0], branch.start_types, anchors, f"anchors{number}")
        tests += self._attributes(nodes[0], branch.start_types, branch.start_filters, ANY_TIME, f"start{number}")
        for place, hop in enumerate(branch.hops):
            relation, reached, key = f"r{number}_{place}", nodes[place + 1], f"{number}_{place}"
            last = place == len(branch.hops) - 1
            text += self._arrow(hop, schema.relation(relation, hop.predicate)) + schema.node(reached, hop.types)
            tests += schema.relation_tests(relation, hop.predicate)
            tests += self._during(hop, relation, nodes[place], reached, key)
            ends = branch.ends if last else None
            tests += schema.node_tests(reached, hop.types, ends, f"ends{key}" if ends is not None else f"of{key}")
            filters = (*hop.filters, *(reading.filters if last else ()))
            tests += self._attributes(reached, hop.types, filters, hop.time, f"value{key}")
        tests += self._trail(branch, nodes)
        tests += self._shared(branch, number, nodes)
        if self.reading.operation in (Operation.FIRST, Operation.LAST) and self.reading.attribute is None:
            tests.append(f"{self._since(number, branch)} IS NOT NULL")
        lines = [f"MATCH {text}", "WHERE " + "\n  AND ".join(dict.fromkeys(tests))]
        return lines, schema.id("answer", branch.hops[-1].types)

    def _attributes(
        self, name: str, types: Sequence[str], filters: Sequence[AttributeFilter], time: TimeFilter, key: str
    ) -> list[str]:
        return self.schema.attribute_tests(self.schema.id(name, types), name, filters, time, key) if filters else []

    def _trail(self, branch: Branch, nodes: Sequence[str]) -> list[str]:
        """That the walk never comes back to its start, nor to an inner entity by a predicate used at it."""
        extreme = self._counted() != self.reading.branches or self.reading.operation in (
            Operation.MOST,
            Operation.LEAST,
        )
        tests = []
        for early, late in combinations(range(len(nodes)), 2):
            used = {hop.predicate for hop in branch.hops[max(early - 1, 0) : early + 1]}
            blocked = early == 0 or late == early + 1 or branch.hops[late - 1].predicate in used
            # What is counted for each answer is one hop before it, however that was reached.
            counted = extreme and late == len(nodes) - 1 and late > early + 1
            if blocked and not counted:
                tests.append(f"{nodes[late]} <> {nodes[early]}")
        return tests

    def _shared(self, branch: Branch, number: int, nodes: Sequence[str]) -> list[str]:
        """That states asked for over a range of time hold at one moment: each two of them overlap."""
        ranged = []
        for place, hop in enumerate(branch.hops):
            relation = self.ontology.relations.get(hop.predicate)
            event = relation is not None and relation.kind is RelationKind.EVENT
            instant = hop.time.interval.high - hop.time.interval.low == _INSTANT
            if not event and hop.time.mode is not TimeMode.ANY and not instant:
                ranged.append(self.schema.span(f"r{number}_{place}", hop.predicate, *_ends(hop, nodes, place)))
        return [f"{a[0]} < {b[1]} AND {b[0]} < {a[1]}" for a, b in combinations(ranged, 2)]

    def _during(self, hop: HopReading, relation: str, left: str, right: str, key: str) -> list[str]:
        time, schema = hop.time, self.schema
        if time.mode is TimeMode.ANY:
            return []
        ends = _ends(hop, (left, right), 0)
        low, high = schema.span(relation, hop.predicate, *ends)
        if time.mode is not TimeMode.OVERLAPS:
            side = schema.began if time.mode is TimeMode.STARTS_IN else schema.ended
            low = high = side(relation, hop.predicate, *ends)
        tests = []
        since, until = time.interval.low, time.interval.high
        overlaps = time.mode is TimeMode.OVERLAPS
        if since > MIN_INSTANT:
            schema.given[f"since{key}"] = schema.moment(since)
            tests.append(f"{high} {'>' if overlaps else '>='} $p.since{key}")
        if until < MAX_INSTANT:
            schema.given[f"until{key}"] = schema.moment(until)
            tests.append(f"{low} < $p.until{key}")
        return tests if tests or overlaps else [f"{low} IS NOT NULL"]

    def _arrow(self, hop: HopReading, body: str) -> str:
        relation = self.ontology.relations.get(hop.predicate)
        if relation is not None and relation.symmetric:
            return f"-{body}-"
        return f"-{body}->" if hop.direction is Direction.FORWARD else f"<-{body}-"

    @staticmethod
    def _node(branch: Branch, number: int, place: int) -> str:
        return "answer" if place == len(branch.hops) - 1 else f"n{number}_{place}"

    def _path(self, number: int, branch: Branch) -> str:
        """The ids along a branch."""
        if not branch.hops:
            return "[]"
        ids = [self.schema.id(f"a{number}", branch.start_types)]
        for place, hop in enumerate(branch.hops):
            ids.append(self.schema.id(self._node(branch, number, place), hop.types))
        return f"[{', '.join(ids)}]"

    def _since(self, number: int, branch: Branch) -> str:
        """When the last fact of a branch began."""
        place = len(branch.hops) - 1
        left = f"a{number}" if place == 0 else f"n{number}_{place - 1}"
        hop = branch.hops[-1]
        return self.schema.began(f"r{number}_{place}", hop.predicate, *_ends(hop, (left, "answer"), 0))

    def _returned(self, id: str) -> list[str]:
        reading = self.reading
        operation = reading.operation
        order = "ASC" if operation in (Operation.FIRST, Operation.LEAST) else "DESC"
        if reading.attribute is not None:
            found, value, measure = self.schema.value(id, "answer", reading.attribute)
            chosen = operation in (Operation.FIRST, Operation.LAST, Operation.MOST, Operation.LEAST, Operation.COMPARE)
            lines = [*found, f"RETURN DISTINCT {id} AS answer, {value} AS value"]
            if chosen:
                lines = [*found, f"WITH DISTINCT {id} AS answer, {value} AS value, {measure} AS measure"]
                return [*lines, f"RETURN answer, value\nORDER BY measure {order}, answer"]
            return [*lines, "ORDER BY answer, value"]
        if operation is Operation.COUNT:
            return [f"RETURN count(DISTINCT {id}) AS answers"]
        if operation in (Operation.MOST, Operation.LEAST):
            hops = reading.branches[0].hops
            counted = "a0" if len(hops) <= 1 else f"n0_{len(hops) - 2}"
            return [f"RETURN {id} AS answer, count(DISTINCT {counted}) AS n", f"ORDER BY n {order}, answer"]
        paths = "".join(
            f", {self._path(number, branch)} AS path{number}"
            for number, branch in enumerate(reading.branches)
            if branch.hops
        )
        if operation in (Operation.FIRST, Operation.LAST) and reading.branches[0].hops:
            since = self._since(0, reading.branches[0])
            return [f"RETURN DISTINCT {id} AS answer, {since} AS since{paths}", f"ORDER BY since {order}, answer"]
        return [f"RETURN DISTINCT {id} AS answer{paths}", "ORDER BY answer"]


def _ends(hop: HopReading, nodes: Sequence[str], place: int) -> tuple[str, str]:
    """Variables of the subject and the object of a hop."""
    left, right = nodes[place], nodes[place + 1]
    return (left, right) if hop.direction is Direction.FORWARD else (right, left)
