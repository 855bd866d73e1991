"""Finds the data files that ship with the package, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "_resources"
_CHECKOUT = _PACKAGE.parents[1]


def resource(name: str) -> Path:
    """The path of a shipped file (`routes.yaml`) or folder. Raises FileNotFoundError if it did not ship."""
    roots = [_INSTALLED]
    if (_CHECKOUT / "pyproject.toml").is_file():
        roots.append(_CHECKOUT)
    for root in roots:
        path = root / name
        if path.exists():
            return path
    raise FileNotFoundError(f"{name} is not part of this installation (looked in {', '.join(map(str, roots))})")
