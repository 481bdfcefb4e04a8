"""State tables under one's own objects: `transitions` machines, and what follows from the graph.

A table says which moves are legal; a `StateMatrix` says which moves the rows of a system make. Both
are moves (origin, event, target), and both can be attached to an object or taken as a graph.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import Path

import networkx as nx
from transitions import Machine

from checker.errors import UsageError
from checker.library import shipped
from checker.table import StateTable, read_table
from checker.tables.matrix import StateMatrix

Move = tuple[str, str, str]
"""Origin, event, target."""


def load(name: str | Path) -> StateTable:
    """Return a state table: a file, or the name of a shipped one.

    Raises UsageError where there is none, SpecificationError where it is wrong.
    """
    for entry in shipped():
        if entry.kind == "table" and entry.name == str(name):
            return read_table(entry.path)
    path = Path(name)
    if not path.is_file():
        known = ", ".join(entry.name for entry in shipped() if entry.kind == "table")
        raise UsageError(f"there is no state table {str(name)!r}; the shipped ones are {known}")
    return read_table(path)


def moves(source: StateTable | StateMatrix) -> tuple[Move, ...]:
    """Return the moves of a table, or those that the rows of a system can make of a machine."""
    if isinstance(source, StateMatrix):
        return source.moves()
    return tuple((move.origin, move.event, move.target) for move in source.transitions)


def states(source: StateTable | StateMatrix) -> tuple[str, ...]:
    """Return the states in declared order."""
    if isinstance(source, StateMatrix):
        return source.states
    return tuple(name for name, _ in source.states)


def attach(source: StateTable | StateMatrix, model: object, initial: str | None = None) -> Machine:
    """Put an object under a table: `model.state`, and a method for each event.

    The method of an event moves the object, `to_STATE` moves it to a state; both raise
    `transitions.MachineError` where the table has no such move. An event that leads from one state
    to several is no method, for it would not say where; `to_STATE` does. `initial` is by default
    the first initial state of a table.
    """
    known = states(source)
    begin = initial or (source.initial[0] if isinstance(source, StateTable) else known[0])
    if begin not in known:
        raise UsageError(f"there is no state {begin!r}; there are {', '.join(known)}")
    machine = Machine(model=model, states=list(known), initial=begin, auto_transitions=False)
    found = dict.fromkeys(moves(source))
    targets: dict[tuple[str, str], set[str]] = {}
    for origin, event, target in found:
        targets.setdefault((origin, event), set()).add(target)
    vague = {event for (_, event), reached in targets.items() if len(reached) > 1}
    for origin, event, target in found:
        if event not in vague:
            machine.add_transition(event, origin, target)
    for origin, target in dict.fromkeys((origin, target) for origin, _, target in found):
        machine.add_transition(f"to_{target}", origin, target)
    return machine


def graph(source: StateTable | StateMatrix) -> nx.MultiDiGraph:
    """Return the states and moves as a networkx graph; an edge has the event as its key."""
    made = nx.MultiDiGraph()
    made.add_nodes_from(states(source))
    for origin, event, target in moves(source):
        made.add_edge(origin, target, key=event)
    return made


def reachable(source: StateTable | StateMatrix, state: str) -> frozenset[str]:
    """Return the states that some moves lead to from `state`, itself included."""
    return frozenset({state, *nx.descendants(graph(source), state)})


def dominators(source: StateTable | StateMatrix, start: str) -> dict[str, str]:
    """Return of each state that `start` leads to the last one that every way to it goes through."""
    found: dict[str, str] = dict(nx.immediate_dominators(graph(source), start))
    return {state: gate for state, gate in found.items() if state != start}


def cover(source: StateTable | StateMatrix, start: str) -> tuple[tuple[Move, ...], ...]:
    """Return walks from `start` that together make every move that can be made: a test suite.

    Each walk goes to the nearest move that no walk has made, until it meets none any more.
    """
    within = reachable(source, start)
    left = dict.fromkeys(move for move in moves(source) if move[0] in within)
    outgoing: dict[str, list[Move]] = {state: [] for state in states(source)}
    for move in left:
        outgoing[move[0]].append(move)
    walks: list[tuple[Move, ...]] = []
    while left:
        walk: list[Move] = []
        here = start
        while (way := _nearest(here, outgoing, left)) is not None:
            walk += way
            here = way[-1][2]
            for move in way:
                left.pop(move, None)
        walks.append(tuple(walk))
    return tuple(walks)


def _nearest(
    start: str, outgoing: dict[str, list[Move]], wanted: Iterable[Move]
) -> list[Move] | None:
    """Return the shortest way from a state that ends with a wanted move, or None."""
    wanted = set(wanted)
    ways: deque[tuple[str, list[Move]]] = deque([(start, [])])
    seen = {start}
    while ways:
        state, way = ways.popleft()
        for move in outgoing[state]:
            if move in wanted:
                return [*way, move]
            if move[2] not in seen:
                seen.add(move[2])
                ways.append((move[2], [*way, move]))
    return None
