"""Takes a Machine with its Layout and Kernel, makes a Hunt: a guided search of bounded size.

For what is too large to search. A hunt does not show that nothing is wrong; it is many times as
likely as random walks to come upon what is. What it goes by is in `hunts.py`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from threading import Lock

import numpy as np

from checker.errors import InternalError
from checker.frozen import frozen
from checker.kernel.calls import Calls, HaltedError
from checker.kernel.kernel import Kernel, Words
from checker.layout.codec import decode_all
from checker.layout.layout import Layout, Leaf
from checker.llvm.meta import ACTION_MASK, ERROR
from checker.machine.machine import Machine
from checker.search import hunts as places
from checker.search import walks
from checker.search.finding import Finding
from checker.search.guides import aims
from checker.search.hunts import FOUND, HUNT_SIZE
from checker.search.hunts import hunt as hunt_on
from checker.search.progress import Interrupt, interrupted
from checker.search.simulate import Walker, Watched, signed, watched_of

_CELLS = 1 << 20
"""Cells that are told apart; more of them share places."""
_KEPT = 1 << 17
"""States that are kept to begin at."""
_WAYS = 1 << 22
"""Steps of the ways to them."""
_KEPT_BYTES = 1 << 28
_STEPS_BETWEEN_QUESTIONS = 1 << 11
"""Steps after which somebody may have asked to stop."""
_STEPS_BETWEEN_LOOKS = 1 << 15
_GROWTH = 16
"""A hunt looks more closely when less than one in so many of its cells was new since the last look.
"""
_begun: list[tuple[Kernel, tuple[Words, Words]]] = []
"""The kernel hunted on last, and its initial states."""
_FINDING = Lock()
"""Held while that is found."""


@frozen()
class Hunt:
    """What one hunt found; the same for the same seed, number, steps and depth.

    `steps` that it made: some of those asked for are used up where there is none to make, or to
    begin anew. `cells` that it saw, `kept` states that it could begin at, `deepest` of them.
    `rows[a]`: steps it made by each action. `witnessed` names `sometimes` properties that it saw.
    `complete`: it was not ended before its time, or found something.
    """

    number: int
    steps: int
    cells: int
    kept: int
    deepest: int
    rows: tuple[tuple[str, int], ...]
    witnessed: tuple[str, ...]
    finding: Finding | None
    complete: bool


@frozen()
class _Ways:
    """How one hunt goes about it; the number of a hunt draws them, but for the first."""

    burst: int = 32
    greed: int = 768
    candidates: int = 4
    eager: int = 4
    row_weight: int = 1
    more_of_states: float = 0.1
    sides: float = 1.0
    muted: float = 0.0


def _drawn(chance: random.Random) -> _Ways:
    return _Ways(
        burst=chance.choice((4, 8, 16, 32, 64)),
        greed=chance.choice((512, 768, 960)),
        candidates=chance.choice((2, 4, 8)),
        eager=chance.choice((0, 1, 4, 16)),
        row_weight=chance.choice((0, 1, 16)),
        more_of_states=chance.choice((0.0, 0.1, 0.3, 1.0)),
        sides=chance.choice((0.0, 0.5, 1.0)),
        muted=chance.choice((0.0, 0.0, 0.3, 0.6)),
    )


def hunt(
    machine: Machine,
    layout: Layout,
    kernel: Kernel,
    number: int,
    seed: int,
    steps: int,
    depth: int,
    interrupt: Interrupt | None = None,
    until: float | None = None,
) -> Hunt:
    """Make hunt `number` of a seed: at most so many `steps`, on ways of at most `depth` steps.

    Properties of `machine` that ask (`Property.asks`) are the sides that guide it. `until`: when to
    end, by `time.perf_counter`.
    """

    def asked() -> bool:
        return interrupted(interrupt) or (until is not None and time.perf_counter() >= until)

    try:
        initial = _beginnings(kernel, asked)
    except HaltedError:
        rows = tuple((name, 0) for name in kernel.actions)
        return Hunt(number, 0, 0, 0, 0, rows, (), None, complete=False)
    hunter = _Hunter(machine, layout, kernel, initial, depth)
    chance = random.Random(f"{seed} {number}")  # noqa: S311
    hunter.set_out(chance, first=number == 0)
    hunter.numbers[walks.RANDOM] = signed(seed * 0x9E3779B97F4A7C15 + number)
    began = time.perf_counter()
    found = halted = False
    look = _STEPS_BETWEEN_LOOKS
    while not found and not halted and hunter.attempts < steps:
        made = hunter.attempts
        found = hunter.go_on(min(made + _STEPS_BETWEEN_QUESTIONS, steps))
        if hunter.attempts == made and not found:
            break  # there is no state to begin at
        halted = asked()
        if hunter.attempts >= look:
            look += _STEPS_BETWEEN_LOOKS
            hunter.run_on(kernel.after(time.perf_counter() - began))
            hunter.look_more_closely(chance)
    return Hunt(
        number=number,
        steps=int(hunter.taken.sum()),
        cells=int(hunter.numbers[places.CELLS_SEEN]),
        kept=int(hunter.numbers[places.KEPT_COUNT]),
        deepest=int(hunter.numbers[places.DEEPEST]),
        rows=tuple(zip(kernel.actions, hunter.taken.tolist(), strict=True)),
        witnessed=hunter.witnessed(),
        finding=hunter.finding() if found else None,
        complete=found or not halted,
    )


def _beginnings(kernel: Kernel, asked: Callable[[], bool]) -> tuple[Words, Words]:
    """Return the initial states and their meta words, found once for all hunts of a kernel."""
    with _FINDING:
        if not _begun or _begun[0][0] is not kernel:
            _begun[:] = [(kernel, Calls(kernel).initial(halt=asked))]
        return _begun[0][1]


class _Hunter(Walker):
    """A walker that keeps states to begin at, and counts what it saw."""

    def __init__(
        self,
        machine: Machine,
        layout: Layout,
        kernel: Kernel,
        initial: tuple[Words, Words],
        depth: int,
    ) -> None:
        self.calls = Calls(kernel)
        self.watched: Watched = watched_of(machine, kernel, aims(machine))
        super().__init__(kernel, initial, depth, self.watched, HUNT_SIZE)
        self.machine, self.layout, self.kernel = machine, layout, kernel
        self.cells = np.zeros(_CELLS, np.int64)
        room = min(_KEPT, _KEPT_BYTES // (8 * kernel.words))
        self.kept = np.empty((room, kernel.words), np.int64)
        self.entries = np.zeros((room, places.ENTRY_SIZE), np.int64)
        self.ways = np.empty(_WAYS, np.int64)
        self.mask = np.zeros(kernel.words, np.int64)
        self.muted = np.zeros(len(kernel.actions), np.int64)
        for place, buffer in (
            (places.CELLS, self.cells),
            (places.KEPT, self.kept),
            (places.ENTRIES, self.entries),
            (places.WAYS, self.ways),
            (places.MASK, self.mask),
            (places.MUTED, self.muted),
        ):
            self.numbers[place] = buffer.ctypes.data
        self.numbers[places.CELLS_MASK] = _CELLS - 1
        self.numbers[places.KEPT_ROOM] = room
        self.cells_before = 0
        self.numbers[places.WAYS_ROOM] = _WAYS

    def set_out(self, chance: random.Random, *, first: bool) -> None:
        """Draw how to go about it; the first hunt of a seed leaves nothing out."""
        ways = _Ways() if first else _drawn(chance)
        self.numbers[places.BURST] = ways.burst
        self.numbers[places.GREED] = ways.greed
        self.numbers[places.CANDIDATES] = ways.candidates
        self.numbers[places.EAGER] = ways.eager
        self.numbers[places.ROW_WEIGHT] = ways.row_weight
        self.numbers[places.GUIDE] = sum(
            item.flag
            for item in self.watched.sometimes
            if self._asks(item.name) and chance.random() < ways.sides
        )
        control = {item.name for item in self.machine.variables if item.origin == "machine"}
        spots = {_spot(leaf) for leaf in self.layout.leaves if leaf.width}
        known = {_spot(leaf) for leaf in self.layout.leaves if leaf.variable in control}
        self.unseen = []
        for spot in sorted(spots):
            if spot in known or chance.random() < ways.more_of_states:
                self._see(spot)
            else:
                self.unseen.append(spot)
        for place, action in enumerate(self.machine.actions):
            self.muted[place] = action.fault is not None and chance.random() < ways.muted

    def look_more_closely(self, chance: random.Random) -> None:
        """Where hardly a cell is new any more, tell more of them apart, and leave less out."""
        seen = int(self.numbers[places.CELLS_SEEN])
        if seen - self.cells_before > seen // _GROWTH:
            self.cells_before = seen
            return
        muted = np.flatnonzero(self.muted)
        if len(muted):
            self.muted[chance.choice(muted.tolist())] = 0
        for _ in range(min(max(len(self.unseen) // 8, 1), len(self.unseen))):
            self._see(self.unseen.pop(chance.randrange(len(self.unseen))))
        self.cells[:] = 0
        self.cells_before = 0
        self.numbers[places.CELLS_SEEN] = 0

    def _see(self, spot: tuple[int, int, int]) -> None:
        """Let cells be told apart by some bits of a state, too."""
        word, shift, width = spot
        self.mask[word] |= signed(((1 << width) - 1) << shift)

    def _asks(self, name: str) -> bool:
        return any(item.asks for item in self.machine.properties if item.name == name)

    @property
    def attempts(self) -> int:
        """How often a step was to be made so far, those that found none to make included."""
        return int(self.numbers[walks.STEPS])

    def go_on(self, until: int) -> bool:
        """Hunt until so many steps were to be made; whether something is wrong before."""
        self.numbers[places.STEPS_MAX] = until
        while (result := hunt_on(self.numbers)) == walks.TOO_NARROW:
            self.enlarge(2 * int(self.numbers[walks.CAPACITY]))
        return bool(result == FOUND)

    def witnessed(self) -> tuple[str, ...]:
        """Return the names of the `sometimes` properties that were seen."""
        seen = int(self.numbers[walks.FLAGS_SEEN])
        return tuple(
            item.name
            for item in self.watched.sometimes
            if seen & item.flag and not self._asks(item.name)
        )

    def finding(self) -> Finding:
        """Return what is wrong and the way to it, found again from the numbers of successors."""
        meta = int(self.numbers[walks.LAST_META])
        found = self.watched.wrong(meta, int(self.numbers[walks.LAST_FLAGS]))
        states = self._way()
        if len(states) != int(self.numbers[walks.LENGTH]) + 1:
            raise InternalError("the way to what a hunt found has another length")
        failed = self.numbers[walks.FAILED] != 0
        begun = failed or not meta & ERROR
        return Finding(
            property=found.name,
            kind=found.kind,
            depth=len(states) - 1,
            path=tuple(decode_all(self.layout, np.array(states, np.int64))) if begun else (),
            action=self.kernel.actions[meta & ACTION_MASK] if failed else None,
        )

    def _way(self) -> list[Words]:
        """Return the states from an initial one to where the hunt is."""
        entry = int(self.numbers[places.FROM])
        if entry < 0:
            return [self.states[int(self.numbers[places.BEGINNINGS]) - 1]]
        parts = [self.ways[self.numbers[places.BEGAN] : self.numbers[places.NOW]]]
        while (parent := int(self.entries[entry, places.PARENT])) >= 0:
            begin = int(self.entries[entry, places.WAY])
            length = int(self.entries[entry, places.WAY_LENGTH])
            parts.append(self.ways[begin : begin + length])
            entry = parent
        states: list[Words] = [self.kept[entry]]
        for chosen in np.concatenate(parts[::-1]):
            states.append(self.calls.expand(states[-1].reshape(1, -1)).words[int(chosen)].copy())
        return states


def _spot(leaf: Leaf) -> tuple[int, int, int]:
    """Return which bits of a state hold a cell: its word, its shift and how many."""
    return leaf.word, leaf.shift, leaf.width
