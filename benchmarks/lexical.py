"""BM25 over the inverted index, against rank-bm25 over the reader's own documents; both must give the same first ten.

Passages and questions are those of a data set; labels are made up so that readers see all, a quarter and a twentieth of them. Both are
given the question as text and analyse it the same way. rank-bm25 gets the idf that is never negative, as the index has it.
"""

from __future__ import annotations

import math
import sqlite3
import sys
import tempfile
from functools import partial
from pathlib import Path

import labelled
import numpy as np
from common import Measured, arguments, folder_of, in_turn, questions_of, show, store_of
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.lexical.base import Scored
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.text import query_terms, terms
from graphroute.types.view import View

TOP = 10
MOST_RATIO = 1.0


class Peer:
    """rank-bm25 over documents that one reader may read."""

    def __init__(self, ids: list[str], documents: list[list[str]]) -> None:
        self.ids = ids
        self._scorer = BM25Okapi(documents, k1=1.5, b=0.75)
        frequencies: dict[str, int] = {}
        for document in documents:
            for term in set(document):
                frequencies[term] = frequencies.get(term, 0) + 1
        self._scorer.idf = {
            term: math.log(1.0 + (len(documents) - count + 0.5) / (count + 0.5)) for term, count in frequencies.items()
        }

    def search(self, text: str) -> tuple[list[tuple[str, float]], NDArray[np.float64]]:
        """The first ten with scores, and all scores."""
        scores = np.asarray(self._scorer.get_scores(query_terms(text)))
        best = np.argpartition(-scores, min(TOP, len(scores) - 1))[:TOP]
        ranked = sorted(
            ((self.ids[row], float(scores[row])) for row in best.tolist()), key=lambda pair: (-pair[1], pair[0])
        )
        return ranked, scores


def search(index: InvertedIndex, view: View, asked: list[str], number: int) -> object:
    """Ours."""
    return index.search(asked[number], view=view, k=TOP)


def ask_peer(peer: Peer, asked: list[str], number: int) -> object:
    """The peer's."""
    return peer.search(asked[number])


def same(ours: list[Scored], peer: Peer, text: str) -> bool:
    """The same scores at every place, and each passage of ours has its score with the peer: equal but for the order of ties."""
    ranked, scores = peer.search(text)
    ranked = [pair for pair in ranked if pair[1] > 0.0]
    place = {name: number for number, name in enumerate(peer.ids)}
    return len(ours) == len(ranked) and all(
        math.isclose(one.score, other[1], rel_tol=1e-9)
        and math.isclose(one.score, scores[place[one.passage_id]], rel_tol=1e-9)
        for one, other in zip(ours, ranked, strict=True)
    )


def measure(folder: Path, work: Path, rounds: int, limit: int) -> int:
    """One data set, three readers."""
    asked = [question.text for question in questions_of(folder, limit)]
    with sqlite3.connect(store_of(folder, work)) as connection:
        texts = connection.execute("SELECT title, text FROM passage ORDER BY id").fetchall()
    documents = [terms(f"{title}\n{text}") for title, text in texts]
    lines = []
    with tempfile.TemporaryDirectory() as kept:
        path = Path(kept) / "store.sqlite"
        labelled.write(path, texts)
        with Database(path, read_only=True) as database:
            index, catalog = InvertedIndex(database), SqliteCatalog(database)
            for name, reader in labelled.READERS:
                seen = [number for number in range(len(texts)) if labelled.readable(number, reader)]
                peer = Peer([labelled.passage_id(number) for number in seen], [documents[number] for number in seen])
                view = catalog.view(reader=reader)
                index.prepare(view=view)
                times = in_turn(
                    len(asked),
                    partial(search, index, view, asked),
                    partial(ask_peer, peer, asked),
                    rounds=rounds,
                )
                wrong = sum(not same(list(index.search(text, view=view, k=TOP)), peer, text) for text in asked)
                prefix = f"{name} of {len(texts):,}, "
                lines += times.lines(prefix)[:3:2]
                lines.append(
                    Measured(
                        name=f"{prefix}best, on a core",
                        ours=times.core,
                        peer=times.peer_core,
                        most_ratio=MOST_RATIO,
                        wrong=wrong,
                    )
                )
    title = f"lexical: {len(asked)} questions over {len(texts):,} passages of {folder.name}, against rank-bm25"
    return show(title, lines)


def main() -> int:
    """The bundled corpus, and e_k8s_org if it is there."""
    parser = arguments(__doc__, rounds=3)
    parser.add_argument("--sets", default="meridian,e_k8s_org", help="names, separated by commas")
    parser.add_argument("--questions", type=int, default=60, help="at most so many of each set, evenly spread")
    given = parser.parse_args()
    failed = 0
    for name in given.sets.split(","):
        folder = folder_of(name, given.data)
        if folder is not None:
            failed |= measure(folder, given.work, given.rounds, given.questions)
    return failed


if __name__ == "__main__":
    sys.exit(main())
