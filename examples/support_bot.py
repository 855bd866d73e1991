"""A support bot: answers from facts or passages a customer may read, and hands over to a person where there are none.

    make demo
    .venv/bin/python examples/support_bot.py brightwater-foods "How many incidents affected Brightwater Foods?"

With a routes file that names a chat model, `reply` returns the model's answer and its checked citations instead.
"""

from __future__ import annotations

import sys
from pathlib import Path

from graphroute import EvidenceBundle, GraphRoute, Reader

STORE = Path(".graphroute/demo.sqlite")
PASSAGES = 2


def customer(name: str) -> Reader:
    """The reader for a customer whom the bot's own sign-in has verified. Never take labels from the question."""
    identity = f"customer:{name}"
    return Reader(identity, {"public", identity})


def reply(router: GraphRoute, reader: Reader, question: str) -> str:
    """What the bot says."""
    trace = router.ask(question, reader=reader)
    bundle, answer = trace.bundle, trace.answer
    if bundle.degraded:
        return "Part of our search is not available now. A colleague will answer."
    enough = any(attempt.sufficiency.sufficient for attempt in trace.attempts)
    if bundle.abstained or not enough or not bundle.units:
        return "I find nothing about that. A colleague will answer."
    if answer is not None and answer.generated and not (answer.abstained or answer.unsupported):
        return answer.text
    if bundle.answers:
        return f"{', '.join(found.display for found in bundle.answers)} (from {', '.join(proofs(bundle)[:3])})"
    return quotation(bundle)


def proofs(bundle: EvidenceBundle) -> list[str]:
    """Sources of the facts shown, each once."""
    spans = (support.span for edge in bundle.edges for support in bundle.supports.get(edge, ()))
    return list(dict.fromkeys(span.source_id for span in spans))


def quotation(bundle: EvidenceBundle) -> str:
    """The first passages, word for word, with their sources."""
    passages = [unit.passage for unit in bundle.units if unit.passage][:PASSAGES]
    return "\n".join(f"{' '.join(passage.text.split())} [{passage.source_id}]" for passage in passages)


def main() -> int:
    """Answers the question on the command line."""
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    with GraphRoute.open(STORE) as router:
        print(reply(router, customer(sys.argv[1]), sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
