"""Long runs in parts: where something breaks, or something that there is one of moves."""

from __future__ import annotations

from collections import Counter

from checker.frozen import frozen
from checker.trace.trace import Step, Trace

SHORT = 24
"""Runs of so many steps are told in one."""

LEAST = 5
MOST = 30


@frozen()
class Phase:
    """Some steps in a row, and what happens in them in a few words."""

    first: int
    last: int
    title: str


def phases(trace: Trace) -> tuple[Phase, ...]:
    """Return the parts of a run in order; one without a title where it is short."""
    steps = trace.steps[1:]
    if len(steps) <= SHORT:
        return (Phase(1, len(steps), ""),) if steps else ()
    parts: list[list[Step]] = [[]]
    for step in steps:
        here = parts[-1]
        begins = trace.loop is not None and step.number == trace.loop.start + 1
        turns = step.fault is not None or any("[" not in move.machine for move in step.moves)
        if here and (begins or len(here) >= MOST or (turns and len(here) >= LEAST)):
            parts.append([])
        parts[-1].append(step)
    if len(parts) > 1 and len(parts[-1]) < LEAST and trace.loop is None:
        last = parts.pop()
        parts[-1] += last
    return tuple(Phase(part[0].number, part[-1].number, _title(part)) for part in parts)


def _title(steps: list[Step]) -> str:
    """Return what happens in some steps: moves and faults, then the rows most often taken."""
    moved: dict[str, tuple[str, str]] = {}
    for step in steps:
        for move in step.moves:
            if "[" not in move.machine:
                origin = moved.get(move.machine, (move.origin, ""))[0]
                moved[move.machine] = (origin, move.target)
    told = [f"{name}: {origin} → {target}" for name, (origin, target) in moved.items()]
    for limited in (True, False):
        rows = Counter(step.row for step in steps if (step.fault is not None) == limited)
        most = rows.most_common(3)
        told += [f"{row}, {times} times" if times > 1 else row for row, times in most]
    return "; ".join(told)
