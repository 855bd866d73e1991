from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from graphroute.stores.lexical.base import LexicalStore
from graphroute.stores.lexical.qdrant import QdrantLexical
from graphroute.stores.qdrant.connection import MEMORY, QdrantConnection, QdrantSettings
from graphroute.stores.qdrant.replica import QdrantReplica
from graphroute.testing.documents import Document, ViewOf, write_documents
from graphroute.testing.lexical_store import LexicalStoreTests


class TestQdrantLexical(LexicalStoreTests):
    """On the client's local mode; tests/stores/qdrant/test_server.py runs the same on a server."""

    opened: list[QdrantConnection]

    @pytest.fixture(autouse=True)
    def _connections(self) -> Iterator[None]:
        self.opened = []
        yield
        for connection in self.opened:
            connection.close()

    def build(self, directory: Path, corpus: Sequence[Document]) -> tuple[LexicalStore, ViewOf]:
        database, view_of = write_documents(directory / "store.db", corpus)
        connection = QdrantConnection(QdrantSettings(url=MEMORY))
        self.opened.append(connection)
        QdrantReplica(connection, database).copy()
        return QdrantLexical(connection), view_of
