"""A session with limits: how far driving came, what differed, the shortest way to each place."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from checker.conformance.adapter import Adapter, AdapterFailure
from checker.conformance.session import Counts, Difference, Path, Session, Taken, Tally
from checker.conformance.space import Choice, Edge, Key, Refused, Space
from checker.frozen import frozen
from checker.search.progress import Interrupt, interrupted

Cover = Literal["auto", "transitions", "rows"]

_STORIES = 40
"""Causes of which the shortest path is looked for."""


@frozen()
class Options:
    """What to cover, and when to stop. `states`: a finite instance has at most so many."""

    cover: Cover = "auto"
    states: int = 20_000
    depth: int = 60
    seed: int = 0
    steps: int | None = None
    seconds: float | None = None


@dataclass
class Group:
    """Differences of one cause: the one with the shortest path, and how many there were."""

    shortest: Difference
    count: int = 1


@dataclass
class Run:
    """What driving found. `stopped`: why it ended before everything asked for was taken."""

    cover: Literal["transitions", "rows"]
    counts: Counts
    groups: dict[tuple[object, ...], Group] = field(default_factory=dict)
    states: int = 0
    states_seen: int = 0
    transitions: int = 0
    untaken: int = 0
    left_open: int = 0
    unrefused: int = 0
    """Calls to be refused that were not made: it was elsewhere, or in one of several states."""
    pairs: int = 0
    pairs_taken: int = 0
    stopped: str | None = None
    failure: AdapterFailure | None = None
    failure_path: tuple[Key, Path, str] | None = None
    seconds: float = 0.0


class Ended(Exception):  # noqa: N818 - a limit was reached
    """A limit was reached, or the user asked to stop."""


class Course:
    """A session with its limits, and what differed so far.

    `watch` is called before each step, with how many were made, in place of looking at limits here.
    `left` is how many seconds are left of those that `options` allow.
    """

    def __init__(
        self,
        space: Space,
        adapter: Adapter,
        options: Options,
        interrupt: Interrupt | None = None,
        tell: Callable[[str], None] = lambda _: None,
        *,
        watch: Callable[[int], None] | None = None,
        left: float | None = None,
    ) -> None:
        self.watch = watch
        self.space, self.options, self.interrupt, self.tell = space, options, interrupt, tell
        self.run = Run("transitions", Counts([Tally() for _ in space.bound.rows]))
        self.session = Session(space, adapter, self.run.counts)
        self.adapter = adapter
        self.asking = ""
        self.came_from: dict[Key, tuple[int, Taken | None]] = {}
        """Of each state that was reached: its distance from a beginning, and the last step."""
        left = options.seconds if left is None else left
        self._deadline = None if left is None else time.monotonic() + left
        self._told = time.monotonic()

    def begin(self, start: Key) -> bool:
        """Reset; False where the implementation does not begin as the model does."""
        self.look()
        self.asking = "reset"
        self.came_from[start] = (0, None)
        return self._keep(self.session.begin(start))

    def take(self, choice: Choice, wanted: Edge | None = None) -> Difference | None:
        """Make one step; return what differs."""
        self.look()
        self.asking = choice.request or "observe"
        here = self.session.here
        assert here is not None
        difference = self.session.take(choice, wanted)
        self._keep(difference)
        now = self.session.here
        if difference is None and now is not None and self.session.path:
            distance = self.came_from.get(here, (0, None))[0] + 1
            self._come(now, distance, self.session.path[-1])
        return difference

    def refuse(self, refusals: tuple[Refused, ...]) -> bool:
        """Make calls that are to be refused; False where the path has ended."""
        self.look()
        self.asking = "calls that are to be refused"
        for difference in self.session.refuse(refusals):
            self._keep(difference)
        return self.session.here is not None

    def _keep(self, difference: Difference | None) -> bool:
        if difference is None:
            return True
        self._join(difference.cause, Group(difference))
        return False

    def _join(self, cause: tuple[object, ...], group: Group) -> None:
        """Count differences of one cause with those that are known."""
        own = self.run.groups.get(cause)
        if own is None:
            self.run.groups[cause] = group
            return
        own.count += group.count
        if len(group.shortest.path) < len(own.shortest.path):
            own.shortest = group.shortest

    def _come(self, key: Key, distance: int, step: Taken | None) -> None:
        """Keep a way to a state if it is shorter than the one that is known."""
        if distance < self.came_from.get(key, (distance + 1, None))[0]:
            self.came_from[key] = (distance, step)

    @property
    def left(self) -> float | None:
        """Seconds that are left; None where they are not limited."""
        return None if self._deadline is None else max(self._deadline - time.monotonic(), 0.0)

    def look(self, beside: int = 0) -> None:
        """Raise Ended at a limit; tell now and then how far it is.

        `beside` steps were made that are not counted yet.
        """
        counts, options = self.run.counts, self.options
        steps = counts.steps + beside
        if self.watch is not None:
            self.watch(steps)
            return
        if options.steps is not None and steps >= options.steps:
            raise Ended(f"the limit of {options.steps:,} steps")
        now = time.monotonic()
        if self._deadline is not None and now >= self._deadline:
            raise Ended(f"the limit of {options.seconds:g} seconds")
        if interrupted(self.interrupt):
            raise Ended("an interrupt")
        if now - self._told >= 5:
            self._told = now
            self.tell(
                f"{steps:,} steps, {counts.requests:,} requests, "
                f"{len(self.run.groups)} kinds of difference"
            )

    def take_in(
        self,
        counts: Counts,
        groups: dict[tuple[object, ...], Group],
        came_from: dict[Key, tuple[int, Taken | None]],
    ) -> None:
        """Add what another course counted, where it differed, and how it came to states."""
        self.run.counts.add(counts)
        for cause, group in groups.items():
            self._join(cause, group)
        for key, (distance, step) in came_from.items():
            self._come(key, distance, step)

    # ------------------------------------------------------------------------ shortest paths

    def shorten(self) -> None:
        """Look for a shorter path to each kind of difference, by making it."""
        self.session.counting = False
        self._deadline = None
        found = sorted(self.run.groups.values(), key=lambda group: len(group.shortest.path))
        for group in found[:_STORIES]:
            path = self._shortest(group.shortest.key)
            if path is None or len(path) >= len(group.shortest.path):
                continue
            again = self._again(group.shortest, path)
            if again is not None and again.cause == group.shortest.cause:
                group.shortest = again

    def _shortest(self, key: Key) -> Path | None:
        steps: list[Taken] = []
        while True:
            entry = self.came_from.get(key)
            if entry is None or len(steps) > entry[0] + len(self.came_from):
                return None
            if entry[1] is None:
                return tuple(reversed(steps))
            steps.append(entry[1])
            key = entry[1].key

    def _again(self, difference: Difference, path: Path) -> Difference | None:
        """Make a path and then what differed; return what differs now."""
        start = path[0].key if path else difference.key
        session = self.session
        if session.begin(start) is not None:
            return None
        for step in path:
            if session.here != step.key or session.take(step.choice, step.edge) is not None:
                return None
        if session.here != difference.key:
            return None
        if difference.refusal is not None:
            found = session.refuse((difference.refusal,))
            return found[0] if found else None
        assert difference.choice is not None
        return session.take(difference.choice, difference.edge)
