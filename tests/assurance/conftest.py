"""Random corpora in real stores, opened once, and how much is checked: little by default, much with GRAPHROUTE_ASSURE=1."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from graphroute.cli.explain import exit_code, explanation
from graphroute.cli.main import main
from graphroute.pipeline.engine import GraphRoute
from graphroute.testing.rows import Rows, questions, random_rows, readable, token_of, visible
from graphroute.testing.strategies import READERS
from graphroute.testing.whole_path import PATIENT, outputs, store_of
from graphroute.types.reader import Reader
from graphroute.types.trace import Trace

LONG = os.environ.get("GRAPHROUTE_ASSURE") == "1"
EARLY = "2024-02-15"


def scaled(few: int, many: int) -> int:
    return many if LONG else few


@dataclass
class Corpus:
    """Random rows, the router over all of them, and routers over what each reader may see of them."""

    seed: int
    rows: Rows
    folder: Path
    full: GraphRoute
    questions: list[str]
    parts: dict[frozenset[str], GraphRoute] = field(default_factory=dict)
    known: dict[Any, dict[str, str]] = field(default_factory=dict)

    def held(self, reader: Reader) -> frozenset[str]:
        return frozenset(d["doc_id"] for d in self.rows.documents if readable(d, reader.labels))

    def seen(self, reader: Reader) -> Rows:
        return visible(self.rows, reader.labels)

    def part(self, reader: Reader) -> GraphRoute:
        held = self.held(reader)
        if held not in self.parts:
            rows = self.seen(reader).shuffled(self.seed)
            self.parts[held] = GraphRoute.open(store_of(rows, self.folder / f"part{len(self.parts)}"), routes=PATIENT)
        return self.parts[held]

    def expected(self, reader: Reader, question: str, as_of: str | None) -> dict[str, str]:
        """What the reader gets from the reduced corpus."""
        key = (self.held(reader), reader.id, question, as_of)
        if key not in self.known:
            self.known[key] = outputs(self.part(reader), question, reader=reader, as_of=as_of)[0]
        return self.known[key]

    def foreign(self, reader: Reader) -> list[str]:
        held = self.held(reader)
        return [token_of(self.seed, d["doc_id"]) for d in self.rows.documents if d["doc_id"] not in held]

    def asked(self, reader: Reader) -> Iterator[tuple[str, str | None]]:
        """Questions with the day they are asked; few for readers who see nothing, since little can differ there."""
        step = 1 if self.held(reader) else 8
        for number, question in enumerate(self.questions[::step]):
            yield question, EARLY if number % 6 == 5 else None

    def close(self) -> None:
        for router in (self.full, *self.parts.values()):
            router.close()


@pytest.fixture(scope="session")
def corpus_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], Corpus]]:
    """The corpus of a seed."""
    opened: dict[int, Corpus] = {}

    def make(seed: int) -> Corpus:
        if seed not in opened:
            rows = random_rows(seed, untyped=seed % 2 == 1)
            folder = tmp_path_factory.mktemp(f"corpus{seed}")
            full = GraphRoute.open(store_of(rows, folder / "full"), routes=PATIENT)
            opened[seed] = Corpus(seed, rows, folder, full, questions(seed, rows))
        return opened[seed]

    yield make
    for corpus in opened.values():
        corpus.close()


def everything(
    router: GraphRoute, question: str, reader: Reader, as_of: str | None
) -> tuple[dict[str, str], Trace | None]:
    """All outputs of one question, with those of the command line."""
    found, trace = outputs(router, question, reader=reader, as_of=as_of)
    if trace is not None:
        shown = explanation(trace, None)
        found["explain"] = json.dumps(_steady(shown), ensure_ascii=False)
        found["exit"] = f"{exit_code(trace, strict=False)} {exit_code(trace, strict=True)}"
    return found, trace


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _steady(item) for key, item in value.items() if key not in ("run", "seconds")}
    if isinstance(value, list):
        return [_steady(item) for item in value]
    return value


@pytest.fixture(scope="session")
def ask() -> Callable[..., tuple[dict[str, str], Trace | None]]:
    return everything


@pytest.fixture(scope="session")
def scale() -> Callable[[int, int], int]:
    return scaled


@pytest.fixture(scope="session")
def readers() -> tuple[Reader, ...]:
    return READERS


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs a command in this process as the shell would."""

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main.main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Outcome(ended.value.code, said.out, said.err)

    return call


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(scaled(3, 30)))
