"""Statements that are calls: changes of collections, require, restore, create."""

from __future__ import annotations

import ast

from checker.elaborate import build, convert
from checker.elaborate.effects import Effects, Frame, Target, method, statement
from checker.elaborate.functions import arguments
from checker.elaborate.operators import combine
from checker.elaborate.places import place_of, require_one_type, table_of
from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.certain import certain
from checker.machine.relations import NEVER, fits, join, lacking, show
from checker.machine.types import Bag, Map, Sequence, Set, Type
from checker.source import Span

Term = t.Term


# ---------------------------------------------------------------------------- collections


def _target(effects: Effects, frame: Frame, node: ast.Call) -> Target:
    assert isinstance(node.func, ast.Attribute)
    return effects.target(frame, node.func.value)


def _refused(target: Target, node: ast.Call, span: Span, expected: str) -> Wrong:
    assert isinstance(node.func, ast.Attribute)
    return Wrong(
        "Y303",
        lacking(target.current.type, f"`.{node.func.attr}()`"),
        span,
        expected=expected,
        found=show(target.current.type),
    )


def _item(
    effects: Effects, frame: Frame, node: ast.Call, kind: Type, *, stored: bool = True
) -> Term:
    """Return the argument of a method as an item of the collection, which may be `stored` there."""
    (argument,) = arguments(frame.context, node, 1, 1)
    with frame.context.comparing(not stored):
        return effects.argument(frame, argument, kind, _text(node))


def _text(node: ast.Call) -> str:
    assert isinstance(node.func, ast.Attribute)
    return ast.unparse(node.func.value)


@method("add")
def add(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`s.add(x)` of a set or bag."""
    span = frame.context.span(node)
    target = _target(effects, frame, node)
    kind = target.current.type
    if isinstance(kind, Set):
        item = _item(effects, frame, node, kind.item, stored=target.place is not None)
        _change_set(target, "|", item, span)
    elif isinstance(kind, Bag) and target.place is not None:
        require_one_type(frame.context, target.place)
        item = convert.coerce(_item(effects, frame, node, kind.item), kind.item)
        effects.emit(t.Send(target.place, item, "error", "silent", span))
    else:
        raise _refused(target, node, span, "a set or a bag")


def _change_set(target: Target, operator: str, item: Term, span: Span) -> None:
    kind = target.current.type
    assert isinstance(kind, Set)
    wanted: Type | None = kind.item
    if target.place is None:
        wanted = join(kind.item, item.type)
        if wanted is None:
            raise Wrong(
                "Y303",
                "this set holds other values",
                span,
                expected=show(kind.item),
                found=show(item.type),
            )
    assert wanted is not None
    whole = convert.limited(Set(wanted), span)
    assert isinstance(whole, Set)
    change = t.SetOf((convert.coerce(item, wanted),), whole, span)
    current = convert.coerce(target.current, whole)
    target.store(t.SetOperation(operator, current, change, whole, span), span)  # type: ignore[arg-type]


@method("discard")
def discard(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`s.discard(x)` of a set: an absent item stays absent, also one outside the set's type."""
    span = frame.context.span(node)
    target = _target(effects, frame, node)
    kind = target.current.type
    if not isinstance(kind, Set):
        raise _refused(target, node, span, "a set")
    wanted = _item(effects, frame, node, kind.item, stored=False)
    item = effects.hidden("item", wanted, span)
    inside = build.contains(item, target.current, span)
    if kind.item == NEVER or build.is_false(inside) or not fits(item.type, kind.item):
        if not certain(target.current):
            effects.hidden("unused", target.current, span)
        return
    change = t.SetOf((convert.coerce(item, kind.item),), kind, span)
    if item.type == kind.item:
        target.store(t.SetOperation("-", target.current, change, kind, span), span)
        return
    with effects.collect() as then:
        target.store(t.SetOperation("-", target.current, change, kind, span), span)
    effects.emit(t.If(inside, tuple(then), (), span))


@method("remove")
def remove(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`s.remove(x)` of a set or bag (E505 if absent)."""
    span = frame.context.span(node)
    target = _target(effects, frame, node)
    kind = target.current.type
    if not isinstance(kind, Set | Bag) or target.place is None:
        raise _refused(target, node, span, "a set or bag of the state")
    require_one_type(frame.context, target.place)
    item = convert.coerce(_item(effects, frame, node, kind.item), kind.item)
    effects.emit(t.Receive(target.place, item, "silent", span))


@method("append")
def append(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`q.append(x)` of a sequence (E501 beyond the capacity of its place)."""
    span = frame.context.span(node)
    target = _target(effects, frame, node)
    kind = target.current.type
    if not isinstance(kind, Sequence):
        raise _refused(target, node, span, "a sequence")
    item = _item(effects, frame, node, kind.item, stored=target.place is not None)
    if target.place is None:  # a local holds whatever it is given
        one = t.SequenceOf((item,), Sequence(item.type, 1), span)
        target.store(combine(ast.Add(), target.current, one, span), span)
        return
    item = convert.coerce(item, kind.item)
    one = t.SequenceOf((item,), Sequence(kind.item, 1), span)
    longer = Sequence(kind.item, kind.capacity + 1)
    both = t.Concatenate(target.current, convert.coerce(one, kind), longer, span)
    target.store(t.Cast(both, kind, span), span)


@method("pop")
def pop(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`q.pop(0)` and `q.pop()` of a sequence (E506 if empty)."""
    assert isinstance(node.func, ast.Attribute)
    effects.pop(frame, node, node.func.value)


@method("clear")
def clear(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`s.clear()` of a set, partial map, sequence or bag."""
    span = frame.context.span(node)
    target = _target(effects, frame, node)
    arguments(frame.context, node, 0, 0)
    kind = target.current.type
    if not isinstance(kind, Set | Sequence | Bag) and not (
        isinstance(kind, Map) and not kind.total
    ):
        raise _refused(target, node, span, "a set, partial map, sequence or bag")
    if not certain(target.current):
        effects.hidden("unused", target.current, span)
    target.store(convert.empty(kind, span), span)


# ------------------------------------------------------------------------------ statements


@statement("require")
def require(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`require(p)`: without `p` the row is not enabled with these choices."""
    (condition,) = arguments(frame.context, node, 1, 1)
    effects.emit(
        t.Require(frame.context.condition(condition, "`require`"), frame.context.span(node))
    )


@statement("restore")
def restore(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`restore(place, State)`: a roll-back, checked against the table's restores."""
    _move(effects, frame, node, "restore")


@statement("create")
def create(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`create(place, State)`: loading, checked against the table's created states."""
    _move(effects, frame, node, "create")


def _move(effects: Effects, frame: Frame, node: ast.Call, kind: str) -> None:
    first, second = arguments(frame.context, node, 2, 2)
    span = frame.context.span(node)
    place = place_of(frame.context, first)
    table = table_of(frame.context, place)
    if table is None:
        raise Wrong("Y320", f"`{kind}` moves the machine of a table", span)
    value = convert.coerce(effects.argument(frame, second, place.type, kind), place.type)
    effects.emit(t.Transition(place, value, table, kind, span))  # type: ignore[arg-type]
