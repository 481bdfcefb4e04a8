"""The Trace: a counterexample or witness as numbered steps that a person can follow."""

from __future__ import annotations

from dataclasses import replace

from checker.frozen import frozen
from checker.machine.machine import Machine
from checker.search.finding import FindingKind
from checker.semantics.successor import Event, IllegalTransition, State
from checker.trace.lasso import Loop


@frozen()
class Change:
    """One place that a step changed: `client[c1].generation`, its values before and after.

    Values are text as the language writes them. What came into or left a set, a bag or a channel
    has only an after (`+m2`) or only a before (`-m2`).
    """

    place: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.place}: +{self.after}"
        if self.after is None:
            return f"{self.place}: -{self.before}"
        return f"{self.place}: {self.before} -> {self.after}"


@frozen()
class Move:
    """A machine that a step moved, for state diagrams: `client[c1].state` of table `member`."""

    machine: str
    table: str
    origin: str
    target: str


@frozen()
class Step:
    """One step. Step 0 is the initial state. `state` is None where the step failed (`error`)."""

    number: int
    row: str
    bindings: tuple[tuple[str, object], ...]
    picks: tuple[tuple[str, object], ...]
    state: State | None
    changes: tuple[Change, ...]
    moves: tuple[Move, ...]
    events: tuple[Event, ...]
    illegal: tuple[IllegalTransition, ...]
    actor: str | None
    fault: str | None
    about: str
    source: str
    outside_bounds: bool
    error: str | None


@frozen()
class Reason:
    """Why a condition has the value it has: a part of it, its value, place, and what is in it.

    `depth` is how deep the part lies below the condition, for indentation; `values` are the
    sub-terms of an atom with their values, `bindings` the witnesses of quantifiers around it.
    `reads` are the places that decide it: `coordinator.members`, `client[c1].state`. What is
    `given` is what the condition is about: what stands left in an implication. A
    `wide` part is about all of a collection, none of which decides alone.
    """

    text: str
    value: str
    place: str
    depth: int
    bindings: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, str], ...]
    reads: tuple[str, ...] = ()
    given: bool = False
    wide: bool = False


def deciding(reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """Return the parts that decide: those not taken apart further, and not only presupposed.

    Of a false `or` every part is false and had to be, of a true `and` every part true; of a false
    implication it is the right side, the left is `given`.
    """
    ends = [
        reason
        for place, reason in enumerate(reasons, 1)
        if place == len(reasons) or reasons[place].depth <= reason.depth
    ]
    return tuple(reason for reason in ends if not reason.given) or tuple(ends[-1:])


@frozen()
class Waiting:
    """A row that cannot run where nothing can, by the name of its step, and what it `lacks`.

    `lacks` is the part of its guard that is false, `values` what stands in that, `reads` the places
    that decide it, `alike` how many other instances lack the same.
    """

    name: str
    about: str
    lacks: str
    values: tuple[tuple[str, str], ...]
    reads: tuple[str, ...]
    alike: int = 0

    def __str__(self) -> str:
        where = ", ".join(f"{part} is {value}" for part, value in self.values)
        others = f" (and {self.alike} like it)" if self.alike else ""
        return f"{self.name}{others} cannot happen: {self.lacks}" + f", where {where}" * bool(where)


@frozen()
class WayOut:
    """How what a loop owes could come about: `steps`, by name, that go on from after step `after`.

    `promise` is what is promised to the first of them: `none`, `weak`, `strong`. It can happen in
    `possible` of the `states` of the loop; `elsewhere` is a step of the loop that it is, too. Where
    nothing is promised to it but as one of a `group` of rows, `kept` is a step of the loop that
    keeps that promise.
    """

    after: int
    steps: tuple[str, ...]
    promise: str
    possible: int
    states: int
    elsewhere: int | None
    group: str = ""
    kept: int | None = None


@frozen()
class Failure:
    """An evaluation error: its code and message, its place, the row or property it happened in."""

    code: str
    message: str
    place: str
    row: str | None
    property: str | None


@frozen()
class Trace:
    """A replayed path: what it shows (`property_name`, `kind`), its steps, and why it shows it.

    A run that never does what it owes ends in a `loop`: its last state is also the one after step
    `loop.start`; `way_out` is what would end it. Of one that stands still `waiting` are the rows
    that come nearest to going on.
    """

    machine: Machine
    property_name: str
    kind: FindingKind
    why: str
    steps: tuple[Step, ...]
    reasons: tuple[Reason, ...]
    failure: Failure | None
    notes: tuple[str, ...]
    loop: Loop | None = None
    waiting: tuple[Waiting, ...] = ()
    way_out: WayOut | None = None

    @property
    def length(self) -> int:
        """Number of steps after the initial state, a failing one included."""
        return len(self.steps) - 1

    @property
    def states(self) -> tuple[State, ...]:
        """The states along the path."""
        return tuple(step.state for step in self.steps if step.state is not None)


@frozen()
class Provenance:
    """How to repeat the run that found a trace, without saying where this machine keeps files."""

    spec: str
    command: str
    overrides: tuple[tuple[str, int | bool | str], ...] = ()

    def by(self, name: str, more: str = "") -> Provenance:
        """Return how another command is repeated than `checker check`, with `more` behind it."""
        command = self.command.replace("checker check", f"checker {name}", 1)
        return replace(self, command=f"{command} {more}" if more else command)
