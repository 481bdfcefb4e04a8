"""The StateGraph: every reachable state and step as arrays, for questions that outlive a level.

States are numbered in the order of their discovery. Edges are in compressed sparse row form: the
edges of state s are `targets[offsets[s]:offsets[s + 1]]` with their `labels`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNFAIR = -1
"""The label of an edge that no fair row instance makes."""


@dataclass(frozen=True)
class StateGraph:
    """A finite graph of states.

    `offsets` int64 (states + 1,); `targets` int32 (edges,) state numbers; `labels` int32 (edges,):
    which fair row instance makes the step, or UNFAIR; `strong` bool (instances,): the instance is
    strongly fair, otherwise weakly; `initial` int64: the initial states; `cut` bool (states,): the
    state has a successor that was cut, so what follows it is not all known.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    labels: NDArray[np.int32]
    strong: NDArray[np.bool_]
    initial: NDArray[np.int64]
    cut: NDArray[np.bool_]

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.offsets) - 1
