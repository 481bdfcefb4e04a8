"""What a running search tells about itself now and then, and how it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from checker.frozen import frozen


@frozen()
class Progress:
    """A running search.

    `depth` of the states being found; `frontier`: states of the level being expanded; `seconds`
    since the start; `rate`: distinct states a second since the last report; `memory_bytes`: the
    process's peak resident size; `table_bytes`: the visited set's; `frontier_before`: states of
    the level expanded before this one, 0 when there is none.

    A search on a cluster also tells, of the last finished level, `shuffle_bytes` that were sent
    between machines, and `skew`: states of the fullest partition over those of the average one. Of
    a level that takes long it tells how many `tasks` are known, and how many of them are done.
    """

    depth: int
    distinct: int
    generated: int
    frontier: int
    seconds: float
    rate: float
    memory_bytes: int
    table_bytes: int
    frontier_before: int = 0
    shuffle_bytes: int = 0
    skew: float = 0.0
    tasks: int = 0
    tasks_done: int = 0

    @property
    def trend(self) -> str:
        """How the frontier changes from level to level; empty where nothing can be said.

        A wave may shrink and grow again: this looks back one level, and not ahead.
        """
        if self.frontier_before == 0:
            return ""
        ratio = self.frontier / self.frontier_before
        if 0.98 <= ratio <= 1.02:
            return "as wide as the level before"
        return f"{'growing' if ratio > 1 else 'shrinking'}, {ratio:.2f} x the level before"


OnProgress = Callable[[Progress], None]

Interrupt = Event | Callable[[], bool]
"""Set, or true when called: stop."""


def interrupted(interrupt: Interrupt | None) -> bool:
    """Whether `interrupt` asks to stop."""
    if interrupt is None:
        return False
    return interrupt.is_set() if isinstance(interrupt, Event) else interrupt()
