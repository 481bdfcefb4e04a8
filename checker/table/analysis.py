"""The graph of a state table: what cannot be reached, cannot be left, and cannot be avoided."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from checker.errors import Diagnostic
from checker.frozen import frozen
from checker.source import Span
from checker.table.state_table import StateTable

if TYPE_CHECKING:
    import networkx as nx


@frozen()
class TableAnalysis:
    """What the graph of a table's states and moves says; states in declared order.

    Moves are the transitions; roll-backs (`restores`) count as moves too, for they happen.
    """

    unreachable: tuple[str, ...]
    """States that no way from an initial or created state reaches."""
    dead_ends: tuple[str, ...]
    """States without a way out (moves to themselves do not count) that are not `final`."""
    components: tuple[tuple[str, ...], ...]
    """Strongly connected components: sets of states that reach each other; sources first."""
    dominators: Mapping[str, tuple[str, ...]]
    """Of each reachable state, the other states on every way to it from a beginning, in order."""


def analyse_table(table: StateTable) -> TableAnalysis:
    """Return the analysis of a table's graph, from its initial and created states."""
    import networkx as nx  # noqa: PLC0415 (a tenth of a second, which reading need not spend)

    order = {name: index for index, (name, _) in enumerate(table.states)}
    graph = nx.DiGraph()
    graph.add_nodes_from(order)
    graph.add_edges_from((move.origin, move.target) for move in table.transitions)
    graph.add_edges_from(table.restores)
    beginnings = sorted({*table.initial, *table.created}, key=order.__getitem__)
    condensed = nx.condensation(graph)
    groups = nx.lexicographical_topological_sort(
        condensed,
        key=lambda group: min(order[state] for state in condensed.nodes[group]["members"]),
    )
    return TableAnalysis(
        unreachable=_unreachable(table),
        dead_ends=_dead_ends(table),
        components=tuple(
            tuple(sorted(condensed.nodes[group]["members"], key=order.__getitem__))
            for group in groups
        ),
        dominators=_dominators(graph, beginnings, order),
    )


def _dominators(
    graph: nx.DiGraph, beginnings: list[str], order: dict[str, int]
) -> Mapping[str, tuple[str, ...]]:
    """Return every reachable state's dominators, the nearest to the beginning first."""
    import networkx as nx  # noqa: PLC0415 (as above)

    rooted = graph.copy()
    # A root before all beginnings makes "every way from any of them" one dominator tree.
    root = ""
    rooted.add_edges_from((root, state) for state in beginnings)
    parents = nx.immediate_dominators(rooted, root)
    chains: dict[str, tuple[str, ...]] = {}
    for state in order:
        if state not in parents:
            continue
        chain: list[str] = []
        parent = parents[state]
        while parent != root:
            chain.append(parent)
            parent = parents[parent]
        chains[state] = tuple(reversed(chain))
    return MappingProxyType(chains)


def _moves(table: StateTable) -> set[tuple[str, str]]:
    return {(move.origin, move.target) for move in table.transitions} | set(table.restores)


def _unreachable(table: StateTable) -> tuple[str, ...]:
    moves = _moves(table)
    reached: set[str] = set()
    waiting = [*table.initial, *table.created]
    while waiting:
        state = waiting.pop()
        if state not in reached:
            reached.add(state)
            waiting += [target for origin, target in moves if origin == state]
    return tuple(name for name, _ in table.states if name not in reached)


def _dead_ends(table: StateTable) -> tuple[str, ...]:
    left = {origin for origin, target in _moves(table) if origin != target}
    return tuple(name for name, _ in table.states if name not in left | set(table.final))


def lint_table(table: StateTable) -> tuple[Diagnostic, ...]:
    """Return the warnings of a table: L401 unreachable states, L402 states without a way out."""
    places = dict(zip((name for name, _ in table.states), table.state_spans, strict=False))

    def warn(code: str, state: str, message: str, help_: str) -> Diagnostic:
        span: Span = places.get(state, table.span)
        return Diagnostic(code, message, span, help=help_, severity="warning")

    return (
        *(
            warn(
                "L401",
                state,
                f"no way leads to the state `{state}` of `{table.name}`",
                "add the transition that leads there, or list it in `created:`",
            )
            for state in _unreachable(table)
        ),
        *(
            warn(
                "L402",
                state,
                f"no way leads out of the state `{state}` of `{table.name}`",
                "add a transition, or mark it `final: true`",
            )
            for state in _dead_ends(table)
        ),
    )
