"""The wheel holds every data file that the package reads, and works away from the checkout."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "graphroute"


def resources_named() -> set[str]:
    """Every text given to `resource(...)` in the package, as a constant or as the name of a module's constant."""
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "resource":
                argument = node.args[0]
                if isinstance(argument, ast.Constant):
                    found.add(str(argument.value))
                elif isinstance(argument, ast.Name) and argument.id in constants:
                    found.add(str(constants[argument.id]))
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return next(target.glob("*.whl"))


@pytest.mark.slow
def test_data_files_are_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert "routes.yaml" in resources_named()
    for resource in resources_named():
        path = ROOT / resource
        files = [entry for entry in path.rglob("*") if entry.is_file()] if path.is_dir() else [path]
        for file in files:
            assert f"graphroute/_resources/{file.relative_to(ROOT).as_posix()}" in names
    inside = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {f"graphroute/{path.relative_to(PACKAGE).as_posix()}" for path in inside} - names == set()
    assert "graphroute/py.typed" in names


def test_what_is_put_into_the_wheel_is_tracked() -> None:
    """A folder that only one checkout has would break set-up everywhere else."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    forced = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    try:
        listed = subprocess.run(
            ["git", "ls-files", *forced], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    tracked = listed.splitlines()
    assert [name for name in forced if not any(file == name or file.startswith(f"{name}/") for file in tracked)] == []


@pytest.mark.slow
def test_the_wheel_works_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "import graphroute, graphroute.resources as r, graphroute.config.load as load, sys; "
        "print(graphroute.__file__); [print(r.resource(name)) for name in sys.argv[1:]]; load.load_routes(None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *sorted(resources_named())],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert all(line.startswith(str(tmp_path / "site")) for line in done.stdout.splitlines())
