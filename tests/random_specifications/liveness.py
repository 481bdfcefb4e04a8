"""Whether a small graph has a fair endless run of which a formula is true, or may have beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import networkx as nx

from .formulas import Formula, Obligations, continued, untils

Label = tuple[Any, ...]
"""A promise: the name of a row or group, and the values by which it is told apart."""
Node = tuple[int, Obligations]
Truth = list[bool] | None
"""Which conditions hold in a state; None of one that there is not, because ids ran out."""


@dataclass
class Graph:
    """Steps by source: the target (-1: cut off) and the promises that the step keeps."""

    edges: list[list[tuple[int, frozenset[Label]]]]
    strong: dict[str, bool]
    beyond: list[list[Truth]]
    """By source, what is true where its steps lead that were cut off and change something."""

    def reached(self, starts: set[int], inside: set[int]) -> set[int]:
        """What is reached from `starts` through states `inside` alone."""
        found, waiting = set(starts), list(starts)
        while waiting:
            for target, _ in self.edges[waiting.pop()]:
                if target in inside and target not in found:
                    found.add(target)
                    waiting.append(target)
        return found

    def enabled(self, state: int) -> set[Label]:
        """The promises that a step to another state would keep."""
        return {one for target, labels in self.edges[state] if target != state for one in labels}


class _Read:
    """The runs of a graph as a formula is read along them: moves, and what each of them puts off.

    A run may stand still in each state.
    """

    def __init__(
        self, graph: Graph, starts: list[int], formula: Formula, truth: list[list[bool]]
    ) -> None:
        self.graph, self.moves = graph, nx.DiGraph()
        waiting: list[Node] = [(state, frozenset([formula])) for state in starts]
        while waiting:
            node = waiting.pop()
            if self.moves.has_node(node) and self.moves.nodes[node].get("read"):
                continue
            self.moves.add_node(node, read=True)
            state, left = node
            targets = {state} | {target for target, _ in graph.edges[state] if target >= 0}
            for then, put_off in continued(sorted(left, key=repr), truth[state]):
                for target in targets:
                    self._move(node, (target, then), put_off)
                    waiting.append((target, then))

    def _move(self, source: Node, target: Node, put_off: Obligations) -> None:
        if not self.moves.has_edge(source, target):
            self.moves.add_edge(source, target, ways=[])
        self.moves.edges[source, target]["ways"].append(put_off)

    def kept(self, source: Node, target: Node) -> set[Label]:
        """Return the promises that a move keeps: it takes all that could have made it."""
        here, there = source[0], target[0]
        if here == there:
            return set()
        steps = self.graph.edges[here]
        return {one for leads, labels in steps if leads == there for one in labels}


def satisfied(graph: Graph, starts: list[int], formula: Formula, truth: list[list[bool]]) -> bool:
    """Whether a fair run from one of `starts` satisfies a formula."""
    read = _Read(graph, starts, formula, truth)
    return _fair_among(read, read.moves, untils(formula))


def _fair_among(read: _Read, moves: nx.DiGraph, owed: set[Formula]) -> bool:
    return any(
        _fair(read, moves.subgraph(part), owed)
        for part in list(nx.strongly_connected_components(moves))
    )


def _fair(read: _Read, part: nx.DiGraph, owed: set[Formula]) -> bool:
    ways = [way for _, _, data in part.edges(data=True) for way in data["ways"]]
    if not ways or any(all(until in way for way in ways) for until in owed):
        return False
    taken = {label for source, target in part.edges for label in read.kept(source, target)}
    enabled = {node: read.graph.enabled(node[0]) for node in part.nodes}
    for label in set().union(*enabled.values()) - taken:
        having = {node for node in part.nodes if label in enabled[node]}
        if len(having) == len(part):
            return False
        if read.graph.strong[label[0]]:
            return _fair_among(read, part.subgraph(set(part.nodes) - having), owed)
    return True


def unclear(
    graph: Graph,
    starts: list[int],
    formula: Formula,
    truth: list[list[bool]],
    begun: list[Truth],
    kind: str,
) -> bool:
    """Whether what was cut off may break a claim, whose negation is `formula`.

    `begun`: the initial states that were cut off and that the claim speaks of.
    """
    if kind in ("ltl", "eventually_always"):
        moves = _Read(graph, starts, formula, truth).moves
        read = {state for (state, _), following in moves.adjacency() if following}
        return bool(begun) or any(graph.beyond[state] for state in read)

    def pending(here: Truth) -> bool:
        return here is None or not here[-1]

    def raised(here: Truth) -> bool:
        return pending(here) and (here is None or kind != "leads_to" or here[0])

    everywhere = graph.reached(set(starts), set(range(len(truth))))
    raising = set(starts) if kind == "eventually" else everywhere
    waiting = {state for state, here in enumerate(truth) if pending(here)}
    owing = graph.reached({state for state in raising if raised(truth[state])}, waiting)
    if any(map(raised, begun)) or any(pending(here) for one in owing for here in graph.beyond[one]):
        return True
    return kind != "eventually" and any(
        raised(here) for state in everywhere for here in graph.beyond[state]
    )
