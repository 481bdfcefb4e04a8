"""What is known of states that a search cut off: what a run may still owe that goes on there."""

from __future__ import annotations

from checker.llvm.compiled import compiled
from checker.llvm.meta import CONDITION, PREMISE

OUTSIDE_RAISED = 20
OUTSIDE = 1 << 60
"""Where the bits of `told_by` begin that say more than that a property is owed; and the bit that
says that there is such a state at all."""

NO_STATE = 1 << 61
"""What else is told of an initial state that there is none of, because ids ran out."""


@compiled
def told_by(flags: int, properties: int) -> int:
    """Return what a state that was cut, observed as `flags`, tells of some liveness properties.

    Bit p: it still owes property p; OUTSIDE_RAISED + p: and raised it itself; OUTSIDE: always.
    """
    every = (1 << properties) - 1
    pending = ~(flags >> CONDITION) & every
    raised = (flags >> PREMISE) & pending
    return int(OUTSIDE | pending | (raised << OUTSIDE_RAISED))


@compiled
def of_no_state(properties: int) -> int:
    """Return what a step that ran out of ids tells: it may owe everything, and may have raised it.

    Nothing is known of where it would lead.
    """
    every = (1 << properties) - 1
    return int(OUTSIDE | every | (every << OUTSIDE_RAISED))
