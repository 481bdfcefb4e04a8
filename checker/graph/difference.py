"""What a change does: two labelled graphs held against each other, on what both can show.

States are compared on the variables that both machines have; steps by row, bindings and picks. The
runs of a graph are the sequences of what is seen and what is done. Where no two states of a graph
look alike, sets of steps decide; else the product of both, each made deterministic, is walked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from checker.graph.labelled import CUT_OFF, FAILED, LabelledGraph
from checker.kernel.kernel import Words
from checker.layout.cells import value_from
from checker.layout.codec import unpack
from checker.semantics.values import MapValue, format_value

PAIRS_MAX = 200_000
"""Pairs of sets of states that the product may have before nothing is decided."""

_AT_ONCE = 1 << 16
_LARGEST = 1 << 62
Numbers = NDArray[np.int64]
Run = tuple[int, tuple[int, ...]]
"""A run: its first state, and the numbers of its steps."""

Pair = tuple[tuple[int, ...], tuple[int, ...]]
"""The states of both sides to which one history can lead."""

Way = tuple[Pair, tuple[int, int]]
"""How a pair was come to: from which, by which name to which look."""


@dataclass(frozen=True, slots=True)
class Only:
    """Something that one side alone has, and the shortest run of that side that shows it."""

    what: str
    run: Run


@dataclass(frozen=True)
class Side:
    """What one side alone has: how many of each kind, and some of each, nearest first.

    `shorter` is a shortest run that the other side has not; None where it has all of them, or
    where that was not decided.
    """

    counts: Mapping[str, int]
    shown: Mapping[str, tuple[Only, ...]]
    shorter: Run | None


@dataclass(frozen=True)
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


def compare(
    old: LabelledGraph, new: LabelledGraph, most: int = 5, pairs_max: int = PAIRS_MAX
) -> Difference:
    """Hold two graphs against each other, showing at most so many of each kind."""
    names = [{variable.name for variable in graph.machine.variables} for graph in (old, new)]
    shared = tuple(v.name for v in old.machine.variables if v.name in names[1])
    hidden = (
        tuple(sorted(names[0] - names[1])),
        tuple(sorted(names[1] - names[0])),
    )
    views = _views(old, new, shared)
    decided = _by_steps(views) if all(view.plain for view in views) else None
    why = ""
    if decided is None:
        decided, why = _by_sets(views, pairs_max)
    sides = [
        _side(view, other, shared, run, most)
        for view, other, run in ((views[0], views[1], decided[0]), (views[1], views[0], decided[1]))
    ]
    differ = any(run is not None for run in decided) or any(
        count for side in sides for count in side.counts.values()
    )
    equal = False if differ else None if why else True
    return Difference(equal, "" if differ else why, shared, hidden, sides[0], sides[1])


@dataclass(frozen=True)
class _View:
    """A graph as it is seen: `looks` of its states, `calls` of its steps, alike for both sides.

    `ends` is the look of each step's target; CUT_OFF and FAILED are looks of their own. `plain`:
    no two states look alike.
    """

    graph: LabelledGraph
    looks: Numbers
    calls: Numbers
    ends: Numbers
    plain: bool


def _views(old: LabelledGraph, new: LabelledGraph, shared: tuple[str, ...]) -> list[_View]:
    codes: dict[str, dict[object, int]] = {name: {} for name in shared}
    rows = [_coded(graph, codes) for graph in (old, new)]
    _, looks = np.unique(_keys(np.concatenate(rows)), return_inverse=True)
    looks = looks.reshape(-1).astype(np.int64)
    labels = {label: i for i, label in enumerate(dict.fromkeys((*old.labels, *new.labels)))}
    views = []
    for graph, own in ((old, looks[: old.states]), (new, looks[old.states :])):
        calls = np.array([labels[label] for label in graph.labels], np.int64)
        inside = graph.targets >= 0
        ends = graph.targets.astype(np.int64)
        ends[inside] = own[graph.targets[inside]]
        plain = len(np.unique(own)) == len(own)
        named = calls[graph.names] if len(graph.names) else np.zeros(0, np.int64)
        views.append(_View(graph, own, named, ends, plain))
    return views


def _coded(graph: LabelledGraph, codes: Mapping[str, dict[object, int]]) -> Numbers:
    """Return numbers for the values of variables in each state; equal values have equal ones."""
    layout = graph.layout
    places = [layout.variables.index(name) for name in codes]
    found = np.zeros((graph.states, len(places)), np.int64)
    for first in range(0, graph.states, _AT_ONCE):
        cells: Words = unpack(layout, graph.words[first : first + _AT_ONCE])
        for column, (place, known) in enumerate(zip(places, codes.values(), strict=True)):
            own = cells[:, layout.starts[place] : layout.starts[place + 1]]
            _, index, which = np.unique(_keys(own), return_index=True, return_inverse=True)
            values = [value_from(layout.shapes[place], row) for row in own[index].tolist()]
            numbers = [known.setdefault(_typed(value), len(known)) for value in values]
            found[first : first + len(own), column] = np.array(numbers, np.int64)[which.reshape(-1)]
    return found


def _keys(rows: Numbers) -> Numbers:
    """Return a number for each row of a matrix; equal rows, and only those, have equal ones.

    Rows are not sorted as rows: that costs more than all the rest.
    """
    keys = np.zeros(len(rows), np.int64)
    if not len(rows):
        return keys
    size = 1
    for column in rows.T:
        digits, span = column - column.min(), int(column.max()) - int(column.min()) + 1
        if size * span > _LARGEST:
            _, keys = np.unique(keys, return_inverse=True)
            _, digits = np.unique(column, return_inverse=True)
            keys, digits = keys.reshape(-1), digits.reshape(-1)
            size, span = int(keys.max()) + 1, int(digits.max()) + 1
        keys = keys * span + digits
        size *= span
    return keys


def _typed(value: object) -> object:
    """Return what tells a value from those of other types: 0 is not false."""
    return type(value).__name__, format_value(value)


def _steps(view: _View) -> Numbers:
    """Return (steps, 3): look before, name, look after."""
    return np.stack([view.looks[view.graph.sources], view.calls, view.ends], axis=1)


def _missing(mine: Numbers, theirs: Numbers) -> NDArray[np.bool_]:
    """Return which rows of `mine` are none of `theirs`."""
    both = np.concatenate([mine, theirs])
    if not len(both):
        return np.zeros(0, np.bool_)
    _, which = np.unique(_keys(both), return_inverse=True)
    which = which.reshape(-1)
    there = np.zeros(int(which.max()) + 1, np.bool_)
    there[which[len(mine) :]] = True
    return ~there[which[: len(mine)]]


def _by_steps(views: list[_View]) -> tuple[Run | None, Run | None]:
    """Return of each side a shortest run that the other has not, where states look different."""
    runs: list[Run | None] = []
    for mine, theirs in ((views[0], views[1]), (views[1], views[0])):
        begun = np.isin(mine.looks[mine.graph.initial], theirs.looks[theirs.graph.initial])
        if not begun.all():
            runs.append((int(mine.graph.initial[~begun][0]), ()))
            continue
        own = np.flatnonzero(_missing(_steps(mine), _steps(theirs)))
        if not len(own):
            runs.append(None)
            continue
        depths = mine.graph.depths[mine.graph.sources[own]]
        runs.append(_run_to_step(mine.graph, int(own[np.argmin(depths)])))
    return runs[0], runs[1]


def _by_sets(views: list[_View], pairs_max: int) -> tuple[tuple[Run | None, Run | None], str]:
    """Walk both sides at once, each as the sets of states that one history can lead to.

    The runs found, and why nothing is decided where something is left.
    """
    found: list[Run | None] = [None, None]
    came: dict[Pair, Way | None] = {}
    waiting: deque[Pair] = deque()
    begun = [_by_look(view, view.graph.initial.tolist()) for view in views]
    for look in sorted(begun[0].keys() | begun[1].keys()):
        pair = (begun[0].get(look, ()), begun[1].get(look, ()))
        _meet(views, pair, came, None, found, waiting)
    while waiting and not all(found):
        if len(came) > pairs_max:
            why = f"more than {pairs_max:,} sets of states that look alike; hide less"
            return (found[0], found[1]), why
        pair = waiting.popleft()
        out = [_out(view, states) for view, states in zip(views, pair, strict=True)]
        for step in sorted(out[0].keys() | out[1].keys()):
            after = (out[0].get(step, ()), out[1].get(step, ()))
            _meet(views, after, came, (pair, step), found, waiting)
    return (found[0], found[1]), ""


def _meet(
    views: list[_View],
    pair: Pair,
    came: dict[Pair, Way | None],
    way: Way | None,
    found: list[Run | None],
    waiting: deque[Pair],
) -> None:
    """Note a pair of sets; where one is empty, the other side alone has the run to it."""
    for side, view in enumerate(views):
        if pair[side] and not pair[1 - side] and found[side] is None:
            found[side] = _retraced(view, side, pair[side], way, came)
    if all(pair) and min(pair[0]) >= 0 and min(pair[1]) >= 0 and pair not in came:
        came[pair] = way
        waiting.append(pair)


def _by_look(view: _View, states: Iterable[int]) -> dict[int, tuple[int, ...]]:
    found: dict[int, set[int]] = {}
    for state in states:
        found.setdefault(int(view.looks[state]), set()).add(state)
    return {look: tuple(sorted(alike)) for look, alike in found.items()}


def _out(view: _View, states: tuple[int, ...]) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return for each name and look where the states of a set lead."""
    found: dict[tuple[int, int], set[int]] = {}
    offsets, targets = view.graph.offsets, view.graph.targets
    for state in states:
        for step in range(int(offsets[state]), int(offsets[state + 1])):
            key = (int(view.calls[step]), int(view.ends[step]))
            found.setdefault(key, set()).add(int(targets[step]))
    return {key: tuple(sorted(to)) for key, to in found.items()}


def _retraced(
    view: _View,
    side: int,
    last: tuple[int, ...],
    way: Way | None,
    came: Mapping[Pair, Way | None],
) -> Run:
    """Return a run of one side along a way of the product, found from its end."""
    wanted, steps = last[0], []
    graph = view.graph
    while way is not None:
        pair, (name, look) = way
        for state in pair[side]:
            span = np.arange(int(graph.offsets[state]), int(graph.offsets[state + 1]))
            fits = span[
                (view.calls[span] == name)
                & (view.ends[span] == look)
                & (graph.targets[span] == wanted)
            ]
            if len(fits):
                steps.append(int(fits[0]))
                wanted = state
                break
        way = came[pair]
    return wanted, tuple(reversed(steps))


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


def _side(mine: _View, theirs: _View, shared: tuple[str, ...], run: Run | None, most: int) -> Side:
    """Return what only one side has: rows that run, names of steps, moves of machines, states."""
    graph = mine.graph
    # Steps stand in the order of their states' depths: the first of a name is a nearest one.
    names, first = np.unique(mine.calls, return_index=True)
    own = np.sort(first[~np.isin(names, theirs.calls)]).tolist()
    steps = [(graph.labels[int(graph.names[step])], step) for step in own]
    rows = {theirs.graph.labels[int(name)].row for name in np.unique(theirs.graph.names)}
    by_row: dict[str, int] = {}
    for label, step in steps:
        if label.row not in rows:
            by_row.setdefault(label.row, step)
    steps = [(label, step) for label, step in steps if label.row in rows]
    moves = _moves(mine, shared)
    for key in _moves(theirs, shared):
        moves.pop(key, None)
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


def _moves(view: _View, shared: tuple[str, ...]) -> dict[str, int]:
    """Return the moves of the machines that both sides have, with the first step of each."""
    graph = view.graph
    found: dict[str, int] = {}
    sources = graph.sources
    inside = np.flatnonzero(graph.targets >= 0)
    for variable in graph.machine.variables:
        if variable.table is None or variable.name not in shared:
            continue
        place = graph.layout.variables.index(variable.name)
        codes = _coded(graph, {variable.name: {}})[:, 0]
        different, where = np.unique(codes, return_index=True)
        states = graph.values(where.astype(np.int64))
        values = {
            code: state[place] for code, state in zip(different.tolist(), states, strict=True)
        }
        begin, end = codes[sources[inside]], codes[graph.targets[inside]]
        changed = np.flatnonzero(begin != end)
        pairs = np.stack([begin[changed], end[changed]], axis=1)
        _, first = np.unique(_keys(pairs), return_index=True)
        for number in inside[changed[first]].tolist():
            before = values[int(codes[sources[number]])]
            after = values[int(codes[graph.targets[number]])]
            for move in _moved(variable.name, before, after):
                found[move] = min(number, found.get(move, number))
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
