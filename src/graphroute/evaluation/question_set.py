"""Question sets: what is asked, by whom, on which day, and the gold that only scoring may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphroute.errors import DataError
from graphroute.evaluation.json_lines import read_rows

NO_FAMILY = "unspecified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question. A system sees `text`, the reader of `reader_id` and `asked_on`; the rest is gold.

    `required_sources`: groups of document ids, each satisfied by any of its members. `one_path`: for an answer the ids of
    the edges of one whole path to it. `answer_ids` is empty or in step with `answers`.
    """

    qid: str
    text: str
    family: str = NO_FAMILY
    subtype: str = ""
    reader_id: str | None = None
    asked_on: str | None = None
    answerable: bool = True
    answers: tuple[str, ...] = ()
    answer_ids: tuple[str, ...] = ()
    required_sources: tuple[tuple[str, ...], ...] = ()
    required_edges: tuple[str, ...] = ()
    forbidden_sources: frozenset[str] = frozenset()
    stale_sources: frozenset[str] = frozenset()
    one_path: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    topics: tuple[str, ...] = ()


def load_questions(paths: Sequence[Path], limit: int | None = None) -> list[Question]:
    """The questions of the files in order, the first `limit` of them. Raises DataError, also for a qid that comes twice."""
    found: dict[str, Question] = {}
    for path in paths:
        for where, row in read_rows(path):
            question = parse_question(row, where)
            if question.qid in found:
                raise DataError(f"qid {question.qid!r} comes twice", where=where)
            found[question.qid] = question
            if limit is not None and len(found) >= limit:
                return list(found.values())
    return list(found.values())


def question_files(dataset_dir: Path) -> list[Path]:
    """The question files of a dataset, without those that hold after a deletion only. Raises DataError if there are none."""
    files = [
        path
        for path in sorted(dataset_dir.glob("questions.*"))
        if path.name.endswith((".jsonl", ".jsonl.gz")) and ".after_delete." not in path.name
    ]
    if not files:
        raise DataError("no questions.*.jsonl", where=str(dataset_dir), hint="name a file with --questions")
    return files


def parse_question(row: Mapping[str, Any], where: str) -> Question:
    """One row. Unknown keys are left alone: data sets carry notes of their own."""
    for key in ("qid", "question"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise DataError(f"{key} is {row.get(key)!r}", where=where, allowed="a non-empty string")
    return Question(
        qid=row["qid"],
        text=row["question"],
        family=row.get("family") or NO_FAMILY,
        subtype=row.get("subtype") or "",
        reader_id=row.get("reader"),
        asked_on=row.get("asked_on"),
        answerable=bool(row.get("answerable", True)),
        answers=_texts(row.get("answer")),
        answer_ids=_texts(row.get("answer_ids")),
        required_sources=_groups(row, where),
        required_edges=_texts(row.get("required_edges")),
        forbidden_sources=frozenset(_texts(row.get("forbidden_sources"))),
        stale_sources=frozenset(_texts(row.get("stale_sources"))),
        one_path={answer: _texts(path) for answer, path in (row.get("one_path_per_answer") or {}).items()},
        topics=tuple(_topic(topic, where) for topic in row.get("topic_entities") or ()),
    )


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, list):
        return tuple(str(entry) for entry in value)
    return (str(value),)


def _groups(row: Mapping[str, Any], where: str) -> tuple[tuple[str, ...], ...]:
    """`required_sources` as groups; `any_of` is accepted on the question, on an entry, and around the list."""
    required = row.get("required_sources") or []
    if isinstance(required, Mapping):
        required = [required]
    groups: list[tuple[str, ...]] = []
    for entry in required:
        if isinstance(entry, Mapping):
            if not isinstance(entry.get("any_of"), list):
                raise DataError(f"required source {entry!r}", where=where, allowed="an id, or {any_of: [ids]}")
            groups.append(_texts(entry["any_of"]))
        else:
            groups.append(_texts(entry))
    alternatives = row.get("any_of")
    if alternatives is True and groups:
        return (tuple(member for group in groups for member in group),)
    if isinstance(alternatives, list) and alternatives:
        if all(isinstance(entry, str) for entry in alternatives):
            alternatives = [alternatives]
        groups.extend(_texts(entry) for entry in alternatives)
    return tuple(groups)


def _topic(topic: Any, where: str) -> str:
    if isinstance(topic, str):
        return topic
    if isinstance(topic, Mapping) and (topic.get("id") is not None or topic.get("name") is not None):
        return str(topic["id"] if topic.get("id") is not None else topic["name"])
    raise DataError(f"topic entity {topic!r}", where=where, allowed="a name or id, or {id, name}")
