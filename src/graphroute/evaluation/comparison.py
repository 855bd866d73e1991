"""Questions won and lost between systems, per family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphroute.evaluation.question_set import Question
from graphroute.evaluation.scoring import Scores

BASELINES = ("vector_lexical", "graph_only")
OUTCOMES = ("abstention", "complete_path", "source_completeness", "answer_exactness")
"""A question counts as right by the first of these that judges it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WinLoss:
    """One system against another over one family. `lost`: right there and wrong here; `won`: the reverse."""

    family: str
    against: str
    n: int
    won: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def net_lost(self) -> int:
        """Questions lost less those won."""
        return len(self.lost) - len(self.won)

    @property
    def allowed(self) -> float:
        """One question, or one in a hundred where that is more."""
        return max(1.0, 0.01 * self.n)

    @property
    def kept(self) -> bool:
        """True if no more was lost than is allowed."""
        return self.net_lost <= self.allowed


def right(scores: Mapping[str, float]) -> bool | None:
    """Whether a question's scores mean it was answered right; None if no outcome metric judges it."""
    for name in OUTCOMES:
        if name in scores:
            return scores[name] == 1.0
    return None


def compare(system: Scores, other: Scores, against: str, questions: Sequence[Question]) -> list[WinLoss]:
    """`system` against `other`, a row a family."""
    rows: list[WinLoss] = []
    for family in sorted({question.family for question in questions}):
        qids = [question.qid for question in questions if question.family == family]
        judged = [qid for qid in qids if right(system.questions[qid]) is not None]
        here = {qid for qid in judged if right(system.questions[qid])}
        there = {qid for qid in judged if right(other.questions[qid])}
        rows.append(
            WinLoss(
                family=family,
                against=against,
                n=len(judged),
                won=tuple(qid for qid in judged if qid in here - there),
                lost=tuple(qid for qid in judged if qid in there - here),
            )
        )
    return rows


def compare_to_better(system: Scores, baselines: Mapping[str, Scores], questions: Sequence[Question]) -> list[WinLoss]:
    """For each family against the baseline that gets more of it right; the first named of equals. Empty without baselines."""
    best: dict[str, tuple[int, WinLoss]] = {}
    for name, other in baselines.items():
        for row in compare(system, other, name, questions):
            members = [question.qid for question in questions if question.family == row.family]
            successes = sum(bool(right(other.questions[qid])) for qid in members)
            if row.family not in best or successes > best[row.family][0]:
                best[row.family] = (successes, row)
    return [best[family][1] for family in sorted(best)]
