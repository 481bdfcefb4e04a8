"""`checker conform SPEC`: the model's transitions on a real implementation, through an adapter."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from checker import __version__, library
from checker.cli.configuration import SpokenOption
from checker.cli.mapped import bound_again, mapped, mapped_options, once_more
from checker.cli.objects import print_object
from checker.cli.options import Seconds
from checker.cli.progress import Style, observing
from checker.cli.spreading import Where, spreading
from checker.conformance import told
from checker.conformance.adapter import Adapter
from checker.conformance.course import Course, Cover, Options
from checker.conformance.drive import drive
from checker.conformance.mapping import Mapping
from checker.conformance.result import Conformance, as_object, conformance_of
from checker.conformance.space import Space
from checker.conformance.spread import Asked, makes_on
from checker.conformance.walks import WALKS, Make
from checker.errors import UsageError
from checker.links import real
from checker.report import terminal
from checker.report.files import encoded, put
from checker.verdict import exits

EXITS = {"agrees": exits.HOLDS, "differs": exits.DIFFERENCE, "undecided": exits.INCONCLUSIVE}
DEFAULT = Options()


@click.command()
@click.argument("spec")
@click.option(
    "--adapter",
    "command",
    cls=SpokenOption,
    required=True,
    metavar="COMMAND",
    help="The program that speaks for the implementation; started without a shell.",
)
@click.option(
    "--cover",
    type=click.Choice(["auto", "transitions", "rows"]),
    default="auto",
    show_default=True,
    help="Every transition, or every row in every control state; auto: as the size allows.",
)
@click.option(
    "--limit-states",
    type=click.IntRange(1),
    default=DEFAULT.states,
    show_default=True,
    metavar="N",
    help="States beyond which --cover auto walks at random.",
)
@click.option("--limit-steps", type=click.IntRange(1), metavar="N", help="Stop after N steps.")
@click.option("--limit-seconds", type=Seconds(), metavar="S", help="Stop after S.")
@click.option(
    "--depth",
    type=click.IntRange(1),
    default=DEFAULT.depth,
    show_default=True,
    metavar="STEPS",
    help="Steps of a random walk.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option(
    "--reply-seconds",
    type=Seconds(some=True),
    default=30.0,
    show_default=True,
    metavar="S",
    help="How long the adapter may take for one reply.",
)
@click.option(
    "--start-seconds",
    type=Seconds(some=True),
    default=120.0,
    show_default=True,
    metavar="S",
    help="How long it may take for the first one.",
)
@spreading(
    "What makes random walks: one adapter here, or one on each core of a Spark.",
    "Cores of a local Spark.",
)
@mapped_options
def conform(
    spec: str,
    given: Path | None,
    command: str,
    instance: str | None,
    settings: tuple[str, ...],
    cover: Cover,
    limit_states: int,
    limit_steps: int | None,
    limit_seconds: float | None,
    depth: int,
    seed: int,
    reply_seconds: float,
    start_seconds: float,
    engine: str,
    workers: int | None,
    master: str | None,
    conf: tuple[str, ...],
    junit_file: Path | None,
    page_file: Path | None,
    form: str,
    progress: Style,
) -> int:
    """Drive an implementation along the transitions of SPEC, and compare.

    Exit code 0: it does as the model says, but for differences that the mapping declares; 1: it
    does not; 20: nothing differs, but not everything was tried.
    """
    where = Where(engine, workers, master, conf)
    where.refuse()
    spreads = engine == "spark"
    if spreads and limit_steps is not None:
        raise UsageError("--limit-steps: sessions that run at once do not count their steps as one")
    if workers is not None and not spreads:
        raise UsageError("--workers: one adapter makes all walks here; add --engine spark")
    with observing(progress) as observer, where.interruptible() as interrupt:
        found = mapped(spec, given, instance, settings, observer)
        observer.stage("build")
        space = Space(found.bound)
        observer.stage("drive")
        options = Options(cover, limit_states, depth, seed, limit_steps, limit_seconds)
        asked = Asked(
            bound_again,
            str(library.place_of(library.find(spec))),
            None if given is None else str(real(given)),
            instance,
            settings,
            command,
            reply_seconds,
            start_seconds,
            options,
        )

        with ExitStack() as stack:

            def elsewhere(course: Course) -> Make:
                spread = stack.enter_context(where.spread(WALKS, observer.notice))
                return makes_on(spread, asked, course)

            adapter = stack.enter_context(Adapter(command, reply_seconds, start_seconds, interrupt))
            run = drive(
                space,
                adapter,
                options,
                interrupt,
                observer.notice,
                elsewhere if spreads else None,
            )
            result = conformance_of(space, run, found.name, command, adapter.name, adapter.version)
    again = once_more(
        ("conform", result.spec),
        result.instance,
        settings,
        given,
        (
            ("--cover", options.cover, DEFAULT.cover),
            ("--limit-states", options.states, DEFAULT.states),
            ("--depth", options.depth, DEFAULT.depth),
            ("--seed", options.seed, DEFAULT.seed),
            ("--limit-steps", options.steps, DEFAULT.steps),
            ("--limit-seconds", options.seconds, DEFAULT.seconds),
            ("--adapter", result.command, None),
        ),
    )
    _write(result, found.mapping, again, form, junit_file, page_file)
    if interrupt.is_set() and result.verdict == "undecided":
        return exits.INTERRUPTED
    return EXITS[result.verdict]


def _write(
    result: Conformance,
    mapping: Mapping,
    again: str,
    form: str,
    junit_file: Path | None,
    page_file: Path | None,
) -> None:
    if form == "json":
        print_object(as_object(result, __version__))
    else:
        told.print_result(terminal.console(), result)
    # Last: what cannot be written must not cost what was found.
    if junit_file is not None:
        told.write_junit(result, junit_file)
    if page_file is not None:
        put(page_file, encoded(told.page(result, mapping.about, again)))
