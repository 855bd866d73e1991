"""Prints constraints.txt: the installed versions of everything the default and dev sets need, and nothing else."""

from __future__ import annotations

import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
HEADER = """\
# Pinned versions of the default and dev sets, for `pip install -c`. Versions only: pip decides where they come from.
# Regenerate with: .venv/bin/python tools/pin.py > constraints.txt
"""


def closure(requirements: Iterable[str]) -> dict[str, str]:
    """Installed name -> version of the requirements and of everything they require."""
    found: dict[str, str] = {}
    walked: set[tuple[str, str]] = set()
    queue: list[tuple[str, str]] = []

    def add(line: str, extra: str) -> None:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            queue.extend((requirement.name, wanted) for wanted in ("", *requirement.extras))

    for line in requirements:
        add(line, "")
    while queue:
        name, extra = queue.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if (key, extra) in walked:
            continue
        walked.add((key, extra))
        distribution = importlib.metadata.distribution(name)
        found[key] = distribution.version
        for line in distribution.requires or []:
            add(line, extra)
    return found


def main() -> int:
    """Prints the file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sys.stdout.write(HEADER)
    pins = closure([*project["dependencies"], *project["optional-dependencies"]["dev"]])
    for pin in sorted(f"{name}=={version}" for name, version in pins.items()):
        sys.stdout.write(pin + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
