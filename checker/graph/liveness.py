"""Judge `eventually` and `leads_to` on a state graph under the declared fairness."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.graph.components import OUTSIDE
from checker.graph.fairness import fair_states
from checker.graph.lasso import Lasso, reachable, shortest_lasso
from checker.graph.state_graph import StateGraph


@frozen()
class Judgement:
    """`violated` comes with a lasso; `unknown` where a cut hides what follows an obligation."""

    verdict: Literal["holds", "violated", "unknown"]
    lasso: Lasso | None = None


def leads_to(
    graph: StateGraph, premise: NDArray[np.bool_], condition: NDArray[np.bool_]
) -> Judgement:
    """Judge whether on every fair run each state of `premise` is followed by one of `condition`.

    Both are bool, (states,). A state in both satisfies itself.
    """
    pending = ~condition
    owing, fair = owing_and_fair(graph, premise, pending)
    if (fair != OUTSIDE).any():
        lasso = shortest_lasso(graph, premise, pending, fair)
        if lasso is not None:
            return Judgement("violated", lasso)
    return Judgement("unknown" if (owing & graph.cut).any() else "holds")


def owing_and_fair(
    graph: StateGraph, premise: NDArray[np.bool_], pending: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Return the states in which something may be owed (bool), and the fair component of each.

    Owed is what a state of `premise & pending` raises, for as long as a run stays in `pending`.
    """
    owing = reachable(graph, np.flatnonzero(premise & pending), pending)
    return owing, fair_states(graph, owing)


def eventually(
    graph: StateGraph, condition: NDArray[np.bool_], begins: NDArray[np.bool_] | None = None
) -> Judgement:
    """Judge whether every fair run from an initial state reaches a state of `condition`.

    With `begins` (bool, (states,)) only runs from such initial states are looked at.
    """
    premise = np.zeros(graph.states, np.bool_)
    premise[graph.initial] = True
    if begins is not None:
        premise &= begins
    return leads_to(graph, premise, condition)
