"""What a printed plan needs of a schema on a server: parts of Cypher text, and the parameters that they name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from graphroute.types.graph import AttributeFilter
from graphroute.types.time import Instant, TimeFilter
from graphroute.types.view import View


@dataclass(frozen=True, slots=True)
class Statement:
    """Cypher text and the value of its parameter `$p`."""

    text: str
    parameters: Mapping[str, object]

    @property
    def setting(self) -> str:
        """The line that sets the parameter in cypher-shell and in the browser."""
        return f":param p => {literal(self.parameters)}"


class PlanSchema(Protocol):
    """Parts of text over one schema, for one view. Every part names its values `$p.KEY` and puts them into `given`."""

    given: dict[str, object]

    def node(self, name: str, types: Sequence[str]) -> str:
        """A node pattern of a variable."""
        ...

    def relation(self, name: str, predicate: str) -> str:
        """A relationship pattern of a variable, in brackets."""
        ...

    def every(self, name: str, types: Sequence[str], ids: Sequence[str], key: str) -> tuple[list[str], str]:
        """Lines that match entities without a fact, all of the types or those with the ids, and the text of their id."""
        ...

    def id(self, name: str, types: Sequence[str]) -> str:
        """The text of a node's id."""
        ...

    def node_tests(self, name: str, types: Sequence[str], ids: Sequence[str] | None, key: str) -> list[str]:
        """That a node is of the types, one of the ids, and readable."""
        ...

    def relation_tests(self, name: str, predicate: str) -> list[str]:
        """That a relationship is readable."""
        ...

    def began(self, name: str, predicate: str, subject: str, object_: str) -> str:
        """When a fact began; null where nobody knows."""
        ...

    def span(self, name: str, predicate: str, subject: str, object_: str) -> tuple[str, str]:
        """Both ends of its interval, never null."""
        ...

    def ended(self, name: str, predicate: str, subject: str, object_: str) -> str:
        """When a fact ended; null where it has not."""
        ...

    def moment(self, instant: Instant) -> object:
        """An instant as `began` and `span` compare it."""
        ...

    def attribute_tests(
        self, id: str, name: str, filters: Sequence[AttributeFilter], time: TimeFilter, key: str
    ) -> list[str]:
        """That an entity passes filters; `id` is the text of its id and `name` its variable."""
        ...

    def value(self, id: str, name: str, attribute: str) -> tuple[list[str], str, str]:
        """Lines that find an entity's attribute, the text of its value, and what orders values."""
        ...


@runtime_checkable
class Printable(Protocol):
    """A graph store whose schema on the server is its own."""

    def plan_schema(self, *, view: View) -> PlanSchema:
        """The schema for a printed plan."""
        ...


def literal(value: object) -> str:
    """A value as a Cypher literal."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(str(key))}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, str):
        # Cypher decodes Unicode escapes before it reads quotes: a back-slash is written as two of them, each as such an escape.
        text = json.dumps(value, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("\\\\", "\\u005C\\u005C")
        return "'" + text.replace("'", "\\'") + "'"
    return json.dumps(value)


def quoted(name: str) -> str:
    """A name as a Cypher identifier, in back-ticks unless it is a plain ASCII one."""
    return name if name.isidentifier() and name.isascii() else in_back_ticks(name)


def in_back_ticks(name: str) -> str:
    """A name as a quoted Cypher identifier.

    Back-ticks are doubled. Cypher decodes Unicode escapes before it reads quotes, so that an escaped back-tick would end the name: every
    backslash is itself written as an escape, and the name keeps its characters.
    """
    return "`" + name.replace("\\", "\\u005C").replace("`", "``") + "`"
