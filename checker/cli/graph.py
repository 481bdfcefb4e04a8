"""`checker graph SPEC --engine spark --out PATH`: the state graph as Parquet tables."""

from __future__ import annotations

import json

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

    A state has its packed words and a column for each variable. docs/spark.md has the schema.
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
        states, edges = write_graph(
            machine, out, choice.cluster(), observer.search, interrupt, options
        )
    if form == "json":
        click.echo(json.dumps({"out": out, "states": states, "edges": edges}))
    else:
        click.echo(f"{plural(states, 'state')} and {plural(edges, 'edge')} written to {out}")
    return 0
