"""Takes the lines of a log, says which may be the next ones: in every order that clocks leave open.

Only the lines are kept that some order has not taken yet, or that somebody may come back to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from checker.conformance.log import Event
from checker.conformance.recording import Clock
from checker.errors import UsageError


class StoppedError(Exception):
    """Why nothing can be decided any more."""


class Lines:
    """The lines of a log from the first that some place has not taken, in the order of times."""

    def __init__(self, events: Iterable[Event], clock: Clock, limit: int) -> None:
        self.events, self.clock, self.limit = iter(events), clock, limit
        self.widest = clock.widest
        self.kept: deque[Event] = deque()
        self.first = 0
        self.read = 0
        self._before: deque[int] = deque()
        self._different = 0
        self._last: tuple[str, int] | None = None

    def line(self, number: int) -> Event | None:
        """Return a line by its number; None after the last."""
        while number >= self.read:
            event = next(self.events, None)
            if event is None:
                return None
            if self.widest and event.at is None:
                raise UsageError(
                    f"line {event.line}: the mapping gives clocks an error, so each line needs a "
                    "time"
                )
            self.kept.append(event)
            self.read += 1
            # What a line says may be several things, one after the other.
            which = event.stream, event.line
            self._before.append(self._different - (which == self._last))
            self._different += which != self._last
            self._last = which
            if self.widest and len(self.kept) > self.limit:
                raise StoppedError(
                    f"more than {self.limit:,} lines lie within the error of the clocks"
                )
        return self.kept[number - self.first]

    def before(self, number: int) -> int:
        """Return how many lines of the log stand before what is called the line of a number."""
        return self._before[number - self.first] if number < self.read else self._different

    def forget(self, number: int) -> None:
        """Forget the lines before one."""
        while self.first < number:
            self.kept.popleft()
            self._before.popleft()
            self.first += 1

    def next(self, base: int, ahead: tuple[int, ...]) -> Iterator[int]:
        """Yield the lines that may be the next one: those that none must come before."""
        first = self.line(base)
        if first is None:
            return
        yield base
        if not self.widest:
            return
        latest, seen, number = self._latest(first), {first.stream}, base
        while True:
            number += 1
            event = self.line(number)
            assert first.at is not None
            if event is None or (event.at or 0) - self.widest > latest:
                return
            if number in ahead:
                continue
            if event.stream not in seen and self._earliest(event) <= latest:
                yield number
            seen.add(event.stream)
            latest = min(latest, self._latest(event))

    def _earliest(self, event: Event) -> float:
        assert event.at is not None
        return event.at - self.clock.error_of(event.stream)

    def _latest(self, event: Event) -> float:
        assert event.at is not None
        return event.at + self.clock.error_of(event.stream)
