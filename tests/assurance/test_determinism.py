"""Equal inputs give equal bytes, whatever the hash seed, the load order, the number of threads or what was asked before."""

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from graphroute.pipeline.engine import GraphRoute
from graphroute.testing.strategies import READERS
from graphroute.testing.whole_path import PATIENT, outputs, text_of

SCRIPT = """
import hashlib, sys
from pathlib import Path
from graphroute.pipeline.engine import GraphRoute
from graphroute.testing.rows import questions, random_rows
from graphroute.testing.strategies import READERS
from graphroute.testing.whole_path import PATIENT, outputs, store_of, text_of

seed, order = int(sys.argv[2]), int(sys.argv[3])
rows = random_rows(seed)
asked = questions(seed, rows)
total = hashlib.sha256()
store = store_of(rows.shuffled(order) if order else rows, Path(sys.argv[1]))
with GraphRoute.open(store, routes=PATIENT) as router:
    for reader in (READERS[1], READERS[2], READERS[6]):
        for question in asked[::2]:
            total.update(text_of(outputs(router, question, reader=reader)[0]).encode())
print(total.hexdigest())
"""


def test_hash_seed_and_load_order_change_nothing(tmp_path: Path, scale: Any) -> None:
    for seed in range(scale(1, 4)):
        found = set()
        for run in range(scale(3, 10)):
            ended = subprocess.run(
                [sys.executable, "-W", "error", "-c", SCRIPT, str(tmp_path / f"{seed}-{run}"), str(seed), str(run)],
                env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONHASHSEED": str(run * 7)},
                capture_output=True,
                text=True,
                check=True,
            )
            found.add(ended.stdout)
        assert len(found) == 1, seed


def everything(router: GraphRoute, asked: list[Any]) -> list[str]:
    return [text_of(outputs(router, question, reader=reader, as_of=day)[0]) for reader, question, day in asked]


def test_threads_and_earlier_questions_change_nothing(seed: int, corpus_of: Any) -> None:
    corpus = corpus_of(seed)
    asked = [(reader, *one) for reader in (READERS[1], READERS[2], READERS[6]) for one in corpus.asked(reader)][::3]
    store = corpus.folder / "full" / "store.sqlite"
    with GraphRoute.open(store, routes=PATIENT) as router:
        first = everything(router, asked)
        assert everything(router, asked[::-1])[::-1] == first
    with GraphRoute.open(store, routes=PATIENT) as router, ThreadPoolExecutor(4) as pool:
        # Threads ask the same in different orders, on a router that has cached nothing yet.
        turned = [asked[start:] + asked[:start] for start in (0, 8, 16, 24)]
        for start, said in zip((0, 8, 16, 24), pool.map(lambda part: everything(router, part), turned), strict=True):
            assert said[len(said) - start :] + said[: len(said) - start] == first


def test_the_store_file_says_the_same_in_every_order(corpus_of: Any, readers: Any) -> None:
    """The snapshot token is made from all that a reader may see, so equal tokens mean equal content."""
    corpus = corpus_of(0)
    catalog = corpus.full._parts.backends.catalog
    for reader in readers:
        part = corpus.part(reader)._parts.backends.catalog
        assert catalog.view(reader=reader).token == part.view(reader=reader).token
    tokens = {hashlib.sha256(catalog.view(reader=r).token.encode()).hexdigest() for r in readers}
    assert len(tokens) == len({corpus.held(reader) for reader in readers})
