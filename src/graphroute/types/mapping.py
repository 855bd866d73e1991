"""Mapping: which labels, relationship types and properties of a graph that graphroute did not write stand for what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

DEFAULT_NAMES_LIMIT = 200_000
"""Nodes whose names are kept in memory; types beyond it are found by their key alone."""


class DateOwner(StrEnum):
    """The element whose property dates a relationship."""

    RELATION = "relation"
    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class DateMapping:
    """Properties that hold when a fact begins and ends, and the element that has them."""

    of: DateOwner = DateOwner.RELATION
    start: str | None = None
    end: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeMapping:
    """Nodes of one label as entities of one type.

    `key`: the property that identifies a node among those of its label; the entity's id is `name/key`. `names`: each a property, or several
    that are joined by a space; the first that a node has is its display form. `access`: a property with a label or a list of
    labels that may read the node. `source`: a property that says where the node comes from.
    """

    name: str
    label: str
    key: str
    names: tuple[tuple[str, ...], ...] = ()
    access: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationMapping:
    """Relationships of one type as facts of one relation, from nodes of the types `domain` to nodes of the types `range`.

    `key`: a property that tells relationships between the same two nodes apart; `parallel`: there are such, so that without a key their
    ids end with the server's own. `access`: as for nodes; without it a relationship is readable where both its ends are.
    """

    name: str
    type: str
    domain: tuple[str, ...]
    range: tuple[str, ...]
    key: str | None = None
    parallel: bool = False
    date: DateMapping | None = None
    access: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphMapping:
    """The whole mapping, in the order of its file. A node with several mapped labels gets its id from the first of them.

    `default_labels`: what a reader must hold (one of them) to see elements that have no access label of their own; empty: nobody sees them.
    `date_order`: how 03/04/2024 is read, MDY or DMY.
    """

    nodes: Mapping[str, NodeMapping] = field(default_factory=dict)
    relations: Mapping[str, RelationMapping] = field(default_factory=dict)
    default_labels: tuple[str, ...] = ()
    names_limit: int = DEFAULT_NAMES_LIMIT
    date_order: str = "MDY"
    dataset: str = ""
    as_of: str | None = None
