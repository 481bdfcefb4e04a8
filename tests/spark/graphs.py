"""State graphs of machines as plain edges, and many of them side by side as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from checker.kernel.build import build
from checker.kernel.calls import Calls
from checker.layout.layout import pack
from checker.llvm.meta import CUT, DROPPED, ERROR
from checker.machine.machine import Machine

Edge = tuple[int, int]


@dataclass(frozen=True)
class Graph:
    """So many states, and every step between them, by number; in the order of discovery."""

    states: int
    edges: tuple[Edge, ...]


def graph_of(machine: Machine) -> Graph:
    """The graph of all reachable states, or of their representatives."""
    kernel = build(machine, pack(machine))
    calls = Calls(kernel)
    numbers: dict[bytes, int] = {}
    edges: list[Edge] = []
    begun, meta = calls.initial()
    frontier = calls.canonical(begun[(meta & (CUT | DROPPED | ERROR)) == 0])
    for state in frontier:
        numbers.setdefault(state.tobytes(), len(numbers))
    frontier = np.unique(frontier, axis=0)
    while len(frontier):
        steps = calls.expand(frontier)
        sources = np.repeat(np.arange(len(frontier)), np.diff(steps.ends, prepend=0))
        new = []
        inside = (steps.meta & (CUT | DROPPED | ERROR)) == 0
        for source, target in zip(
            frontier[sources[inside]], calls.canonical(steps.words[inside]), strict=True
        ):
            if target.tobytes() not in numbers:
                numbers[target.tobytes()] = len(numbers)
                new.append(target)
            edges.append((numbers[source.tobytes()], numbers[target.tobytes()]))
        frontier = np.array(new, np.int64).reshape(-1, kernel.words)
    return Graph(len(numbers), tuple(edges))


def side_by_side(graphs: Iterable[Graph]) -> Graph:
    """Several graphs as one."""
    states, edges = 0, list[Edge]()
    for graph in graphs:
        edges += [(states + source, states + target) for source, target in graph.edges]
        states += graph.states
    return Graph(states, tuple(edges))
