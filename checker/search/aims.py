"""What a search looks for in a kernel's words, and what it found, before that has a path."""

from __future__ import annotations

from collections.abc import Sequence

from checker.frozen import frozen
from checker.kernel.kernel import Kernel
from checker.llvm.meta import CHECK_ERROR, ERROR, ILLEGAL, STEP
from checker.machine.machine import OF_STEPS, Machine
from checker.search.finding import FindingKind

INITIAL = -1
"""The level before the first."""


@frozen()
class Aim:
    """What a finding of the search looks like: a deadlock, or a successor with a flag.

    `level` is the level whose expansion showed it; INITIAL for what initial states showed.
    `edge` is a flag of the successor's meta word, `check` one of `Kernel.check`'s; both are 0 for
    a deadlock. The flag ERROR also stands for a state whose terminal conditions failed.
    """

    name: str
    kind: FindingKind
    level: int
    edge: int = 0
    check: int = 0

    @property
    def ends_in_source(self) -> bool:
        """Whether the last state is the one that was expanded: a deadlock or a failed step."""
        return self.check == 0 and self.edge in (0, ERROR)

    @property
    def depth(self) -> int:
        """Steps to the last state."""
        return self.level if self.ends_in_source and self.level != INITIAL else self.level + 1


@frozen()
class Sought:
    """A flag of meta words or of checked states, and the finding it stands for."""

    flag: int
    name: str
    kind: FindingKind


def sought_edges(machine: Machine, kernel: Kernel) -> tuple[Sought, ...]:
    """Return what meta words tell besides failed steps: `legal`, then `step` as declared."""
    steps = (
        Sought(1 << (STEP + kernel.steps.index(item.name)), item.name, item.kind)
        for item in machine.properties
        if item.kind in OF_STEPS and item.name in kernel.steps
    )
    return (Sought(ILLEGAL, "legal", "legal"), *steps)


def sought_checks(machine: Machine, kernel: Kernel) -> tuple[Sought, ...]:
    """Return what checked states tell: properties as declared, then that one failed."""
    properties = (
        Sought(1 << kernel.checks.index(item.name), item.name, item.kind)
        for item in machine.properties
        if item.kind in ("always", "sometimes") and item.name in kernel.checks
    )
    return (*properties, Sought(CHECK_ERROR, "error", "error"))


@frozen()
class Goals:
    """All that a search of one machine looks for; `deadlock`: whether one is a finding."""

    edges: tuple[Sought, ...]
    checks: tuple[Sought, ...]
    deadlock: bool


def sought(machine: Machine, kernel: Kernel) -> Goals:
    """Return all that a search of `machine` looks for."""
    return Goals(sought_edges(machine, kernel), sought_checks(machine, kernel), machine.deadlock)


def newly_found(
    goals: Goals, known: Sequence[Aim], level: int, *, edges: int, checks: int, deadlocks: int
) -> list[Aim]:
    """Return what the expansion of `level` showed and is not `known`, so at its least depth.

    `edges` and `checks` are the flags of all successors and of all checked states so far.
    """
    found: list[Aim] = []

    def note(aim: Aim) -> None:
        if not any((aim.name, aim.kind) == (old.name, old.kind) for old in (*known, *found)):
            found.append(aim)

    if edges & ERROR:
        note(Aim("error", "error", level, edge=ERROR))
    if deadlocks and goals.deadlock:
        note(Aim("deadlock", "deadlock", level))
    for item in goals.edges:
        if edges & item.flag:
            note(Aim(item.name, item.kind, level, edge=item.flag))
    for item in goals.checks:
        if checks & item.flag:
            note(Aim(item.name, item.kind, level, check=item.flag))
    return found
