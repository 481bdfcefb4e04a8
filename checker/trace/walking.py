"""A walk through a machine: a path from an initial state on, and what can come next."""

from __future__ import annotations

from collections.abc import Sequence

from checker.errors import UsageError
from checker.frozen import frozen
from checker.machine.machine import Machine
from checker.semantics.successor import State, Successor
from checker.semantics.successors import (
    failing,
    initial_states,
    step_violations,
    successors,
)
from checker.semantics.values import format_value
from checker.trace.itf import read_states
from checker.trace.naming import successor_name
from checker.trace.rebuild import make_step
from checker.trace.recorded import Recorded, the_step
from checker.trace.trace import Step


@frozen()
class Taken:
    """One step of a walk, and the state that it led to."""

    step: Step
    state: State


class Walk:
    """A path through a machine, from an initial state on, with what can come next."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.path: list[Taken] = []
        self.choices: list[Successor] = []
        self.restart()

    def restart(self) -> None:
        """Go before the beginning; where there is one initial state, into it."""
        self.path.clear()
        self.look()
        possible = [item for item in self.choices if item.state is not None]
        if len(possible) == 1:
            self.take(possible[0])

    @property
    def here(self) -> State | None:
        """The state that the walk is in; None before the beginning."""
        return self.path[-1].state if self.path else None

    def look(self) -> None:
        """Find out what can come next."""
        self.choices = (
            initial_states(self.machine)
            if self.here is None
            else successors(self.machine, self.here)
        )

    def take(self, choice: Successor) -> Step:
        """Take a step; one that fails, or leads nowhere, is told and not taken."""
        before = self.path[-1].state if self.path else ()
        if choice.state is None:
            return make_step(self.machine, len(self.path), before, choice)
        if not self.path:
            before = choice.state
        made = make_step(self.machine, len(self.path), before, choice)
        self.path.append(Taken(made, choice.state))
        self.look()
        return made

    def back(self, count: int) -> None:
        """Undo steps, the first state never."""
        del self.path[max(len(self.path) - count, 1) :]
        self.look()

    def follow(self, recorded: Recorded) -> None:
        """Walk along a trace by the steps that it tells; UsageError where it does not fit."""
        states = read_states(self.machine, recorded.data, recorded.name)
        self.path.clear()
        self.look()
        for state, step in zip(states, recorded.steps, strict=True):
            found = the_step(self.choices, state, step)
            if found is None:
                raise UsageError(
                    f"the trace does not fit {self.machine.name}: no step {step.number}"
                )
            self.take(self.choices[found])


Mark = tuple[str, bool]
"""What is odd about a step that can be taken, and whether something is wrong with it."""


def marks(
    machine: Machine, here: State | None, choices: Sequence[Successor]
) -> list[tuple[Mark, ...]]:
    """Return what is odd about each of the steps that can be taken; `here` is None at first.

    Among it are the properties that it breaks, except those that are false here already.
    """
    already = set() if here is None else {name for name, _ in failing(machine, here)}
    return [_marks(machine, here, choice, already) for choice in choices]


def _marks(
    machine: Machine, here: State | None, choice: Successor, already: set[str]
) -> tuple[Mark, ...]:
    found = (
        ("fails", True, choice.error is not None),
        ("beyond the bounds", True, choice.cut == "bounds"),
        ("needs an id that there is not", True, choice.cut == "ids"),
        ("illegal", True, bool(choice.illegal)),
        ("changes nothing", False, here is not None and choice.state == here),
    )
    broken: list[str] = []
    if choice.state is not None:
        false = [name for name, error in failing(machine, choice.state) if error is None]
        broken = [name for name in false if name not in already]
        broken += step_violations(machine, here, choice)
    told = tuple((text, bad) for text, bad, has in found if has)
    return (*told, *((f"breaks {name}", True) for name in broken))


def choice_name(choice: Successor, number: int) -> str:
    """Return a step's name as traces print it."""
    if not number:
        picks = ", ".join(format_value(value) for _, value in (*choice.bindings, *choice.picks))
        return f"initial state {picks}".strip()
    return successor_name(choice)
