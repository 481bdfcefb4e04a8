"""`checker step SPEC`: walk through a specification in the terminal, one step at a time."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import click

from checker import flow
from checker.cli.interrupts import Ending
from checker.cli.options import model_options, overrides, trace_option
from checker.diagnostics import in_a_line
from checker.digits import natural
from checker.errors import CheckerError, SpecificationError, UsageError, told
from checker.report import terminal
from checker.report.files import encoded, put
from checker.report.headline import plural
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successor import State, Successor
from checker.semantics.successors import as_mapping
from checker.semantics.values import format_value
from checker.table import Document
from checker.trace import itf
from checker.trace.asked import term_of, value_in
from checker.trace.recorded import read_recorded
from checker.trace.trace import Trace
from checker.trace.walking import Walk, choice_name, marks
from checker.verdict import exits
from checker.visible import visible

HELP = """\
NUMBER, NAME    take that step; a name, or the beginning of one, that only one step has and
                that no command begins
back [N]        undo N steps, by default one
random [N]      take N steps by chance, by default one
state [NAME]    show the state, or the variables whose names begin so
eval EXPR       show the value of an expression
properties      show which properties of states are true here
path            show the steps so far
restart         go back to the initial state
save FILE       write the steps as a trace (ITF JSON), for `checker trace`
help, quit\
"""
ENDS = ("quit", "exit")
"""Commands that end the walk."""
WORDS = (
    *(line.split()[0].strip(",") for line in HELP.splitlines() if line[:1].islower()),
    *ENDS,
)
"""All commands: a step whose name begins with one of them has its number only."""


@click.command()
@click.argument("spec")
@model_options
@trace_option
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of `random`.")
def step(
    spec: str,
    instance: str | None,
    settings: tuple[str, ...],
    file: Path | None,
    seed: int,
) -> int:
    """Walk through SPEC: the steps that can be taken now are listed, choose one.

    At the prompt, `help` lists the other commands; on a terminal the tabulator completes steps,
    variables and commands. Without a terminal the commands are read from standard input, one a
    line.
    """
    request = flow.Request(spec, instance or "default", overrides(settings))
    document, machine = flow.prepare(request, flow.Silent())
    walk = Walk(machine)
    if file is not None:
        walk.follow(read_recorded(file))
    session = _Session(document, request, walk, random.Random(seed))  # noqa: S311 - a walk
    session.run()
    return exits.HOLDS


class _Session:
    """Reads commands and obeys them."""

    def __init__(
        self, document: Document, request: flow.Request, walk: Walk, chance: random.Random
    ) -> None:
        self.document = document
        self.request = request
        self.walk = walk
        self.machine = walk.machine
        self.chance = chance
        self.out = terminal.console()
        self.commands: dict[str, Callable[[str], None]] = {
            "back": lambda words: self.walk.back(_count(words)),
            "random": self.random,
            "state": self.state,
            "eval": self.eval,
            "properties": lambda _words: self.properties(),
            "path": lambda _words: self.print_path(),
            "restart": lambda _words: self.walk.restart(),
            "save": self.save,
            "help": lambda _words: click.echo(HELP),
        }

    def run(self) -> None:
        """Obey commands until there are no more, or one says to quit."""
        self.print_path()
        self.print_choices()
        for line in self.lines():
            word, _, rest = line.strip().partition(" ")
            if word in ENDS:
                return
            if word:
                self.obey(word, rest.strip(), line.strip())

    def lines(self) -> Iterator[str]:
        """Yield what is typed, or piped in."""
        if not sys.stdin.isatty():
            yield from sys.stdin
            return
        _complete_with(self.completions)
        while True:
            try:
                yield input("step> ")
            except EOFError:
                click.echo()
                return
            except Ending:
                raise
            except KeyboardInterrupt:
                click.echo("  (quit, or Ctrl-D, ends)")

    def obey(self, word: str, rest: str, line: str) -> None:
        """Obey one command; what is wrong with it is said, and nothing else happens."""
        before = len(self.walk.path)
        try:
            if word in self.commands:
                self.commands[word](rest)
            else:
                self.choose(line)
        except SpecificationError as error:
            for item in error.diagnostics:
                click.echo(in_a_line(item), err=True)
        except (CheckerError, OSError) as error:
            click.echo(visible(told(error)), err=True)
        except KeyboardInterrupt as error:
            if isinstance(error, Ending) or not sys.stdin.isatty():
                raise
            click.echo("interrupted; the walk goes on from here", err=True)
            self.walk.look()  # as far as it came, whatever was not done to the end
        if len(self.walk.path) != before or word in {"back", "restart"}:
            self.print_choices()

    def choose(self, text: str) -> None:
        """Take the step of this number or name."""
        choices = self.walk.choices
        names = [choice_name(choice, len(self.walk.path)) for choice in choices]
        number = natural(text)
        if number is not None:
            if not 1 <= number <= len(choices):
                raise UsageError(f"there is no step {text}; there are {len(choices)}")
            self.take(choices[number - 1])
            return
        places = [place for place, name in enumerate(names) if name == text]
        places = places or [place for place, name in enumerate(names) if name.startswith(text)]
        if len(places) != 1:
            several = "several steps begin so" if places else "no step is called so"
            raise UsageError(f"{text!r}: {several}; `help` lists the commands")
        self.take(choices[places[0]])

    def take(self, choice: Successor) -> None:
        terminal.print_step(self.out, self.walk.take(choice))

    def random(self, words: str) -> None:
        """Take steps by chance."""
        for _ in range(_count(words)):
            possible = [item for item in self.walk.choices if item.state is not None]
            if not possible:
                raise UsageError("no step can be taken")
            self.take(self.chance.choice(possible))

    def state(self, prefix: str) -> None:
        """Print the state."""
        for variable, value in zip(self.machine.variables, self.here(), strict=True):
            if variable.name.startswith(prefix):
                click.echo(f"  {variable.name} = {format_value(value)}")

    def here(self) -> State:
        if self.walk.here is None:
            raise UsageError("choose an initial state first")
        return self.walk.here

    def eval(self, text: str) -> None:
        """Print the value of an expression here."""
        if not text:
            raise UsageError("eval takes an expression")
        request = self.request
        term = term_of(self.document, request.instance, request.overrides, text)
        click.echo(f"  {value_in(self.machine, term, self.here())[0]}")

    def properties(self) -> None:
        """Print what the properties of single states are here."""
        state = Context(as_mapping(self.machine, self.here()), {})
        for item in self.machine.properties:
            if item.kind in {"always", "sometimes"}:
                value = "no value"
                with suppress(CheckerError):
                    value = "true" if evaluate(item.condition, state) else "false"
                click.echo(f"  {item.name} ({item.kind}): {value}")

    def print_path(self) -> None:
        """Print the steps so far."""
        for taken in self.walk.path:
            terminal.print_step(self.out, taken.step)

    def print_choices(self) -> None:
        """List the steps that can be taken now."""
        number = len(self.walk.path)
        if not self.walk.choices:
            click.echo("no step can be taken here")
        odd_ones = marks(self.machine, self.walk.here, self.walk.choices)
        for place, choice in enumerate(self.walk.choices, start=1):
            name = choice_name(choice, number)
            odd = "".join(f"   [{mark}]" for mark, _ in odd_ones[place - 1])
            if _is_command(name):
                odd += f"   [by its number: {name.partition(' ')[0]} is a command]"
            click.echo(f"{place:>6}) {name}{odd}")

    def save(self, name: str) -> None:
        """Write the steps so far as a trace."""
        if not name or "\0" in name:
            raise UsageError("save takes the name of a file")
        self.here()
        steps = tuple(taken.step for taken in self.walk.path)
        trace = Trace(self.machine, "", "sometimes", "", steps, (), None, ())
        origin = flow.provenance(self.request, self.document).by("step")
        put(Path(name), encoded(itf.dump(trace, origin)))
        click.echo(f"{plural(len(steps) - 1, 'step')} written to {name}")

    def completions(self, text: str) -> list[str]:
        """Return what a line can become: a command, a step, or one with a variable at its end."""
        word, blank, rest = text.partition(" ")
        if blank and word in {"state", "eval"}:
            begun = re.search(r"[\w.]*$", rest)
            kept = text[: len(text) - len(begun[0])] if begun else text
            known = [kept + variable.name for variable in self.machine.variables]
        else:
            names = [choice_name(choice, len(self.walk.path)) for choice in self.walk.choices]
            known = [*(name for name in names if not _is_command(name)), *WORDS]
        return [name for name in dict.fromkeys(known) if name.startswith(text)]


def _is_command(name: str) -> bool:
    """Whether a step is called like a command, which is what its name means then."""
    return name.partition(" ")[0] in WORDS


def _count(words: str) -> int:
    count = natural(words or "1")
    if count is None:
        raise UsageError(f"{words[:40]!r} is no number of at most 18 digits")
    return count


def _complete_with(completions: Callable[[str], list[str]]) -> None:
    """Let the tabulator complete, where Python has readline."""
    try:
        import readline  # noqa: PLC0415 (not on every system)
    except ImportError:
        return

    def complete(text: str, place: int) -> str | None:
        found = completions(text)
        return found[place] if place < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims("")  # names of steps have blanks in them
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
