"""The StateGraph: every reachable state and step as arrays, for questions that outlive a level.

States are numbered in the order of their discovery. Edges are in compressed sparse row form: the
edges of state s are `targets[offsets[s]:offsets[s + 1]]` with their `labels`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.llvm.compiled import compiled
from checker.search.board import Numbers
from checker.semantics.renamings import Renamings

UNFAIR = -1
"""The label of an edge that no fair row instance makes."""


Stays = Callable[[NDArray[np.int64]], NDArray[np.bool_]]


@frozen(slots=False)
class Turning:
    """What makes a graph of representatives one of all states (see `quotient`).

    `turns` uint16 (edges,): how the target of each edge has to be renamed to be what the step leads
    to. Renamings are numbers below `count`; 0 changes nothing. `after` int64 (count * count,): at
    g * count + h, first h, then g; `back` int64 (count,) undoes each. `instances` int64 (count *
    instances,): what becomes of each fair instance by each renaming. `stays`: for some states,
    bool (states, count), whether each renaming leaves them as they are.
    """

    turns: NDArray[np.uint16]
    after: NDArray[np.int64]
    back: NDArray[np.int64]
    instances: NDArray[np.int64]
    stays: Stays

    @classmethod
    def of(cls, renamings: Renamings, turns: NDArray[np.uint16], stays: Stays) -> Turning:
        """Return how the edges of a graph are turned by some of `renamings`."""
        known = renamings.after.ravel(), renamings.back, renamings.instances.ravel()
        return cls(turns, *known, stays)

    @property
    def count(self) -> int:
        """How many renamings there are."""
        return len(self.back)

    def along(self, turns: NDArray[np.uint16], stays: Stays, fixed: int = 0) -> Turning:
        """Return the same for another graph, with `fixed` more instances that keep their names."""
        known = self.instances.reshape(self.count, -1)
        more = np.tile(known.shape[1] + np.arange(fixed), (self.count, 1))
        instances = np.hstack((known, more)).ravel()
        return replace(self, turns=turns, instances=instances, stays=stays)


@frozen(slots=False)
class StateGraph:
    """A finite graph of states.

    `offsets` int64 (states + 1,); `targets` int32 (edges,) state numbers; `labels` int32 (edges,):
    which fair row instance makes the step, or UNFAIR; `strong` bool (instances,): the instance is
    strongly fair, otherwise weakly; `initial` int64: the initial states; `cut` bool (states,): the
    state has a successor that was cut, so what follows it is not all known. `into` gives the same
    steps by where they lead: graphs that differ in other parts only share them. With `turning`
    states stand for their orbits, and an edge to its own source is a step to another state.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    labels: NDArray[np.int32]
    strong: NDArray[np.bool_]
    initial: NDArray[np.int64]
    cut: NDArray[np.bool_]
    turning: Turning | None = None
    into: Callable[[], StepsInto] = field(default=None)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.into is None:
            object.__setattr__(self, "into", _Once(self.offsets, self.targets))

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.offsets) - 1


@frozen()
class StepsInto:
    """The states from which steps lead to s: `sources[offsets[s]:offsets[s + 1]]`, ascending."""

    offsets: NDArray[np.int64]
    sources: NDArray[np.int32]


def steps_into(offsets: NDArray[np.int64], targets: NDArray[np.int32]) -> StepsInto:
    """Return steps by where they lead."""
    starts = np.zeros(len(offsets), np.int64)
    sources = np.empty(len(targets), np.int32)
    _turn(offsets, targets, starts, sources)
    return StepsInto(starts, sources)


class _Once:
    """The steps into the states of a graph, made when they are first asked for, by any thread."""

    def __init__(self, offsets: NDArray[np.int64], targets: NDArray[np.int32]) -> None:
        self._steps = offsets, targets
        self._made: StepsInto | None = None
        self._lock = threading.Lock()

    def __call__(self) -> StepsInto:
        with self._lock:
            if self._made is None:
                self._made = steps_into(*self._steps)
            return self._made


@compiled
def _turn(
    offsets: Numbers, targets: NDArray[np.int32], starts: Numbers, sources: NDArray[np.int32]
) -> None:
    """Sort the steps by where they lead. `starts` is zero before."""
    states = len(offsets) - 1
    for edge in range(offsets[states]):
        starts[targets[edge]] += 1
    total = 0
    for state in range(states):
        total += starts[state]
        starts[state] = total
    starts[states] = total
    for back in range(states):
        state = states - 1 - back
        for edge in range(offsets[state], offsets[state + 1]):
            target = targets[edge]
            starts[target] -= 1
            sources[starts[target]] = state
