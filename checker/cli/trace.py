"""`checker trace FILE...`: print a recorded trace, replay it, compare two."""

from __future__ import annotations

from pathlib import Path

import click

from checker.cli.options import overrides
from checker.errors import UsageError
from checker.report.headline import plural
from checker.trace import itf
from checker.trace.recorded import Recorded, compare, read_recorded, replay, require_sound
from checker.verdict import exits
from checker.visible import visible_line


@click.command()
@click.argument(
    "traces",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option("--replay", "replaying", is_flag=True, help="Run each step on its specification.")
@click.option("--diff", "differing", is_flag=True, help="Compare two traces.")
@click.option(
    "--eval",
    "expressions",
    multiple=True,
    metavar="EXPR",
    help="Print the value of an expression in each state. Repeatable.",
)
@click.option("--spec", default=None, metavar="SPEC", help="Take this specification instead.")
@click.option("--instance", default=None, metavar="NAME", help="Take this instance instead.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Take this constant instead. Repeatable.",
)
def trace(
    traces: tuple[Path, ...],
    replaying: bool,
    differing: bool,
    expressions: tuple[str, ...],
    spec: str | None,
    instance: str | None,
    settings: tuple[str, ...],
) -> int:
    """Print traces recorded as ITF JSON (`--report`), replay or compare them.

    Exit code 1: a trace does not replay, or two differ; 75: an expression has no value somewhere.
    A trace of another text of the specification replays where each step still fits; it is said.
    """
    recorded = [read_recorded(path) for path in traces]
    if expressions and (differing or replaying):
        raise UsageError("--eval prints values; leave out --replay and --diff")
    if differing:
        if len(recorded) != 2:
            raise UsageError("--diff takes two traces")
        if replaying:
            raise UsageError("--diff compares what is recorded; leave out --replay")
        _refuse_other(spec, instance, settings)
        return _print_difference(*recorded)
    if expressions:
        codes = [
            _evaluate(item, expressions, spec, instance, overrides(settings)) for item in recorded
        ]
        return max(codes)
    if not replaying:
        _refuse_other(spec, instance, settings)
        for item in recorded:
            _print_recorded(item)
        return exits.HOLDS
    code = exits.HOLDS
    for item in recorded:
        code = max(code, _replay(item, spec, instance, overrides(settings)))
    return code


def _refuse_other(spec: str | None, instance: str | None, settings: tuple[str, ...]) -> None:
    """Raise UsageError for another specification where none is read."""
    if spec is not None or instance is not None or settings:
        raise UsageError("--spec, --instance and --set are for --replay and --eval")


def _say(line: str) -> None:
    """Print one line; what a file says in it acts on no terminal, and makes no line of its own."""
    click.echo(visible_line(line))


def _print_recorded(item: Recorded) -> None:
    claim = f"{item.property_name} ({item.kind})" if item.property_name else "a walk"
    # A trace of another tool says nothing of a specification.
    of = [item.spec, f"instance {item.instance}"] if item.spec else []
    _say(", ".join([claim, *of, plural(len(item.steps) - 1, "step")]))
    for step in item.steps:
        _say(f"{step.number:>4}  {step.name}" + (f"   [{step.actor}]" * bool(step.actor)))
        for line in (*step.events, *step.changes):
            _say(f"        {line}")
    if item.end:
        _say(f"      {item.end}")
    if item.failed:
        _say(f"failed: {item.failed}")
    if item.command:
        _say(f"replay: {item.command}")


def _evaluate(
    item: Recorded,
    expressions: tuple[str, ...],
    spec: str | None,
    instance: str | None,
    constants: dict[str, int | bool | str],
) -> int:
    """Print what each expression is in each state; what changed there is marked."""
    from checker import library  # noqa: PLC0415 (as in _replay)
    from checker.elaborate import elaborate  # noqa: PLC0415
    from checker.table import read  # noqa: PLC0415
    from checker.trace.asked import term_of, value_in  # noqa: PLC0415

    if not (spec or item.spec):
        raise UsageError(f"{item.name} does not say which specification it is of; name it: --spec")
    document = read(library.find(spec or item.spec))
    name, settings = instance or item.instance, {**item.overrides, **constants}
    machine = elaborate(document, name, settings)
    terms = [(text, term_of(document, name, settings, text)) for text in expressions]
    states = itf.read_states(machine, item.data, item.name)
    code, before = exits.HOLDS, dict[str, str]()
    for step, state in zip(item.steps, states, strict=False):
        _say(f"{step.number:>4}  {step.name}")
        for text, term in terms:
            value, has_one = value_in(machine, term, state)
            code = code if has_one else exits.EVALUATION
            mark = " *" if before.get(text, value) != value else "  "
            before[text] = value
            _say(f"      {mark}{text} is {value}")
    return code


def _print_difference(left: Recorded, right: Recorded) -> int:
    lines = compare(left, right)
    for line in lines:
        _say(line)
    if not lines:
        _say(f"the same {plural(len(left.steps) - 1, 'step')}")
    return exits.DIFFERENCE if lines else exits.HOLDS


def _replay(
    item: Recorded,
    spec: str | None,
    instance: str | None,
    constants: dict[str, int | bool | str],
) -> int:
    from checker import flow  # noqa: PLC0415 (only a replay needs the specification)

    require_sound(item)
    machine = flow.machine_of(
        spec or item.spec, instance or item.instance, {**item.overrides, **constants}
    )
    changed = itf.spec_hash(machine) != item.spec_hash
    note = "; the specification is not the one it was recorded on" * changed
    try:
        failure = replay(machine, item)
    except UsageError as error:  # it has other variables, or values of other types
        raise UsageError(f"{error}{note}") from error
    if failure is None:
        aim = f" to {item.property_name}" * bool(item.property_name)
        _say(f"{item.name}: replays, {plural(len(item.steps) - 1, 'step')}{aim}{note}")
        return exits.HOLDS
    _say(f"{item.name}: {failure}{note}")
    return exits.DIFFERENCE
