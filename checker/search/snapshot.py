"""A search between two levels, without its states: all that a checkpoint has to say of it."""

from __future__ import annotations

from checker.frozen import frozen
from checker.search.aims import Aim


@frozen()
class Counters:
    """What the threads counted, added up.

    `edges_seen` and `checks_seen` are flags, or-ed; `tallies` has of each action the states in
    which it was enabled and its successors, `new` those of them that are not their source.
    """

    generated: int
    cuts: int
    deadlocks: int
    edges_seen: int
    checks_seen: int
    tallies: tuple[tuple[int, int], ...]
    new: tuple[int, ...]


@frozen()
class Snapshot:
    """A search whose levels before `level` were expanded; `levels` are the sizes of all found.

    The states are the first `distinct` of the queue. `seconds` of searching it took so far.
    """

    level: int
    levels: tuple[int, ...]
    counters: Counters
    aims: tuple[Aim, ...]
    seconds: float

    @property
    def distinct(self) -> int:
        """States found so far."""
        return sum(self.levels)

    @property
    def expanded(self) -> int:
        """States expanded so far."""
        return sum(self.levels[: self.level])
