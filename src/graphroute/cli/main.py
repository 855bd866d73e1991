"""The `graphroute` command group: exit codes, errors on one line, signals and closed pipes."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from graphroute.cli import output
from graphroute.errors import BackendError, GraphRouteError, UsageError
from graphroute.strict_yaml import suggest

INTERRUPTED = 130

COMMANDS: Mapping[str, tuple[str, str]] = {
    "ask": ("graphroute.cli.ask:ask", "Answer a question, or print the prompt for it."),
    "check": ("graphroute.cli.check:check", "Check a routes file and an ontology."),
    "doctor": ("graphroute.cli.doctor:doctor", "Examine files, stores, servers, models and versions."),
    "eval": ("graphroute.cli.eval:evaluate_systems", "Measure compared systems over a question file."),
    "explain": ("graphroute.cli.explain:explain", "Show what was found, tried, decided and left out."),
    "formats": ("graphroute.cli.formats:formats", "List, show and measure formats of evidence text."),
    "ingest": ("graphroute.cli.ingest:ingest_directory", "Read a dataset directory into a store."),
    "init": ("graphroute.cli.init:init", "Write an ontology and a mapping for a graph that is there already."),
    "migrate": ("graphroute.cli.migrate:migrate", "Bring the schema of a Neo4j database up to date."),
    "ontology": ("graphroute.cli.ontology:ontology", "Infer and write out an ontology."),
    "replicate": ("graphroute.cli.replicate:replicate", "Copy a store to the servers that a routes file names."),
    "stats": ("graphroute.cli.stats:stats", "Show what a reader may see of a store, in counts."),
}
"""Each command, where it is implemented and what it does."""


class Commands(click.Group):
    """A group whose commands are imported when named, and whose errors follow the exit codes of the project.

    0 answered, 2 usage, 3 configuration, 4 data, 5 backend, 6 reader, 130 interrupted.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As usual, with the nearest name for an unknown one."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise UsageError(f"unknown command {args[0]!r}", hint=suggest(args[0], COMMANDS))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Runs a command. In standalone mode every error ends the process with its exit code."""
        output.prepare_streams()
        if not standalone_mode:
            return super().main(args, prog_name or "graphroute", complete_var, standalone_mode=False, **extra)
        given = list(sys.argv[1:] if args is None else args)
        options = given[: given.index("--")] if "--" in given else given
        debug, as_json = "--debug" in options, "--json" in options
        try:
            code = super().main(given, prog_name or "graphroute", complete_var, standalone_mode=False, **extra)
            output.flush()
        except output.ClosedPipeError:
            # The reader of the pipe has seen enough. The interpreter must not flush into it again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except (click.Abort, KeyboardInterrupt):
            output.note("interrupted")
            sys.exit(INTERRUPTED)
        except Exception as problem:
            if debug and not isinstance(problem, click.ClickException):
                raise
            known = _known(problem)
            output.error(known, as_json=as_json)
            sys.exit(known.exit_code)
        sys.exit(code if isinstance(code, int) else 0)


def _known(problem: Exception) -> GraphRouteError:
    """The problem as an error of ours."""
    if isinstance(problem, GraphRouteError):
        return problem
    if isinstance(problem, click.ClickException):
        return UsageError(problem.format_message().rstrip("."), hint="see --help")
    if isinstance(problem, OSError):
        return BackendError(problem.strerror or type(problem).__name__, where=str(problem.filename or "system"))
    # The message of an unforeseen exception may hold data or secrets, so only its kind is shown.
    return GraphRouteError(f"unexpected {type(problem).__name__}", hint="run again with --debug and report it")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="graphroute")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def main() -> None:
    """Route questions to the cheapest retrieval that can prove the answer."""
