"""Examines everything a configuration names: files, stores, servers, models and versions; says what is wrong and what to do."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from graphroute.config.load import load_routes
from graphroute.config.model import RoutesConfig
from graphroute.errors import ConfigurationError, DataError, GraphRouteError
from graphroute.models.embedders import load_embedder
from graphroute.models.tokenizers import load_tokenizer
from graphroute.ontology.load import load_ontology
from graphroute.stores.opening import OpenStores, Place, StorePlan, open_stores

_LOW_SPACE = 1 << 30
_CHECKED_BYTES = 1 << 30
"""A larger file is not read through."""
_ENDPOINT_TIMEOUT = 5.0
_PACKAGES = {"neo4j": "neo4j", "qdrant": "qdrant-client", "model": "openai"}


class State(Enum):
    """How an examined thing is."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was seen of one thing. `action`: what to do, for all that is not ok. `exit_code`: that of the error, 0 without one."""

    subject: str
    state: State
    said: str
    action: str | None = None
    exit_code: int = 0


def examine(place: Place | None, *, routes: Path | None = None, ontology: Path | None = None) -> list[Finding]:
    """Everything that a router over the store at `place` would need; nothing is written but one file that is taken away again.

    Endpoints and servers that the configuration names are called, none else. Never raises for what it examines.
    """
    found = [_python()]
    config = _try(found, "routes file", lambda: load_routes(routes), lambda read: _routes(read, routes))
    if ontology is not None:
        _try(found, "ontology", lambda: load_ontology(ontology), lambda read: f"{len(read.types)} types in {ontology}")
    if config is None:
        return found
    found += _packages(place, config)
    _try(
        found,
        "tokenizer",
        lambda: load_tokenizer(config.tokenizer),
        lambda one: f"{one.identity}, {one.count('a b')} tokens",
    )
    found += _model(config)
    found += _log(config)
    if place is not None:
        found += _stores(place, config)
    return found


def _try(
    found: list[Finding], subject: str, run: Callable[[], Any], said: Callable[[Any], str] = lambda result: str(result)
) -> Any:
    """The result, with what is said of it among the findings; None with the error there."""
    try:
        result = run()
        found.append(Finding(subject=subject, state=State.OK, said=said(result)))
    except GraphRouteError as error:
        found.append(_wrong(subject, error))
        return None
    return result


def _wrong(subject: str, error: GraphRouteError) -> Finding:
    said = f"{error.where}: {error.message}" if error.where else error.message
    action = "; ".join(part for part in (f"allowed: {error.allowed}" if error.allowed else None, error.hint) if part)
    return Finding(
        subject=subject, state=State.WRONG, said=said, action=action or "see the message", exit_code=error.exit_code
    )


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding(
        subject="graphroute", state=State.OK, said=f"{importlib.metadata.version('graphroute')} on Python {version}"
    )


def _routes(config: RoutesConfig, path: Path | None) -> str:
    return f"{path or 'the shipped policy'}: {len(config.routes)} routes, configuration {config.config_hash}"


def _packages(place: Place | None, config: RoutesConfig) -> Iterator[Finding]:
    """Libraries that the configuration needs and the default install does not bring."""
    needed: set[str] = {"model"} if config.model is not None else set()
    if place is not None:
        with suppress(ConfigurationError):
            plan = StorePlan.of(place, config.stores.model_dump())
            needed |= {plan.catalog, plan.graph, plan.lexical, plan.vector}
    for name, package in _PACKAGES.items():
        if name not in needed:
            continue
        try:
            yield Finding(subject=package, state=State.OK, said=importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            extra = "openai" if name == "model" else name
            action = f"pip install 'graphroute[{extra}]'"
            yield Finding(subject=package, state=State.WRONG, said="not installed", action=action, exit_code=3)


def _model(config: RoutesConfig) -> list[Finding]:
    if config.model is None:
        said = "no endpoint is configured; ask prints the prompt"
        return [Finding(subject="model", state=State.OK, said=said)]
    model, found = config.model, list[Finding]()
    if not os.environ.get(model.api_key_variable, "").strip():
        action = f"set it, unless the endpoint asks for no key: export {model.api_key_variable}=..."
        said = f"{model.api_key_variable} is not set"
        found.append(Finding(subject="model key", state=State.WARNING, said=said, action=action))

    def names() -> list[str]:
        from graphroute.models.openai_client import api_key, call, make_client

        client = make_client(model.base_url, api_key(model.api_key_variable))
        try:
            listed = call(lambda: client.models.list(), timeout=_ENDPOINT_TIMEOUT, where=model.base_url)
        finally:
            client.close()
        return sorted(one.id for one in listed.data)

    served = _try(found, "model", names, lambda names: f"{model.base_url} serves {len(names)} models")
    if served and model.model not in served:
        said = f"{model.base_url} does not list {model.model!r}"
        action = f"configure one it serves: {', '.join(served[:5])}"
        found.append(Finding(subject="model", state=State.WARNING, said=said, action=action))
    return found


def _log(config: RoutesConfig) -> Iterator[Finding]:
    if config.log.path is None:
        yield Finding(subject="decision log", state=State.OK, said="none is configured")
        return
    folder = Path(config.log.path).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".graphroute-"):
            pass
    except OSError as error:
        said = f"{config.log.path} cannot be written: {error.strerror or type(error).__name__}"
        action = "make its folder writable, or set log: path: to another"
        yield Finding(subject="decision log", state=State.WRONG, said=said, action=action, exit_code=5)
        return
    free = shutil.disk_usage(folder).free
    said = f"{config.log.path} can be written, {free >> 20} MiB free"
    if free < _LOW_SPACE:
        yield Finding(
            subject="decision log", state=State.WARNING, said=said, action="make space before the disk is full"
        )
    else:
        yield Finding(subject="decision log", state=State.OK, said=said)


def _stores(place: Place, config: RoutesConfig) -> list[Finding]:
    found: list[Finding] = []
    with ExitStack() as opened:
        try:
            plan = StorePlan.of(place, config.stores.model_dump())
            stores = open_stores(plan)
            opened.callback(stores.close)
        except GraphRouteError as error:
            found.append(_wrong("stores", error))
            return found
        names = f"catalog {plan.catalog}, graph {plan.graph}, lexical {plan.lexical}, vector {plan.vector}"
        found.append(Finding(subject="stores", state=State.OK, said=names))
        content = _content(stores)
        # What the content was read from is open by now.
        for name, resource in sorted(stores.resources.items()):
            found += _resource(name, resource)
        found += content
    return found


def _resource(name: str, resource: Any) -> list[Finding]:
    """What the adapters know of a file or server."""
    found: list[Finding] = []
    if name == "file":
        _try(found, "store file", lambda: _file(resource), str)
        published, staged = resource.sequence(), resource.staged()
        if staged != published:
            said = f"snapshot {staged} is complete and not published ({published} is)"
            action = "run the ingest again; a store it is copied to did not take it"
            found.append(Finding(subject="store file", state=State.WARNING, said=said, action=action))
    elif name == "neo4j":
        found += _neo4j(resource)
    elif name == "qdrant":
        _try(found, "Qdrant", lambda: _qdrant(resource), str)
    return found


def _neo4j(connection: Any) -> list[Finding]:
    """Version, schema and what the account and the server allow too much."""
    from graphroute.stores.neo4j.migrate import require_current
    from graphroute.stores.neo4j.privileges import examine as examine_privileges

    found: list[Finding] = []
    seen = _try(
        found,
        "Neo4j",
        lambda: examine_privileges(connection),
        lambda seen: f"{connection.settings.uri}, {seen.version} {seen.edition}",
    )
    if seen is not None:
        found += [
            Finding(
                subject=f"Neo4j {one.name}",
                state={"wrong": State.WRONG, "warning": State.WARNING}.get(one.weight, State.OK),
                said=one.said,
                action=one.close,
                exit_code=3 if one.weight == "wrong" else 0,
            )
            for one in seen.findings
        ]
        _try(found, "Neo4j schema", lambda: require_current(connection), lambda _: "every migration was applied")
    return found


def _qdrant(connection: Any) -> str:
    if connection.is_local:
        names = sorted(one.name for one in connection.call("get_collections").collections)
        return f"{connection.settings.where}, the client's local mode, {len(names)} collections"
    return f"{connection.settings.where}, version {connection.call('info').version}"


def _file(database: Any) -> str:
    size = database.path.stat().st_size
    if size <= _CHECKED_BYTES:
        damage = database.connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if damage != "ok":
            raise DataError(f"the store is damaged: {damage}", where=str(database.path), hint="ingest into a new store")
    return f"{database.path}, {size / (1 << 20):.1f} MiB, snapshot {database.sequence()}"


def _content(stores: OpenStores) -> list[Finding]:
    """Whether the catalog answers and was made by the models at hand."""
    found: list[Finding] = []
    settings = _try(
        found, "catalog", stores.catalog.settings, lambda read: f"dataset {read.get('dataset') or 'without a name'}"
    )
    if settings is None:
        return found
    _try(
        found,
        "ontology of the store",
        stores.catalog.ontology,
        lambda read: (
            f"{len(read.types)} types, {len(read.relations)} relations, {'inferred' if read.inferred else 'written'}"
        ),
    )
    identity = settings.get("embedder")
    if not identity:
        said = "ingested without vectors"
        action = "ingest again without --no-vectors for vector search"
        found.append(Finding(subject="embedder", state=State.WARNING, said=said, action=action))
        return found

    def vector_search() -> str:
        embedder = load_embedder(identity.split("@", 1)[0])
        vectors = stores.vectors(embedder.identity)
        if vectors.model is not None and vectors.model != embedder.identity:
            raise ConfigurationError(
                f"the vectors were made by {vectors.model}, the embedder here is {embedder.identity}",
                hint="ingest again with this embedder",
            )
        return f"{embedder.identity}, {embedder.embed_query('probe').shape[0]} numbers a vector"

    _try(found, "embedder", vector_search)
    return found
