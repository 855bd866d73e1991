"""Reads the mapping of a foreign graph from strict YAML, checks it against its ontology, and writes one back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from graphroute.errors import ConfigurationError
from graphroute.ontology.load import Name, OneOrMore, yaml_text
from graphroute.strict_yaml import Document, load_strict, read_strict, suggest
from graphroute.strict_yaml import validate as validate_model
from graphroute.types.mapping import (
    DEFAULT_NAMES_LIMIT,
    DateMapping,
    DateOwner,
    GraphMapping,
    NodeMapping,
    RelationMapping,
)
from graphroute.types.ontology import Ontology

FILE_NAME = "mapping.yaml"
"""The mapping's file beside its `ontology.yaml`."""


def _as_lists(value: Any) -> Any:
    if isinstance(value, str):
        return [[value]]
    if isinstance(value, list):
        return [[item] if isinstance(item, str) else item for item in value]
    return value


Property = Annotated[str, Field(min_length=1, max_length=1000)]
"""Exactly as the graph spells it, spaces included."""


class _Section(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Date(_Section):
    of: Literal["relation", "start", "end"] = "relation"
    start: Property | None = None
    end: Property | None = None


class _Node(_Section):
    label: Property | None = None
    key: Property
    names: Annotated[list[Annotated[list[Property], Field(min_length=1)]], BeforeValidator(_as_lists)] = []
    access: Property | None = None
    source: Property | None = None


class _Relation(_Section):
    type: Property | None = None
    domain: OneOrMore = Field(alias="from")
    range: OneOrMore = Field(alias="to")
    key: Property | None = None
    parallel: bool = False
    date: _Date | None = None
    access: Property | None = None
    source: Property | None = None


class _File(_Section):
    dataset: str = ""
    as_of: str | None = None
    default_labels: list[Property] = []
    names_limit: Annotated[int, Field(ge=0, le=50_000_000)] = DEFAULT_NAMES_LIMIT
    date_order: Literal["MDY", "DMY"] = "MDY"
    nodes: dict[Name, _Node] = {}
    relations: dict[Name, _Relation] = {}


def load_mapping(path: Path) -> GraphMapping:
    """Reads a mapping file. Raises ConfigurationError that lists every problem with file, line, column and key."""
    return _mapping(read_strict(path))


def parse_mapping(text: str, where: str) -> GraphMapping:
    """The same from text; `where` names it in errors."""
    return _mapping(load_strict(text, where))


def _mapping(document: Document) -> GraphMapping:
    if document.value is None:
        raise ConfigurationError("the mapping is empty", where=document.where, hint="write one with graphroute init")
    file = validate_model(document, _File)
    for name, relation in file.relations.items():
        for side in (*relation.domain, *relation.range):
            if side not in file.nodes:
                raise ConfigurationError(
                    f"relations.{name}: {side!r} is not among the nodes",
                    where=document.where,
                    hint=suggest(side, file.nodes),
                )
    return GraphMapping(
        nodes={
            name: NodeMapping(
                name=name,
                label=item.label or name,
                key=item.key,
                names=tuple(tuple(parts) for parts in item.names),
                access=item.access,
                source=item.source,
            )
            for name, item in file.nodes.items()
        },
        relations={
            name: RelationMapping(
                name=name,
                type=item.type or name,
                domain=tuple(item.domain),
                range=tuple(item.range),
                key=item.key,
                parallel=item.parallel,
                date=DateMapping(of=DateOwner(item.date.of), start=item.date.start, end=item.date.end)
                if item.date
                else None,
                access=item.access,
                source=item.source,
            )
            for name, item in file.relations.items()
        },
        default_labels=tuple(file.default_labels),
        names_limit=file.names_limit,
        date_order=file.date_order,
        dataset=file.dataset,
        as_of=file.as_of,
    )


def check_mapping(mapping: GraphMapping, ontology: Ontology, *, where: str = FILE_NAME) -> None:
    """Raises ConfigurationError where the ontology has a type or relation that the mapping does not say how to find."""
    problems = [
        f"{kind} {name!r} of the ontology is not mapped"
        for kind, declared, mapped in (
            ("type", ontology.types, mapping.nodes),
            ("relation", ontology.relations, mapping.relations),
        )
        for name in declared
        if name not in mapped
    ]
    if problems:
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise ConfigurationError(problems[0] + more, where=where, hint="map it, or take it out of the ontology")


def dump_mapping(mapping: GraphMapping, comments: Sequence[str] = ()) -> str:
    """YAML text that `parse_mapping` reads back to an equal mapping, one line an element, below the comments."""
    lines = [f"# {' '.join(comment.split())}" for comment in comments]
    if mapping.dataset:
        lines.append(f"dataset: {yaml_text(mapping.dataset)}")
    if mapping.as_of:
        lines.append(f"as_of: {json.dumps(mapping.as_of)}")
    lines.append(f"default_labels: [{', '.join(map(yaml_text, mapping.default_labels))}]")
    if mapping.names_limit != DEFAULT_NAMES_LIMIT:
        lines.append(f"names_limit: {mapping.names_limit:d}")
    if mapping.date_order != "MDY":
        lines.append(f"date_order: {mapping.date_order}")
    lines.append("nodes:" if mapping.nodes else "nodes: {}")
    for name, node in mapping.nodes.items():
        lines.append(f"  {yaml_text(name)}: {_flow(_node_fields(node))}")
    lines.append("relations:" if mapping.relations else "relations: {}")
    for name, relation in mapping.relations.items():
        lines.append(f"  {yaml_text(name)}: {_flow(_relation_fields(relation))}")
    return "\n".join(lines) + "\n"


def _node_fields(node: NodeMapping) -> dict[str, Any]:
    names = [parts[0] if len(parts) == 1 else list(parts) for parts in node.names]
    return {
        **({"label": node.label} if node.label != node.name else {}),
        "key": node.key,
        **({"names": names} if names else {}),
        **({"access": node.access} if node.access else {}),
        **({"source": node.source} if node.source else {}),
    }


def _relation_fields(relation: RelationMapping) -> dict[str, Any]:
    date = relation.date
    return {
        **({"type": relation.type} if relation.type != relation.name else {}),
        "from": list(relation.domain) if len(relation.domain) > 1 else relation.domain[0],
        "to": list(relation.range) if len(relation.range) > 1 else relation.range[0],
        **({"key": relation.key} if relation.key else {}),
        **({"parallel": True} if relation.parallel else {}),
        **({"date": _date_fields(date)} if date else {}),
        **({"access": relation.access} if relation.access else {}),
        **({"source": relation.source} if relation.source else {}),
    }


def _date_fields(date: DateMapping) -> dict[str, Any]:
    return {
        **({"of": date.of.value} if date.of is not DateOwner.RELATION else {}),
        **({"start": date.start} if date.start else {}),
        **({"end": date.end} if date.end else {}),
    }


def _flow(value: Any) -> str:
    if value is True:
        return "true"
    if isinstance(value, str):
        return yaml_text(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{yaml_text(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(map(_flow, value)) + "]"
