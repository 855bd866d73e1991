"""A question is answered from one snapshot, while another process publishes new ones."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from graphroute.pipeline.engine import GraphRoute
from graphroute.testing.rows import Rows
from graphroute.testing.whole_path import PATIENT, store_of
from graphroute.types.reader import Reader

PUBLIC = Reader("p", ["public"])
THINGS = 12

PUBLISHER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_snapshots import world
from graphroute.indexing.ingest import ingest
from graphroute.ontology.load import load_ontology
from graphroute.testing.rows import ONTOLOGY, write
store, folder = Path(sys.argv[1]), Path(sys.argv[2])
for version in range(1, int(sys.argv[4])):
    data = write(world(version), folder / f"v{version}")
    ingest(data, store, ontology=load_ontology(ONTOLOGY), vectors=False, prune=True)
    print(version, flush=True)
"""


def world(version: int) -> Rows:
    """Every document, name and fact says which version it is of."""
    documents = [
        {
            "doc_id": f"doc{number}",
            "kind": "wiki",
            "title": f"Note {number} version{version}",
            "text": f"svc:item{number} is owned by team:v{version}. version{version} ledger.",
            "labels": ["public"],
            "node": f"svc:item{number}",
        }
        for number in range(THINGS)
    ]
    edges = [
        {
            "edge_id": f"e{number}",
            "s": f"svc:item{number}",
            "r": "OWNED_BY",
            "o": f"team:v{version}",
            "supports": [[f"doc{number}"]],
        }
        for number in range(THINGS)
    ]
    return Rows(documents=tuple(documents), edges=tuple(edges))


def versions_in(bundle: Any) -> set[str]:
    found = {one.id.removeprefix("team:v") for one in bundle.answers if one.id and one.id.startswith("team:v")}
    for unit in bundle.units:
        if unit.passage:
            found.update(
                word.rstrip(".").removeprefix("version")
                for word in unit.passage.text.split()
                if word.startswith("version")
            )
        elif unit.path:
            found.update(node.removeprefix("team:v") for node in unit.path.nodes if node.startswith("team:v"))
    found.update(title.rpartition("version")[2] for title in bundle.source_titles.values())
    return found


def test_no_bundle_mixes_two_snapshots(tmp_path: Path, scale: Any) -> None:
    count = scale(12, 60)
    store = store_of(world(0), tmp_path / "first", vectors=False)
    questions = [
        "Which services does team:v{} own?",
        "Who owns svc:item3?",
        "What do the notes say about the ledger?",
        "What are the main themes of the whole corpus?",
    ]
    arguments = [str(store), str(tmp_path / "next"), str(Path(__file__).parent), str(count)]
    seen: dict[str, set[str]] = {}
    mixed = []
    with (
        GraphRoute.open(store, routes=PATIENT) as router,
        subprocess.Popen(
            [sys.executable, "-c", PUBLISHER, *arguments],
            stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            text=True,
        ) as publisher,
    ):

        def ask(number: int) -> int:
            asked = 0
            while publisher.poll() is None:
                for question in questions:
                    bundle = router.retrieve(question.format(asked % count), reader=PUBLIC)
                    asked += 1
                    found = versions_in(bundle)
                    if len(found) > 1:
                        mixed.append((question, found))
                    seen.setdefault(bundle.snapshot, set()).update(found)
            return asked

        with ThreadPoolExecutor(3) as pool:
            asked = sum(pool.map(ask, range(3)))
        assert publisher.wait(timeout=30) == 0
        last = router.retrieve("Who owns svc:item3?", reader=PUBLIC)
    assert not mixed
    assert asked >= 20
    assert len(seen) >= 3, seen
    assert all(len(found) <= 1 for found in seen.values()), seen
    assert versions_in(last) == {str(count - 1)}


def test_a_router_left_open_sees_what_is_published_next(tmp_path: Path) -> None:
    store = store_of(world(0), tmp_path / "first", vectors=False)
    began = time.monotonic()
    with GraphRoute.open(store, routes=PATIENT) as router:
        before = router.retrieve("Who owns svc:item1?", reader=PUBLIC)
        subprocess.run(
            [sys.executable, "-c", PUBLISHER, str(store), str(tmp_path / "next"), str(Path(__file__).parent), "2"],
            check=True,
            capture_output=True,
        )
        after = router.retrieve("Who owns svc:item1?", reader=PUBLIC)
    assert versions_in(before) == {"0"}
    assert versions_in(after) == {"1"}
    assert before.snapshot != after.snapshot
    assert time.monotonic() - began < 60
