"""Exit codes, errors on one line, encodings, pipes and signals."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from graphroute.cli import main as main_module
from graphroute.cli import output
from graphroute.errors import BackendError, DataError

BASE = "routes:\n  - otherwise: lexical\n"


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["explain", "Who owns ledger?"], 6, "--public"),
        (["ask", "Who owns ledger?"], 6, "--public"),
        (["explain", "Who owns ledger?", "--reader", "r"], 6, "holds no label"),
        (["explain", "Who owns ledger?", "--label", "public"], 6, "--reader"),
        (["explain", "Who owns ledger?", "--label", "public", "--reader", " "], 6, "empty"),
        (["explain"], 2, "question"),
        (["explain", "a", "b", "--public"], 2, "b"),
        (["explain", "a", "--pubic"], 2, "--pubic"),
        (["explian", "a"], 2, "did you mean 'explain'?"),
        (["check", "absent.yaml"], 3, "no such file"),
        (["check", "."], 3, "directory"),
        (["ingest", "absent", "--store", "s.sqlite"], 4, "absent"),
        (["explain", "a", "--public", "--store", "absent.sqlite"], 4, "graphroute ingest"),
        (["stats", "absent.sqlite", "--public"], 4, "graphroute ingest"),
        (["stats", "absent.sqlite"], 4, "graphroute ingest"),
        (["ontology", "infer", "absent"], 4, "absent"),
    ],
)
def test_errors_are_one_line_with_the_right_code(
    arguments: list[str], code: int, reason: str, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = run(*arguments)
    assert plain.code == code, plain
    assert plain.err.startswith("error: ")
    assert plain.err.count("\n") == 1
    assert reason.casefold() in plain.err.casefold()
    assert plain.out == ""
    as_json = run(*arguments, "--json")
    fields = json.loads(as_json.err)
    assert as_json.code == fields["exit_code"] == code
    assert set(fields) == {"error", "message", "where", "allowed", "hint", "exit_code"}


def test_a_bad_routes_file_names_every_place(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(BASE + "limits: {max_hops: 99}\nbudgt: 5\n")
    ended = run("check", path)
    assert ended.code == 3
    assert f"{path}:3:20: limits.max_hops: 99 is not allowed; allowed: a whole number 1..6" in ended.err
    assert f"{path}:4:1: budgt: unknown key; did you mean 'budget'?" in ended.err


def command_that_raises(problem: BaseException) -> click.Command:
    @click.command()
    @click.option("--json", "as_json", is_flag=True)
    @click.option("--debug", is_flag=True, expose_value=False)
    def fail(as_json: bool) -> None:
        raise problem

    return fail


@pytest.mark.parametrize(
    ("problem", "code", "text"),
    [
        (KeyError("password=hunter2"), 1, "unexpected KeyError"),
        (BackendError("no route to host", where="bolt"), 5, "bolt: no route to host"),
        (DataError("two\nlines"), 4, "two lines"),
        (PermissionError(13, "Permission denied", "/x"), 5, "/x: Permission denied"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_no_exception_leaves_a_traceback(
    problem: BaseException, code: int, text: str, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main_module, "COMMANDS", {"fail": ("tests:fail", "Fails.")})
    monkeypatch.setattr(main_module.Commands, "get_command", lambda *_: command_that_raises(problem))
    ended = run("fail")
    assert ended.code == code
    assert text in ended.err
    assert "Traceback" not in ended.err
    assert "hunter2" not in ended.err
    assert ended.err.strip().count("\n") == 0


def test_debug_lets_the_exception_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_module, "COMMANDS", {"fail": ("tests:fail", "Fails.")})
    monkeypatch.setattr(main_module.Commands, "get_command", lambda *_: command_that_raises(KeyError("x")))
    with pytest.raises(KeyError):
        main_module.main.main(["fail", "--debug"])


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "graphroute", *arguments],
        capture_output=True,
        env={"PATH": os.environ["PATH"], **environment},
        check=False,
    )


BYTES = {"PYTHONUTF8": "0", "LC_ALL": "POSIX"}
"""Here file names are bytes, so even the name is not read as text."""


@pytest.mark.parametrize(
    "environment",
    [
        {"LANG": "C", "LC_ALL": "C"},
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "ascii"},
        BYTES,
    ],
)
def test_what_an_encoding_lacks_is_escaped(environment: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "Фёдор → Ledger \u4e2d.yaml"
    path.write_text(BASE, encoding="utf-8")
    ended = python("check", str(path), **environment)
    assert ended.returncode == 0, ended.stderr
    assert b"is right" in ended.stdout
    if environment != BYTES:
        assert b"\\u4e2d" in ended.stdout or "中".encode() in ended.stdout


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    for unbuffered in ("0", "1"):
        with subprocess.Popen(
            [sys.executable, "-m", "graphroute", "check", "--conditions"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": unbuffered},
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() == 0


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Children take an interrupt even where the tests themselves were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_with_130(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "dataset.yaml").write_text("name: long\nlicence: CC0-1.0\ndefault_labels: [public]\n")
    row = '{"doc_id": "%d", "title": "t", "text": "key: value"}\n'
    (folder / "docs.jsonl").write_text("".join(row % number for number in range(300_000)))
    with subprocess.Popen(
        [sys.executable, "-m", "graphroute", "ontology", "infer", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        time.sleep(1.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
    assert process.returncode == 130
    assert said.strip().endswith(b"interrupted")
    assert b"Traceback" not in said


def test_documents_cannot_write_to_the_terminal() -> None:
    assert output.visible("a\x1b[2Jb\u202ec\u200b\ttab\nline") == "a\\x1b[2Jb\\u202ec\\u200b\ttab\nline"
    assert output.one_line("a\n b\tc  d" * 3, 10) == "a b c d..."
    assert output.visible("Фёдор → 中") == "Фёдор → 中"


def test_progress_in_a_pipe_is_a_line_a_stage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = iter([0.0, 2.0, 11.0, 11.0, 11.0, 11.0, 20.0, 20.0, 20.0])
    monkeypatch.setattr("graphroute.cli.output.time.monotonic", lambda: next(moments))
    with output.Progress() as bar:
        bar.start("documents", 100)
        bar.advance(10)
        bar.advance(40)
        bar.finish()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "documents: 50/100 (50 %), 5/s, 11 s left"
    assert lines[1].startswith("documents: 50 in 20.0 s")
