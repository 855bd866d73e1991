"""The vector cache: each text is embedded once for each model, whatever happens in between."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphroute.errors import BackendError
from graphroute.indexing.embedding import BATCH, VectorCache, cache_directory, embed_passages, embedding_text
from graphroute.types.source import Passage

HashEmbedder: Any = None


@pytest.fixture(autouse=True)
def _use_embedder(embedder_class: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "HashEmbedder", embedder_class)


def passages(*texts: str) -> list[Passage]:
    return [
        Passage(id=f"p{number}", source_id="s", start=0, end=len(text), text=text, title="T")
        for number, text in enumerate(texts)
    ]


def run(items: list[Passage], embedder: Any, cache: VectorCache) -> dict[str, list[float]]:
    return {key: vector.tolist() for batch in embed_passages(items, embedder, cache) for key, vector in batch}


def test_each_text_is_embedded_once(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    items = passages("один", "二", "three", "one", "one")
    with VectorCache(tmp_path / "c" / "v.sqlite") as cache:
        first = run(items, embedder, cache)
    assert sorted(embedder.texts) == sorted({embedding_text(item) for item in items})
    assert first["p3"] == first["p4"] == embedder.embed_query("T\none").tolist()
    again = HashEmbedder()
    with VectorCache(tmp_path / "c" / "v.sqlite") as cache:
        assert run(list(reversed(items)), again, cache) == first
    assert again.texts == []


def test_another_model_or_revision_is_another_key(tmp_path: Path) -> None:
    with VectorCache(tmp_path / "v.sqlite") as cache:
        run(passages("a"), HashEmbedder(), cache)
        other = HashEmbedder()
        other.identity = "hash@2/8"
        run(passages("a"), other, cache)
        assert other.texts == ["T\na"]


def test_batches_done_before_a_failure_are_kept(tmp_path: Path) -> None:
    class Failing(HashEmbedder):
        def embed_passages(self, texts: list[str]) -> np.ndarray:
            if len(self.texts) >= 2 * BATCH:
                raise BackendError("gone")
            return super().embed_passages(texts)

    items = passages(*(f"text {number}" for number in range(3 * BATCH)))
    with VectorCache(tmp_path / "v.sqlite") as cache, pytest.raises(BackendError, match="gone"):
        run(items, Failing(), cache)
    rest = HashEmbedder()
    with VectorCache(tmp_path / "v.sqlite") as cache:
        assert len(run(items, rest, cache)) == len(items)
    assert len(rest.texts) == BATCH


@pytest.mark.parametrize("damage", [b"", b"\0" * 32, b"\xff" * 32, b"\0" * 31])
def test_a_damaged_vector_is_made_again(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "v.sqlite"
    with VectorCache(path) as cache:
        run(passages("a"), HashEmbedder(), cache)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE vectors SET vector = ?", (damage,))
    connection.close()
    embedder = HashEmbedder()
    with VectorCache(path) as cache:
        found = run(passages("a"), embedder, cache)
    assert embedder.texts == ["T\na"]
    assert found["p0"] == embedder.embed_query("T\na").tolist()


@pytest.mark.parametrize(
    "vectors",
    [
        np.full((1, 8), np.nan, dtype=np.float32),
        np.zeros((1, 8), dtype=np.float32),
        np.ones((1, 8), dtype=np.float32),
        np.ones((1, 7), dtype=np.float32),
        np.ones((8,), dtype=np.float32),
    ],
)
def test_bad_vectors_are_refused_and_not_kept(tmp_path: Path, vectors: np.ndarray) -> None:
    class Bad(HashEmbedder):
        def embed_passages(self, texts: list[str]) -> np.ndarray:
            return vectors

    with VectorCache(tmp_path / "v.sqlite") as cache:
        with pytest.raises(BackendError, match="hash@1/8: embedder gave"):
            run(passages("a"), Bad(), cache)
        assert cache.get("hash@1/8", 8, ["T\na"]) == {}


def test_no_text_in_the_cache(tmp_path: Path) -> None:
    with VectorCache(tmp_path / "v.sqlite") as cache:
        run(passages("canary-7f3a"), HashEmbedder(), cache)
    assert all(b"canary" not in file.read_bytes() for file in tmp_path.iterdir())


def test_where_the_cache_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRAPHROUTE_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory() == tmp_path / "own"
    monkeypatch.delenv("GRAPHROUTE_CACHE")
    assert cache_directory() == tmp_path / "xdg" / "graphroute"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_directory() == tmp_path / ".cache" / "graphroute"


def test_unusable_cache_files(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, but long enough to be taken for one" * 100, encoding="utf-8")
    with pytest.raises(BackendError, match="cannot be used"):
        VectorCache(tmp_path / "text")
    with pytest.raises(BackendError, match="GRAPHROUTE_CACHE"):
        VectorCache(tmp_path / "text" / "v.sqlite")
    connection = sqlite3.connect(tmp_path / "new.sqlite")
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()
    with pytest.raises(BackendError, match="format 99"):
        VectorCache(tmp_path / "new.sqlite")


def test_embedding_text() -> None:
    (passage,) = passages("a\0b")
    assert embedding_text(passage) == "T\na b"
