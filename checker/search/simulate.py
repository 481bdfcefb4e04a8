"""Takes a Machine with its Layout and Kernel, makes a Simulation: seeded random walks.

For what is too large to search. Walks cannot show that nothing is wrong, but they go deep at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace

import numpy as np

from checker.frozen import frozen
from checker.kernel.calls import Calls, HaltedError, require_room
from checker.kernel.kernel import Kernel, Words
from checker.layout.codec import decode_all
from checker.layout.layout import Layout
from checker.llvm.meta import ACTION_MASK, ERROR
from checker.machine.machine import Machine
from checker.search import walks as places
from checker.search.aims import Sought, sought_checks, sought_edges
from checker.search.board import Numbers
from checker.search.explore import cores
from checker.search.finding import Finding
from checker.search.progress import Interrupt, interrupted
from checker.search.walks import HALTED, TOO_NARROW, walk_all

_STEPS_OF_A_BATCH = 1 << 22
_WALKS_OF_A_BATCH = (16, 4096)
"""Walks between looks at what they found: at least, at most. No matter how many threads there
are, or the result would depend on them."""
_POLL_SECONDS = 0.05


@frozen()
class WalkedRow:
    """Of one action: visited states in which it was enabled, successors it had, steps it made.

    `first` is the number of the first walk that took it, from 0; None where none did.
    """

    row: str
    enabled: int
    fired: int
    taken: int
    first: int | None


@frozen()
class Simulation:
    """What random walks found; the same for the same seed, walks and depth.

    `walks` and `steps` that were made; `finding` is the violation or failure at the end of the
    shortest violating walk of the batch in which the first was seen, and `walk` that walk's
    number. `witnessed` names the `sometimes` properties that were seen, of those `sought`.
    `complete`: all walks asked for were made, or one found a violation; not, when time or the user
    ended them. `lengths[n]`: how many walks have n steps.
    """

    seed: int
    walks: int
    steps: int
    finding: Finding | None
    walk: int | None
    witnessed: tuple[str, ...]
    sought: tuple[str, ...]
    rows: tuple[WalkedRow, ...]
    complete: bool
    lengths: tuple[int, ...]
    workers: int
    seconds: float


def simulate(
    machine: Machine,
    layout: Layout,
    kernel: Kernel,
    walks: int,
    depth: int,
    seed: int,
    workers: int | None = None,
    seconds: float | None = None,
    interrupt: Interrupt | None = None,
    begin: int = 0,
) -> Simulation:
    """Make `walks` random walks of at most `depth` steps each, and stop where one goes wrong.

    Every walk begins in one of the initial states and takes one of the successors, each as
    likely, until it breaks a property, deadlocks, fails, leaves the bounds or is `depth` steps
    long. `seconds` and `interrupt` end the run early. Only walks from number `begin` on are made;
    where that begins a batch (`batch_of`), what they do is what they would have done after the
    others.
    """
    started = time.perf_counter()
    size = batch_of(depth)

    def asked() -> bool:
        late = seconds is not None and time.perf_counter() - started >= seconds
        return late or interrupted(interrupt)

    first, halted = begin, False
    try:
        initial = Calls(kernel).initial(halt=asked)
    except HaltedError:
        initial, halted = (np.empty((0, kernel.words), np.int64), np.empty(0, np.int64)), True
    run = _Run(machine, kernel, initial, depth, seed, workers or cores())
    try:
        while first < walks and run.best() is None and not halted:
            halted = not run.batch(first, min(first + size, walks), asked)
            first += size
    finally:
        kernel.stop()
    best = run.best()
    return Simulation(
        seed=seed,
        walks=run.total(places.FINISHED_WALKS),
        steps=run.total(places.STEPS),
        finding=None if best is None else run.finding(layout, best),
        walk=best,
        witnessed=run.witnessed(),
        sought=tuple(item.name for item in run.watched.sometimes),
        rows=run.rows(),
        complete=not halted,
        lengths=tuple(np.sum([walker.lengths for walker in run.walkers], axis=0).tolist()),
        workers=len(run.walkers),
        seconds=time.perf_counter() - started,
    )


def batch_of(depth: int) -> int:
    """Return how many walks of so many steps are made between looks at what they found."""
    least, most = _WALKS_OF_A_BATCH
    return max(least, min(most, _STEPS_OF_A_BATCH // max(depth, 1)))


def together(parts: Sequence[Simulation]) -> Simulation:
    """Return what walks in several parts found, as if one run had made them.

    Parts are in the order of their walks, at least one, and the last may be one that found a
    violation.
    """
    last = parts[-1]
    seen = {name for part in parts for name in part.witnessed}
    return replace(
        last,
        walks=sum(part.walks for part in parts),
        steps=sum(part.steps for part in parts),
        witnessed=tuple(name for name in last.sought if name in seen),
        rows=tuple(_added(rows) for rows in zip(*(part.rows for part in parts), strict=True)),
        complete=all(part.complete for part in parts),
        lengths=tuple(map(sum, zip(*(part.lengths for part in parts), strict=True))),
        seconds=sum(part.seconds for part in parts),
    )


def _added(rows: Sequence[WalkedRow]) -> WalkedRow:
    firsts = [row.first for row in rows if row.first is not None]
    return WalkedRow(
        rows[0].row,
        sum(row.enabled for row in rows),
        sum(row.fired for row in rows),
        sum(row.taken for row in rows),
        min(firsts, default=None),
    )


@frozen()
class Watched:
    """What walks look for: what is wrong of a step, of a state, and what is to be seen."""

    edges: tuple[Sought, ...]
    checks: tuple[Sought, ...]
    sometimes: tuple[Sought, ...]
    deadlock: bool

    def wrong(self, meta: int, flags: int) -> Sought:
        """Return what is wrong at the end of a violating walk."""
        for item in self.edges:
            if meta & item.flag:
                return item
        for item in self.checks:
            if flags & item.flag:
                return item
        return Sought(0, "deadlock", "deadlock")


def watched_of(machine: Machine, kernel: Kernel, aims: Collection[str] = ()) -> Watched:
    """Return what walks on `machine` look for; `aims` are `sometimes` properties that end them."""
    checks = sought_checks(machine, kernel)
    return Watched(
        edges=(Sought(ERROR, "error", "error"), *sought_edges(machine, kernel)),
        checks=tuple(item for item in checks if item.kind != "sometimes" or item.name in aims),
        sometimes=tuple(item for item in checks if item.kind == "sometimes"),
        deadlock=machine.deadlock,
    )


class Walker:
    """One thread's numbers (`size` of them) and buffers."""

    def __init__(
        self,
        kernel: Kernel,
        initial: tuple[Words, Words],
        depth: int,
        watched: Watched,
        size: int = places.SIZE,
    ) -> None:
        self.words = kernel.words
        self.numbers = np.zeros(size, np.int64)
        self.states, self.initial_meta = (np.ascontiguousarray(part) for part in initial)
        self.state = np.zeros(kernel.words, np.int64)
        self.scratch = np.zeros(3, np.int64)
        self.tallies = np.zeros(3 * len(kernel.actions), np.int64)
        self.taken = np.zeros(len(kernel.actions), np.int64)
        self.firsts = np.full(len(kernel.actions), -1, np.int64)
        self.lengths = np.zeros(depth + 1, np.int64)
        self.numbers[places.FIRSTS] = self.firsts.ctypes.data
        self.numbers[places.LENGTHS] = self.lengths.ctypes.data
        self.numbers[places.WORDS] = kernel.words
        self.numbers[places.INITIAL] = self.states.ctypes.data
        self.numbers[places.INITIAL_META] = self.initial_meta.ctypes.data
        self.numbers[places.INITIAL_COUNT] = len(self.states)
        self.numbers[places.STATE] = self.state.ctypes.data
        self.numbers[places.SCRATCH] = self.scratch.ctypes.data
        self.numbers[places.TALLIES] = self.tallies.ctypes.data
        self.numbers[places.TAKEN] = self.taken.ctypes.data
        self.numbers[places.BEST_WALK] = -1
        self.numbers[places.DEPTH_MAX] = depth
        self.numbers[places.WRONG_EDGES] = sum(item.flag for item in watched.edges)
        self.numbers[places.WRONG_CHECKS] = sum(item.flag for item in watched.checks)
        self.numbers[places.DEADLOCK_IS_WRONG] = watched.deadlock
        self.run_on(kernel)
        self.enlarge(1 << 10)

    def run_on(self, kernel: Kernel) -> None:
        """Go on with this code, of the same machine."""
        self.numbers[places.EXPAND] = kernel.expand_address
        self.numbers[places.CHECK] = kernel.check_address if kernel.judges_states else 0

    def enlarge(self, capacity: int) -> None:
        """Give room for `capacity` successors of a state; TooManyStepsError without the memory."""
        require_room(capacity, self.words)
        self.out = np.empty(capacity * self.words, np.int64)
        self.meta = np.empty(capacity, np.int64)
        self.numbers[places.OUT] = self.out.ctypes.data
        self.numbers[places.META] = self.meta.ctypes.data
        self.numbers[places.CAPACITY] = capacity

    def walk(self, first: int, end: int, stride: int) -> int:
        """Make walks number `first`, `first` + `stride`, ... below `end`."""
        self.numbers[places.WALK] = first
        self.numbers[places.WALKING] = 0
        while (result := walk_all(self.numbers, end, stride)) == TOO_NARROW:
            self.enlarge(2 * int(self.numbers[places.CAPACITY]))
        return int(result)


@dataclass
class _Run:
    """One simulation: its walkers and what they count as wrong."""

    machine: Machine
    kernel: Kernel
    initial: tuple[Words, Words]
    depth: int
    seed: int
    workers: int
    halt: Numbers = field(default_factory=lambda: np.zeros(1, np.int64))
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.watched = watched_of(self.machine, self.kernel)
        self.walkers = [self._walker() for _ in range(self.workers)]

    def _walker(self) -> Walker:
        walker = Walker(self.kernel, self.initial, self.depth, self.watched)
        walker.numbers[places.SEED] = signed(self.seed)
        walker.numbers[places.HALT] = self.halt.ctypes.data
        return walker

    def batch(self, first: int, end: int, asked: Callable[[], bool]) -> bool:
        """Make the walks number `first` to `end`; False if that was `asked` to end before."""
        stride = len(self.walkers)
        kernel = self._fastest()
        for walker in self.walkers:
            walker.run_on(kernel)
        with ThreadPoolExecutor(stride, thread_name_prefix="walk") as pool:
            running = [
                pool.submit(walker.walk, first + index, end, stride)
                for index, walker in enumerate(self.walkers)
            ]
            try:
                while wait(running, _POLL_SECONDS).not_done:
                    self._fastest()
                    if asked():
                        self.halt[0] = 1
            except BaseException:
                self.halt[0] = 1  # before the pool waits for its threads
                raise
        return HALTED not in {task.result() for task in running} and not asked()

    def _fastest(self) -> Kernel:
        """Return the fastest code there is by now."""
        return self.kernel.after(time.perf_counter() - self.started)

    def best(self) -> int | None:
        """Return the number of the shortest violating walk so far, the first of those."""
        found = [walker.numbers for walker in self.walkers if walker.numbers[places.BEST_WALK] >= 0]
        if not found:
            return None
        return int(
            min((numbers[places.BEST_LENGTH], numbers[places.BEST_WALK]) for numbers in found)[1]
        )

    def total(self, place: int) -> int:
        """Return the sum of one of the walkers' counters."""
        return sum(int(walker.numbers[place]) for walker in self.walkers)

    def witnessed(self) -> tuple[str, ...]:
        """Return the names of the `sometimes` properties that were seen."""
        seen = 0
        for walker in self.walkers:
            seen |= int(walker.numbers[places.FLAGS_SEEN])
        return tuple(item.name for item in self.watched.sometimes if seen & item.flag)

    def rows(self) -> tuple[WalkedRow, ...]:
        """Return what each action did."""
        counted = np.sum([walker.tallies for walker in self.walkers], axis=0)
        tallies = counted[: 2 * len(self.kernel.actions)].reshape(-1, 2)
        taken = np.sum([walker.taken for walker in self.walkers], axis=0)
        return tuple(
            WalkedRow(name, int(enabled), int(fired), int(steps), None if first < 0 else first)
            for name, (enabled, fired), steps, first in zip(
                self.kernel.actions, tallies, taken, self._firsts(), strict=True
            )
        )

    def _firsts(self) -> list[int]:
        """Return the number of the first walk that took each action; -1 where none did."""
        known = np.stack([walker.firsts for walker in self.walkers])
        never = np.iinfo(np.int64).max
        first = np.where(known < 0, never, known).min(axis=0)
        return [-1 if number == never else int(number) for number in first]

    def finding(self, layout: Layout, number: int) -> Finding:
        """Make walk `number` again and return how it ends."""
        walker = self._walker()
        record = np.empty((self.depth + 1, self.kernel.words), np.int64)
        walker.numbers[places.RECORD] = record.ctypes.data
        self.halt[0] = 0
        walker.walk(number, number + 1, 1)
        length = int(walker.numbers[places.LENGTH])
        meta = int(walker.numbers[places.LAST_META])
        found = self.watched.wrong(meta, int(walker.numbers[places.LAST_FLAGS]))
        failed = walker.numbers[places.FAILED] != 0
        begun = failed or not meta & ERROR
        return Finding(
            property=found.name,
            kind=found.kind,
            depth=length,
            path=tuple(decode_all(layout, record[: length + 1])) if begun else (),
            action=self.kernel.actions[meta & ACTION_MASK] if failed else None,
        )


def signed(seed: int) -> int:
    """Return the low 64 bits of `seed` as a signed number."""
    low = seed % (1 << 64)
    return low - (1 << 64) if low >> 63 else low
