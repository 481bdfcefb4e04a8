"""The Space: a state graph, what liveness properties see in its states, and the states themselves.

Two builders make it, one from packed states in native code (`build`), one with the reference
interpreter (`reference`); what is judged on it does not know which.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.graph.state_graph import StateGraph
from checker.semantics.successor import State


class Named(Protocol):
    """Gives the values of a state by its number, with ids renamed."""

    def __call__(self, number: int, renaming: int = 0) -> State:
        """Return the state; `renaming` is a number of `semantics.renamings`, 0 changes nothing."""


@frozen(slots=False)
class Space:
    """All that an exhaustive search found, ready to be judged.

    The last state of the graph stands for everything that was cut; the others are numbered as the
    search stored them, and `state` gives their values. `flags` int64 (states - 1,) is what
    `Kernel.observe` says of them. `outside` int64 (states - 1,) is what the states that a state's
    cut steps lead to tell (`search.beyond`), or-ed; `outside_initially` what each of the initial
    states tells that were cut, every word once, ascending.

    Where states stand for their orbits, the graph has a `turning`, and `properties` int64
    (renamings, liveness properties) says which property each becomes by each renaming.
    """

    graph: StateGraph
    flags: NDArray[np.int64]
    outside: NDArray[np.int64]
    outside_initially: tuple[int, ...]
    state: Named
    properties: NDArray[np.int64] | None = None

    def flag(self, bit: int) -> NDArray[np.bool_]:
        """Return bool (states,): one bit of the flags; false of what was cut."""
        found = np.zeros(self.graph.states, np.bool_)
        np.not_equal(self.flags & (1 << bit), 0, out=found[:-1])
        return found

    def beyond(self, bit: int) -> NDArray[np.bool_]:
        """Return bool (states,): one bit of `outside`; false of what was cut."""
        found = np.zeros(self.graph.states, np.bool_)
        np.not_equal(self.outside & (1 << bit), 0, out=found[:-1])
        return found
