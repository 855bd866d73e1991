"""Loads a routes file; every mistake is reported with its line, its key path and what is allowed."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from graphroute.config.model import NO_FALLBACK, RoutesConfig
from graphroute.errors import ConfigurationError
from graphroute.merging.params import MergeParams
from graphroute.models.tokenizers import TOKENIZERS
from graphroute.resources import resource
from graphroute.retrieval import RETRIEVERS
from graphroute.routing.conditions import parse_condition
from graphroute.serialization.choice import AUTO
from graphroute.serialization.formats import FORMATS
from graphroute.strict_yaml import (
    Document,
    KeyPath,
    Mark,
    combined,
    format_path,
    load_strict,
    read_strict,
    suggest,
    validate,
)

DEFAULT_ROUTES = "routes.yaml"

_SECRET_KEY = re.compile(
    r"(?:^|[_-])(?:api_?-?keys?|keys?|tokens?|secrets?|passwords?|passwd|credentials?|authorization|bearer)\Z",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"(?:\bsk-[A-Za-z0-9_-]{16,}|\bBearer\s+\S{8,}|://[^/\s@]*:[^/\s@]*@)", re.IGNORECASE)


def load_routes(path: str | Path | None = None) -> RoutesConfig:
    """The configuration in a routes file, or the shipped default. Raises ConfigurationError listing every mistake."""
    return routes_of(read_strict(path if path is not None else resource(DEFAULT_ROUTES)))


def parse_routes(text: str | bytes, where: str = "routes.yaml") -> RoutesConfig:
    """`load_routes` for a file's content."""
    return routes_of(load_strict(text, where))


def routes_of(document: Document) -> RoutesConfig:
    """The configuration in a loaded document."""
    if document.value is None:
        raise ConfigurationError(
            "no routes", where=document.where, hint="write at least '- otherwise: lexical' under routes:"
        )
    _refuse_secrets(document)
    config = validate(document, RoutesConfig)
    problems = [
        *_route_problems(document, config),
        *_strategy_problems(document, config),
        *_cycle_problems(document, config),
        *_part_problems(document, config),
    ]
    if problems:
        raise combined(document.where, sorted(problems, key=lambda problem: (problem[0].line, problem[0].column)))
    return config


def _refuse_secrets(document: Document) -> None:
    for path, value in _walk(document.value, ()):
        key = str(path[-1]) if path else ""
        if isinstance(value, str | int | float) and not isinstance(value, bool) and _SECRET_KEY.search(key):
            raise document.error(
                path, "a secret in a file", key=True, hint="put it in the environment and remove it here"
            )
        if isinstance(value, str) and _SECRET_VALUE.search(value):
            raise document.error(path, "looks like a secret", hint="put it in the environment and remove it here")


def _walk(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _walk(item, (*path, place))


def _problem(
    document: Document, path: KeyPath, message: str, *, key: bool = False, hint: str | None = None
) -> tuple[Mark, str]:
    text = f"{format_path(path)}: {message}"
    return document.mark(path, key=key), f"{text}; {hint}" if hint else text


def _route_problems(document: Document, config: RoutesConfig) -> Iterator[tuple[Mark, str]]:
    names: dict[str, int] = {}
    conditions: dict[str, int] = {}
    last = len(config.routes) - 1
    for place, route in enumerate(config.routes):
        path: KeyPath = ("routes", place)
        if route.otherwise is not None:
            if route.when is not None or route.use is not None:
                yield _problem(document, path, "otherwise stands beside when or use", hint="split it into two routes")
            elif place != last:
                yield _problem(document, path, "routes after 'otherwise' are never reached", hint="move it to the end")
        elif route.when is None:
            yield _problem(
                document, path, "has no condition", hint="add 'when: CONDITION', or write 'otherwise: STRATEGY'"
            )
        elif route.use is None:
            yield _problem(document, path, "names no strategy", hint="add 'use: STRATEGY'")
        if route.otherwise is None and place == last:
            yield _problem(
                document, path, "the last route must apply always", hint="add '- otherwise: STRATEGY' after it"
            )
        if route.when is not None:
            try:
                canonical = str(parse_condition(route.when))
            except ConfigurationError as error:
                yield _problem(document, (*path, "when"), str(error))
            else:
                if canonical in conditions:
                    first = format_path(("routes", conditions[canonical]))
                    yield _problem(document, (*path, "when"), f"the same condition as {first}; never reached")
                conditions.setdefault(canonical, place)
        if route.route in names:
            namesake = config.routes[names[route.route]]
            if route.name or namesake.name or route.fallback != namesake.fallback:
                other = format_path(("routes", names[route.route]))
                here = (*path, "name") if route.name else path
                yield _problem(document, here, f"{route.route!r} is the name of {other}", hint="give it another name")
        names.setdefault(route.route, place)


def _strategy_problems(document: Document, config: RoutesConfig) -> Iterator[tuple[Mark, str]]:
    for strategy, steps in config.strategies.items():
        path: KeyPath = ("strategies", strategy)
        if strategy == NO_FALLBACK or "+" in strategy or not strategy.strip():
            yield _problem(document, path, f"{strategy!r} cannot name a strategy", key=True)
        seen: set[str] = set()
        for place, step in enumerate(steps):
            here = (*path, place)
            if len(step) != 1:
                yield _problem(document, here, "is not one retriever", hint="write '- NAME' or '- NAME: {PARAMETERS}'")
                continue
            name, params = next(iter(step.items()))
            if name in seen:
                yield _problem(document, here, f"{name!r} runs already in this strategy")
            seen.add(name)
            if name not in RETRIEVERS:
                yield _problem(document, here, f"unknown retriever {name!r}", hint=suggest(name, RETRIEVERS))
            elif params:
                yield from _params_problems(document, (*here, name), name, params)
    known = config.strategy_names
    for path, names in _uses(document, config):
        for place, name in enumerate(names):
            if name not in known:
                here = (*path, place) if (*path, place) in document.values else path
                yield _problem(document, here, f"unknown strategy {name!r}", hint=suggest(name, known))


def _uses(document: Document, config: RoutesConfig) -> Iterator[tuple[KeyPath, list[str]]]:
    for place, route in enumerate(config.routes):
        for key, names in (("use", route.use), ("otherwise", route.otherwise)):
            if names:
                yield ("routes", place, key), names
        if route.fallback and route.fallback != NO_FALLBACK:
            yield ("routes", place, "fallback"), [route.fallback]
    if config.fallback:
        yield ("fallback", "use"), config.fallback.use


def _params_problems(
    document: Document, path: KeyPath, name: str, params: dict[str, Any]
) -> Iterator[tuple[Mark, str]]:
    module = importlib.import_module(RETRIEVERS.load(name).__module__)
    yield from _model_problems(document, path, module.Params, params)


def _model_problems(
    document: Document, path: KeyPath, model: type[BaseModel], value: Any
) -> Iterator[tuple[Mark, str]]:
    try:
        validate(document, model, value=value, path=path)
    except ConfigurationError as error:
        yield document.mark(path), error.message


def _cycle_problems(document: Document, config: RoutesConfig) -> Iterator[tuple[Mark, str]]:
    following: dict[str, str] = {}
    places: dict[str, KeyPath] = {}
    for place, route in enumerate(config.routes):
        if route.fallback and route.fallback != NO_FALLBACK:
            start = "+".join(route.uses)
            path: KeyPath = ("routes", place, "fallback")
            if config.fallback is None:
                hint = "add 'fallback:' with if_evidence_below and use"
                yield _problem(document, path, "no threshold says when it runs", hint=hint)
            following.setdefault(start, route.fallback)
            places.setdefault(start, path)
    reported: set[str] = set()
    for start in following:
        trail = [start]
        while trail[-1] in following and following[trail[-1]] not in trail:
            trail.append(following[trail[-1]])
        end = following.get(trail[-1])
        if end == start and not reported.intersection(trail):
            reported.update(trail)
            circle = " -> ".join([*trail, start])
            yield _problem(
                document, places[start], f"circular fallback {circle}", hint="let one of them have 'fallback: none'"
            )


def _part_problems(document: Document, config: RoutesConfig) -> Iterator[tuple[Mark, str]]:
    for key, name, table in (("format", config.format, FORMATS), ("tokenizer", config.tokenizer, TOKENIZERS)):
        if name not in table and (key, name) != ("format", AUTO):
            yield _problem(document, (key,), f"unknown {key} {name!r}", hint=suggest(name, table))
    if config.merging:
        yield from _model_problems(document, ("merging",), MergeParams, config.merging)
