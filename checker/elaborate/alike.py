"""Whether a machine uses interchangeable ids alike: shown from its text, before any search.

A search may keep one state of each orbit where renaming ids renames what can be done, and changes
nothing else. Terms and statements do that by themselves, but for the few that know an order of
ids: a comparison, a constant that names one, a `for` over them, `fresh`. Each of these is looked at
here, and is shown to be harmless or reported with its place. Nothing is tried out: what is not
shown is taken to depend on names, and the machine is searched without the reduction.
`loops` looks at `for` statements; `impartial` refuses comprehensions that take ids in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from checker.elaborate.loops import partial_loops
from checker.errors import Diagnostic
from checker.machine import terms as t
from checker.machine.machine import LIVENESS, Action, Machine, Part, Property
from checker.machine.once import once
from checker.machine.relations import holds_symmetric, inside, mentions
from checker.machine.types import Bag, Id, Map, Option, Record, Sequence, Set, Type, Union
from checker.machine.walk import children, statements_inside
from checker.semantics.renamings import renamed, same_claim
from checker.semantics.symmetry import Renaming
from checker.source import Span

_ORDERING = frozenset({t.Compare, t.Extreme, t.Fold, t.Literal})
"""The nodes that may know an order of ids, or name some of them (`_orders`)."""

_LOOKS_AT_ALL = frozenset({"all", "any", "sum", "min", "max"})
"""Comprehensions whose value is no id of those they run over."""


def unlike(machine: Machine) -> tuple[Diagnostic, ...]:
    """Return what may tell interchangeable ids of `machine` apart, in the order of the file.

    None of it is wrong; but a search must not take states for the same that differ by names.
    """
    kinds = frozenset(kind.name for kind in machine.ids if kind.symmetric and len(kind.members) > 1)
    if not kinds:
        return ()
    found = dict.fromkeys(_uses(machine, kinds))
    return tuple(_diagnostic(what, span) for what, span in found)


def _uses(machine: Machine, kinds: frozenset[str]) -> Iterator[tuple[str, Span]]:
    for action in (machine.initial, *machine.actions):
        yield from once(_partial_loops, action)
        yield from _drawn(machine, action, kinds)
    claims = _claimed_of_each(machine)
    named = tuple(item for item in machine.properties if item.name in claims)
    others = tuple(
        item for item in machine.parts if not (isinstance(item, Property) and item.name in claims)
    )
    yield from _known_order(others, kinds, literals=True)
    yield from _known_order(named, kinds, literals=False)


def _partial_loops(action: Action) -> tuple[tuple[str, Span], ...]:
    return tuple(partial_loops(action))


def _known_order(
    parts: tuple[Part, ...], kinds: frozenset[str], *, literals: bool
) -> Iterator[tuple[str, Span]]:
    """Yield what in some parts of a machine knows an order of ids; constants where asked for."""
    for part in reversed(parts):
        for node in once(_telling, part):
            if isinstance(node, t.Leads):
                yield from _elsewhere(node, kinds)
            elif literals or not isinstance(node, t.Literal):
                yield from _orders(node)


def _telling(part: object) -> tuple[object, ...]:
    """Return the nodes in a part of a machine that tell ids apart, or ask another machine."""
    # Terms are shared all over a machine: each is looked at once.
    waiting, found = [part], []
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            kind = type(node)
            if kind is t.Leads or (kind in _ORDERING and next(_orders(node), None) is not None):
                found.append(node)
            waiting += children(node)
    return tuple(found)


def _claimed_of_each(machine: Machine) -> frozenset[str]:
    """Return the names of the liveness properties that name ids, each claimed of every other too.

    `for:` makes one for each id. Renaming ids renames these properties, and nothing else.
    """
    judged = [item for item in machine.properties if item.kind in LIVENESS and item.declared]
    swaps: list[Renaming] = [
        {kind.name: {**dict(zip(kind.members, kind.members, strict=True)), one: other, other: one}}
        for kind in machine.ids
        if kind.symmetric
        for one, other in pairwise(kind.members)
    ]
    return frozenset(
        item.name
        for item in judged
        if all(any(same_claim(renamed(item, swap), other) for other in judged) for swap in swaps)
    )


def _diagnostic(what: str, span: Span) -> Diagnostic:
    return Diagnostic(
        code="Y330",
        message=what,
        span=span,
        expected="that ids which are declared symmetric are used alike",
        help="search with --symmetry off, or say it so that no order of ids matters",
    )


# ------------------------------------------------------------------------ order and constants


def _orders(node: object) -> Iterator[tuple[str, Span]]:
    """Yield what in a node compares ids by their order, or names some of them."""
    match node:
        case t.Compare(_, left, right, span):
            ordered: tuple[t.Term, ...] = (left, right)
        case t.Extreme(_, ordered, _, span):
            pass
        case t.Fold("min" | "max", _, body, _, _, span):
            ordered = (body,)
        case t.Literal(value, kind, span):
            if holds_symmetric(kind) and not _plain(kind, value):
                yield "a constant names some of the ids that are interchangeable", span
            return
        case _:
            return
    if any(holds_symmetric(part.type) for part in ordered):
        yield "ids that are interchangeable are compared by their order", span


def _plain(kind: Type, value: Any) -> bool:
    """Whether renaming ids leaves a constant as it is."""
    if not holds_symmetric(kind):
        return True
    match kind:
        case Id(_, members, _):
            return len(members) == 1
        case Option(item):
            return value is None or _plain(item, value)
        case Record(_, fields):
            return all(_plain(held, value[name]) for name, held in fields)
        case Union(_, variants):
            return any(_plain(shape, value) for shape in variants if shape.name == value.name)
        case Set(Id(_, members, _)) if len(value) == len(members):
            return True
        case Set(item) | Sequence(item, _) | Bag(item, _):
            return all(_plain(item, member) for member in value)
        case Map(key, held, _):
            same = len(set(value.values())) <= 1 and all(_plain(held, v) for v in value.values())
            every = isinstance(key, Id) and len(value) == len(key.members)
            return same and (every or all(_plain(key, name) for name in value))
    return False


# ------------------------------------------------------------------------------------ fresh


def _drawn(machine: Machine, action: Action, kinds: frozenset[str]) -> Iterator[tuple[str, Span]]:
    """Yield what may tell apart the ids that `fresh` chooses the least of.

    They occur nowhere in the state. So a total map has nothing of its own to say of them, and the
    row must not have one of them from anywhere else than from `fresh`.
    """
    drawn = {
        node.type.name: node
        for node in statements_inside(action.body)
        if isinstance(node, t.Fresh) and node.type.name in kinds
    }
    for name, statement in drawn.items():
        for variable in machine.variables:
            if _keeps_all(variable.type, name):
                what = f"{variable.name} says something also of the ids that fresh({name}) draws"
                yield f"row {action.name}: {what}", statement.span
        for everything in _taken_from_all(action, name):
            what = f"not only fresh({name}) may give the row an id that occurs nowhere"
            yield f"row {action.name}: {what}", everything.span


def _elsewhere(node: t.Leads, kinds: frozenset[str]) -> Iterator[tuple[str, Span]]:
    """Yield what may tell ids apart in the rows of another machine.

    An id that occurs nowhere in its state may occur here: which one is drawn there matters.
    """
    for found in node.other.unlike:
        yield f"in {node.other.name}: {found.message}", found.span
    for action in (node.other.initial, *node.other.actions):
        for statement in statements_inside(action.body):
            if isinstance(statement, t.Fresh) and statement.type.name in kinds:
                what = f"row {action.name} of {node.other.name} draws the least id that is free"
                yield what, statement.span


def _keeps_all(kind: Type, name: str) -> bool:
    """Whether a value of `kind` holds a total map with ids called `name` in its keys."""
    maps = (part for part in inside(kind) if isinstance(part, Map) and part.total)
    return any(mentions(part.key, frozenset({name})) for part in maps)


def _taken_from_all(action: Action, name: str) -> Iterator[t.Term]:
    """Yield where values of all ids called `name` are taken, and not only looked at."""
    waiting: list[object] = [*action.bindings, *(term for _, term in action.lets), *action.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, t.Everything) and mentions(node.type, frozenset({name})):
            yield node
        for part in children(node):
            if isinstance(node, t.Fold) and node.operator in _LOOKS_AT_ALL:
                waiting += _inside_look(part)
            elif not (isinstance(node, t.Contains) and isinstance(part, t.Everything)):
                waiting.append(part)


def _inside_look(part: object) -> Iterator[object]:
    """Yield what is in a part of a comprehension besides that it runs over all values."""
    for inner in children(part) if isinstance(part, t.Generator) else (part,):
        if not isinstance(inner, t.Everything):
            yield inner
