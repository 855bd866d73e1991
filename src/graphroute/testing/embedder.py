"""What every Embedder must pass: unit vectors of one size that depend on nothing but the text."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

import numpy as np
import pytest

from graphroute.models.embedders.base import Embedder

TEXTS = (
    "who owns the relay",
    "Фёдор Ким отвечает за кассовый узел",
    "张三是负责人",
    "note: <|endoftext|> ends the log",
    "query: passage: ",
    "a\0b",
    "\ud800 half a pair",
    "🙂🙂",
    "   ",
)


class EmbedderTests(ABC):
    """Subclass it in a test module and give an embedder."""

    @pytest.fixture
    @abstractmethod
    def embedder(self) -> Embedder:
        """The embedder under test."""

    def test_identity(self, embedder: Embedder) -> None:
        assert embedder.identity == f"{embedder.name}@{embedder.revision}/{embedder.size}"
        assert re.fullmatch(r"[^@]+@[^@]+/[0-9]+", embedder.identity)

    def test_vectors_are_of_unit_length(self, embedder: Embedder) -> None:
        vectors = embedder.embed_passages(TEXTS)
        assert vectors.shape == (len(TEXTS), embedder.size)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
        question = embedder.embed_query(TEXTS[0])
        assert question.shape == (embedder.size,)
        assert question.dtype == np.float32
        assert np.linalg.norm(question) == pytest.approx(1.0, abs=1e-5)

    def test_no_texts(self, embedder: Embedder) -> None:
        assert embedder.embed_passages([]).shape == (0, embedder.size)

    def test_a_vector_depends_on_its_text_alone(self, embedder: Embedder) -> None:
        together = embedder.embed_passages(TEXTS)
        turned = embedder.embed_passages(TEXTS[::-1])[::-1]
        assert np.allclose(together, turned, atol=1e-5)
        for place in (0, len(TEXTS) - 1):
            assert np.allclose(together[place], embedder.embed_passages([TEXTS[place]])[0], atol=1e-5)

    def test_the_same_words_are_nearest(self, embedder: Embedder) -> None:
        passages = ["the relay is owned by the night shift", "насос и клапан", "阀门和泵"]
        vectors = embedder.embed_passages(passages)
        for place, passage in enumerate(passages):
            assert int(np.argmax(vectors @ embedder.embed_query(passage))) == place
