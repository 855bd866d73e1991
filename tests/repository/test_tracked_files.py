"""No tracked file names a machine's folders, a package registry or data that is only lent."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Put together from parts, so that this file passes its own check.
MACHINE_PATH = re.compile(r"(?<![\w.])(?:/" + r"(?:root|home|work|Users)/[\w.-]+|[A-Za-z]:\\\\?Users\\)")
REGISTRY = re.compile(
    "|".join(
        [r"pypi" + r"\.org", r"python" + r"hosted\.org", r"index" + r"-url", r"find" + r"-links", r"artifact" + r"ory"]
    )
)
ALLOWED_LINES: dict[str, str] = {}


def tracked() -> list[Path]:
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def findings(name: str, text: str) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:120]}"
        for number, line in enumerate(text.splitlines(), start=1)
        if (MACHINE_PATH.search(line) or REGISTRY.search(line)) and line.strip() not in ALLOWED_LINES
    ]


def test_no_machine_paths_and_no_registry_hosts() -> None:
    found: list[str] = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += findings(str(path.relative_to(ROOT)), text)
    assert found == []


@pytest.mark.parametrize(
    "line", ["cache = '/" + "home/me/x'", "see /" + "work/x", "--index" + "-url x", "C:\\" + "Users\\me"]
)
def test_the_check_can_fail(line: str) -> None:
    assert findings("x", line)


@pytest.mark.parametrize("line", ["a/home/x", "https://example.org/home/x", "homework/x", "src/work/x"])
def test_the_check_leaves_other_paths_alone(line: str) -> None:
    assert findings("x", line) == []


def test_constraints_pin_versions_and_name_no_place() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert pins == sorted(pins)
    assert [line for line in pins if not re.fullmatch(r"[a-z0-9-]+==[\w.!+]+", line)] == []
    assert not {"torch", "sentence-transformers", "transformers"} & {line.partition("==")[0] for line in pins}


def test_no_tracked_file_is_a_store_or_a_result() -> None:
    names = [path.name for path in tracked()]
    assert [name for name in names if name.endswith((".sqlite", ".results.jsonl", ".pyc"))] == []
