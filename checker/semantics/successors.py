"""Steps: the initial states of a machine, the successors of a state, and what holds in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from checker.errors import EvaluationError
from checker.frozen import frozen
from checker.machine.machine import OF_STEPS, Action, Binding, Machine
from checker.semantics.evaluate import Context, MadeBy, evaluate
from checker.semantics.execute import Execution, executions
from checker.semantics.successor import State, Successor
from checker.semantics.values import choices

Judgement = tuple[tuple[str, EvaluationError | None], ...]
"""Names of properties, each with the error where it could not be evaluated."""


def as_mapping(machine: Machine, state: State) -> dict[str, object]:
    """Return a state as variable name to value."""
    return {variable.name: value for variable, value in zip(machine.variables, state, strict=True)}


def initial_states(machine: Machine, *, once: bool = False) -> list[Successor]:
    """Return the executions of the initial action, in canonical order.

    They start from the state in which every variable has its initial value. `once` as for
    `successors`.
    """
    return list(initial_steps(machine, once=once))


def initial_steps(machine: Machine, *, once: bool = False) -> Iterator[Successor]:
    """Yield what `initial_states` returns, one by one: there may be very many."""
    try:
        start = as_mapping(machine, _start(machine))
    except EvaluationError as error:
        yield Successor(machine.initial.name, (), (), None, error=error)
        return
    for step in _steps(machine, machine.initial, start, once=once):
        yield _checked(machine, None, step)


def start_state(machine: Machine) -> State | None:
    """Return the state in which every variable has its initial value; None where one fails."""
    try:
        return _start(machine)
    except EvaluationError:
        return None


def _start(machine: Machine) -> State:
    nothing = Context({}, {})
    return tuple(evaluate(variable.initial, nothing) for variable in machine.variables)


def successors(machine: Machine, state: State, *, once: bool = False) -> list[Successor]:
    """Return what every action does in `state`: action in file order, bindings, then picks.

    A step that fails, or whose bounds or `step` properties cannot be evaluated, is in the list
    with its error and without a state. Executions that were not enabled are not in it. `once`: of
    the picks of an instance that come to the same, only the first are in it.
    """
    return list(successors_by(machine, machine.actions, state, once=once))


def successors_by(
    machine: Machine, actions: Iterable[Action], state: State, *, once: bool = False
) -> Iterator[Successor]:
    """Yield of what `successors` returns what some actions do, each when it is asked for."""
    values = as_mapping(machine, state)
    for action in actions:
        for step in _steps(machine, action, values, once=once):
            yield _checked(machine, state, step)


def steps_between(
    machine: Machine, actions: Iterable[Action], before: State, after: State
) -> Iterator[Successor]:
    """Yield of what `successors` returns what some actions do that leads to a certain state."""
    values = as_mapping(machine, before)
    for action in actions:
        for step in _steps(machine, action, values, once=False):
            if step.state == after:  # judging a step takes longer than making it
                checked = _checked(machine, before, step)
                if checked.state == after:
                    yield checked


def leads(machine: Machine, before: State, after: State, *, begins: bool) -> bool:
    """Return whether some row of `machine`, or its initial action, leads from a state to another.

    Its bounds and properties say nothing of that.
    """
    values = as_mapping(machine, before)
    return any(
        step.state == after
        for action in ((machine.initial,) if begins else machine.actions)
        for step in _steps(machine, action, values, once=False)
    )


# ----------------------------------------------------------------------- instances of an action


@frozen()
class _Instance:
    """An action with a value for some of its bindings (and lets), or the error they ended in."""

    names: Mapping[str, object]
    error: EvaluationError | None = None


def _steps(
    machine: Machine, action: Action, values: Mapping[str, object], *, once: bool
) -> Iterator[Successor]:
    for instance in _enabled(action, values):
        shown = _shown(action, instance.names)
        if instance.error is not None:
            yield Successor(action.name, shown, (), None, error=instance.error)
            continue
        met: set[object] = set()
        for execution in executions(machine, action.body, values, instance.names):
            if execution.end == "abandoned":
                continue
            step = _successor(machine, action, shown, execution)
            end = step.state, step.cut, bool(step.illegal)
            if step.error is not None or not once or end not in met:
                yield step
            met.add(end)


def _enabled(action: Action, values: Mapping[str, object]) -> Iterator[_Instance]:
    """Every instance whose guard is true, and every one that fails before its body."""
    for instance in _bound(action.bindings, Context(values, {})):
        if instance.error is not None:
            yield instance
            continue
        names = dict(instance.names)
        context = Context(values, names)
        try:
            for name, value in action.lets:
                names[name] = evaluate(value, context)
            if evaluate(action.guard, context):
                yield _Instance(names)
        except EvaluationError as error:
            yield _Instance(names, error)


def instances_of(action: Action, state: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield the names of every instance of `action`, whatever its guard says, with their values.

    Instances whose bindings or lets cannot be evaluated in `state` are left out.
    """
    for instance in _bound(action.bindings, Context(state, {})):
        if instance.error is not None:
            continue
        names = dict(instance.names)
        context = Context(state, names)
        try:
            for name, value in action.lets:
                names[name] = evaluate(value, context)
        except EvaluationError:
            continue
        yield names


def _bound(bindings: Sequence[Binding], context: Context) -> Iterator[_Instance]:
    """Every combination of the bindings, the last one varying fastest.

    An error ends what depends on it: that of a domain the loop, that of a condition the value.
    """
    if not bindings:
        yield _Instance(context.names)
        return
    first, rest = bindings[0], bindings[1:]
    try:
        domain = choices(first.domain.type, evaluate(first.domain, context))
    except EvaluationError as error:
        yield _Instance(context.names, error)
        return
    for value in domain:
        inner = context.bind(first.name, value)
        try:
            chosen = first.condition is None or evaluate(first.condition, inner)
        except EvaluationError as error:
            yield _Instance(inner.names, error)
            continue
        if chosen:
            yield from _bound(rest, inner)


def _shown(action: Action, names: Mapping[str, object]) -> tuple[tuple[str, object], ...]:
    """What belongs to the step's name, as far as it has a value."""
    order = [binding.name for binding in action.bindings if binding.shown]
    return tuple((name, names[name]) for name in (*order, *action.shown_lets) if name in names)


def _successor(
    machine: Machine,
    action: Action,
    shown: tuple[tuple[str, object], ...],
    execution: Execution,
) -> Successor:
    match execution.end:
        case "failed":
            return Successor(action.name, shown, execution.picks, None, error=execution.error)
        case "out of ids":
            return Successor(action.name, shown, execution.picks, None, cut="ids")
    return Successor(
        action.name,
        shown,
        execution.picks,
        tuple(execution.values[variable.name] for variable in machine.variables),
        execution.events,
        execution.illegal,
    )


def _checked(machine: Machine, source: State | None, step: Successor) -> Successor:
    """`step` with its cut by the bounds, or as failed when it cannot be judged."""
    if step.state is None:
        return step
    inside = True
    try:
        if machine.bounds:
            context = Context(as_mapping(machine, step.state), {})
            inside = all(evaluate(bound, context) for bound in machine.bounds)
        step_violations(machine, source, step)
        if source is not None and machine.step_bounds:
            both = Context(as_mapping(machine, source), {}, as_mapping(machine, step.state))
            inside = all(evaluate(bound, both) for bound in machine.step_bounds) and inside
    except EvaluationError as error:
        return Successor(step.action, step.bindings, step.picks, None, error=error)
    if inside:
        return step
    return Successor(
        step.action, step.bindings, step.picks, step.state, step.events, step.illegal, "bounds"
    )


# --------------------------------------------------------------------------- what holds in them


def deadlocked(machine: Machine, state: State, steps: Sequence[Successor]) -> bool:
    """Return whether `state`, with these successors, is a deadlock.

    It is none where an action that is not a fault is enabled (a cut successor counts), where a
    terminal condition holds, or where a step failed, because then nobody knows. Raises
    EvaluationError when a terminal condition cannot be evaluated.
    """
    faults = {action.name for action in machine.actions if action.fault is not None}
    if any(step.error is not None or step.action not in faults for step in steps):
        return False
    context = Context(as_mapping(machine, state), {})
    return not any(evaluate(condition, context) for condition in machine.terminal)


def failing(machine: Machine, state: State) -> Judgement:
    """Return the `always` properties that are false in `state` or cannot be evaluated there."""
    return _judged(machine, "always", Context(as_mapping(machine, state), {}), wanted=False)


def witnessed(machine: Machine, state: State) -> Judgement:
    """Return the `sometimes` properties that are true in `state` or cannot be evaluated there."""
    return _judged(machine, "sometimes", Context(as_mapping(machine, state), {}), wanted=True)


def unjudged(machine: Machine, state: State) -> Judgement:
    """Return the liveness properties of which a condition cannot be evaluated in `state`."""
    context = Context(as_mapping(machine, state), {})
    found: list[tuple[str, EvaluationError | None]] = []
    for watch in machine.watches:
        try:
            for term in (watch.condition, watch.premise):
                if term is not None:
                    evaluate(term, context)
        except EvaluationError as error:
            found.append((watch.name, error))
    return tuple(found)


def step_violations(machine: Machine, state: State | None, successor: Successor) -> tuple[str, ...]:
    """Return the properties of steps that this step breaks.

    Of an initial one (from None) these are the systems of which it leads to no initial state.
    Raises EvaluationError when one cannot be evaluated; a successor that `successors` returned
    with a state never does.
    """
    judged = [item for item in machine.properties if item.kind in OF_STEPS]
    if successor.state is None or not judged:
        return ()
    following = as_mapping(machine, successor.state)
    if state is None:
        begun = Context(following, {})
        return tuple(
            item.name
            for item in judged
            if item.kind == "refines" and item.premise and not evaluate(item.premise, begun)
        )
    made_by = MadeBy(successor.action, dict(successor.bindings))
    context = Context(as_mapping(machine, state), {}, following, made_by)
    return tuple(item.name for item in judged if not evaluate(item.condition, context))


def _judged(machine: Machine, kind: str, context: Context, *, wanted: bool) -> Judgement:
    found: list[tuple[str, EvaluationError | None]] = []
    for item in machine.properties:
        if item.kind == kind:
            try:
                if evaluate(item.condition, context) == wanted:
                    found.append((item.name, None))
            except EvaluationError as error:
                found.append((item.name, error))
    return tuple(found)
