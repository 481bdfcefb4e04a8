"""A lasso: the shortest way into a fair component that can be had, and a fair loop in it.

The way in is shortest among all ways from an initial state, over a state that raises the
obligation, into a fair component without meeting what would end the obligation. The loop visits,
greedily by nearest first, everything fairness asks for and closes. Where a run may stand still
for ever after fewer steps, that is shown instead.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.graph.components import OUTSIDE
from checker.graph.quotient import unfolded
from checker.graph.state_graph import StateGraph, Turning
from checker.llvm.compiled import compiled
from checker.search.board import Numbers

NOWHERE = -1


@frozen()
class Lasso:
    """State numbers from an initial state on; the run goes on from `loop` after the last one.

    `loop == len(states) - 1` is stuttering in the last state. Where states stand for their orbits,
    `names` are the renamings under which they are the states of the run.
    """

    states: tuple[int, ...]
    loop: int
    names: tuple[int, ...] = ()


def shortest_lasso(
    graph: StateGraph,
    raised: NDArray[np.bool_],
    pending: NDArray[np.bool_],
    fair: NDArray[np.int32],
) -> Lasso | None:
    """Return a lasso whose loop stays in one fair component, or None where none is reachable.

    `raised` bool (states,): states that raise the obligation; `pending`: states that do not end
    it; `fair` int32: the component of each state in which a fair run can stay, or OUTSIDE.
    """
    before = search_from(graph, graph.initial, np.ones(graph.states, np.bool_))
    sources = before.order[(raised & pending)[before.order]]
    lasso = lasso_from(graph, lambda _goal: sources, before.distance, pending, fair)
    if lasso is None:
        return None
    way = before.way(lasso.states[0])[:-1]
    whole = Lasso((*way, *lasso.states), len(way) + lasso.loop, lasso.names)
    return whole if graph.turning is None else _named(graph, graph.turning, whole)


def _named(graph: StateGraph, turning: Turning, lasso: Lasso) -> Lasso:
    """Return a lasso whose loop is named as if its first state kept its name, named throughout."""
    name, way = 0, [0]
    for source, target in pairwise(lasso.states[: lasso.loop + 1]):
        edges = slice(graph.offsets[source], graph.offsets[source + 1])
        turn = turning.turns[edges][graph.targets[edges] == target][0]
        name = int(turning.after[name * turning.count + int(turn)])
        way.append(name)
    around = (int(turning.after[name * turning.count + other]) for other in lasso.names[1:])
    return Lasso(lasso.states, lasso.loop, (*way, *around))


def lasso_from(
    graph: StateGraph,
    sources: Callable[[NDArray[np.bool_]], NDArray[np.int64] | NDArray[np.int32]],
    start: NDArray[np.int32],
    pending: NDArray[np.bool_],
    fair: NDArray[np.int32],
) -> Lasso | None:
    """Return a lasso as `shortest_lasso` does, without the way to its first state, a source.

    `start` int32 (states,) is how far each source is from an initial state. `sources`, asked for
    the way to a goal (bool, (states,)), are in the order in which a search breadth-first finds
    them. Where states stand for their orbits, `Lasso.names` are those in the loop alone, whose
    first state keeps its name.
    """

    def stem(goal: NDArray[np.bool_]) -> list[int]:
        found = staged_search(graph, sources(goal), start, pending, goal)
        return [] if found.goal == NOWHERE else _way(found.parent, found.goal)

    entering = stem(fair != OUTSIDE)
    if not entering:
        return None
    turning = graph.turning
    round_trip = (
        _close(graph, entering, fair)
        if turning is None
        else _close_quotient(graph, turning, entering, fair)
    )
    quiet = np.ones(graph.states, np.bool_)
    _quiet(graph.offsets, graph.targets, graph.labels, turning is not None, quiet)
    standing = stem(quiet & (fair != OUTSIDE))
    if standing:
        length = start[standing[0]] + len(standing)
        if length <= start[entering[0]] + len(round_trip.states):
            return Lasso(tuple(standing), len(standing) - 1, () if turning is None else (0,))
    return round_trip


def reachable(
    graph: StateGraph, sources: NDArray[np.int64], inside: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which states (bool, (states,)) `sources` reach without leaving `inside`."""
    found: NDArray[np.bool_] = search_from(graph, sources, inside).distance >= 0
    return found


@frozen(slots=False)
class Reached:
    """What a breadth-first search found: `order` holds the states as they were found.

    `distance` int32 (states,): -1 where a state was not found. The order, and with it the ways,
    depend on the order of sources and edges only, not on how states are numbered.
    """

    distance: NDArray[np.int32]
    parent: NDArray[np.int32]
    order: NDArray[np.int32]

    def way(self, state: int) -> list[int]:
        """Return the states from a source to `state`."""
        return _way(self.parent, state)


def search_from(
    graph: StateGraph, sources: NDArray[np.int64], inside: NDArray[np.bool_]
) -> Reached:
    """Search breadth-first from `sources`, in their order, without leaving `inside`."""
    distance, parent = _nowhere(graph), _nowhere(graph)
    queue = np.empty(graph.states, np.int32)
    found = _breadth_first(
        graph.offsets, graph.targets, np.asarray(sources, np.int64), inside, distance, parent, queue
    )
    return Reached(distance, parent, queue[:found])


@frozen(slots=False)
class Staged:
    """What a staged search found until it came to `goal` (NOWHERE: it never did); see Reached."""

    distance: NDArray[np.int32]
    parent: NDArray[np.int32]
    goal: int


def staged_search(
    graph: StateGraph,
    sources: NDArray[np.int64] | NDArray[np.int32],
    start: NDArray[np.int32],
    inside: NDArray[np.bool_],
    goal: NDArray[np.bool_],
) -> Staged:
    """Search breadth-first from sources that enter at their distance `start` (ascending)."""
    distance, parent = _nowhere(graph), _nowhere(graph)
    found = _staged(
        graph.offsets, graph.targets, np.asarray(sources, np.int64), start, inside, goal,
        distance, parent, np.empty(graph.states, np.int32),
    )  # fmt: skip
    return Staged(distance, parent, found)


def _nowhere(graph: StateGraph) -> NDArray[np.int32]:
    return np.full(graph.states, NOWHERE, np.int32)


def _close(graph: StateGraph, stem: list[int], fair: NDArray[np.int32]) -> Lasso:
    """Append to the stem a loop through the fair component of its last state."""
    start = stem[-1]
    part = fair == fair[start]
    owed = _owed(graph, part)
    states = list(stem)
    _pay(graph, owed, start)
    here = start
    while owed:
        walk = _walk_to_payment(graph, part, owed, here)
        for source, target in pairwise(walk):
            _pay(graph, owed, target)
            for edge in range(graph.offsets[source], graph.offsets[source + 1]):
                if graph.targets[edge] == target:
                    owed.discard(int(graph.labels[edge]))
        states.extend(walk[1:])
        here = walk[-1]
    if here != start:
        states.extend(search_from(graph, np.array([here]), part).way(start)[1:-1])
    elif len(states) > len(stem):
        states.pop()
    return Lasso(tuple(states), len(stem) - 1)


def _close_quotient(
    graph: StateGraph, turning: Turning, stem: list[int], fair: NDArray[np.int32]
) -> Lasso:
    """Do as `_close` does with the states that those of the component stand for."""
    whole, states = unfolded(graph, turning, fair == fair[stem[-1]])
    begin = int(np.searchsorted(states, stem[-1])) * turning.count
    inside = np.ones(whole.states, np.bool_)
    inside[-1] = False
    part = reachable(whole, np.array([begin]), inside)
    loop = _close(whole, [begin], np.where(part, 0, OUTSIDE).astype(np.int32)).states
    around = [int(states[node // turning.count]) for node in loop]
    names = tuple(node % turning.count for node in loop)
    return Lasso((*stem[:-1], *around), len(stem) - 1, names)


def _owed(graph: StateGraph, part: NDArray[np.bool_]) -> set[int]:
    """Return the fair instances that a loop in the component must take or see disabled."""
    owed = np.zeros(len(graph.strong), np.bool_)
    _enabled_in(graph.offsets, graph.targets, graph.labels, part, owed)
    return set(np.flatnonzero(owed).tolist())


def _enabled(graph: StateGraph, state: int) -> set[int]:
    edges = slice(graph.offsets[state], graph.offsets[state + 1])
    changing = graph.targets[edges] != state
    return set(graph.labels[edges][changing].tolist()) - {-1}


def _pay(graph: StateGraph, owed: set[int], state: int) -> None:
    """Strike out the weakly fair instances that are disabled in `state`."""
    enabled = _enabled(graph, state)
    for label in [label for label in owed if not graph.strong[label] and label not in enabled]:
        owed.discard(label)


def _walk_to_payment(
    graph: StateGraph, part: NDArray[np.bool_], owed: set[int], here: int
) -> list[int]:
    """Return the shortest walk in the component that takes or disables one of the owed."""
    wanted = np.zeros(len(graph.strong), np.bool_)
    wanted[list(owed)] = True
    parent = _nowhere(graph)
    found = np.full(2, NOWHERE, np.int64)
    _nearest_payment(
        graph.offsets, graph.targets, graph.labels, graph.strong, part, wanted, here,
        parent, np.empty(graph.states, np.int32), np.zeros(len(wanted), np.int64), found,
    )  # fmt: skip
    last, source = found.tolist()
    if last == NOWHERE:
        raise AssertionError("a fair component pays everything it owes")
    if source == NOWHERE:
        return _way(parent, last)
    return [*_way(parent, source), last]


def _way(parent: NDArray[np.int32], state: int) -> list[int]:
    """Return the states from a search's source to `state` along its parents."""
    way = [int(state)]
    while parent[way[-1]] != NOWHERE:
        way.append(int(parent[way[-1]]))
    return way[::-1]


@compiled
def _breadth_first(
    offsets: Numbers,
    targets: NDArray[np.int32],
    sources: Numbers,
    inside: NDArray[np.bool_],
    distance: NDArray[np.int32],
    parent: NDArray[np.int32],
    queue: NDArray[np.int32],
) -> int:
    """Search from `sources`; both arrays say NOWHERE before. Returns how many states were found."""
    tail = 0
    for place in range(len(sources)):
        source = sources[place]
        if distance[source] < 0:
            distance[source] = 0
            queue[tail] = source
            tail += 1
    head = 0
    while head < tail:
        state = queue[head]
        head += 1
        for edge in range(offsets[state], offsets[state + 1]):
            target = targets[edge]
            if inside[target] and distance[target] < 0:
                distance[target] = distance[state] + 1
                parent[target] = state
                queue[tail] = target
                tail += 1
    return tail


@compiled
def _quiet(
    offsets: Numbers,
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    orbits: int,
    quiet: NDArray[np.bool_],
) -> None:
    """Strike from `quiet` where a fair instance is enabled, so that no run may stand still.

    Where states are those of `orbits`, a step to its own source changes the state.
    """
    for state in range(len(quiet)):
        for edge in range(offsets[state], offsets[state + 1]):
            if labels[edge] >= 0 and (targets[edge] != state or orbits != 0):
                quiet[state] = False


@compiled
def _enabled_in(
    offsets: Numbers,
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    part: NDArray[np.bool_],
    enabled: NDArray[np.bool_],
) -> None:
    """Enter in `enabled` the instances that are enabled in some state of `part`."""
    for state in range(len(part)):
        if part[state]:
            for edge in range(offsets[state], offsets[state + 1]):
                if labels[edge] >= 0 and targets[edge] != state:
                    enabled[labels[edge]] = True


@compiled
def _staged(
    offsets: Numbers,
    targets: NDArray[np.int32],
    sources: Numbers,
    start: NDArray[np.int32],
    inside: NDArray[np.bool_],
    goal: NDArray[np.bool_],
    distance: NDArray[np.int32],
    parent: NDArray[np.int32],
    queue: NDArray[np.int32],
) -> int:
    """Search as `staged_search` does; both arrays say NOWHERE before. Returns the goal found."""
    head = 0
    tail = 0
    following = 0
    while head < tail or following < len(sources):
        entering = head == tail
        if not entering and following < len(sources):
            entering = start[sources[following]] <= distance[queue[head]]
        if entering:
            state = sources[following]
            following += 1
            if 0 <= distance[state] <= start[state]:
                continue
            distance[state] = start[state]
            parent[state] = NOWHERE
        else:
            state = queue[head]
            head += 1
        if goal[state]:
            return int(state)
        for edge in range(offsets[state], offsets[state + 1]):
            target = targets[edge]
            if inside[target] and distance[target] < 0:
                distance[target] = distance[state] + 1
                parent[target] = state
                queue[tail] = target
                tail += 1
    return NOWHERE


@compiled
def _nearest_payment(
    offsets: Numbers,
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    strong: NDArray[np.bool_],
    part: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
    here: int,
    parent: NDArray[np.int32],
    queue: NDArray[np.int32],
    enabled: Numbers,
    last: Numbers,
) -> None:
    """Write to `last` the walk's last state, and its state before where the last edge pays.

    Before, `parent` and `last` say NOWHERE and `enabled`, of the instances, 0.
    """
    weak = 0
    for label in range(len(strong)):
        weak += wanted[label] > strong[label]
    queue[0] = here
    head = 0
    tail = 1
    while head < tail:
        state = queue[head]
        head += 1
        distinct = 0
        for edge in range(offsets[state], offsets[state + 1]):
            label = labels[edge]
            if targets[edge] != state and label >= 0 and wanted[label] > strong[label]:
                distinct += enabled[label] != head
                enabled[label] = head
        if distinct < weak and state != here:
            last[0] = state
            return
        for edge in range(offsets[state], offsets[state + 1]):
            label = labels[edge]
            target = targets[edge]
            if not part[target] or target == state:
                continue
            if label >= 0 and wanted[label]:
                last[0] = target
                last[1] = state
                return
            if parent[target] == NOWHERE and target != here:
                parent[target] = state
                queue[tail] = target
                tail += 1
