"""The command `checker`: which commands there are, and what becomes of every error.

Commands are imported when they run, so that `checker --help` and shell completion answer at once.
"""

from __future__ import annotations

import os
import platform
import sys
import traceback
from difflib import get_close_matches
from importlib import import_module
from itertools import pairwise

import click
from click.shell_completion import CompletionItem

from checker import __version__
from checker.cli.completing import complete
from checker.cli.configuration import place_of, take_defaults
from checker.cli.interrupts import end_like_interrupts, ignore_interrupts
from checker.cli.streams import failure, open_streams
from checker.errors import (
    CheckerError,
    EvaluationError,
    InternalError,
    Interruption,
    SpecificationError,
    UsageError,
    told,
)
from checker.process import (
    collect_rarely,
    deep_recursion,
    do_without_threads_of_numpy,
    stack_deeply,
)
from checker.verdict import exits
from checker.visible import visible

COMMANDS = {
    "check": "Check a specification: explore every interleaving, print the verdict.",
    "verify": "Check every instance against its declared expectation; the gate of CI.",
    "show": "Show tables, diagrams, lints, and every stage of compilation.",
    "graph": "Write the state graph as tables: states, edges, statistics.",
    "diff": "Say what a change of a specification does to its behaviour.",
    "export": "Write the model or its state graph for another tool.",
    "query": "Ask a state graph whether a state can be reached, and how.",
    "simulate": "Walk at random, seeded and reproducible.",
    "hunt": "Look for what is wrong where there is too much to search.",
    "sweep": "Search a specification in several sizes, and compare them.",
    "explore": "Walk through a specification in the browser.",
    "step": "Walk through a specification in the terminal.",
    "mutate": "Change a specification in small places, and see which instance notices.",
    "trace": "Print, replay or compare recorded counterexamples.",
    "conform": "Drive an implementation along the model's transitions, and compare.",
    "validate": "Decide whether the model explains a recorded run.",
    "schema": "Print the JSON Schemas of specifications, for editors.",
    "explain": "Explain an error code.",
    "cache": "Show or clear what is kept between runs.",
    "completion": "Print the completion script of a shell.",
}

_NO_THREAD = "can't start new thread"
"""What Python says where the system has no room for a thread's stack, or allows no more."""


class Doors(click.Group):
    """The group of commands, each imported from `checker.cli.<name>` when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help text."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command; None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"checker.cli.{cmd_name}")
        command = getattr(module, cmd_name)
        assert isinstance(command, click.Command)
        if ctx.resilient_parsing:
            complete(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, and what the project's file says of its options."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = get_close_matches(args[0], COMMANDS, n=1)
            if not close:
                raise
            raise click.UsageError(f"{error.message} Did you mean '{close[0]}'?", ctx) from error
        if command is not None and name is not None and not ctx.resilient_parsing:
            take_defaults(ctx, command, COMMANDS)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name without importing any."""
        names = [
            CompletionItem(name, help=text)
            for name, text in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)


@click.group(cls=Doors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="checker %(version)s")
def checker() -> None:
    """Check specifications of coordination protocols written as state tables."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave the process with the contract's exit code."""
    collect_rarely()
    stack_deeply()
    do_without_threads_of_numpy()
    results = open_streams()
    try:
        end_like_interrupts()
        code = run(arguments)
        ignore_interrupts()
    except KeyboardInterrupt:  # the second one, while the first was answered: wait for nobody
        ignore_interrupts()
        failure(results)
        os._exit(exits.INTERRUPTED)
    failed = failure(results)
    if failed is not None:
        click.echo(f"error: the output could not be written: {failed.strerror}", err=True)
        code = exits.INTERNAL
    sys.exit(code)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code; every error is printed on stderr."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        refuse_nothing(words)
        with deep_recursion():
            code = checker.main(words, prog_name="checker", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        place = place_of(error)
        if place is not None:
            click.echo(f"The value stands in {place}.", err=True)
        return exits.USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return exits.INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the last door: nothing may escape as a traceback)
        if not isinstance(error, CheckerError) and _of_interrupt(error):
            click.echo("interrupted", err=True)
            return exits.INTERRUPTED
        return report(error)
    return code if isinstance(code, int) else 0


def _of_interrupt(error: BaseException | None) -> bool:
    """Whether an error came of putting things in order after a signal: of a lock, say."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def refuse_nothing(words: list[str]) -> None:
    """Raise UsageError for an empty word, most often a variable of a script that is not set.

    Taken as a name it would be the default instance, and as a folder the one that one is in.
    """
    for before, word in pairwise(["checker", *words]):
        option, equals, value = word.partition("=")
        if not word.strip() or (equals and option.startswith("--") and not value.strip()):
            place = f"for {option}" if equals else f"after {before}"
            raise UsageError(f"the value {place} is empty; give one, or leave it out")


def report(error: Exception) -> int:
    """Print `error` on stderr for a person and return its exit code."""
    if isinstance(error, SpecificationError):
        from checker.diagnostics import render_all  # noqa: PLC0415 (only where something is wrong)

        click.echo(render_all(error.diagnostics, color=sys.stderr.isatty()), err=True)
        return exits.SPECIFICATION
    if isinstance(error, EvaluationError):
        click.echo(visible(f"error[{error.code}]: {error}\n  at {error.span}"), err=True)
        return exits.EVALUATION
    if isinstance(error, Interruption):
        click.echo(visible(f"interrupted: {error}"), err=True)
        return exits.INTERRUPTED
    if isinstance(error, CheckerError | OSError):
        click.echo(visible(f"error: {told(error)}"), err=True)
        return exits.of_failure(error)
    if isinstance(error, MemoryError) or str(error) == _NO_THREAD:
        click.echo("error: this process may not have the memory it needs; give it more", err=True)
        return exits.INTERNAL
    traceback.print_exception(error, file=sys.stderr)
    kind = "contradicts itself" if isinstance(error, InternalError) else "failed"
    click.echo(
        f"\nThe checker {kind}. This is a bug of the checker, not of the specification: please\n"
        "report it with the lines above, the specification and the command.\n"
        f"checker {__version__}, Python {platform.python_version()}, {platform.platform()}",
        err=True,
    )
    return exits.INTERNAL
