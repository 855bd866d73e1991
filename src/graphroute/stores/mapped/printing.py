"""Printed plans over a mapped graph: its own labels, types and properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphroute.stores.mapped.filters import flag
from graphroute.stores.mapped.values import part, whole
from graphroute.stores.printing import quoted
from graphroute.text import alias_key, fold
from graphroute.types.graph import AttributeFilter
from graphroute.types.mapping import DateOwner, NodeMapping, RelationMapping
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, Instant, TimeFilter, format_instant
from graphroute.types.view import View

_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}


class MappedSchema:
    """Dates and values compare as text in ISO form and as numbers; other forms, which the router reads, are not understood by Cypher."""

    def __init__(self, nodes: Mapping[str, NodeMapping], relations: Mapping[str, RelationMapping], view: View) -> None:
        self._nodes = nodes
        self._relations = relations
        self.given: dict[str, object] = {"open": 1 in view.scopes, "held": sorted(view.reader.labels)}

    def node(self, name: str, types: Sequence[str]) -> str:
        labels = "|".join(quoted(self._nodes[one].label) for one in types if one in self._nodes)
        return f"({name}:{labels})" if labels else f"({name})"

    def relation(self, name: str, predicate: str) -> str:
        return f"[{name}:{quoted(self._relations[predicate].type)}]"

    def every(self, name: str, types: Sequence[str], ids: Sequence[str], key: str) -> tuple[list[str], str]:
        tests = self.node_tests(name, types, ids or None, key)
        return ["\n  AND ".join([f"MATCH {self.node(name, types)}\nWHERE {tests[0]}", *tests[1:]])], self.id(
            name, types
        )

    def id(self, name: str, types: Sequence[str]) -> str:
        found = [self._id(name, self._nodes[one]) for one in types if one in self._nodes]
        if len(found) == 1:
            return found[0]
        cases = " ".join(
            f"WHEN {name}:{quoted(self._nodes[one].label)} THEN {self._id(name, self._nodes[one])}"
            for one in (types or self._nodes)
            if one in self._nodes
        )
        return f"CASE {cases} END"

    def _id(self, name: str, node: NodeMapping) -> str:
        prefix = f"id{list(self._nodes).index(node.name):d}"
        self.given[prefix] = f"{part(node.name)}/"
        return f"$p.{prefix} + toString({name}.{quoted(node.key)})"

    def node_tests(self, name: str, types: Sequence[str], ids: Sequence[str] | None, key: str) -> list[str]:
        keyed = [f"{name}.{quoted(self._nodes[one].key)} IS NOT NULL" for one in types if one in self._nodes]
        if ids is not None:
            by_type: dict[str, list[str]] = {}
            for entity_id in ids:
                type_, _, local = entity_id.partition("/")
                if whole(type_) in self._nodes:
                    by_type.setdefault(whole(type_), []).append(whole(local))
            keyed = [] if by_type else ["false"]
            for number, (type_, keys) in enumerate(sorted(by_type.items())):
                node = self._nodes[type_]
                self.given[f"{key}_{number}"] = keys
                property_ = f"toString({name}.{quoted(node.key)})"
                keyed.append(f"{name}:{quoted(node.label)} AND {property_} IN $p.{key}_{number}")
        return [self._any(keyed), self._node_readable(name)]

    def _node_readable(self, name: str) -> str:
        """A node is what the first mapped label says that it has the key of, and is read by the access property of that one."""
        cases = [
            f"WHEN {name}:{quoted(node.label)} AND {name}.{quoted(node.key)} IS NOT NULL THEN {self._readable(name, node.access)}"
            for node in self._nodes.values()
        ]
        if not any(node.access for node in self._nodes.values()):
            return "$p.open"
        return "CASE " + " ".join(cases) + " ELSE false END"

    @staticmethod
    def _any(tests: Sequence[str]) -> str:
        unique = list(dict.fromkeys(tests))
        return unique[0] if len(unique) == 1 else "(" + " OR ".join(unique) + ")" if unique else "true"

    @staticmethod
    def _readable(name: str, access: str | None) -> str:
        if access is None:
            return "$p.open"
        held = f"{name}.{quoted(access)}"
        return f"CASE WHEN {held} IS NULL THEN $p.open ELSE any(x IN [] + {held} WHERE x IN $p.held) END"

    def relation_tests(self, name: str, predicate: str) -> list[str]:
        access = self._relations[predicate].access
        return [self._readable(name, access)] if access else []

    def _dated(self, name: str, predicate: str, subject: str, object_: str, side: str) -> str:
        date = self._relations[predicate].date
        property_ = getattr(date, side) if date is not None else None
        if date is None or property_ is None:
            return "null"
        owner = {DateOwner.RELATION: name, DateOwner.START: subject, DateOwner.END: object_}[date.of]
        return f"toString({owner}.{quoted(property_)})"

    def began(self, name: str, predicate: str, subject: str, object_: str) -> str:
        return self._dated(name, predicate, subject, object_, "start")

    def ended(self, name: str, predicate: str, subject: str, object_: str) -> str:
        return self._dated(name, predicate, subject, object_, "end")

    def span(self, name: str, predicate: str, subject: str, object_: str) -> tuple[str, str]:
        low, high = self.began(name, predicate, subject, object_), self.ended(name, predicate, subject, object_)
        return (
            "''" if low == "null" else f"coalesce({low}, '')",
            "'9999'" if high == "null" else f"coalesce({high}, '9999')",
        )

    def moment(self, instant: Instant) -> object:
        if instant <= MIN_INSTANT:
            return ""
        return "9999" if instant >= MAX_INSTANT else format_instant(instant)

    def attribute_tests(
        self, id: str, name: str, filters: Sequence[AttributeFilter], time: TimeFilter, key: str
    ) -> list[str]:
        found = []
        for number, test in enumerate(filters):
            held, value = f"[] + {name}.{quoted(test.key)}", f"$p.{key}_{number}"
            if test.operator in ("eq", "ne"):
                wanted = {fold(test.value), alias_key(test.value)}
                self.given[f"{key}_{number}"] = sorted(wanted | ({"true"} if flag(test.key) in wanted else set()))
                same = f"any(x IN {held} WHERE toLower(toString(x)) IN {value})"
                found.append(same if test.operator == "eq" else f"{name}.{quoted(test.key)} IS NOT NULL AND NOT {same}")
            elif test.operator == "in_range":
                low, high = test.value.split("..")
                ends = [self.moment(int(low) if low else MIN_INSTANT), self.moment(int(high) if high else MAX_INSTANT)]
                self.given[f"{key}_{number}"] = ends
                found.append(f"any(x IN {held} WHERE {value}[0] <= toString(x) < {value}[1])")
            else:
                try:
                    self.given[f"{key}_{number}"] = float(test.value)
                except ValueError:
                    # As `passes`: what cannot be compared passes nothing.
                    found.append("false")
                    continue
                found.append(f"any(x IN {held} WHERE toFloat(toString(x)) {_SIGNS[test.operator]} {value})")
        return found

    def value(self, id: str, name: str, attribute: str) -> tuple[list[str], str, str]:
        value = f"{name}.{quoted(attribute)}"
        return [], value, value
