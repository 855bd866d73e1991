"""Measures every system on every data set with written and inferred ontology, and writes the table of results.

    tools/evaluate.py                 the whole table, into evals/results/; a second run at the same commit goes on
    tools/evaluate.py --sample        a fixed sample of every set without vectors; fails on any permission violation

Data sets are evals/datasets/* and the folders of GRAPHROUTE_REALDATA (../shared/data beside the checkout if unset). Stores and results
files lie under .graphroute/eval; only reports are written to evals/results.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphroute.evaluation.question_set import question_files
from graphroute.evaluation.report import Report
from graphroute.evaluation.runner import evaluate
from graphroute.evaluation.scoring import Group

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".graphroute" / "eval"
SYSTEMS = ROOT / "evals" / "systems"
RESULTS = ROOT / "evals" / "results"
SAMPLE_SYSTEMS = ("lexical", "routed_hybrid")
SAMPLE_PER_FAMILY = 5
MEASURED = "routed_hybrid"


def data_sets(wanted: Sequence[str]) -> list[Path]:
    """Folders that have documents and questions, the bundled ones first, by name."""
    real = Path(os.environ.get("GRAPHROUTE_REALDATA") or ROOT.parent / "shared" / "data")
    found: dict[str, Path] = {}
    for parent in (ROOT / "evals" / "datasets", real):
        for folder in sorted(parent.iterdir()) if parent.is_dir() else []:
            if any(folder.glob("docs*.jsonl*")) and any(folder.glob("questions.*.jsonl*")):
                found.setdefault(folder.name, folder)
    unknown = sorted(set(wanted) - found.keys())
    if unknown:
        sys.exit(f"unknown data set {', '.join(unknown)}; there are: {', '.join(found)}")
    return [folder for name, folder in found.items() if not wanted or name in wanted]


def commit() -> str:
    """The commit measured, and after a `+` a digest of what differs from it in tracked files that matter."""
    watched = ["src", "evals/systems", "evals/ontologies", "evals/datasets", "routes.yaml", "schema"]
    try:
        name = _git("rev-parse", "--short=12", "HEAD").decode().strip()
        changes = _git("diff", "HEAD", "--", *watched)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return name + ("+" + hashlib.sha256(changes).hexdigest()[:8] if changes else "")


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout


def ontologies(name: str) -> list[tuple[str, Path | None]]:
    """The ontologies a set is measured with: the written one if there is one, and none, so that it is inferred."""
    written = ROOT / "evals" / "ontologies" / f"{name}.yaml"
    if not written.exists() and (ROOT / "evals" / "datasets" / name).is_dir():
        written = ROOT / "schema" / "ontology.yaml"
    return [*([("written", written)] if written.exists() else []), ("inferred", None)]


def ingest(folder: Path, store: Path, ontology: Path | None, *, vectors: bool) -> None:
    """Runs `graphroute ingest`; a store that is up to date costs a read of the files."""
    store.parent.mkdir(parents=True, exist_ok=True)
    command = [str(Path(sys.executable).with_name("graphroute")), "ingest", str(folder), "--store", str(store)]
    command += ["--ontology", str(ontology)] if ontology else []
    command += [] if vectors else ["--no-vectors"]
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"ingest of {folder} failed")


def sample(folder: Path, target: Path, per_family: int) -> Path:
    """Writes the same few questions of each family every time, chosen by the hash of their id, in the order of the files."""
    rows: list[dict[str, Any]] = []
    for path in question_files(folder):
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as stream:
            rows += [json.loads(line) for line in stream if line.strip()]
    families: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        families[row.get("family") or ""].append(row["qid"])
    chosen = {qid for qids in families.values() for qid in sorted(qids, key=_hash)[:per_family]}
    target.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows if row["qid"] in chosen]
    target.write_text("".join(lines), encoding="utf-8")
    return target


def _hash(qid: str) -> str:
    return hashlib.sha256(qid.encode()).hexdigest()


def systems_of(asked: Sequence[str]) -> list[str]:
    """The systems asked for, else all."""
    return list(asked) or sorted(path.stem for path in SYSTEMS.glob("*.yaml"))


def progress(system: str, done: int, total: int) -> None:
    """A line now and then."""
    if done == total or done % 100 == 0:
        print(f"  {system} {done}/{total}", flush=True)


def violations(report: Report) -> list[str]:
    """What no run may show: permission violations, questions that failed or got no result."""
    found: list[str] = []
    for name, scores in report.systems.items():
        for family, group in scores.families.items():
            if group["permission_violations"].value:
                found.append(
                    f"{report.dataset} {name} {family}: {group['permission_violations'].value:.0f} permission violations"
                )
        found += [f"{report.dataset} {name} {qid}: {message}" for qid, message in report.errors.get(name, {}).items()]
    return found


ROWS = (
    "complete_path",
    "complete_path_at_half",
    "edge_precision",
    "answer_exactness",
    "source_completeness",
    "abstention",
    "false_abstention",
    "freshness_violations",
    "graph_calls",
    "degraded",
)


def table(reports: Iterable[tuple[str, str, Report]], measured: str) -> str:
    """The overview: a row a set, ontology and family for the system that is measured against the others."""
    head = [
        "set",
        "ontology",
        "family",
        "n",
        *(name.replace("_", " ") for name in ROWS),
        "violations",
        "net lost / allowed",
    ]
    lines = [
        "# Results",
        "",
        f"`{MEASURED}` at commit `{measured}`; written by `make eval`. The folders beside this file hold the report of every set with all systems,",
        "intervals, routes and definitions. The last column counts questions lost to the better of vector_lexical and graph_only less those won.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + " --- |" * len(head),
    ]
    for name, ontology, report in reports:
        scores = report.systems.get(MEASURED)
        if scores is None:
            continue
        lost = {row.family: row for row in report.against_better(MEASURED)}
        for family, group in scores.families.items():
            row = lost.get(family)
            cells = [name, ontology, family, str(scores.sizes[family]), *(_value(group, metric) for metric in ROWS)]
            cells += [
                f"{group['permission_violations'].value:.0f}",
                f"{row.net_lost} / {row.allowed:g}" if row else "-",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _value(group: Group, metric: str) -> str:
    return f"{group[metric].value:.2f}" if metric in group else "-"


@dataclass(frozen=True)
class Job:
    """One data set with one ontology."""

    folder: Path
    ontology: str
    path: Path | None
    systems: tuple[str, ...]
    vectors: bool
    sample: bool
    work: Path
    measured: str


def run(job: Job) -> tuple[Report, Path]:
    """Ingests and measures one job; the report and the folder of its files."""
    begun = time.monotonic()
    kind = f"{job.folder.name}.{job.ontology}{'.sample' if job.sample else ''}"
    store = job.work / "stores" / f"{kind}.sqlite"
    ingest(job.folder, store, job.path, vectors=job.vectors)
    out = job.work / "runs" / job.measured / kind
    questions = sample(job.folder, out / "questions.jsonl", SAMPLE_PER_FAMILY) if job.sample else None
    report = evaluate(
        job.folder,
        store,
        questions=questions,
        systems=list(job.systems),
        systems_dir=SYSTEMS,
        out=out,
        progress=progress,
    )
    print(f"{job.folder.name}, {job.ontology} ontology: {time.monotonic() - begun:.0f} s", flush=True)
    return report, out


def main() -> int:
    """Runs what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sample", action="store_true", help="a fixed sample without vectors, nothing written to evals/results"
    )
    parser.add_argument("--sets", default="", help="names, separated by commas; all if left out")
    parser.add_argument("--systems", default="", help="names, separated by commas; all if left out")
    parser.add_argument("--ontology", choices=("written", "inferred"), help="one of the two only")
    parser.add_argument(
        "--no-vectors",
        default="",
        help="sets to measure without vectors, separated by commas, or 'all'; the table says so",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="data sets measured at a time")
    parser.add_argument("--work", type=Path, default=WORK, help="where stores and results files are kept")
    arguments = parser.parse_args()
    measured = commit()
    systems = systems_of([name for name in arguments.systems.split(",") if name])
    if arguments.sample and not arguments.systems:
        systems = list(SAMPLE_SYSTEMS)
    whole = not (arguments.sample or arguments.systems or arguments.ontology)
    plain = {name for name in arguments.no_vectors.split(",") if name}
    jobs = [
        Job(
            folder=folder,
            ontology=ontology,
            path=path,
            systems=tuple(systems),
            vectors=not (arguments.sample or "all" in plain or folder.name in plain),
            sample=arguments.sample,
            work=arguments.work,
            measured=measured,
        )
        for folder in data_sets([name for name in arguments.sets.split(",") if name])
        for ontology, path in ontologies(folder.name)
        if arguments.ontology in (None, ontology)
    ]
    reports: list[tuple[str, str, Report]] = []
    wrong: list[str] = []
    with ProcessPoolExecutor(max_workers=max(1, arguments.jobs)) as pool:
        for job, (report, out) in zip(jobs, pool.map(run, jobs), strict=True):
            reports.append((job.folder.name, job.ontology, report))
            wrong += violations(report)
            if whole:
                kept = RESULTS / job.folder.name / job.ontology
                kept.mkdir(parents=True, exist_ok=True)
                for name in ("report.json", "report.md"):
                    shutil.copyfile(out / name, kept / name)
    overview = table(reports, measured)
    if plain and not arguments.sample:
        overview += f"\nMeasured without vectors (vector search finds nothing there): {', '.join(sorted(plain))}.\n"
    if whole:
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / "README.md").write_text(overview, encoding="utf-8")
    print(overview)
    print("\n".join(wrong) or "no permission violation, no failed question")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
