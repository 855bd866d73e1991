"""Printed plans over a store's copy on Neo4j: entities and facts as `graphroute replicate` and an ingest write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from graphroute.stores.neo4j.queries import READABLE_ENTITY, READABLE_FACT, READABLE_VALUE, TOLD_TYPE
from graphroute.stores.neo4j.reading import tests
from graphroute.stores.printing import literal, quoted
from graphroute.types.graph import AttributeFilter
from graphroute.types.time import ANY_TIME, MAX_INSTANT, MIN_INSTANT, Instant, TimeFilter, TimeMode
from graphroute.types.view import View

_UNKNOWN: Final = f"{MIN_INSTANT:d}"
_PASSED: Final = {
    "eq": "t.folded = $p.text", "in_range": "t.instant >= $p.low AND t.instant < $p.high", "lt": "t.number < $p.number",
    "le": "t.number <= $p.number", "gt": "t.number > $p.number", "ge": "t.number >= $p.number", "never": "false",
}  # fmt: skip
_OPEN: Final = f"{MAX_INSTANT:d}"


class ReplicatedSchema:
    """Instants are microseconds since 1970; a fact is readable in the snapshot and the scopes of the view, the parameter `$view`."""

    def __init__(self) -> None:
        self.given: dict[str, object] = {}

    def node(self, name: str, types: Sequence[str]) -> str:
        return f"({name}:Entity)"

    def relation(self, name: str, predicate: str) -> str:
        return f"[{name}:{quoted(predicate)}]"

    def every(self, name: str, types: Sequence[str], ids: Sequence[str], key: str) -> tuple[list[str], str]:
        seen = f"EXISTS {{ MATCH (x:EntityScope) WHERE x.entity = {name} AND {READABLE_ENTITY} }}"
        if ids:
            self.given[key] = list(ids)
            return [f"UNWIND $p.{key} AS {name}", f"WITH {name} WHERE {seen}"], name
        self.given[key] = list(types)
        lines = [f"MATCH (y:EntityType)\nWHERE y.type IN $p.{key} AND {TOLD_TYPE}", f"WITH DISTINCT y.entity AS {name}"]
        return [*lines, f"WITH {name} WHERE {seen}"], name

    def id(self, name: str, types: Sequence[str]) -> str:
        return f"{name}.id"

    def node_tests(self, name: str, types: Sequence[str], ids: Sequence[str] | None, key: str) -> list[str]:
        found = []
        if ids is not None:
            self.given[key] = list(ids)
            found.append(f"{name}.id IN $p.{key}")
        elif types:
            self.given[f"{key}_types"] = list(types)
            found.append(
                f"EXISTS {{ MATCH (y:EntityType) WHERE y.entity = {name}.id AND y.type IN $p.{key}_types AND {TOLD_TYPE} }}"
            )
        return found

    def relation_tests(self, name: str, predicate: str) -> list[str]:
        return [READABLE_FACT.replace("r.", f"{name}.")]

    def began(self, name: str, predicate: str, subject: str, object_: str) -> str:
        return f"nullIf({name}.low, {_UNKNOWN})"

    def ended(self, name: str, predicate: str, subject: str, object_: str) -> str:
        return f"nullIf({name}.high, {_OPEN})"

    def span(self, name: str, predicate: str, subject: str, object_: str) -> tuple[str, str]:
        return f"{name}.low", f"{name}.high"

    def moment(self, instant: Instant) -> object:
        return instant

    def attribute_tests(
        self, id: str, name: str, filters: Sequence[AttributeFilter], time: TimeFilter, key: str
    ) -> list[str]:
        if not filters:
            return []
        # The moment asked about also picks the attribute values in force; when a fact started does not.
        held = f"t.entity = {id} AND {READABLE_VALUE}"
        if time.mode is TimeMode.OVERLAPS and time != ANY_TIME:
            self.given[f"{key}_since"], self.given[f"{key}_until"] = time.interval.low, time.interval.high
            held += f" AND t.low < $p.{key}_until AND t.high > $p.{key}_since"
        found = []
        for number, test in enumerate(tests(filters)):
            one = f"{key}_{number}"
            self.given[one] = {name: value for name, value in test.items() if name != "operator"}
            keyed = f"MATCH (t:Attribute) WHERE t.key = $p.{one}.key AND {held}"
            operator = test["operator"]
            if operator == "ne":
                found.append(f"EXISTS {{ {keyed} }} AND NOT EXISTS {{ {keyed} AND t.folded = $p.{one}.text }}")
            else:
                found.append(f"EXISTS {{ {keyed} AND {_PASSED[operator].replace('$p', f'$p.{one}')} }}")
        return found

    def value(self, id: str, name: str, attribute: str) -> tuple[list[str], str, str]:
        self.given["attribute"] = attribute
        line = f"MATCH (t:Attribute)\nWHERE t.entity = {id} AND t.key = $p.attribute AND {READABLE_VALUE}"
        return [line], "t.value", "coalesce(t.instant, t.number)"


def view_parameter(view: View) -> str:
    """The value of `$view` as a Cypher literal, for the operator alone."""
    return literal({"sequence": view.sequence, "scopes": sorted(view.scopes)})
