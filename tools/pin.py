"""Prints constraints.txt: the installed versions of everything the default and dev sets need, and nothing else."""

from __future__ import annotations

import importlib.metadata
import re
import sys

from packaging.requirements import Requirement

HEADER = """\
# Pinned versions of the default and dev sets, for `pip install -c`. Versions only: pip decides where they come from.
# Regenerate with: .venv/bin/python tools/pin.py > constraints.txt
"""


def closure(project: str, extras: tuple[str, ...]) -> dict[str, str]:
    """Installed name -> version of every requirement of `project[extras]`, itself excluded."""
    found: dict[str, str] = {}
    walked: set[tuple[str, str]] = set()
    queue = [(project, extra) for extra in ("", *extras)]
    while queue:
        name, extra = queue.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if (key, extra) in walked:
            continue
        walked.add((key, extra))
        distribution = importlib.metadata.distribution(name)
        if key != project:
            found[key] = distribution.version
        for line in distribution.requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                queue.extend((requirement.name, wanted) for wanted in ("", *requirement.extras))
    return found


def main() -> int:
    """Prints the file."""
    sys.stdout.write(HEADER)
    for name, version in sorted(closure("graphroute", ("dev",)).items()):
        sys.stdout.write(f"{name}=={version}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
