"""Evidence bundles of an evaluation, recorded one a line, so that formats can be measured on what retrieval really returns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from graphroute.errors import DataError
from graphroute.evaluation.json_lines import read_rows
from graphroute.evaluation.question_set import Question
from graphroute.types.evidence import EvidenceBundle

SUFFIX = ".bundles.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedBundle:
    """The bundle of one question. It holds evidence text: the file is as confidential as the store it came from."""

    qid: str
    required_edges: tuple[str, ...]
    bundle: EvidenceBundle


@cache
def _adapter() -> TypeAdapter[EvidenceBundle]:
    return TypeAdapter(EvidenceBundle)


def dump_bundle(question: Question, bundle: EvidenceBundle) -> str:
    """One line, without its end. A bundle with a lone surrogate, which has no form in UTF-8, raises DataError."""
    try:
        value = json.loads(_adapter().dump_json(bundle))
    except ValueError as error:
        raise DataError(f"the bundle of {question.qid} cannot be written as JSON", where="bundles") from error
    line = {"qid": question.qid, "required_edges": list(question.required_edges), "bundle": value}
    return json.dumps(line, ensure_ascii=False)


def load_bundles(path: Path) -> Iterator[RecordedBundle]:
    """The bundles of a file, in order. Raises DataError with file and line."""
    for where, row in read_rows(path):
        try:
            bundle = _adapter().validate_json(json.dumps(row["bundle"]), strict=False)
            found = RecordedBundle(
                qid=str(row["qid"]), required_edges=tuple(map(str, row["required_edges"])), bundle=bundle
            )
        except (KeyError, TypeError, ValidationError) as error:
            raise DataError(
                "no recorded bundle", where=where, hint="record anew with graphroute eval --record-bundles"
            ) from error
        yield found


def recorded_qids(path: Path) -> frozenset[str]:
    """Questions whose bundle is in the file. A torn last line is cut off."""
    if not path.exists():
        return frozenset()
    data = path.read_bytes()
    if not data.endswith(b"\n"):
        path.write_bytes(data[: data.rfind(b"\n") + 1])
    return frozenset(str(row.get("qid")) for _, row in read_rows(path))
