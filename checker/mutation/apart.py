"""What an instance sees of a change that is searched as a text of its own.

For changes that cannot be chosen while a machine runs: of a type, a table, a trigger. The steps of
such a one are compared with those of the specification where both have states of one form.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from checker.elaborate import elaborate
from checker.errors import SpecificationError
from checker.frozen import frozen
from checker.kernel import build
from checker.kernel.calls import Calls
from checker.kernel.kernel import Kernel, Words
from checker.layout import pack
from checker.layout.layout import Layout
from checker.machine.machine import Machine
from checker.mutation.sights import Sight, Usual, flags, refused, search, seen, usual, ways
from checker.search.exploration import Exploration
from checker.search.limits import Limits
from checker.table import Document
from checker.verdict.judge import Verdict

PROMPT_STATES = 200_000
"""States up to which code that is written at once pays, for one search."""

CHUNK = 8192
"""States whose steps are compared at once."""


@frozen(slots=False)
class Built:
    """An instance, compiled."""

    machine: Machine
    layout: Layout
    kernel: Kernel


class Apart:
    """One instance of a specification, beside which changed ones are searched."""

    def __init__(
        self, document: Document, instance: str, memory: int | None, states: int | None = None
    ) -> None:
        """`states` of the instance, where that is known. UsageError where it is not as declared."""
        self.instance = instance
        self.memory = memory
        self.few = states is not None and states <= PROMPT_STATES
        self.built = self._built(elaborate(document, instance))
        self.usual: Usual = usual(self.built.machine, *self._searched(self.built, None, keep=True))

    def sight(self, document: Document) -> Sight:
        """Return what the instance sees of a changed specification."""
        try:
            machine = elaborate(document, self.instance)
            built = self._built(machine)
        except SpecificationError as error:
            return refused(self.instance, error.diagnostics[0])
        if machine.unlike and self.built.machine.symmetry:
            return refused(self.instance, machine.unlike[0])
        same, as_often = self._same_steps(built)
        if same and as_often:
            return Sight(self.instance, "same")
        found = seen(self.usual, *self._searched(built, self.usual.most))
        return found if not same or found.seen == "counted" else Sight(self.instance, "same")

    def _built(self, machine: Machine) -> Built:
        layout = pack(machine)
        kernel = build(machine, layout, use_cache=False, prompt=self.few, brief=self.few)
        return Built(machine, layout, kernel)

    def _searched(
        self, built: Built, most: int | None, *, keep: bool = False
    ) -> tuple[Exploration, Verdict]:
        limits = Limits(states=most, memory_bytes=self.memory)
        return search(built.machine, built.layout, built.kernel, limits, keep=keep)

    def _same_steps(self, built: Built) -> tuple[bool, bool]:
        """Whether no step and no property is another in all that the specification reaches.

        Also whether each step is made in as many ways.
        """
        here, there = self.built, built
        if _said(here) != _said(there):
            return False, False
        one, two = _Steps(here.kernel), _Steps(there.kernel)
        if not all(map(np.array_equal, one.initial(), two.initial())):
            return False, False
        states = self.usual.exploration.states
        assert isinstance(states, np.ndarray)
        as_often = True
        for start in range(0, len(states), CHUNK):
            chunk = states[start : start + CHUNK]
            mine, theirs = one.of(chunk), two.of(chunk)
            if all(map(np.array_equal, mine, theirs)):
                continue
            made, made_there = one.ways(mine), two.ways(theirs)
            alike = all(map(np.array_equal, mine[3:], theirs[3:]))
            if not alike or made.keys() != made_there.keys():
                return False, False
            as_often = as_often and made == made_there
        return True, as_often


def _said(built: Built) -> tuple[object, ...]:
    """Return what steps do not say: the form of states, and what else a machine is judged by."""
    machine, layout = built.machine, built.layout
    groups = [(item.name, item.rows, item.per, item.strong) for item in machine.fair_groups]
    rows = [(item.name, item.fair) for item in machine.actions]
    # What conditions are in states is compared there; what is made of them in runs is this.
    properties = [
        (item.name, item.kind, item.formula, item.within_bounds) for item in machine.properties
    ]
    form = layout.words, layout.variables, layout.shapes, layout.leaves
    return machine.deadlock, rows, groups, properties, form


class _Steps:
    """All that a kernel says of states, in a form that two kernels have alike."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.calls = Calls(kernel)

    def initial(self) -> tuple[Words, ...]:
        return self.calls.initial()

    def of(self, states: Words) -> tuple[Words, ...]:
        """Return steps, and what properties are in these states and in those beyond the bounds."""
        steps = self.calls.expand(states)
        meta = steps.meta & ((1 << self.kernel.meta_bits) - 1)
        told = flags(self.kernel, self.calls, states, steps)
        return (steps.ends, meta, steps.words, steps.status, *told)

    def ways(self, made: tuple[Words, ...]) -> Counter[tuple[int, int, bytes]]:
        """Return how often each of some steps is made."""
        return ways(self.calls, *made[:3])
