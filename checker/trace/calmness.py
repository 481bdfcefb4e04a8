"""What calmness is: few faults, and then few changes of who acts; and runs told as they chose."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from checker.frozen import frozen
from checker.machine.machine import OF_STEPS, Machine
from checker.semantics.successor import State, Successor
from checker.semantics.successors import successors
from checker.trace.claim import breaks
from checker.trace.rebuild import make_step
from checker.trace.trace import Step, Trace

if TYPE_CHECKING:
    from checker.graph.labelled import LabelledGraph

TRIED_MAX = 100_000
"""Beginnings of runs that are looked at before no further one is told."""

Cost = tuple[int, int]


@frozen()
class Party:
    """What a row is to calmness: whether it is a fault, and who acts."""

    fault: int
    actor: str

    def cost(self, last: str) -> Cost:
        """Return what a step of it costs after one of `last`; of a first step that is nobody."""
        return self.fault, int(bool(last) and self.actor != last)


def calmness(trace: Trace) -> Cost:
    """Return how many faults a run has, and how often another party acts than before."""
    actors = [step.actor or step.row for step in trace.steps[1:]]
    turns = sum(one != other for one, other in pairwise(actors))
    return sum(step.fault is not None for step in trace.steps), turns


def parties(machine: Machine, graph: LabelledGraph) -> list[Party]:
    """Return who makes the steps of each label."""
    rows = {action.name: action for action in machine.actions}
    return [
        Party(
            int(rows[label.row].fault is not None),
            rows[label.row].actor or label.row,
        )
        for label in graph.labels
    ]


def as_taken(
    trace: Trace, path: tuple[State, ...], graph: LabelledGraph, labels: list[int]
) -> Trace:
    """Return a trace by the rows that were chosen, where others lead to the same states."""
    steps: list[Step] = [trace.steps[0]]
    for step, label in zip(trace.steps[1:], labels, strict=True):
        row = graph.labels[label].row
        before = path[step.number - 1]
        chosen = step
        if step.row != row:
            found = [
                item
                for item in successors(trace.machine, before)
                if item.action == row and item.state == path[step.number]
            ]
            if step.number == trace.length and trace.loop is None:
                found.sort(key=lambda item: not _is_shown_by(trace, before, item))
            made = next(iter(found), None)
            chosen = step if made is None else make_step(trace.machine, step.number, before, made)
        steps.append(chosen)
    return replace(trace, steps=tuple(steps))


def _is_shown_by(trace: Trace, before: State, step: Successor) -> bool:
    """Whether a last step shows what its run shows, where that is something of steps."""
    if trace.kind == "legal":
        return bool(step.illegal)
    return trace.kind in OF_STEPS and breaks(trace.machine, before, step, trace.property_name)
