"""Why it happened: of a run's steps those that what failed depends on, each with the reason.

A step matters if it changed a place that the failed part of the property reads, if it sent what
such a step received, or if it started the operation that one was told of. Of a place that no step
of the run changed those matter whose row might have: it may be wrong that they did not. So does a
fault, which
a shortest run has because it is needed, and the last step. What is left out may still have been
needed for a row to be enabled: no step of a shortest run can simply be dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from checker.passes.writes import written_variables
from checker.report.travels import Journey
from checker.trace.trace import Change, Step, Trace, deciding

SENT = "sent the"
OUTSIDE = "from outside:"
LEFT = "left as it was:"
"""How reasons begin that are prose; the others are changes."""

_KEYS = re.compile(r"\[[^\]]*\]")


def reads_of(traces: Iterable[Trace]) -> tuple[str, ...]:
    """Return the places that decide what is wrong: those of properties, of rows that cannot run."""
    found: list[str] = []
    for trace in traces:
        decisive = deciding(trace.reasons)
        # What reads all of a collection would make causes of nearly all steps.
        narrow = [reason for reason in decisive if not reason.wide] or decisive
        found += [name for reason in narrow for name in reason.reads]
        found += [name for waiting in trace.waiting for name in waiting.reads]
    return tuple(dict.fromkeys(found))


def concerns(change: Change, reads: Iterable[str]) -> bool:
    """Whether a change is one of a place that is read, or of a part of one."""
    plain = _KEYS.sub("", change.place)
    for name in reads:
        place = plain if "[" not in name else change.place
        if place == name or place.startswith((f"{name}.", f"{name}[")):
            return True
        if name.startswith((f"{place}.", f"{place}[")):
            return True
    return False


def causes(trace: Trace, way: Journey, reads: tuple[str, ...]) -> dict[int, tuple[str, ...]]:
    """Return the steps that matter, with what each has to do with it; empty where unknown."""
    if not reads:
        return {}
    found: dict[int, list[str]] = {}
    rows = _might_have(trace, reads)
    for step in trace.steps[1:]:
        told = _touched(step, reads) + [f"{LEFT} {name}" for name in rows.get(step.row, ())]
        told += [] if step.fault is None else [f"{OUTSIDE} {step.fault}"]
        if told or (step.number == trace.length and trace.loop is None):
            found[step.number] = told
    open_steps = sorted(found, reverse=True)
    events = {
        (step.number, event.channel, event.message) for step in trace.steps for event in step.events
    }
    while open_steps:
        number = open_steps.pop()
        for travel in way.travels:
            if travel.ended != number or travel.sent in {None, number}:
                continue
            assert travel.sent is not None
            if (number, travel.channel, travel.message) not in events:
                continue  # a channel was cleared, whatever was in it
            if travel.sent not in found:
                open_steps.append(travel.sent)
            name = str(getattr(travel.message, "name", "a message"))
            text = f"{SENT} {name} of step {number}"
            told = found.setdefault(travel.sent, [])
            told += [] if text in told else [text]
    return {number: tuple(found[number]) for number in sorted(found)}


def _might_have(trace: Trace, reads: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return of each row what it writes of the variables that are read and that nothing changed."""
    changes = [change for step in trace.steps[1:] for change in step.changes]
    still = {
        _KEYS.sub("", name)
        for name in reads
        if not any(concerns(change, (_KEYS.sub("", name),)) for change in changes)
    }
    return {
        action.name: tuple(name for name in written_variables(action.body) if name in still)
        for action in trace.machine.actions
        if still
    }


def _touched(step: Step, reads: tuple[str, ...]) -> list[str]:
    told = [
        str(change).replace(" -> ", " → ") for change in step.changes if concerns(change, reads)
    ]
    names = {_KEYS.sub("", name) for name in reads}
    told += [f"{event.label} {event.channel}" for event in step.events if event.variable in names]
    return told
