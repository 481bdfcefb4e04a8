"""Statements that move messages: send, start, call, reply, close, reject."""

from __future__ import annotations

import ast
from dataclasses import replace

from checker.elaborate import build, convert
from checker.elaborate.connections import (
    ANSWERED,
    FREE,
    PARKED,
    REQUESTED,
    all_slots,
    is_own_call,
    slot_at,
)
from checker.elaborate.effects import Effects, Frame, statement
from checker.elaborate.functions import arguments, construct
from checker.elaborate.lookup import calls_target
from checker.elaborate.world import CallsInfo, ChannelInfo, OperationInfo
from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.relations import bare, show, variants_of
from checker.machine.types import Map, Record, Type
from checker.source import Span
from checker.table.problems import nearest

Term = t.Term


# ---------------------------------------------------------------------------------- places


def keyed_place(
    effects: Effects, frame: Frame, node: ast.expr, name: str, keys: tuple[Type, ...]
) -> t.Place:
    """Return the place that `node` (`name`, `name[a]`, `name[a, b]`) names."""
    context, span = frame.context, frame.context.span(node)
    given: list[ast.expr] = []
    if isinstance(node, ast.Subscript):
        given = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(given) != len(keys):
        shown = ", ".join(show(key) for key in keys)
        raise Wrong(
            "N205",
            f"`{name}` needs {len(keys)} key(s) here",
            span,
            expected=f"{name}[{shown}]" if keys else name,
            found=ast.unparse(node)[:60],
        )
    steps = tuple(
        t.Step(key=context.check(part, key)) for part, key in zip(given, keys, strict=True)
    )
    return deeper(effects, name, steps, span)


def deeper(effects: Effects, name: str, steps: tuple[t.Step, ...], span: Span) -> t.Place:
    """Return the place of a variable some keys deep."""
    kind = effects.world.variables[name].type
    for _ in steps:
        assert isinstance(kind, Map)
        kind = kind.value
    return t.Place(name, steps, kind, span)


def _base(node: ast.expr) -> str | None:
    base = node.value if isinstance(node, ast.Subscript) else node
    return base.id if isinstance(base, ast.Name) else None


# ------------------------------------------------------------------------------------ send


@statement("send")
def send(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`send(channel[c], Message(...))`, or `send(Message(...))` where one channel carries it."""
    given = arguments(frame.context, node, 1, 2)
    send_message(effects, frame, given, frame.context.span(node))


def send_message(effects: Effects, frame: Frame, given: list[ast.expr], span: Span) -> None:
    """Emit the sending of a message: `given` are the channel, if it is named, and the message."""
    effects.emit(_sending(effects, frame, given, span))


def _sending(effects: Effects, frame: Frame, given: list[ast.expr], span: Span) -> t.Send:
    """Return the statement that sends a message; what it picks is chosen before."""
    if len(given) == 1:
        message = effects.argument(frame, given[0], None, "message")
        channel = _only_channel(effects, message, span)
        place = deeper(effects, channel.entry.name.text, (), span)
    else:
        channel, place = _channel(effects, frame, given[0])
        message = effects.argument(frame, given[1], channel.message, "message")
    message = convert.coerce(message, channel.message)
    return t.Send(place, message, channel.entry.when_full, "sent", span)


def _channel(effects: Effects, frame: Frame, node: ast.expr) -> tuple[ChannelInfo, t.Place]:
    name = _base(node)
    info = effects.world.channels.get(name or "")
    if info is None or name is None or name in frame.context.names:
        close = nearest(name or "", effects.world.channels)
        raise Wrong(
            "N206",
            "no channel is named here",
            frame.context.span(node),
            expected=", ".join(effects.world.channels) or "a channel",
            found=ast.unparse(node)[:60],
            help=f"did you mean `{close}`?" if close else None,
        )
    return info, keyed_place(effects, frame, node, name, info.keys)


def _only_channel(effects: Effects, message: Term, span: Span) -> ChannelInfo:
    names = {variant.name for variant in variants_of(bare(message.type))}
    carrying = [
        info
        for info in effects.world.channels.values()
        if names and names <= {variant.name for variant in info.message.variants}
    ]
    if len(carrying) == 1 and not carrying[0].keys:
        return carrying[0]
    if not carrying:
        raise _carried_by_none(effects, names, message, span)
    known = " or ".join(info.entry.name.text + ("[...]" if info.keys else "") for info in carrying)
    raise Wrong(
        "N207",
        f"say which channel takes {show(message.type)}",
        span,
        expected=f"send({known}, ...)",
        found=f"{len(carrying)} channel(s) carry it",
    )


def _carried_by_none(effects: Effects, names: set[str], message: Term, span: Span) -> Wrong:
    """Return the message on what is sent, and no channel carries."""
    kind, world = show(message.type), effects.world
    for calls in world.calls.values() if names else ():
        name = calls.entry.name.text
        for variants, form in (
            (calls.requests.variants, f"call({name}[...], ...)"),
            (calls.responses.variants, "reply(call, ...)"),
        ):
            if names <= {variant.name for variant in variants}:
                return Wrong(
                    "N206",
                    f"no channel carries {kind}",
                    span,
                    found=kind,
                    help=f"`{name}` are calls: write {form}",
                )
    some = "add it to `carries:` of a channel" if world.channels else "declare a channel for it"
    advice = f"{some}, or assign it to a variable" if names else "send a message, as Message(...)"
    return Wrong(
        "N206",
        f"no channel carries {kind}",
        span,
        expected=", ".join(world.channels) or "an entry of `channels:`",
        found=kind,
        help=advice,
    )


# ----------------------------------------------------------------------------------- start


@statement("start")
def start(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`start(operation[b](capture=...))`."""
    context, span = frame.context, frame.context.span(node)
    (given,) = arguments(context, node, 1, 1)
    name = _base(given.func) if isinstance(given, ast.Call) else None
    info = effects.world.operations.get(name or "")
    if info is None or name is None or not isinstance(given, ast.Call):
        close = nearest(name or "", effects.world.operations)
        raise Wrong(
            "N206",
            "no operation is named here",
            span,
            expected=", ".join(effects.world.operations) or "an operation",
            found=ast.unparse(given)[:60],
            help=f"did you mean `{close}`?" if close else None,
        )
    keys = () if info.key is None else (info.key,)
    place = keyed_place(effects, frame, given.func, name, keys)
    captured = _captures(info, frame, given)
    effects.emit(t.Send(place, captured, info.entry.when_full, "started", span))


def _captures(info: OperationInfo, frame: Frame, node: ast.Call) -> Term:
    """Return the record of what an operation captures; a new one is not late."""
    if not info.late:
        return construct(frame.context, info.record, node)
    shown = Record(info.record.name, info.record.fields[:-1])
    given = construct(frame.context, shown, node)
    assert isinstance(given, t.RecordOf)
    fields = (*given.fields, ("late", convert.truth(False, given.span)))
    return t.RecordOf(info.record.name, fields, info.record, given.span)


# ----------------------------------------------------------------------------------- calls


def _calls(effects: Effects, frame: Frame, node: ast.expr) -> tuple[CallsInfo, Term]:
    target = calls_target(frame.context, node)
    if target is None or target[1] is None:
        raise Wrong(
            "N206",
            "the calls of one client are needed here",
            frame.context.span(node),
            expected=", ".join(f"{name}[...]" for name in effects.world.calls) or "calls",
            found=ast.unparse(node)[:60],
        )
    return target[0], effects.hidden("caller", target[1], frame.context.span(node))


def slot_place(effects: Effects, calls: CallsInfo, caller: Term, slot: Term, span: Span) -> t.Place:
    """Return the place of one slot of one caller."""
    return deeper(effects, calls.entry.name.text, (t.Step(key=caller), t.Step(key=slot)), span)


def caller_place(effects: Effects, calls: CallsInfo, caller: Term, span: Span) -> t.Place:
    """Return the place of all slots of one caller: what a trace names."""
    return deeper(effects, calls.entry.name.text, (t.Step(key=caller),), span)


def content(calls: CallsInfo, variant: str, fields: dict[str, Term], span: Span) -> Term:
    """Return what a slot holds."""
    return t.RecordOf(variant, tuple(fields.items()), calls.slot, span)


@statement("call")
def call(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`call(calls[c], Request(...))`: into the least free slot; without one it is not enabled."""
    context, span = frame.context, frame.context.span(node)
    first, second = arguments(context, node, 2, 2)
    calls, caller = _calls(effects, frame, first)
    message = effects.argument(frame, second, calls.requests, "message")
    message = effects.hidden("request", convert.coerce(message, calls.requests), span)
    slot = _free_slot(effects, frame, calls, caller, span)
    value = content(calls, REQUESTED, {"open": convert.truth(True, span), "request": message}, span)
    effects.emit(
        t.Assign(slot_place(effects, calls, caller, slot, span), value, span),
        t.Note(caller_place(effects, calls, caller, span), message, "sent", span),
    )


def _free_slot(effects: Effects, frame: Frame, calls: CallsInfo, caller: Term, span: Span) -> Term:
    """Emit the requirement of a free slot; return the least one."""
    context = frame.context
    if calls.slots.high == 0:
        slot: Term = t.Literal(0, calls.slots, span)
        free = build.is_variant(slot_at(context, calls, caller, slot, span), FREE, span)
        effects.emit(t.Require(free, span))
        return slot
    name = effects.allocator.unique("slot")
    local = t.Local(name, calls.slots, span)
    free = build.is_variant(slot_at(context, calls, caller, local, span), FREE, span)
    some = (t.Generator(name, all_slots(calls, span), None),)
    effects.emit(t.Require(t.Fold("any", some, free, None, convert.BOOL, span), span))
    name = effects.allocator.unique("slot")
    local = t.Local(name, calls.slots, span)
    free = build.is_variant(slot_at(context, calls, caller, local, span), FREE, span)
    every = (t.Generator(name, all_slots(calls, span), free),)
    least = t.Fold("min", every, local, None, calls.slots, span)
    return effects.hidden("slot", least, span)


@statement("reply")
def reply(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`reply(handle, Response(...))`: the answer vanishes where the connection is closed."""
    answer(effects, frame, *_replying(effects, frame, node), frame.context.span(node))


def _replying(effects: Effects, frame: Frame, node: ast.Call) -> tuple[CallsInfo, Term, Term]:
    """Return the calls, the handle and the message of a reply; what it picks is chosen before."""
    context = frame.context
    first, second = arguments(context, node, 2, 2)
    handle = convert.unwrapped(context.infer(first))
    calls = effects.world.handles(handle.type)
    if calls is None:
        raise Wrong(
            "Y303",
            "`reply` needs the handle of a call",
            context.span(first),
            expected="`call`, or a stored handle",
            found=show(handle.type),
        )
    message = effects.argument(frame, second, calls.responses, "message")
    return calls, handle, convert.coerce(message, calls.responses)


def answer(
    effects: Effects, frame: Frame, calls: CallsInfo, handle: Term, message: Term, span: Span
) -> None:
    """Emit the answer to a parked call (E504 where it is not parked)."""
    context = frame.context
    response = effects.hidden("response", message, span)
    caller = effects.hidden("caller", build.field_of(handle, "client", span), span)
    slot = effects.hidden("slot", build.field_of(handle, "slot", span), span)
    place = slot_place(effects, calls, caller, slot, span)
    shown = caller_place(effects, calls, caller, span)
    live = build.field_of(slot_at(context, calls, caller, slot, span), "live", span)
    answered = content(calls, ANSWERED, {"response": response}, span)
    then = (t.Assign(place, answered, span), t.Note(shown, response, "sent", span))
    lost = (
        t.Assign(place, content(calls, FREE, {}, span), span),
        t.Note(shown, response, "lost", span),
    )
    effects.emit(t.If(live, then, lost, span))


@statement("close")
def close(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`close(calls[c])`: answers on the way vanish, requests may still arrive."""
    context, span = frame.context, frame.context.span(node)
    (given,) = arguments(context, node, 1, 1)
    calls, caller = _calls(effects, frame, given)
    name = effects.allocator.unique("slot")
    slot = t.Local(name, calls.slots, span)
    place = slot_place(effects, calls, caller, slot, span)
    now = slot_at(context, calls, caller, slot, span)
    closed = convert.truth(False, span)
    free = t.Assign(place, content(calls, FREE, {}, span), span)
    response = build.field_of(now, "response", span)
    gone = t.Note(caller_place(effects, calls, caller, span), response, "lost", span)
    request = build.field_of(now, "request", span)
    asked = content(calls, REQUESTED, {"open": closed, "request": request}, span)
    waiting = content(calls, PARKED, {"live": closed}, span)
    choices = (
        (REQUESTED, (t.Assign(place, asked, span),)),
        (PARKED, (t.Assign(place, waiting, span),)),
        (ANSWERED, (gone, free)),
    )
    body: tuple[t.Statement, ...] = ()
    for variant, effect in reversed(choices):
        body = (t.If(build.is_variant(now, variant, span), effect, body, span),)
    effects.emit(t.For(name, all_slots(calls, span), body, span))


# ---------------------------------------------------------------------------------- reject


@statement("reject")
def reject(effects: Effects, frame: Frame, node: ast.Call) -> None:
    """`reject(Response(...))`, `reject(send(...))`: undo, take the message, answer only this.

    What the answer says is what it is before anything is undone, however it is sent.
    """
    context, span = frame.context, frame.context.span(node)
    given = arguments(context, node, 0, 1)
    match given:
        case []:
            with effects.collect() as body:
                effects.emit(*effects.prologue)
        case [ast.Call(ast.Name("send")) as sent]:
            now = _as_it_is(
                effects,
                _sending(effects, frame, arguments(context, sent, 1, 2), context.span(sent)),
            )
            with effects.collect() as body:
                effects.emit(*effects.prologue, now)
        case [ast.Call(ast.Name("reply")) as replied]:
            calls, handle, message = _replying(effects, frame, replied)
            if not is_own_call(handle, effects.world):
                handle = effects.hidden("handle", handle, span)
            body = _answered(effects, frame, calls, handle, message, span)
        case [answered]:
            if effects.handle is None:
                raise Wrong(
                    "Y309",
                    "only a row that takes a call can answer it",
                    span,
                    expected="reject(send(channel, Message(...)))",
                )
            own = effects.world.handles(effects.handle.type)
            assert own is not None
            message = effects.argument(frame, answered, own.responses, "message")
            message = convert.coerce(message, own.responses)
            body = _answered(effects, frame, own, effects.handle, message, span)
        case _:
            raise AssertionError
    effects.emit(t.Reject(tuple(body), span))


def _as_it_is(effects: Effects, sending: t.Send) -> t.Send:
    """Return a sending of what it would send now, to where it would."""
    keys = [step.key for step in sending.place.steps]
    steps = tuple(
        t.Step(key=key if key is None else effects.hidden("key", key, key.span)) for key in keys
    )
    place = replace(sending.place, steps=steps)
    message = effects.hidden("message", sending.message, sending.span)
    return replace(sending, place=place, message=message)


def _answered(
    effects: Effects, frame: Frame, calls: CallsInfo, handle: Term, message: Term, span: Span
) -> list[t.Statement]:
    """Return what a row does that only answers a call, with what the message is now."""
    message = effects.hidden("response", message, span)
    with effects.collect() as body:
        effects.emit(*effects.prologue)
        answer(effects, frame, calls, handle, message, span)
    return body
