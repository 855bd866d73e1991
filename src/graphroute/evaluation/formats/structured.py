"""The structured answer a model must give, its JSON schema, and the strict reading of it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphroute.generation.prompts import INSUFFICIENT_DATA

NORMALISATION = "NFC, outer blanks dropped, case folded, ё=е"

_FACT = re.compile(r"F?([0-9]{1,9})")
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL)

_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["answer", "answer_id", "path", "evidence"],
    "properties": {
        "answer": _TEXTS,
        "answer_id": {
            "anyOf": [
                {"type": "null"},
                *_TEXTS["anyOf"],
                {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
            ]
        },
        "path": {"type": "array", "items": {"type": "integer"}},
        "evidence": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["source", "relation", "target"],
                "properties": {name: {"type": "string"} for name in ("source", "relation", "target")},
            },
        },
    },
}
"""The same for every format, for endpoints that hold a model to a schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredAnswer:
    """What a model said, ids and fact numbers as it wrote them; numbers count from 1 in the order of the text."""

    answers: tuple[str, ...]
    ids: tuple[str, ...]
    mapping: Mapping[str, tuple[str, ...]] | None
    path: tuple[int, ...]
    evidence: tuple[tuple[str, str, str], ...]

    @property
    def abstains(self) -> bool:
        """True if the answer is the exact mark, after normalisation, and nothing else."""
        return [normal(answer) for answer in self.answers] == [normal(INSUFFICIENT_DATA)]


def normal(text: str) -> str:
    """The form in which two answers are compared: no fuzzy matching, no stemming."""
    return unicodedata.normalize("NFC", text).strip().casefold().replace("ё", "е")


def read_answer(text: str) -> StructuredAnswer | None:
    """The answer, or None for anything but one whole JSON object with the required fields of the required types.

    One Markdown fence around the whole is taken off, for every format alike. Nothing is picked out of broken JSON.
    """
    body = text.strip()
    if fenced := _FENCED.fullmatch(body):
        body = fenced.group(1)
    try:
        value = json.loads(body, object_pairs_hook=_once, parse_constant=_refuse)
        return _answer(value)
    except (ValueError, RecursionError):
        return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _answer(value: Any) -> StructuredAnswer:
    if not isinstance(value, dict) or not {"answer", "path", "evidence"} <= value.keys():
        raise ValueError("a required field is missing")
    given = value.get("answer_id")
    mapping = None
    if isinstance(given, dict):
        mapping = {key: _texts(values) for key, values in given.items()}
        ids = tuple(dict.fromkeys(id for values in mapping.values() for id in values))
    else:
        ids = () if given is None else _texts(given)
    if not isinstance(value["path"], list) or not isinstance(value["evidence"], list):
        raise ValueError("path and evidence are lists")
    return StructuredAnswer(
        answers=_texts(value["answer"]),
        ids=ids,
        mapping=mapping,
        path=tuple(map(_number, value["path"])),
        evidence=tuple(map(_triple, value["evidence"])),
    )


def _texts(value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or any(not isinstance(one, str) for one in values):
        raise ValueError("expected a text or a list of texts")
    return tuple(values)


def _number(value: Any) -> int:
    if isinstance(value, str) and (found := _FACT.fullmatch(value.strip())):
        return int(found.group(1))
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError("a path holds numbers of facts")


def _triple(value: Any) -> tuple[str, str, str]:
    if not isinstance(value, dict):
        raise ValueError("evidence holds objects")
    found = tuple(value.get(name) for name in ("source", "relation", "target"))
    if any(not isinstance(one, str) for one in found):
        raise ValueError("evidence names source, relation and target")
    return (str(found[0]), str(found[1]), str(found[2]))
