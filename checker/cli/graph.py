"""`checker graph SPEC --out PATH`: the state graph as Parquet tables."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from checker import flow
from checker.cli.interrupts import interruptible
from checker.cli.objects import print_object
from checker.cli.options import (
    WORKERS,
    EngineChoice,
    cluster_options,
    model_options,
    output_options,
    overrides,
)
from checker.cli.progress import Style, observing
from checker.errors import UsageError
from checker.report.headline import plural, up_to_renaming
from checker.search.options import Options
from checker.spark.session import require_extra
from checker.spark.tables import write_graph

if TYPE_CHECKING:
    from checker.graph.tables import Terminal
    from checker.machine.machine import Machine
    from checker.search.progress import Interrupt

LARGE = 2_000_000
"""States from which on `auto` leaves a graph to Spark."""

_KINDS = {
    "cycle": "of several states",
    "loop": "going round in one state",
    "terminal": "terminal",
    "deadlock": "in deadlock",
    "bounds": "at the bounds",
    "error": "whose terminal conditions fail",
}


@click.command()
@click.argument("spec")
@model_options
@click.option("--out", required=True, metavar="PATH", help="Where; a URL of any file system.")
@click.option(
    "--symmetry", type=click.Choice(["on", "off"]), default=None, help="As `check` has it."
)
@cluster_options
@click.option("--workers", type=WORKERS, metavar="N", help="Cores for Spark to use.")
@click.option(
    "--engine",
    type=click.Choice(["auto", "local", "spark"]),
    default="auto",
    show_default=True,
    help="What does it; auto: Spark where the graph is large, or PATH is a URL.",
)
@output_options
def graph(
    spec: str,
    instance: str | None,
    settings: tuple[str, ...],
    out: str,
    symmetry: str | None,
    engine: str,
    workers: int | None,
    master: str | None,
    conf: tuple[str, ...],
    form: str,
    progress: Style,
) -> int:
    """Write the whole state graph of SPEC as Parquet: states, edges, statistics.

    A state has its packed words and a column for each variable. Also its terminal components: the
    sets of states in which the system ends up for good. docs/spark.md has the schema.
    """
    choice = EngineChoice(engine, workers, None, None, None, master, conf)
    choice.refuse()
    if engine == "auto" and urlsplit(out).scheme not in {"", "file"}:
        engine = "spark"
    if engine != "spark" and workers is not None:
        raise UsageError("--workers is for Spark; add --engine spark")
    request = flow.Request(
        spec,
        instance or "default",
        overrides(settings),
        symmetry=None if symmetry is None else symmetry == "on",
    )
    with observing(progress) as observer, interruptible(engine) as interrupt:
        _, machine = flow.prepare(request, observer)
        observer.stage("graph")
        written = None if engine == "spark" else _local(machine, out, engine, interrupt)
        if written is None:
            if engine == "auto":
                observer.notice(f"more than {LARGE:,} states: Spark writes them")
            choice = EngineChoice("spark", workers, None, None, None, master, conf)
            options = Options(notice=observer.notice)
            written = write_graph(
                machine, out, choice.cluster(), observer.search, interrupt, options
            )
        states, edges, ends = written
    if form == "json":
        sizes = {"out": out, "states": states, "edges": edges, "terminal": asdict(ends)}
        print_object(sizes)
    else:
        # Endless runs are not judged here: what they need does not keep states apart.
        alike = up_to_renaming(replace(machine, properties=()))
        click.echo(f"{plural(states, 'state')}{alike} and {plural(edges, 'edge')} written to {out}")
        click.echo(_where_it_ends(ends))
    return 0


def _local(
    machine: Machine, out: str, engine: str, interrupt: Interrupt | None
) -> tuple[int, int, Terminal] | None:
    """Write the tables without Spark; None where there are too many states for `auto`."""
    require_extra("`checker graph`", "pyarrow")
    from checker.graph.labelled import labelled_graph  # noqa: PLC0415
    from checker.graph.tables import write_tables  # noqa: PLC0415 (Arrow)

    place = urlsplit(out)
    if place.scheme not in {"", "file"}:
        raise UsageError(f"--engine local writes files, not {place.scheme}; take --engine spark")
    bare = replace(machine, properties=(), deadlock=False, expectation=None)
    found = labelled_graph(bare, LARGE if engine == "auto" else None, interrupt)
    if found is None:
        return None
    ends = write_tables(found, Path(place.path if place.scheme else out), interrupt)
    return found.states, len(found.targets), ends


def _where_it_ends(ends: Terminal) -> str:
    """Return a line about the terminal components."""
    if not ends.components:
        return "no terminal component"
    kinds = ", ".join(f"{count:,} {_KINDS[kind]}" for kind, count in ends.kinds.items())
    text = f"{plural(ends.components, 'terminal component')}: {plural(ends.states, 'state')}; "
    text += f"the largest has {ends.largest:,} ({kinds})"
    if ends.beyond:
        text += f"; {ends.beyond:,} with steps that were cut or fail"
    return text
