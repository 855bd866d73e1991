"""What the benchmarks share: measuring two things in turn, one table, stores of data sets, and the reasons for leaving one out."""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphroute.evaluation.dataset import Dataset
from graphroute.evaluation.question_set import Question, load_questions, question_files
from graphroute.indexing.ingest import ingest
from graphroute.ontology.load import load_ontology

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".graphroute" / "bench"
BUNDLED = ROOT / "evals" / "datasets"
WRITTEN = {"meridian": ROOT / "schema" / "ontology.yaml"}

Seconds = list[float]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One line: values of this code and of its peer, in `unit`. `most`: limit on our p95; `most_ratio`: on the ratio of medians."""

    name: str
    ours: Sequence[float]
    peer: Sequence[float] = ()
    unit: str = "ms"
    most: float | None = None
    most_ratio: float | None = None
    wrong: int = 0

    @property
    def ratio(self) -> float | None:
        """Our median by the peer's."""
        return percentile(self.ours, 50) / percentile(self.peer, 50) if self.peer else None

    @property
    def passed(self) -> bool:
        """Under its limits, and nothing came out otherwise than the peer's."""
        fast = self.most is None or percentile(self.ours, 95) <= self.most
        near = self.most_ratio is None or self.ratio is None or self.ratio <= self.most_ratio
        return fast and near and not self.wrong


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-len(ordered) * int(percent) // 100) - 1))]


@dataclass(frozen=True, kw_only=True)
class Times:
    """Milliseconds of each case by the clock and on a core: when first seen, and the best of the later rounds.

    Time on a core is that of this thread alone: what the clock would say if nothing else wanted the cores.
    """

    first: Seconds
    peer_first: Seconds
    best: Seconds
    peer_best: Seconds
    core: Seconds
    peer_core: Seconds
    first_core: Seconds
    peer_first_core: Seconds

    def lines(self, prefix: str = "", *, most: float | None = None) -> list[Measured]:
        """All four, the limit on those that other work on the machine does not change."""
        return [
            Measured(name=f"{prefix}first seen", ours=self.first, peer=self.peer_first),
            Measured(name=f"{prefix}first seen, on a core", ours=self.first_core, peer=self.peer_first_core, most=most),
            Measured(name=f"{prefix}best of the next", ours=self.best, peer=self.peer_best),
            Measured(name=f"{prefix}best, on a core", ours=self.core, peer=self.peer_core, most=most),
        ]


def in_turn(cases: int, ours: Callable[[int], object], peer: Callable[[int], object], *, rounds: int) -> Times:
    """Runs both for every case in every round, the peer first in every second round."""
    clock: list[tuple[Seconds, Seconds]] = []
    core: list[tuple[Seconds, Seconds]] = []
    for turn in range(rounds):
        clock.append(([0.0] * cases, [0.0] * cases))
        core.append(([0.0] * cases, [0.0] * cases))
        for case in range(cases):
            for side in (0, 1) if turn % 2 == 0 else (1, 0):
                began, began_on_core = time.perf_counter(), time.thread_time()
                (peer if side else ours)(case)
                core[turn][side][case] = 1000.0 * (time.thread_time() - began_on_core)
                clock[turn][side][case] = 1000.0 * (time.perf_counter() - began)

    def best(rounds_of: list[tuple[Seconds, Seconds]], side: int) -> Seconds:
        later = rounds_of[1:] or rounds_of
        return [min(times[side][case] for times in later) for case in range(cases)]

    return Times(
        first=clock[0][0],
        peer_first=clock[0][1],
        best=best(clock, 0),
        peer_best=best(clock, 1),
        core=best(core, 0),
        peer_core=best(core, 1),
        first_core=core[0][0],
        peer_first_core=core[0][1],
    )


def show(title: str, lines: Iterable[Measured]) -> int:
    """Prints the table; the exit code is 1 if a line is over its limit."""
    lines = list(lines)
    print(f"\n{title}\n{machine()}")
    head = ["", "n", "p50", "p95", "peer p50", "peer p95", "ratio", "limit", ""]
    rows = [head]
    for line in lines:
        limits = [f"p95 {line.most:g}"] if line.most is not None else []
        limits += [f"ratio {line.most_ratio:g}"] if line.most_ratio is not None else []
        verdict = "ok" if line.passed else "FAILED"
        rows.append(
            [
                f"{line.name}, {line.unit}",
                str(len(line.ours)),
                *(_number(percentile(line.ours, percent)) for percent in (50, 95)),
                *(_number(percentile(line.peer, percent)) if line.peer else "-" for percent in (50, 95)),
                f"{line.ratio:.2f}" if line.ratio is not None else "-",
                " ".join(limits) or "-",
                f"{verdict} ({line.wrong} differ)" if line.wrong else verdict if limits else "",
            ]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)),
        ]
        print("  ".join([*cells, row[-1]]).rstrip())
    sys.stdout.flush()
    return 0 if all(line.passed for line in lines) else 1


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def machine() -> str:
    """Where it was measured, with how busy the machine was in the last minute."""
    return (
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}"
    )


def one_thread() -> None:
    """Starts this program again with BLAS on one thread: more of them wait for cores that are busy, and that would be measured."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    if any(os.environ.get(name) != "1" for name in names):
        os.environ.update(dict.fromkeys(names, "1"))
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, *sys.argv])


def arguments(about: str, *, rounds: int = 4) -> argparse.ArgumentParser:
    """The options that most of them have."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("GRAPHROUTE_REALDATA") or ROOT.parent / "shared" / "data"),
        help="folder of data sets beside the bundled one",
    )
    parser.add_argument("--work", type=Path, default=WORK, help="where stores are kept between runs")
    parser.add_argument("--rounds", type=int, default=rounds, help="the first is reported by itself")
    return parser


def folder_of(name: str, data: Path) -> Path | None:
    """The data set, or None after a line that says why it is left out."""
    for folder in (BUNDLED / name, data / name):
        if folder.is_dir():
            return folder
    print(f"{name}: skipped, there is no {data / name}")
    return None


def store_of(folder: Path, work: Path) -> Path:
    """A store of the data set with its written ontology and without vectors, up to date."""
    path = work / f"{folder.name}.sqlite"
    written = WRITTEN.get(folder.name, ROOT / "evals" / "ontologies" / f"{folder.name}.yaml")
    ingest(folder, path, ontology=load_ontology(written) if written.exists() else None, vectors=False)
    return path


def questions_of(folder: Path, limit: int | None = None) -> list[Question]:
    """Its questions; with a limit so many of them, evenly spread over the files."""
    found = load_questions(question_files(folder))
    if limit is None or limit >= len(found):
        return found
    return [found[number * len(found) // limit] for number in range(limit)]


def readers_of(dataset: Dataset, questions: Sequence[Question]) -> str:
    """Who asks, in words."""
    return f"{len(questions)} questions of {dataset.name} by {len({dataset.reader(q).id for q in questions})} readers"
