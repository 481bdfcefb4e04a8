"""`checker sweep SPEC --set NAME=LOW..HIGH`: the same specification in several sizes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from checker import flow
from checker.cli.objects import print_object
from checker.cli.options import A_FOLDER, Seconds, make_folder, output_options, size
from checker.cli.progress import Style, observing
from checker.cli.spreading import Where, spreading_options
from checker.elaborate import elaborate
from checker.errors import Interruption
from checker.library import find, place_of
from checker.report.figures import Figures, Table, written
from checker.report.files import put_below
from checker.report.headline import plural
from checker.report.plots import Bar, Bars, as_text
from checker.search.limits import Limits
from checker.sweep import (
    Size,
    Value,
    as_object,
    measure,
    measure_everywhere,
    ranges,
    require_constants,
    require_values,
    settled,
    shown,
    sizes,
)
from checker.table import Document, read
from checker.verdict import exits
from checker.visible import json_text

LEFT_SHOWN = 8
"""Sizes that are named of those that an interrupt left out."""


@click.command()
@click.argument("spec")
@click.option(
    "--set",
    "settings",
    multiple=True,
    required=True,
    metavar="NAME=LOW..HIGH",
    help="The values of a constant: 1..4, or 1,2,8, or one. Repeatable: all combinations run.",
)
@click.option("--instance", default="default", metavar="NAME", help="The instance to start from.")
@click.option("--property", "properties", multiple=True, metavar="NAME", help="Check only these.")
@spreading_options
@click.option("--limit-states", type=click.IntRange(1), metavar="N", help="Stop each at N states.")
@click.option("--limit-seconds", type=Seconds(), metavar="S", help="Stop each after S seconds.")
@click.option("--memory", type=size, metavar="BYTES", help="Memory of each search: 4g, 512m.")
@click.option(
    "--out",
    "directory",
    type=A_FOLDER,
    metavar="DIR",
    help="Write a page, sweep.md with plots as SVG, and sweep.json.",
)
@output_options
def sweep(
    spec: str,
    settings: tuple[str, ...],
    instance: str,
    properties: tuple[str, ...],
    engine: str,
    workers: int | None,
    master: str | None,
    conf: tuple[str, ...],
    limit_states: int | None,
    limit_seconds: float | None,
    memory: int | None,
    directory: Path | None,
    form: str,
    progress: Style,
) -> int:
    """Search SPEC in every size, and see from which one on nothing new comes.

    Prints states, depth, seconds and verdict of each, a plot, and from which value on verdict,
    violated properties, rows that fire and states that machines are in stayed the same: evidence
    for larger sizes, no proof. Exit code 0: every size was searched; 75: one ended at an evaluation
    error; 20: one was stopped by a limit; 120: the specification refuses all of them; 2: a constant
    cannot have one of the values.
    """
    values = ranges(settings)
    document = read(find(spec))
    require_constants(document, values)
    elaborate(document, instance)  # an instance that is none is an error of every size
    chosen = list(sizes(values))
    require_values(document, instance, chosen)
    request = flow.Request(
        spec,
        instance,
        workers=workers,
        properties=properties or None,
        limits=Limits(states=limit_states, seconds=limit_seconds, memory_bytes=memory),
    )
    if directory is not None:
        make_folder(directory)
    where = Where(engine, workers, master, conf)
    where.refuse()
    found: list[Size] = []
    with observing(progress) as observer, where.interruptible() as interrupt:
        made = (
            _spread(document, request, chosen, where, observer)
            if engine == "spark"
            else (measure(document, request, size, observer, interrupt) for size in chosen)
        )
        try:
            for size in made:
                found.append(size)
                if progress != "none":
                    observer.notice(_line(size))
                if interrupt.is_set():
                    break
        except (KeyboardInterrupt, Interruption):
            interrupt.set()
    found.sort(key=lambda size: chosen.index(size.settings))
    names = [name for name in values if len(values[name]) > 1]
    told_spec = flow.spec_name(document.path)
    left = [size for size in chosen if size not in {item.settings for item in found}]
    told = as_object(told_spec, instance, found, names) | {"left": [dict(size) for size in left]}
    lines = (*_claims(found, names), *_left(left))
    if form == "json":
        print_object(told)
    else:
        drawn = [as_text(plot) for _, plot in _plots(found)[:1]]
        click.echo(
            "\n".join(
                [
                    *_table(found),
                    "",
                    *(line for lines in drawn for line in lines),
                    "",
                    *lines,
                ]
            )
        )
    if directory is not None:  # last: what cannot be written must not cost what was found
        said = shlex.join(word for setting in settings for word in ("--set", setting))
        command = flow.provenance(request, document).by("sweep", said).command
        title = f"{told_spec}, instance {instance}, in {plural(len(found), 'size')}"
        table = Table("Sizes", HEADS, _rows(found))
        figures = Figures(title, lines, tuple(_plots(found)), table, command)
        written(figures, directory, "sweep.md")
        put_below(directory, {"sweep.json": f"{json_text(told, indent=1)}\n"})
    return _exit_code(found, interrupted=interrupt.is_set())


def _spread(
    document: Document,
    request: flow.Request,
    chosen: Sequence[tuple[tuple[str, Value], ...]],
    where: Where,
    observer: flow.Observer,
) -> Iterator[Size]:
    """Yield the sizes as Spark's executors have searched them."""
    named = replace(request, spec=str(place_of(Path(document.path))))
    with where.spread(len(chosen), observer.notice) as spread:
        yield from measure_everywhere(named, chosen, spread)


def _exit_code(found: Sequence[Size], *, interrupted: bool) -> int:
    searched = [item for item in found if not item.refused]
    if any(item.stopped_by == "evaluation_error" for item in searched):
        return exits.EVALUATION
    if interrupted:
        return exits.INTERRUPTED
    if not searched:
        return exits.SPECIFICATION
    return exits.HOLDS if all(item.whole for item in searched) else exits.INCONCLUSIVE


def _named(settings: tuple[tuple[str, Value], ...]) -> str:
    return " ".join(f"{name}={shown(value)}" for name, value in settings)


def _line(item: Size) -> str:
    if item.refused:
        return f"{_named(item.settings)}: refused: {item.refused}"
    states = plural(item.distinct, "state")
    return f"{_named(item.settings)}: {_verdict(item)}, {states}, {item.seconds:.1f} s"


def _verdict(item: Size) -> str:
    if item.refused:
        return f"refused: {item.refused}"
    text = f"{item.verdict}: {', '.join(item.broken)}" if item.broken else item.verdict
    return text if item.whole else f"{text} (stopped: {item.stopped_by})"


HEADS = ("size", "states", "growth", "depth", "seconds", "rows", "control", "verdict")


def _rows(found: Sequence[Size]) -> list[tuple[str, ...]]:
    rows = []
    before = 0  # states; of a search that stopped, at a violation too, some are missing
    for item in found:
        all_states = item.distinct if item.stopped_by is None else 0
        growth = f"{all_states / before:.1f}x" if before and all_states else ""
        before = all_states
        figures = (
            f"{item.distinct:,}",
            growth,
            str(item.depth),
            f"{item.seconds:.2f}",
            str(len(item.fired)),
            "" if item.control is None else str(len(item.control)),
        )
        cells = ("",) * len(figures) if item.refused else figures
        rows.append((_named(item.settings), *cells, _verdict(item)))
    return rows


def _table(found: Sequence[Size]) -> list[str]:
    rows = [HEADS, *_rows(found)]
    wide = [max(len(row[place]) for row in rows) for place in range(len(HEADS))]
    return [
        "  ".join(
            cell.ljust(width) if place in {0, len(HEADS) - 1} else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, wide, strict=True))
        ).rstrip()
        for row in rows
    ]


def _plots(found: Sequence[Size]) -> list[tuple[str, Bars]]:
    """Return the states and seconds of each size, the states by their logarithms."""
    searched = [item for item in found if item.distinct]
    if not searched:
        return []
    states = [
        Bar(
            _named(item.settings),
            item.distinct,
            f"{item.distinct:,}{' and more' * (item.stopped_by is not None)}, {_verdict(item)}",
        )
        for item in searched
    ]
    seconds = [Bar(_named(item.settings), item.seconds, f"{item.seconds:.2f}") for item in searched]
    return [
        ("states", Bars("states (logarithmic)", tuple(states), logarithmic=True)),
        ("seconds", Bars("seconds of the search", tuple(seconds))),
    ]


def _claims(found: Sequence[Size], names: Sequence[str]) -> list[str]:
    """Say from which value on nothing changed."""
    lines = []
    for name in names:
        for others, value, more in settled(found, name):
            where = f" with {others}" if others else ""
            if value is None:
                text = f"{name}{where}: the last size still changed something, or was not finished"
            else:
                sizes_more = "one size more" if more == 1 else f"{more} sizes more"
                text = (
                    f"{name}{where}: from {shown(value)} on, for {sizes_more}, verdict, rows that "
                    "fire and states of machines stayed the same (evidence, no proof)"
                )
            lines.append(text)
    return lines


def _left(sizes: Sequence[tuple[tuple[str, Value], ...]]) -> list[str]:
    """Say which sizes an interrupt has left out."""
    if not sizes:
        return []
    named = [_named(size) for size in sizes[:LEFT_SHOWN]]
    more = [f"{len(sizes) - LEFT_SHOWN:,} more"] if len(sizes) > LEFT_SHOWN else []
    return [f"{plural(len(sizes), 'size')} not searched (interrupted): {', '.join(named + more)}"]
