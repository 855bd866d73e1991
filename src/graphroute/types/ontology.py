"""Ontology: the operator's configuration of entity types, relation types and the words that name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

UNTYPED = "entity"
"""Name of the type of entities that nothing tells the type of, where an ontology declares it."""


class RelationKind(StrEnum):
    """A state holds over its interval; an event happens at its start."""

    STATE = "state"
    EVENT = "event"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityType:
    """A type of entity.

    `nouns` name it in questions (singular, any language). `display` is a template over `{id}`, `{local}`,
    `{name}`. `patterns` are identifier patterns (re2) whose match, folded, is an alias of an entity of the type.
    `agent`: people and organisations, what "who" asks for. `prefix`: the id prefix that marks the type.
    """

    name: str
    nouns: tuple[str, ...] = ()
    display: str | None = None
    prefix: str | None = None
    patterns: tuple[str, ...] = ()
    agent: bool = False
    temporal: bool = False
    place: bool = False
    restricted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationType:
    """A type of relation `domain -> range`.

    Words, all in base form: `forward` verbs have the subject as their agent ("s owns o"), `inverse` verbs the object
    ("o owns s" for OWNED_BY), `object_nouns` name the object seen from the subject ("the director of s"),
    `subject_nouns` name the subject seen from the object ("the chair of o"). `qualifiers` are words that may stand beside the relation's
    words without changing it. `complete`: no fact means no (closed world).
    `max_age_days`: a fact whose newest readable source is older is stale. `sources`: kinds of source that may
    support it (empty: any). `precedence`: kinds of source, strongest first, for conflicts of a functional relation.
    """

    name: str
    domain: tuple[str, ...]
    range: tuple[str, ...]
    kind: RelationKind = RelationKind.STATE
    complete: bool = False
    symmetric: bool = False
    functional: bool = False
    forward: tuple[str, ...] = ()
    inverse: tuple[str, ...] = ()
    object_nouns: tuple[str, ...] = ()
    subject_nouns: tuple[str, ...] = ()
    qualifiers: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    precedence: tuple[str, ...] = ()
    max_age_days: float | None = None
    restricted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeType:
    """An attribute of a type. `nouns` name it in questions; `values` marks short enumerations that may filter."""

    key: str
    nouns: tuple[str, ...] = ()
    kind: str = "text"
    enumerated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordType:
    """How documents of one kind that hold `key: value` lines or front matter become names and attributes.

    `kind` is the document's kind (or table). The record's entity is, in this order: `{prefix}:{value of id_field}`
    if `id_field` and `type` are given, else the document's `node`, else the one subject of all facts it supports.
    `names`: fields whose values are names; `attributes`: field -> attribute key ("*" keeps all fields under their own name).
    """

    kind: str
    type: str | None = None
    id_field: str | None = None
    names: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    date_order: str = "MDY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ontology:
    """Types, relations, records. Equal for all readers, part of the configuration hash, without instance values."""

    types: Mapping[str, EntityType] = field(default_factory=dict)
    relations: Mapping[str, RelationType] = field(default_factory=dict)
    attributes: Mapping[str, tuple[AttributeType, ...]] = field(default_factory=dict)
    records: tuple[RecordType, ...] = ()
    identifier_patterns: tuple[str, ...] = ()
    source_authority: Mapping[str, float] = field(default_factory=dict)
    titles_are_names: bool = False
    inferred: bool = False
