"""`checker hunt SPEC`: guided searches of bounded size, for what is too large to search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

import click

from checker import flow, hunting, library
from checker.cli.check import print_result, tell_report
from checker.cli.options import A_FOLDER, Seconds, model_options, output_options, overrides
from checker.cli.progress import Style, observing
from checker.cli.spreading import Where, spreading
from checker.search.explore import cores
from checker.trace.shorten import SECONDS
from checker.verdict import exits


@click.command()
@click.argument("spec")
@model_options
@click.option("--property", "properties", multiple=True, metavar="NAME", help="Check only these.")
@click.option("--hunts", type=click.IntRange(1), default=100, show_default=True, metavar="N")
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=300_000,
    show_default=True,
    metavar="N",
    help="Steps of each hunt.",
)
@click.option(
    "--depth",
    type=click.IntRange(1, 10_000_000),
    default=1000,
    show_default=True,
    metavar="N",
    help="How far a hunt may go from the beginning.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@spreading(
    "What makes hunts: threads of this process, or Spark.",
    "Threads, or cores of a local Spark; by default one a core.",
)
@click.option("--limit-seconds", type=Seconds(), metavar="S", help="Stop after S seconds.")
@click.option(
    "--shorten-seconds",
    type=Seconds(),
    default=SECONDS,
    show_default=True,
    metavar="S",
    help="How long to leave out steps of what was found.",
)
@click.option(
    "--report",
    type=A_FOLDER,
    metavar="DIR",
    help="Write a page, Markdown, and the counterexample as ITF JSON.",
)
@output_options
def hunt(
    spec: str,
    instance: str | None,
    settings: tuple[str, ...],
    properties: tuple[str, ...],
    hunts: int,
    steps: int,
    depth: int,
    seed: int,
    engine: str,
    workers: int | None,
    master: str | None,
    conf: tuple[str, ...],
    limit_seconds: float | None,
    shorten_seconds: float,
    report: Path | None,
    form: str,
    progress: Style,
) -> int:
    """Look for what is wrong where SPEC is too large to search.

    Many short searches, each guided in another way by what is rare and by how near properties are
    to being broken. What one finds is shortened and shown as `checker check` shows it. The same
    seed finds the same. Name a --property to look for that one first of all. Exit code 20: nothing
    was found, which does not show that it holds.
    """
    given = overrides(settings)
    request = flow.Request(
        spec, instance or "default", given, workers=workers, properties=properties or None
    )
    asked = hunting.Asked(hunts, steps, depth, seed, limit_seconds)
    where = Where(engine, workers, master, conf)
    where.refuse()
    with observing(progress) as observer, where.interruptible() as interrupt:
        document, machine = flow.prepare(request, observer)
        hunting.refuse(machine)
        hunted, parallel = _made(request, asked, where, observer, interrupt)
        observer.stage("shorten")
        result = hunting.result(
            request,
            document,
            machine,
            asked,
            hunted,
            parallel,
            interrupted=interrupt.is_set(),
            seconds_to_shorten=shorten_seconds,
        )
        if report is not None:
            from checker.report import files  # noqa: PLC0415 (what writes pages)

            result = files.written(result, report)
    print_result(result, form, properties, profile=False)
    if form == "text":
        click.echo(f"again: {result.origin.command}")
    tell_report(result, report)
    return result.verdict.exit_code if result.report.error is None else exits.USAGE


def _made(
    request: flow.Request,
    asked: hunting.Asked,
    where: Where,
    observer: flow.Observer,
    interrupt: Event,
) -> tuple[hunting.Hunted, int]:
    """Return what the hunts found together, and how many were made at a time."""
    if where.engine == "local":
        observer.stage("build")
        kernel = hunting.compiled(request, interrupt)
        observer.stage("hunt")
        items = hunting.plan(request, asked)
        parallel = min(where.workers or cores(), len(items))
        each = hunting.on_threads(items, parallel, interrupt)
        try:
            return hunting.together(items, each, interrupt, observer.notice), parallel
        finally:
            kernel.stop()
    spec = str(library.place_of(library.find(request.spec)))
    items = hunting.plan(replace(request, spec=spec, workers=None), asked)
    with where.spread(len(items), observer.notice) as spread:
        observer.stage("hunt")
        each = spread.each(hunting.make, items)
        return hunting.together(items, each, interrupt, observer.notice), spread.parallel
