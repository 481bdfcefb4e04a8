"""What a change does: two labelled graphs held against each other, on what both can show.

States are compared on the variables that both machines have; steps by row, bindings and picks. The
runs of a graph are the sequences of what is seen and what is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from checker.errors import Interruption
from checker.frozen import frozen
from checker.graph.inclusion import PAIRS_MAX, Run, View, runs_apart
from checker.graph.interning import intern
from checker.graph.labelled import CUT_OFF, FAILED, LabelledGraph
from checker.kernel.kernel import Words
from checker.layout.cells import value_from
from checker.layout.codec import unpack
from checker.search.progress import Interrupt, interrupted
from checker.semantics.values import MapValue, format_value

Column = NDArray[np.unsignedinteger] | NDArray[np.int64]
_AT_ONCE = 1 << 16
_ALIKE = 0.6
"""How alike names are (1 the same) of which one may have become the other."""
_LARGEST = 1 << 62
Numbers = NDArray[np.int64]


@frozen()
class Only:
    """Something that one side alone has, and the shortest run of that side that shows it."""

    what: str
    run: Run


@frozen(slots=False)
class Side:
    """What one side alone has: how many of each kind, and some of each, nearest first.

    `shorter` is a shortest run that the other side has not; None where it has all of them, or
    where that was not decided.
    """

    counts: Mapping[str, int]
    shown: Mapping[str, tuple[Only, ...]]
    shorter: Run | None


@frozen(slots=False)
class Difference:
    """How two graphs differ. `equal` is None where that could not be decided, and `why`.

    `shared` are the variables compared; `hidden` those that only one side has (old, new).
    """

    equal: bool | None
    why: str
    shared: tuple[str, ...]
    hidden: tuple[tuple[str, ...], tuple[str, ...]]
    lost: Side
    gained: Side


def renamed(graph: LabelledGraph, rows: Mapping[str, str]) -> LabelledGraph:
    """Return a graph some of whose rows have other names."""
    labels = tuple(replace(label, row=rows.get(label.row, label.row)) for label in graph.labels)
    return replace(graph, labels=labels)


def guessed(old: LabelledGraph, new: LabelledGraph) -> dict[str, str]:
    """Return which rows may only have another name now: alike in bindings, and in steps or name."""
    steps = [_steps_of_rows(graph) for graph in (old, new)]
    lost = [row for row in steps[0] if row not in steps[1]]
    left = [row for row in steps[1] if row not in steps[0]]
    found: dict[str, str] = {}
    for row in lost:
        bindings, count = steps[0][row]
        alike = [
            (steps[1][other][1] == count, SequenceMatcher(None, row, other).ratio(), other)
            for other in left
            if steps[1][other][0] == bindings
        ]
        same, likeness, other = max(alike, default=(False, 0.0, ""))
        if same or likeness > _ALIKE:
            found[row] = other
            left.remove(other)
    return found


def _steps_of_rows(graph: LabelledGraph) -> dict[str, tuple[tuple[str, ...], int]]:
    """Return the names that each row binds, and how many steps it makes."""
    counts = np.bincount(graph.names, minlength=len(graph.labels)).tolist()
    found: dict[str, tuple[tuple[str, ...], int]] = {}
    for label, count in zip(graph.labels, counts, strict=True):
        if count:
            before = found.get(label.row, ((), 0))[1]
            found[label.row] = tuple(name for name, _ in label.bindings), before + count
    return found


def compare(
    old: LabelledGraph,
    new: LabelledGraph,
    most: int = 5,
    pairs_max: int = PAIRS_MAX,
    interrupt: Interrupt | None = None,
) -> Difference:
    """Hold two graphs against each other, showing at most so many of each kind.

    Interruption where `interrupt` says to stop.
    """
    names = [{variable.name for variable in graph.machine.variables} for graph in (old, new)]
    shared = tuple(v.name for v in old.machine.variables if v.name in names[1])
    hidden = (
        tuple(sorted(names[0] - names[1])),
        tuple(sorted(names[1] - names[0])),
    )
    views = _views(old, new, shared, interrupt)
    decided, why = runs_apart(views, pairs_max, interrupt)
    moves = [_moves(view, shared) for view in views]
    sides = [
        _side(views[mine], views[1 - mine], shared, moves[mine], moves[1 - mine], run, most)
        for mine, run in enumerate(decided)
    ]
    differ = any(run is not None for run in decided) or any(
        count for side in sides for count in side.counts.values()
    )
    equal = False if differ else None if why else True
    return Difference(equal, "" if differ else why, shared, hidden, sides[0], sides[1])


def _views(
    old: LabelledGraph, new: LabelledGraph, shared: tuple[str, ...], interrupt: Interrupt | None
) -> list[View]:
    looks = _looks(old, new, shared, interrupt)
    called = dict.fromkeys(label.values for label in (*old.labels, *new.labels))
    labels = {values: number for number, values in enumerate(called)}
    views = []
    for graph, first in ((old, 0), (new, old.states)):
        own = np.asarray(looks[first : first + graph.states], np.int32)
        calls = np.array([labels[label.values] for label in graph.labels], np.int32)
        inside = graph.targets >= 0
        ends: NDArray[np.int32] = graph.targets.copy()
        ends[inside] = own[graph.targets[inside]]
        plain = bool((np.bincount(own, minlength=1) < 2).all())
        named: NDArray[np.int32] = calls[graph.names] if len(calls) else np.zeros(0, np.int32)
        views.append(View(graph, own, named, ends, plain))
    return views


def _looks(
    old: LabelledGraph, new: LabelledGraph, shared: tuple[str, ...], interrupt: Interrupt | None
) -> Numbers:
    """Return numbers for the states of both, one after the other: equal where they look equal."""
    types = [{v.name: v.type for v in graph.machine.variables} for graph in (old, new)]
    alike = [name for name in shared if types[0][name] == types[1][name]]
    keys = _Keys(old.states + new.states)
    sizes = [old.layout.leaves[place].cardinality for place in _places(old, alike)]
    weights = keys.reserve(sizes)
    for graph, start in ((old, 0), (new, old.states)):
        places = _places(graph, alike)
        for first in range(0, graph.states, _AT_ONCE):
            _go_on(interrupt)
            cells = unpack(graph.layout, graph.words[first : first + _AT_ONCE])[:, places]
            keys.put(start + first, cells, weights)
    for name in shared:
        if types[0][name] != types[1][name]:
            # The same values are kept otherwise.
            known: dict[object, int] = {}
            keys.add(
                np.concatenate(
                    [
                        _coded(graph, name, _cells(graph, [name])[name], known, interrupt)
                        for graph in (old, new)
                    ]
                )
            )
    return keys.dense()


def _places(graph: LabelledGraph, names: Iterable[str]) -> list[int]:
    """Return where the cells of some variables are."""
    starts = graph.layout.starts
    return [
        leaf
        for place in map(graph.layout.variables.index, names)
        for leaf in range(starts[place], starts[place + 1])
    ]


def _cells(graph: LabelledGraph, names: Iterable[str]) -> dict[str, list[Column]]:
    """Return the cells of some variables: of each cell a column, as narrow as its values allow."""
    layout = graph.layout
    spans = {
        name: range(layout.starts[place], layout.starts[place + 1])
        for name, place in ((name, layout.variables.index(name)) for name in names)
    }
    found = {
        name: [
            np.zeros(graph.states, np.min_scalar_type(max(layout.leaves[leaf].cardinality - 1, 0)))
            for leaf in span
        ]
        for name, span in spans.items()
    }
    for first in range(0, graph.states, _AT_ONCE):
        cells: Words = unpack(layout, graph.words[first : first + _AT_ONCE])
        for name, span in spans.items():
            for column, leaf in zip(found[name], span, strict=True):
                column[first : first + len(cells)] = cells[:, leaf]
    return found


def _coded(
    graph: LabelledGraph,
    name: str,
    columns: list[Column],
    known: dict[object, int],
    interrupt: Interrupt | None,
) -> Numbers:
    """Return numbers for the values of a variable in each state; equal values have equal ones."""
    keys = _Keys(graph.states)
    for column in columns:
        keys.add(column)
    which = keys.dense()
    first = _firsts(which)
    shape = graph.layout.shapes[graph.layout.variables.index(name)]
    numbers = []
    for place in first:
        _go_on(interrupt)
        value = value_from(shape, [int(column[place]) for column in columns])
        numbers.append(known.setdefault(_typed(value), len(known)))
    return np.array(numbers, np.int64)[which]


class _Keys:
    """A number for each row of a matrix given by its columns; only equal rows have equal ones.

    Columns are packed into words, as many as fit in each; which rows are equal a hash table says:
    sorting them costs more than all the rest.
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.words = [np.zeros(rows, np.int64)]
        self.size = 1

    def reserve(self, sizes: Iterable[int]) -> list[tuple[int, int]]:
        """Return for columns of so many different numbers each the word and the weight in it."""
        found = []
        for size in sizes:
            if self.size * size > _LARGEST:
                self.words.append(np.zeros(self.rows, np.int64))
                self.size = 1
            found.append((len(self.words) - 1, self.size))
            self.size *= max(size, 1)
        return found

    def put(self, first: int, columns: Words, weights: Iterable[tuple[int, int]]) -> None:
        """Tell some rows, from `first` on, apart by columns that `weights` are reserved for."""
        last = first + len(columns)
        for column, (word, weight) in zip(columns.T, weights, strict=True):
            self.words[word][first:last] += column * weight

    def add(self, column: Column | Numbers) -> None:
        """Tell rows apart by a further column."""
        low, high = int(column.min(initial=0)), int(column.max(initial=0))
        if high - low >= _LARGEST:
            self.words.append(column.astype(np.int64))
            self.size = _LARGEST
            return
        ((word, weight),) = self.reserve([high - low + 1])
        self.words[word] += (column.astype(np.int64) - low) * weight

    def dense(self) -> Numbers:
        """Return the numbers, from 0 on without gaps, as rows come."""
        given = np.stack(self.words, axis=1)
        known = np.empty_like(given)
        index = np.zeros(1 << max(2 * self.rows - 1, 1).bit_length(), np.int32)
        numbers = np.zeros(self.rows, np.int64)
        wanted = np.ones(self.rows, np.bool_)
        words = len(self.words)
        intern(known.ctypes.data, words, 0, index, given.ctypes.data, wanted, numbers)
        return numbers


def _go_on(interrupt: Interrupt | None) -> None:
    if interrupted(interrupt):
        raise Interruption("which states look alike was not known yet")


def _typed(value: object) -> object:
    """Return what tells a value from those of other types: 0 is not false."""
    return type(value).__name__, format_value(value)


# ------------------------------------------------------------------------------ what is shown


def _run_to_state(graph: LabelledGraph, state: int) -> Run:
    """Return a shortest run to a state."""
    steps: list[int] = []
    while graph.depths[state] > 0:
        step = int(graph.parents[state])
        steps.append(step)
        state = int(np.searchsorted(graph.offsets, step, side="right")) - 1
    return state, tuple(reversed(steps))


def _run_to_step(graph: LabelledGraph, step: int) -> Run:
    source = int(np.searchsorted(graph.offsets, step, side="right")) - 1
    first, steps = _run_to_state(graph, source)
    return first, (*steps, step)


def _side(
    mine: View,
    theirs: View,
    shared: tuple[str, ...],
    moves: Mapping[str, int],
    their_moves: Mapping[str, int],
    run: Run | None,
    most: int,
) -> Side:
    """Return what only one side has: rows that run, names of steps, moves of machines, states."""
    graph = mine.graph
    # Steps stand in the order of their states' depths: the first of a name is a nearest one.
    first = _firsts(mine.calls)
    there = _firsts(theirs.calls)
    common = min(len(first), len(there))
    first[:common][there[:common] >= 0] = -1
    own = np.sort(first[first >= 0]).tolist()
    steps = [(graph.labels[int(graph.names[step])], step) for step in own]
    rows = {
        theirs.graph.labels[name].row
        for name in np.flatnonzero(_firsts(theirs.graph.names) >= 0).tolist()
    }
    by_row: dict[str, int] = {}
    for label, step in steps:
        if label.row not in rows:
            by_row.setdefault(label.row, step)
    steps = [(label, step) for label, step in steps if label.row in rows]
    moves = {move: step for move, step in moves.items() if move not in their_moves}
    alone = np.flatnonzero(~np.isin(mine.looks, theirs.looks))
    _, kept = np.unique(mine.looks[alone], return_index=True)
    states = np.sort(alone[kept])
    found: dict[str, list[tuple[str, Run]]] = {
        "rows": [(row, _run_to_step(graph, step)) for row, step in list(by_row.items())[:most]],
        "steps": [(label.text, _run_to_step(graph, step)) for label, step in steps[:most]],
        "moves": [
            (text, _run_to_step(graph, step))
            for text, step in sorted(moves.items(), key=lambda item: item[1])[:most]
        ],
        "states": [
            (_seen(graph, shared, state), _run_to_state(graph, state))
            for state in states[:most].tolist()
        ],
    }
    counts = {
        "rows": len(by_row), "steps": len(steps), "moves": len(moves), "states": len(states)
    }  # fmt: skip
    shown = {kind: tuple(Only(what, run_) for what, run_ in items) for kind, items in found.items()}
    return Side(counts, shown, run)


def _firsts(codes: Numbers | NDArray[np.int32]) -> Numbers:
    """Return where each number of a list of small ones first stands; -1: nowhere."""
    found = np.full(int(codes.max(initial=-1)) + 1, -1, np.int64)
    found[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return found


def _moves(view: View, shared: tuple[str, ...]) -> dict[str, int]:
    """Return the moves of the machines that both sides have, with the first step of each.

    A machine that there is several of has a cell for each: the first steps in which each cell
    changes from one value to another show all moves.
    """
    graph = view.graph
    found: dict[str, int] = {}
    sources = graph.sources
    inside = np.flatnonzero(graph.targets >= 0)
    before, after = sources[inside], graph.targets[inside]
    names = [v.name for v in graph.machine.variables if v.table is not None and v.name in shared]
    cells = _cells(graph, names)
    for name in names:
        place = graph.layout.variables.index(name)
        for column in cells[name]:
            begin, end = column[before], column[after]
            changed = np.flatnonzero(begin != end)
            size = int(column.max(initial=0)) + 1
            first = _firsts(begin[changed].astype(np.int64) * size + end[changed])
            steps = inside[changed[first[first >= 0]]]
            origins = graph.values(sources[steps].astype(np.int64))
            targets = graph.values(graph.targets[steps].astype(np.int64))
            for step, one, other in zip(steps.tolist(), origins, targets, strict=True):
                for move in _moved(name, one[place], other[place]):
                    found[move] = min(step, found.get(move, step))
    return found


def _moved(name: str, begin: object, end: object) -> Iterable[str]:
    """Yield what a change of a machine's variable is: a move of it, or of one of several."""
    if isinstance(begin, MapValue) and isinstance(end, MapValue):
        for key in begin:
            if key in end and begin[key] != end[key]:
                yield from _moved(f"{name}[{format_value(key)}]", begin[key], end[key])
    else:
        yield f"{name}: {format_value(begin)} -> {format_value(end)}"


def _seen(graph: LabelledGraph, shared: tuple[str, ...], number: int) -> str:
    values = graph.state(number)
    return ", ".join(
        f"{variable.name}={format_value(value)}"
        for variable, value in zip(graph.machine.variables, values, strict=True)
        if variable.name in shared
    )


def run_labels(graph: LabelledGraph, run: Run) -> list[str]:
    """Return the names of a run's steps; one that leads nowhere says so."""
    ends = {CUT_OFF: " (beyond the bounds)", FAILED: " (fails)"}
    return [
        graph.labels[int(graph.names[step])].text + ends.get(int(graph.targets[step]), "")
        for step in run[1]
    ]
