"""Whether the end of a path shows what a finding claims, by the reference semantics alone."""

from __future__ import annotations

from collections.abc import Callable

from checker.errors import EvaluationError
from checker.machine.machine import LIVENESS, OF_STEPS, Machine, Property
from checker.machine.terms import Term
from checker.semantics.evaluate import Context, MadeBy, evaluate
from checker.semantics.successor import State, Successor
from checker.semantics.successors import (
    as_mapping,
    deadlocked,
    initial_steps,
    step_violations,
    successors,
)
from checker.trace.lasso import NoLasso, loop_of

Made = Callable[[Successor], bool]
"""Whether a step is the one that a run tells last, of those that lead to its state."""


def contradiction(
    machine: Machine,
    name: str,
    kind: str,
    path: tuple[State, ...],
    loop: int | None = None,
    made: Made | None = None,
) -> str | None:
    """Return why `path` does not show `kind` of the property `name`; None where it does.

    `loop` is where a path that shows something of endless runs goes round from. Where it is told
    which step comes last, that step has to show it. An evaluation
    error has no claim about states; `checker.trace.rebuild` finds it again itself.
    """
    if kind in {"deadlock", "legal"} and name != kind:
        return f"{kind} is claimed under the name {name}"
    if kind == "deadlock":
        if not machine.deadlock:
            return "the specification does not judge deadlocks"
        try:
            stuck = deadlocked(machine, path[-1], successors(machine, path[-1]))
        except EvaluationError as error:
            return f"a terminal condition cannot be evaluated: {error}"
        return None if stuck else "its last state is no deadlock"
    if kind == "legal":
        steps = successors(machine, path[-2]) if len(path) > 1 else initial_steps(machine)
        ends = (step for step in steps if step.state == path[-1])
        illegal = any(step.illegal for step in ends if made is None or made(step))
        return None if illegal else "its last step is legal"
    if kind not in {"always", "step", "refines", "sometimes", *LIVENESS}:
        return None
    declared = next((item for item in machine.properties if item.name == name), None)
    if declared is None:
        return f"the specification has no property {name}"
    if declared.kind != kind:
        return f"{name} is `{declared.kind}` in the specification, not `{kind}`"
    try:
        if kind in LIVENESS:
            loop_of(machine, declared, path, -1 if loop is None else loop)
            return None
        context = property_context(machine, path, declared, made)
        value = evaluate(claimed(declared, path), context)
    except EvaluationError as error:
        return f"{name} cannot be evaluated: {error}"
    except NoLasso as error:
        return str(error)
    return None if value is (kind == "sometimes") else f"its end does not show {name}"


def claimed(item: Property, path: tuple[State, ...]) -> Term:
    """Return what a property claims of the end of `path`: of a first state that it is initial."""
    begins = item.kind == "refines" and len(path) == 1 and item.premise is not None
    return item.premise if begins and item.premise is not None else item.condition


def property_context(
    machine: Machine, path: tuple[State, ...], item: Property, made: Made | None = None
) -> Context:
    """Return where a property is evaluated at the end of `path`: its last state, or last step.

    Of several steps that lead there, of those only that are `made`, it is the first of which the
    property is false.
    """
    last = as_mapping(machine, path[-1])
    if item.kind not in OF_STEPS or (item.kind == "refines" and len(path) == 1):
        return Context(last, {})
    before = path[-2] if len(path) > 1 else path[-1]
    ends = (step for step in successors(machine, before) if step.state == path[-1])
    steps = [step for step in ends if made is None or made(step)]
    broken = next((step for step in steps if breaks(machine, before, step, item.name)), None)
    step = broken or next(iter(steps), None)
    made_by = None if step is None else MadeBy(step.action, dict(step.bindings))
    return Context(as_mapping(machine, before), {}, last, made_by)


def breaks(machine: Machine, before: State, step: Successor, name: str) -> bool:
    """Whether a step breaks the `step` property called `name`."""
    return name in step_violations(machine, before, step)
