"""What would end a run that never does what it owes: the nearest way from its loop to what is due.

A loop is fair, or it would be no counterexample. So the way out begins with a step that nobody is
bound to take, and which one that is says what is missing: a promise, or a row that may be held up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter

from checker.errors import EvaluationError
from checker.frozen import frozen
from checker.machine.machine import Machine, Property
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.fairness import FairRows, fair_rows
from checker.semantics.successor import State, Successor
from checker.semantics.successors import as_mapping, successors_by
from checker.trace.naming import successor_name
from checker.trace.trace import WayOut

SEARCHED = 400
"""States that are looked at: the interpreter takes a millisecond or more for one."""


@frozen()
class _Way:
    after: int
    first: Successor
    names: tuple[str, ...]
    state: State


def way_out(machine: Machine, item: Property, path: Sequence[State], start: int) -> WayOut | None:
    """Return the shortest way from a loop to what `item` asks for, without a fault.

    One without steps says that there is none. None where none was found among the first
    `SEARCHED` states, or `item` asks for no single moment.
    """
    if item.formula is not None:
        return None
    turn = range(start, max(len(path) - 1, start + 1))
    found, all_seen = _nearest(machine, item, {path[number]: number for number in reversed(turn)})
    if found is None:
        return WayOut(start, (), "none", 0, len(turn), None) if all_seen else None
    fair = fair_rows(machine)
    strong = [fair.instance(number).strong for number in fair.of(found.first)]
    promise = "none" if not strong else "strong" if any(strong) else "weak"
    changes = {number: _changes(machine, path[number], found.first, fair) for number in turn}
    able = sum(map(bool, changes.values()))
    steps = zip(turn, path[start + 1 :], strict=False)
    taken = (number + 1 for number, after in steps if after in changes[number])
    group, kept = _instead(machine, path[start:], found.first, fair)
    if kept is not None:
        kept += start
    return WayOut(
        found.after, found.names, promise, able, len(turn), next(taken, None), group, kept
    )


def _instead(
    machine: Machine, loop: Sequence[State], wanted: Successor, fair: FairRows
) -> tuple[str, int | None]:
    """Return a group whose promise a step of the loop keeps, and which step of it that is.

    Nothing where something is promised to the instance that made `wanted` by itself.
    """
    promised = {number: fair.instance(number).row for number in fair.of(wanted)}
    if not promised or wanted.action in promised.values():
        return "", None
    for place, (before, after) in enumerate(pairwise(loop), 1):
        for step in successors_by(machine, machine.actions, before) if before != after else ():
            kept = [number for number in fair.of(step) if number in promised]
            if kept and step.state == after and step.cut is None:
                return fair.instance(kept[0]).name, place
    return "", None


def _nearest(machine: Machine, item: Property, begin: dict[State, int]) -> tuple[_Way | None, bool]:
    """Return the shortest way from the states of a loop to what is due, and whether all was seen.

    All was not where there is more than is looked at, or something beyond a bound or an error.
    """
    met, all_seen = set(begin), True
    waiting: deque[tuple[State, int, _Way | None]] = deque(
        (state, number, None) for state, number in sorted(begin.items(), key=itemgetter(1))
    )
    rows = [action for action in machine.actions if action.fault is None]
    while waiting:
        state, number, way = waiting.popleft()
        for step in successors_by(machine, rows, state, once=True):
            if step.state is None or step.cut is not None:
                all_seen = False
                continue
            if step.state in met:
                continue
            if len(met) >= SEARCHED:
                return None, False
            met.add(step.state)
            first, names = (step, ()) if way is None else (way.first, way.names)
            found = _Way(number, first, (*names, successor_name(step)), step.state)
            if _is_due(machine, item, found.state):
                return found, all_seen
            waiting.append((found.state, number, found))
    return None, all_seen


def _is_due(machine: Machine, item: Property, state: State) -> bool:
    try:
        return bool(evaluate(item.condition, Context(as_mapping(machine, state), {})))
    except EvaluationError:
        return False


def _changes(machine: Machine, state: State, wanted: Successor, fair: FairRows) -> list[State]:
    """Return the other states to which the row instance that made a step leads from `state`."""
    rows = [action for action in machine.actions if action.name == wanted.action]
    return [
        step.state
        for step in successors_by(machine, rows, state, once=True)
        if step.state is not None and step.state != state and _same(step, wanted, fair)
    ]


def _same(step: Successor, wanted: Successor, fair: FairRows) -> bool:
    """Whether two steps of a row are of one instance: that is what a promise is made to."""
    if wanted.action in fair.rows:
        return fair.number(step) == fair.number(wanted)
    return step.bindings == wanted.bindings
