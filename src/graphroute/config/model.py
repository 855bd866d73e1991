"""What a routes file may say: every key, its type, its range and its default."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from graphroute.decision_log.writer import DecisionLog
from graphroute.registry import Registry
from graphroute.routing.conditions import parse_condition
from graphroute.routing.router import FallbackRule, Router, RouteRule, Step
from graphroute.stores.catalog import CATALOGS
from graphroute.stores.graph import GRAPH_STORES
from graphroute.stores.lexical import LEXICAL_STORES
from graphroute.stores.vector import VECTOR_STORES
from graphroute.types.route import Limits

DEFAULT_STRATEGIES: Mapping[str, tuple[str, ...]] = {
    "abstain": (),
    "graph_global": ("global_community",),
    "graph_local": ("local_graph",),
    "graph_local_plus_vector": ("local_graph", "vector"),
    "identifier": ("identifier",),
    "lexical": ("lexical",),
    "vector": ("vector",),
    "vector_lexical": ("vector", "lexical"),
    "vector_plus_graph": ("local_graph", "vector", "lexical"),
}
"""Names usable after `use:` and the retrievers each runs, in order. A file may redefine them or add others."""

NO_FALLBACK = "none"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _name(value: str) -> str:
    if not _NAME.match(value):
        raise ValueError(f"{value[:70]!r} is not a name; allowed: letters, digits, _ and -, at most 64, a letter first")
    return value


Uses = Annotated[list[str], BeforeValidator(_one_or_many), Field(min_length=1, max_length=8)]


class RouteConfig(_Part):
    """One route: `when` a condition holds, `use` strategies; the last route is `otherwise` and has no condition.

    `name` stands in the decision log; without one it is the strategies' names. `fallback`: a strategy used instead of
    the general fallback, or `none`.
    """

    name: str | None = None
    when: str | None = None
    use: Uses | None = None
    otherwise: Uses | None = None
    fallback: str | None = None

    @field_validator("name")
    @classmethod
    def _check_name(cls, value: str | None) -> str | None:
        return None if value is None else _name(value)

    @property
    def uses(self) -> tuple[str, ...]:
        """The strategies, in order."""
        return tuple(self.use or self.otherwise or ())

    @property
    def route(self) -> str:
        """The name in decisions."""
        return self.name or "+".join(self.uses)


class FallbackConfig(_Part):
    """What runs once, if the sufficiency of the evidence, in [0, 1], is below a threshold."""

    if_evidence_below: float = Field(ge=0.0, le=1.0)
    use: Uses


class LimitsConfig(_Part):
    """Bounds of one question. Whole numbers only; the ranges are hard."""

    max_hops: int = Field(default=3, ge=1, le=6)
    max_paths: int = Field(default=40, ge=1, le=10_000)
    max_source_spans: int = Field(default=18, ge=1, le=200)


class DeadlinesConfig(_Part):
    """Milliseconds each stage may take. `whole`: all calls of a question to stores on servers together, the model's endpoint aside.

    `parse` and `merge` are checked but not enforced.
    """

    parse: int = Field(default=50, ge=1, le=60_000)
    lexical: int = Field(default=300, ge=1, le=60_000)
    vector: int = Field(default=800, ge=1, le=60_000)
    graph: int = Field(default=1_500, ge=1, le=60_000)
    global_: int = Field(default=3_000, ge=1, le=60_000, alias="global")
    merge: int = Field(default=200, ge=1, le=60_000)
    generate: int = Field(default=30_000, ge=1, le=600_000)
    whole: int = Field(default=4_000, ge=1, le=120_000)

    def seconds_of(self, retriever: str) -> float:
        """Seconds a retriever may take."""
        stage = {"identifier": "lexical", "lexical": "lexical", "vector": "vector", "global_community": "global_"}
        milliseconds: int = getattr(self, stage.get(retriever, "graph"))
        return milliseconds / 1000


class LogConfig(_Part):
    """The decision log. `question_text` keeps questions in readable form, for `keep_days` days.

    `on_failure`: what happens if a record cannot be written: `warn` and answer, or `refuse` the answer.
    """

    path: str | None = None
    question_text: bool = False
    keep_days: int = Field(default=30, ge=1, le=3_650)
    max_file_mib: int = Field(default=64, ge=1, le=4_096)
    keep_files: int = Field(default=20, ge=1, le=1_000)
    on_failure: Literal["warn", "refuse"] = "warn"

    def open(self, path: str | Path | None = None) -> DecisionLog | None:
        """The log at `path`, else at the configured path; None if neither is given."""
        chosen = path if path is not None else self.path
        if chosen is None:
            return None
        return DecisionLog(
            chosen,
            max_bytes=self.max_file_mib * 1024 * 1024,
            keep_files=self.keep_files,
            keep_text_days=self.keep_days if self.question_text else None,
            on_failure=self.on_failure,
        )


class ModelConfig(_Part):
    """An OpenAI-compatible endpoint. Its key comes from the environment variable named by `api_key_variable`."""

    base_url: str
    model: str = Field(min_length=1, max_length=200)
    api_key_variable: str = "GRAPHROUTE_API_KEY"
    max_tokens: int = Field(default=800, ge=1, le=100_000)

    @field_validator("base_url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        try:
            url = urlsplit(value)
            host, user = url.hostname, url.username or url.password
            _ = url.port
        except ValueError:
            raise ValueError("is not a URL; allowed: http://HOST[:PORT]/PATH or https://...") from None
        if user or "@" in url.netloc:
            raise ValueError("holds a user name or password; put the key in the environment")
        if url.scheme not in ("http", "https") or not host:
            raise ValueError("is not an HTTP address; allowed: http://HOST[:PORT]/PATH or https://...")
        if url.query or url.fragment:
            raise ValueError("has a query or fragment; allowed: http://HOST[:PORT]/PATH or https://...")
        return value

    @field_validator("api_key_variable")
    @classmethod
    def _check_variable(cls, value: str) -> str:
        if not re.fullmatch(r"[A-Z][A-Z0-9_]{0,63}", value):
            raise ValueError("is not the name of an environment variable; allowed: capital letters, digits and _")
        return value


class StoresConfig(_Part):
    """Which store answers each kind of read. What is left out follows from the store that is opened, a file or a Neo4j address.

    `neo4j`, `qdrant`: addresses, without credentials; these come from the environment (GRAPHROUTE_NEO4J_USER, GRAPHROUTE_NEO4J_PASSWORD,
    GRAPHROUTE_NEO4J_DATABASE, GRAPHROUTE_QDRANT_API_KEY). All stores of one router hold the same record.
    """

    catalog: str | None = None
    graph: str | None = None
    lexical: str | None = None
    vector: str | None = None
    neo4j: str | None = None
    qdrant: str | None = None

    @field_validator("catalog", "graph", "lexical", "vector")
    @classmethod
    def _check_store(cls, value: str | None, info: ValidationInfo) -> str | None:
        known = _STORES[info.field_name or ""]
        if value is not None and value not in known:
            raise ValueError(f"{value[:70]!r} is not a store of that kind; allowed: {', '.join(known.names)}")
        return value

    @field_validator("neo4j", "qdrant")
    @classmethod
    def _check_address(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and "@" in value:
            raise ValueError("holds a user name or password; put them in the environment")
        schemes = ("neo4j", "bolt") if info.field_name == "neo4j" else ("http", "https")
        if value is not None and urlsplit(value).scheme.partition("+")[0] not in schemes:
            raise ValueError(f"is not an address; allowed: {schemes[0]}://HOST[:PORT]")
        return value


_STORES: Mapping[str, Registry[Any]] = {
    "catalog": CATALOGS,
    "graph": GRAPH_STORES,
    "lexical": LEXICAL_STORES,
    "vector": VECTOR_STORES,
}


def _bare_name(value: Any) -> Any:
    return {value: {}} if isinstance(value, str) else value


StepConfig = Annotated[dict[str, dict[str, Any]], BeforeValidator(_bare_name)]
"""A retriever's name, or the name with its parameters."""


class RoutesConfig(_Part):
    """A whole routes file. Cross-references are checked by `graphroute.config.load`, which knows the lines.

    `format`: a name, or `auto`, which is chosen from the file `format_measurements`, that of the package if it names none.
    """

    routes: list[RouteConfig] = Field(min_length=1, max_length=200)
    fallback: FallbackConfig | None = None
    limits: LimitsConfig = LimitsConfig()
    strategies: dict[str, list[StepConfig]] = Field(default_factory=dict)
    merging: dict[str, Any] = Field(default_factory=dict)
    budget: int = Field(default=4_000, ge=1, le=1_000_000)
    format: str = "edge_list"
    profile: Literal["full", "lean"] = "full"
    format_measurements: str | None = None
    tokenizer: str = "o200k_base"
    deadlines: DeadlinesConfig = DeadlinesConfig()
    date_order: Literal["DMY", "MDY", "YMD"] = "MDY"
    log: LogConfig = LogConfig()
    model: ModelConfig | None = None
    stores: StoresConfig = StoresConfig()

    def steps(self, strategy: str) -> tuple[Step, ...]:
        """The retrievers of a strategy. Raises KeyError if the name is unknown."""
        if strategy not in self.strategies:
            return tuple(Step(name) for name in DEFAULT_STRATEGIES[strategy])
        return tuple(Step(name, params) for step in self.strategies[strategy] for name, params in step.items())

    def joined(self, strategies: tuple[str, ...]) -> tuple[Step, ...]:
        """The retrievers of several strategies in order, each once; the first mention of a retriever wins."""
        found: dict[str, Step] = {}
        for strategy in strategies:
            for step in self.steps(strategy):
                found.setdefault(step.retriever, step)
        return tuple(found.values())

    @property
    def strategy_names(self) -> tuple[str, ...]:
        """Every name usable after `use:`, sorted."""
        return tuple(sorted({*DEFAULT_STRATEGIES, *self.strategies}))

    def rules(self) -> tuple[RouteRule, ...]:
        """The routes with parsed conditions and resolved strategies."""
        threshold = self.fallback.if_evidence_below if self.fallback else 0.0
        found: list[RouteRule] = []
        for route in self.routes:
            own: FallbackRule | None = None
            if route.fallback and route.fallback != NO_FALLBACK:
                own = FallbackRule(use=route.fallback, steps=self.joined((route.fallback,)), threshold=threshold)
            found.append(
                RouteRule(
                    name=route.route,
                    uses=route.uses,
                    steps=self.joined(route.uses),
                    condition=parse_condition(route.when) if route.when is not None else None,
                    fallback=own,
                    falls_back=route.fallback != NO_FALLBACK,
                )
            )
        return tuple(found)

    def router(self) -> Router:
        """The router that applies this file."""
        general: FallbackRule | None = None
        if self.fallback:
            uses = tuple(self.fallback.use)
            general = FallbackRule(
                use="+".join(uses), steps=self.joined(uses), threshold=self.fallback.if_evidence_below
            )
        return Router(self.rules(), general)

    def bounds(self) -> Limits:
        """The limits of one question."""
        return Limits(**self.limits.model_dump())

    def resolved(self) -> dict[str, Any]:
        """Everything that can change an answer, with defaults filled in, as JSON values."""
        rules = self.rules()
        whole = self.model_dump(
            mode="json", by_alias=True, exclude={"routes", "fallback", "strategies", "log", "stores"}
        )
        # A catalog or graph store gives what any other gives; engines of search may rank differently.
        searched = {name: chosen for name in ("lexical", "vector") if (chosen := getattr(self.stores, name))}
        if searched:
            whole["stores"] = searched
        whole["routes"] = [
            {
                "route": rule.name,
                "when": None if rule.condition is None else str(rule.condition),
                "steps": _plain(rule.steps),
                "fallback": _plain(rule.fallback.steps) if rule.fallback else rule.falls_back,
            }
            for rule in rules
        ]
        whole["fallback"] = (
            {"below": self.fallback.if_evidence_below, "steps": _plain(self.joined(tuple(self.fallback.use)))}
            if self.fallback
            else None
        )
        return whole

    @cached_property
    def config_hash(self) -> str:
        """Sixteen hexadecimal digits over `resolved()`: independent of layout, key order, comments and defaults left out."""
        text = json.dumps(self.resolved(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(steps: tuple[Step, ...]) -> list[list[Any]]:
    return [[step.retriever, dict(step.params)] for step in steps]
