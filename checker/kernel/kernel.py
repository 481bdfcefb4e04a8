"""The Kernel: a machine as native code over packed states. The narrow waist of every engine.

A packed state is `words` int64 words, least significant field first; bit 63 of word 0 is always
clear. A kernel is only given states that a run can be in: a variable that no row writes is taken to
hold what it holds initially (`fixed`). Its native functions (C calling convention, all integers
int64, all pointers to int64):

`initial(out, capacity, meta) -> count`
    The initial states in canonical order. Returns -1 when `capacity` states are too few.

`expand(states, count, out, capacity, meta, ends, status, tallies) -> processed`
    The successors of `count` states, in canonical order (action, bindings, picks). `out` receives
    `words` words each and `meta` one word each (below); `ends[i]` is the number of successors up
    to and including state i; `status[i]` is 1 when state i is no deadlock (an action that is not
    a fault was enabled, or a terminal condition holds), 2 when nobody can tell because a terminal
    condition cannot be evaluated, else 0. `tallies[2 * a]` counts the states in
    which action a was enabled, `tallies[2 * a + 1]` the successors it produced,
    and `tallies[2 * actions + a]` those that are not their source. Stops before the
    state whose successors do not fit and returns the number of states processed; the caller
    empties `out`, or enlarges it when nothing was processed.

`explore(states, count, out, capacity, meta, ends, status, tallies, arrivals) -> processed`
    The same without successors that need not be looked up (`commuting.py`): some that equal their
    source, and those that a search level by level comes upon in another way, because the i-th
    state was found by a step with the number `arrivals[i]`, an int16 (0: not known). They are
    counted like all others; none is left out whose meta word has a flag. Only where
    `Kernel.explore_address` is not 0.

`check(states, count, flags, done, origins) -> count`
    `flags[i]` bit p: state property p (`Kernel.checks[p]`) is violated (`always`) or witnessed
    (`sometimes`) in state i; bit CHECK_ERROR: a property, one of liveness included, could not be
    evaluated. What was told before need not be told again: of properties whose bits `done` has,
    and, where `origins[i]` is the address of a state that was checked before, of those that look
    at nothing in which it differs from state i. Where `origins` is null there are no such states.

`observe(states, count, flags) -> count`
    `flags[i]` says of liveness property p (`Kernel.observed[p]`) in state i: bit PREMISE + p, the
    premise of a `leads_to` is true; bit CONDITION + p, what must come about is true. Of a state
    in which one has no value, which `check` tells, they mean nothing.

`canonical(states, count, meta) -> count`
    Replaces each state, in place, by the representative of its orbit: the same state for all that
    renaming symmetric ids makes of it, and one of them. Where that changes a state, the number is
    taken out of its meta word (below). Only where the machine is to be reduced
    by symmetry (`semantics.symmetry.reduces`); otherwise its address is 0.

`renamed(state, out, namings) -> 0`
    Writes one state with its symmetric ids renamed to `out`. A naming is a word for each of their
    types: nibble i is what id i is called. There where `canonical` is.

A successor's meta word is described in `checker.llvm.meta`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.kernel.refinement import Refinement
from checker.llvm.meta import META_BITS, NUMBER

Words = NDArray[np.int64]

EXPLORE = "define i64 @explore("
"""What the text of a kernel with that function holds."""


@frozen(slots=False)
class Kernel:
    """Native code of one machine; keep it alive while its addresses are in use.

    `refinement` is there where its code was compiled in a moment: it makes the same kernel faster.
    """

    words: int
    actions: tuple[str, ...]
    checks: tuple[str, ...]
    steps: tuple[str, ...]
    initial_address: int
    expand_address: int
    check_address: int
    ir: str
    keep: object
    judges_runs: bool = False
    observed: tuple[str, ...] = ()
    observe_address: int = 0
    instance_shift: int = META_BITS
    canonical_address: int = 0
    renamed_address: int = 0
    explore_address: int = 0
    refinement: Refinement | None = None

    @property
    def best(self) -> Kernel:
        """The same machine as the fastest code there is by now."""
        refined = self.refinement.kernel if self.refinement is not None else None
        return self if refined is None else refined

    def after(self, seconds: float) -> Kernel:
        """Return the same machine as the fastest code there is once work went on for so long.

        Faster code is begun when that pays; `stop` ends it.
        """
        if self.refinement is not None:
            self.refinement.advance(seconds)
        return self.best

    def stop(self) -> None:
        """Make no faster code any more."""
        if self.refinement is not None:
            self.refinement.stop()

    @property
    def judges_states(self) -> bool:
        """Whether `check` has something to say of states."""
        return bool(self.checks or self.observed)

    @property
    def meta_bits(self) -> int:
        """The bits of a meta word that something of a step is said by, numbers left out."""
        return NUMBER if self.explore_address else META_BITS

    def instances(self, meta: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the fair row instances that made steps, by their meta words; -1 for none."""
        said: NDArray[np.int64] = meta & ((1 << self.meta_bits) - 1)
        return (said >> self.instance_shift) - 1
