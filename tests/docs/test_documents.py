"""What the documents show is what happens: commands and Python in them run, files in them are valid, links resolve."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from graphroute.cli.main import main
from graphroute.indexing.ingest import ingest
from graphroute.ontology.load import load_ontology

ROOT = Path(__file__).resolve().parents[2]
RUN = [ROOT / "README.md", ROOT / "docs" / "tutorial.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the rest of the first line, its text and its line in the file."""

    language: str
    info: str
    text: str
    line: int


def blocks(text: str) -> list[Block]:
    return [Block(m[1], m[2], m[3], text.count("\n", 0, m.start()) + 1) for m in FENCE.finditer(text)]


def matches(wanted: str, got: str) -> bool:
    """True if the lines are equal. A line `...` stands for any number of lines, `...` in a line for any part of it."""
    pattern = ""
    for line in wanted.strip("\n").split("\n"):
        parts = [re.escape(part) for part in line.split("...")]
        pattern += "(?:.*\n)*?" if line == "..." else f"{'.*'.join(parts)} *\n"
    return re.fullmatch(pattern, got.strip("\n") + "\n") is not None


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's store, without vectors."""
    path = tmp_path_factory.mktemp("demo") / "demo.sqlite"
    ingest(
        ROOT / "evals" / "datasets" / "meridian",
        path,
        ontology=load_ontology(ROOT / "schema" / "ontology.yaml"),
        vectors=False,
    )
    return path


@pytest.fixture
def folder(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout that may be written to, with the demo's store."""
    for name in ("evals", "schema", "examples", "routes.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".graphroute").mkdir()
    (tmp_path / ".graphroute" / "demo.sqlite").write_bytes(store.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code, standard output and error of a `graphroute` command. Vectors take too long to be made here."""
    name, *arguments = shlex.split(command, comments=True)
    assert name == "graphroute", command
    if arguments[0] == "ingest":
        arguments.append("--no-vectors")
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main.main(arguments)
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out + said.err


def run_console(block: Block, where: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs each `$ ` line and compares what stands below it. It must succeed, unless an error is shown."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, wanted = part.partition("\n")
        code, got = run(command, capsys)
        assert bool(code) == wanted.startswith("error:"), f"{where}: {command}\n{got}"
        if wanted.strip():
            assert matches(wanted, got), f"{where}: {command}\n{got[:6000]}"


@pytest.mark.parametrize("page", RUN, ids=[str(path.relative_to(ROOT)) for path in RUN])
def test_what_is_shown_happens(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "shown"}
    printed: str | None = None
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{page.name}:{block.line}"
        if block.info:
            target = folder / block.info
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            run_console(block, where, capsys)
        elif block.language == "python":
            stream = io.StringIO()
            with contextlib.redirect_stdout(stream):
                exec(compile(block.text, where, "exec"), names)
            printed = stream.getvalue()
            continue
        elif block.language == "text" and printed is not None:
            assert matches(block.text, printed), f"{where}\n{printed}"
        printed = None


def test_the_comparison_can_fail() -> None:
    assert matches("a\n...\nd\n", "a\nb\nc\nd\n")
    assert matches("a\n...\nd\n", "a\nd\n")
    assert matches("a ... d", "a b c d")
    assert not matches("a ... d", "a b\nc d")
    assert not matches("a\nd\n", "a\nb\nd\n")
    assert not matches("...\nx\n", "a\nb\n")


def anchors(page: Path) -> set[str]:
    """Names of a page's headings as in links."""
    found = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES, ids=[str(path.relative_to(ROOT)) for path in PAGES])
def test_links_resolve(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}"
