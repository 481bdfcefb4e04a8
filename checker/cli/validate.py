"""`checker validate SPEC LOG`: does some run of the model show what a log recorded."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from checker import __version__, flow
from checker.cli.conform import mapping_file
from checker.cli.interrupts import interruptible
from checker.cli.options import mapping_option, model_options, output_options, overrides
from checker.cli.progress import Style, observing
from checker.conformance.bind import bind
from checker.conformance.explain import Explanation, Nearest, explain
from checker.conformance.log import read_log
from checker.conformance.mapping import read_mapping
from checker.conformance.space import Space
from checker.report import terminal
from checker.semantics.values import format_value
from checker.trace.naming import step_name
from checker.trace.rebuild import format_state, make_step
from checker.verdict import exits

EXITS = {
    "explained": exits.HOLDS,
    "diverges": exits.DIFFERENCE,
    "inconclusive": exits.INCONCLUSIVE,
}


@click.command()
@click.argument("spec")
@click.argument("log", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@mapping_option
@model_options
@click.option(
    "--limit-states",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    metavar="N",
    help="States that may fit at a time; beyond, some are dropped and nothing diverges any more.",
)
@click.option(
    "--run",
    "run_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a run that explains the log, a step a line, with the line of the log.",
)
@output_options
def validate(
    spec: str,
    log: Path,
    given: Path | None,
    instance: str | None,
    settings: tuple[str, ...],
    limit_states: int,
    run_file: Path | None,
    form: str,
    progress: Style,
) -> int:
    """Decide whether SPEC explains the run that LOG recorded.

    Exit code 0: some run of the model shows every line; 1: none does; 20: undecided.
    """
    request = flow.Request(
        spec, instance or "default", overrides(settings), properties=(), symmetry=False
    )
    with observing(progress) as observer, interruptible("local") as interrupt:
        document, machine = flow.prepare(request, observer)
        mapping = read_mapping(mapping_file(spec, given))
        bound = bind(document, machine, mapping, dict(request.overrides))
        observer.stage("build")
        space = Space(bound)
        observer.stage("explain")
        found = explain(space, read_log(log), limit_states, interrupt)
    if run_file is not None and found.verdict == "explained":
        run_file.write_text("".join(f"{json.dumps(line)}\n" for line in _run(space, found)))
    name = flow.spec_name(document.path)
    if form == "json":
        click.echo(json.dumps(_object(space, name, log, found)))
    else:
        _print(terminal.console(), space, name, log, found)
    return EXITS[found.verdict]


def _run(space: Space, found: Explanation) -> list[dict[str, object]]:
    lines: list[dict[str, object]] = []
    for number, (event, key, edge) in enumerate(found.run, start=1):
        step = make_step(space.bound.machine, number, space.state(key), space.successor(key, edge))
        lines.append({"line": None if event is None else event.line, "step": step_name(step)})
    return lines


def _object(space: Space, name: str, log: Path, found: Explanation) -> dict[str, object]:
    near = found.nearest
    return {
        "checker": __version__,
        "spec": name,
        "instance": space.bound.machine.instance,
        "log": str(log),
        "verdict": found.verdict,
        "events": found.events,
        "hidden_steps": sum(event is None for event, _, _ in found.run),
        "rows": found.seen_rows,
        "states_at_most": found.most,
        "why": found.why,
        "line": None if found.event is None else found.event.line,
        "event": None if found.event is None else json.loads(found.event.text),
        "states": found.possible,
        "allowed": [json.loads(text) for text in found.allowed],
        "nearest": None
        if near is None
        else {
            "row": near.row,
            "step": _step(near),
            "guard": near.guard,
            "place": near.place,
            "items": [
                {"name": item, "expected": expected, "observed": observed}
                for item, expected, observed in near.items
            ],
        },
    }


def _step(near: Nearest) -> str:
    values = ", ".join(format_value(value) for _, value in near.bindings)
    return f"{near.row}({values})" if values else near.row


def _print(out: Console, space: Space, name: str, log: Path, found: Explanation) -> None:
    if found.verdict == "explained":
        hidden = sum(event is None for event, _, _ in found.run)
        out.print(
            Text(
                f"explained: all {found.events:,} lines of {log} are a run of {name}, with "
                f"{hidden:,} hidden steps; at most {found.most:,} states fitted at a time",
                style="bold green",
            )
        )
        return
    event = found.event
    where = "at the beginning" if event is None else f"at line {event.line}"
    style = "bold red" if found.verdict == "diverges" else "bold yellow"
    out.print(
        Text(
            f"{found.verdict}: {name} explains {found.events:,} lines of {log} and stops {where}",
            style=style,
        )
    )
    if found.why is not None:
        out.print(Text(f"note: {found.why}", style="yellow"))
    if event is None:
        return
    out.print(f"  line {event.line}: {event.text}")
    _print_allowed(out, found)
    if found.nearest is not None:
        _print_nearest(out, found.nearest)
    shown = len(found.states)
    for number, key in enumerate(found.states, start=1):
        out.print(f"state {number} of {found.possible:,} before that line:")
        out.print(format_state(space.bound.machine, space.state(key)))
    if shown < found.possible:
        out.print(f"and {found.possible - shown:,} more states")


def _print_allowed(out: Console, found: Explanation) -> None:
    if not found.allowed:
        out.print("the model allows nothing of that name there")
        return
    out.print("the model allows there:")
    for text in found.allowed[:8]:
        out.print(f"  {text}")
    if len(found.allowed) > 8:
        out.print(f"  and {len(found.allowed) - 8} more")


def _print_nearest(out: Console, near: Nearest) -> None:
    out.print(Text(f"the nearest row is {_step(near)}", style="bold"))
    if near.guard is not None:
        out.print(Text(f"  its guard is false in: {near.guard}   ({near.place})", style="red"))
    if not near.items:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("", "what", "the model", "the log"):
        table.add_column(title)
    for item, expected, observed in near.items:
        table.add_row("  ", item, json.dumps(expected), json.dumps(observed))
    out.print(table)
