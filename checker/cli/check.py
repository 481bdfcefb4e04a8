"""`checker check SPEC`: explore one instance, print the verdict."""

from __future__ import annotations

from pathlib import Path

import click

from checker import flow
from checker.cli.interrupts import interruptible
from checker.cli.objects import print_object
from checker.cli.options import (
    A_FOLDER,
    EngineChoice,
    Seconds,
    engine_options,
    make_folder,
    model_options,
    output_options,
    overrides,
    size,
    vacuity_option,
)
from checker.cli.progress import Style, observing
from checker.errors import told
from checker.report.headline import plural
from checker.report.result import Result
from checker.report.summary import summary
from checker.search.limits import Limits
from checker.search.options import CHECKPOINT_SECONDS, Compact
from checker.verdict import exits
from checker.verdict.vacuity import Vacuity
from checker.visible import visible


@click.command()
@click.argument("spec")
@model_options
@engine_options
@click.option("--property", "properties", multiple=True, metavar="NAME", help="Check only these.")
@click.option("--keep-going", is_flag=True, help="Do not stop at the first violation.")
@click.option("--limit-states", type=click.IntRange(1), metavar="N", help="Stop at N states.")
@click.option("--limit-depth", type=click.IntRange(0), metavar="N", help="Expand no state at N.")
@click.option("--limit-seconds", type=Seconds(), metavar="S", help="Stop after S seconds.")
@click.option("--memory", type=size, metavar="BYTES", help="Memory of the search: 4g, 512m.")
@vacuity_option
@click.option(
    "--traces",
    "others",
    type=click.IntRange(0),
    default=None,
    metavar="N",
    help="Show also N other shortest runs to each violation, the calmest first. By default "
    "reports have the calmest, where it is soon found.",
)
@click.option("--profile", is_flag=True, help="Measure where time and states go.")
@click.option(
    "--report",
    "directory",
    type=A_FOLDER,
    metavar="DIR",
    help="Write an HTML page, Markdown, JSON and ITF traces.",
)
@output_options
def check(
    spec: str,
    instance: str | None,
    settings: tuple[str, ...],
    engine: str,
    workers: int | None,
    symmetry: str | None,
    checkpoint: str | None,
    checkpoint_seconds: float | None,
    resume: str | None,
    compact: Compact | None,
    master: str | None,
    conf: tuple[str, ...],
    properties: tuple[str, ...],
    keep_going: bool,
    limit_states: int | None,
    limit_depth: int | None,
    limit_seconds: float | None,
    memory: int | None,
    others: int | None,
    profile: bool,
    vacuity: Vacuity,
    directory: Path | None,
    form: str,
    progress: Style,
) -> int:
    """Check SPEC: a file, a folder, or the name of a shipped specification.

    Explores every reachable state of one instance and prints the verdict, counterexamples and
    coverage. The exit code says the verdict: 0 holds, 12 a safety property is violated, 11
    deadlock, 13 a liveness property is violated, 16 a `sometimes` is never reached, 20 bounded or
    inconclusive, 75 evaluation error, 120 the specification is wrong.
    """
    choice = EngineChoice(
        engine=engine,
        workers=workers,
        checkpoint=checkpoint,
        checkpoint_seconds=checkpoint_seconds,
        resume=resume,
        master=master,
        conf=conf,
        memory=memory,
        profile=profile,
        others=others or 0,
        compact=compact,
    )
    choice.refuse()
    if directory is not None:
        make_folder(directory)
    request = flow.Request(
        spec=spec,
        instance=instance or "default",
        overrides=overrides(settings),
        engine=engine,
        workers=workers,
        properties=properties or None,
        symmetry=None if symmetry is None else symmetry == "on",
        limits=Limits(limit_states, limit_depth, limit_seconds, memory, keep_going),
        checkpoint=choice.directory(checkpoint),
        resume=choice.directory(resume),
        checkpoint_seconds=CHECKPOINT_SECONDS if checkpoint_seconds is None else checkpoint_seconds,
        profile=profile,
        compact=compact or "auto",
        vacuity=vacuity,
        others=others,
        report=directory,
        cluster=choice.cluster(),
    )
    with observing(progress) as observer, interruptible(engine) as interrupt:
        result = flow.check(request, observer, interrupt)
    print_result(result, form, properties, profile=profile)
    tell_report(result, directory)
    kept = result.exploration.checkpoint
    if kept is not None and not result.exploration.exhaustive:
        click.echo(
            f"checkpoint of {plural(kept.distinct, 'state')}, {plural(kept.expanded, 'level')} "
            f"expanded; go on with --resume {kept.directory}",
            err=True,
        )
    return result.verdict.exit_code if result.report.error is None else exits.USAGE


def tell_report(result: Result, directory: Path | None) -> None:
    """Say on stderr where the report of a result is, or why there is none."""
    if result.report.error is not None:
        why = visible(told(result.report.error))
        click.echo(f"error: the report could not be written: {why}", err=True)
    elif directory is not None:
        from checker.report import files  # noqa: PLC0415 (what writes pages, where they are wanted)

        click.echo(f"report written to {directory / files.HTML} and {files.PAGE}", err=True)


def print_result(
    result: Result,
    form: str,
    witnesses: tuple[str, ...],
    *,
    profile: bool,
) -> None:
    """Print a result on stdout, as text or as one JSON object."""
    if form == "json":
        print_object(summary(result, result.report.traces))
        return
    from checker.report import terminal  # noqa: PLC0415 (rich only where it is used)
    from checker.report.profile import print_profile  # noqa: PLC0415 (as the next)

    out = terminal.console()
    terminal.print_result(out, result, witnesses)
    if profile:
        out.print()
        print_profile(out, result.exploration)
