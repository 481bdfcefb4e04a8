"""`checker simulate SPEC`: seeded random walks on the native kernel."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from threading import Event

import click

from checker import __version__, flow, library
from checker.cli.objects import print_object
from checker.cli.options import A_FILE, A_FOLDER, Seconds, model_options, output_options, overrides
from checker.cli.progress import Style, observing
from checker.cli.spreading import Where, spreading_options
from checker.errors import Interruption, UsageError
from checker.kernel import build
from checker.layout import pack
from checker.machine.machine import LIVENESS, Machine
from checker.report import terminal
from checker.report.figures import Figures, Table, written
from checker.report.files import encoded, put
from checker.report.headline import plural, title
from checker.report.plots import Bars, as_text
from checker.report.summary import without_result
from checker.report.walks import coverage_plot, lengths_plot
from checker.search.finding import FindingKind
from checker.search.simulate import Simulation
from checker.search.simulate import simulate as walk_randomly
from checker.simulation import Asked, parts, walk_everywhere
from checker.trace.itf import dump
from checker.trace.naming import step_name
from checker.trace.rebuild import rebuild
from checker.trace.trace import Provenance, Trace
from checker.verdict import exits

EXITS: dict[FindingKind, int] = {"deadlock": exits.DEADLOCK, "error": exits.EVALUATION}


@click.command()
@click.argument("spec")
@model_options
@click.option("--walks", type=click.IntRange(1), default=1000, show_default=True, metavar="N")
@click.option(
    "--depth", type=click.IntRange(1, 10_000_000), default=100, show_default=True, metavar="STEPS"
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@spreading_options
@click.option("--limit-seconds", type=Seconds(), metavar="S", help="Stop after S seconds.")
@click.option("--property", "properties", multiple=True, metavar="NAME", help="Check only these.")
@click.option(
    "--trace",
    "file",
    type=A_FILE,
    metavar="FILE",
    help="Write the violating walk as ITF JSON.",
)
@click.option(
    "--report",
    type=A_FOLDER,
    metavar="DIR",
    help="Write what the walks went through: a page, Markdown, plots as SVG.",
)
@output_options
def simulate(
    spec: str,
    instance: str | None,
    settings: tuple[str, ...],
    walks: int,
    depth: int,
    seed: int,
    engine: str,
    workers: int | None,
    master: str | None,
    conf: tuple[str, ...],
    limit_seconds: float | None,
    properties: tuple[str, ...],
    file: Path | None,
    report: Path | None,
    form: str,
    progress: Style,
) -> int:
    """Walk through SPEC at random until a property breaks.

    The same seed makes the same walks. Walks go deep at once where a search is too large, but do
    not show that anything holds. Exit code 0: all walks were made and none went wrong; 20: they
    were stopped before.
    """
    request = flow.Request(
        spec,
        instance or "default",
        overrides(settings),
        workers=workers,
        properties=properties or None,
    )
    where = Where(engine, workers, master, conf)
    where.refuse()
    with observing(progress) as observer, where.interruptible() as interrupt:
        document, machine = flow.prepare(request, observer)
        claims = [item for item in machine.properties if item.kind in LIVENESS]
        endless = [item.name for item in claims]
        unjudged = {*endless, *(item.declared for item in claims)}
        if properties and unjudged.issuperset(properties):
            raise UsageError(f"{properties[0]} is about endless runs, and walks end; check it")
        if engine == "spark":
            asked = Asked(walks, depth, seed, limit_seconds)
            simulation = _spread(request, asked, where, observer, interrupt)
        else:
            observer.stage("pack")
            layout = pack(machine)
            observer.stage("build")
            kernel = build(machine, layout, prompt=True, stop=interrupt.is_set)
            observer.stage("walk")
            simulation = walk_randomly(
                machine, layout, kernel, walks, depth, seed, workers, limit_seconds, interrupt
            )
    if simulation is None:
        if interrupt.is_set():
            raise Interruption("no walk was made")
        if form == "json":
            print_object(without_result(spec, {"kind": "seconds"}))
        click.echo("no walk was made before the end", err=True)
        return exits.INCONCLUSIVE
    found = None if simulation.finding is None else rebuild(machine, simulation.finding)
    origin = _provenance(flow.provenance(request, document), walks, depth, seed)
    if form == "json":
        print_object(_object(origin, simulation, found) | {"not_judged": endless})
    else:
        _print(simulation, found)
        if endless:
            click.echo(f"not judged, for walks end: {', '.join(endless)}")
        click.echo(f"again: {origin.command}")
    # Last: what cannot be written must not cost what was found.
    if file is not None and found is not None:
        put(file, encoded(dump(found, origin)))
    if report is not None:
        written(_figures(machine, origin, simulation, found), report)
    return _exit_code(simulation, interrupted=interrupt.is_set())


def _spread(
    request: flow.Request,
    asked: Asked,
    where: Where,
    observer: flow.Observer,
    interrupt: Event,
) -> Simulation | None:
    """Return what the walks of all executors found together; None where none was made."""
    found = replace(request, spec=str(library.place_of(library.find(request.spec))), workers=None)
    with where.spread(asked.walks, observer.notice) as spread:
        observer.stage("walk")
        todo = list(parts(found, asked, spread.parallel))
        return walk_everywhere(todo, spread, interrupt, asked.seconds)


def _provenance(origin: Provenance, walks: int, depth: int, seed: int) -> Provenance:
    return origin.by("simulate", f"--walks {walks} --depth {depth} --seed {seed}")


def _plots(simulation: Simulation) -> list[tuple[str, Bars]]:
    plots = {
        "lengths": lengths_plot(simulation.lengths),
        "coverage": coverage_plot(simulation.rows, simulation.walks),
    }
    return [(name, plot) for name, plot in plots.items() if plot is not None]


def _headline(simulation: Simulation, trace: Trace | None) -> str:
    walks, steps = plural(simulation.walks, "walk"), plural(simulation.steps, "step")
    made = f"{walks}, {steps}, seed {simulation.seed}"
    if trace is None:
        stopped = "" if simulation.complete else " (stopped before the last walk)"
        return f"nothing went wrong in {made}{stopped}; walks do not show that it holds"
    verdict = "inconclusive" if trace.failure is not None else "violated"
    return f"{verdict}: {title(trace)} in walk {simulation.walk}, {made}"


def _figures(
    machine: Machine, origin: Provenance, simulation: Simulation, trace: Trace | None
) -> Figures:
    never = [row.row for row in simulation.rows if not row.fired]
    told = {
        "Steps of that walk": " / ".join(map(step_name, trace.steps)) if trace else "",
        "Reached": ", ".join(simulation.witnessed),
        "Never fired": ", ".join(never),
    }
    rows = [
        (
            row.row,
            f"{row.enabled:,}",
            f"{row.fired:,}",
            f"{row.taken:,}",
            "never" if row.first is None else f"{row.first:,}",
        )
        for row in simulation.rows
    ]
    heads = ("row", "states with it enabled", "successors", "steps taken", "first in walk")
    return Figures(
        title=f"Random walks through {machine.name}, instance {machine.instance}",
        lines=(
            _headline(simulation, trace),
            *(f"{name}: {text}." for name, text in told.items() if text),
        ),
        plots=tuple(_plots(simulation)),
        table=Table("Rows", heads, rows),
        command=origin.command,
    )


def _print(simulation: Simulation, trace: Trace | None) -> None:
    out = terminal.console()
    out.print(_headline(simulation, trace))
    if trace is not None:
        terminal.print_trace(out, trace)
    for _, plot in _plots(simulation):
        for line in as_text(plot):
            out.print(line, highlight=False, markup=False)
    if simulation.witnessed:
        out.print(f"reached: {', '.join(simulation.witnessed)}")
    never = [row.row for row in simulation.rows if not row.fired]
    if never:
        out.print(f"never fired: {', '.join(never)}")


def _object(origin: Provenance, simulation: Simulation, trace: Trace | None) -> dict[str, object]:
    return {
        "checker": __version__,
        "spec": origin.spec,
        "replay": origin.command,
        "seed": simulation.seed,
        "walks": simulation.walks,
        "steps": simulation.steps,
        "complete": simulation.complete,
        "kind": None if trace is None else trace.kind,
        "property": None if trace is None else trace.property_name,
        "length": None if trace is None else trace.length,
        "walk": simulation.walk,
        "lengths": list(simulation.lengths),
        "witnessed": list(simulation.witnessed),
        "rows": [asdict(row) for row in simulation.rows],
    }


def _exit_code(simulation: Simulation, *, interrupted: bool) -> int:
    if simulation.finding is not None:
        return EXITS.get(simulation.finding.kind, exits.SAFETY)
    if interrupted:
        return exits.INTERRUPTED
    return exits.HOLDS if simulation.complete else exits.INCONCLUSIVE
