"""The first levels of a search, found by the driver itself while they are small.

A job of Spark costs a third of a second whatever it does, and the first one of a session ten; a
small level costs the local engine a millisecond. So the driver runs that engine, on the cores it
has, and hands its levels over in the form in which the owners of states would have written them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from checker.errors import UsageError
from checker.kernel.kernel import Kernel, Words
from checker.search.crew import Crew, Watch
from checker.search.exploration import StoppedBy
from checker.search.memory import default_limit
from checker.search.stepper import Stepper
from checker.spark.counts import Counts, from_counters
from checker.spark.properties import DRIVER

LEVEL = 1_000_000
"""States of a level up to which the driver finds the next one itself."""
_LEVELS = 20
"""How many such levels it holds at most, by their states."""
_BYTES = 1 << 28
"""Bytes of packed states that it holds at most."""
_MEMORY = 8 * _BYTES
"""Bytes that it may take at most, for the visited set and the level after the last one, too."""


@dataclass(frozen=True, slots=True)
class Small:
    """What the driver searches itself: levels of so many states, so many states in all."""

    level: int
    states: int

    def takes(self, frontier: int, distinct: int) -> bool:
        """Whether a level of `frontier` states is expanded here, after `distinct` in all."""
        return 0 < frontier <= self.level and distinct <= self.states


def small(properties: Mapping[str, str], asked: int | None, words: int) -> Small:
    """Return what is small: levels of `asked` states, else what the session's properties say.

    UsageError where a property is no number.
    """
    if asked is None:
        text = properties.get(DRIVER, str(LEVEL))
        if not text.isdecimal() or len(text) > 9:
            raise UsageError(f"--conf {DRIVER}: a number of states is expected, not {text!r}")
        asked = int(text)
    return Small(asked, min(_LEVELS * asked, _BYTES // (8 * words)))


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A level that the driver found: its states, a view, and what was counted finding them."""

    states: Words
    counts: Counts


class Driver:
    """The local engine, level by level. Close it: its threads end, its levels stay."""

    def __init__(self, kernel: Kernel, workers: int) -> None:
        self._crew = Crew(kernel, workers, min(_MEMORY, default_limit()), None)
        self._crew.load_code()
        self._kernel = kernel
        self._start = 0

    def close(self) -> None:
        """End its threads."""
        self._crew.__exit__(None, None, None)

    @property
    def bytes(self) -> int:
        """Bytes of the visited set."""
        return self._crew.store.visited_bytes(self._crew.tail)

    def begin(self, watch: Watch) -> Level | StoppedBy:
        """Return the first level, of the initial states; or why there is none."""
        stepper = Stepper(self._kernel)
        states, meta = stepper.initial()
        stopped = self._crew.place_initial(stepper.canonical(states), meta, watch)
        return stopped or self._level(0)

    def go_on(self, sizes: Sequence[int], read: Callable[[Words], None]) -> list[Level] | None:
        """Take levels of these sizes as found, and return them; None without the memory.

        `read` fills an array with their states, level after level.
        """
        ends = list(itertools.accumulate(sizes))

        def load(place: Callable[[int, int], Words]) -> None:
            read(place(0, ends[-1]))

        if not self._crew.adopt(ends[-1], load):
            return None
        self._start = ends[-1] - sizes[-1]
        starts = [0, *ends[:-1]]
        states = self._crew.store.states
        return [Level(states(*part), Counts()) for part in zip(starts, ends, strict=True)]

    def expand(self, watch: Watch) -> Level | StoppedBy:
        """Return the next level; or why it was not finished, after which there is none."""
        start, end = self._start, self._crew.tail
        stopped = self._crew.expand_level(start, end, watch)
        self._start = end
        return stopped or self._level(end - start)

    def _level(self, expanded: int) -> Level:
        counts = replace(from_counters(self._crew.take_counters()), expanded=expanded)
        begin = self._start if expanded else 0
        return Level(self._crew.store.states(begin, self._crew.tail), counts)
