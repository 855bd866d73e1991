"""Retrieval contracts: named, parameterised path patterns that return bindings with provenance, not prose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from graphroute.errors import ConfigurationError, UsageError
from graphroute.retrieval.base import Backends
from graphroute.stores.printing import quoted
from graphroute.strict_yaml import Document, KeyPath, read_strict, suggest, validate
from graphroute.types.graph import AttributeFilter, Direction, HopPattern, Path, PathPattern
from graphroute.types.ontology import Ontology, RelationKind, RelationType
from graphroute.types.source import SourceSpan
from graphroute.types.time import Instant, Interval, TimeFilter, TimeMode
from graphroute.types.view import View

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ALLOWED = "ASCII letters, digits and _, no digit first"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Node(_Strict):
    """A node of a pattern: its type, the name its binding gets (an identifier of its own), and tests on attributes.

    A value `$name` is the parameter of that name.
    """

    type: str
    name: str
    where: dict[str, str] = Field(default_factory=dict)


class Step(_Strict):
    """A hop: the relation, the way it is walked and the node it reaches."""

    relation: str
    direction: Literal["forward", "backward"] = "forward"
    to: Node


class Contract(_Strict):
    """A named pattern. `parameters` maps each parameter to its default, or to null if it must be given.

    `start.where` may test `id`: then the pattern starts at that entity. At most `limit` rows come back.
    """

    name: str
    description: str
    parameters: dict[str, str | None] = Field(default_factory=dict)
    start: Node
    path: list[Step] = Field(min_length=1, max_length=6)
    limit: int = Field(default=50, ge=1, le=10_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One binding of all nodes: ids and names by node name, and for each hop the readable sources and spans."""

    ids: Mapping[str, str]
    names: Mapping[str, str]
    evidence: tuple[tuple[str, tuple[SourceSpan, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractResult:
    """Rows in canonical order; `truncated` if the limit cut any."""

    contract: str
    rows: tuple[Row, ...]
    truncated: bool
    cypher: str


def load_contract(path: FilePath, ontology: Ontology) -> Contract:
    """A contract file, checked against the ontology. Raises ConfigurationError naming the line.

    Refused: unknown relations, types and parameters; names of nodes and parameters that are no identifiers; two nodes of one name; a step
    that no fact of its relation can take.
    """
    document = read_strict(path)
    contract = validate(document, Contract)
    for place, step in enumerate(contract.path):
        if step.relation not in ontology.relations:
            raise document.error(
                ("path", place, "relation"),
                f"unknown relation {step.relation!r}",
                hint=suggest(step.relation, tuple(ontology.relations)),
            )
    for parameter in contract.parameters:
        if not _IDENTIFIER.fullmatch(parameter):
            raise document.error(("parameters", parameter), f"{parameter!r} is no name", key=True, allowed=_ALLOWED)
    seen: set[str] = set()
    nodes: list[tuple[Node, KeyPath]] = [(contract.start, ("start",))]
    nodes.extend((step.to, ("path", place, "to")) for place, step in enumerate(contract.path))
    for node, key in nodes:
        if node.type not in ontology.types:
            raise document.error(
                (*key, "type"), f"unknown type {node.type!r}", hint=suggest(node.type, tuple(ontology.types))
            )
        if not _IDENTIFIER.fullmatch(node.name):
            raise document.error((*key, "name"), f"{node.name!r} is no name", allowed=_ALLOWED)
        if node.name in seen:
            raise document.error((*key, "name"), f"a second node is named {node.name!r}")
        seen.add(node.name)
        for value in node.where.values():
            if value.startswith("$") and value[1:] not in contract.parameters:
                raise document.error((*key, "where"), f"{value} is not a parameter of the contract")
    for place, step in enumerate(contract.path):
        _check_step(document, place, nodes[place][0].type, step, ontology.relations[step.relation])
    return contract


def _check_step(document: Document, place: int, left: str, step: Step, relation: RelationType) -> None:
    """Refuse a step whose relation never joins its two types in its direction."""
    near, far = relation.domain, relation.range
    if step.direction == "backward":
        near, far = far, near
    walked = f"{step.relation} {step.direction}"
    if near and left not in near:
        raise document.error(
            ("path", place, "relation"), f"{walked} does not leave {left!r}", allowed=", ".join(sorted(near))
        )
    if far and step.to.type not in far:
        raise document.error(
            ("path", place, "to", "type"),
            f"{walked} does not reach {step.to.type!r}",
            allowed=", ".join(sorted(far)),
        )


def load_contracts(folder: FilePath, ontology: Ontology) -> Mapping[str, Contract]:
    """All contracts of a folder by name. Raises ConfigurationError for a name used twice."""
    found: dict[str, Contract] = {}
    for path in sorted(folder.glob("*.yaml")):
        contract = load_contract(path, ontology)
        if contract.name in found:
            raise ConfigurationError(f"a second contract is named {contract.name!r}", where=str(path))
        found[contract.name] = contract
    return found


def run_contract(
    contract: Contract,
    arguments: Mapping[str, str],
    *,
    backends: Backends,
    view: View,
    instant: Instant,
    deadline: float | None = None,
) -> ContractResult:
    """Rows of the contract for the view at the instant. Raises UsageError for an unknown or missing parameter."""
    values = _bind(contract, arguments)
    tests = _filters(contract.start, values)
    named = values_of(contract.start, values).get("id")
    if named is not None:
        starts: tuple[str, ...] = (named,)
    elif tests:
        starts = backends.catalog.entities_where((contract.start.type,), tests, view=view)
    else:
        starts = backends.graph.entities_of_type((contract.start.type,), view=view)
    hops = tuple(
        HopPattern(
            predicates=(step.relation,),
            direction=Direction(step.direction),
            types=(step.to.type,),
            time=_time(backends.ontology, step.relation, instant),
            filters=_filters(step.to, values),
        )
        for step in contract.path
    )
    pattern = PathPattern(starts=starts, hops=hops, limit=contract.limit)
    found = backends.graph.paths(pattern, view=view, deadline=deadline)
    rows = _rows(contract, found.paths, backends=backends, view=view)
    return ContractResult(
        contract=contract.name, rows=rows, truncated=found.truncated, cypher=contract_cypher(contract)
    )


def contract_cypher(contract: Contract) -> str:
    """The contract as Cypher text with its parameters, every name quoted where it is no plain identifier."""
    text = f"MATCH {_node(contract.start)}"
    conditions = _conditions(contract.start)
    for step in contract.path:
        relation = f"[:{quoted(step.relation)}]"
        text += f"-{relation}->" if step.direction == "forward" else f"<-{relation}-"
        text += _node(step.to)
        conditions.extend(_conditions(step.to))
    names = [quoted(name) for name in (contract.start.name, *(step.to.name for step in contract.path))]
    where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
    return f"{text}{where}\nRETURN {', '.join(f'{name}.id' for name in names)}\nLIMIT {contract.limit:d}"


def _node(node: Node) -> str:
    return f"({quoted(node.name)}:{quoted(node.type)})"


def _conditions(node: Node) -> list[str]:
    return [f"{quoted(node.name)}.{quoted(key)} = {_literal(value)}" for key, value in node.where.items()]


def _literal(value: str) -> str:
    if value.startswith("$"):
        return "$" + quoted(value[1:])
    # A doubled back-slash before a `u` would still be read as a Unicode escape, which could be that of a quote.
    return "'" + value.replace("\\", "\\u005C\\u005C").replace("'", "\\'") + "'"


def _bind(contract: Contract, arguments: Mapping[str, str]) -> Mapping[str, str]:
    for name in arguments:
        if name not in contract.parameters:
            raise UsageError(
                f"contract {contract.name!r} has no parameter {name!r}",
                hint=suggest(name, tuple(contract.parameters)),
            )
    values: dict[str, str] = {}
    for name, default in contract.parameters.items():
        value = arguments.get(name, default)
        if value is None:
            raise UsageError(f"contract {contract.name!r} needs the parameter {name!r}")
        values[name] = value
    return values


def values_of(node: Node, values: Mapping[str, str]) -> Mapping[str, str]:
    """The tests of a node with parameters filled in."""
    return {key: values[value[1:]] if value.startswith("$") else value for key, value in node.where.items()}


def _filters(node: Node, values: Mapping[str, str]) -> tuple[AttributeFilter, ...]:
    return tuple(
        AttributeFilter(key, "eq", value) for key, value in sorted(values_of(node, values).items()) if key != "id"
    )


def _time(ontology: Ontology, predicate: str, instant: Instant) -> TimeFilter:
    if ontology.relations[predicate].kind is RelationKind.EVENT:
        return TimeFilter(TimeMode.OVERLAPS, Interval(None, instant + 1))
    return TimeFilter(TimeMode.OVERLAPS, Interval(instant, instant + 1))


def _rows(contract: Contract, paths: tuple[Path, ...], *, backends: Backends, view: View) -> tuple[Row, ...]:
    names = [contract.start.name, *(step.to.name for step in contract.path)]
    entities = backends.catalog.entities(sorted({node for path in paths for node in path.nodes}), view=view)
    assertions = sorted({a for path in paths for hop in path.hops for a in hop.fact.assertion_ids})
    supports = backends.catalog.supports(assertions, view=view)
    rows = []
    for path in paths:
        ids = dict(zip(names, path.nodes, strict=True))
        rows.append(
            Row(
                ids=ids,
                names={name: entities[i].name if i in entities else i for name, i in ids.items()},
                evidence=tuple(
                    (
                        hop.fact.predicate,
                        tuple(s.span for a in hop.fact.assertion_ids for s in supports.get(a, ()) if s.group == 0),
                    )
                    for hop in path.hops
                ),
            )
        )
    return tuple(rows)
