"""The Machine as text: what lies between elaborating and packing."""

from __future__ import annotations

from collections.abc import Iterator

from checker.machine.machine import Action, Machine
from checker.semantics.evaluate import describe
from checker.trace.naming import excerpt


def machine_text(machine: Machine) -> str:
    """Return a Machine: its constants, variables, actions, properties and bounds, typed."""
    return "\n".join(_machine_lines(machine)) + "\n"


def _machine_lines(machine: Machine) -> Iterator[str]:
    yield f"machine {machine.name}, instance {machine.instance}"
    yield from (f"constant {name} = {value}" for name, value in machine.constants)
    for kind in machine.ids:
        yield f"ids {kind.name} = {', '.join(kind.members)}" + " (symmetric)" * kind.symmetric
    for variable in machine.variables:
        follows = f", follows table {variable.table}" if variable.table else ""
        yield f"{variable.origin} {variable.name}: {describe(variable.type)}{follows}"
    for action in (machine.initial, *machine.actions):
        yield from _action_lines(action)
    for item in machine.properties:
        yield f"property {item.name}: {item.kind} {excerpt(item.condition.span)}"
    for group in machine.fair_groups:
        fair = "strong" if group.strong else "weak"
        per = "".join(f" per {name}" for name, _ in group.per)
        yield f"fair together ({fair}{per}) {group.name}: {', '.join(row for row, _ in group.rows)}"
    bounds = (*machine.bounds, *machine.step_bounds)
    yield from (f"bound {excerpt(bound.span)}" for bound in bounds)
    yield from (f"terminal {excerpt(term.span)}" for term in machine.terminal)
    yield from (f"budget {name} = {count}" for name, count in machine.budgets)


def _action_lines(action: Action) -> Iterator[str]:
    marks: list[str] = [action.trigger.kind]
    marks += [f"of {action.trigger.message}"] if action.trigger.message else []
    marks += [f"fault {action.fault}"] if action.fault else []
    marks += [f"{action.fair} fairness"] if action.fair != "none" else []
    marks += ["generated"] if action.generated else []
    yield f"action {action.name} ({', '.join(marks)})"
    for binding in action.bindings:
        yield f"  for {binding.name} in {excerpt(binding.domain.span)}: " + describe(
            binding.domain.type
        )
    if action.guard.span != action.span:
        yield f"  when {excerpt(action.guard.span)}"
    yield f"  {len(action.body)} statements at {action.span}"
