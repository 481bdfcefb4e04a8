"""Lints: what is legal but probably not meant (L4xx), found before any search."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from checker.elaborate import build
from checker.elaborate.context import Context, expression
from checker.elaborate.folded import constant_truth, too_many_rounds
from checker.elaborate.triggers import Owner, binds, kinds_of, name_of, outcomes_of, parse
from checker.elaborate.unused import warn_of_fair_faults, warn_of_unused
from checker.elaborate.world import EXPIRED, World
from checker.elaborate.wrong import TooMuch, Wrong, collecting
from checker.machine import terms as t
from checker.machine.machine import Action, Machine, Part, Property
from checker.machine.once import once
from checker.machine.rounds import picks, rounds
from checker.machine.walk import Node, children, variables_read, walk
from checker.table.document import (
    Cell,
    Channel,
    Document,
    InState,
    PropertyEntry,
    Row,
    Unhandled,
    cells_of,
)
from checker.table.problems import under_heading

NODES_MAX = 400_000
"""Nodes of a machine counted as a tree, parts that are shared counted at each use."""

ROUNDS_MAX = 1 << 28
"""The same where what is inside loops is counted as often as it may be worked out.

Until it is done a search hears neither a limit nor Ctrl-C: half a second, compiled.
"""


PICKS_MAX = 4_096
"""Choices of one execution of a row's effects."""


def check_size(world: World, machine: Machine) -> None:
    """Report a machine that is too large for whatever runs it (Y311)."""
    nodes, rounded = 0, 0
    with collecting(world.problems):
        for part in machine.parts:
            nodes += once(_size, part)
            if nodes > NODES_MAX:
                raise TooMuch(
                    "Y311",
                    "the specification is too large once definitions and procedures are put in",
                    part.span,
                    expected=f"at most {NODES_MAX} parts",
                    help="name intermediate values in `let:` or in locals of effects",
                )
            rounded += once(_rounds, part)
            if rounded > ROUNDS_MAX:
                raise too_many_rounds(part.span, ROUNDS_MAX)
            if isinstance(part, Action) and once(_picks, part) > PICKS_MAX:
                raise TooMuch(
                    "Y311",
                    "an execution of these effects may choose too often",
                    part.span,
                    expected=f"at most {PICKS_MAX:,} picks, each as often as its loops go round",
                    help="let loops with `pick` in them run over smaller types",
                )


def _size(part: Part) -> int:
    """Return how many nodes a part has; of those with too many, that these are too many."""
    return sum(1 for _ in islice(walk(*_roots(part)), NODES_MAX + 1))


def _picks(part: Action) -> int:
    return picks(part.body)


def _rounds(part: Part) -> int:
    """Return how many nodes of a part are worked out at most."""
    return rounds(part) if isinstance(part, Action) else rounds(*_roots(part))


def _roots(part: Part) -> Iterator[Node]:
    """Yield the terms and statements that a row, a property or a bound consists of."""
    if isinstance(part, Action):
        for binding in part.bindings:
            yield binding.domain
            if binding.condition is not None:
                yield binding.condition
        yield from (value for _, value in part.lets)
        yield part.guard
        yield from part.body
    elif isinstance(part, Property):
        terms = (part.condition, part.premise, part.initially, *part.atoms)
        yield from (term for term in terms if term is not None)
    else:
        yield part


def check_machine(world: World, machine: Machine) -> Machine:
    """Return the machine with its warnings, in the order of the text."""
    rows = _existing(world)
    _never_fires(world, machine)
    _same_guards(world, rows)
    for row in rows:
        with _lenient(world):
            _moves(world, row)
    _unread(world, machine)
    warn_of_unused(world)
    warn_of_fair_faults(world)
    for row in rows:
        with _lenient(world):
            _values_bound(world, row)
    _outcomes(world)
    _messages(world, machine, rows)
    found = sorted(
        world.warnings, key=lambda lint: (lint.span.source.name, lint.span.line, lint.span.column)
    )
    return replace(machine, warnings=tuple(under_heading(lint, machine.headings) for lint in found))


class _lenient:  # noqa: N801 - used like a function
    """Drop what goes wrong while a lint looks again at what was elaborated already."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        return isinstance(error, Wrong)


def _existing(world: World) -> list[Row]:
    """Return the rows that the constants leave in."""
    return [
        row
        for row in world.document.rows
        if row.only_if is None or constant_truth(world, row.only_if)
    ]


# --------------------------------------------------------------------------- rows that overlap


def _never_fires(world: World, machine: Machine) -> None:
    for action in machine.actions:
        if build.is_false(action.guard):
            world.warn(
                "L451",
                f"`{action.name}` can never fire: its guard is false",
                action.span,
                "give it `only_if:` if that depends on constants",
            )


def _same_guards(world: World, rows: list[Row]) -> None:
    seen: dict[tuple[object, ...], Row] = {}
    for row in rows:
        if row.on is None or row.fault is not None:
            continue
        key = (
            _text(row.on),
            tuple(entry.name.text for entry in row.bindings),
            tuple((_text(e.place), tuple(s.text for s in e.states)) for e in row.inside),
            tuple((word.text, _text(cell)) for word, cell in row.lets),
            _text(row.when),
        )
        if key in seen:
            world.warn(
                "L450",
                f"`{row.name.text}` takes what `{seen[key].name.text}` takes, under the same guard",
                row.name.span,
                "make the guards differ, or make it one row with a `for:` of the choices",
            )
        seen.setdefault(key, row)


def _text(cell: Cell | None) -> str:
    return "" if cell is None else " ".join(cell.words.split())


# ---------------------------------------------------------------------------- moves of tables


def _moves(world: World, row: Row) -> None:
    """Hold `in:` and `to:` of a row, and its event, against the tables (L410, L411)."""
    events: set[str] = set()
    for entry in row.to:
        name = _table(world, row, entry)
        if name is None:
            continue
        table = world.document.tables[name]
        events |= {move.event for move in table.transitions}
        origins = _origins(row, entry)
        for origin in origins:
            moves = [
                move
                for move in table.transitions
                if move.origin == origin and move.target == entry.states[0].text
            ]
            _judge_move(world, row, entry, origin, [move.event for move in moves])
    if row.event is not None and events and row.event.text not in events:
        world.warn(
            "L411",
            f"no move of the tables that `{row.name.text}` moves is called `{row.event.text}`",
            row.event.span,
            f"the events are {', '.join(sorted(events))}",
        )


def _judge_move(world: World, row: Row, entry: InState, origin: str, events: list[str]) -> None:
    place, target = _text(entry.place), entry.states[0]
    if not events:
        world.warn(
            "L410",
            f"the table has no move of `{place}` from {origin} to {target.text}",
            target.span,
            "add the move to the table, or change the row; as it is, `legal` will be violated",
        )
    elif row.event is not None and row.event.text not in events:
        world.warn(
            "L411",
            f"the move from {origin} to {target.text} is not called `{row.event.text}`",
            row.event.span,
            f"the table calls it {' or '.join(dict.fromkeys(events))}",
        )


def _table(world: World, row: Row, entry: InState) -> str | None:
    """Return the table of the machine `to:` moves, None where it is none or `do:` moves it too."""
    name = _variable(entry.place)
    variable = world.variables.get(name)
    if variable is None or variable.table is None:
        return None
    if row.do is not None and not isinstance(row.do.tree, ast.expr):
        for tree in row.do.tree:
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and node.id in world.procedures:
                    return None
                if isinstance(node, ast.Assign) and _plain(node.targets[0]) == name:
                    return None
    return variable.table


def _origins(row: Row, entry: InState) -> list[str]:
    return [
        word.text
        for other in row.inside
        if _text(other.place) == _text(entry.place)
        for word in other.states
    ]


def _variable(place: Cell) -> str:
    return _plain(expression(place))


def _plain(node: ast.expr) -> str:
    """Return the qualified name of a place without its keys."""
    match node:
        case ast.Name(word):
            return word
        case ast.Attribute(value, member):
            return f"{_plain(value)}.{member}"
        case ast.Subscript(value, _):
            return _plain(value)
        case _:
            return ""


# ----------------------------------------------------------------------- variables never read


def _unread(world: World, machine: Machine) -> None:
    read: set[str] = set()
    for part in machine.parts:
        read |= once(_reads, part)
    observed = _observed(world.document)
    elsewhere = _mentioned_elsewhere(world)
    for variable in machine.variables:
        own = variable.name.split(".")[-1]
        if variable.origin != "variable" or variable.name in read | observed or own in elsewhere:
            continue
        if not world.document.is_own(variable.span):
            continue  # what its own system reads it for may have been left out here
        world.warn(
            "L420",
            f"`{variable.name}` is never read",
            variable.span,
            "remove it, or say `observed: true` if it is kept for readers",
        )


def _reads(part: Part) -> frozenset[str]:
    """Return the variables a part reads, apart from those it reads only to assign them anew."""
    found: set[str] = set()
    waiting = list(_roots(part))
    while waiting:
        node = waiting.pop()
        if isinstance(node, t.Assign):
            found |= variables_read(node.place)
            found |= variables_read(node.value) - {node.place.variable}
            continue
        if isinstance(node, t.Read):
            found.add(node.variable)
        waiting += children(node)
    return frozenset(found)


def _observed(document: Document) -> set[str]:
    names = {entry.name.text for entry in document.variables if entry.observed}
    for component in document.components:
        names |= {
            f"{component.name.text}.{entry.name.text}"
            for entry in component.variables
            if entry.observed
        }
    return names


def _mentioned_elsewhere(world: World) -> set[str]:
    """Return the names in rows and properties that this instance leaves out."""
    document = world.document
    cells: list[Cell | None] = []
    for row in document.rows:
        if row.only_if is not None or row.fault is not None:
            cells += [row.on, row.when, row.do, *row.send, *(cell for _, cell in row.lets)]
            cells += [entry.cell for entry in row.bindings]
    for entry in document.properties:
        cells += _cells(entry)
    found: set[str] = set()
    for cell in cells:
        if cell is not None:
            found |= cell.loaded
    return found


def _cells(entry: PropertyEntry) -> list[Cell | None]:
    return [entry.condition, entry.premise, entry.initially]


# --------------------------------------------------------------------- messages and outcomes


def _patterns(world: World, rows: tuple[Row, ...]) -> dict[str, tuple[Owner, str]]:
    """Return of each row with a trigger whose message or outcome it takes."""
    found: dict[str, tuple[Owner, str]] = {}
    for row in rows:
        if row.on is not None:
            with _lenient(world):
                pattern = parse(Context(world, row.on), expression(row.on))
                found[row.name.text] = (pattern.owner, pattern.kind)
    return found


def _values_bound(world: World, row: Row) -> None:
    """Report a value in `on:` that its field cannot be, so that it is a name for the field (L432).

    Such a name that the row uses, or that is the field's own, is meant as one.
    """
    if row.on is None:
        return
    context = Context(world, row.on)
    pattern = parse(context, expression(row.on))
    fields = dict(kinds_of(pattern.owner)[pattern.kind])
    others = (cell for cell in cells_of(row) if cell not in (row.on, row.only_if))
    used = {word for cell in others for word in cell.loaded}
    for field, node in pattern.arguments:
        if not isinstance(node, ast.Name) or node.id in {field, *used}:
            continue
        if node.id in world.values and binds(context, node, fields[field]):
            able = [name for name, kind in fields.items() if not binds(context, node, kind)]
            compared = f"{able[0]}={node.id}" if able else "the field that has it"
            world.warn(
                "L432",
                f"`{node.id}` is no value of `{field}`, so here it is a name for whatever that is",
                context.span(node),
                f"write `{compared}` to compare, or `_` where any value will do",
            )


def _outcomes(world: World) -> None:
    """Report outcomes and expiries that no row of the document handles (L430)."""
    handled = {
        (name_of(owner), kind) for owner, kind in _patterns(world, world.document.rows).values()
    }
    for operation in world.operations.values():
        for outcome in outcomes_of(operation):
            if (name_of(operation), outcome) not in handled:
                world.warn(
                    "L430",
                    f"no row handles `{name_of(operation)}.{outcome}`: it cannot end so",
                    operation.entry.name.span,
                    f"add a row `on: {name_of(operation)}.{outcome}(...)`, or remove the outcome",
                )
    for timer in world.timers.values():
        if (name_of(timer), EXPIRED) not in handled:
            world.warn(
                "L430",
                f"no row handles `{name_of(timer)}.{EXPIRED}`: the timer never fires",
                timer.entry.name.span,
                f"add a row `on: {name_of(timer)}.{EXPIRED}(...)`, or remove the timer",
            )


def _messages(world: World, machine: Machine, rows: list[Row]) -> None:
    """Report messages that are sent and that no row takes, at all or in some states (L440)."""
    patterns = _patterns(world, tuple(rows))
    sent = frozenset[str]().union(*(once(_records_made, action) for action in machine.actions))
    stated, looked = _stated(world), _kinds_looked_for(machine)
    owners: list[Owner] = [*world.channels.values(), *world.calls.values()]
    for owner in owners:
        for kind in kinds_of(owner):
            key = (name_of(owner), kind)
            takers = [
                row
                for row in rows
                if row.name.text in patterns
                and (name_of(patterns[row.name.text][0]), patterns[row.name.text][1]) == key
            ]
            read = bool(takers) or (_stays(owner) and kind in looked)
            if kind in sent and not read and key not in stated:
                world.warn(
                    "L440",
                    f"no row takes `{kind}` from `{name_of(owner)}`",
                    owner.entry.name.span,
                    "add a row, or an entry of `unhandled:`",
                )
            if not _stays(owner):
                _states(world, kind, takers, stated.get(key, []))


def _records_made(action: Action) -> frozenset[str]:
    """Return the names of the records and messages that a row makes."""
    return frozenset(node.name for node in walk(*action.body) if isinstance(node, t.RecordOf))


def _kinds_looked_for(machine: Machine) -> set[str]:
    """Return the kinds that conditions look for, as in `any(m is Kind for m in channel)`."""
    conditions = [part for action in machine.actions for part in (*action.bindings, action.guard)]
    nodes = [*conditions, *(node for action in machine.actions for node in action.body)]
    nodes += [item.condition for item in machine.properties]
    asked = {node.variant for node in walk(*nodes) if isinstance(node, t.IsVariant)}
    return asked | {node.name for node in walk(*conditions) if isinstance(node, t.RecordOf)}


def _stays(owner: Owner) -> bool:
    """Return whether messages wait to be read for ever, so that a state may well ignore them."""
    return isinstance(owner.entry, Channel) and owner.entry.order == "retained"


def _stated(world: World) -> dict[tuple[str, str], list[Unhandled]]:
    found: dict[tuple[str, str], list[Unhandled]] = {}
    for entry in world.document.unhandled:
        with _lenient(world):
            pattern = parse(Context(world, entry.message), expression(entry.message))
            found.setdefault((name_of(pattern.owner), pattern.kind), []).append(entry)
    return found


def _states(world: World, kind: str, takers: list[Row], stated: list[Unhandled]) -> None:
    """Report the states of each machine in the takers' `in:` in which none of them takes it."""
    everywhere = [row.inside for row in takers] + [entry.inside for entry in stated]
    places = {_key(entry.place): entry.place for row in takers for entry in row.inside}
    for place, cell in places.items():
        variable = world.variables.get(_variable(cell))
        if variable is None or variable.table is None:
            continue
        covered: set[str] = set()
        states = [state for state, _ in world.document.tables[variable.table].states]
        for entries in everywhere:
            here = [entry for entry in entries if _key(entry.place) == place]
            covered |= {w.text for entry in here for w in entry.states} if here else set(states)
        missing = [state for state in states if state not in covered]
        if missing:
            world.warn(
                "L440",
                f"no row takes `{kind}` while `{place}` is {' or '.join(missing)}",
                takers[0].name.span,
                "add a row, or say under `unhandled:` that it is ignored or impossible",
            )


def _key(place: Cell) -> str:
    """Return a place with its keys left out, so that rows may name them differently."""
    return re.sub(r"\[[^\]]*\]", "[]", _text(place))
