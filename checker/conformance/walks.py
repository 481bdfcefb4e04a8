"""Takes every row of an implementation, and every row in every control state that walks come upon.

Random walks, which only the model makes, are looked through for steps of a row in a control state
(the states of all its machines) that was not taken yet, and for calls that are to be refused there;
only those walks are made on the implementation. They are planned in batches. A walk is made without
looking at others of its batch, so that they can be made anywhere, and are put together in order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from checker.conformance.adapter import Adapter, AdapterFailure
from checker.conformance.course import Course, Ended, Group, Options
from checker.conformance.session import Counts, Path, Taken
from checker.conformance.space import Choice, Edge, Key, Space
from checker.frozen import frozen

WALKS = 64
"""Walks of a batch."""
_QUIET = 4
"""Batches of walks that find nothing new before walking ends."""
_TRIES = 3
"""Times that something is planned anew where the implementation led elsewhere."""

Pair = tuple[int, tuple[int, ...]]
"""A row and the states of all machines in which it was taken."""


@frozen()
class Walk:
    """From where, and of each step which choice it is and which of its edges.

    `refusals`: the calls to try, by row and control state, that are to be refused.
    """

    start: Key
    way: tuple[tuple[int, int], ...]
    refusals: frozenset[Pair] = frozenset()


@dataclass(slots=True)
class Made:
    """What came of one walk. `ended`: why no more are to be made; `failure`: of the adapter.

    A failure is its reason, what is told of it, from where, by which path, and what was asked.
    """

    counts: Counts
    groups: dict[tuple[object, ...], Group]
    came_from: dict[Key, tuple[int, Taken | None]]
    taken: set[Pair] = field(default_factory=set)
    refused: set[Pair] = field(default_factory=set)
    reached: set[Key] = field(default_factory=set)
    ended: str | None = None
    failure: tuple[str, str, tuple[Key, Path, str]] | None = None


Make = Callable[[Sequence[Walk]], Iterator[Made]]
"""Makes walks, and yields in their order what came of them; the last one may have ended it."""


def made_by(space: Space, adapter: Adapter, options: Options, watch: Callable[[int], None]) -> Make:
    """Return what makes walks on an implementation; `watch` raises Ended at a limit."""

    def make(walks: Sequence[Walk]) -> Iterator[Made]:
        for walk in walks:
            course = Course(space, adapter, options, watch=watch)
            made = Made(course.run.counts, course.run.groups, course.came_from)
            try:
                _follow(course, walk, made)
            except Ended as ended:
                made.ended = str(ended)
            except AdapterFailure as failure:
                session = course.session
                place = session.start, tuple(session.path), course.asking
                made.failure = failure.reason, str(failure), place
            yield made
            if made.ended is not None or made.failure is not None:
                return

    return make


def _follow(course: Course, walk: Walk, made: Made) -> None:
    if not course.begin(walk.start):
        raise Ended("the implementation does not begin as the model does")
    key = walk.start
    for chosen, which in walk.way:
        if course.session.here != key:
            return
        node = course.space.node(key)
        made.reached.add(key)
        left = walk.refusals - made.refused
        new = tuple(item for item in node.refused if (item.row, node.control) in left)
        if new and len(course.session.states) == 1:
            made.refused.update((item.row, node.control) for item in new)
            if not course.refuse(new):
                return
        choice = node.choices[chosen]
        edge = choice.edges[which]
        difference = course.take(choice, edge)
        step = course.session.path[-1].edge if course.session.path else edge
        made.taken.add((step.row, node.control))
        if difference is not None and course.session.here is None:
            return
        key = edge.target


class Walks:
    """Plans walks, batch after batch, and puts together what came of them."""

    def __init__(self, course: Course, make: Make) -> None:
        self.course, self.space, self.make = course, course.space, make
        self.chance = random.Random(course.options.seed)  # noqa: S311 - no secret
        self.starts = self.space.initial()
        self.planned: set[Pair] = set()
        self.pairs: dict[Pair, int] = {}
        self.taken: set[Pair] = set()
        self.refusals: dict[Pair, int] = {}
        self.refusing: set[Pair] = set()
        self.refused: set[Pair] = set()
        self.reached: set[Key] = set()

    def all(self) -> None:
        """Walk until nothing new comes up any more; the first walks are made in any case."""
        quiet = 0
        first = True
        try:
            while quiet < _QUIET and self.starts:
                walks = [walk for walk, new in self._batch() if new or first]
                quiet = 0 if walks else quiet + 1
                self._put_together(walks)
                first = False
                self._plan_again()
                self.space.forget()
        finally:
            run = self.course.run
            run.pairs = len(self.pairs.keys() | self.taken)
            run.pairs_taken = len(self.taken)
            run.states_seen = len(self.reached)
            run.unrefused = len(self.refusals.keys() - self.refused)

    def _put_together(self, walks: Sequence[Walk]) -> None:
        """Make walks and take what came of each; Ended or AdapterFailure as one of them ended."""
        course = self.course
        for made in self.make(walks):
            course.take_in(made.counts, made.groups, made.came_from)
            self.taken |= made.taken
            self.refused |= made.refused
            self.reached |= made.reached
            if made.ended is not None:
                raise Ended(made.ended)
            if made.failure is not None:
                reason, told, place = made.failure
                course.run.failure_path = place
                raise AdapterFailure(reason, told)

    def _plan_again(self) -> None:
        """Look again for what the implementation has led away from."""
        for tries, planned, done in (
            (self.pairs, self.planned, self.taken),
            (self.refusals, self.refusing, self.refused),
        ):
            for pair in planned - done:
                tries[pair] += 1
                if tries[pair] < _TRIES:
                    planned.discard(pair)

    def _batch(self) -> Iterator[tuple[Walk, bool]]:
        """Yield walks on the model, and whether a step or a refusal of it is new."""
        for _ in range(WALKS):
            walk, new = self._walk()
            refusals = self._refusals(walk)
            yield Walk(walk.start, walk.way, refusals), new or bool(refusals)

    def _walk(self) -> tuple[Walk, bool]:
        """Walk on the model; return the walk, and whether one of its steps is new."""
        self.course.look()
        start = key = self.chance.choice(self.starts)
        way: list[tuple[int, int]] = []
        new = False
        for _ in range(self.course.options.depth):
            node = self.space.node(key)
            if not node.choices:
                break
            fresh = [
                (choice, edge)
                for choice in node.choices
                for edge in choice.edges
                if (edge.row, node.control) not in self.planned
            ]
            choice, edge = self.chance.choice(fresh) if fresh else self._any(node.choices)
            way.append((node.choices.index(choice), choice.edges.index(edge)))
            if fresh:
                self.planned.add((edge.row, node.control))
                self.pairs.setdefault((edge.row, node.control), 0)
                new = True
            key = edge.target
        return Walk(start, tuple(way)), new

    def _refusals(self, walk: Walk) -> frozenset[Pair]:
        """Plan the calls that are to be refused on a walk, and are not planned on another."""
        key = walk.start
        found: set[Pair] = set()
        for chosen, which in walk.way:
            node = self.space.node(key)
            found.update((item.row, node.control) for item in node.refused)
            key = node.choices[chosen].edges[which].target
        found -= self.refusing
        self.refusing |= found
        for pair in found:
            self.refusals.setdefault(pair, 0)
        return frozenset(found)

    def _any(self, choices: tuple[Choice, ...]) -> tuple[Choice, Edge]:
        """Return a step of some row, each row as likely."""
        by_row: dict[int, list[tuple[Choice, Edge]]] = {}
        for choice in choices:
            for edge in choice.edges:
                by_row.setdefault(edge.row, []).append((choice, edge))
        return self.chance.choice(by_row[self.chance.choice(sorted(by_row))])
