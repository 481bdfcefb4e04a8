"""What of a state table really happens in an instance: read off all its states and steps.

The state table itself is computed from guards and effects, and so a bound. Here every step of the
graph is looked at: from which state of a machine to which a row went.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.graph.labelled import CUT_OFF, LabelledGraph
from checker.machine.machine import Variable
from checker.semantics.values import MapValue, format_value
from checker.tables.matrix import Cell, Effect, StateMatrix

Move = tuple[str, str, str, str]
"""A machine's name, a row, the state before its step, the state after it."""

At = tuple[str, str, str]
"""A machine's name, a row, the state before its step."""

_CHUNK = 1 << 14


@frozen()
class Reached:
    """What the steps of a graph do to machines.

    A step in which a machine stays where it is is one of `moves` where there is only one machine
    of this name, or the step names it in its bindings; in `stays` whichever machine it is. The
    steps in `beyond` lead to states that the graph has not, so they may be any moves.
    """

    moves: frozenset[Move]
    stays: frozenset[At]
    beyond: frozenset[At]


def reached(graph: LabelledGraph) -> Reached:
    """Return the moves of machines that the steps of a graph make."""
    rows = sorted({label.row for label in graph.labels})
    place = {row: number for number, row in enumerate(rows)}
    row_of = np.array([place[label.row] for label in graph.labels], np.int64)
    taken, cut = graph.targets >= 0, graph.targets == CUT_OFF
    names, sources, targets = graph.names[taken], graph.sources[taken], graph.targets[taken]
    found: set[Move] = set()
    stays: set[At] = set()
    beyond: set[At] = set()
    for variable, values in _values(graph):
        states = tuple(name for name, _ in graph.machine.table(variable.table or "").states)
        for key, column in _columns(values, states):
            named = np.array([_names(label.bindings, key) for label in graph.labels], bool)
            before, after = column[sources], column[targets]
            counted = (before >= 0) & (after >= 0) & ((before != after) | named[names])
            codes = (row_of[names] * len(states) + before) * len(states) + after
            for code in np.unique(codes[counted]).tolist():
                rest, last = divmod(code, len(states))
                row, first = divmod(rest, len(states))
                found.add((variable.name, rows[row], states[first], states[last]))
            stayed = (before >= 0) & (before == after)
            left = column[graph.sources[cut]]
            for told, steps, places in (
                (stays, names[stayed], before[stayed]),
                (beyond, graph.names[cut][left >= 0], left[left >= 0]),
            ):
                for code in np.unique(row_of[steps] * len(states) + places).tolist():
                    row, first = divmod(code, len(states))
                    told.add((variable.name, rows[row], states[first]))
    return Reached(frozenset(found), frozenset(stays), frozenset(beyond))


def _names(bindings: Iterable[tuple[str, str]], key: str | None) -> bool:
    """Whether bindings name a machine; where there is only one, they need not."""
    return key is None or any(value == key for _, value in bindings)


def _values(graph: LabelledGraph) -> list[tuple[Variable, list[object]]]:
    """Return the variables that follow a table, each with its value in every state."""
    variables = enumerate(graph.machine.variables)
    held = {place: list[object]() for place, item in variables if item.table is not None}
    for first in range(0, graph.states, _CHUNK):
        last = min(first + _CHUNK, graph.states)
        for state in graph.values(np.arange(first, last, dtype=np.int64)):
            for place, values in held.items():
                values.append(state[place])
    return [(graph.machine.variables[place], values) for place, values in held.items()]


def _columns(
    values: list[object], states: tuple[str, ...]
) -> Iterator[tuple[str | None, NDArray[np.int64]]]:
    """Yield for each machine of a variable its key and its state, a number, in every state."""
    number = {name: place for place, name in enumerate(states)}
    if not any(isinstance(value, MapValue) for value in values):
        yield None, np.array([number.get(str(value), -1) for value in values], np.int64)
        return
    keys = {key for value in values if isinstance(value, MapValue) for key in value}
    for key in sorted(keys, key=format_value):
        held = [value.get(key) if isinstance(value, MapValue) else None for value in values]
        column = [number.get(item, -1) if isinstance(item, str) else -1 for item in held]
        yield format_value(key), np.array(column, np.int64)


def marked(matrix: StateMatrix, found: Reached) -> StateMatrix:
    """Return a state table whose effects say to which of their targets nothing really went."""
    lines = tuple(
        replace(line, cells=tuple(_marked(matrix.machine, cell, found) for cell in line.cells))
        for line in matrix.lines
    )
    return replace(matrix, lines=lines)


def _marked(machine: str, cell: Cell, found: Reached) -> Cell:
    def never(effect: Effect) -> tuple[str, ...]:
        at = machine, effect.row, effect.state
        if at in found.beyond:
            return ()
        stays = at in found.stays and not effect.named
        return tuple(
            target
            for target in effect.targets
            if (*at, target) not in found.moves and not (stays and target == effect.state)
        )

    effects = tuple(replace(effect, never=never(effect)) for effect in cell.effects)
    return replace(cell, effects=effects)
