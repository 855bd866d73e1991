"""Every read of a store or retriever takes its view by keyword and has no default for it; adapters equal their port."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

from graphroute.retrieval.base import Retriever
from graphroute.stores.catalog.base import Catalog
from graphroute.stores.graph.base import GraphStore
from graphroute.stores.lexical.base import LexicalStore
from graphroute.stores.vector.base import VectorStore

PORTS = {
    "graphroute.stores.catalog": Catalog,
    "graphroute.stores.graph": GraphStore,
    "graphroute.stores.lexical": LexicalStore,
    "graphroute.stores.vector": VectorStore,
    "graphroute.retrieval": Retriever,
}

UNSCOPED = {"view", "settings", "ontology", "model"}
"""What is asked of a port before there is a view, or is the operator's own configuration."""


def methods(cls: type) -> dict[str, inspect.Signature]:
    """Public methods of a class with their signatures."""
    return {
        name: inspect.signature(member)
        for name, member in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_")
    }


def adapters(package: str, port: type) -> Iterator[type]:
    """Classes under the package that have every public method of the port."""
    wanted = set(methods(port))
    module = importlib.import_module(package)
    for info in pkgutil.walk_packages(module.__path__, package + "."):
        if info.name.endswith(".base"):
            continue
        for cls in vars(importlib.import_module(info.name)).values():
            if isinstance(cls, type) and cls.__module__ == info.name and wanted <= set(methods(cls)):
                yield cls


CASES = [(port, cls) for package, port in PORTS.items() for cls in adapters(package, port)]


def problems(port: type, cls: type) -> list[str]:
    """Where the class differs from its port or reads without a view."""
    found: list[str] = []
    expected = methods(port)
    for name, signature in methods(cls).items():
        if name in expected and list(signature.parameters.values()) != list(expected[name].parameters.values()):
            found.append(f"{name}{signature} is not {name}{expected[name]}")
        view = signature.parameters.get("view")
        if view is not None and (
            view.kind is not inspect.Parameter.KEYWORD_ONLY or view.default is not inspect.Parameter.empty
        ):
            found.append(f"{name}: view is not keyword-only without default")
        if name in expected and name not in UNSCOPED and view is None:
            found.append(f"{name} takes no view")
    return found


@pytest.mark.parametrize("port", PORTS.values(), ids=lambda port: port.__name__)
def test_the_port_itself(port: type) -> None:
    assert problems(port, port) == []


@pytest.mark.parametrize(("port", "cls"), CASES, ids=[f"{cls.__module__}.{cls.__name__}" for _, cls in CASES])
def test_adapter_equals_its_port(port: type, cls: type) -> None:
    assert problems(port, cls) == []


def test_every_port_has_an_adapter() -> None:
    assert {port for port, _ in CASES} == set(PORTS.values())


def test_the_check_can_fail() -> None:
    class Port:
        def read(self, key: str, *, view: object) -> None: ...

    class Defaulted:
        def read(self, key: str, *, view: object = None) -> None: ...

    class Positional:
        def read(self, key: str, view: object) -> None: ...

    class Unscoped:
        def read(self, key: str) -> None: ...

    assert problems(Port, Port) == []
    for cls in (Defaulted, Positional, Unscoped):
        assert len(problems(Port, cls)) == 2, cls
