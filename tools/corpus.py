"""Writes the bundled corpus from its hand-written world (tools/meridian), the same bytes on every machine; --check compares."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from meridian.build import COMPANY, TODAY, build
from meridian.model import World
from meridian.questions import READERS, questions

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "evals" / "datasets" / "meridian"

DEMO = """\
# What `make demo` asks, and for whom.
ontology: schema/ontology.yaml
readers: [support-agent, customer:brightwater-foods]
questions:
  - question: What was done in CHG-482?
  - question: Which active enterprise customers depend on services touched by last Friday's database certificate change?
  - question: How many incidents affected Brightwater Foods?
"""

README = """\
# Meridian Lane

The support and compliance world of a company that does not exist: a shop and payment platform with services, database clusters, changes,
releases, incidents, customers on plans, vendors, packages with issues, policies, people in teams, projects. Everything in it is our own
making, people and firms included; likeness to real ones is chance. Licence: CC0-1.0, do what you like with it.

{documents} documents ({languages}), {facts} facts, {entities} entities, {questions} questions. The shape is that of every data set here
(docs, edges, entities, questions as JSON lines). It is written by `python tools/corpus.py` from the YAML files in `tools/meridian`, which are
the place to change it; `python tools/corpus.py --check` says whether the files here are what it writes.

It is {today} there, a Monday. What to find in it:

- **The walk-through**: "Which active enterprise customers depend on services touched by last Friday's database certificate change?" The
  ticket is CHG-482; other changes were made that Friday, other database certificates were renewed on other days. Seven paths lead from its
  cluster db-eu-3 to active enterprise customers; one rests on a usage record of March 2025 and one on a service record of February 2025,
  both past the maximum age of 365 days, and notes say that both dependencies had ended. Five customers qualify.
- **Vendors with an open critical issue**: `schema/contracts/vendors_with_open_critical_issue.yaml`. Two vendors are only proven to use
  their package by a bill of materials and an assessment together.
- **Who owned checkout when release R17 was approved**: the edition of the directory of 12 May 2026 says it; the current one names
  somebody else.
- **The confidential project**: who works on Project Lyra stands in one planning document, readable with the label `lyra` only.
- **Joint and mixed supports**: incident reviews name tenants by number, account records say whose number it is, so that a reader needs both;
  a customer's own summary proves the same for that customer. Issues are stated by public bulletins and by findings of Security.
- **Contradictions**: the service catalogue still names former owners of ledger, invoicing and storefront-web; the directory is believed first.
- **Superseded versions**: eight editions of the directory, older policies and advisories, quarterly access reviews.

| reader | labels |
| --- | --- |
{readers}

| family | questions |
| --- | --- |
{families}
"""


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False, separators=(", ", ": ")) + "\n" for row in rows)


def files(world: World) -> dict[str, str]:
    """The files of the data set by name."""
    documents = sorted(world.documents.values(), key=lambda document: document.id)
    facts = sorted(world.assertions.values(), key=lambda assertion: assertion.id)
    entities = sorted(world.entities.values(), key=lambda entity: entity.id)
    asked = questions(world)
    languages = Counter(document.lang for document in documents)
    families = Counter(row["family"] for row in asked)
    spoken = {"en": "English", "ru": "Russian", "zh": "Chinese"}
    readers = "".join(
        f"  {json.dumps(reader)}: [{', '.join(map(_quoted, held))}]\n" for reader, held in READERS.items()
    )
    return {
        "docs.jsonl": lines(document.row() for document in documents),
        "edges.jsonl": lines(assertion.row() for assertion in facts),
        "entities.jsonl": lines({"id": e.id, "type": e.type, "names": list(e.names)} for e in entities),
        "questions.dev.jsonl": lines(asked),
        "dataset.yaml": f'name: meridian\nlicence: CC0-1.0\nas_of: "{TODAY}"\nreaders:\n{readers}',
        "demo.yaml": DEMO,
        "README.md": README.format(
            documents=len(documents),
            languages=", ".join(f"{number} in {spoken[code]}" for code, number in languages.most_common()),
            facts=f"{len(facts):,}",
            entities=len(entities),
            questions=len(asked),
            today=TODAY,
            readers="\n".join(f"| {reader} | {', '.join(held)} |" for reader, held in READERS.items()),
            families="\n".join(f"| {family} | {number} |" for family, number in families.items()),
        ),
    }


def _quoted(label: str) -> str:
    return label if label.isalpha() else json.dumps(label)


def main() -> int:
    """Writes or compares."""
    parser = argparse.ArgumentParser(description=f"{__doc__} The company is called {COMPANY}.")
    parser.add_argument("--out", type=Path, default=TARGET, help="directory of the data set")
    parser.add_argument(
        "--check", action="store_true", help="compare with the files there, write nothing; exit 1 if they differ"
    )
    arguments = parser.parse_args()
    written = files(build())
    if arguments.check:
        wrong = [
            name
            for name, text in written.items()
            if not (arguments.out / name).is_file() or (arguments.out / name).read_bytes() != text.encode("utf-8")
        ]
        print("\n".join(f"{arguments.out / name} is not what tools/corpus.py writes" for name in wrong) or "up to date")
        return 1 if wrong else 0
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, text in written.items():
        (arguments.out / name).write_bytes(text.encode("utf-8"))
    print(f"{len(written)} files in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
