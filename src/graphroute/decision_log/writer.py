"""Appends decision records: one write each, rotation under a lock, several processes at once."""

from __future__ import annotations

import errno
import glob
import json
import logging
import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from graphroute.decision_log.record import KEY_VARIABLE
from graphroute.errors import BackendError

try:
    import fcntl
except ImportError:  # Windows: appends stay whole, rotation is left to one process
    fcntl = None  # type: ignore[assignment]

MAX_RECORD_BYTES = 64 * 1024
"""A longer record is kept without its longest parts and marked `"cut": true`."""

_LOG = logging.getLogger("graphroute.decision_log")


def _now() -> datetime:
    return datetime.now(UTC)


class DecisionLog:
    """A JSON-lines file and its rotated predecessors (`path.1` is the newest of them).

    Each record is one line of ASCII, written by one `write` to a descriptor opened for appending, so records of several
    processes never mix. A lock file beside the log (`path.lock`) keeps rotation apart from writing.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        max_bytes: int = 64 * 1024 * 1024,
        keep_files: int = 20,
        keep_text_days: int | None = None,
        on_failure: Literal["warn", "refuse"] = "warn",
        clock: Callable[[], datetime] = _now,
    ) -> None:
        """`keep_text_days`: records older than this lose their `text` part, checked once a day.

        `on_failure`: if a record cannot be written, `warn` through `logging` or `refuse` with a BackendError.
        """
        self.path = Path(path)
        self._max_bytes = max_bytes
        self._keep_files = keep_files
        self._keep_text_days = keep_text_days
        self._on_failure = on_failure
        self._clock = clock
        self._mutex = threading.Lock()
        self._descriptor = -1
        self._lock = -1
        self._process = 0
        self._expired_on: object = None

    @property
    def key(self) -> bytes:
        """The secret for hashes in this log: from the environment, else a random one kept beside it (`path.key`)."""
        given = os.environ.get(KEY_VARIABLE)
        if given:
            return given.encode("utf-8", "surrogateescape")
        path = self._beside(".key")
        if not path.exists():
            fresh = self._beside(f".key.{os.getpid()}.{threading.get_ident()}")
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                os.write(descriptor, os.urandom(32).hex().encode())
            finally:
                os.close(descriptor)
            # A link appears whole or not at all, and never replaces the key of another process.
            with suppress(FileExistsError):
                os.link(fresh, path)
            fresh.unlink()
        return path.read_bytes()

    def append(self, record: Mapping[str, Any]) -> bool:
        """Writes one record with the time of writing. True if it is in the file; else by policy False or BackendError."""
        moment = self._clock()
        line = _line({**record, "logged_at": moment.isoformat(timespec="milliseconds")})
        try:
            with self._mutex:
                self._append(line, moment)
        except OSError as error:
            reason = errno.errorcode.get(error.errno or 0, "error")
            if self._on_failure == "refuse":
                raise BackendError(
                    f"the decision log cannot be written ({reason})",
                    where=str(self.path),
                    hint="make room or change log.path, or set log.on_failure to warn",
                ) from None
            _LOG.warning("%s: a decision record is lost (%s)", self.path, reason)
            return False
        return True

    def close(self) -> None:
        """Closes the descriptors; a later `append` opens them again."""
        with self._mutex:
            self._close()

    def __enter__(self) -> DecisionLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def expire_text(self) -> int:
        """Removes the `text` part of records older than `keep_text_days`. Returns how many records lost it."""
        if self._keep_text_days is None:
            return 0
        limit = (self._clock() - timedelta(days=self._keep_text_days)).isoformat(timespec="milliseconds")
        with self._mutex:
            self._open()
            with self._locked(exclusive=True):
                return sum(_strip(path, limit) for path in log_files(self.path))

    def _append(self, line: bytes, moment: datetime) -> None:
        self._open()
        if self._keep_text_days is not None and self._expired_on != moment.date() and self._lock >= 0:
            self._expired_on = moment.date()
            limit = (moment - timedelta(days=self._keep_text_days)).isoformat(timespec="milliseconds")
            with self._locked(exclusive=True):
                for path in log_files(self.path):
                    _strip(path, limit)
        while True:
            with self._locked(exclusive=False):
                self._follow()
                size = os.fstat(self._descriptor).st_size
                if self._lock < 0 or size == 0 or size + len(line) <= self._max_bytes:
                    written = os.write(self._descriptor, line)
                    if written < len(line):
                        # The rest did not fit. End the torn line, so that the next record starts on its own.
                        with suppress(OSError):
                            os.write(self._descriptor, b"\n")
                        raise OSError(errno.ENOSPC, "short write")
                    return
            self._rotate(len(line))

    def _rotate(self, need: int) -> None:
        with self._locked(exclusive=True):
            self._follow()
            if os.fstat(self._descriptor).st_size + need <= self._max_bytes:
                return
            self._beside(f".{self._keep_files}").unlink(missing_ok=True)
            for number in range(self._keep_files - 1, 0, -1):
                with suppress(FileNotFoundError):
                    self._beside(f".{number}").rename(self._beside(f".{number + 1}"))
            self.path.rename(self._beside(".1"))
            self._follow()

    def _open(self) -> None:
        if self._process != os.getpid():
            # A lock is shared with a forked parent through the descriptor, so a child opens its own.
            self._close()
            self._process = os.getpid()
        if self._descriptor >= 0:
            return
        self._descriptor = self._open_log()
        if fcntl is not None and stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            self._lock = os.open(self._beside(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with self._locked(exclusive=True):
                self._end_torn_line()

    def _open_log(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)

    def _end_torn_line(self) -> None:
        """Ends a line that a crash of the machine or a full disk left without its end."""
        with self.path.open("rb") as stream:
            if stream.seek(0, os.SEEK_END) and stream.seek(-1, os.SEEK_END) >= 0 and stream.read(1) != b"\n":
                os.write(self._descriptor, b"\n")

    def _follow(self) -> None:
        """Reopens the log if another process rotated it or somebody removed it."""
        mine = os.fstat(self._descriptor)
        try:
            theirs = os.stat(self.path)
            same = (mine.st_dev, mine.st_ino) == (theirs.st_dev, theirs.st_ino)
        except FileNotFoundError:
            same = False
        if not same:
            old, self._descriptor = self._descriptor, self._open_log()
            os.close(old)

    @contextmanager
    def _locked(self, *, exclusive: bool) -> Iterator[None]:
        if self._lock < 0:
            yield
            return
        fcntl.flock(self._lock, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _close(self) -> None:
        for descriptor in (self._descriptor, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._descriptor = self._lock = -1

    def _beside(self, ending: str) -> Path:
        return self.path.with_name(self.path.name + ending)


def log_files(path: str | Path) -> list[Path]:
    """The files of a log that exist, oldest first."""
    current = Path(path)
    numbered: list[tuple[int, Path]] = []
    for file in current.parent.glob(f"{glob.escape(current.name)}.*"):
        ending = file.name[len(current.name) + 1 :]
        if ending.isascii() and ending.isdigit():
            numbered.append((int(ending), file))
    found = [file for _, file in sorted(numbered, reverse=True)]
    return [*found, current] if current.exists() else found


def _line(record: Mapping[str, Any]) -> bytes:
    line = _dump(record)
    if len(line) <= MAX_RECORD_BYTES:
        return line
    kept = dict(record)
    kept["cut"] = True
    for name in ("text", "attempts", "evidence", "question", "degraded", "operator", "seconds"):
        if name in kept:
            kept[name] = None
            line = _dump(kept)
            if len(line) <= MAX_RECORD_BYTES:
                return line
    return _dump({"schema": record.get("schema"), "run": str(record.get("run"))[:200], "cut": True})


def _dump(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":")) + "\n").encode("ascii")


def _strip(path: Path, limit: str) -> int:
    """Rewrites a file whose records older than `limit` hold text. The caller holds the exclusive lock."""
    raw = path.read_bytes()
    if b'"text":' not in raw:
        return 0
    count = 0
    lines: list[bytes] = []
    for line in raw.split(b"\n"):
        kept = line
        if b'"text":' in line:
            with suppress(ValueError):
                record = json.loads(line)
                if record.get("text") is not None and str(record.get("logged_at", "")) < limit:
                    del record["text"]
                    kept = _dump(record)[:-1]
                    count += 1
        lines.append(kept)
    if count:
        fresh = path.with_name(f"{path.name}.tmp")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(b"\n".join(lines))
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(path)
    return count
