"""Bad inputs of the command line: the right exit code, one line on stderr, never a traceback."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PUBLIC = ["--public"]
YAML = "routes:\n  - otherwise: lexical\n"


@pytest.fixture(scope="module")
def store(corpus_of: Any) -> Path:
    path: Path = corpus_of(0).folder / "full" / "store.sqlite"
    return path


def one_line(text: str) -> bool:
    return text.startswith("error: ") and text.count("\n") == 1 and "Traceback" not in text


@pytest.mark.parametrize(
    ("options", "code", "reason"),
    [
        (["", *PUBLIC], 2, "question is empty"),
        ([" \t\n", *PUBLIC], 2, "question is empty"),
        (["\u200b\u202e", *PUBLIC], 2, "question is empty"),
        (["a" * 100_000, *PUBLIC], 2, "8,000"),
        (["Who owns alder0?"], 6, "no label"),
        (["Who owns alder0?", "--reader", "r"], 6, "no label"),
        (["Who owns alder0?", "--label", "red"], 6, "reader"),
        (["Who owns alder0?", "--reader", "", "--label", "red"], 6, "reader"),
        (["Who owns alder0?", *PUBLIC, "--as-of", "2024-02-30"], 2, "2024-02-30"),
        (["Who owns alder0?", *PUBLIC, "--as-of", "yesterday"], 2, "yesterday"),
        (["Who owns alder0?", *PUBLIC, "--as-of", "10000-01-01"], 2, "10000"),
        (["Who owns alder0?", *PUBLIC, "--as-of", "2024-01-01T25:00"], 2, "T25"),
        (["Who owns alder0?", *PUBLIC, "--routes", "absent.yaml"], 3, "absent.yaml"),
        (["Who owns alder0?", *PUBLIC, "--routes", "."], 3, "directory"),
        (["Who owns alder0?", *PUBLIC, "--ontology", "absent.yaml"], 3, "absent.yaml"),
        (["Who owns alder0?", *PUBLIC, "--budget", "0"], 2, "--budget"),
    ],
)
def test_a_wrong_question_or_reader(options: list[str], code: int, reason: str, store: Path, run: Any) -> None:
    for command in ("explain", "ask"):
        ended = run(command, *options, "--store", store)
        assert ended.code == code, ended
        assert one_line(ended.err), ended.err
        assert reason in ended.err
        assert ended.out == ""
        problem = json.loads(run(command, *options, "--store", store, "--json").err)
        assert problem["exit_code"] == code


@pytest.mark.parametrize(
    "label", ["*", "Public", "public ", " public", "%", "public,red", "[]", "'; --", "PUBLIC", "пublic", "\x00"]
)
def test_an_unknown_label_opens_nothing_and_is_named(label: str, store: Path, run: Any) -> None:
    ended = run(
        "explain",
        "What do the notes say about the ledger?",
        "--reader",
        "r",
        "--label",
        label,
        "--store",
        store,
        "--json",
    )
    assert ended.code == 0
    assert ended.err.startswith("warning: ")
    assert ended.err.count("\n") == 1
    found = json.loads(ended.out)
    assert found["evidence"]["units"] == {}
    assert found["abstained"]


HOSTILE = {
    "max_hops 99": (YAML + "limits: {max_hops: 99}\n", "1..6"),
    "max_hops -1": (YAML + "limits: {max_hops: -1}\n", "1..6"),
    "max_hops 2.5": (YAML + "limits: {max_hops: 2.5}\n", "whole number"),
    "max_hops text": (YAML + 'limits: {max_hops: "3"}\n', "whole number"),
    "max_hops true": (YAML + "limits: {max_hops: true}\n", "whole number"),
    "max_hops 1e9": (YAML + "limits: {max_hops: 1e9}\n", "whole number"),
    "misspelt key": (YAML + "limits: {max_hopz: 3}\n", "max_hops"),
    "duplicate key": (YAML + "budget: 5\nbudget: 6\n", "budget"),
    "alias": (YAML + "strategies: {a: &x [lexical], b: *x}\n", "alias"),
    "merge key": (YAML + "limits:\n  <<: {max_hops: 3}\n", "<<"),
    "recursion": ("routes: &a [*a]\n", "alias"),
    "tag": (YAML + "format: !!python/object/apply:os.system [id]\n", "tag"),
    "two documents": (YAML + "---\n" + YAML, "document"),
    "tab": ("routes:\n\t- otherwise: lexical\n", ":2:"),
    "nul": (YAML + "format: \x00\n", ":3:"),
    "empty": ("", "routes"),
    "list": ("- 1\n", "mapping"),
    "too big": (YAML + "# " + "x" * 300_000 + "\n", "256"),
    "deep": ("routes: " + "[" * 5_000 + "]" * 5_000, "deep"),
    "nan": (YAML + "fallback: {if_evidence_below: .nan, use: lexical}\n", "if_evidence_below"),
    "secret": (YAML + "model: {base_url: 'https://user:hunter2@host/v1', model: m}\n", "environment"),
    "key": (YAML + "model: {base_url: 'https://host/v1', model: m, api_key: hunter2}\n", "api_key"),
    "unknown strategy": ("routes:\n  - otherwise: lexcial\n", "lexical"),
    "unknown format": (YAML + "format: edgelist\n", "edge_list"),
    "budget 0": (YAML + "budget: 0\n", "budget"),
    "no": ("routes:\n  - {when: no, use: lexical}\n  - otherwise: lexical\n", "when"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_routes_file(name: str, store: Path, run: Any, tmp_path: Path) -> None:
    text, reason = HOSTILE[name]
    path = tmp_path / "routes.yaml"
    path.write_bytes(text.encode())
    began = time.monotonic()
    ended = run("explain", "a", *PUBLIC, "--store", store, "--routes", path)
    assert time.monotonic() - began < 2.0
    assert ended.code == 3, ended
    assert one_line(ended.err), ended.err
    assert reason.casefold() in ended.err.casefold()
    assert str(path) in ended.err
    assert "hunter2" not in ended.err
    assert run("check", path).code == 3


BOM_AND_ALIASES = (
    "types:\n  system: {nouns: [система, 'Relay → Ledger']}\nrelations:\n  ON: {from: system, to: system}\n"
)


@pytest.mark.parametrize(
    "made", [lambda text: text, lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")]
)
def test_b39_a_file_of_another_machine_reads_the_same(made: Any, store: Path, run: Any, tmp_path: Path) -> None:
    routes, ontology = tmp_path / "routes.yaml", tmp_path / "ontology.yaml"
    routes.write_bytes(made(YAML).encode())
    ontology.write_bytes(made(BOM_AND_ALIASES).encode())
    ended = run("explain", "a", *PUBLIC, "--store", store, "--routes", routes, "--ontology", ontology, "--json")
    (tmp_path / "plain.yaml").write_text(YAML)
    (tmp_path / "plain_ontology.yaml").write_text(BOM_AND_ALIASES)
    plain = run(
        "explain",
        "a",
        *PUBLIC,
        "--store",
        store,
        "--routes",
        tmp_path / "plain.yaml",
        "--ontology",
        tmp_path / "plain_ontology.yaml",
        "--json",
    )
    assert json.loads(ended.out)["config"] == json.loads(plain.out)["config"]


def broken_stores(store: Path, folder: Path) -> dict[str, tuple[Path, int]]:
    made: dict[str, tuple[Path, int]] = {}

    def make(name: str, code: int, data: bytes) -> None:
        path = folder / f"{name}.sqlite"
        path.write_bytes(data)
        made[name] = (path, code)

    whole = store.read_bytes()
    make("empty", 4, b"")
    make("text", 4, b"this is no store\n" * 100)
    make("cut", 4, whole[: len(whole) // 2])
    make("scribbled", 4, whole[:4096] + b"\xff" * (len(whole) - 4096))
    made["absent"] = (folder / "absent.sqlite", 4)
    made["directory"] = (folder, 5)
    return made


@pytest.mark.parametrize("name", ["empty", "text", "cut", "scribbled", "absent", "directory"])
def test_a_broken_store_is_named(name: str, store: Path, run: Any, tmp_path: Path) -> None:
    copy = tmp_path / "whole.sqlite"
    shutil.copy(store, copy)
    path, code = broken_stores(copy, tmp_path)[name]
    ended = run("explain", "What do the notes say about the ledger?", *PUBLIC, "--store", path)
    assert ended.code == code, ended
    assert one_line(ended.err), ended.err
    assert path.name in ended.err


def command(*arguments: object, **environment: str) -> list[Any]:
    return [[sys.executable, "-m", "graphroute", *map(str, arguments)], {"PATH": os.environ["PATH"], **environment}]


@pytest.mark.parametrize(
    "environment",
    [{"LANG": "C", "LC_ALL": "C"}, {"PYTHONIOENCODING": "cp1252"}, {"PYTHONUTF8": "0", "LC_ALL": "POSIX"}],
)
def test_no_locale_breaks_the_output(environment: dict[str, str], store: Path) -> None:
    arguments, variables = command(
        "explain",
        "Who is Фёдор Ким → 李雷 \U0001f680?",
        "--reader",
        "r",
        "--label",
        "red",
        "--store",
        store,
        **environment,
    )
    ended = subprocess.run(arguments, env=variables, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert b"Traceback" not in ended.stderr
    assert b"question" in ended.stdout


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_a_reader_that_goes_away_ends_quietly(store: Path) -> None:
    arguments, variables = command(
        "explain", "What do the notes say about the ledger?", "--reader", "r", "--label", "red", "--store", store
    )
    with subprocess.Popen(arguments, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0
    ended = subprocess.run(
        f"{' '.join(map(repr, arguments))} >&- 2>err", shell=True, cwd=store.parent, env=variables, check=False
    )
    assert ended.returncode == 0
    assert (store.parent / "err").read_bytes() == b""


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_a_read_only_directory(store: Path, tmp_path: Path) -> None:
    shutil.copy(store, tmp_path / "store.sqlite")
    tmp_path.chmod(0o555)
    try:
        arguments, variables = command(
            "explain", "a ledger", *PUBLIC, "--store", tmp_path / "store.sqlite", "--log", tmp_path / "log.jsonl"
        )
        ended = subprocess.run(arguments, env=variables, capture_output=True, text=True, check=False)
        assert "Traceback" not in ended.stderr
        assert ended.returncode in (0, 5)
    finally:
        tmp_path.chmod(0o755)


def test_a_log_that_cannot_be_written(store: Path, tmp_path: Path) -> None:
    """A directory in the log's place, a parent that is a file, and a full disk: answered, and one line says what is lost."""
    (tmp_path / "file").write_text("")
    places = [tmp_path, tmp_path / "file" / "log.jsonl", *([Path("/dev/full")] if Path("/dev/full").exists() else [])]
    for place in places:
        arguments, variables = command(
            "explain", "ledger", "--reader", "r", "--label", "red", "--store", store, "--log", place
        )
        ended = subprocess.run(arguments, env=variables, capture_output=True, text=True, check=False)
        assert ended.returncode in (0, 5), (place, ended.stderr)
        assert "Traceback" not in ended.stderr
        assert ended.stderr.count("\n") == 1, ended.stderr
        assert str(place) in ended.stderr
        assert "ledger" not in ended.stderr


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Children take an interrupt even where the tests themselves were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_an_interrupted_ingest_can_be_run_again(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    row = '{"doc_id": "d%d", "title": "t", "text": "svc:a%d is owned by team:b. ledger", "labels": ["public"]}\n'
    (folder / "docs.jsonl").write_text("".join(row % (n, n) for n in range(60_000)))
    store = tmp_path / "s.sqlite"
    arguments, variables = command("ingest", folder, "--store", store, "--no-vectors", "--quiet", HOME=str(tmp_path))
    with subprocess.Popen(arguments, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(2.0)
        assert process.poll() is None, "the ingest was over before it could be interrupted"
        process.send_signal(sent)
        _, said = process.communicate(timeout=30)
    assert process.returncode == code, said
    assert b"Traceback" not in said
    lines = (folder / "docs.jsonl").read_text().splitlines()[:50]
    (folder / "docs.jsonl").write_text("\n".join(lines))
    again = subprocess.run(arguments, env=variables, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
