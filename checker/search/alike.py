"""Looks whether a machine treats symmetric ids alike, on a sample of the states a search kept.

What needs an order of ids is refused before any search; what a loop over ids does with the order
it meets them in cannot be seen then. So some states are renamed and must have the same successors,
renamed, and the same properties. A sample proves nothing, but an order that matters at all seldom
hides from it.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np

from checker.errors import Diagnostic, SpecificationError
from checker.kernel.kernel import Kernel, Words
from checker.layout.codec import decode, encode
from checker.layout.layout import Layout
from checker.llvm.meta import ACTION_MASK, CHECK_ERROR, ERROR
from checker.machine.machine import Machine
from checker.search.stepper import Step, Stepper
from checker.semantics.symmetry import Renaming, permute_state, symmetric_ids
from checker.source import Span

SAMPLE = 64
"""States that are looked at, at most; evenly spread over all levels."""


def require_alike(machine: Machine, layout: Layout, kernel: Kernel, states: Words) -> None:
    """Rename some of `states` (one a row), the representatives that a search kept.

    Raises SpecificationError (Y330) where that changes more than names.
    """
    if not kernel.canonical_address or not len(states):
        return
    stepper = Stepper(kernel)
    choose = random.Random(0)  # noqa: S311 - any renaming will do, but the same ones every time
    chosen = np.linspace(0, len(states) - 1, min(len(states), SAMPLE)).astype(np.int64)
    for state in states[np.unique(chosen)]:
        renamed = permute_state(machine, decode(layout, state), _renaming(machine, choose))
        other = encode(layout, renamed)
        difference = _difference(machine, stepper, state, other)
        if difference is not None:
            raise SpecificationError((_asymmetric(machine, *difference),))


def _renaming(machine: Machine, choose: random.Random) -> Renaming:
    return {
        kind.name: dict(
            zip(kind.members, choose.sample(kind.members, len(kind.members)), strict=True)
        )
        for kind in symmetric_ids(machine)
    }


def _difference(
    machine: Machine, stepper: Stepper, one: Words, two: Words
) -> tuple[str, Span] | None:
    """Return what, and where, is not the same of two states but for names; None if all is.

    States in which something cannot be evaluated are passed over: which id it fails for first
    may depend on their order.
    """
    steps = stepper.successors(one), stepper.successors(two)
    if any((step.meta & ERROR).any() for step in steps):
        return None
    first, second = (_moves(stepper, step) for step in steps)
    for (meta, _), _count in sorted(((first - second) + (second - first)).items()):
        action = machine.actions[meta & ACTION_MASK]
        return f"row {action.name} does something else", action.span
    flags = stepper.check(np.stack((one, two)))
    if flags[0] != flags[1] and not (flags & CHECK_ERROR).any():
        place = int(flags[0] ^ flags[1])
        name = stepper.kernel.checks[(place & -place).bit_length() - 1]
        item = next(item for item in machine.properties if item.name == name)
        return f"property {name} says something else", item.span
    return None


def _moves(stepper: Stepper, step: Step) -> Counter[tuple[int, bytes]]:
    """Return how often each step leads to each representative."""
    same, said = stepper.canonical(step.states), (1 << stepper.kernel.meta_bits) - 1
    return Counter(
        (meta & said, state.tobytes()) for meta, state in zip(step.meta.tolist(), same, strict=True)
    )


def _asymmetric(machine: Machine, what: str, span: Span) -> Diagnostic:
    names = " and ".join(kind.name for kind in symmetric_ids(machine))
    return Diagnostic(
        code="Y330",
        message=f"{what} when the ids of {names} are renamed, though they are declared symmetric",
        span=span,
        expected="the same, but for names",
        help=(
            "look for a loop over ids whose effect depends on their order, or a variable `per` id"
            " that keeps a value when the id is free again; or search with --symmetry off"
        ),
    )
