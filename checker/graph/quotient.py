"""What can be stayed in for ever where each state stands for its orbit, and how a run goes there.

An edge of such a graph says how its target has to be renamed to be where the step leads. So a walk
from a representative under some name is a walk of the system: the names of its states are what the
renamings on the way compose to. All states over a strongly connected part are in components
themselves, each over the whole part, and renaming makes any of them of any other: what leads from
one to the next leads back in the end, because renaming is of finite order.

Whether one of them is fair is seen in the part itself (E. A. Emerson, A. P. Sistla, Utilizing
symmetry when model-checking under fairness assumptions, ACM TOPLAS 19, 1997, follow each process
through it). Here each state is given a name along a tree, and instances are called as in the state
at its root. The steps beside the tree say which instances become which on the way around: these
are one and the same promise. It is owed where all of them are enabled in every state and none is
taken (weak), or any is enabled and none taken (strong).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.graph.state_graph import StateGraph, Turning
from checker.llvm.compiled import compiled, inlined
from checker.memory import available
from checker.search.board import Numbers

_UNNAMED = -1
FAIR, HOPELESS, REFINE = 1, 0, 2

_SAFETY = 0.8
"""Share of the machine's available memory that a larger graph may take."""


class NoRoomError(Exception):
    """There is no memory for all states that those of a component stand for."""


def judge_quotient(
    graph: StateGraph,
    turning: Turning,
    component: NDArray[np.int32],
    order: NDArray[np.int32],
    starts: NDArray[np.int64],
    remaining: NDArray[np.bool_],
    result: NDArray[np.int32],
    numbered: int,
) -> int:
    """Judge every component, as `fairness` does; return how many states are left."""
    names = np.full(graph.states, _UNNAMED, np.int32)
    edges = graph.offsets, graph.targets
    _name(*edges, turning.turns, component, order, starts, turning.after, turning.count, names,
          np.empty(graph.states, np.int32))  # fmt: skip
    instances = len(graph.strong)
    return int(
        _judge(
            *edges, graph.labels, turning.turns, graph.strong, component, order, starts, names,
            turning.after, turning.back, turning.instances, turning.count, remaining, result,
            numbered, np.zeros(turning.count, np.int64), np.zeros(instances, np.int64),
            np.zeros(instances, np.int64), np.zeros(instances, np.int64),
            np.zeros(instances, np.int64), np.zeros(instances, np.bool_),
            np.empty(instances, np.int32),
        )
    )  # fmt: skip


@compiled
def _name(
    offsets: Numbers,
    targets: NDArray[np.int32],
    turns: NDArray[np.uint16],
    component: NDArray[np.int32],
    order: NDArray[np.int32],
    starts: Numbers,
    after: Numbers,
    count: int,
    names: NDArray[np.int32],
    queue: NDArray[np.int32],
) -> None:
    """Name the states of each component along a tree of its edges; its first state keeps its name.

    `names` says _UNNAMED before.
    """
    for part in range(len(starts) - 1):
        queue[0] = order[starts[part]]
        names[queue[0]] = 0
        head = 0
        tail = 1
        while head < tail:
            state = queue[head]
            head += 1
            for edge in range(offsets[state], offsets[state + 1]):
                target = targets[edge]
                if component[target] == part and names[target] < 0:
                    names[target] = after[names[state] * count + turns[edge]]
                    queue[tail] = target
                    tail += 1


@compiled
def _judge(
    offsets: Numbers,
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    turns: NDArray[np.uint16],
    strong: NDArray[np.bool_],
    component: NDArray[np.int32],
    order: NDArray[np.int32],
    starts: Numbers,
    names: NDArray[np.int32],
    after: Numbers,
    back: Numbers,
    instances: Numbers,
    count: int,
    remaining: NDArray[np.bool_],
    result: NDArray[np.int32],
    numbered: int,
    met: Numbers,
    leader: Numbers,
    followers: Numbers,
    enabled_in: Numbers,
    last_state: Numbers,
    taken: NDArray[np.bool_],
    touched: NDArray[np.int32],
) -> int:
    """Judge every component; return how many states are left to be looked at again.

    `met` has a place for each renaming, those behind it for each instance. Before, all are zero
    but `touched`.
    """
    left = 0
    joined = 1
    for part in range(len(starts) - 1):
        size = starts[part + 1] - starts[part]
        if joined != 0:
            for label in range(len(leader)):
                leader[label] = label
                followers[label] = 1
        joined = _join(
            offsets, targets, turns, component, order, starts[part], starts[part + 1], part, names,
            after, back, instances, count, met, leader, followers,
        )  # fmt: skip
        touched_size = 0
        for k in range(starts[part], starts[part + 1]):
            state = order[k]
            base = names[state] * len(leader)
            for edge in range(offsets[state], offsets[state + 1]):
                if labels[edge] < 0:
                    continue
                label = instances[base + labels[edge]]
                one = leader[label]
                if enabled_in[one] == 0:
                    touched[touched_size] = one
                    touched_size += 1
                if last_state[label] != state + 1:
                    last_state[label] = state + 1
                    enabled_in[one] += 1
                if component[targets[edge]] == part:
                    taken[one] = True
        verdict = FAIR
        for k in range(touched_size):
            one = touched[k]
            if not taken[one]:
                if enabled_in[one] == size * followers[one]:
                    verdict = HOPELESS
                elif strong[one] and verdict == FAIR:
                    verdict = REFINE
        for k in range(starts[part], starts[part + 1]):
            state = order[k]
            remaining[state] = verdict == REFINE
            if verdict == FAIR:
                result[state] = numbered + part
            elif verdict == REFINE:
                base = names[state] * len(leader)
                for edge in range(offsets[state], offsets[state + 1]):
                    if labels[edge] >= 0:
                        one = leader[instances[base + labels[edge]]]
                        if strong[one] and not taken[one]:
                            remaining[state] = False
                left += remaining[state]
        for k in range(touched_size):
            enabled_in[touched[k]] = 0
            taken[touched[k]] = False
    return left


@inlined
def _join(
    offsets: Numbers,
    targets: NDArray[np.int32],
    turns: NDArray[np.uint16],
    component: NDArray[np.int32],
    order: NDArray[np.int32],
    start: int,
    end: int,
    part: int,
    names: NDArray[np.int32],
    after: Numbers,
    back: Numbers,
    instances: Numbers,
    count: int,
    met: Numbers,
    leader: Numbers,
    followers: Numbers,
) -> int:
    """Let instances have one leader that become each other on the way around a component.

    Before, each leads itself alone. `followers` counts those of each leader. `met` says in which
    component, from 1 on, a way around came to a renaming last. Returns whether any did.
    """
    joined = 0
    for k in range(start, end):
        state = order[k]
        for edge in range(offsets[state], offsets[state + 1]):
            target = targets[edge]
            if component[target] == part:
                there = after[names[state] * count + turns[edge]]
                around = after[there * count + back[names[target]]]
                if around != 0 and met[around] != part + 1:
                    met[around] = part + 1
                    joined = 1
                    for label in range(len(leader)):
                        one = leader[label]
                        while leader[one] != one:
                            one = leader[one]
                        other = leader[instances[around * len(leader) + label]]
                        while leader[other] != other:
                            other = leader[other]
                        if one != other:
                            leader[max(one, other)] = min(one, other)
                            followers[min(one, other)] += followers[max(one, other)]
    if joined != 0:
        for label in range(len(leader)):
            leader[label] = leader[leader[label]]
    return joined


# ------------------------------------------------------------------------------------- all states


def require_room(states: int, needed: int) -> None:
    """Raise NoRoomError where a larger graph has too many states, or does not fit in its bytes."""
    if states >= 1 << 31 or needed > _SAFETY * available():
        raise NoRoomError


def unfolded(
    graph: StateGraph, turning: Turning, inside: NDArray[np.bool_]
) -> tuple[StateGraph, NDArray[np.int64]]:
    """Return the graph over `inside`, with a state for each of its states under each name.

    Also the states (int64): under name n the i-th of them is state i * count + n; of names under
    which it is the same, the least one alone is led to. The last one stands for all that is not
    inside. NoRoomError where there is no memory for that.
    """
    states = np.flatnonzero(inside)
    number = np.full(graph.states, len(states), np.int32)
    number[states] = np.arange(len(states))
    sizes = graph.offsets[states + 1] - graph.offsets[states]
    nodes = len(states) * turning.count
    needed = 8 * turning.count * int(sizes.sum()) + 40 * nodes
    require_room(nodes, needed)
    offsets = np.zeros(nodes + 2, np.int64)
    np.cumsum(np.repeat(sizes, turning.count), out=offsets[1:-1])
    offsets[-1] = offsets[-2]
    targets, labels = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    _unfold(
        graph.offsets, graph.targets, graph.labels, turning.turns, turning.after,
        turning.instances, turning.count, len(graph.strong), _least_names(turning, states),
        states, number, offsets, targets, labels,
    )  # fmt: skip
    whole = StateGraph(
        offsets=offsets,
        targets=targets,
        labels=labels,
        strong=graph.strong,
        initial=np.empty(0, np.int64),
        cut=np.zeros(nodes + 1, np.bool_),
    )
    return whole, states


def _least_names(turning: Turning, states: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return int64 (states * count,): the least name under which each is what it is under one."""
    count = turning.count
    stays, found = turning.stays(states), np.empty((len(states), count), np.int64)
    after = turning.after.reshape(count, count)
    kinds, each = np.unique(stays, axis=0, return_inverse=True)
    for kind, same in enumerate(kinds):
        found[each.ravel() == kind] = after[:, same].min(axis=1)
    return found.ravel()


@compiled
def _unfold(
    offsets: Numbers,
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    turns: NDArray[np.uint16],
    after: Numbers,
    instances: Numbers,
    count: int,
    promises: int,
    least: Numbers,
    states: Numbers,
    number: NDArray[np.int32],
    ends: Numbers,
    to: NDArray[np.int32],
    marks: NDArray[np.int32],
) -> None:
    """Write the edges of `unfolded`, which begin at `ends`."""
    for i in range(len(states)):
        state = states[i]
        for name in range(count):
            filled = ends[i * count + name]
            for edge in range(offsets[state], offsets[state + 1]):
                there = number[targets[edge]]
                to[filled] = there * count
                if there < len(states):
                    called = after[name * count + turns[edge]]
                    to[filled] += least[there * count + called]
                marks[filled] = labels[edge]
                if labels[edge] >= 0:
                    marks[filled] = instances[name * promises + labels[edge]]
                filled += 1
