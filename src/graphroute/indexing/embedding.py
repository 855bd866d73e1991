"""Turns passages into vectors once: a cache outside the store keeps them by model and text."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphroute.errors import BackendError
from graphroute.models.embedders.base import Embedder
from graphroute.stores.schema import LIVE
from graphroute.types.source import Passage

Vector = NDArray[np.float32]

BATCH = 32
"""Texts per call of the embedder; each batch is kept before the next is made."""

_WINDOW = 1024
_FORMAT = 1


def cache_directory() -> Path:
    """Where caches lie: `GRAPHROUTE_CACHE`, else `graphroute` under `XDG_CACHE_HOME`, else under `~/.cache`."""
    own = os.environ.get("GRAPHROUTE_CACHE")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "graphroute"


def embedding_text(passage: Passage) -> str:
    """What is embedded for a passage: the title of its source, then its text."""
    text = f"{passage.title}\n{passage.text}" if passage.title else passage.text
    return text.replace("\0", " ")


class VectorCache:
    """Vectors by (model identity, SHA-256 of the text) in one SQLite file that several processes may share.

    A vector that is damaged counts as absent. Holds no text. Raises BackendError if the file cannot be used.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._path = Path(path) if path is not None else cache_directory() / "vectors.sqlite"
        try:
            if str(path) != ":memory:":
                self._path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self._path, timeout=30.0, isolation_level=None)
            if str(path) != ":memory:":
                self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version not in (0, _FORMAT):
                raise BackendError(
                    f"vector cache has format {version}", where=str(self._path), hint="delete it; it is made again"
                )
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS vectors (model TEXT, text BLOB, vector BLOB NOT NULL, "
                "PRIMARY KEY (model, text)) WITHOUT ROWID"
            )
            self._db.execute(f"PRAGMA user_version = {_FORMAT}")
        except (OSError, sqlite3.Error) as error:
            raise BackendError(
                f"vector cache cannot be used: {error}",
                where=str(self._path),
                hint="set GRAPHROUTE_CACHE to a directory that can be written, or delete the file",
            ) from error

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

    def get(self, identity: str, size: int, texts: Iterable[str]) -> dict[str, Vector]:
        """The unit vectors held for `texts`, by text; shape (size,)."""
        digests = {_digest(text): text for text in texts}
        found: dict[str, Vector] = {}
        keys = list(digests)
        for start in range(0, len(keys), 500):
            some = keys[start : start + 500]
            marks = ",".join("?" * len(some))
            rows = self._db.execute(
                f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})", (identity, *some)
            )
            for digest, blob in rows:
                if len(blob) == 4 * size:
                    vector = np.frombuffer(blob, dtype="<f4").astype(np.float32)
                    if _is_unit(vector):
                        found[digests[digest]] = vector
        return found

    def put(self, identity: str, vectors: Iterable[tuple[str, Vector]]) -> None:
        """Keeps vectors by text, in one transaction."""
        rows = [(identity, _digest(text), vector.astype("<f4").tobytes()) for text, vector in vectors]
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._db.executemany("INSERT OR REPLACE INTO vectors (model, text, vector) VALUES (?, ?, ?)", rows)
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def embed_passages(
    passages: Iterable[Passage],
    embedder: Embedder,
    cache: VectorCache,
    *,
    held: Callable[[Sequence[Passage]], Mapping[str, bytes]] = lambda passages: {},
    on_done: Callable[[int, int], None] | None = None,
) -> Iterator[list[tuple[str, Vector]]]:
    """Batches of (passage id, unit vector of shape (size,)) for all passages, each text embedded once ever.

    `held` gives vectors known elsewhere for passages the cache lacks, as float32 little-endian bytes by passage id; they
    are put into the cache. `on_done(reused, embedded)` is called as the work goes on. Raises BackendError for a vector that is not finite,
    zero, or of another size than the embedder's.
    """
    source = iter(passages)
    while window := list(islice(source, _WINDOW)):
        texts = {passage.id: embedding_text(passage) for passage in window}
        known = cache.get(embedder.identity, embedder.size, texts.values())
        elsewhere = held([passage for passage in window if texts[passage.id] not in known])
        if elsewhere:
            vectors_held = {texts[key]: np.frombuffer(blob, dtype="<f4") for key, blob in elsewhere.items()}
            cache.put(embedder.identity, vectors_held.items())
            known |= cache.get(embedder.identity, embedder.size, vectors_held)
        ready = [(passage_id, known[text]) for passage_id, text in texts.items() if text in known]
        if ready:
            if on_done:
                on_done(len(ready), 0)
            yield ready
        owners: dict[str, list[str]] = {}
        for passage_id, text in texts.items():
            if text not in known:
                owners.setdefault(text, []).append(passage_id)
        # Texts of like length together: a batch costs what its longest text costs.
        missing = sorted(owners, key=lambda text: (len(text), text))
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            vectors = _embed(embedder, batch)
            cache.put(embedder.identity, zip(batch, vectors, strict=True))
            done = [
                (passage_id, vector) for text, vector in zip(batch, vectors, strict=True) for passage_id in owners[text]
            ]
            if on_done:
                on_done(len(done) - len(batch), len(batch))
            yield done


def stored_vectors(connection: sqlite3.Connection, identity: str, passages: Iterable[Passage]) -> dict[str, bytes]:
    """The vectors that a store's file holds for passages of the same title and text, by passage id."""
    found: dict[str, bytes] = {}
    for passage in passages:
        row = connection.execute(
            "SELECT v.vector FROM passage p JOIN vector v ON v.passage = p.key "
            "WHERE p.id = ? AND p.died = ? AND v.identity = ? AND p.title = ? AND p.text = ?",
            (passage.id, LIVE, identity, passage.title, passage.text),
        ).fetchone()
        if row is not None:
            found[passage.id] = bytes(row[0])
    return found


def _embed(embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
    vectors = np.asarray(embedder.embed_passages(texts), dtype=np.float32)
    if vectors.shape != (len(texts), embedder.size):
        raise BackendError(
            f"embedder gave an array of shape {vectors.shape}",
            where=embedder.identity,
            allowed=str((len(texts), embedder.size)),
        )
    for vector in vectors:
        if not _is_unit(vector):
            raise BackendError("embedder gave a vector that is not finite or not of length 1", where=embedder.identity)
    return [np.array(vector) for vector in vectors]


def _is_unit(vector: Vector) -> bool:
    length = float(np.linalg.norm(vector))
    return abs(length - 1.0) < 1e-2


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8")).digest()
