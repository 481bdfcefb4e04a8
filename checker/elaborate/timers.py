"""Timers: arming and cancelling them, asking whether they are armed.

A timer is the bag of what those armed remember, one for each key. A cancel that comes too late
finds the expiry running already: what it remembers moves to a second bag, from which the row that
handles the expiry takes it as it would have taken it from the first.
"""

from __future__ import annotations

import ast

from checker.elaborate import build, convert
from checker.elaborate.context import Context
from checker.elaborate.effects import Effects, Frame, statement
from checker.elaborate.functions import arguments, built_in, construct, interval
from checker.elaborate.messaging import deeper
from checker.elaborate.places import read
from checker.elaborate.rows import affordable, spending
from checker.elaborate.world import TimerInfo
from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.relations import show
from checker.machine.types import Bag, Enum, Range, Set, Type
from checker.source import Span

Term = t.Term

IN_TIME, TOO_LATE = "in_time", "too_late"
FOUND = Enum("cancel", (IN_TIME, TOO_LATE))
"""What a cancel finds, as a step's name says it: `pick too_late`."""


@statement("arm")
def arm(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`arm(timer[k](capture=e))`: what is armed there already is cancelled first, or stays."""
    context, span = frame.context, frame.context.span(node)
    (given,) = arguments(context, node, 1, 1)
    timer, keys, captures = _named(context, given)
    if captures is None and timer.record.fields:
        raise Wrong(
            "N208",
            f"`{timer.entry.name.text}` remembers something when it is armed",
            context.span(given),
            expected=_written(timer),
            found=ast.unparse(given)[:60],
        )
    value: Term = t.RecordOf(timer.record.name, (), timer.record, span)
    if captures is not None:
        value = construct(context, timer.record, captures)
    steps = _steps(effects, keys, span)
    if timer.entry.when_armed == "replace":
        value = effects.hidden("remembered", value, span)
        _cancel(effects, frame, timer, steps, [], span)
    place = deeper(effects, timer.entry.name.text, steps, span)
    effects.emit(t.Send(place, value, "error", "armed", span))


@statement("cancel")
def cancel(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`cancel(timer[k])`, `cancel(timer[k](capture=e))`: nothing where no such one is armed."""
    context, span = frame.context, frame.context.span(node)
    (given,) = arguments(context, node, 1, 1)
    timer, keys, captures = _named(context, given)
    wanted = [] if captures is None else _wanted(context, timer, captures)
    steps = _steps(effects, keys, span)
    wanted = [(name, effects.hidden("captured", value, span)) for name, value in wanted]
    _cancel(effects, frame, timer, steps, wanted, span)


@built_in("armed")
def _armed(context: Context, node: ast.Call, _hint: Type | None) -> Term:
    """`armed(timer[k])`, `armed(timer[k](capture=e))`."""
    span = context.span(node)
    (given,) = arguments(context, node, 1, 1)
    timer, keys, captures = _named(context, given)
    name = timer.entry.name.text
    armed: Term = t.Read(name, context.world.variables[name].type, span)
    for key in keys:
        armed = build.at(armed, key, span)
    if captures is None:
        none = convert.integer(0, span)
        return build.compare(">", build.length(armed, span), none, span)
    unique = context.allocator.unique("timer")
    item = t.Local(unique, timer.record, span)
    condition = _matches(item, _wanted(context, timer, captures), span)
    some = (t.Generator(unique, armed, None),)
    return t.Fold("any", some, condition, None, convert.BOOL, span)


# -------------------------------------------------------------------------- which one is meant


def _named(context: Context, node: ast.expr) -> tuple[TimerInfo, list[Term], ast.Call | None]:
    """Return the timer that `timer[k](capture=e)` names, its keys, and the call."""
    call = node if isinstance(node, ast.Call) else None
    head = node.func if isinstance(node, ast.Call) else node
    base = head.value if isinstance(head, ast.Subscript) else head
    word = base.id if isinstance(base, ast.Name) else ""
    timer = None if word in context.names else context.world.timers.get(word)
    if timer is None:
        raise Wrong(
            "N206",
            "no timer is named here",
            context.span(node),
            expected=", ".join(context.world.timers) or "an entry of `timers:`",
            found=ast.unparse(node)[:60],
        )
    given: list[ast.expr] = []
    if isinstance(head, ast.Subscript):
        given = list(head.slice.elts) if isinstance(head.slice, ast.Tuple) else [head.slice]
    if len(given) != len(timer.keys):
        shown = ", ".join(show(key) for key in timer.keys)
        raise Wrong(
            "N205",
            f"`{word}` needs {len(timer.keys)} key(s) here",
            context.span(node),
            expected=f"{word}[{shown}]" if timer.keys else word,
            found=ast.unparse(head)[:60],
        )
    keys = [context.check(part, key) for part, key in zip(given, timer.keys, strict=True)]
    return timer, keys, call


def _written(timer: TimerInfo) -> str:
    name = timer.entry.name.text + ("[...]" if timer.keys else "")
    return f"{name}({', '.join(f'{field}=...' for field, _ in timer.record.fields)})"


def _wanted(context: Context, timer: TimerInfo, node: ast.Call) -> list[tuple[str, Term]]:
    """Return what a call says of what a timer remembers; what it leaves out may be anything."""
    fields = timer.record.fields
    if len(node.args) > len(fields):
        raise Wrong(
            "N208",
            f"`{timer.entry.name.text}` remembers {len(fields)} thing(s)",
            context.span(node),
            expected=_written(timer),
            found=f"{len(node.args)} arguments",
        )
    given = [(name, part) for (name, _), part in zip(fields, node.args, strict=False)]
    kinds = dict(fields)
    for keyword in node.keywords:
        if keyword.arg not in kinds or keyword.arg in dict(given):
            raise Wrong(
                "N208",
                f"`{timer.entry.name.text}` remembers no `{keyword.arg}` to compare here",
                context.span(keyword),
                expected=_written(timer),
            )
        given.append((keyword.arg, keyword.value))
    return [(name, context.meant(part, kinds[name])) for name, part in given]


def _matches(item: Term, wanted: list[tuple[str, Term]], span: Span) -> Term:
    """Return whether a timer remembers what is wanted."""
    return build.conjunction(
        [build.equal(build.field_of(item, name, span), value, span) for name, value in wanted], span
    )


def _steps(effects: Effects, keys: list[Term], span: Span) -> tuple[t.Step, ...]:
    """Return the steps to one timer; its keys are evaluated once."""
    return tuple(
        t.Step(key=key if isinstance(key, t.Local) else effects.hidden("key", key, span))
        for key in keys
    )


# ---------------------------------------------------------------------------------- cancelling


def _cancel(
    effects: Effects,
    frame: Frame,
    timer: TimerInfo,
    steps: tuple[t.Step, ...],
    wanted: list[tuple[str, Term]],
    span: Span,
) -> None:
    """Emit that those armed at a key that remember what is wanted no longer are."""
    place = deeper(effects, timer.entry.name.text, steps, span)
    armed = read(frame.context, place)
    assert isinstance(armed.type, Bag)
    unique = effects.allocator.unique("timer")
    item = t.Local(unique, timer.record, span)
    with effects.collect() as one:
        _cancel_one(effects, timer, place, item, span)
    if armed.type.capacity > 1:
        zero, one_less = convert.integer(0, span), convert.integer(1, span)
        count = t.Count(item, armed, Range(0, armed.type.capacity), span)
        times = interval(zero, build.arithmetic("-", count, one_less, span), span)
        again = effects.allocator.unique("time")
        one = [t.For(again, times, tuple(one), span)]
    if wanted:
        one = [t.If(_matches(item, wanted, span), tuple(one), (), span)]
    effects.emit(t.For(unique, armed, tuple(one), span))


def _cancel_one(effects: Effects, timer: TimerInfo, place: t.Place, item: Term, span: Span) -> None:
    """Emit that one timer is cancelled, in time or too late."""
    in_time = t.Receive(place, item, "cancelled", span)
    if timer.budget is None:
        effects.emit(in_time)
        return
    unique = effects.allocator.unique(FOUND.name)
    late = build.equal(t.Local(unique, FOUND, span), t.Literal(TOO_LATE, FOUND, span), span)
    running = deeper(effects, timer.late, place.steps, span)
    too_late: tuple[t.Statement, ...] = (
        *spending(effects.world, timer.budget, span),
        t.Receive(place, item, "cancelled too late", span),
        t.Send(running, item, "error", "silent", span),
    )
    choice = t.Pick(unique, t.Everything(Set(FOUND), span), None, span)
    either = t.If(late, too_late, (in_time,), span)
    possible = affordable(effects.world, timer.budget, span)
    effects.emit(t.If(possible, (choice, either), (in_time,), span))
