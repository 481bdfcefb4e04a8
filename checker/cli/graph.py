"""`checker graph SPEC --engine spark --out PATH`: the state graph as Parquet tables."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from checker import flow
from checker.cli.interrupts import interruptible
from checker.cli.options import (
    EngineChoice,
    model_options,
    output_options,
    overrides,
    spark_options,
)
from checker.cli.progress import Style, observing
from checker.report.headline import plural
from checker.search.options import Options
from checker.spark.tables import write_graph

if TYPE_CHECKING:
    from checker.spark.terminal import Terminal

_KINDS = {
    "cycle": "of several states",
    "loop": "going round in one state",
    "terminal": "terminal",
    "deadlock": "in deadlock",
    "bounds": "at the bounds",
}


@click.command()
@click.argument("spec")
@model_options
@click.option("--out", required=True, metavar="PATH", help="Where; a URL of any file system.")
@click.option(
    "--symmetry", type=click.Choice(["on", "off"]), default=None, help="As `check` has it."
)
@spark_options
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
    request = flow.Request(
        spec,
        instance or "default",
        overrides(settings),
        symmetry=None if symmetry is None else symmetry == "on",
    )
    with observing(progress) as observer, interruptible(engine) as interrupt:
        _, machine = flow.prepare(request, observer)
        observer.stage("graph")
        options = Options(notice=observer.notice)
        states, edges, ends = write_graph(
            machine, out, choice.cluster(), observer.search, interrupt, options
        )
    if form == "json":
        sizes = {"out": out, "states": states, "edges": edges, "terminal": asdict(ends)}
        click.echo(json.dumps(sizes))
    else:
        click.echo(f"{plural(states, 'state')} and {plural(edges, 'edge')} written to {out}")
        click.echo(_where_it_ends(ends))
    return 0


def _where_it_ends(ends: Terminal) -> str:
    """Return a line about the terminal components."""
    if not ends.components:
        return "no terminal component"
    kinds = ", ".join(f"{count:,} {_KINDS[kind]}" for kind, count in ends.kinds.items())
    text = f"{plural(ends.components, 'terminal component')}: {plural(ends.states, 'state')}; "
    text += f"the largest has {ends.largest:,} ({kinds})"
    if ends.beyond:
        text += f"; {ends.beyond:,} with steps beyond the bounds"
    return text
