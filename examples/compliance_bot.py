"""A compliance bot: who answered for a service on a day, with the proof and the record that a review asks for.

    make demo
    .venv/bin/python examples/compliance_bot.py checkout 2026-05-13

Each question is kept in a decision log; `graphroute explain` with the same options shows it again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from graphroute import EvidenceBundle, GraphRoute, Reader

STORE = Path(".graphroute/demo.sqlite")
LOG = Path(".graphroute/decisions.jsonl")
OFFICER = Reader("compliance-officer", {"public", "staff", "people", "compliance", "security"})


def finding(router: GraphRoute, service: str, day: str) -> dict[str, object]:
    """Owner of the service on the day, as a record of a review: answer, proof, reservations."""
    bundle = router.retrieve(f"Who owns {service}?", reader=OFFICER, as_of=day)
    return {
        "service": service,
        "day": day,
        "owner": [answer.display for answer in bundle.answers],
        "proof": proof(bundle),
        "reservations": reservations(bundle),
        "snapshot": bundle.snapshot,
    }


def proof(bundle: EvidenceBundle) -> list[dict[str, object]]:
    """Each fact with its interval and the spans that state it."""
    facts = [hop.fact for unit in bundle.units if unit.path for hop in unit.path.hops]
    return [
        {
            "fact": f"{fact.subject} {fact.predicate} {fact.object}",
            "valid": fact.validity.format(),
            "stated": [
                f"{support.span.source_id}[{support.span.start}:{support.span.end}]"
                for edge in fact.assertion_ids
                for support in bundle.supports.get(edge, ())
            ],
        }
        for fact in facts
    ]


def reservations(bundle: EvidenceBundle) -> list[str]:
    """Everything that speaks against relying on the answer."""
    found = [bundle.reason] if bundle.abstained else []
    found += [f"{item.stage} failed: {item.reason}" for item in bundle.degraded]
    found += [f"{omission.what}: {omission.reason}" for omission in bundle.omissions if omission.stage == "merge"]
    return found + ["sources disagree" for unit in bundle.units if unit.path and unit.conflict][:1]


def main() -> int:
    """Prints the finding for a service and a day."""
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    with GraphRoute.open(STORE, log=LOG) as router:
        print(json.dumps(finding(router, sys.argv[1], sys.argv[2]), ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
