"""`checker query SPEC PREDICATE --graph PATH`: can a state be reached, and how."""

from __future__ import annotations

from pathlib import Path

import click

from checker import flow
from checker.cli.interrupts import interruptible
from checker.cli.objects import print_object
from checker.cli.options import (
    EngineChoice,
    model_options,
    output_options,
    overrides,
    spark_options,
)
from checker.cli.progress import Style, observing
from checker.errors import UsageError
from checker.report import terminal
from checker.report.headline import plural, up_to_renaming
from checker.report.summary import failure_object
from checker.search.options import Options
from checker.spark.tables import Counted, query_graph
from checker.trace.itf import states
from checker.trace.rebuild import rebuild
from checker.trace.trace import Trace
from checker.verdict import exits


@click.command()
@click.argument("spec")
@click.argument("predicate")
@model_options
@click.option("--graph", "root", required=True, metavar="PATH", help="What `graph` wrote.")
@click.option(
    "--symmetry", type=click.Choice(["on", "off"]), default=None, help="As `graph` had it."
)
@spark_options
@output_options
def query(
    spec: str,
    predicate: str,
    instance: str | None,
    settings: tuple[str, ...],
    root: str,
    symmetry: str | None,
    engine: str,
    workers: int | None,
    master: str | None,
    conf: tuple[str, ...],
    form: str,
    progress: Style,
) -> int:
    """Ask the graph of SPEC whether a state satisfies PREDICATE, an expression of the language.

    Prints how many do, and a shortest run to one. Exit code 0: there is one; 16: there is none;
    75: none is known, for in some states PREDICATE has no value.
    """
    choice = EngineChoice(engine, workers, None, None, None, master, conf)
    choice.refuse()
    if (Path(root) / "states").is_dir() and not (Path(root) / "search").is_dir():
        raise UsageError(
            f"{root} holds tables, not the search they are made of; write it with "
            "`checker graph --engine spark`, or ask with a `sometimes` property and `checker check`"
        )
    request = flow.Request(
        spec,
        instance or "default",
        overrides(settings),
        symmetry=None if symmetry is None else symmetry == "on",
    )
    with observing(progress) as observer, interruptible(engine) as interrupt:
        machine, asked = flow.question(request, predicate, observer)
        options = Options(notice=observer.notice)
        found = query_graph(machine, asked, root, choice.cluster(), interrupt, options)
    trace = None if found.finding is None else rebuild(asked, found.finding)
    if form == "json":
        print_object(_object(found, trace))
    else:
        failing = f"; in {found.failing:,} it has no value" * bool(found.failing)
        states = f"{plural(found.states, 'state')}{up_to_renaming(asked)}"
        click.echo(f"{found.matching:,} of {states}{failing}")
        if trace is not None:
            terminal.print_trace(terminal.console(), trace)
    if found.matching:
        return exits.HOLDS
    return exits.EVALUATION if found.failing else exits.UNWITNESSED


def _object(found: Counted, trace: Trace | None) -> dict[str, object]:
    """Return the answer with its run, as the states of an ITF trace."""
    return {
        "matching": found.matching,
        "without_value": found.failing,
        "states": found.states,
        "length": None if trace is None else trace.length,
        "run": None if trace is None else states(trace),
        "error": None if trace is None else failure_object((trace,)),
    }
