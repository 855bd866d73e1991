"""Parts of a router from a store and a configuration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from graphroute.config.load import load_routes, parse_routes
from graphroute.errors import ConfigurationError, DataError, ModelMismatchError
from graphroute.models.embedders.hashing import HashingEmbedder
from graphroute.pipeline.assembly import Parts, assemble
from graphroute.retrieval import RETRIEVERS
from graphroute.stores.database import Database
from graphroute.testing import world
from graphroute.testing.world import PUBLIC


@pytest.fixture
def parts(small_store_path: Path) -> Iterator[Parts]:
    found = assemble(small_store_path, load_routes(), ontology=None, log=None)
    yield found
    found.close()


def test_every_retriever_can_be_built(parts: Parts) -> None:
    for name in RETRIEVERS.names:
        assert parts.retriever(name, {}).name == name


def test_a_retriever_is_built_once_for_equal_parameters(parts: Parts) -> None:
    assert parts.retriever("lexical", {"k": 5}) is parts.retriever("lexical", {"k": 5})
    assert parts.retriever("lexical", {"k": 5}) is not parts.retriever("lexical", {"k": 6})
    with pytest.raises(ValidationError):
        parts.retriever("lexical", {"kk": 5})


def test_an_unknown_retriever_gives_the_nearest_names(parts: Parts) -> None:
    with pytest.raises(ConfigurationError, match="lexical"):
        parts.retriever("lexicl", {})


def test_a_store_without_vectors_has_no_embedder(parts: Parts) -> None:
    assert (parts.backends.vectors, parts.backends.embedder) == (None, None)
    parts.prepare("vector", "Who owns checkout?", view=parts.backends.catalog.view(reader=PUBLIC))


def test_a_store_with_vectors_has_the_embedder_it_was_made_with(vector_store_path: Path) -> None:
    parts = assemble(vector_store_path, load_routes(), ontology=None, log=None)
    try:
        assert parts.backends.embedder is not None
        assert parts.backends.embedder.identity == HashingEmbedder().identity
        assert parts.settings["embedder"] == HashingEmbedder().identity
    finally:
        parts.close()


class Newer(HashingEmbedder):
    """The same model in another revision."""

    @property
    def identity(self) -> str:
        return super().identity.replace("@", "@newer-")


def test_vectors_of_another_model_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    world.write(path, embedder=Newer())
    with pytest.raises(ModelMismatchError, match="newer"):
        assemble(path, load_routes(), ontology=None, log=None)


def test_nothing_stays_open_if_a_part_cannot_be_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Path] = []
    close = Database.close

    def watched(database: Database) -> None:
        closed.append(path)
        close(database)

    path = tmp_path / "store.db"
    world.write(path, embedder=Newer())
    monkeypatch.setattr(Database, "close", watched)
    with pytest.raises(ModelMismatchError):
        assemble(path, load_routes(), ontology=None, log=None)
    assert closed == [path]
    with pytest.raises(ConfigurationError):
        assemble(path, load_routes(), ontology=tmp_path / "none.yaml", log=None)
    assert closed == [path, path]


def test_the_chat_model_and_the_log_come_from_the_configuration(small_store_path: Path, tmp_path: Path) -> None:
    text = (
        "routes:\n  - otherwise: lexical\nmodel: {base_url: 'http://127.0.0.1:9/v1', model: m}\n"
        f"log: {{path: {str(tmp_path / 'a.jsonl')!r}}}\n"
    )
    parts = assemble(small_store_path, parse_routes(text), ontology=None, log=None)
    assert parts.model is not None
    assert parts.log is not None
    assert parts.log.path == tmp_path / "a.jsonl"
    parts.close()
    other = assemble(small_store_path, parse_routes(text), ontology=None, log=tmp_path / "b.jsonl")
    assert other.log is not None
    assert other.log.path == tmp_path / "b.jsonl"
    other.close()


def test_a_file_that_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_text("not a store", encoding="utf-8")
    with pytest.raises(DataError):
        assemble(path, load_routes(), ontology=None, log=None)
