"""Reads YAML whose scalars stay the text that was written, with spans; refuses aliases, tags and deep nesting."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

MAX_YAML_CHARACTERS = 256 * 1024
MAX_YAML_DEPTH = 64

_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlError(ValueError):
    """YAML that is refused. `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class YamlScalar:
    """A scalar: its text, its span in code points, and whether it was written without quotes."""

    value: str
    start: int
    end: int
    line: int
    plain: bool

    @property
    def absent(self) -> bool:
        """Written as nothing, `null` or `~`."""
        return self.plain and self.value in ("", "~", "null")


@dataclass(frozen=True, slots=True)
class YamlList:
    """A sequence."""

    items: tuple[YamlNode, ...]
    line: int


@dataclass(frozen=True, slots=True)
class YamlMap:
    """A mapping, in the order written."""

    items: tuple[tuple[YamlScalar, YamlNode], ...]
    line: int


YamlNode = YamlScalar | YamlList | YamlMap


def read_yaml(text: str, *, offset: int = 0, unique: bool = True) -> YamlNode | None:
    """The single document of `text`, or None if it is empty. `offset` is added to every span.

    `unique=False` keeps every value of a key written twice. Raises YamlError.
    """
    if len(text) > MAX_YAML_CHARACTERS:
        raise YamlError(f"longer than {MAX_YAML_CHARACTERS} characters", 1)
    stack: list[tuple[bool, int, list[YamlNode]]] = []
    root: YamlNode | None = None
    documents = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            assert event.start_mark is not None
            assert event.end_mark is not None
            line = event.start_mark.line + 1
            node: YamlNode
            if isinstance(event, yaml.AliasEvent):
                raise YamlError("aliases are not allowed", line)
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise YamlError("more than one document", line)
                continue
            if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
                if event.anchor is not None:
                    raise YamlError("anchors are not allowed", line)
                if event.tag is not None:
                    raise YamlError(f"tag {event.tag!r} is not allowed", line)
            if isinstance(event, yaml.CollectionStartEvent):
                if len(stack) >= MAX_YAML_DEPTH:
                    raise YamlError(f"nesting depth > {MAX_YAML_DEPTH}", line)
                stack.append((isinstance(event, yaml.MappingStartEvent), line, []))
                continue
            if isinstance(event, yaml.ScalarEvent):
                node = YamlScalar(
                    event.value,
                    offset + event.start_mark.index,
                    offset + event.end_mark.index,
                    line,
                    event.implicit[0],
                )
            elif isinstance(event, yaml.CollectionEndEvent):
                mapping, line, held = stack.pop()
                node = _mapping(held, line, unique) if mapping else YamlList(tuple(held), line)
            else:
                continue
            if stack:
                stack[-1][2].append(node)
            else:
                root = node
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise YamlError(
            str(getattr(error, "problem", None) or getattr(error, "reason", error)), mark.line + 1 if mark else 1
        ) from None
    if isinstance(root, YamlScalar) and root.absent:
        return None
    return root


def _mapping(held: list[YamlNode], line: int, unique: bool) -> YamlMap:
    items: list[tuple[YamlScalar, YamlNode]] = []
    lines: dict[str, int] = {}
    for key, value in zip(held[::2], held[1::2], strict=True):
        if not isinstance(key, YamlScalar):
            raise YamlError("a key is not a scalar", key.line)
        if key.plain and key.value == "<<":
            raise YamlError("merge keys are not allowed", key.line)
        if unique and key.value in lines:
            raise YamlError(f"key {key.value!r} is given twice (first in line {lines[key.value]})", key.line)
        lines[key.value] = key.line
        items.append((key, value))
    return YamlMap(tuple(items), line)
