"""What a store says, without its keys, scope ids and snapshot numbers: equal stores give equal content."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

LIVE = 2**62
QUERIES = {
    "setting": "SELECT key, value FROM setting WHERE key NOT LIKE 'derivation:%'",
    "source": "SELECT s.id, s.title, s.text, s.labels, c.form, s.parent, s.kind, s.node, s.lang, s.low, s.high, s.timestamp, "
    "s.origin, s.extra FROM source s JOIN scope c ON c.id = s.scope WHERE s.died = ?",
    "passage": "SELECT p.id, s.id, c.form, p.start, p.end, p.title, p.text, length(t.terms) FROM passage p JOIN source s "
    "ON s.key = p.source JOIN scope c ON c.id = p.scope JOIN passage_terms t ON t.passage = p.key WHERE p.died = ?",
    "vector": "SELECT p.id, v.identity, v.vector FROM passage p JOIN vector v ON v.passage = p.key WHERE p.died = ?",
    "entity": "SELECT id, types, names FROM entity WHERE died = ?",
    "entity_scope": "SELECT e.entity, c.form, e.via FROM entity_scope e JOIN scope c ON c.id = e.scope WHERE e.died = ?",
    "entity_source": "SELECT e.entity, e.source, c.form FROM entity_source e JOIN scope c ON c.id = e.scope WHERE e.died = ?",
    "name": "SELECT n.entity, n.name, n.source, n.start, n.end, c.form FROM name n JOIN scope c ON c.id = n.scope "
    "WHERE n.died = ?",
    "alias": "SELECT a.key, a.entity, a.via, a.basis, c.form FROM alias a LEFT JOIN scope c ON c.id = a.scope "
    "WHERE a.died = ?",
    "attribute": "SELECT a.entity, a.key, a.value, a.number, a.instant, a.low, a.high, a.source, a.start, a.end, c.form "
    "FROM attribute a JOIN scope c ON c.id = a.scope WHERE a.died = ?",
    "support": "SELECT a.id, a.subject, a.predicate, a.object, a.low, a.high, a.attributes, c.form, "
    "(SELECT group_concat(m.source || '@' || ifnull(m.start, '') || '-' || ifnull(m.end, ''), '+') FROM support_member m "
    "WHERE m.support_set = s.key ORDER BY m.ordinal) FROM assertion a JOIN support_set s ON s.assertion = a.key "
    "JOIN scope c ON c.id = s.scope WHERE s.died = ?",
    "adjacency": "SELECT a.node, a.predicate, a.direction, a.other, a.low, a.high, c.form FROM adjacency a "
    "JOIN scope c ON c.id = a.scope WHERE a.died = ?",
}


def content(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows in force, by table, sorted."""
    connection = sqlite3.connect(path)
    try:
        return {
            table: sorted(connection.execute(query, (LIVE,) if "?" in query else ()), key=repr)
            for table, query in QUERIES.items()
        }
    finally:
        connection.close()


class HashEmbedder:
    """Unit vectors from hashes of the text; counts the texts it was given."""

    name, revision, size = "hash", "1", 8
    identity = "hash@1/8"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_passages(self, texts: list[str]) -> NDArray[np.float32]:
        self.texts.extend(texts)
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        digest = hashlib.sha256(text.encode()).digest()
        vector = np.frombuffer(digest[:8], dtype=np.int8).astype(np.float32) + np.float32(0.5)
        return vector / np.linalg.norm(vector)


@pytest.fixture
def content_of() -> Callable[[Path], dict[str, list[tuple[object, ...]]]]:
    return content


@pytest.fixture
def embedder_class() -> type[HashEmbedder]:
    return HashEmbedder
