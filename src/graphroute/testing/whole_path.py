"""A store and its router from random rows, and everything that a reader gets from one question as comparable texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from graphroute.config.load import load_routes
from graphroute.config.model import DeadlinesConfig
from graphroute.decision_log.record import record_of
from graphroute.errors import GraphRouteError
from graphroute.generation.single_pass import answer
from graphroute.indexing.embedding import VectorCache
from graphroute.indexing.ingest import ingest
from graphroute.models.embedders.hashing import HashingEmbedder
from graphroute.models.tokenizers import load_tokenizer
from graphroute.ontology.load import load_ontology
from graphroute.pipeline.engine import GraphRoute
from graphroute.serialization.serialize import serialize
from graphroute.testing.rows import ONTOLOGY, Rows, write
from graphroute.types.reader import Reader
from graphroute.types.trace import Trace

PATIENT = load_routes().model_copy(
    update={
        "deadlines": DeadlinesConfig.model_validate(
            {"lexical": 60_000, "vector": 60_000, "graph": 60_000, "global": 60_000, "whole": 120_000}
        )
    }
)
"""The shipped policy without its haste: two runs are compared, and a busy machine must not be the difference."""
_TOKENIZER = "o200k_base"
_FORMS = (("pretty_json", "full", 4_000), ("edge_list", "full", 250), ("adjacency", "lean", 400))
"""Besides the form that the configuration names: another one, and one cut by its budget."""
_UNSTABLE = frozenset({"run_id", "seconds", "operator"})


def store_of(rows: Rows, folder: Path, *, ontology: str = ONTOLOGY, vectors: bool = True) -> Path:
    """Write the rows as a dataset under `folder` and ingest them, with vectors of the hashing embedder or without."""
    write(rows, folder / "data")
    with VectorCache(folder / "vectors.cache") as cache:
        ingest(
            folder / "data",
            folder / "store.sqlite",
            ontology=load_ontology(ontology),
            vectors=vectors,
            embedder=HashingEmbedder(),
            cache=cache,
        )
    return folder / "store.sqlite"


def plain(value: Any) -> Any:
    """JSON values in the order that a reader would see; sets sorted, run ids and times left out."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value) if one.name not in _UNSTABLE}
    if isinstance(value, Mapping):
        return [[plain(key), plain(item)] for key, item in value.items()]
    if isinstance(value, frozenset | set):
        return sorted(map(plain, value), key=repr)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def text_of(value: Any) -> str:
    """A value as one text; equal values give equal bytes."""
    return json.dumps(plain(value), ensure_ascii=False)


def outputs(
    router: GraphRoute, question: str, *, reader: Reader, as_of: str | None = None
) -> tuple[dict[str, str], Trace | None]:
    """Everything a reader gets from one question, by the name of the output, and the trace; of a refused question the error."""
    try:
        trace = router.explain(question, reader=reader, as_of=as_of)
    except GraphRouteError as error:
        return {"error": f"{error.exit_code} {error}"}, None
    return outputs_of(trace), trace


def outputs_of(trace: Trace) -> dict[str, str]:
    """The trace, the bundle, its text in each format and budget, the prompt and the record, as texts."""
    bundle = trace.bundle
    found = {"bundle": text_of(bundle), "sources": text_of(bundle.sources), "edges": text_of(bundle.edges)}
    found["trace"] = text_of([trace.query, trace.attempts, trace.config_hash])
    tokenizer = load_tokenizer(_TOKENIZER)
    for name, profile, budget in _FORMS:
        text = serialize(bundle, format=name, profile=profile, budget=budget, tokenizer=tokenizer)
        found[f"{name}/{profile}/{budget}"] = text_of(text)
    if trace.serialized is not None:
        found["evidence text"] = text_of(trace.serialized)
        found["prompt"] = answer(bundle, trace.serialized, model=None, timeout=1.0).prompt
    record = record_of(trace, log_question=True, key=b"key", operator=False)
    found["record"] = json.dumps(_stable(record), ensure_ascii=False)
    return found


def _stable(record: Any) -> Any:
    if isinstance(record, dict):
        return {key: _stable(value) for key, value in record.items() if key not in ("run", "seconds")}
    if isinstance(record, list):
        return [_stable(item) for item in record]
    return record
