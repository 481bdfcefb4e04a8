"""The state table of each machine of a system: what happens to each trigger in each state.

A line is a message, an outcome of an operation, a step that comes of itself, or a fault; a column
is a state of the machine. A cell says which rows apply, where they lead and what they send. All of
it is found from guards and effects (`moves`), so it is a bound: what it leaves out cannot happen.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from checker.elaborate import elaborate, instances
from checker.elaborate.context import expression
from checker.errors import SpecificationError
from checker.frozen import frozen
from checker.machine.machine import Action, Machine, Variable
from checker.machine.types import Map
from checker.table.document import Document, InState, Row, Unhandled
from checker.table.scopes import Owners, bound_in, kind_of, of_all_messages, owners_in
from checker.tables.moves import ANY, Key, follow, is_about

Mark = Literal["rows", "ignored", "impossible", "unhandled", "none"]
"""What a cell is: rows apply; a message is ignored, or impossible, on purpose; nobody thought of it
in this state; or nothing is to happen here."""

Kind = Literal["message", "outcome", "timer", "step", "fault"]

_ORDER: tuple[Kind, ...] = ("message", "outcome", "timer", "step", "fault")

INSTANCES_MAX = 12
"""Instances that are looked at until every row exists in one of them."""


@frozen()
class Effect:
    """A row in one state of a machine: where the machine may be after it, and what it sends.

    `which` tells several machines of one row apart, such as `c`; `any` is one that the row finds
    only while it runs. `moves`: the row assigns the state, or may. `never`: targets to which no
    step of a searched instance went; empty where none was searched.
    """

    row: str
    which: str
    state: str
    targets: tuple[str, ...]
    moves: bool
    sends: tuple[str, ...]
    never: tuple[str, ...] = ()
    named: bool = True


@frozen()
class Cell:
    """What happens to one trigger in one state.

    `only` are the messages of which `mark` says so, where it is not said of all of the trigger.
    """

    state: str
    mark: Mark
    effects: tuple[Effect, ...]
    why: str = ""
    only: tuple[str, ...] = ()


@frozen()
class Line:
    """One trigger and its cells, in the order of the states."""

    trigger: str
    kind: Kind
    cells: tuple[Cell, ...]


@frozen()
class StateMatrix:
    """The state table of one machine as the rows of a system make it.

    `absent` are the rows that exist in none of `instances`, with each fault that a constant allows.
    """

    machine: str
    table: str
    per: str
    states: tuple[str, ...]
    lines: tuple[Line, ...]
    instances: tuple[str, ...]
    absent: tuple[str, ...] = ()

    def moves(self) -> tuple[tuple[str, str, str], ...]:
        """Return what can happen as (origin, row, target), each once; staying is none of it."""
        found = {
            (effect.state, effect.row, target): None
            for line in self.lines
            for cell in line.cells
            for effect in cell.effects
            for target in effect.targets
            if effect.moves and (target != effect.state or effect.targets == (target,))
        }
        return tuple(found)


def state_matrices(document: Document, names: Iterable[str] = ()) -> tuple[StateMatrix, ...]:
    """Return the state table of each machine of a system, in the order they are declared.

    `names` are the instances whose constants count; by default so many that every row exists in
    one of them.
    """
    chosen = tuple(names)
    return matrices_of(
        document,
        [elaborate(document, name) for name in chosen]
        if chosen
        else machines_with_every_row(document),
    )


def matrices_of(document: Document, machines: Sequence[Machine]) -> tuple[StateMatrix, ...]:
    """Return what some machines of a system say together of each of its state machines."""
    found: dict[str, StateMatrix] = {}
    for machine in machines:
        for variable in machine.variables:
            if variable.table is not None:
                new = _matrix(document, machine, variable)
                old = found.get(variable.name)
                found[variable.name] = new if old is None else _merged(old, new)
    used = tuple(machine.instance for machine in machines)
    rows = [row.name.text for row in document.rows]
    carriers = _carriers(machines, rows)
    here = {action.name for machine in machines for action in machine.actions}
    absent = tuple(row for row in rows if row not in here)
    return tuple(
        replace(_judged(document, item, rows, carriers), instances=used, absent=absent)
        for item in found.values()
    )


def _carriers(machines: Sequence[Machine], rows: Collection[str]) -> Mapping[str, set[str]]:
    """Return from which channels or calls rows take each kind of message."""
    found: dict[str, set[str]] = {}
    for machine in machines:
        for action in machine.actions:
            trigger = action.trigger
            if trigger.kind == "message" and trigger.channel is not None and action.name in rows:
                found.setdefault(trigger.message or "", set()).add(trigger.channel)
    return found


def machines_with_every_row(document: Document) -> list[Machine]:
    """Return machines in which every row exists, each fault at least once possible."""
    missing = {row.name.text for row in document.rows}
    chosen: list[Machine] = []
    for entry in sorted(instances(document), key=lambda entry: entry.name.text != "default"):
        if not missing or len(chosen) == INSTANCES_MAX:
            break
        set_here = {name.text: value for name, value, _ in entry.settings}
        if chosen and not _deciding(document, missing) & set(set_here):
            continue
        machine = _with_faults(document, entry.name.text, set_here)
        here = {action.name for action in machine.actions}
        if missing & here or not chosen:
            chosen.append(machine)
            missing -= here
    return chosen


def _deciding(document: Document, rows: set[str]) -> set[str]:
    """Return the constants that say whether some rows exist, their faults left out.

    Of one that is computed also those that it is computed from.
    """
    cells = [row.only_if for row in document.rows if row.name.text in rows]
    computed = {entry.name.text: entry.cell for entry in document.constants}
    found: set[str] = set()
    while cells:
        cell = cells.pop()
        tree = cell.tree if cell is not None else None
        names = ast.walk(tree) if isinstance(tree, ast.expr) else ()
        new = {node.id for node in names if isinstance(node, ast.Name)} - found
        cells += [computed.get(name) for name in new]
        found |= new
    return found


def _with_faults(document: Document, name: str, settings: Mapping[str, object]) -> Machine:
    """Return an instance in which each fault may happen at least once, if that can be."""
    constants = {entry.name.text: entry.value for entry in document.constants}
    budgets = {
        fault.budget.tree.id
        for fault in document.faults
        if not isinstance(fault.budget, str) and isinstance(fault.budget.tree, ast.Name)
    }
    once = {
        budget: 1 for budget in sorted(budgets) if settings.get(budget, constants.get(budget)) == 0
    }
    try:
        return elaborate(document, name, once)
    except SpecificationError:
        return elaborate(document, name)


def _matrix(document: Document, machine: Machine, variable: Variable) -> StateMatrix:
    assert variable.table is not None
    states = tuple(name for name, _ in machine.table(variable.table).states)
    rows: Mapping[str, Row] = {row.name.text: row for row in document.rows}
    written = [action for action in machine.actions if action.name in rows]
    triggers = {_trigger(action) for action in written if is_about(action, variable)}
    lines: dict[tuple[str, Kind], dict[str, list[Effect]]] = {}
    for action in written:
        trigger = _trigger(action)
        if trigger in triggers:
            cells = lines.setdefault(trigger, {state: [] for state in states})
            for effect in _effects(action, variable):
                cells[effect.state].append(effect)
    return StateMatrix(
        machine=variable.name,
        table=variable.table,
        per=variable.type.key.name if _is_map_of_ids(variable) else "",  # type: ignore[union-attr]
        states=states,
        lines=tuple(
            Line(
                name,
                kind,
                tuple(
                    Cell(state, "rows" if effects else "none", tuple(effects))
                    for state, effects in cells.items()
                ),
            )
            for (name, kind), cells in lines.items()
        ),
        instances=(machine.instance,),
    )


def _is_map_of_ids(variable: Variable) -> bool:
    return isinstance(variable.type, Map) and hasattr(variable.type.key, "name")


def _trigger(action: Action) -> tuple[str, Kind]:
    if action.trigger.kind == "message":
        return action.trigger.message or "", "message"
    if action.trigger.kind == "outcome":
        return f"{action.trigger.channel} {action.trigger.message}", "outcome"
    if action.trigger.kind == "expiry":
        return f"{action.trigger.channel} {action.trigger.message}", "timer"
    return (action.name, "step") if action.fault is None else (action.name, "fault")


def _effects(action: Action, variable: Variable) -> list[Effect]:
    followed = follow(action, variable)
    several = len(followed) > 1
    return [
        Effect(
            action.name,
            _which(key) if several else "",
            state,
            found.targets,
            found.moves,
            found.sends,
            named=not isinstance(variable.type, Map) or _is_shown(action, key),
        )
        for key, ways in followed.items()
        for state, found in ways.items()
    ]


def _is_shown(action: Action, key: Key) -> bool:
    """Whether the name of a step has the key of its machine in it."""
    return key[:1] == ("local",) and key[1] in action.shown


def _which(key: Key) -> str:
    """Return how a reader names one of several machines of a row."""
    if key == ANY:
        return "any"
    match key:
        case ("local" | "value", str(name)):
            return name.partition("#")[0]
        case ("field", tuple(inner), str(name)):
            return f"{_which(inner)}.{name}"
    return ""


def _merged(old: StateMatrix, new: StateMatrix) -> StateMatrix:
    """Return what two instances say together."""
    lines: dict[tuple[str, Kind], dict[str, dict[tuple[str, str], Effect]]] = {}
    for matrix in (old, new):
        for line in matrix.lines:
            cells = lines.setdefault((line.trigger, line.kind), {s: {} for s in old.states})
            for cell in line.cells:
                for effect in cell.effects:
                    here = cells[cell.state]
                    key = effect.row, effect.which
                    here[key] = _union(here[key], effect, old.states) if key in here else effect
    return replace(
        old,
        lines=tuple(
            Line(
                name,
                kind,
                tuple(
                    Cell(state, "rows" if found else "none", tuple(found.values()))
                    for state, found in cells.items()
                ),
            )
            for (name, kind), cells in lines.items()
        ),
    )


def _union(one: Effect, two: Effect, states: tuple[str, ...]) -> Effect:
    targets = tuple(state for state in states if state in {*one.targets, *two.targets})
    sends = tuple(dict.fromkeys((*one.sends, *two.sends)))
    named = one.named and two.named
    return replace(one, targets=targets, moves=one.moves or two.moves, sends=sends, named=named)


def _judged(
    document: Document, matrix: StateMatrix, rows: list[str], carriers: Mapping[str, set[str]]
) -> StateMatrix:
    """Return a matrix with its lines and rows in order and its empty cells marked."""
    place = {row: number for number, row in enumerate(rows)}
    owners = owners_in(document)
    told = [_told(document, entry, owners) for entry in document.unhandled]
    lines = []
    for line in matrix.lines:
        cells = []
        for cell in line.cells:
            effects = tuple(sorted(cell.effects, key=lambda effect: place[effect.row]))
            mark, why, only = cell.mark, "", cell.only
            if not effects and line.kind == "message":
                entries = [
                    item
                    for item in told
                    if kind_of(item.entry) == line.trigger
                    and _covers(item.entry, matrix.machine, cell.state)
                ]
                mark, why, only = _stated(entries, carriers.get(line.trigger, set()))
            cells.append(replace(cell, effects=effects, mark=mark, why=why, only=only))
        lines.append(replace(line, cells=tuple(cells)))

    def order(line: Line) -> tuple[int, int]:
        first = min(place[effect.row] for cell in line.cells for effect in cell.effects)
        return _ORDER.index(line.kind), first

    shown = [line for line in lines if any(cell.effects for cell in line.cells)]
    return replace(matrix, lines=tuple(sorted(shown, key=order)))


@frozen(eq=False)
class _Told:
    """An entry of `unhandled:`, and of which messages and machines it is said, if not of all."""

    entry: Unhandled
    only: str


def _told(document: Document, entry: Unhandled, owners: Owners) -> _Told:
    """Return an entry with what it is about, where it is of some messages or of some machines."""
    bound = bound_in(document, entry, owners)
    # One whose key the message says is each of them.
    named = [
        ast.unparse(expression(item.place))
        for item in entry.inside
        for key in _keys(item.place.tree)
        if not (isinstance(key, ast.Name) and key.id in bound) and ast.unparse(key) != "call.client"
    ]
    if not named and of_all_messages(document, entry, owners):
        return _Told(entry, "")
    return _Told(entry, " in ".join((_message(entry), *named)))


def _stated(
    entries: Sequence[_Told], carriers: Collection[str]
) -> tuple[Mark, str, tuple[str, ...]]:
    """Return what `unhandled:` says, by `entries`, of a message that comes from some channels.

    It is handled where an entry says so of each of them. What may come from one is not impossible.
    With it the reason, and the messages of which that is said, where that is not all of them.
    """
    by_carrier: dict[str, list[_Told]] = {}
    for item in entries:
        by_carrier.setdefault(_carrier(item.entry), []).append(item)
    if not entries or ("" not in by_carrier and not by_carrier.keys() >= set(carriers)):
        return "unhandled", "", ()
    said: list[_Told] = []
    for name, here in by_carrier.items():
        if not name or not carriers or name in carriers:
            said += [item for item in here if not item.only][:1] or here
    first = next((item for item in said if item.entry.status == "ignored"), said[0])
    status, why = first.entry.status, first.entry.why
    if not any(item.only for item in said):
        return status, why, ()
    alike = [item for item in said if item.entry.status == status]
    return status, why, tuple(item.only or _message(item.entry) for item in alike)


def _message(entry: Unhandled) -> str:
    return ast.unparse(expression(entry.message))


def _keys(node: object) -> list[ast.expr]:
    """Return the keys of a place."""
    found: list[ast.expr] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript):
            found.append(node.slice)
        node = node.value
    return found


def _carrier(entry: Unhandled) -> str:
    """Return the channel that an entry names, without its keys; "" where it names none."""
    tree = entry.message.tree
    node = tree.func if isinstance(tree, ast.Call) else tree
    return _named(node.value) if isinstance(node, ast.Attribute) else ""


def _covers(entry: Unhandled, machine: str, state: str) -> bool:
    """Whether an entry holds wherever a machine is in a state, whatever others are in."""
    return all(
        _plain(item) == machine and any(word.text == state for word in item.states)
        for item in entry.inside
    )


def _plain(entry: InState) -> str:
    """Return the machine that a cell of `in:` names, without its keys."""
    return _named(entry.place.tree)


def _named(node: object) -> str:
    """Return the name that a place begins with and its fields, without keys."""
    names: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        names.insert(0, node.id)
    return ".".join(names)
