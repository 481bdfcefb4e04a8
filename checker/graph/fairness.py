"""Which components of a graph can be stayed in for ever by a fair run.

A run that ends up in a set of states visits some strongly connected part of it for ever, or
stutters in one state. It is fair when every weakly fair instance that is enabled in all those
states is taken between them, and every strongly fair one that is enabled in any of them is.
*Enabled* and *taken* both mean: makes a step that changes the state. The search for a part that
satisfies strong fairness removes the states that enable an instance nobody takes and looks at what
is left (E. A. Emerson, C.-L. Lei, Modalities for model checking, Sci. Comput. Program. 8, 1987).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.graph.components import OUTSIDE, components
from checker.graph.state_graph import StateGraph

FAIR, HOPELESS, REFINE = 1, 0, 2


def fair_states(graph: StateGraph, inside: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return, for each state, the fair component it belongs to, or OUTSIDE.

    A component is a maximal strongly connected part of the subgraph `inside` (bool, (states,)) in
    which some fair run can stay for ever, single states in which a fair run may stutter included.
    """
    result = np.full(graph.states, OUTSIDE, np.int32)
    remaining = inside.copy()
    numbered = 0
    while remaining.any():
        component, count = components(graph.offsets, graph.targets, remaining)
        order = np.argsort(component, kind="stable").astype(np.int32)
        order = order[component[order] != OUTSIDE]
        starts = np.searchsorted(component[order], np.arange(count + 1))
        verdicts = _judge_components(
            graph.offsets,
            graph.targets,
            graph.labels,
            graph.strong,
            component,
            order,
            starts,
            remaining,
        )
        members = component != OUTSIDE
        fair = members & (verdicts[np.where(members, component, 0)] == FAIR)
        result[fair] = component[fair] + numbered
        numbered += count
        refine = members & (verdicts[np.where(members, component, 0)] == REFINE)
        remaining = remaining & refine
    return result


@njit(cache=True, nogil=True)
def _judge_components(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    strong: NDArray[np.bool_],
    component: NDArray[np.int32],
    order: NDArray[np.int32],
    starts: NDArray[np.int64],
    remaining: NDArray[np.bool_],
) -> NDArray[np.int8]:
    """Judge every component; of one to REFINE, drop from `remaining` the states in the way."""
    count = len(starts) - 1
    verdicts = np.zeros(count, np.int8)
    instances = len(strong)
    enabled_in = np.zeros(instances, np.int64)
    last_state = np.full(instances, -1, np.int64)
    taken = np.zeros(instances, np.bool_)
    touched = np.empty(instances, np.int32)
    for part in range(count):
        size = starts[part + 1] - starts[part]
        touched_size = 0
        for k in range(starts[part], starts[part + 1]):
            state = order[k]
            for edge in range(offsets[state], offsets[state + 1]):
                label = labels[edge]
                target = targets[edge]
                if label < 0 or target == state:
                    continue
                if enabled_in[label] == 0:
                    touched[touched_size] = label
                    touched_size += 1
                if last_state[label] != state or enabled_in[label] == 0:
                    last_state[label] = state
                    enabled_in[label] += 1
                if component[target] == part:
                    taken[label] = True
        verdict = FAIR
        for k in range(touched_size):
            label = touched[k]
            if taken[label]:
                continue
            if enabled_in[label] == size:
                verdict = HOPELESS
            elif strong[label] and verdict == FAIR:
                verdict = REFINE
        if verdict == REFINE:
            for k in range(starts[part], starts[part + 1]):
                state = order[k]
                for edge in range(offsets[state], offsets[state + 1]):
                    label = labels[edge]
                    if label < 0 or targets[edge] == state:
                        continue
                    if strong[label] and not taken[label]:
                        remaining[state] = False
        verdicts[part] = verdict
        for k in range(touched_size):
            enabled_in[touched[k]] = 0
            taken[touched[k]] = False
            last_state[touched[k]] = -1
    return verdicts
