"""Reads an ontology from strict YAML and writes one back, so that a round trip gives an equal ontology."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from graphroute.strict_yaml import Document, KeyPath, Mark, combined, format_path, load_strict, read_strict, suggest
from graphroute.strict_yaml import validate as validate_model
from graphroute.types.ontology import AttributeType, EntityType, Ontology, RecordType, RelationKind, RelationType

MAX_PATTERN = 500
"""Longest identifier pattern, in characters."""

_PLACEHOLDERS = ("{id}", "{local}", "{name}")
_PLAIN = re.compile(r"[^\W\d]\w*(?:[ _.-]\w+)*\Z")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def _phrase(text: str) -> str:
    if not re.search(r"\w", text):
        raise ValueError(f"{text[:40]!r} has no word in it")
    if len(text) > 200:
        raise ValueError("longer than 200 characters")
    return " ".join(text.split())


def _name(text: str) -> str:
    if not text.strip() or text != text.strip():
        raise ValueError(f"{text[:40]!r} is empty or has spaces around it")
    if len(text) > 200:
        raise ValueError("longer than 200 characters")
    return text


def _pattern(text: str) -> str:
    import re2

    if len(text) > MAX_PATTERN:
        raise ValueError(f"longer than {MAX_PATTERN} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(text, options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"pattern {text[:60]!r} is not valid: {reason[:120]}") from None
    if compiled.search(""):
        raise ValueError(f"pattern {text[:60]!r} matches the empty text")
    return text


def _display(text: str) -> str:
    rest = text
    for placeholder in _PLACEHOLDERS:
        rest = rest.replace(placeholder, "")
    if "{" in rest or "}" in rest or rest == text:
        raise ValueError(f"{text[:60]!r} is not a template; allowed: text with {', '.join(_PLACEHOLDERS)}")
    return text


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _without_repeats(items: list[str]) -> list[str]:
    return list(dict.fromkeys(items))


Name = Annotated[str, AfterValidator(_name)]
Phrases = Annotated[list[Annotated[str, AfterValidator(_phrase)]], AfterValidator(_without_repeats)]
Names = Annotated[list[Name], AfterValidator(_without_repeats)]
OneOrMore = Annotated[list[Name], BeforeValidator(_as_list), AfterValidator(_without_repeats)]
Patterns = Annotated[list[Annotated[str, AfterValidator(_pattern)]], AfterValidator(_without_repeats)]


class _Section(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", populate_by_name=False)


class _Type(_Section):
    nouns: Phrases = []
    display: Annotated[str, AfterValidator(_display)] | None = None
    prefix: Name | None = None
    patterns: Patterns = []
    agent: bool = False
    temporal: bool = False
    place: bool = False
    restricted: bool = False


class _Relation(_Section):
    domain: OneOrMore = Field(alias="from")
    range: OneOrMore = Field(alias="to")
    kind: Literal["state", "event"] = "state"
    complete: bool = False
    symmetric: bool = False
    functional: bool = False
    forward: Phrases = []
    inverse: Phrases = []
    object_nouns: Phrases = []
    subject_nouns: Phrases = []
    qualifiers: Phrases = []
    sources: Names = []
    precedence: Names = []
    max_age_days: Annotated[float, Field(gt=0.0, le=36_500.0, allow_inf_nan=False)] | None = None
    restricted: bool = False


class _Attribute(_Section):
    nouns: Phrases = []
    kind: Literal["text", "number", "date"] = "text"
    enumerated: bool = False


class _Record(_Section):
    kind: str
    type: Name | None = None
    id_field: Name | None = None
    names: Names = []
    attributes: dict[Name, Name] = {}
    date_order: Literal["MDY", "DMY", "YMD"] = "MDY"


class _File(_Section):
    types: dict[Name, _Type | None] = {}
    relations: dict[Name, _Relation] = {}
    attributes: dict[Name, dict[Name, _Attribute | None]] = {}
    records: list[_Record] = []
    identifier_patterns: Patterns = []
    source_authority: dict[str, Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]] = {}
    titles_are_names: bool = False
    inferred: bool = False


def load_ontology(source: str | Path) -> Ontology:
    """Reads an ontology file, or YAML text if `source` is a string of several lines.

    Raises ConfigurationError that lists every problem with file, line, column and key.
    """
    if isinstance(source, str) and "\n" in source:
        return parse_ontology(source, "<ontology>")
    return _ontology(read_strict(source))


def parse_ontology(text: str, where: str) -> Ontology:
    """Reads an ontology from YAML text; `where` names it in errors. Raises ConfigurationError as `load_ontology`."""
    return _ontology(load_strict(text, where))


def _ontology(document: Document) -> Ontology:
    if document.value is None:
        return Ontology()
    file = validate_model(document, _File)
    _check_references(document, file)
    return Ontology(
        types={name: _entity_type(name, item or _Type()) for name, item in file.types.items()},
        relations={name: _relation_type(name, item) for name, item in file.relations.items()},
        attributes={
            owner: tuple(
                AttributeType(key=key, nouns=tuple(item.nouns), kind=item.kind, enumerated=item.enumerated)
                for key, item in ((key, item or _Attribute()) for key, item in items.items())
            )
            for owner, items in file.attributes.items()
        },
        records=tuple(
            RecordType(
                kind=item.kind,
                type=item.type,
                id_field=item.id_field,
                names=tuple(item.names),
                attributes=dict(item.attributes),
                date_order=item.date_order,
            )
            for item in file.records
        ),
        identifier_patterns=tuple(file.identifier_patterns),
        source_authority=dict(file.source_authority),
        titles_are_names=file.titles_are_names,
        inferred=file.inferred,
    )


def _entity_type(name: str, item: _Type) -> EntityType:
    return EntityType(
        name=name,
        nouns=tuple(item.nouns),
        display=item.display,
        prefix=item.prefix,
        patterns=tuple(item.patterns),
        agent=item.agent,
        temporal=item.temporal,
        place=item.place,
        restricted=item.restricted,
    )


def _relation_type(name: str, item: _Relation) -> RelationType:
    return RelationType(
        name=name,
        domain=tuple(item.domain),
        range=tuple(item.range),
        kind=RelationKind(item.kind),
        complete=item.complete,
        symmetric=item.symmetric,
        functional=item.functional,
        forward=tuple(item.forward),
        inverse=tuple(item.inverse),
        object_nouns=tuple(item.object_nouns),
        subject_nouns=tuple(item.subject_nouns),
        qualifiers=tuple(item.qualifiers),
        sources=tuple(item.sources),
        precedence=tuple(item.precedence),
        max_age_days=item.max_age_days,
        restricted=item.restricted,
    )


def _check_references(document: Document, file: _File) -> None:
    problems: list[tuple[Mark, str]] = []

    def unknown_type(name: str, path: KeyPath, *, key: bool = False) -> None:
        if name not in file.types:
            hint = suggest(name, file.types) if file.types else "declare it under `types`"
            text = f"{format_path(path)}: {name!r} is not a declared type; {hint}"
            problems.append((document.mark(path, key=key), text))

    for name, relation in file.relations.items():
        for key, types in (("from", relation.domain), ("to", relation.range)):
            if not types:
                path: KeyPath = ("relations", name, key)
                problems.append((document.mark(path), f"{format_path(path)}: empty; allowed: one type or more"))
            several = isinstance(document.value["relations"][name][key], list)
            for position, type_name in enumerate(types):
                unknown_type(type_name, ("relations", name, key, *((position,) if several else ())))
        if relation.symmetric and sorted(relation.domain) != sorted(relation.range):
            path = ("relations", name, "symmetric")
            problems.append((document.mark(path), f"{format_path(path)}: `from` and `to` differ; allowed: false"))
    for name in file.attributes:
        unknown_type(name, ("attributes", name), key=True)
    kinds: dict[str, int] = {}
    for position, record in enumerate(file.records):
        here: KeyPath = ("records", position)
        if record.type is not None:
            unknown_type(record.type, (*here, "type"))
        if record.id_field is not None and record.type is None:
            text = (
                f"{format_path((*here, 'id_field'))}: `type` is missing beside it; add the type of the record's entity"
            )
            problems.append((document.mark((*here, "id_field"), key=True), text))
        if record.kind in kinds:
            text = f"{format_path((*here, 'kind'))}: {record.kind!r} is mapped twice, first in records[{kinds[record.kind]}]"
            problems.append((document.mark((*here, "kind")), text))
        kinds.setdefault(record.kind, position)
    if problems:
        problems.sort(key=lambda problem: (problem[0].line, problem[0].column, problem[1]))
        raise combined(document.where, problems)


def dump_ontology(ontology: Ontology) -> str:
    """YAML text that `parse_ontology` reads back to an equal ontology: one line an entry, keys sorted, defaults left out."""
    lines: list[str] = []
    _mapping(lines, "types", {name: _type_fields(item) for name, item in ontology.types.items()})
    _mapping(lines, "relations", {name: _relation_fields(item) for name, item in ontology.relations.items()})
    attributes = {
        owner: {item.key: _attribute_fields(item) for item in items} for owner, items in ontology.attributes.items()
    }
    if attributes:
        lines.append("attributes:")
        for owner, items in sorted(attributes.items()):
            lines.append(f"  {yaml_text(owner)}:" if items else f"  {yaml_text(owner)}: {{}}")
            # In the given order, which the ontology keeps.
            lines.extend(f"    {yaml_text(key)}: {_flow(item)}" for key, item in items.items())
    if ontology.records:
        lines.append("records:")
        lines.extend(f"  - {_flow(_record_fields(record))}" for record in ontology.records)
    if ontology.identifier_patterns:
        lines.append(f"identifier_patterns: {_flow(ontology.identifier_patterns)}")
    _mapping(lines, "source_authority", ontology.source_authority)
    if ontology.titles_are_names:
        lines.append("titles_are_names: true")
    if ontology.inferred:
        lines.append("inferred: true")
    return "\n".join(lines) + "\n" if lines else ""


def _type_fields(item: EntityType) -> dict[str, Any]:
    fields = {
        "nouns": item.nouns,
        "display": item.display,
        "prefix": item.prefix,
        "patterns": item.patterns,
        "agent": item.agent,
        "temporal": item.temporal,
        "place": item.place,
        "restricted": item.restricted,
    }
    return _set_only(fields)


def _relation_fields(item: RelationType) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "from": item.domain[0] if len(item.domain) == 1 else item.domain,
        "to": item.range[0] if len(item.range) == 1 else item.range,
        "kind": "event" if item.kind is RelationKind.EVENT else None,
        "complete": item.complete,
        "symmetric": item.symmetric,
        "functional": item.functional,
        "forward": item.forward,
        "inverse": item.inverse,
        "object_nouns": item.object_nouns,
        "subject_nouns": item.subject_nouns,
        "qualifiers": item.qualifiers,
        "sources": item.sources,
        "precedence": item.precedence,
        "max_age_days": item.max_age_days,
        "restricted": item.restricted,
    }
    return _set_only(fields)


def _attribute_fields(item: AttributeType) -> dict[str, Any]:
    kind = None if item.kind == "text" else item.kind
    return _set_only({"nouns": item.nouns, "kind": kind, "enumerated": item.enumerated})


def _record_fields(item: RecordType) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "type": item.type,
        "id_field": item.id_field,
        "names": item.names,
        "attributes": item.attributes,
        "date_order": None if item.date_order == "MDY" else item.date_order,
    }
    return {"kind": item.kind, **_set_only(fields)}


def _set_only(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value not in (None, False, (), {})}


def _mapping(lines: list[str], name: str, items: Mapping[str, Any]) -> None:
    if items:
        lines.append(f"{name}:")
        lines.extend(f"  {yaml_text(key)}: {_flow(value)}" for key, value in sorted(items.items()))


def _flow(value: Any) -> str:
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return yaml_text(value)
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{yaml_text(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    assert isinstance(value, Sequence)
    return "[" + ", ".join(_flow(item) for item in value) + "]"


def _number(value: float) -> str:
    assert math.isfinite(value)
    return repr(int(value)) if value == int(value) else repr(float(value))


def yaml_text(text: str) -> str:
    """A string as YAML that strict reading gives back as it is."""
    if _PLAIN.match(text) and text.isprintable() and text.casefold() not in _RESERVED:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(character if character.isprintable() else _escape(character) for character in quoted)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
