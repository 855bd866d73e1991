"""A fixed sample of every data set through the whole path: no permission violation, no question that fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REAL = Path(os.environ.get("GRAPHROUTE_REALDATA") or ROOT.parent / "shared" / "data")
SETS = ("a_2wiki", "b_metaqa", "c_timeqa", "d_adgm", "e_k8s_org", "e_tau2_banking", "r_cmrc_zh")
BUNDLED = sorted(path.name for path in (ROOT / "evals" / "datasets").glob("*") if path.is_dir())


def run(name: str, work: Path) -> None:
    command = [sys.executable, "tools/evaluate.py", "--sample", "--sets", name, "--work", str(work)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize("name", SETS)
def test_sample_of_a_real_set(name: str, tmp_path: Path) -> None:
    if not (REAL / name).is_dir():
        pytest.skip(f"{name} is not in {REAL.name}: set GRAPHROUTE_REALDATA")
    run(name, tmp_path)


@pytest.mark.slow
def test_sample_of_the_bundled_sets(tmp_path: Path) -> None:
    for name in BUNDLED:
        run(name, tmp_path)
    assert BUNDLED
