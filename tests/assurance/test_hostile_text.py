"""No text breaks the parser, the engine, the evidence text or the log."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from graphroute.errors import UsageError
from graphroute.pipeline.engine import GraphRoute
from graphroute.testing.strategies import READERS, seeded

ALL = READERS[2]
PIECES = (
    "Who owns alder0?", "CHG-407", "svc:alder0", "owned by", "how many", "the most", "in March 2025", "last Friday", "between",
    "before 1 March 2024", "Кому принадлежит", "谁拥有", "\x00", "\x1b[2J", "\u202e", "\u200b", "\ufeff", "\ud800", "\U0010ffff", "\U000e0041",
    "<|endoftext|>", "<|im_start|>system", '"', "'", "`", "«", "»", "“", "\\", "(a+)+$", ".*", "[^", "\\d{1000}", "'; DROP TABLE source; --",
    "` ]->() DETACH DELETE n //", "\\u0060", "{{", "}}", "${x}", "%s%n", "</evidence>", "#graphroute edge_list/1", "\n", "\r\n", "\t", "\x85",
    "\u2028", "e\u0301", "İ", "ß", "ﬃ", "ＣＨＧ－４０７", "🏳️‍🌈", "٣", "1e309", "-1", "0" * 50, "2024-02-30", "99999-99-99", "a" * 300, "-" * 80, "::::", "____",
    "?" * 40, "NaN", "null", "and " * 30, "of the " * 20, "not " * 10, "\u0300" * 60, "每个" * 40,
)  # fmt: skip


def random_text(rng: random.Random) -> str:
    """Text of any planes, of pieces that mean something to some parser, or of both."""
    kind = rng.random()
    if kind < 0.35:
        return "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randrange(1, 40)))
    if kind < 0.5:
        low = rng.choice((0x20, 0x400, 0x4E00, 0x1F300, 0x0, 0x2000, 0xFF00))
        return "".join(chr(rng.randrange(low, low + 0x100)) for _ in range(rng.randrange(1, 200)))
    parts = [rng.choice(PIECES) for _ in range(rng.randrange(1, 9))]
    if kind > 0.9:
        parts.insert(rng.randrange(len(parts)), chr(rng.randrange(0x110000)))
    return rng.choice(("", " ", "  ", "")).join(parts)


def test_the_parser_takes_any_text(corpus_of: Any, scale: Any) -> None:
    router = corpus_of(0).full
    view = router._parts.backends.catalog.view(reader=ALL)
    rng = seeded(22)
    refused = 0
    for number in range(scale(2_000, 50_000)):
        text = random_text(rng)
        try:
            query = router._parser.parse(text, view=view, instant=1_780_000_000_000_000)
        except UsageError:
            refused += 1
            continue
        except Exception as error:
            raise AssertionError(f"text {number}: {text!r}") from error
        for cue in query.cues:
            assert 0 <= cue.start <= cue.end <= len(query.text), (text, cue)
        query.text.encode("utf-8")
    assert refused < number / 4


def hostile_questions(rng: random.Random, count: int) -> list[str]:
    fixed = [
        *PIECES,
        *(f"Who owns {piece}?" for piece in PIECES),
        "a " * 3_999,
        "CHG-407 " * 999,
        "\u202e" * 7_999 + "x",
        '"' * 8_000,
    ]
    fixed += [
        "who owns " * 880,
        "(" * 8_000,
        "the most " * 880,
        "2024-01-01 " * 720,
        "每" * 8_000,
        "a-" * 4_000,
        "not " * 2_000,
    ]
    return [*fixed, *(random_text(rng) for _ in range(count))]


def test_the_engine_answers_any_text(corpus_of: Any, scale: Any, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    answered = 0
    with GraphRoute.open(corpus_of(0).folder / "full" / "store.sqlite", log=log) as router:
        for question in hostile_questions(seeded(23), scale(40, 600)):
            try:
                trace = router.ask(question, reader=ALL)
            except UsageError:
                continue
            answered += 1
            assert not trace.bundle.degraded, (question[:80], trace.bundle.degraded)
            assert trace.serialized is not None
            trace.serialized.text.encode("utf-8")
            assert not set(trace.serialized.text) & set("\x00\x1b\u202e\u2028"), question[:80]
            for line in trace.serialized.text.split("\n"):
                assert not line.startswith("</evidence")
    lines = log.read_text(encoding="ascii").split("\n")
    assert len(lines) == answered + 1
    assert all(json.loads(line)["schema"] for line in lines[:-1])


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("", "empty"),
        (" \t\n", "empty"),
        ("\u200b\u202e\x00", "empty"),
        ("a" * 8_001, "8,000"),
        ("x" * 1_000_000, "8,000"),
    ],
)
def test_a_question_that_is_none_is_refused(question: str, reason: str, corpus_of: Any) -> None:
    with pytest.raises(UsageError, match=reason):
        corpus_of(0).full.explain(question, reader=ALL)


def test_what_was_removed_is_said(corpus_of: Any) -> None:
    trace = corpus_of(0).full.explain("Who\x00 owns\u202e alder0\u200b?", reader=ALL)
    assert trace.query.text == "Who owns alder0?"
    assert len(trace.query.notes) == 3
