"""Writes to the terminal: plain and deterministic in a pipe, tables and progress on a screen; no other module prints."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from graphroute.errors import GraphRouteError

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

# Control and direction characters of documents could rewrite what stands on the screen.
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_REPORT_SECONDS = 10.0


class ClosedPipeError(Exception):
    """Whoever read standard output has seen enough."""


def visible(text: str) -> str:
    """The text with control, direction and zero-width characters written as escapes; tab and line feed stay."""
    return _INVISIBLE.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


def one_line(text: str, width: int | None = None) -> str:
    """The text on one line, cut to `width` code points with `...`."""
    line = visible(" ".join(text.split()))
    return line if width is None or len(line) <= width else f"{line[: width - 3]}..."


def prepare_streams() -> None:
    """Lets standard output and error escape what their encoding does not have, instead of failing.

    A stream that was closed before the start is replaced by one that drops everything.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - stays open like the stream it stands for
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _print(text: str) -> None:
    try:
        print(text)
    except BrokenPipeError:
        raise ClosedPipeError from None


def write(text: str = "") -> None:
    """A line, or several, on standard output."""
    _print(visible(text))


def write_json(value: Any) -> None:
    """A value as JSON on standard output, keys in the order given."""
    _print(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def flush() -> None:
    """Hands over what is still buffered."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise ClosedPipeError from None


def note(text: str) -> None:
    """A remark on standard error."""
    print(one_line(text), file=sys.stderr)


def warn(text: str) -> None:
    """A warning on standard error."""
    note(f"warning: {text}")


def error(problem: GraphRouteError, *, as_json: bool) -> None:
    """An error on standard error: one line, or one JSON object."""
    if as_json:
        fields = {
            "error": type(problem).__name__,
            "message": problem.message,
            "where": problem.where,
            "allowed": problem.allowed,
            "hint": problem.hint,
            "exit_code": problem.exit_code,
        }
        print(json.dumps(fields, ensure_ascii=True), file=sys.stderr)
        return
    note(f"error: {problem.describe()}")


def heading(text: str) -> None:
    """The title of a section, after an empty line."""
    write()
    write(text)


def table(rows: Sequence[Sequence[str]], *, header: Sequence[str] | None = None, indent: int = 2) -> None:
    """Rows in columns. On a screen long cells wrap; elsewhere each row is one line."""
    if not rows:
        return
    if _on_screen(sys.stdout):
        _screen_table(rows, header, indent)
        return
    lines = [[one_line(cell) for cell in row] for row in ([header, *rows] if header else rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        write(" " * indent + "  ".join(cells).rstrip())


def _screen_table(rows: Sequence[Sequence[str]], header: Sequence[str] | None, indent: int) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, show_header=header is not None, pad_edge=False, header_style="dim")
    for name in header or rows[0]:
        grid.add_column(name if header else "", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(visible(cell)) for cell in row))
    Console(soft_wrap=False).print(Padding(grid, (0, 0, 0, indent)))


def _on_screen(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class Progress:
    """How far a long run is, on standard error: a bar with rate and time left on a screen, else a line now and then."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._screen = not quiet and _on_screen(sys.stderr)
        self._bars: Bars | None = None
        self._task: TaskID | None = None
        self._stage = ""
        self._total: int | None = None
        self._done = 0
        self._began = self._said = 0.0

    def start(self, stage: str, total: int | None) -> None:
        """A stage begins; `total` steps if they are known."""
        self._stage, self._total, self._done = stage, total, 0
        self._began = self._said = time.monotonic()
        if not self._screen:
            return
        if self._bars is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as Bars

            self._bars = Bars(
                TextColumn("{task.description:<10}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._bars.start()
        self._task = self._bars.add_task(stage, total=total, rate="")

    def advance(self, amount: int = 1) -> None:
        """Steps of the stage are done."""
        self._done += amount
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, advance=amount, rate=self._rate())
        elif not self._quiet and time.monotonic() - self._said >= _REPORT_SECONDS:
            self._said = time.monotonic()
            note(self._line())

    def finish(self) -> None:
        """The stage is over."""
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, total=self._done, completed=self._done, rate=self._rate())
        elif not self._quiet and self._stage:
            note(f"{self._stage}: {self._done} in {time.monotonic() - self._began:.1f} s{self._per_second()}")
        self._stage = ""

    def close(self) -> None:
        """Ends the display."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _rate(self) -> str:
        return self._per_second().removeprefix(", ")

    def _per_second(self) -> str:
        seconds = time.monotonic() - self._began
        return f", {self._done / seconds:.0f}/s" if self._done and seconds > 0.05 else ""

    def _line(self) -> str:
        if not self._total:
            return f"{self._stage}: {self._done}{self._per_second()}"
        left = (time.monotonic() - self._began) / max(self._done, 1) * (self._total - self._done)
        share = 100 * self._done / self._total
        return f"{self._stage}: {self._done}/{self._total} ({share:.0f} %){self._per_second()}, {left:.0f} s left"
