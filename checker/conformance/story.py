"""An Explanation for people and programs: on the terminal, as JSON, a Markdown page, JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from checker.conformance.explain import Explanation
from checker.conformance.forms import Value
from checker.conformance.nearest import Nearest, as_object
from checker.conformance.places import Place, Taken
from checker.conformance.space import Space
from checker.report import junit
from checker.report.headline import plural
from checker.report.markdown import code, fenced, paragraph, table, text
from checker.semantics.values import format_value
from checker.trace.naming import step_name
from checker.trace.rebuild import format_state, make_step
from checker.visible import visible_line

COLOURS = {"explained": "bold green", "diverges": "bold red", "inconclusive": "bold yellow"}
_ALLOWED = 8
_OTHERS = 8
"""Other verdicts of the same kind that are shown one by one."""


@dataclass
class Told:
    """What was found of one log (or several), with all that is needed to say it."""

    space: Space
    name: str
    logs: tuple[Path, ...]
    found: Explanation
    left_out: int = 0
    seconds: float = 0.0
    value: Value = ()
    """For which of the values of `each` the log was judged."""
    about: str = ""
    variant: str = ""
    """The mapping's variant that the log was judged by, if it is one."""

    @property
    def model(self) -> str:
        """The specification by name, with the variant of it."""
        return f"{self.name} ({self.variant})" if self.variant else self.name

    @property
    def log(self) -> str:
        """The logs by name."""
        names = ", ".join(str(log) for log in self.logs)
        told = ", ".join(f"{name} {text}" for name, text in self.value)
        return f"{names} for {told}" if told else names


class StepNames:
    """Steps as the specification names them, with bindings and picks; remembered."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._found: dict[tuple[bytes, int, bytes], str] = {}

    def name(self, taken: Taken) -> str:
        """Return the name of a step."""
        _, key, edge = taken
        found = self._found.get((key, edge.row, edge.target))
        if found is None:
            machine, space = self.space.bound.machine, self.space
            step = make_step(machine, 1, space.state(key), space.successor(key, edge))
            found = self._found[key, edge.row, edge.target] = step_name(step)
        return found

    def line(self, taken: Taken) -> dict[str, object]:
        """Return a step of a run as an object: its name and the line that it explains."""
        event = taken[0]
        return {"line": None if event is None else event.line, "step": self.name(taken)}


def headline(told: Told) -> str:
    """Return the verdict in one sentence, on one line."""
    found, log = told.found, visible_line(told.log)
    if found.verdict == "explained":
        return (
            f"explained: all {plural(found.lines, 'line')} of {log} are a run of "
            f"{told.model}, with {plural(found.hidden, 'hidden step')}; at most "
            f"{plural(found.most, 'state')} fitted at a time"
        )
    where = "at the beginning"
    if found.event is not None:
        where = f"at line {found.event.line}"
    elif found.events:
        where = "there"
    return (
        f"{found.verdict}: {told.model} explains {plural(found.lines, 'line')} of {log} and "
        f"stops {where}"
    )


def print_told(out: Console, told: Told, others: Sequence[Told] = ()) -> None:
    """Print everything about one log; of `others`, judged for other values, the verdict."""
    found = told.found
    _print_others(out, [other for other in others if other is not told])
    out.print(Text(headline(told), style=COLOURS[found.verdict]))
    for note in _notes(told):
        out.print(Text(f"note: {note}", style="yellow"))
    event = found.event
    if event is None:
        return
    out.print(Text(f"  line {event.line}: {event.text}"))
    for line in _allowed(found):
        out.print(Text(line))
    if found.nearest is not None:
        _print_nearest(out, found.nearest)
    for line in _early(found):
        out.print(Text(line, style="red"))
    _print_last(out, told)
    for number, place in enumerate(found.places, start=1):
        out.print(f"state {number} of {found.possible:,} before that line:")
        out.print(Text(_state(told, place)))
    if len(found.places) < found.possible:
        out.print(f"and {found.possible - len(found.places):,} more states")


def _print_others(out: Console, others: Sequence[Told]) -> None:
    """Print the verdicts on a log judged for other values; of many that explain it how many."""
    explained = [other for other in others if other.found.verdict == "explained"]
    if len(explained) > _OTHERS:
        names = ", ".join(name for name, _ in explained[0].value)
        line = f"explained: for {len(explained):,} other values of {names}"
        out.print(Text(line, style=COLOURS["explained"]))
        others = [other for other in others if other.found.verdict != "explained"]
    for other in others:
        out.print(Text(headline(other), style=COLOURS[other.found.verdict]))


def _notes(told: Told) -> list[str]:
    notes = [told.found.why] if told.found.why is not None else []
    if told.left_out:
        have = "line has" if told.left_out == 1 else "lines have"
        read = "was" if told.left_out == 1 else "were"
        notes.append(f"{told.left_out:,} {have} no form in the mapping and {read} not read")
    return notes


def _allowed(found: Explanation) -> list[str]:
    if not found.allowed:
        return ["the model allows nothing of that name there"]
    lines = ["the model allows there:", *(f"  {text}" for text in found.allowed[:_ALLOWED])]
    if len(found.allowed) > _ALLOWED:
        lines.append(f"  and {len(found.allowed) - _ALLOWED} more")
    return lines


def _early(found: Explanation) -> list[str]:
    return [
        f"{one.row} would have to come {one.missing:,.0f} ms too early: timer {one.timer} of "
        f"{one.whose}"
        for one in found.early[:_ALLOWED]
    ]


def _print_nearest(out: Console, near: Nearest) -> None:
    out.print(Text(f"the nearest row is {_step(near)}", style="bold"))
    if near.guard is not None:
        out.print(Text(f"  its guard is false in: {near.guard}   ({near.place})", style="red"))
    if not near.items:
        return
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("", "what", "the model", "the log"):
        shown.add_column(title)
    for item, expected, observed in near.items:
        shown.add_row("  ", visible_line(item), json.dumps(expected), json.dumps(observed))
    out.print(shown)


def _step(near: Nearest) -> str:
    values = ", ".join(format_value(value) for _, value in near.bindings)
    return f"{near.row}({values})" if values else near.row


def _print_last(out: Console, told: Told) -> None:
    if told.found.last:
        out.print("the last steps of a run up to there:")
        for line in _last(told):
            out.print(Text(f"  {line}"))


def _last(told: Told) -> list[str]:
    names = StepNames(told.space)
    return [
        f"{'hidden' if taken[0] is None else f'line {taken[0].line}':>10}  {names.name(taken)}"
        for taken in told.found.last
    ]


def _state(told: Told, place: Place) -> str:
    lines = [format_state(told.space.bound.machine, told.space.state(place.key))]
    called = [f"{out} is {inside}" for _, out, inside in place.binding.names if out != inside]
    if called:
        names = ", ".join(called)
        lines.append(f"  names: {visible_line(names)}")
    windows = told.space.bound.windows
    for window, base in zip(windows, place.binding.bases, strict=True):
        if base is not None:
            lines.append(f"  numbers of {window.name}: the log's less {base}")
    return "\n".join(lines)


# ------------------------------------------------------------------------- for programs, as files


def each(all_told: Sequence[Told]) -> dict[str, object]:
    """Return the verdicts for each value where a log was judged for several."""
    found = {key(told.value): told.found.verdict for told in all_told if told.value}
    return {"each": found} if found else {}


def key(value: Value) -> str:
    """Return what a log was judged for as one text: `3`, `3.12`."""
    return ".".join(text for _, text in value)


def told_object(told: Told, checker: str) -> dict[str, object]:
    """Return the result as the object that `--format json` prints."""
    found, near = told.found, told.found.nearest
    return {
        "checker": checker,
        "spec": told.name,
        "instance": told.space.bound.machine.instance,
        "variant": told.variant or None,
        "log": told.log,
        "verdict": found.verdict,
        "events": found.events,
        "lines": found.lines,
        "lines_left_out": told.left_out,
        "steps": found.steps,
        "hidden_steps": found.hidden,
        "rows": found.rows,
        "states_at_most": found.most,
        "seconds": round(told.seconds, 3),
        "why": found.why,
        "line": None if found.event is None else found.event.line,
        "event": None if found.event is None else json.loads(found.event.text),
        "states": found.possible,
        "places": [_state(told, place).splitlines() for place in found.places],
        "allowed": [json.loads(text) for text in found.allowed],
        "nearest": None if near is None else {**(as_object(near) or {}), "step": _step(near)},
        "too_early": [
            {
                "row": one.row,
                "timer": one.timer,
                "whose": one.whose,
                "milliseconds": round(one.missing, 3),
            }
            for one in found.early
        ],
        "last_steps": [] if found.event is None else _last(told),
    }


def page(told: Told, about: str, again: str) -> str:
    """Return the result as a Markdown page."""
    found = told.found
    lines = [f"# {code(told.log)} and {code(told.name)}", "", *paragraph(about)]
    lines += [f"**{found.verdict}**: {text(headline(told).partition(': ')[2])}.", ""]
    lines += [f"Again: {code(again)}", ""]
    lines += [f"* {text(note)}" for note in _notes(told)]
    if found.rows:
        rows = [(code(row), f"{count:,}") for row, count in sorted(found.rows.items())]
        lines += ["", *table(("row", "steps"), rows, right=(1,))[:-1]]
    if found.event is not None:
        lines += ["", "## Where it stops", "", *_stop_lines(told)]
    return "\n".join(lines).rstrip() + "\n"


def _stop_lines(told: Told) -> list[str]:
    found, near = told.found, told.found.nearest
    assert found.event is not None
    asked = (f"line {found.event.line}: {found.event.text}", *_allowed(found))
    lines = fenced("text", "\n".join(asked))
    if near is not None:
        lines.append(f"The nearest row is {code(_step(near))}.")
        if near.guard is not None:
            lines.append(f"Its guard is false in {code(near.guard)} ({text(near.place)}).")
        if near.items:
            items = [
                (code(item), code(json.dumps(expected)), code(json.dumps(observed)))
                for item, expected, observed in near.items
            ]
            lines += ["", *table(("what", "the model", "the log"), items)[:-1]]
    lines += ["", *(f"* {text(line)}" for line in _early(found))]
    if found.last:
        lines += ["", "The last steps of a run up to there:", ""]
        lines += fenced("text", "\n".join(_last(told)))[:-1]
    for number, place in enumerate(found.places, start=1):
        lines += ["", f"State {number} of {found.possible:,} before that line:", ""]
        lines += fenced("text", _state(told, place))[:-1]
    return lines


def write_junit(told: Told, path: Path) -> None:
    """Write one case for the logs: failed where nothing explains them."""
    found = told.found
    stopped = [] if found.event is None else _stop_lines(told)
    case = junit.Case(
        system=f"{told.name} {told.space.bound.machine.instance}",
        instance=told.log,
        seconds=told.seconds,
        output=headline(told),
        failure="\n".join([headline(told), *stopped]) if found.verdict == "diverges" else None,
        error="\n".join([headline(told), *_notes(told)])
        if found.verdict == "inconclusive"
        else None,
    )
    junit.write([case], path, "checker validate")
