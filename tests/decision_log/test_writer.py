"""The log file: whole lines, rotation, several processes, failures, retention."""

import logging
import os
import signal
import stat
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphroute.decision_log.reader import read_records, upgrade
from graphroute.decision_log.record import KEY_VARIABLE, SCHEMA
from graphroute.decision_log.writer import MAX_RECORD_BYTES, DecisionLog, log_files
from graphroute.errors import BackendError, DataError

FULL = Path("/dev/full")


def record(number: int, size: int = 0) -> dict[str, object]:
    return {"schema": 1, "run": f"{number}", "pad": "x" * size}


def test_a_record_is_one_line_of_ascii(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with DecisionLog(path) as log:
        assert log.append({"schema": 1, "run": "1", "note": "Фёдор\n→\u2028\x00\ud800"})
    raw = path.read_bytes()
    assert raw.isascii()
    assert raw.count(b"\n") == 1
    assert next(read_records(path))["note"] == "Фёдор\n→\u2028\x00\ud800"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_long_record_is_cut_to_its_head(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with DecisionLog(path) as log:
        log.append({**record(1), "attempts": "x" * 2 * MAX_RECORD_BYTES, "route": "facts"})
        log.append({**record(2), "other": "x" * 2 * MAX_RECORD_BYTES})
    assert max(map(len, path.read_bytes().split(b"\n"))) < MAX_RECORD_BYTES
    first, second = read_records(path)
    assert (first["cut"], first["attempts"], first["route"]) == (True, None, "facts")
    assert (second["cut"], second["run"]) == (True, "2")


def test_rotation_keeps_order_and_forgets_the_oldest(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with DecisionLog(path, max_bytes=600, keep_files=3) as log:
        for number in range(40):
            log.append(record(number, 100))
    assert [file.name for file in log_files(path)] == ["log.jsonl.3", "log.jsonl.2", "log.jsonl.1", "log.jsonl"]
    runs = [int(found["run"]) for found in read_records(path)]
    assert runs == list(range(runs[0], 40))
    assert all(file.stat().st_size <= 600 for file in log_files(path))


def test_a_log_moved_away_by_somebody_else_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with DecisionLog(path) as log:
        log.append(record(1))
        path.rename(tmp_path / "moved")
        log.append(record(2))
    assert [found["run"] for found in read_records(path)] == ["2"]


WRITE_MANY = """
import sys
from graphroute.decision_log.writer import DecisionLog
path, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with DecisionLog(path, max_bytes=100_000, keep_files=1000) as log:
    for number in range(first, first + count):
        assert log.append({"schema": 1, "run": f"{number}", "pad": "x" * (number * 37 % 3000)})
"""


def test_eight_processes_lose_and_tear_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE_MANY, str(path), str(place * 1000), "150"]) for place in range(8)
    ]
    assert [writer.wait() for writer in writers] == [0] * 8
    runs = sorted(int(found["run"]) for found in read_records(path))
    assert runs == [place * 1000 + number for place in range(8) for number in range(150)]
    assert len(log_files(path)) > 5


WRITE_FOR_EVER = """
import os, sys
from graphroute.decision_log.writer import DecisionLog
with DecisionLog(sys.argv[1], max_bytes=50_000, keep_files=1000) as log:
    for number in range(1_000_000):
        log.append({"schema": 1, "run": f"{number}", "pad": "x" * 500})
        os.write(1, f"{number}\\n".encode())
"""


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_kill_loses_no_acknowledged_record(tmp_path: Path) -> None:
    for attempt in range(3):
        path = tmp_path / f"log{attempt}.jsonl"
        with subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            first = writer.stdout.readline()
            time.sleep(0.02 * attempt)
            writer.send_signal(signal.SIGKILL)
            acknowledged = [int(line) for line in (first + writer.stdout.read()).split()]
        runs = [int(found["run"]) for found in read_records(path)]
        assert acknowledged
        assert runs[: len(acknowledged)] == acknowledged
        with DecisionLog(path) as log:
            assert log.append(record(-1)), "the dead process holds no lock"


def test_a_torn_last_line_is_ended_before_the_next_record(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"schema": 1, "run": "0"}\n{"schema": 1, "ru')
    with DecisionLog(path) as log:
        log.append(record(1))
    assert [found["run"] for found in read_records(path, skip_bad=True)] == ["0", "1"]
    with pytest.raises(DataError, match=r"log\.jsonl:2: not a decision record"):
        list(read_records(path))


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
def test_a_full_disk_follows_the_policy(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), DecisionLog(FULL) as log:
        assert log.append(record(1)) is False
    assert "a decision record is lost (ENOSPC)" in caplog.text
    with DecisionLog(FULL, on_failure="refuse") as log, pytest.raises(BackendError, match="ENOSPC"):
        log.append(record(1))
    assert not Path("/dev/full.lock").exists()


def test_a_missing_folder_follows_the_policy(tmp_path: Path) -> None:
    with (
        DecisionLog(tmp_path / "absent" / "log.jsonl", on_failure="refuse") as log,
        pytest.raises(BackendError) as caught,
    ):
        log.append(record(1))
    assert "ENOENT" in str(caught.value)


def test_text_is_kept_for_the_stated_days(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    day = datetime(2024, 1, 1, tzinfo=UTC)
    times = iter([day, day + timedelta(days=5), day + timedelta(days=31), day + timedelta(days=31)])
    with DecisionLog(path, keep_text_days=30, clock=lambda: next(times)) as log:
        log.append({**record(1), "text": {"question": "who is Jonas?"}})
        log.append({**record(2), "text": {"question": "second"}})
        assert b"Jonas" in path.read_bytes()
        log.append(record(3))
        assert b"Jonas" not in path.read_bytes()
        assert b"second" in path.read_bytes()
        assert log.expire_text() == 0
    assert [found["run"] for found in read_records(path)] == ["1", "2", "3"]


def test_the_key_is_made_once_and_kept_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    path = tmp_path / "log.jsonl"
    key = DecisionLog(path).key
    assert len(key) == 64
    assert DecisionLog(path).key == key
    assert DecisionLog(tmp_path / "other.jsonl").key != key
    assert stat.S_IMODE((tmp_path / "log.jsonl.key").stat().st_mode) == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log.jsonl.key", "other.jsonl.key"]
    monkeypatch.setenv(KEY_VARIABLE, "given")
    assert DecisionLog(path).key == b"given"


STORED = Path(__file__).parent / "records"


@pytest.mark.parametrize("file", sorted(STORED.glob("*.jsonl")), ids=lambda file: file.stem)
def test_records_of_every_version_are_read(file: Path) -> None:
    for found in read_records(file):
        assert found["schema"] == SCHEMA
        assert found["prompt"]["profile"] == "full"
        assert found["route"]


@pytest.mark.parametrize("version", [0, SCHEMA + 1, None, "1", True])
def test_an_unknown_version_is_refused(version: object) -> None:
    with pytest.raises(DataError, match="schema"):
        upgrade({"schema": version})
