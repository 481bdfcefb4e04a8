"""Takes a Space and an adapter, makes a Run: every transition at least once, or every row.

*transitions*: every step of every state of a finite instance, along paths that share what they
can. From a state with nothing left to do the way leads to the nearest one with something, or back
to the beginning where that is nearer. *rows*: `walks.py`.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Iterator

from checker.conformance.adapter import Adapter, AdapterFailure
from checker.conformance.course import Course, Ended, Options, Run
from checker.conformance.session import Path
from checker.conformance.space import Choice, Edge, Key, Space
from checker.conformance.walks import Make, Walks, made_by
from checker.errors import Interruption
from checker.search.progress import Interrupt, interrupted

_NEAR = 3000
"""States looked at for the nearest one with something left to do."""
_SNAPSHOTS = 200
_TRIES = 3
"""Times that a way is made anew where the implementation led elsewhere."""


Elsewhere = Callable[[Course], Make]
"""What makes walks somewhere else, for a course that they are put together in."""


def drive(
    space: Space,
    adapter: Adapter,
    options: Options,
    interrupt: Interrupt | None = None,
    tell: Callable[[str], None] = lambda _: None,
    elsewhere: Elsewhere | None = None,
) -> Run:
    """Drive an implementation until everything is covered or a limit is reached.

    Walks are made `elsewhere`, if that is given; transitions are always taken here.
    """
    started = time.perf_counter()
    driver = Course(space, adapter, options, interrupt, tell)
    run = driver.run
    try:
        graph = None
        if options.cover != "rows":
            limit = options.states if options.cover == "auto" else None
            graph = _explore(space, limit, driver.look)
        if graph is None:
            run.cover = "rows"
            make = made_by(space, adapter, options, driver.look)
            Walks(driver, make if elsewhere is None else elsewhere(driver)).all()
        else:
            run.states, run.transitions = len(graph), _transitions(space, graph)
            _Transitions(driver, graph).all()
    except Ended as ended:
        run.stopped = str(ended)
    except Interruption:
        run.stopped = "an interrupt"
    except AdapterFailure as failure:
        run.failure, run.stopped = failure, "the adapter failed"
        if run.failure_path is None:
            session = driver.session
            run.failure_path = (session.start, tuple(session.path), driver.asking)
    if run.failure is None and not interrupted(interrupt):
        try:
            driver.shorten()
        except Interruption:
            pass  # what was found is told as it was found
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


class _Transitions:
    """Takes every choice of every state of a finite graph."""

    def __init__(self, driver: Course, graph: dict[Key, int]) -> None:
        self.driver, self.space, self.graph = driver, driver.space, graph
        self.starts = [key for key, depth in graph.items() if depth == 0]
        self.pending = {key: list(self.space.node(key).choices) for key in graph}
        self.refused = {key for key in graph if self.space.node(key).refused}
        self.unsure: set[Key] = set()
        """States in which calls to be refused wait until it is known that it is in this one."""
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
        run.unrefused = sum(len(self.space.node(key).refused) for key in self.unsure)
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
        waits = key in self.unsure and self.driver.session.states == (key,)
        return bool(self.pending[key]) or key in self.refused or waits

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
        if key in self.refused or key in self.unsure:
            self.refused.discard(key)
            if len(session.states) > 1:
                self.unsure.add(key)
            else:
                self.unsure.discard(key)
                if not self.driver.refuse(self.space.node(key).refused):
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
