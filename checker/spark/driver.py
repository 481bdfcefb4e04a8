"""The levels that the driver finds itself: as long as executors would not be faster.

A job of Spark costs a third of a second whatever it does, and the first one of a session ten; a
small level costs the local engine a millisecond. And a state that goes through a shuffle and waits
for its owner costs several times what it costs threads that share one memory. So the driver runs
that engine, on the cores it has, until its memory ends or executors have so many more cores that
they are ahead. Its levels are in the form in which the owners of states would have written them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from checker.digits import natural
from checker.errors import UsageError
from checker.frozen import frozen
from checker.kernel.kernel import Kernel, Words
from checker.memory import available, default_limit
from checker.search.crew import Crew, Watch
from checker.search.exploration import StoppedBy
from checker.spark.counts import Counts, from_counters
from checker.spark.properties import DRIVER

SHARE = 0.5
"""The part of the free memory of its machine, or container, that the driver's search may take."""
SLOWER = 6
"""Processor seconds of executors for one of the local engine's; docs/spark.md has the runs."""
GAIN = 2.0
"""Seconds that executors have to win in a level to be worth their start, and the states' way."""
_LEVELS = 20
"""How many levels of the size that was asked for the driver holds at most, by their states."""
_READ = 100_000
"""States of a stored level that the driver reads faster than a job of Spark starts."""


@frozen()
class Turn:
    """Which levels the driver finds itself, as long as its memory lasts.

    Those of at most `level` states; None: those that executors would not find faster than its
    `cores` processors.
    """

    level: int | None
    cores: int

    def takes(
        self, frontier: int, distinct: int, seconds: float, executors: Callable[[], int]
    ) -> bool:
        """Whether a level of `frontier` states is expanded here, after `distinct` in all.

        The level before took so many `seconds`; `executors` says how many cores they have.
        """
        if frontier == 0:
            return False
        if self.level is not None:
            return frontier <= self.level and distinct <= _LEVELS * self.level
        return seconds < GAIN or seconds * (1 - SLOWER * self.cores / executors()) < GAIN

    def reads(self, states: int) -> bool:
        """Whether the driver itself looks through a stored level of so many states."""
        return states <= min(_READ, _READ if self.level is None else self.level)


def turn(properties: Mapping[str, str], asked: int | None, cores: int) -> Turn:
    """Return which levels are the driver's: of `asked` states, else what the properties say.

    UsageError where a property is no number.
    """
    text = properties.get(DRIVER)
    if asked is None and text is not None:
        asked = natural(text, 12)
        if asked is None:
            raise UsageError(f"--conf {DRIVER}: a number of states is expected, not {text!r}")
    return Turn(asked, cores)


@frozen(eq=False)
class Level:
    """A level that the driver found: its states, a view, and what was counted finding them."""

    states: Words
    counts: Counts


class Driver:
    """The local engine, level by level. Close it: its threads end, its levels stay."""

    def __init__(self, kernel: Kernel, workers: int, memory: int | None) -> None:
        """Take at most so many bytes of memory; None: a share of what is free now."""
        given = int(SHARE * min(default_limit(), available())) if memory is None else memory
        self._crew = Crew(kernel, workers, given, None)
        self._crew.load_code()
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
        return self._crew.begin(watch) or self._level(0)

    def go_on(self, sizes: Sequence[int], read: Callable[[Words], None]) -> list[Level] | None:
        """Take levels of these sizes as found, and return them; None without the memory.

        `read` fills an array with their states, level after level.
        """
        ends = list(itertools.accumulate(sizes))

        def load(place: Callable[[int, int], Words]) -> None:
            read(place(0, ends[-1]))

        if not self._crew.adopt(ends[-1], sizes, load):
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
