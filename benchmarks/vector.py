"""Exact vector search under a reader's mask, against one numpy matrix product with the same mask; both must give the same first ten.

Random unit vectors of the default embedder's size, by default 10,000. The product covers all vectors whatever the reader may see, and
runs in BLAS on one thread.
"""

from __future__ import annotations

import math
import sys
import tempfile
from functools import partial
from pathlib import Path

import labelled
import numpy as np
from common import Measured, arguments, in_turn, one_thread, show
from numpy.typing import NDArray

from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.lexical.base import Scored
from graphroute.stores.vector.exact import ExactVectors
from graphroute.types.view import View

SIZE = 384
TOP = 10
MOST_RATIO = 4.0


def unit(rows: int, seed: int) -> NDArray[np.float32]:
    """Random unit vectors, shape (rows, SIZE)."""
    found = np.random.default_rng(seed).normal(size=(rows, SIZE))
    normed: NDArray[np.float32] = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return normed


def product(
    matrix: NDArray[np.float32], mask: NDArray[np.bool_], question: NDArray[np.float32]
) -> list[tuple[int, float]]:
    """The first ten rows under the mask with their cosines."""
    scores = matrix @ question
    scores[~mask] = -2.0
    best = np.argpartition(-scores, TOP)[:TOP]
    return sorted(((int(row), float(scores[row])) for row in best), key=lambda pair: (-pair[1], pair[0]))


def search(store: ExactVectors, view: View, questions: NDArray[np.float32], number: int) -> object:
    """Ours."""
    return store.search(questions[number], view=view, k=TOP)


def ask_peer(
    matrix: NDArray[np.float32], mask: NDArray[np.bool_], questions: NDArray[np.float32], number: int
) -> object:
    """The peer's."""
    return product(matrix, mask, questions[number])


def same(ours: list[Scored], peer: list[tuple[int, float]]) -> bool:
    """Equal at every place but for rounding in single precision."""
    return len(ours) == len(peer) and all(
        math.isclose(one.score, score, abs_tol=1e-5) for one, (_, score) in zip(ours, peer, strict=True)
    )


def main() -> int:
    """Three readers."""
    one_thread()
    parser = arguments(__doc__)
    parser.add_argument("--vectors", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=100)
    given = parser.parse_args()
    matrix, questions = unit(given.vectors, 1), unit(given.questions, 2)
    lines = []
    with tempfile.TemporaryDirectory() as kept:
        path = Path(kept) / "store.sqlite"
        labelled.write(path, (("", f"passage {number}") for number in range(given.vectors)), matrix)
        with Database(path, read_only=True) as database:
            store, catalog = ExactVectors(database), SqliteCatalog(database)
            for name, reader in labelled.READERS:
                mask = np.array([labelled.readable(number, reader) for number in range(given.vectors)])
                view = catalog.view(reader=reader)
                store.search(questions[0], view=view, k=TOP)
                times = in_turn(
                    given.questions,
                    partial(search, store, view, questions),
                    partial(ask_peer, matrix, mask, questions),
                    rounds=given.rounds,
                )
                wrong = sum(
                    not same(list(store.search(question, view=view, k=TOP)), product(matrix, mask, question))
                    for question in questions
                )
                prefix = f"{name} of {given.vectors:,}, "
                lines += times.lines(prefix)[2:3]
                lines.append(
                    Measured(
                        name=f"{prefix}best, on a core",
                        ours=times.core,
                        peer=times.peer_core,
                        most_ratio=MOST_RATIO,
                        wrong=wrong,
                    )
                )
    title = f"vector: exact scan of {given.vectors:,} x {SIZE}, against one product with a mask"
    return show(title, lines)


if __name__ == "__main__":
    sys.exit(main())
