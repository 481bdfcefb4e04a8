"""Which findings are told together, and under which names their files are.

Several properties that one run breaks have one story.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from checker.semantics.successor import Successor
from checker.trace import claim
from checker.trace.blocked import waiting_at_the_end
from checker.trace.explain import explain
from checker.trace.refinement import strays
from checker.trace.trace import Reason, Step, Trace


def sentence(text: str) -> str:
    """Return prose that begins with a capital, unless it begins with a name of the model."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def grouped(failures: Iterable[Trace]) -> list[list[Trace]]:
    """Return traces by run: what an earlier run breaks too is told with it, not a second time.

    The reference semantics says whether it does; the reasons are then those of that run.
    """
    groups: list[list[Trace]] = []
    for trace in failures:
        for group in groups:
            told = _told_by(group[0], trace)
            if told is not None:
                group.append(told)
                break
        else:
            groups.append([trace])
    return groups


def _told_by(shown: Trace, trace: Trace) -> Trace | None:
    """Return `trace` as what is wrong with the run of `shown`; None where that shows no such."""
    same = (shown.states, shown.length, shown.loop) == (trace.states, trace.length, trace.loop)
    if same and _called(shown.steps[-1:]) == _called(trace.steps[-1:]):
        return trace
    unlike = shown.failure is not None or trace.failure is not None or not shown.states
    if unlike or shown.length != trace.length or (shown.loop is None) != (trace.loop is None):
        return None
    start, fair = (None, None) if shown.loop is None else (shown.loop.start, shown.loop.promises)
    machine, name = shown.machine, trace.property_name
    last = _called(shown.steps[-1:])

    def made(step: Successor) -> bool:
        return [(step.action, step.bindings, step.picks)] == last

    told = made if shown.length else None
    try:
        loop = claim.shown(machine, name, trace.kind, shown.states, start, told, fair)
    except claim.Unshown:
        return None
    declared = next((item for item in machine.properties if item.name == name), None)
    reasons: tuple[Reason, ...] = ()
    if declared is not None and trace.reasons:
        context = claim.property_context(machine, shown.states, declared, told)
        reasons = explain(declared.condition, context)
    notes = trace.notes
    if declared is not None and trace.kind == "refines":
        notes = strays(machine, declared, shown.states)
    waiting = waiting_at_the_end(machine, trace.kind, shown.states, start)
    return replace(
        trace,
        steps=shown.steps,
        reasons=reasons,
        notes=notes,
        loop=loop,
        waiting=waiting,
        way_out=None,
    )


def _called(steps: Iterable[Step]) -> list[tuple[object, ...]]:
    """Return by what steps are told from others between the same states."""
    return [(step.row, step.bindings, step.picks) for step in steps]


def other_file(trace: Trace, number: int) -> str:
    """Return the name of the ITF file of a further run."""
    return f"{in_paths(trace.property_name)}.other-{number}.itf.json"


def in_paths(name: str) -> str:
    """Return the name of a property for a file: `settles(c1, 2)` as `settles-c1-2`."""
    return re.sub(r"[^\w.]+", "-", name).strip("-")
