"""Options that several commands share, and what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphroute.cli import output
from graphroute.errors import ReaderError
from graphroute.types.reader import Reader

if TYPE_CHECKING:
    from graphroute.pipeline.engine import GraphRoute

DEFAULT_STORE = ".graphroute/store.sqlite"
PUBLIC = "public"
"""The label that `--public` stands for."""

FilePath = click.Path(path_type=Path)


def store_place(value: str | Path) -> str | Path:
    """A parameter type: the address of a Neo4j server as it is, anything else as the path of a store file."""
    return value if isinstance(value, Path) or "://" in value else Path(value)


Command = Callable[..., Any]


def common(command: Command) -> Command:
    """Adds `--json` and `--debug`. `--debug` is read by the group, which handles errors."""
    command = click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")(command)
    return click.option("--json", "as_json", is_flag=True, help="Write JSON; errors too.")(command)


def store_option(*, required: bool = False) -> Callable[[Command], Command]:
    """Adds `--store`."""
    option = partial(
        click.option,
        "--store",
        type=store_place,
        metavar="PATH|ADDRESS",
        envvar="GRAPHROUTE_STORE",
        show_envvar=True,
        help="The store file, or the address of a Neo4j server (neo4j://HOST:PORT).",
    )
    # A default of None is a value to click, and would be one here.
    return option(required=True) if required else option(default=DEFAULT_STORE, show_default=True)


def question_options(command: Command) -> Command:
    """Adds the question and everything that decides what is answered and to whom."""
    options: list[Callable[[Command], Command]] = [
        click.argument("question"),
        store_option(),
        click.option("--reader", "reader_id", metavar="ID", help="On whose behalf the question is asked."),
        click.option(
            "--label", "labels", multiple=True, metavar="L", help="A label the reader holds; may be repeated."
        ),
        click.option("--public", is_flag=True, help=f"Add the label '{PUBLIC}'."),
        click.option("--as-of", metavar="T", help="The day the question is asked: 2026-08-21, or an instant."),
        click.option("--routes", type=FilePath, help="Routes file instead of the shipped policy."),
        click.option("--ontology", type=FilePath, help="Ontology instead of the one in the store."),
        click.option("--log", type=FilePath, help="Append a decision record to this file."),
        click.option("--strict", is_flag=True, help="Exit 5 if any stage failed or was skipped."),
    ]
    for option in reversed(options):
        command = option(command)
    return common(command)


def reader_of(reader_id: str | None, labels: tuple[str, ...], public: bool) -> Reader:
    """The reader that the options name. Raises ReaderError where they name none, or no label."""
    held = [*labels, *([PUBLIC] if public else [])]
    if not held:
        raise ReaderError(
            "the reader holds no label", hint="give each label with --label, or --public to see public data only"
        )
    if reader_id is None:
        if labels:
            raise ReaderError("the reader is missing", hint="give the id of the verified identity with --reader")
        reader_id = PUBLIC
    return Reader(reader_id, held)


def warn_of_unknown_labels(router: GraphRoute, reader: Reader) -> None:
    """Warns of labels that open nothing in the store. A label is never a pattern, and case and spaces count."""
    for label in router.unknown_labels(reader):
        output.warn(f"label {label!r} opens nothing in the store")
