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
from numpy.typing import NDArray

from checker.graph.components import OUTSIDE, components
from checker.graph.quotient import FAIR, HOPELESS, REFINE, judge_quotient
from checker.graph.state_graph import StateGraph
from checker.llvm.compiled import compiled
from checker.search.board import Numbers


def fair_states(graph: StateGraph, inside: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return, for each state, the fair component it belongs to, or OUTSIDE.

    A component is a maximal strongly connected part of the subgraph `inside` (bool, (states,)) in
    which some fair run can stay for ever, single states in which a fair run may stutter included.
    """
    result = np.full(graph.states, OUTSIDE, np.int32)
    remaining = inside.copy()
    left = int(np.count_nonzero(remaining))
    instances, numbered = len(graph.strong), 0
    while left:
        component, count = components(graph.offsets, graph.targets, graph.into(), remaining)
        starts, order = np.zeros(count + 1, np.int64), np.empty(left, np.int32)
        _by_component(component, starts, order)
        if graph.turning is not None:
            left = judge_quotient(
                graph, graph.turning, component, order, starts, remaining, result, numbered
            )
            numbered += count
            continue
        left = _judge_components(
            graph.offsets,
            graph.targets,
            graph.labels,
            graph.strong,
            component,
            order,
            starts,
            remaining,
            result,
            numbered,
            np.zeros(instances, np.int64),
            np.zeros(instances, np.int64),
            np.zeros(instances, np.bool_),
            np.empty(instances, np.int32),
        )
        numbered += count
    return result


@compiled
def _by_component(component: NDArray[np.int32], starts: Numbers, order: NDArray[np.int32]) -> None:
    """Write the states of each component to `order`, from its place in `starts` (0 before) on."""
    count = len(starts) - 1
    for state in range(len(component)):
        if component[state] != OUTSIDE:
            starts[component[state]] += 1
    total = 0
    for part in range(count):
        total += starts[part]
        starts[part] = total
    starts[count] = total
    states = len(component)
    for back in range(states):
        state = states - 1 - back
        part = component[state]
        if part != OUTSIDE:
            starts[part] -= 1
            order[starts[part]] = state


@compiled
def _judge_components(
    offsets: Numbers,
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    strong: NDArray[np.bool_],
    component: NDArray[np.int32],
    order: NDArray[np.int32],
    starts: Numbers,
    remaining: NDArray[np.bool_],
    result: NDArray[np.int32],
    numbered: int,
    enabled_in: Numbers,
    last_state: Numbers,
    taken: NDArray[np.bool_],
    touched: NDArray[np.int32],
) -> int:
    """Judge every component; return how many states are left to be looked at again.

    Those of a fair one get its number, `numbered` on, in `result`. What is left in `remaining` are
    the states of those to REFINE that are not in the way. The last four arrays have a place for
    each fair instance; the first three are zero before.
    """
    left = 0
    for part in range(len(starts) - 1):
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
                if last_state[label] != state + 1:
                    last_state[label] = state + 1
                    enabled_in[label] += 1
                if component[target] == part:
                    taken[label] = True
        verdict = FAIR
        for k in range(touched_size):
            label = touched[k]
            if not taken[label]:
                if enabled_in[label] == size:
                    verdict = HOPELESS
                elif strong[label] and verdict == FAIR:
                    verdict = REFINE
        for k in range(starts[part], starts[part + 1]):
            state = order[k]
            remaining[state] = verdict == REFINE
            if verdict == FAIR:
                result[state] = numbered + part
            elif verdict == REFINE:
                for edge in range(offsets[state], offsets[state + 1]):
                    label = labels[edge]
                    owed = label >= 0 and strong[label] and not taken[label]
                    if owed and targets[edge] != state:
                        remaining[state] = False
                left += remaining[state]
        for k in range(touched_size):
            enabled_in[touched[k]] = 0
            taken[touched[k]] = False
    return left
