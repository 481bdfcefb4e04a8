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
from checker.trace.lasso import Loop, NoLasso, Promise, loop_of

Made = Callable[[Successor], bool]
"""Whether a step is the one that a run tells last, of those that lead to its state."""


class Unshown(Exception):  # noqa: N818 (the answer to a question)
    """Says why a path does not show what is claimed of it."""


def contradiction(
    machine: Machine,
    name: str,
    kind: str,
    path: tuple[State, ...],
    loop: int | None = None,
    made: Made | None = None,
) -> str | None:
    """Return why `path` does not show `kind` of the property `name`, as `shown` says; or None."""
    try:
        shown(machine, name, kind, path, loop, made)
    except Unshown as wrong:
        return str(wrong)
    return None


def shown(
    machine: Machine,
    name: str,
    kind: str,
    path: tuple[State, ...],
    loop: int | None = None,
    made: Made | None = None,
    fair: tuple[Promise, ...] | None = None,
) -> Loop | None:
    """See to it that `path` shows `kind` of the property `name`; Unshown where it does not.

    `loop` is where a path that shows something of endless runs goes round from: how it does is
    returned; `fair` is what is known of that, as `loop_of` has it. Where it is told which step
    comes last, that step has to show it. An evaluation error has no claim about states;
    `checker.trace.rebuild` finds it again itself.
    """
    if kind in {"deadlock", "legal"}:
        _require_built_in(machine, name, kind, path, made)
    if kind not in {"always", "step", "refines", "sometimes", *LIVENESS}:
        return None
    declared = next((item for item in machine.properties if item.name == name), None)
    if declared is None:
        raise Unshown(f"the specification has no property {name}")
    if declared.kind != kind:
        raise Unshown(f"{name} is `{declared.kind}` in the specification, not `{kind}`")
    try:
        if kind in LIVENESS:
            return loop_of(machine, declared, path, -1 if loop is None else loop, fair)
        context = property_context(machine, path, declared, made)
        value = evaluate(claimed(declared, path), context)
    except EvaluationError as error:
        raise Unshown(f"{name} cannot be evaluated: {error}") from error
    except NoLasso as error:
        raise Unshown(str(error)) from error
    if value is not (kind == "sometimes"):
        raise Unshown(f"its end does not show {name}")
    return None


def _require_built_in(
    machine: Machine, name: str, kind: str, path: tuple[State, ...], made: Made | None
) -> None:
    """Raise Unshown where a path does not end in a deadlock, or with an illegal step."""
    if name != kind:
        raise Unshown(f"{kind} is claimed under the name {name}")
    if kind == "deadlock":
        if not machine.deadlock:
            raise Unshown("the specification does not judge deadlocks")
        try:
            stuck = deadlocked(machine, path[-1], successors(machine, path[-1]))
        except EvaluationError as error:
            raise Unshown(f"a terminal condition cannot be evaluated: {error}") from error
        if not stuck:
            raise Unshown("its last state is no deadlock")
        return
    steps = successors(machine, path[-2]) if len(path) > 1 else initial_steps(machine)
    ends = (step for step in steps if step.state == path[-1])
    if not any(step.illegal for step in ends if made is None or made(step)):
        raise Unshown("its last step is legal")


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
