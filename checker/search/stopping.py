"""When a search ends: the rule that every engine follows, and the clock that each looks at."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from checker.machine.machine import Machine
from checker.search.exploration import StoppedBy
from checker.search.limits import Limits
from checker.search.progress import Interrupt, OnProgress, Progress, interrupted

PROGRESS_SECONDS = 0.5
"""Between two reports of how a search goes."""


def awaited(machine: Machine) -> frozenset[str]:
    """Return the properties of which one must break before a violation ends the search.

    An instance may declare which property is violated: others that break before it do not keep it
    from being reached. Empty where any violation will do.
    """
    declared = None if machine.expectation is None else machine.expectation.property
    if declared is None:
        return frozenset()
    names = {item.name for item in machine.properties if declared in (item.name, item.declared)}
    if declared == "legal" or (declared == "deadlock" and machine.deadlock):
        names.add(declared)
    return frozenset(names)


def why_last(
    machine: Machine,
    limits: Limits,
    found: Iterable[tuple[str, str]],
    level: int,
    *,
    nothing_left: bool,
) -> StoppedBy | None:
    """Return why the finished level is the last; None to go on, or when nothing is left.

    `found` are the names and kinds of the findings so far, `level` the one that would be expanded
    next.
    """
    names = {name for name, kind in found if kind not in {"error", "sometimes"}}
    names -= {item.name for item in machine.properties if item.asks} if names else set()
    if any(kind == "error" for _, kind in found):
        return "evaluation_error"
    if nothing_left:
        return None
    wanted = awaited(machine)
    if names and not limits.keep_going and (not wanted or wanted & names):
        return "violation"
    if limits.depth is not None and level >= limits.depth:
        return "depth"
    return None


@dataclass(slots=True)
class Clock:
    """When to stop for reasons outside the search, and when to tell how it goes."""

    limits: Limits
    progress: OnProgress | None
    interrupt: Interrupt | None
    started: float = field(default_factory=time.perf_counter)
    reported: float = field(default_factory=time.perf_counter)
    distinct: int = 0

    @property
    def seconds(self) -> float:
        """Seconds since the search began."""
        return time.perf_counter() - self.started

    def reason(self) -> StoppedBy | None:
        """Return why to stop now; None to go on."""
        if interrupted(self.interrupt):
            return "interrupt"
        if self.limits.seconds is not None and self.seconds >= self.limits.seconds:
            return "seconds"
        return None

    def tell(self, distinct: int, progress: Callable[[float, float], Progress]) -> Progress | None:
        """Tell how the search goes, unless that was told a moment ago; return what was told.

        `progress` makes it of the seconds so far and the states found a second since the last one.
        """
        now = time.perf_counter()
        if self.progress is None or now - self.reported < PROGRESS_SECONDS:
            return None
        rate = (distinct - self.distinct) / (now - self.reported)
        self.reported, self.distinct = now, distinct
        told = progress(now - self.started, rate)
        self.progress(told)
        return told
