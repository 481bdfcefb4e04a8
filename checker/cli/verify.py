"""`checker verify [SPEC ...]`: every instance against its declared expectation; the gate of CI."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from checker import library
from checker.cli.gate import NOT_RUN, Outcome, Task, declared, tasks_of, verify_all
from checker.cli.options import output_options
from checker.cli.progress import Style, observing
from checker.diagnostics import render_all
from checker.errors import SpecificationError, UsageError
from checker.report import dashboard, junit, terminal
from checker.report.dashboard import Line
from checker.report.headline import plural
from checker.search.explore import cores
from checker.table import read
from checker.verdict import exits


@click.command()
@click.argument("specs", metavar="[SPEC]...", nargs=-1)
@click.option("--all", "every_tier", is_flag=True, help="Also instances of tier full.")
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", help="Processes; by default one a core."
)
@click.option(
    "--junit",
    "junit_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write JUnit XML.",
)
@click.option(
    "--report",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the dashboard, and a report of each violation.",
)
@click.option(
    "--check", "checking", is_flag=True, help="With --report: compare with DIR, write nothing."
)
@output_options
def verify(
    specs: tuple[str, ...],
    every_tier: bool,
    workers: int | None,
    junit_file: Path | None,
    directory: Path | None,
    checking: bool,
    form: str,
    progress: Style,
) -> int:
    """Verify the instances of each SPEC, by default of all that are shipped.

    An instance that declares no expectation must hold. Exit code 1: one is not as declared, or
    the committed reports are out of date (--check).
    """
    if checking and directory is None:
        raise UsageError("--check compares with the directory of --report; name it")
    with observing(progress):  # tells what makes runs slow
        known, broken = _tasks(specs)
    tasks = [task for task in known if every_tier or task.tier == "quick"]
    outcomes, interrupted = _run(tasks, workers or cores(), progress)
    outcomes = broken + outcomes
    if junit_file is not None:
        junit.write(map(_case, outcomes), junit_file)
    _print(outcomes, len(tasks) + len(broken), form)
    codes = {outcome.exit_code for outcome in outcomes}
    if interrupted:
        return exits.INTERRUPTED
    if directory is not None:
        skipped = [declared(task) for task in known if task not in tasks]
        stale = _report([*outcomes, *skipped], known, directory, checking=checking)
        codes |= {exits.DIFFERENCE} if stale else set()
    order = (exits.INTERNAL, exits.SPECIFICATION, exits.USAGE, exits.DIFFERENCE)
    return next((code for code in order if code in codes), exits.HOLDS)


def _tasks(specs: tuple[str, ...]) -> tuple[list[Task], list[Outcome]]:
    """Return every instance, and an outcome for each specification that cannot be read."""
    paths = [library.find(spec) for spec in specs] or [
        entry.path for entry in library.shipped() if entry.kind != "table"
    ]
    tasks: list[Task] = []
    broken: list[Outcome] = []
    for path in paths:
        try:
            tasks += tasks_of(read(path))
        except SpecificationError as error:
            task = Task(str(path), path.stem, "(specification)", "quick")
            text = render_all(error.diagnostics)
            broken.append(Outcome(task, "", "error", error=text, exit_code=exits.SPECIFICATION))
    return tasks, broken


def _run(tasks: list[Task], processes: int, progress: Style) -> tuple[list[Outcome], bool]:
    """Verify `tasks`; return the outcomes in their order, and whether Ctrl-C ended it before."""
    found: dict[Task, Outcome] = {}
    interrupted = False
    try:
        for outcome in verify_all(tasks, processes):
            found[outcome.task] = outcome
            _tell(outcome, progress)
    except KeyboardInterrupt:
        interrupted = True
    return [found[task] for task in tasks if task in found], interrupted


def _tell(outcome: Outcome, progress: Style) -> None:
    """Print a finished instance on stderr."""
    if progress == "none":
        return
    task = outcome.task
    state = "ok" if outcome.exit_code == exits.HOLDS else "DIFFERENT"
    if progress == "json":
        event = {"version": 1, "stage": "verify", "system": task.system, "instance": task.instance}
        print(json.dumps({**event, "result": state}), file=sys.stderr, flush=True)  # noqa: T201
    else:
        text = f"{state:<9} {task.system} {task.instance}: {outcome.verdict}"
        print(text, file=sys.stderr, flush=True)  # noqa: T201


def _case(outcome: Outcome) -> junit.Case:
    details = "\n\n".join(part for part in (outcome.failure, outcome.details) if part)
    return junit.Case(
        outcome.task.system,
        outcome.task.instance,
        outcome.seconds,
        f"expected {outcome.expected}; {outcome.verdict}" if outcome.error is None else "",
        details or None,
        outcome.error,
    )


def _print(outcomes: list[Outcome], wanted: int, form: str) -> None:
    """Print what `outcomes` are; fewer than `wanted` if the run was interrupted."""
    if form == "json":
        click.echo(json.dumps({"instances": [_object(item) for item in outcomes]}))
        return
    out = terminal.console()
    terminal.print_outcomes(out, [_line(outcome) for outcome in outcomes])
    for outcome in outcomes:
        for text in (outcome.failure, outcome.details, outcome.error):
            if text:
                click.echo(f"\n{outcome.task.system} {outcome.task.instance}\n{text.rstrip()}")
    bad = sum(outcome.exit_code != exits.HOLDS for outcome in outcomes)
    parts = [plural(wanted, "instance"), f"{bad} not as declared" if bad else "all as declared"]
    if len(outcomes) < wanted:
        missing = wanted - len(outcomes)
        parts = [parts[0], f"{bad} not as declared", f"{missing} not run (interrupted)"]
    click.echo("\n" + ", ".join(parts))


def _object(outcome: Outcome) -> dict[str, object]:
    task = outcome.task
    return {
        "system": task.system,
        "instance": task.instance,
        "tier": task.tier,
        "expected": outcome.expected,
        "verdict": outcome.verdict,
        "met": outcome.exit_code == exits.HOLDS,
        "distinct": outcome.distinct,
        "depth": outcome.depth,
        "seconds": round(outcome.seconds, 6),
        "failure": outcome.failure,
        "error": outcome.error,
    }


def _line(outcome: Outcome) -> Line:
    task = outcome.task
    return Line(
        task.system,
        task.instance,
        task.tier,
        outcome.expected,
        outcome.verdict,
        outcome.distinct,
        outcome.depth,
        met=None if outcome.verdict == NOT_RUN else outcome.exit_code == exits.HOLDS,
        report=outcome.report,
    )


def _report(
    outcomes: list[Outcome], order: list[Task], directory: Path, *, checking: bool
) -> list[str]:
    """Write the reports, or return which of those in `directory` are out of date."""
    place = {task: index for index, task in enumerate(order)}
    lines = [_line(item) for item in sorted(outcomes, key=lambda item: place.get(item.task, -1))]
    wanted = dashboard.pages(lines)
    if not checking:
        dashboard.write(wanted, directory)
        click.echo(f"{len(wanted)} files written to {directory}", err=True)
        return []
    stale = dashboard.stale(wanted, directory)
    for name in stale:
        click.echo(f"out of date: {directory / name}", err=True)
    if stale:
        click.echo(f"write them again: checker verify --report {directory}", err=True)
    return stale
