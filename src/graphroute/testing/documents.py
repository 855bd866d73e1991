"""Small corpora for the suites of lexical and vector stores, and a store file made of them."""

from __future__ import annotations

import random
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.writer import SnapshotWriter
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source
from graphroute.types.time import ALWAYS, Interval
from graphroute.types.view import View

ViewOf = Callable[[Reader], View]
_HIDDEN_WORDS = ["pump", "relay", "насос", "泵", "ledger", "secret"]
EVERYONE = Reader("everyone", ("public",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A source with one passage, of the same id."""

    id: str
    text: str
    title: str = ""
    labels: frozenset[str] = field(default=frozenset({"public"}))
    kind: str | None = None
    node: str | None = None
    validity: Interval = ALWAYS


def documents(*texts: str) -> list[Document]:
    """Public documents d0, d1, ... with these texts."""
    return [Document(id=f"d{number}", text=text) for number, text in enumerate(texts)]


def readable(corpus: Sequence[Document], reader: Reader) -> list[Document]:
    """The documents a reader may read."""
    return [document for document in corpus if document.labels & reader.labels]


def random_corpus(seed: int, size: int = 40) -> list[Document]:
    """Documents in English, Russian and Chinese over a small vocabulary, with the labels public, red and blue.

    Words that only red and blue documents use make the statistics of readers differ.
    """
    rng = random.Random(seed)  # noqa: S311 - test data
    common = [*_HIDDEN_WORDS[:-1], "valve", "monday", "CHG-482", "узел", "клапан", "阀门", "负责人", "the", "of"]
    corpus = []
    for number in range(size):
        labels = frozenset(rng.sample(["public", "red", "blue"], rng.choice([1, 1, 2])))
        words = common if "public" in labels else _HIDDEN_WORDS
        text = " ".join(rng.choices(words, k=rng.randint(0, 12)))
        start = rng.randint(0, 50)
        corpus.append(
            Document(
                id=f"d{rng.randrange(10**6)}-{number}",
                text=text,
                labels=labels,
                kind=rng.choice([None, "note", "record"]),
                node=rng.choice([None, "kep:1", "kep:2"]),
                validity=Interval(start, start + rng.randint(1, 30)),
            )
        )
    return corpus


def write_documents(
    path: Path,
    corpus: Sequence[Document],
    *,
    vectors: Mapping[str, NDArray[np.float32]] | None = None,
    identity: str | None = None,
) -> tuple[Database, ViewOf]:
    """A published store file of the documents, with `vectors` by document id made by the embedder `identity`."""
    database = Database(path)
    weakref.finalize(database, database.connection.close)
    writer = SnapshotWriter(database)
    writer.begin()
    for document in corpus:
        writer.put_source(
            Source(
                id=document.id,
                title=document.title,
                text=document.text,
                labels=document.labels,
                kind=document.kind,
                node=document.node,
                validity=document.validity,
            )
        )
        writer.put_passages(
            [
                Passage(
                    id=document.id,
                    source_id=document.id,
                    start=0,
                    end=len(document.text),
                    text=document.text,
                    title=document.title,
                    validity=document.validity,
                    kind=document.kind,
                    node=document.node,
                )
            ]
        )
    if identity is not None:
        writer.put_setting("embedder", identity)
        writer.put_vectors(identity, sorted((vectors or {}).items()))
    writer.publish()
    catalog = SqliteCatalog(database)
    return database, lambda reader: catalog.view(reader=reader)
