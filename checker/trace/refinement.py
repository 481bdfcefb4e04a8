"""Why a step is no step of the system that is refined: what it does there, and the nearest row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from checker.errors import EvaluationError
from checker.frozen import frozen
from checker.machine import terms
from checker.machine.machine import Action, Machine, Property
from checker.machine.walk import walk
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.execute import executions
from checker.semantics.successor import State
from checker.semantics.successors import as_mapping, initial_steps, instances_of
from checker.semantics.values import format_value
from checker.trace.claim import claimed, property_context
from checker.trace.difference import changes
from checker.trace.explain import explain
from checker.trace.naming import place
from checker.trace.trace import Change

TRIED_MAX = 20_000
"""Executions of rows that are looked at to find the nearest."""

CHANGES_MAX = 6
"""Differences that are told one by one."""

VALUE_MAX = 240
"""Characters of a value that are shown."""


@frozen()
class _Attempt:
    """A row of the coarse system that was tried: what it leaves, and whether it can run."""

    action: Action
    names: Mapping[str, object]
    state: State
    can_run: bool


def strays(machine: Machine, item: Property, path: tuple[State, ...]) -> tuple[str, ...]:
    """Return in sentences why the end of `path` is no step, or no beginning, of what is refined."""
    claim = claimed(item, path)
    leads = next((node for node in walk(claim) if isinstance(node, terms.Leads)), None)
    if leads is None:
        return ()
    context = property_context(machine, path, item)
    before, after = (
        tuple(evaluate(term, context) for term in side) for side in (leads.before, leads.after)
    )
    if leads.begins:
        return tuple(_no_beginning(leads.other, after))
    return (*_what_happens(leads.other, before, after), *_nearest_row(leads.other, before, after))


def _no_beginning(coarse: Machine, state: State) -> Iterator[str]:
    yield f"this is no initial state of {coarse.name}, but {_told(coarse, state)}"
    found = [
        step.state for step in islice(initial_steps(coarse), TRIED_MAX) if step.state is not None
    ]
    if found:
        near = min(found, key=lambda begun: len(changes(coarse, begun, state)))
        yield f"the nearest initial state has {_told(coarse, near, unlike=state)}"


def _what_happens(coarse: Machine, before: State, after: State) -> Iterator[str]:
    moved = _list(changes(coarse, before, after))
    yield f"in {coarse.name} this step changes {moved}; no row of it does that"
    yield f"before it, {_told(coarse, before)}"


def _told(coarse: Machine, state: State, unlike: State | None = None) -> str:
    """Return the values of a state, of those only that differ from another's if there is one."""
    others = unlike or (None,) * len(state)
    shown = [
        f"{variable.name} = {_short(format_value(value))}"
        for variable, value, other in zip(coarse.variables, state, others, strict=True)
        if unlike is None or value != other
    ]
    return ", ".join(shown)


def _short(text: str) -> str:
    return text if len(text) <= VALUE_MAX else f"{text[:VALUE_MAX]}..."


def _list(found: tuple[Change, ...]) -> str:
    shown = "; ".join(_short(str(change)) for change in found[:CHANGES_MAX])
    more = len(found) - CHANGES_MAX
    return shown if more <= 0 else f"{shown}; and {more} more"


# -------------------------------------------------------------------------------- the nearest row


def _nearest_row(coarse: Machine, before: State, after: State) -> Iterator[str]:
    """Tell the row that comes nearest; where it cannot run, also the nearest that can."""
    moving = [
        (len(changes(coarse, attempt.state, after)), attempt)
        for attempt in islice(_attempts(coarse, before), TRIED_MAX)
        if attempt.state != before
    ]
    if not moving:
        yield f"no row of {coarse.name} could change anything there"
        return
    _, near = min(moving, key=lambda one: (one[0], not one[1].can_run))
    if not near.can_run:
        yield from _kept_by_its_guard(coarse, near, before, after)
        moving = [one for one in moving if one[1].can_run]
        if not moving:
            return
        _, near = min(moving, key=lambda one: one[0])
    left = changes(coarse, near.state, after)
    yield f"the nearest row that can run there is {_name(near)}, but it leaves {_otherwise(left)}"


def _kept_by_its_guard(
    coarse: Machine, near: _Attempt, before: State, after: State
) -> Iterator[str]:
    left = changes(coarse, near.state, after)
    also = f", and it would leave {_otherwise(left)}" if left else ""
    lead = "would do just that" if not left else "comes nearest"
    yield f"the nearest row is {_name(near)}: it {lead}, but its guard is false there{also}"
    context = Context(as_mapping(coarse, before), near.names)
    reasons = explain(near.action.guard, context)
    for reason in reasons[-1:]:
        # What is written as a set says itself what it is.
        values = [(part, value) for part, value in reason.values if part[:1] not in {"{", "["}]
        bindings = [pair for one in reasons for pair in one.bindings]
        given = [f"{part} = {value}" for part, value in (*bindings, *values)]
        shown = ", ".join(dict.fromkeys(given))
        told = f", with {_short(shown)}" if shown else ""
        yield f"{_short(reason.text)} is {reason.value}{told} ({reason.place})"


def _otherwise(left: tuple[Change, ...]) -> str:
    """Return what a row leaves and what the step has: `x is 1 where the step has 2`."""
    shown = [
        f"{change.place} {change.before} where the step has {change.after}"
        if change.before is not None and change.after is not None
        else f"{change.place} without {_short(change.after)}, which the step has"
        if change.after is not None
        else f"{change.place} with {_short(change.before or '')}, which the step has not"
        for change in left[:CHANGES_MAX]
    ]
    return "; ".join(shown)


def _name(attempt: _Attempt) -> str:
    """Return a row with its bindings and its place."""
    action = attempt.action
    shown = [format_value(attempt.names[name]) for name in action.shown if name in attempt.names]
    values = f"({', '.join(shown)})" if shown else ""
    return f"{action.name}{values} at {place(action.span)}"


def _attempts(coarse: Machine, before: State) -> Iterator[_Attempt]:
    """Yield what every instance of every row would leave, whatever its guard says."""
    values = as_mapping(coarse, before)
    for action in coarse.actions:
        for names in instances_of(action, values):
            try:
                can_run = bool(evaluate(action.guard, Context(values, names)))
            except EvaluationError:
                continue
            for execution in executions(coarse, action.body, values, names):
                if execution.end == "done":
                    state = tuple(execution.values[item.name] for item in coarse.variables)
                    yield _Attempt(action, names, state, can_run)
