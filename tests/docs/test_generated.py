"""The reference is what the code says, and a stale page is found."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def check(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "tools" / "reference.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def test_the_reference_is_up_to_date() -> None:
    done = check(ROOT)
    assert done.returncode == 0, done.stderr


def test_a_stale_page_is_found(tmp_path: Path) -> None:
    for name in ("tools/reference.py", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "docs" / "reference", tmp_path / "docs" / "reference")
    page = tmp_path / "docs" / "reference" / "metrics.md"
    page.write_text(page.read_text(encoding="utf-8").replace("share", "sum", 1), encoding="utf-8")
    done = check(tmp_path)
    assert done.returncode == 1
    assert "docs/reference/metrics.md is stale" in done.stderr
