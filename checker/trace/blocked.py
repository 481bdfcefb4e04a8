"""Why nothing can happen in a state: the rows that come nearest to it, and what each waits for.

A guard is read as it is evaluated, from the left. A row whose guard gets past its first parts is
meant for a situation like this one; the part that it gets no further at is what it waits for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from checker.errors import EvaluationError
from checker.machine import terms
from checker.machine.machine import Action, Machine
from checker.machine.terms import Read, Term
from checker.machine.walk import walk
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successor import State
from checker.semantics.successors import as_mapping, instances_of
from checker.semantics.values import format_value
from checker.trace.explain import explain
from checker.trace.trace import Reason, Waiting, deciding

SHOWN = 3
"""Rows that are told: where more wait, the first ones say what is wrong."""

PART_SHOWN = 40
"""Letters of a part whose value is told: longer ones are no place that a reader knows."""

NEGATED = re.compile(r"not ([\w.\[\]]+)$")


def waiting_at_the_end(
    machine: Machine, kind: str, path: tuple[State, ...], loop: int | None
) -> tuple[Waiting, ...]:
    """Return what waits at the end of a run that stands still there: a deadlock, or for ever."""
    if kind == "deadlock":
        return blocked(machine, path[-1], machine.actions)
    if loop is None or loop < len(path) - 1:
        return ()
    # Others need not run, whatever they lack.
    return blocked(machine, path[-1], [item for item in machine.actions if item.fair != "none"])


def blocked(machine: Machine, state: State, actions: Iterable[Action]) -> tuple[Waiting, ...]:
    """Return which of some rows come nearest to running in `state`, and what each lacks.

    Faults are none of them. Instances of a row that lack the same are told once.
    """
    values = as_mapping(machine, state)
    found = [
        waiting
        for action in actions
        if action.fault is None
        for waiting in _instances(action, values)
    ]
    best = max((passed for passed, _ in found), default=0)
    told: dict[tuple[object, ...], Waiting] = {}
    for passed, item in found:
        if passed == best:
            key = (item.name.partition("(")[0], item.lacks, item.values)
            known = told.get(key)
            told[key] = item if known is None else replace(known, alike=known.alike + 1)
    return tuple(told.values())[:SHOWN]


def plainly(reason: Reason) -> tuple[str, str]:
    """Return a part of a condition and its value; of a plain `not x`, what `x` is."""
    denied = NEGATED.match(reason.text)
    other = {"true": "false", "false": "true"}.get(reason.value)
    if denied is not None and other is not None:
        return denied[1], other
    return reason.text or "a part of it", reason.value


def _instances(action: Action, values: Mapping[str, object]) -> Iterator[tuple[int, Waiting]]:
    """Yield the instances of a row that some part of its guard holds up, and how far they got."""
    begun = int(action.trigger.kind in {"message", "outcome"})
    for names in instances_of(action, values):
        context = Context(values, names)
        passed = begun
        for part in _parts(action.guard):
            try:
                holds = evaluate(part, context)
            except EvaluationError:
                break
            if holds:
                passed += any(isinstance(node, Read) for node in walk(part))
                continue
            reasons = explain(part, context)
            if passed and reasons:
                yield passed, _waiting(action, names, reasons)
            break


def _waiting(action: Action, names: Mapping[str, object], reasons: tuple[Reason, ...]) -> Waiting:
    shown = ", ".join(format_value(names[name]) for name in action.shown)
    decisive = deciding(reasons)
    # What decides which part counts is as it is; the part is what has to become another.
    lacking = next((reason for reason in reasons if not reason.given), reasons[0])
    values = {
        part: value
        for reason in decisive
        for part, value in reason.values
        if part not in action.shown and len(part) <= PART_SHOWN
    }
    return Waiting(
        name=f"{action.name}({shown})" if shown else action.name,
        about=action.about,
        lacks=" is ".join(plainly(lacking)),
        values=tuple(values.items()),
        reads=tuple(dict.fromkeys(name for reason in decisive for name in reason.reads)),
    )


def _parts(guard: Term) -> Iterator[Term]:
    if isinstance(guard, terms.And):
        for item in guard.items:
            yield from _parts(item)
    else:
        yield guard
