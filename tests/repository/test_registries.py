"""A table of names lists exactly the parts in its folder, and every name loads."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

import graphroute
from graphroute.registry import Registry

HELPERS: dict[str, set[str]] = {
    "graphroute.retrieval": {"communities", "contract", "passages", "plan"},
    "graphroute.stores.catalog": {"mapped", "rows"},
    "graphroute.stores.graph": {"mapped", "trails"},
    "graphroute.stores.lexical": {"empty", "passage_rows"},
}
"""Package to modules in its folder that no name stands for: what several parts share, and what a mapping opens and not a name.

`base` and underscored ones need no entry.
"""


def tables() -> dict[str, list[Registry[object]]]:
    """Package to the tables declared in its `__init__`."""
    found: dict[str, list[Registry[object]]] = {}
    for info in pkgutil.walk_packages(graphroute.__path__, "graphroute."):
        if info.ispkg:
            declared = [
                value for value in vars(importlib.import_module(info.name)).values() if isinstance(value, Registry)
            ]
            if declared:
                found[info.name] = declared
    return found


TABLES = tables()


def modules_listed(package: str) -> set[str]:
    """Modules of the package's own folder that its tables point at, by their first name below the package."""
    found: set[str] = set()
    for table in TABLES[package]:
        for target in table._table.values():
            module = target.partition(":")[0]
            if module.startswith(package + "."):
                found.add(module.removeprefix(package + ".").partition(".")[0])
    return found


@pytest.mark.parametrize("package", sorted(TABLES))
def test_the_table_lists_its_folder(package: str) -> None:
    folder = Path(str(importlib.import_module(package).__file__)).parent
    parts = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    parts = {name for name in parts if not name.startswith("_")} - {"base"}
    helpers = HELPERS.get(package, set())
    assert helpers - parts == set(), "a helper that is gone"
    assert parts - helpers == modules_listed(package)


@pytest.mark.parametrize(
    ("table", "name"),
    [(table, name) for package in sorted(TABLES) for table in TABLES[package] for name in table],
    ids=[f"{package}:{name}" for package in sorted(TABLES) for table in TABLES[package] for name in table],
)
def test_every_name_points_at_something(table: Registry[object], name: str) -> None:
    assert table.load(name) is not None


def test_there_are_tables() -> None:
    assert {"graphroute.evaluation.metrics", "graphroute.retrieval", "graphroute.serialization.formats"} <= set(TABLES)
