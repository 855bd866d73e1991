"""Reads cue cases from YAML and runs every extractor of graphroute.parsing on one question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from graphroute.parsing.aggregation import find_aggregations
from graphroute.parsing.cleaning import clean
from graphroute.parsing.dates import find_dates, find_inchoatives
from graphroute.parsing.identifiers import find_identifiers
from graphroute.parsing.questions import read_question
from graphroute.parsing.scope import find_modifiers, find_negations, find_quotes
from graphroute.types.query import Cue
from graphroute.types.time import instant_of

CASES = Path(__file__).parent / "cases"
ASKED_ON = "2024-03-06"


def load_cases() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every case of every file in `cases`, with a readable id."""
    for path in sorted(CASES.glob("*.yaml")):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        for case in document["cases"]:
            yield f"{path.stem}: {case['ask'][:60]}", {**document.get("defaults", {}), **case}


def _shown(cue: Cue) -> str:
    return f"{cue.value}: {cue.text}"


def read(case: Mapping[str, Any]) -> dict[str, Any]:
    """What the extractors find in a case, in the form the YAML files use."""
    text, cleaning = clean(case["ask"])
    moment = datetime.fromisoformat(str(case.get("asked_on", ASKED_ON)))
    instant = instant_of(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    identifiers = find_identifiers(text, case.get("patterns", ()))
    masked = [(cue.start, cue.end) for cue in identifiers]
    for name in case.get("mentions", ()):
        start = text.index(name)
        masked.append((start, start + len(name)))
    dates, notes = find_dates(
        text, instant=instant, order=case.get("order", "DMY"), masked=masked, language=case.get("language", "en")
    )
    masked.extend((date.cue.start, date.cue.end) for date in dates)
    question = read_question(text, masked=masked)
    aggregations = find_aggregations(text, masked=masked)
    return {
        "text": text,
        "cleaning": list(cleaning),
        "identifiers": [f"{cue.rule.split(':')[0]}: {cue.value}" for cue in identifiers],
        "dates": [
            f"{date.mode.value} {date.interval.format()} <- {date.cue.text}{' (ambiguous)' if date.ambiguous else ''}"
            for date in dates
        ],
        "notes": list(notes),
        "starts_or_ends": [_shown(cue) for cue in find_inchoatives(text, masked=masked)],
        "aggregations": [_shown(cue) for cue in aggregations],
        "question": question.cue.value if question else None,
        "word": question.cue.text if question else None,
        "noun": question.noun.text if question and question.noun else None,
        "text_only": question.text_only if question else False,
        "negations": [_shown(cue) for cue in find_negations(text, masked=masked)],
        "modifiers": [_shown(cue) for cue in find_modifiers(text, masked=masked)],
        "quotes": [cue.text for cue in find_quotes(text)],
    }
