"""Every module says in its first line what it is for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "tools").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")])


def problem(source: str) -> str | None:
    """What is wrong with the docstring, or None."""
    docstring = ast.get_docstring(ast.parse(source))
    if not docstring:
        return "no docstring"
    first = docstring.split("\n", 1)[0]
    if not first.endswith("."):
        return f"the first line is no sentence: {first!r}"
    return None


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(ROOT)) for path in MODULES])
def test_module_docstring(path: Path) -> None:
    assert problem(path.read_text(encoding="utf-8")) is None


def test_the_check_can_fail() -> None:
    assert problem("x = 1") == "no docstring"
    assert problem('"""Half a line\nand more."""') is not None
    assert problem('"""A line."""') is None


def test_every_folder_is_a_package() -> None:
    folders = {path.parent for path in (ROOT / "src" / "graphroute").rglob("*.py")}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []
