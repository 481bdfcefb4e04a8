"""One instance with mutants woven in, compiled once: what it notices of each of them.

First the steps of all mutants are compared with those of the specification, state by state over
what the specification reaches. A mutant whose steps are all the same reaches the same states in
the same way: that is a proof, and it needs no search. Each of the others is searched by itself,
with the engine of every other search, and its verdict compared with what the instance declares.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from checker.kernel import build
from checker.kernel.calls import Calls, Expansion
from checker.kernel.kernel import Kernel, Words
from checker.layout import pack
from checker.layout.codec import decode_all
from checker.llvm.meta import ACTION_MASK
from checker.mutation.parts import VARIABLE
from checker.mutation.sights import Sight, flags, search, seen, usual, ways
from checker.mutation.weaver import Mutant
from checker.mutation.weaving import Woven
from checker.search.exploration import Exploration
from checker.search.limits import Limits
from checker.verdict.judge import Verdict

PROMPT_STATES = 1_000_000
"""States in all mutants together up to which code that is written at once pays."""

CHUNKS = (64, 1024, 8192)
"""States whose steps are compared at once: few at first, most mutants differ soon."""


class Subject:
    """One instance with mutants woven in, compiled once."""

    def __init__(
        self, woven: Woven, instance: str, memory: int | None = None, states: int | None = None
    ) -> None:
        """`states` of the instance without a mutant, where that is known."""
        self.woven = woven
        self.instance = instance
        self.memory = memory
        self.machine = woven.machine
        self.layout = pack(self.machine)
        few = states is not None and states * (1 + len(woven.mutants)) <= PROMPT_STATES
        self.kernel: Kernel = build(
            self.machine, self.layout, use_cache=False, prompt=few, brief=few
        )
        self.calls = Calls(self.kernel)
        self.states, self.meta = self.calls.initial()
        place = [variable.name for variable in self.machine.variables].index(VARIABLE)
        (self.leaf,) = self.layout.variable_leaves(place)
        decoded = decode_all(self.layout, self.states)
        self.numbers = np.array([state[place] for state in decoded], np.int64)
        self.recounted: set[int] = set()
        self.most: int | None = None
        self.usual = usual(self.machine, *self.search(0, keep=True))
        self.most = self.usual.most

    def sights(self) -> dict[Mutant, Sight]:
        """Return what this instance sees of each mutant."""
        first = self.first_differences([mutant.number for mutant in self.woven.mutants])
        return {
            mutant: self.sight(mutant.number, first.get(mutant.number))
            for mutant in self.woven.mutants
        }

    # ------------------------------------------------------------------------------- same steps

    def first_differences(self, numbers: Sequence[int]) -> dict[int, tuple[int, str]]:
        """Return, of mutants that make other steps, the depth and the row of a first one."""
        found: dict[int, tuple[int, str]] = {}
        clean = []
        for number in numbers:
            if self.begins_alike(number):
                clean.append(number)
            else:
                found[number] = (0, self.machine.initial.name)
        states = self.usual.exploration.states
        assert isinstance(states, np.ndarray)
        start = 0
        for size in _sizes(len(states)):
            chunk = states[start : start + size]
            for number, (place, row) in self.compare(chunk, clean).items():
                found[number] = (self.depth(start + place), row)
                clean.remove(number)
            start += size
        return found

    def begins_alike(self, number: int) -> bool:
        """Whether a mutant has the initial states of the specification."""
        own, usual = self.numbers == number, self.numbers == 0
        return np.array_equal(self.meta[own], self.meta[usual]) and np.array_equal(
            self.shifted(self.states[own], -number), self.states[usual]
        )

    def shifted(self, states: Words, number: int) -> Words:
        """Return states of the specification as those of a mutant; -number: the other way."""
        moved = np.array(states, np.int64, order="C")
        if self.leaf.width:
            with np.errstate(over="ignore"):
                moved[:, self.leaf.word] += np.int64(number) * np.int64(self.leaf.weight)
        return moved

    def depth(self, place: int) -> int:
        """Return the depth of a state of the specification, by its place in the search."""
        return int(np.searchsorted(np.cumsum(self.usual.exploration.levels), place, side="right"))

    def compare(self, chunk: Words, numbers: Sequence[int]) -> dict[int, tuple[int, str]]:
        """Return, of mutants that differ in these states, the first of the states, and the row."""
        usual = self.calls.expand(chunk)
        seen = self.flags(chunk, usual, 0)
        found: dict[int, tuple[int, str]] = {}
        for number in numbers:
            own = self.calls.expand(self.shifted(chunk, number))
            difference = self.difference(usual, own, number)
            if difference is None:
                other = self.flags(chunk, own, number)
                if not all(map(np.array_equal, seen, other)):
                    difference = (0, "")
            if difference is not None:
                found[number] = difference
        return found

    def flags(self, chunk: Words, steps: Expansion, number: int) -> tuple[NDArray[np.int64], ...]:
        """Return what properties are in these states, and in those beyond the bounds."""
        return flags(self.kernel, self.calls, self.shifted(chunk, number), steps)

    def difference(self, usual: Expansion, own: Expansion, number: int) -> tuple[int, str] | None:
        """Return a first state with other steps and the row of one; None where all are the same."""
        mask = (1 << self.kernel.meta_bits) - 1
        words = self.shifted(own.words, -number)
        if (
            np.array_equal(usual.status, own.status)
            and np.array_equal(usual.ends, own.ends)
            and np.array_equal(usual.meta & mask, own.meta & mask)
            and np.array_equal(usual.words, words)
        ):
            return None
        one = ways(self.calls, usual.ends, usual.meta & mask, usual.words)
        two = ways(self.calls, own.ends, own.meta & mask, words)
        if one != two:
            self.recounted.add(number)
        other = sorted(one.keys() ^ two.keys())
        places = np.flatnonzero(usual.status != own.status)
        if other and (not len(places) or other[0][0] <= places[0]):
            return other[0][0], self.kernel.actions[other[0][1] & ACTION_MASK]
        return (int(places[0]), "") if len(places) else None

    # ---------------------------------------------------------------------------- other verdicts

    def sight(self, number: int, first: tuple[int, str] | None) -> Sight:
        """Return what this instance sees of one mutant whose first other step is `first`."""
        if first is None and number not in self.recounted:
            return Sight(self.instance, "same")
        found = seen(self.usual, *self.search(number))
        if first is None:
            return found if found.seen == "counted" else Sight(self.instance, "same")
        depth, row = first
        return replace(found, row=row or None, depth=depth)

    def search(self, number: int, *, keep: bool = False) -> tuple[Exploration, Verdict]:
        """Search one mutant as its instance is searched by `checker verify`."""
        own = self.numbers == number
        begin = _INITIAL(_Initial(self.states[own], self.meta[own]))
        address = ctypes.cast(begin, ctypes.c_void_p).value
        kernel = replace(self.kernel, initial_address=address or 0)
        limits = Limits(states=self.most, memory_bytes=self.memory)
        return search(self.machine, self.layout, kernel, limits, keep=keep)


def _sizes(count: int) -> list[int]:
    """Return the sizes of chunks that `count` states are compared in."""
    sizes = [*CHUNKS[:-1], *[CHUNKS[-1]] * (count // CHUNKS[-1] + 1)]
    wanted = []
    for size in sizes:
        wanted.append(min(size, count))
        count -= wanted[-1]
    return [size for size in wanted if size]


class _Initial:
    """`Kernel.initial` for chosen states."""

    def __init__(self, states: Words, meta: Words) -> None:
        self.states = np.array(states, np.int64, order="C")
        self.meta = np.array(meta, np.int64, order="C")

    def __call__(self, out: int, capacity: int, meta: int) -> int:
        if len(self.states) > capacity:
            return -1
        ctypes.memmove(out, self.states.ctypes.data, self.states.nbytes)
        ctypes.memmove(meta, self.meta.ctypes.data, self.meta.nbytes)
        return len(self.states)


_INITIAL = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)
