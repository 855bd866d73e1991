import subprocess
import sys
from pathlib import Path

from graphroute.serialization.formats import FORMATS

ROOT = Path(__file__).parents[2]


def test_the_page_on_formats_says_what_the_code_does():
    done = subprocess.run([sys.executable, "tools/formats.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    for name in FORMATS:
        assert FORMATS.load(name)().grammar in page
