"""Kernels that follow a graph written down in Python: slow, but with every flag a kernel has."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field

from checker.kernel.kernel import Kernel
from checker.llvm.meta import DROPPED, ERROR


@dataclass(frozen=True)
class Edge:
    """One successor: its action, the node it leads to, its flags."""

    action: int
    target: int
    flags: int = 0


@dataclass
class Graph:
    """Nodes are numbers.

    `initial`: nodes and flags, in canonical order; `edges[node]` likewise. `dead`: nodes that are
    deadlocks; `unclear`: nodes whose terminal conditions fail; `checks[node]`: flags of `check`.
    """

    initial: Sequence[tuple[int, int]]
    edges: dict[int, list[Edge]]
    dead: frozenset[int] = frozenset()
    unclear: frozenset[int] = frozenset()
    checks: dict[int, int] = field(default_factory=dict)
    words: int = 1

    def encode(self, node: int) -> tuple[int, ...]:
        """Return a node's words: many equal words, and bits everywhere but bit 63 of word 0."""
        words = [node * 0x9E3779B97F4A7C15 % (1 << 63)]
        words += [(node >> 1) * 0xBF58476D1CE4E5B9 % (1 << 64), *[node % 3] * self.words]
        return tuple(_signed(word) for word in words[: self.words])


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _at(address: int, length: int) -> "ctypes.Array[ctypes.c_int64]":
    return (ctypes.c_int64 * length).from_address(address)


def kernel_of(
    graph: Graph,
    actions: tuple[str, ...],
    checks: tuple[str, ...] = (),
    steps: tuple[str, ...] = (),
) -> Kernel:
    """Return a kernel that follows `graph`; its functions are Python."""
    words = graph.words
    nodes = {node for node, _ in graph.initial} | set(graph.edges)
    nodes |= {edge.target for edges in graph.edges.values() for edge in edges}
    node_of = {graph.encode(node): node for node in nodes}
    assert len(node_of) == len(nodes)

    def initial(out: int, capacity: int, meta: int) -> int:
        if capacity < len(graph.initial):
            return -1
        for index, (node, flags) in enumerate(graph.initial):
            _at(out + 8 * words * index, words)[:] = graph.encode(node)
            _at(meta + 8 * index, 1)[0] = flags
        return len(graph.initial)

    def expand(
        states: int,
        count: int,
        out: int,
        capacity: int,
        meta: int,
        ends: int,
        status: int,
        tallies: int,
    ) -> int:
        total = 0
        counts = _at(tallies, 3 * len(actions))
        for index in range(count):
            node = node_of[tuple(_at(states + 8 * words * index, words))]
            edges = graph.edges.get(node, [])
            if total + len(edges) > capacity:
                return index
            for edge in edges:
                target = node if edge.flags & (ERROR | DROPPED) else edge.target
                _at(out + 8 * words * total, words)[:] = graph.encode(target)
                _at(meta + 8 * total, 1)[0] = edge.action | edge.flags
                total += 1
            ran = [edge.action for edge in edges if not edge.flags & ERROR]
            for action in ran:
                counts[2 * action + 1] += 1
            for edge in edges:
                moves = not edge.flags & (ERROR | DROPPED) and edge.target != node
                counts[2 * len(actions) + edge.action] += moves
            for action in set(ran):
                counts[2 * action] += 1
            _at(ends + 8 * index, 1)[0] = total
            _at(status + 8 * index, 1)[0] = 2 if node in graph.unclear else node not in graph.dead
        return count

    def check(states: int, count: int, flags: int, _done: int, _origins: int) -> int:
        for index in range(count):
            node = node_of[tuple(_at(states + 8 * words * index, words))]
            _at(flags + 8 * index, 1)[0] = graph.checks.get(node, 0)
        return count

    word = ctypes.c_int64
    three = ctypes.CFUNCTYPE(word, *[word] * 3)
    five = ctypes.CFUNCTYPE(word, *[word] * 5)
    eight = ctypes.CFUNCTYPE(word, *[word] * 8)
    keep = (three(initial), eight(expand), five(check))
    addresses = [ctypes.cast(function, ctypes.c_void_p).value or 0 for function in keep]
    return Kernel(
        words=words,
        actions=actions,
        checks=checks,
        steps=steps,
        initial_address=addresses[0],
        expand_address=addresses[1],
        check_address=addresses[2],
        ir="",
        keep=keep,
    )
