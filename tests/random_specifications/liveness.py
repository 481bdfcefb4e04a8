"""Whether a small graph has a fair endless run that never meets what it owes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Label = tuple[Any, ...]


@dataclass
class Graph:
    """Steps by source: the target (-1: cut off) and the fair instance, None where there is none."""

    edges: list[list[tuple[int, Label | None]]]
    strong: dict[str, bool]

    def enabled(self, state: int) -> set[Label]:
        """The fair instances with a step to another state."""
        return {label for target, label in self.edges[state] if label and target != state}

    def taken(self, states: set[int]) -> set[Label]:
        """The fair instances that a run through all steps between these states takes."""
        pairs = {
            (source, target)
            for source in states
            for target, _ in self.edges[source]
            if target in states and target != source
        }
        return {
            label
            for source in states
            for target, label in self.edges[source]
            if label and (source, target) in pairs
        }


def violated(graph: Graph, starts: list[int], met: list[bool]) -> bool:
    """Whether a fair run from one of `starts` stays for ever where `met` is false."""
    region: set[int] = set()
    waiting = [state for state in starts if not met[state]]
    while waiting:
        state = waiting.pop()
        if state not in region:
            region.add(state)
            waiting += [t for t, _ in graph.edges[state] if t >= 0 and not met[t]]
    return any(_fair(graph, part) for part in components(graph, region))


def _fair(graph: Graph, part: set[int]) -> bool:
    taken = graph.taken(part)
    enabled = {state: graph.enabled(state) for state in part}
    for label in set().union(*enabled.values()) - taken:
        having = {state for state in part if label in enabled[state]}
        if having == part:
            return False
        if graph.strong[label[0]]:
            rest = part - having
            return any(_fair(graph, inner) for inner in components(graph, rest))
    return True


def components(graph: Graph, states: set[int]) -> list[set[int]]:
    """Return the strongly connected components of a part of the graph; slow and plain."""

    def reach(start: int, *, back: bool) -> set[int]:
        seen, waiting = {start}, [start]
        while waiting:
            here = waiting.pop()
            for other in (before if back else after)[here]:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seen

    after: dict[int, set[int]] = {state: set() for state in states}
    before: dict[int, set[int]] = {state: set() for state in states}
    for source in states:
        for target, _ in graph.edges[source]:
            if target in states:
                after[source].add(target)
                before[target].add(source)
    found, left = list[set[int]](), set(states)
    while left:
        start = min(left)
        part = reach(start, back=False) & reach(start, back=True)
        found.append(part)
        left -= part
    return found
