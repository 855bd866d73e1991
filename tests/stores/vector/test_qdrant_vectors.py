from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.qdrant.connection import MEMORY, QdrantConnection, QdrantSettings
from graphroute.stores.qdrant.replica import QdrantReplica
from graphroute.stores.vector.base import VectorStore
from graphroute.stores.vector.qdrant import QdrantVectors
from graphroute.testing.documents import Document, ViewOf, write_documents
from graphroute.testing.vector_store import MODEL, VectorStoreTests


class TestQdrantVectors(VectorStoreTests):
    """On the client's local mode; tests/stores/qdrant/test_server.py runs the same on a server."""

    opened: dict[Path, QdrantConnection]

    @pytest.fixture(autouse=True)
    def _connections(self) -> Iterator[None]:
        self.opened = {}
        yield
        for connection in self.opened.values():
            connection.close()

    def build(
        self,
        directory: Path,
        corpus: Sequence[Document],
        vectors: Mapping[str, NDArray[np.float32]],
        *,
        model: str = MODEL,
        configured: str | None = None,
    ) -> tuple[VectorStore, ViewOf]:
        database, view_of = write_documents(directory / "store.db", corpus, vectors=vectors, identity=model)
        connection = self.opened[directory] = QdrantConnection(QdrantSettings(url=MEMORY))
        QdrantReplica(connection, database).copy()
        return QdrantVectors(connection, configured or model), view_of

    def reopen(self, directory: Path, configured: str) -> tuple[VectorStore, ViewOf]:
        catalog = SqliteCatalog(Database(directory / "store.db"))
        return QdrantVectors(self.opened[directory], configured), lambda reader: catalog.view(reader=reader)
