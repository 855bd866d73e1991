"""Ingest of a generated data set, against the bare insert of the same rows into a plain SQLite file, each in a process of its own.

The bare insert parses the same JSON lines and writes documents, entities and facts with both directions, keyed and indexed; without checks,
text analysis, records, ontology, versions or scopes. Speed is by the clock. Bytes are those of the finished files, by fact.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import Measured, arguments, show

from graphroute.indexing.ingest import ingest

MOST_RATIO = 10.0
MOST_MIB = 600.0
FACTS_A_DOCUMENT = 10
FACT_TABLES = ("assertion", "support_set", "support_member", "adjacency")
WORDS = ["service", "cluster", "release", "change", "owner", "team", "incident", "policy", "vendor", "package", "customer", "plan", "region", "latency", "review", "certificate", "rotation", "approval", "budget", "audit", "backup", "restore", "ledger", "checkout", "invoice", "queue", "storage", "gateway"]  # fmt: skip
RELATIONS = (
    ("OWNED_BY", "svc", "team"),
    ("CONNECTS_TO", "svc", "db"),
    ("TOUCHES", "chg", "db"),
    ("USES", "cust", "svc"),
)


def generate(folder: Path, facts: int) -> int:
    """Writes a data set with so many facts; the number of its rows."""
    rng = random.Random(1)
    documents, entities = max(1, facts // FACTS_A_DOCUMENT), max(8, facts // 5)
    kinds = sorted({kind for _, *ends in RELATIONS for kind in ends})
    (folder / "dataset.yaml").write_text('name: generated\ndefault_labels: [public]\nas_of: "2026-06-01"\n')
    with (folder / "docs.jsonl").open("w") as stream:
        for number in range(documents):
            row: dict[str, Any] = {
                "doc_id": f"doc:{number}",
                "source_id": f"doc:{number}",
                "title": f"Note {number}",
                "text": " ".join(rng.choices(WORDS, k=80)),
                "labels": [rng.choice(["public", "staff", "audit"])],
                "valid_from": f"2025-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}",
            }
            stream.write(json.dumps(row) + "\n")
    with (folder / "entities.jsonl").open("w") as stream:
        for number in range(entities):
            kind = kinds[number % len(kinds)]
            row = {"id": f"{kind}:{number}", "type": kind, "names": [f"{rng.choice(WORDS)} {number}"]}
            stream.write(json.dumps(row) + "\n")
    places = {kind: range(place, entities, len(kinds)) for place, kind in enumerate(kinds)}
    with (folder / "edges.jsonl").open("w") as stream:
        for number in range(facts):
            relation, subject, target = rng.choice(RELATIONS)
            row = {
                "edge_id": f"e{number}",
                "s": f"{subject}:{rng.choice(places[subject])}",
                "r": relation,
                "o": f"{target}:{rng.choice(places[target])}",
                "valid_from": f"2025-{rng.randrange(1, 13):02d}-01",
                "src": [f"doc:{number // FACTS_A_DOCUMENT % documents}", f"doc:{rng.randrange(documents)}"][
                    : rng.choice([1, 1, 2])
                ],
                "span": [0, 40],
            }
            stream.write(json.dumps(row) + "\n")
    return documents + entities + facts


def bare(folder: Path, store: Path) -> None:
    """The plain insert."""

    def rows(name: str) -> Iterator[dict[str, Any]]:
        with (folder / name).open(encoding="utf-8") as stream:
            yield from map(json.loads, stream)

    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(
            "CREATE TABLE doc (id TEXT PRIMARY KEY, title TEXT, text TEXT, labels TEXT, low TEXT) WITHOUT ROWID;"
            "CREATE TABLE entity (id TEXT PRIMARY KEY, type TEXT, names TEXT) WITHOUT ROWID;"
            "CREATE TABLE fact (id TEXT PRIMARY KEY, s TEXT, r TEXT, o TEXT, low TEXT) WITHOUT ROWID;"
            "CREATE TABLE support (fact TEXT, doc TEXT, start INTEGER, end INTEGER, PRIMARY KEY (fact, doc)) WITHOUT ROWID;"
            "CREATE INDEX support_by_doc ON support (doc);"
            "CREATE TABLE adjacency (node TEXT, r TEXT, way INTEGER, other TEXT, low TEXT, fact TEXT,"
            " PRIMARY KEY (node, r, way, other, low, fact)) WITHOUT ROWID;"
        )
        connection.executemany(
            "INSERT INTO doc VALUES (?, ?, ?, ?, ?)",
            (
                (r["doc_id"], r["title"], r["text"], json.dumps(r["labels"]), r["valid_from"])
                for r in rows("docs.jsonl")
            ),
        )
        connection.executemany(
            "INSERT INTO entity VALUES (?, ?, ?)",
            ((r["id"], r["type"], json.dumps(r["names"])) for r in rows("entities.jsonl")),
        )
        for row in rows("edges.jsonl"):
            fact = (row["edge_id"], row["s"], row["r"], row["o"], row["valid_from"])
            connection.execute("INSERT INTO fact VALUES (?, ?, ?, ?, ?)", fact)
            connection.executemany(
                "INSERT OR IGNORE INTO support VALUES (?, ?, ?, ?)",
                ((row["edge_id"], doc, *row["span"]) for doc in row["src"]),
            )
            for node, way, other in ((row["s"], 0, row["o"]), (row["o"], 1, row["s"])):
                connection.execute(
                    "INSERT INTO adjacency VALUES (?, ?, ?, ?, ?, ?)",
                    (node, row["r"], way, other, row["valid_from"], row["edge_id"]),
                )
    connection.close()


def child(kind: str, folder: Path, store: Path) -> None:
    """Does one of the two and prints seconds by the clock, seconds on a core, and peak memory in MiB."""
    began, began_on_core = time.perf_counter(), time.process_time()
    if kind == "ours":
        ingest(folder, store, vectors=False)
    else:
        bare(folder, store)
    seconds, on_core = time.perf_counter() - began, time.process_time() - began_on_core
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    print(json.dumps([seconds, on_core, peak]))


def size_of(store: Path) -> int:
    """Bytes of a file and its log."""
    return sum(path.stat().st_size for path in store.parent.glob(store.name + "*"))


def fact_bytes(store: Path) -> int | None:
    """Bytes of the tables and indices of facts, or None where SQLite was built without dbstat."""
    with sqlite3.connect(store) as connection:
        names = [
            row[0]
            for row in connection.execute(
                f"SELECT name FROM sqlite_master WHERE tbl_name IN ({','.join('?' * len(FACT_TABLES))})", FACT_TABLES
            )
        ]
        try:
            found = connection.execute(
                f"SELECT sum(pgsize) FROM dbstat WHERE name IN ({','.join('?' * len(names))})", names
            ).fetchone()
        except sqlite3.OperationalError:
            return None
    return int(found[0])


def main() -> int:
    """Generates, runs the two in turn, compares."""
    parser = arguments(__doc__, rounds=1)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument(
        "--child", nargs=3, metavar=("KIND", "DIR", "STORE"), help="one of the two, for this program itself"
    )
    given = parser.parse_args()
    if given.child:
        child(given.child[0], Path(given.child[1]), Path(given.child[2]))
        return 0
    results: dict[str, list[tuple[float, ...]]] = {"ours": [], "bare": []}
    sizes = {}
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept) / "data"
        folder.mkdir()
        rows = generate(folder, given.facts)
        for turn in range(given.rounds):
            for kind in results:
                store = Path(kept) / f"{kind}{turn}.sqlite"
                command = [sys.executable, str(Path(__file__).resolve()), "--child", kind, str(folder), str(store)]
                done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ})
                results[kind].append(tuple(json.loads(done.stdout.splitlines()[-1])))
                sizes[kind] = size_of(store)
        facts_alone = fact_bytes(Path(kept) / "ours0.sqlite")
        with sqlite3.connect(Path(kept) / "ours0.sqlite") as connection:
            held = connection.execute("SELECT count(*) FROM assertion").fetchone()[0]

    def values(kind: str, place: int, factor: float = 1.0) -> list[float]:
        return [factor * pair[place] for pair in results[kind]]

    lines = [
        Measured(
            name="time on a core",
            unit="us a row",
            ours=values("ours", 1, 1e6 / rows),
            peer=values("bare", 1, 1e6 / rows),
            most_ratio=MOST_RATIO,
            wrong=abs(given.facts - held),
        ),
        Measured(
            name="speed",
            unit="rows/s",
            ours=[rows / one[0] for one in results["ours"]],
            peer=[rows / one[0] for one in results["bare"]],
        ),
        Measured(name="peak memory", unit="MiB", ours=values("ours", 2), peer=values("bare", 2), most=MOST_MIB),
        Measured(
            name="store", unit="bytes a fact", ours=[sizes["ours"] / given.facts], peer=[sizes["bare"] / given.facts]
        ),
    ]
    if facts_alone is not None:
        lines.append(Measured(name="tables of facts alone", unit="bytes a fact", ours=[facts_alone / given.facts]))
    return show(f"ingest: {rows:,} rows with {given.facts:,} facts, without vectors, against a bare insert", lines)


if __name__ == "__main__":
    sys.exit(main())
