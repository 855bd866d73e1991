"""Reads YAML without its traps: no implicit booleans or octals, no duplicates, aliases, tags or bombs; lines in errors."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from graphroute.errors import ConfigurationError

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_ITEMS = 10_000

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the root to a value."""

_Model = TypeVar("_Model", bound=BaseModel)

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})\Z")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
# What some YAML readers take for a number and others for text: neither reading is safe.
_AMBIGUOUS = re.compile(
    r"""[-+]?(?:
        0[0-9_]+(?:\.[0-9_]*)?          # 0010
      | 0[bB][01_]+ | 0[oO][0-7_]+ | 0[xX][0-9a-fA-F_]+
      | [0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?   # 1_000, 1., a very long integer
      | \.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?
      | [0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?      # 12:30
      | \.(?:inf|Inf|INF)
    )\Z | \.(?:nan|NaN|NAN)\Z""",
    re.VERBOSE,
)
_FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the text, both counted from 1, columns in code points."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Document:
    """A loaded file. `value` is made of dict (text keys), list, str, int, float, bool and None; None for an empty file.

    `keys` and `values` hold where each key and each value starts; `raws` the spelling of plain numbers.
    """

    where: str
    value: Any
    keys: Mapping[KeyPath, Mark] = field(repr=False)
    values: Mapping[KeyPath, Mark] = field(repr=False)
    raws: Mapping[KeyPath, str] = field(repr=False)

    def mark(self, path: Sequence[str | int], *, key: bool = False) -> Mark:
        """Where the value (or the key) at `path` stands; the nearest enclosing value if the path does not exist."""
        found = tuple(path)
        if key and found in self.keys:
            return self.keys[found]
        while found and found not in self.values:
            found = found[:-1]
        return self.values.get(found, Mark(1, 1))

    def place(self, path: Sequence[str | int], *, key: bool = False) -> str:
        """`file:line:column` of the value (or key) at `path`."""
        mark = self.mark(path, key=key)
        return f"{self.where}:{mark.line}:{mark.column}"

    def error(
        self,
        path: Sequence[str | int],
        message: str,
        *,
        key: bool = False,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> ConfigurationError:
        """An error (to be raised by the caller) about the value or key at `path`, with place and key path."""
        name = format_path(path)
        text = f"{name}: {message}" if name else message
        return ConfigurationError(text, where=self.place(path, key=key), allowed=allowed, hint=hint)

    def spelling(self, path: Sequence[str | int]) -> str | None:
        """How a plain number at `path` is written in the file (`1.10`), else None."""
        return self.raws.get(tuple(path))


def format_path(path: Sequence[str | int]) -> str:
    """`routes[2].when` for ("routes", 2, "when")."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name most like `word`, or None if none is close."""
    by_fold = {name.casefold(): name for name in sorted(known, reverse=True)}
    close = difflib.get_close_matches(word.casefold(), sorted(by_fold), n=1, cutoff=0.6)
    return by_fold[close[0]] if close else None


def suggest(word: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: `did you mean 'x'?`, else the known names."""
    names = sorted(known)
    close = nearest(word, names)
    return f"did you mean {close!r}?" if close else f"known: {', '.join(names)}"


def read_strict(path: str | Path) -> Document:
    """`load_strict` of a file. Raises ConfigurationError, also if it is missing, a directory or unreadable."""
    file = Path(path)
    try:
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 8)
    except IsADirectoryError:
        raise ConfigurationError("is a directory", where=str(path), allowed="a YAML file") from None
    except FileNotFoundError:
        raise ConfigurationError("no such file", where=str(path)) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a valid file name"
        raise ConfigurationError(f"cannot be read ({reason})", where=str(path)) from None
    return load_strict(raw, str(path))


def load_strict(text: str | bytes, where: str) -> Document:
    """Parses one YAML document. `where` names the file in errors. Raises ConfigurationError with line and column.

    Plain scalars follow the YAML 1.2 core schema, so NO, ON and dates stay text; spellings that YAML 1.1 reads as numbers
    in surprising ways (0010, 12:30, 1_000, .5, .nan) are refused and have to be quoted. A leading byte-order mark and
    CRLF are accepted. At most `MAX_BYTES` of UTF-8, `MAX_DEPTH` levels and `MAX_ITEMS` keys and values.
    """
    clean = _clean(text, where)
    try:
        return _Builder(clean, where).build()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        problem = " ".join(str(error.problem or error.context or "not valid YAML").split())
        raise ConfigurationError(f"not valid YAML: {problem}", where=f"{where}:{line}:{column}") from None
    except yaml.YAMLError as error:
        raise ConfigurationError(f"not valid YAML: {' '.join(str(error).split())}", where=f"{where}:1:1") from None


def _clean(text: str | bytes, where: str) -> str:
    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise ConfigurationError(
            f"the file is larger than {MAX_BYTES // 1024} KiB",
            where=f"{where}:1:1",
            allowed=f"at most {MAX_BYTES} bytes",
        )
    if isinstance(text, bytes):
        raw = text
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise ConfigurationError("the file is UTF-16", where=f"{where}:1:1", hint="save it as UTF-8")
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            before = raw[: error.start].decode("utf-8")
            raise ConfigurationError(
                f"byte 0x{raw[error.start]:02x} is not UTF-8", where=_place(where, before), hint="save it as UTF-8"
            ) from None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found = _FORBIDDEN.search(text)
    if found:
        code = ord(found.group())
        name = "a tab" if code == 9 else f"the character U+{code:04X}"
        hint = "indent with spaces" if code == 9 else 'write it as an escape in "double quotes"'
        raise ConfigurationError(f"{name} is not allowed", where=_place(where, text[: found.start()]), hint=hint)
    return text


def _place(where: str, before: str) -> str:
    return f"{where}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


class _Loader(yaml.SafeLoader):
    """Stops at deep brackets in the scanner, which looks far ahead and takes quadratic time in their depth."""

    def fetch_flow_collection_start(self, TokenClass: Any) -> None:
        if self.flow_level >= MAX_DEPTH:
            problem = f"nested more than {MAX_DEPTH} levels deep"
            raise yaml.scanner.ScannerError(None, None, problem, self.get_mark())
        super().fetch_flow_collection_start(TokenClass)

    def next_event(self) -> yaml.Event | None:
        """The next event, or None at the end."""
        return self.get_event() if self.check_event() else None  # type: ignore[no-untyped-call]


class _Builder:
    """Builds values from PyYAML's events: no composer or constructor runs, so nothing is expanded or called."""

    def __init__(self, text: str, where: str) -> None:
        self._where = where
        self._loader = _Loader(text)
        self._keys: dict[KeyPath, Mark] = {}
        self._values: dict[KeyPath, Mark] = {}
        self._raws: dict[KeyPath, str] = {}
        self._items = 0

    def build(self) -> Document:
        value: Any = None
        documents = 0
        try:
            for event in self._events():
                if isinstance(event, yaml.DocumentStartEvent):
                    documents += 1
                    if documents > 1:
                        raise self._error(event, (), "a second document starts here", allowed="one document a file")
                    if event.version or event.tags:
                        raise self._error(event, (), "directives (%YAML, %TAG) are not allowed")
                elif isinstance(event, yaml.NodeEvent):
                    value = self._node(event, ())
        finally:
            self._loader.dispose()
        return Document(self._where, value, self._keys, self._values, self._raws)

    def _events(self) -> Iterator[yaml.Event]:
        while (event := self._loader.next_event()) is not None:
            yield event

    def _next(self) -> yaml.Event:
        event = self._loader.next_event()
        assert event is not None, "a collection is closed before the stream ends"
        return event

    def _node(self, event: yaml.Event, path: KeyPath) -> Any:
        self._check(event, path)
        self._values[path] = _mark(event)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, path)
        if len(path) >= MAX_DEPTH:
            raise self._error(event, path[:3], f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(event := self._next(), yaml.SequenceEndEvent):
                items.append(self._node(event, (*path, len(items))))
            return items
        mapping: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event, path)
            here = (*path, key)
            if key in mapping:
                first = self._keys[here].line
                raise self._error(event, here, f"key given twice, first in line {first}", hint="keep one of them")
            self._keys[here] = _mark(event)
            mapping[key] = self._node(self._next(), here)
        return mapping

    def _key(self, event: yaml.Event, path: KeyPath) -> str:
        self._check(event, path)
        if not isinstance(event, yaml.ScalarEvent):
            raise self._error(event, path, "a key must be text")
        if event.implicit[0] and event.value == "<<":
            raise self._error(event, path, "merge keys (<<) are not allowed", hint="write the keys out")
        value = self._scalar(event, path)
        self._raws.pop(path, None)
        if not isinstance(value, str):
            raise self._error(event, path, f"the key {event.value or 'null'} is not text", hint="write it in quotes")
        return value

    def _check(self, event: yaml.Event, path: KeyPath) -> None:
        self._items += 1
        if self._items > MAX_ITEMS:
            raise self._error(event, path, f"more than {MAX_ITEMS} keys and values")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise self._error(event, path, "aliases (&name, *name) are not allowed", hint="write the value out")
        if getattr(event, "tag", None) is not None:
            raise self._error(event, path, f"the tag {event.tag[:60]!r} is not allowed", hint="remove it")  # type: ignore[attr-defined]

    def _scalar(self, event: yaml.ScalarEvent, path: KeyPath) -> Any:
        text: str = event.value
        if not event.implicit[0]:
            found = _FORBIDDEN.search(text.replace("\t", " ").replace("\r", " "))
            if found and ord(found.group()) in (0, *range(0xD800, 0xE000)):
                raise self._error(event, path, f"the character U+{ord(found.group()):04X} is not allowed")
            return text
        if text in _NULLS:
            return None
        if text in _BOOLEANS:
            return _BOOLEANS[text]
        if _INT.match(text):
            self._raws[path] = text
            return int(text)
        if _FLOAT.match(text) and ("." in text or "e" in text.lower()):
            number = float(text)
            if not math.isfinite(number):
                raise self._error(event, path, f"the number {text[:40]} is too large")
            self._raws[path] = text
            return number
        if _AMBIGUOUS.match(text):
            raise self._error(
                event,
                path,
                f"{text[:40]} may be read as a number or as text",
                hint=f"write '{text[:40]}' in quotes for text, or a plain decimal number",
            )
        return text

    def _error(
        self, event: yaml.Event, path: KeyPath, message: str, *, allowed: str | None = None, hint: str | None = None
    ) -> ConfigurationError:
        name, mark = format_path(path), _mark(event)
        return ConfigurationError(
            f"{name}: {message}" if name else message,
            where=f"{self._where}:{mark.line}:{mark.column}",
            allowed=allowed,
            hint=hint,
        )


def _mark(event: yaml.Event) -> Mark:
    mark = event.start_mark
    return Mark(mark.line + 1, mark.column + 1) if mark else Mark(1, 1)


def validate(document: Document, model: type[_Model], *, value: Any = None, path: KeyPath = ()) -> _Model:
    """Checks the document (or `value` found at `path`) against a pydantic model. Meant for `strict`, `extra="forbid"`.

    Raises one ConfigurationError that lists every problem with its place and key path, the value range allowed and, for
    an unknown key, the nearest known one.
    """
    try:
        return model.model_validate(document.value if value is None and not path else value)
    except ValidationError as error:
        problems = sorted(
            (_problem(document, model, path, details) for details in error.errors(include_url=False)),
            key=lambda problem: (problem[0].line, problem[0].column, problem[1]),
        )
    raise combined(document.where, problems)


def combined(where: str, problems: Sequence[tuple[Mark, str]]) -> ConfigurationError:
    """One error for several problems: the first gives the place, the others follow with theirs."""
    (mark, text), *others = dict.fromkeys(problems)
    for other, message in others:
        text += f" | {where}:{other.line}:{other.column}: {message}"
    return ConfigurationError(text, where=f"{where}:{mark.line}:{mark.column}")


def _problem(document: Document, model: type[BaseModel], base: KeyPath, details: Any) -> tuple[Mark, str]:
    inner: KeyPath = details["loc"]
    kind: str = details["type"]
    path = (*base, *(part for part in inner if part != "[key]"))
    name = format_path(path)
    given = details["input"]
    if kind == "extra_forbidden":
        known = _fields_at(model, inner[:-1])
        text = f"{name}: unknown key; {suggest(str(inner[-1]), known)}" if known else f"{name}: unknown key"
        return document.mark(path, key=True), text
    mark = document.mark(path)
    prefix = f"{name}: " if name else ""
    if kind == "missing":
        return mark, f"{prefix}missing; add it"
    if kind in ("value_error", "assertion_error"):
        return mark, prefix + str(details["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    shown = document.spelling(path) or _show(given)
    if kind == "string_type" and document.spelling(path):
        return mark, f"{prefix}{shown} is read as a number where text is due; write '{shown}' in quotes"
    allowed = _allowed(model, inner, kind, details)
    return mark, f"{prefix}{shown} is not allowed; allowed: {allowed}"


def _show(value: Any) -> str:
    if value is None:
        return "an empty value"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _allowed(model: type[BaseModel], path: KeyPath, kind: str, details: Any) -> str:
    low, high = _bounds(model, path)
    if kind.startswith("int") or (kind in _RANGES and not isinstance(low, float) and not isinstance(high, float)):
        return f"a whole number {_range(low, high)}".strip()
    if kind.startswith("float") or kind in _RANGES or kind == "finite_number":
        return f"a number {_range(low, high)}".strip()
    return _NAMES.get(kind) or str(details["msg"]).replace("Input should be ", "")


_RANGES = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal"})
_NAMES = {
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def _range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"{low}..{high}"
    if low is not None:
        return f"of at least {low}"
    return f"of at most {high}" if high is not None else ""


def _bounds(model: type[BaseModel], path: KeyPath) -> tuple[float | None, float | None]:
    if not path or not isinstance(path[-1], str):
        return None, None
    for owner in _models_at(model, path[:-1]):
        for name, info in owner.model_fields.items():
            if path[-1] in (name, info.alias):
                low = high = None
                for item in _metadata(info.annotation, info.metadata):
                    low = getattr(item, "ge", getattr(item, "gt", low))
                    high = getattr(item, "le", getattr(item, "lt", high))
                return low, high
    return None, None


def _metadata(annotation: Any, own: Iterable[Any]) -> Iterator[Any]:
    yield from own
    yield from getattr(annotation, "__metadata__", ())
    if get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from getattr(part, "__metadata__", ())


def _fields_at(model: type[BaseModel], path: KeyPath) -> list[str]:
    return sorted(
        {info.alias or name for owner in _models_at(model, path) for name, info in owner.model_fields.items()}
    )


def _models_at(model: type[BaseModel], path: KeyPath) -> list[type[BaseModel]]:
    current: list[Any] = [model]
    for part in path:
        following: list[Any] = []
        for item in current:
            if isinstance(item, type) and issubclass(item, BaseModel):
                for name, info in item.model_fields.items():
                    if part in (name, info.alias):
                        following.extend(_unwrap(info.annotation))
            else:
                # An item of a list or mapping: the last argument is the type of the items.
                arguments = [argument for argument in get_args(item) if argument is not Ellipsis]
                following.extend(_unwrap(arguments[-1]) if arguments else [])
        current = following
    return [item for item in current if isinstance(item, type) and issubclass(item, BaseModel)]


def _unwrap(annotation: Any) -> list[Any]:
    if get_origin(annotation) in (Union, UnionType):
        return [part for argument in get_args(annotation) for part in _unwrap(argument)]
    if hasattr(annotation, "__metadata__"):
        return _unwrap(annotation.__origin__)
    return [annotation]
