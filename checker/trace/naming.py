"""How steps and pieces of a specification are named to people: `leave(m2) pick m1`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from checker.semantics.successor import Event, Successor
from checker.semantics.values import format_value
from checker.source import NOWHERE, Span
from checker.trace.trace import Step


def step_name(step: Step) -> str:
    """Return a step's name: its row, the values of its bindings and of its picks."""
    if step.number == 0:
        return "initial state" + _picks(step)
    return _called(step.row, step)


def successor_name(step: Successor) -> str:
    """Return the name that a step has once it is one of a trace."""
    return _called(step.action, step)


def _called(row: str, step: Step | Successor) -> str:
    values = ", ".join(format_value(value) for _, value in step.bindings)
    return row + f"({values})" * bool(values) + _picks(step)


def end_of(length: int, loop: int | None) -> str:
    """Return where a run of so many steps goes after the last one; empty where it just ends."""
    if loop is None:
        return ""
    if loop == length:
        return "nothing happens any more, for ever"
    return f"and again from step {loop + 1} on, for ever"


def _picks(step: Step | Successor) -> str:
    values = ", ".join(format_value(value) for _, value in step.picks)
    return f" pick {values}" if values else ""


def binding_texts(bindings: Iterable[tuple[str, object]]) -> list[tuple[str, str]]:
    """Return bindings with their values as the language writes them."""
    return [(name, format_value(value)) for name, value in bindings]


def event_name(event: Event) -> str:
    """Return a message and where it travels: `requests[c1]: Heartbeat(generation=1)`."""
    return f"{event.channel}: {format_value(event.message)}"


def excerpt(span: Span) -> str:
    """Return the text of `span` on one line, runs of white space as one space."""
    source = span.source
    if span.line == span.end_line:
        text = source.line(span.line)[span.column - 1 : span.end_column - 1]
    else:
        first = source.line(span.line)[span.column - 1 :]
        between = [source.line(number) for number in range(span.line + 1, span.end_line)]
        last = source.line(span.end_line)[: span.end_column - 1]
        text = " ".join([first, *between, last])
    return " ".join(text.split())


def place(span: Span) -> str:
    """Return where a span is without saying where this machine keeps the file.

    The file with its folder, line and column: `two_phase/system.yaml:41:13`.
    """
    if span == NOWHERE:
        return ""
    name = "/".join(PurePath(span.source.name).parts[-2:])
    return f"{name}:{span.line}:{span.column}"
