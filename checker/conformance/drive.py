"""Takes a Space and an adapter, makes a Run: every transition at least once, or every row.

*transitions*: every step of every state of a finite instance, along paths that share what they
can. From a state with nothing left to do the way leads to the nearest one with something, or back
to the beginning where that is nearer. *rows*: random walks, which only the model makes, are looked
through for steps of a row in a control state (the states of all its machines) that was not taken
yet, and only those walks are made on the implementation.
"""

from __future__ import annotations

import heapq
import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from checker.conformance.adapter import Adapter, AdapterFailure
from checker.conformance.session import Counts, Difference, Path, Session, Taken, Tally
from checker.conformance.space import Choice, Edge, Key, Refused, Space
from checker.search.progress import Interrupt, interrupted

Cover = Literal["auto", "transitions", "rows"]

_NEAR = 3000
"""States looked at for the nearest one with something left to do."""
_SNAPSHOTS = 200
_WALKS = 64
_QUIET = 4
"""Batches of walks that find nothing new before walking ends."""
_TRIES = 3
"""Times that a way is made anew where the implementation led elsewhere."""
_STORIES = 40
"""Causes of which the shortest path is looked for."""


@dataclass(frozen=True, slots=True)
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
    pairs: int = 0
    pairs_taken: int = 0
    stopped: str | None = None
    failure: AdapterFailure | None = None
    failure_path: tuple[Key, Path, str] | None = None
    seconds: float = 0.0


class Ended(Exception):  # noqa: N818 - a limit was reached
    """A limit was reached, or the user asked to stop."""


def drive(
    space: Space,
    adapter: Adapter,
    options: Options,
    interrupt: Interrupt | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Run:
    """Drive an implementation until everything is covered or a limit is reached."""
    started = time.perf_counter()
    driver = _Driver(space, adapter, options, interrupt, tell)
    run = driver.run
    try:
        graph = None
        if options.cover != "rows":
            limit = options.states if options.cover == "auto" else None
            graph = _explore(space, limit, driver.look)
        if graph is None:
            run.cover = "rows"
            _Walks(driver).all()
        else:
            run.states, run.transitions = len(graph), _transitions(space, graph)
            _Transitions(driver, graph).all()
    except Ended as ended:
        run.stopped = str(ended)
    except AdapterFailure as failure:
        run.failure, run.stopped = failure, "the adapter failed"
        session = driver.session
        run.failure_path = (session.start, tuple(session.path), driver.asking)
    if run.failure is None:
        try:
            driver.shorten()
        except AdapterFailure as failure:
            run.failure, run.stopped = failure, "the adapter failed"
    run.seconds = time.perf_counter() - started
    return run


def _explore(space: Space, limit: int | None, look: Callable[[], None]) -> dict[Key, int] | None:
    """Return every state with its distance from the beginning; None where there are too many."""
    depth = dict.fromkeys(space.initial(), 0)
    waiting = deque(depth)
    while waiting:
        if limit is not None and len(depth) > limit:
            return None
        look()
        key = waiting.popleft()
        for choice in space.node(key).choices:
            for edge in choice.edges:
                if edge.target not in depth:
                    depth[edge.target] = depth[key] + 1
                    waiting.append(edge.target)
    return depth


def _transitions(space: Space, graph: dict[Key, int]) -> int:
    return sum(len(choice.edges) for key in graph for choice in space.node(key).choices)


class _Driver:
    """The session with its limits, and what differed so far."""

    def __init__(
        self,
        space: Space,
        adapter: Adapter,
        options: Options,
        interrupt: Interrupt | None,
        tell: Callable[[str], None],
    ) -> None:
        self.space, self.options, self.interrupt, self.tell = space, options, interrupt, tell
        self.run = Run("transitions", Counts([Tally() for _ in space.bound.rows]))
        self.session = Session(space, adapter, self.run.counts)
        self.adapter = adapter
        self.asking = ""
        self.came_from: dict[Key, tuple[int, Taken | None]] = {}
        """Of each state that was reached: its distance from a beginning, and the last step."""
        self._deadline = None if options.seconds is None else time.monotonic() + options.seconds
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
            if distance < self.came_from.get(now, (distance + 1, None))[0]:
                self.came_from[now] = (distance, self.session.path[-1])
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
        group = self.run.groups.get(difference.cause)
        if group is None:
            self.run.groups[difference.cause] = Group(difference)
            return False
        group.count += 1
        if len(difference.path) < len(group.shortest.path):
            group.shortest = difference
        return False

    def look(self) -> None:
        """Raise Ended at a limit; tell now and then how far it is."""
        counts, options = self.run.counts, self.options
        if options.steps is not None and counts.steps >= options.steps:
            raise Ended(f"the limit of {options.steps:,} steps")
        now = time.monotonic()
        if self._deadline is not None and now >= self._deadline:
            raise Ended(f"the limit of {options.seconds:g} seconds")
        if interrupted(self.interrupt):
            raise Ended("an interrupt")
        if now - self._told >= 5:
            self._told = now
            self.tell(
                f"{counts.steps:,} steps, {counts.requests:,} requests, "
                f"{len(self.run.groups)} kinds of difference"
            )

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


class _Transitions:
    """Takes every choice of every state of a finite graph."""

    def __init__(self, driver: _Driver, graph: dict[Key, int]) -> None:
        self.driver, self.space, self.graph = driver, driver.space, graph
        self.starts = [key for key, depth in graph.items() if depth == 0]
        self.pending = {key: list(self.space.node(key).choices) for key in graph}
        self.refused = {key for key in graph if self.space.node(key).refused}
        self.broken: set[Choice] = set()
        self.wrong_starts: set[Key] = set()
        self.seen: set[tuple[Key, int, Key]] = set()
        self.reached: set[Key] = set()
        self.saved: dict[Key, tuple[object, tuple[Key, ...], Key, Path]] = {}
        self._plan()

    def all(self) -> None:
        """Drive until nothing that can be reached is left."""
        try:
            while self._go():
                self._work()
        finally:
            self._sum_up()

    def _sum_up(self) -> None:
        run = self.driver.run
        run.states_seen = len(self.reached)
        for key in self.graph:
            for choice in self.space.node(key).choices:
                left = [e for e in choice.edges if (key, e.row, e.target) not in self.seen]
                if choice in self.pending[key]:
                    run.untaken += len(left)
                elif choice not in self.broken:
                    run.left_open += len(left)

    def _plan(self) -> None:
        """Find the shortest ways from the beginning that are not known to differ."""
        self.depth: dict[Key, int] = {}
        self.parent: dict[Key, tuple[Key, Choice, Edge]] = {}
        waiting = deque(key for key in self.starts if key not in self.wrong_starts)
        self.depth.update(dict.fromkeys(waiting, 0))
        while waiting:
            key = waiting.popleft()
            for choice, edge in self._ways(key):
                if edge.target not in self.depth:
                    self.depth[edge.target] = self.depth[key] + 1
                    self.parent[edge.target] = (key, choice, edge)
                    waiting.append(edge.target)
        self.queue = [
            (depth, n, key)
            for n, (key, depth) in enumerate(self.depth.items())
            if self.pending[key] or key in self.refused
        ]
        heapq.heapify(self.queue)

    def _ways(self, key: Key) -> Iterator[tuple[Choice, Edge]]:
        for choice in self.space.node(key).choices:
            if choice not in self.broken:
                for edge in choice.edges:
                    yield choice, edge

    def _is_on_a_way(self, choice: Choice, edge: Edge) -> bool:
        return edge.target in self.parent and self.parent[edge.target][1] is choice

    def _has_work(self, key: Key) -> bool:
        return bool(self.pending[key]) or key in self.refused

    def _go(self) -> bool:
        """Go to a state with something left to do; False where none can be reached."""
        tries: dict[Key, int] = {}
        while True:
            here = self.driver.session.here
            if here is not None and self._has_work(here):
                return True
            while self.queue and not self._has_work(self.queue[0][2]):
                heapq.heappop(self.queue)
            if not self.queue:
                return False
            target = self.queue[0][2]
            way = self._near(here, self.depth[target]) if here is not None else None
            if way is None and self._restore():
                continue
            if way is None:
                # Where the implementation chooses, a way may lead elsewhere each time.
                tries[target] = tries.get(target, 0) + 1
                if tries[target] > _TRIES:
                    heapq.heappop(self.queue)
                    continue
                way = self._from_the_beginning(target)
            self._follow(way)

    def _near(self, here: Key, depth: int) -> list[tuple[Choice, Edge]] | None:
        """Return the way to the nearest state with work, where it is no longer than `depth`."""
        came: dict[Key, tuple[Key, Choice, Edge] | None] = {here: None}
        waiting = deque([(here, 0)])
        while waiting and len(came) < _NEAR:
            key, steps = waiting.popleft()
            if self._has_work(key):
                return _back(came, key)
            if steps > depth:
                return None
            for choice, edge in self._ways(key):
                if edge.target not in came:
                    came[edge.target] = (key, choice, edge)
                    waiting.append((edge.target, steps + 1))
        return None

    def _from_the_beginning(self, target: Key) -> list[tuple[Choice, Edge]]:
        way: list[tuple[Choice, Edge]] = []
        key = target
        while key in self.parent:
            before, choice, edge = self.parent[key]
            way.append((choice, edge))
            key = before
        if not self.driver.begin(key):
            self.wrong_starts.add(key)
            self._plan()
            return []
        return list(reversed(way))

    def _restore(self) -> bool:
        """Go back to a copy that was kept in a state with work; False where there is none."""
        while self.saved:
            key, saved = self.saved.popitem()
            if self._has_work(key):
                self.driver.session.restore(saved)
                self.saved[key] = saved
                return True
        return False

    def _follow(self, way: list[tuple[Choice, Edge]]) -> None:
        for choice, edge in way:
            here = self.driver.session.here
            if here is None or choice not in self.space.node(here).choices:
                return
            self._take(choice, edge)
            if self.driver.session.here != edge.target:
                return

    def _work(self) -> None:
        """Do what is left to do in the state at hand, and go on with it."""
        session = self.driver.session
        key = session.here
        assert key is not None
        if key in self.refused:
            self.refused.discard(key)
            if len(session.states) == 1 and not self.driver.refuse(self.space.node(key).refused):
                return
        if not self.pending[key]:
            return
        if self.driver.adapter.snapshots and len(self.pending[key]) > 1 and key not in self.saved:
            while len(self.saved) >= _SNAPSHOTS:
                self.saved.pop(next(iter(self.saved)))
            self.saved[key] = session.save()
        choices = self.pending[key]
        choice = next(
            (c for c in choices if any(self._has_work(e.target) for e in c.edges)), choices[0]
        )
        self._take(choice, None)

    def _take(self, choice: Choice, wanted: Edge | None) -> None:
        session = self.driver.session
        key = session.here
        assert key is not None
        self.reached.add(key)
        if choice in self.pending[key]:
            self.pending[key].remove(choice)
        difference = self.driver.take(choice, wanted)
        if difference is not None:
            assert difference.edge is not None
            self.seen.add((key, difference.edge.row, difference.edge.target))
            if session.here is None:
                self.broken.add(choice)
                if any(self._is_on_a_way(choice, edge) for edge in choice.edges):
                    self._plan()
        elif session.path:
            edge = session.path[-1].edge
            self.seen.add((key, edge.row, edge.target))
        if session.here is not None:
            self.reached.add(session.here)


def _back(came: dict[Key, tuple[Key, Choice, Edge] | None], key: Key) -> list[tuple[Choice, Edge]]:
    way: list[tuple[Choice, Edge]] = []
    while (entry := came[key]) is not None:
        key, choice, edge = entry
        way.append((choice, edge))
    return list(reversed(way))


Pair = tuple[int, tuple[int, ...]]
"""A row and the states of all machines in which it was taken."""


class _Walks:
    """Takes every row, and every row in every control state that random walks come upon."""

    def __init__(self, driver: _Driver) -> None:
        self.driver, self.space = driver, driver.space
        self.chance = random.Random(driver.options.seed)  # noqa: S311 - no secret
        self.starts = self.space.initial()
        self.planned: set[Pair] = set()
        self.pairs: dict[Pair, int] = {}
        self.taken: set[Pair] = set()
        self.refused: set[Pair] = set()
        self.reached: set[Key] = set()

    def all(self) -> None:
        """Walk until nothing new comes up any more; the first walks are made in any case."""
        quiet = 0
        first = True
        try:
            while quiet < _QUIET and self.starts:
                found = [self._walk() for _ in range(_WALKS)]
                new = [walk for walk in found if walk[2]]
                quiet = 0 if new else quiet + 1
                for start, way, _ in found if first else new:
                    self._make(start, way)
                first = False
                self._plan_again()
                self.space.forget()
        finally:
            run = self.driver.run
            run.pairs = len(self.pairs.keys() | self.taken)
            run.pairs_taken = len(self.taken)
            run.states_seen = len(self.reached)

    def _plan_again(self) -> None:
        """Look again for what the implementation has led away from."""
        for pair in self.planned - self.taken:
            self.pairs[pair] += 1
            if self.pairs[pair] < _TRIES:
                self.planned.discard(pair)

    def _walk(self) -> tuple[Key, list[tuple[Choice, Edge]], bool]:
        """Walk on the model; return from where, the way, and whether one of its steps is new."""
        self.driver.look()
        start = key = self.chance.choice(self.starts)
        way: list[tuple[Choice, Edge]] = []
        new = False
        for _ in range(self.driver.options.depth):
            node = self.space.node(key)
            if not node.choices:
                break
            fresh = [
                (choice, edge)
                for choice in node.choices
                for edge in choice.edges
                if (edge.row, node.control) not in self.planned
            ]
            step = self.chance.choice(fresh) if fresh else self._any(node.choices)
            way.append(step)
            if fresh:
                self.planned.add((step[1].row, node.control))
                self.pairs.setdefault((step[1].row, node.control), 0)
                new = True
            key = step[1].target
        return start, way, new

    def _any(self, choices: tuple[Choice, ...]) -> tuple[Choice, Edge]:
        """Return a step of some row, each row as likely."""
        by_row: dict[int, list[tuple[Choice, Edge]]] = {}
        for choice in choices:
            for edge in choice.edges:
                by_row.setdefault(edge.row, []).append((choice, edge))
        return self.chance.choice(by_row[self.chance.choice(sorted(by_row))])

    def _make(self, start: Key, way: list[tuple[Choice, Edge]]) -> None:
        driver = self.driver
        if not driver.begin(start):
            raise Ended("the implementation does not begin as the model does")
        for choice, edge in way:
            here = driver.session.here
            if here is None or choice not in self.space.node(here).choices:
                return
            node = self.space.node(here)
            self.reached.add(here)
            new = tuple(r for r in node.refused if (r.row, node.control) not in self.refused)
            if new and len(driver.session.states) == 1:
                self.refused.update((item.row, node.control) for item in new)
                if not driver.refuse(new):
                    return
            difference = driver.take(choice, edge)
            step = driver.session.path[-1].edge if driver.session.path else edge
            self.taken.add((step.row, node.control))
            if difference is not None and driver.session.here is None:
                return
