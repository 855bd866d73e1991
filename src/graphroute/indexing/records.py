"""Finds the fields of record documents: `key: value` lines, front matter and YAML, each with its span and type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphroute.indexing.yaml_text import MAX_YAML_CHARACTERS, YamlError, YamlList, YamlNode, YamlScalar, read_yaml
from graphroute.text.dates import parse_record_date
from graphroute.types.graph import Attribute
from graphroute.types.ontology import Ontology, RecordType
from graphroute.types.source import Source, SourceSpan
from graphroute.types.time import Instant

_LINE = re.compile(
    r"[ \t]*(?:[-*•][ \t]+)?(?P<bold>\*\*)?"
    r"(?P<key>[^\W\d_][\w .()/&'-]{0,59}?)"
    r"(?(bold)(?:\*\*[ \t]*[:：]|[:：]\*\*)|[ \t]*[:：])"
    r"(?:(?<=：)|(?<=\*)|(?=[ \t\r]|$))[ \t]*(?P<value>.*?)[ \t\r]*$"
)
_NEEDS_YAML = ("[", "{", "|", ">", '"', "'", "&", "*", "!")
_NUMBER = re.compile(
    r"(?P<sign>[+\-−]?)[ ]?(?:[$€£¥₽₹]|USD|EUR|GBP|RUB)?[ ]?(?P<inner>[+\-−]?)"
    r"(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?P<rest>\.[0-9]+)?"
    r"(?:[ ]?[%‰€£¥₽₹$元]|[ ]?(?:ms|s|h|kB|KB|MB|GB|TB|k|M|bps)|[ ][^\W\d_]{1,15}\.?)?"
)
_MAX_VALUE = 4000
_MAX_KEY_WORDS = 5


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record. `key` of a nested field is its path (`milestone.alpha`); `[start, end)` is in the text."""

    key: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TypedValue:
    """What a field's text stands for. `kind` is `text`, `number` or `date`."""

    kind: str
    number: float | None = None
    instant: Instant | None = None


def parse_record(text: str, *, min_fields: int = 2) -> tuple[Field, ...]:
    """The fields of a record document in text order, or () if the text is not a record.

    Read as one of, in this order: front matter between `---` lines; `key: value` on every line; YAML with a mapping on
    top; a block of at least `min_fields` `key: value` lines that the text (or its one heading line) starts with, up to the
    first blank or other line. Empty values are left out; list items are repeated values of their key.
    """
    front = _front_matter(text)
    if front is not None:
        start, end = front
        front_fields = _yaml_fields(text[start:end], start)
        return front_fields if front_fields is not None else tuple(_line_fields(text, start, end)[0])
    lines, whole, plain = _line_fields(text, 0, len(text))
    if whole and plain and len(lines) >= min_fields:
        return tuple(lines)
    if _may_be_yaml(text):
        fields = _yaml_fields(text, 0)
        if fields is not None and len(fields) >= min_fields:
            return fields
    return tuple(lines) if len(lines) >= min_fields else ()


def type_value(value: str, date_order: str = "MDY") -> TypedValue:
    """The type of a field's text: a date, a number (currency, per cent or a unit word may stand by), else text.

    Digits with a leading zero are text: they are an identifier.
    """
    instant = parse_record_date(value, date_order)
    if instant is not None:
        return TypedValue("date", instant=instant)
    match = _NUMBER.fullmatch(value.strip())
    if match and not (match["sign"] and match["inner"]):
        whole = match["whole"].replace(",", "")
        if len(whole) <= 15 and (len(whole) == 1 or whole[0] != "0"):
            number = float(whole + (match["rest"] or ""))
            return TypedValue("number", number=-number if (match["sign"] or match["inner"]) in ("-", "−") else number)
    return TypedValue("text")


def record_type(ontology: Ontology, source: Source) -> RecordType | None:
    """How the ontology reads documents of this kind; a record type of kind `*` reads any other document."""
    fallback = None
    for record in ontology.records:
        if record.kind == (source.kind or ""):
            return record
        if record.kind == "*":
            fallback = record
    return fallback


def record_id(record: RecordType, fields: tuple[Field, ...], ontology: Ontology) -> str | None:
    """The entity id that the record's own id field names, or None if the record type names none."""
    if record.id_field is None or record.type is None:
        return None
    value = next((field.value for field in fields if field.key == record.id_field), None)
    if value is None:
        return None
    entity_type = ontology.types.get(record.type)
    prefix = record.type if entity_type is None or entity_type.prefix is None else entity_type.prefix
    return f"{prefix}{value}" if not prefix or prefix[-1] in ":/-_#" else f"{prefix}:{value}"


def record_names(record: RecordType, fields: tuple[Field, ...], source: Source) -> Iterator[tuple[str, SourceSpan]]:
    """The names that the record gives its entity, with their spans, in text order."""
    for field in fields:
        if field.key in record.names:
            yield field.value, SourceSpan(source.id, field.start, field.end)


def record_attributes(
    record: RecordType, fields: tuple[Field, ...], source: Source, entity_id: str
) -> Iterator[Attribute]:
    """The attributes that the record gives its entity, in text order, valid while the source is in force."""
    seen: set[tuple[str, str]] = set()
    keep_all = "*" in record.attributes
    for field in fields:
        key = record.attributes.get(field.key, field.key if keep_all else "")
        if not key or (key, field.value) in seen:
            continue
        seen.add((key, field.value))
        typed = type_value(field.value, record.date_order)
        yield Attribute(
            entity_id=entity_id,
            key=key,
            value=field.value,
            span=SourceSpan(source.id, field.start, field.end),
            number=typed.number,
            instant=typed.instant,
            validity=source.validity,
        )


def _front_matter(text: str) -> tuple[int, int] | None:
    if not text.startswith(("---\n", "---\r\n")):
        return None
    start = text.index("\n") + 1
    position = start
    while position < len(text):
        end = text.find("\n", position)
        line = text[position:] if end < 0 else text[position:end]
        if line.rstrip() in ("---", "..."):
            return start, position
        if end < 0:
            break
        position = end + 1
    return start, len(text)


def _line_fields(text: str, start: int, end: int) -> tuple[list[Field], bool, bool]:
    """Fields of the leading `key: value` lines, whether those are all lines, and whether no value asks for YAML."""
    fields: list[Field] = []
    block: int | None = None
    plain = True
    first = True
    position = start
    while position < end:
        stop = text.find("\n", position, end)
        stop = end if stop < 0 else stop
        line = text[position:stop]
        if not line.strip():
            if fields and block is None:
                block = len(fields)
        elif not (first and line.startswith("# ")):
            match = _LINE.match(line) if len(line) <= _MAX_VALUE else None
            if match is None or len(match["key"].split()) > _MAX_KEY_WORDS:
                return fields[:block], False, plain
            value = match["value"]
            plain = plain and line[0] not in " \t-" and not value.startswith(_NEEDS_YAML)
            if value and value not in ("~", "null"):
                at = position + match.start("value")
                fields.append(Field(match["key"].strip(), value, at, at + len(value)))
        first = first and not line.strip()
        position = stop + 1
    return fields, True, plain


def _may_be_yaml(text: str) -> bool:
    if len(text) > MAX_YAML_CHARACTERS:
        return False
    for line in text.split("\n", 20)[:20]:
        if line.strip() and not line.startswith("#"):
            return line[0] not in " \t-*" and _LINE.match(line) is not None
    return False


def _yaml_fields(text: str, offset: int) -> tuple[Field, ...] | None:
    try:
        root = read_yaml(text, offset=offset, unique=False)
    except YamlError:
        return None
    if root is None or isinstance(root, YamlScalar | YamlList):
        return None
    if any(len(key.value.split()) > _MAX_KEY_WORDS for key, _ in root.items):
        return None
    return tuple(_flatten("", root, text, offset))


def _flatten(path: str, node: YamlNode, text: str, offset: int) -> Iterator[Field]:
    if isinstance(node, YamlScalar):
        value = node.value.strip()
        if node.absent or not value or len(value) > _MAX_VALUE:
            return
        start, end = node.start, node.end
        written = text[start - offset : end - offset]
        if not node.plain and len(written) >= 2 and written[0] == written[-1] and written[0] in "\"'":
            start, end = start + 1, end - 1
        written = text[start - offset : end - offset]
        start, end = start + len(written) - len(written.lstrip()), end - len(written) + len(written.rstrip())
        yield Field(path, value, start, end)
    elif isinstance(node, YamlList):
        for item in node.items:
            yield from _flatten(path, item, text, offset)
    else:
        for key, value_node in node.items:
            yield from _flatten(f"{path}.{key.value}" if path else key.value, value_node, text, offset)
