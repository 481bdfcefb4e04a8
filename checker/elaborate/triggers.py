"""What starts a row: a message, a request or response of calls, an outcome, an expiry.

A trigger becomes bindings (whose channel, which message), names for the fields, and the
statements that take the message.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf

from checker.elaborate import build, convert
from checker.elaborate.connections import ANSWERED, FREE, PARKED, REQUESTED, all_slots, handle_of
from checker.elaborate.context import Context
from checker.elaborate.world import (
    EXPIRED,
    CallsInfo,
    ChannelInfo,
    OperationInfo,
    TimerInfo,
    World,
)
from checker.elaborate.wrong import Wrong
from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.machine import Binding, Trigger
from checker.machine.relations import bare, show
from checker.machine.types import Bool, Enum, Id, Map, Range, Record, Sequence, Set, Type
from checker.source import Span
from checker.table.document import Cell, TypeName, Word
from checker.table.problems import nearest
from checker.table.renaming import ValueName
from checker.table.scopes import CANCELLED, ids_begin_with, parts_of_id

Term = t.Term
Owner = ChannelInfo | CallsInfo | OperationInfo | TimerInfo


@dataclass(slots=True)
class Consumption:
    """What a trigger contributes to an action.

    `early` are its names for the bindings and conditions that follow, as parts of the bound
    message; `late` are those for guard and body, as lets.
    """

    trigger: Trigger
    bindings: list[Binding] = field(default_factory=list)
    early: dict[str, Term] = field(default_factory=dict)
    late: dict[str, Term] = field(default_factory=dict)
    lets: list[tuple[str, Term]] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    take: tuple[t.Statement, ...] = ()
    handle: Term | None = None
    fault: str | None = None
    fair: Word | Cell | None = None


def spontaneous() -> Consumption:
    """Return what a row without `on` consumes."""
    return Consumption(Trigger("spontaneous", None, None))


@frozen()
class Pattern:
    """A trigger as written: whose, for which keys, which kind, with which arguments."""

    owner: Owner
    keys: tuple[ast.expr, ...]
    kind: str
    arguments: tuple[tuple[str, ast.expr], ...]
    span: Span


def name_of(owner: Owner) -> str:
    """Return the name of a channel, calls, operation or timer."""
    return owner.entry.name.text


def keys_of(owner: Owner) -> tuple[Type, ...]:
    """Return the types of the keys a channel, calls, operation or timer has."""
    match owner:
        case ChannelInfo() | TimerInfo():
            return owner.keys
        case CallsInfo():
            return (owner.key,)
        case OperationInfo():
            return () if owner.key is None else (owner.key,)


def kinds_of(owner: Owner) -> dict[str, tuple[tuple[str, Type], ...]]:
    """Return what can be consumed there, each with its fields."""
    match owner:
        case ChannelInfo():
            return {variant.name: variant.fields for variant in owner.message.variants}
        case CallsInfo():
            both = owner.requests.variants + owner.responses.variants
            return {variant.name: variant.fields for variant in both}
        case OperationInfo():
            fields = tuple(f for f in owner.record.fields if f[0] != "late" or not owner.late)
            return dict.fromkeys(outcomes_of(owner), fields)
        case TimerInfo():
            return {EXPIRED: (*owner.record.fields, (CANCELLED, convert.BOOL))}


def outcomes_of(owner: OperationInfo) -> list[str]:
    """Return the outcomes of an operation, with the late ones where one of them is late."""
    names = [outcome.name.text for outcome in owner.entry.outcomes]
    early = [outcome.name.text for outcome in owner.entry.outcomes if not outcome.late]
    return names + ([f"late_{name}" for name in early] if owner.late else [])


# ------------------------------------------------------------------------------- patterns


def parse(context: Context, node: ast.expr) -> Pattern:
    """Return the pattern of `Kind(a)`, `channel.Kind(a)`, `channel[x].Kind(a)`."""
    span = context.span(node)
    call = node if isinstance(node, ast.Call) else None
    head = node.func if isinstance(node, ast.Call) else node
    keys: tuple[ast.expr, ...] = ()
    match head:
        case ast.Name(kind):
            owner = _carrier(context.world, kind, span)
        case ast.Attribute(ast.Name(name), kind):
            owner = _owner(context.world, name, span)
        case ast.Attribute(ast.Subscript(ast.Name(name), inner), kind):
            owner = _owner(context.world, name, span)
            keys = tuple(inner.elts) if isinstance(inner, ast.Tuple) else (inner,)
        case _:
            raise Wrong("Y310", "this is no trigger", span, expected="channel.Kind(a, b)")
    known = kinds_of(owner)
    if kind not in known:
        close = nearest(kind, known)
        raise Wrong(
            "N206",
            f"`{name_of(owner)}` has no `{kind}`",
            span,
            expected=", ".join(known),
            found=kind,
            help=f"did you mean `{close}`?" if close else None,
        )
    if keys and len(keys) != len(keys_of(owner)):
        raise Wrong(
            "N208",
            f"`{name_of(owner)}` has {len(keys_of(owner))} key(s)",
            span,
            found=f"{len(keys)} key(s)",
        )
    arguments = () if call is None else _arguments(context, call, known[kind], kind)
    return Pattern(owner, keys, kind, arguments, span)


def _owner(world: World, name: str, span: Span) -> Owner:
    owners: tuple[Mapping[str, Owner], ...] = (
        world.channels,
        world.calls,
        world.operations,
        world.timers,
    )
    found = next((part[name] for part in owners if name in part), None)
    if found is None:
        known = [known for part in owners for known in part]
        close = nearest(name, known)
        raise Wrong(
            "N206",
            f"no channel, calls, operation or timer is called `{name}`",
            span,
            expected=", ".join(known),
            found=name,
            help=f"did you mean `{close}`?" if close else None,
        )
    return found


def _carrier(world: World, kind: str, span: Span) -> Owner:
    owners: list[Owner] = [*world.channels.values(), *world.calls.values()]
    carrying = [owner for owner in owners if kind in kinds_of(owner)]
    if len(carrying) == 1:
        return carrying[0]
    if carrying:
        raise Wrong(
            "N207",
            f"`{kind}` arrives in several places",
            span,
            expected=" or ".join(f"{name_of(owner)}.{kind}" for owner in carrying),
        )
    known = [name for owner in owners for name in kinds_of(owner)]
    close = nearest(kind, known)
    raise Wrong(
        "N206",
        f"nothing carries `{kind}`",
        span,
        expected="a message of a channel or of calls, operation.outcome, or timer.expired",
        found=kind,
        help=f"did you mean `{close}`?" if close else None,
    )


def _arguments(
    context: Context, node: ast.Call, fields: tuple[tuple[str, Type], ...], kind: str
) -> tuple[tuple[str, ast.expr], ...]:
    names = [name for name, _ in fields]
    given = list(zip(names, node.args, strict=False))
    shape = f"{kind}({', '.join(names)})"
    if len(node.args) > len(names):
        raise Wrong(
            "N208",
            f"`{kind}` has {len(names)} field(s)",
            context.span(node),
            expected=shape,
            found=f"{len(node.args)} arguments",
        )
    for keyword in node.keywords:
        if keyword.arg not in names or keyword.arg in dict(given):
            raise Wrong(
                "N208",
                f"`{kind}` has no field `{keyword.arg}` to match here",
                context.span(keyword),
                expected=shape,
            )
        given.append((keyword.arg, keyword.value))
    return tuple(given)


def binds(context: Context, node: ast.expr, kind: Type) -> bool:
    """Return whether a pattern's argument is a name without a meaning yet."""
    if not isinstance(node, ast.Name) or isinstance(node, ValueName):
        return False
    word, world, inner = node.id, context.world, bare(kind)
    if word in context.names or word in ("true", "false", "none", "empty"):
        return False
    if isinstance(inner, Enum | Id) and word in inner.members:
        return False
    if isinstance(inner, Id) and _is_counted_id(world, inner, word):
        return False  # there may be more of them in another instance
    return not (word in world.variables or word in world.constants or word in world.definitions)


def _is_counted_id(world: World, kind: Id, word: str) -> bool:
    """Whether a name is that of a counted id of a type, of which there may be too few."""
    begin, number = parts_of_id(word)
    return bool(number) and any(
        item.name.text == kind.name and item.ids_count is not None and ids_begin_with(item) == begin
        for item in world.document.constants
    )


# ------------------------------------------------------------------------------ consuming


def consume(context: Context, pattern: Pattern, named: frozenset[str] = frozenset()) -> Consumption:
    """Return what a trigger contributes; `context` sees its names afterwards.

    `named` are the other names that the row gives: a key without one is not called so.
    """
    owner = pattern.owner
    found = Consumption(Trigger(_trigger_kind(owner), name_of(owner), pattern.kind))
    keys = _keys(context, pattern, found, named)
    match owner:
        case ChannelInfo():
            _from_channel(context, pattern, owner, keys, found)
        case CallsInfo():
            _from_calls(context, pattern, owner, keys[0], found)
        case OperationInfo():
            _from_operation(context, pattern, owner, keys, found)
        case TimerInfo():
            _from_timer(context, pattern, owner, keys, found)
    return found


def _trigger_kind(owner: Owner) -> OneOf["message", "outcome", "expiry"]:
    match owner:
        case ChannelInfo() | CallsInfo():
            return "message"
        case OperationInfo():
            return "outcome"
        case TimerInfo():
            return "expiry"


def _keys(
    context: Context, pattern: Pattern, found: Consumption, named: frozenset[str]
) -> list[Term]:
    """Bind the keys that are new names, or not written at all; return all keys."""
    keys: list[Term] = []
    written = (*pattern.keys, *(node for _, node in pattern.arguments))
    here = {node.id for node in written if isinstance(node, ast.Name)}
    kinds = keys_of(pattern.owner)
    words = [node.id if isinstance(node, ast.Name) else "_" for node in pattern.keys]
    surfaces = [
        word if word != "_" else _surface(context.world, pattern.owner, index, named | here)
        for index, word in enumerate(words or ["_" for _ in kinds])
    ]
    context.allocator.keep({*here, *surfaces})
    for index, kind in enumerate(kinds):
        node = pattern.keys[index] if pattern.keys else None
        if node is not None and not binds(context, node, kind):
            keys.append(context.check(node, kind))
            continue
        unique = context.allocator.binding(surfaces[index])
        local = t.Local(unique, kind, pattern.span)
        found.bindings.append(Binding(unique, t.Everything(Set(kind), pattern.span), None, True))
        if node is not None and words[index] != "_":
            _name(context, found, words[index], local, local)
        keys.append(local)
    return keys


def _surface(world: World, owner: Owner, index: int, names: frozenset[str]) -> str:
    """Return what a key without a name is called: by its type, unless the row calls others so."""
    surface, other = key_words(world, owner, index)
    while surface in names:
        surface = other = f"other_{other}"
    return surface


def key_words(world: World, owner: Owner, index: int) -> tuple[str, str]:
    """Return what a key that nobody names is called, and what is behind `other_` otherwise.

    That is what its type is called where it was written; who calls is a client. A system that is
    used brings its types under new names, and in `key` of each the words for keys, for they stay.
    """
    kind, per = keys_of(owner)[index], owner.entry.per
    node = per[index] if isinstance(per, tuple) else per
    aliases = {item.name.text: item.node for item in world.document.types}
    if isinstance(owner, CallsInfo):
        word = "client"
    elif isinstance(kind, Range | Bool):
        return "index", "index"
    else:
        word = show(kind).lower()
        while isinstance(node, TypeName) and isinstance(aliases.get(node.name), TypeName):
            node = aliases[node.name]
    return (node.key[0], node.key[1]) if isinstance(node, TypeName) and node.key else (word, word)


def _name(context: Context, found: Consumption, word: str, early: Term, late: Term) -> None:
    found.early[word] = context.names[word] = early
    found.late[word] = late


def _fields(context: Context, pattern: Pattern, found: Consumption, whole: Term) -> list[Term]:
    """Bind or compare the fields that a pattern mentions; return the comparisons."""
    kinds = dict(kinds_of(pattern.owner)[pattern.kind])
    conditions: list[Term] = []
    for name, node in pattern.arguments:
        part = _part(whole, name, kinds[name], context.span(node))
        if isinstance(node, ast.Name) and node.id == "_":
            continue
        if isinstance(node, ast.Name) and binds(context, node, kinds[name]):
            if isinstance(part, t.Local | t.Literal):
                _name(context, found, node.id, part, part)
                continue
            unique = context.allocator.binding(node.id)
            found.lets.append((unique, part))
            found.shown.append(unique)
            _name(context, found, node.id, part, t.Local(unique, kinds[name], part.span))
        else:
            expected = context.meant(node, kinds[name])
            conditions.append(build.equal(part, expected, context.span(node)))
    return conditions


def _part(whole: Term, name: str, kind: Type, span: Span) -> Term:
    """Return a field of what is consumed; one that was put together has it already."""
    if isinstance(whole, t.RecordOf):
        return dict(whole.fields)[name]
    return t.Field(whole, name, kind, span)


def _message(context: Context, pattern: Pattern, found: Consumption, whole: Term) -> None:
    """Bind `message` to the consumed message, as a record of its kind."""
    fields = kinds_of(pattern.owner)[pattern.kind]
    parts = tuple((name, _part(whole, name, kind, pattern.span)) for name, kind in fields)
    record = t.RecordOf(pattern.kind, parts, Record(pattern.kind, fields), pattern.span)
    _name(context, found, "message", record, record)


def _read(context: Context, name: str, keys: list[Term], span: Span) -> tuple[Term, t.Place]:
    """Return the content of a channel or operation and its place."""
    kind = context.world.variables[name].type
    term: Term = t.Read(name, kind, span)
    for key in keys:
        assert isinstance(kind, Map)
        kind = kind.value
        term = t.At(term, key, kind, span)
    return term, t.Place(name, tuple(t.Step(key=key) for key in keys), kind, span)


def _available(content: Term, span: Span) -> Term:
    """Return what can be consumed next: of a sequence its oldest item only."""
    if isinstance(content.type, Sequence):
        return t.Slice(content, None, convert.integer(1, span), content.type, span)
    return content


def _from_channel(
    context: Context, pattern: Pattern, owner: ChannelInfo, keys: list[Term], found: Consumption
) -> None:
    span = pattern.span
    content, place = _read(context, name_of(owner), keys, span)
    unique = context.allocator.unique("message")
    local = t.Local(unique, owner.message, span)
    _message(context, pattern, found, local)
    conditions = [build.is_variant(local, pattern.kind, span)]
    conditions += _fields(context, pattern, found, local)
    _bind(found, unique, _available(content, span), conditions, span)
    label: OneOf["read", "received"] = "read" if isinstance(owner.content, Set) else "received"
    found.take = (t.Receive(place, local, label, span),)


def _bind(
    found: Consumption, unique: str, domain: Term, conditions: list[Term], span: Span
) -> None:
    condition = build.conjunction(conditions, span)
    found.bindings.append(
        Binding(unique, domain, None if build.is_true(condition) else condition, False)
    )


def _from_calls(
    context: Context, pattern: Pattern, owner: CallsInfo, caller: Term, found: Consumption
) -> None:
    span = pattern.span
    asked = any(variant.name == pattern.kind for variant in owner.requests.variants)
    variant, part = (REQUESTED, "request") if asked else (ANSWERED, "response")
    unique = context.allocator.unique("slot")
    slot = t.Local(unique, owner.slots, span)
    content, place = _read(context, name_of(owner), [caller, slot], span)
    message = build.field_of(content, part, span)
    conditions = [
        build.is_variant(content, variant, span),
        build.is_variant(message, pattern.kind, span),
    ]
    whole = context.allocator.unique("message")
    found.lets.append((whole, message))
    late = t.Local(whole, message.type, span)
    _message(context, pattern, found, message)
    conditions += _fields(context, pattern, found, message)
    _bind(found, unique, all_slots(owner, span), conditions, span)
    fields = kinds_of(owner)[pattern.kind]
    parts = tuple((name, t.Field(late, name, kind, span)) for name, kind in fields)
    found.late["message"] = t.RecordOf(pattern.kind, parts, Record(pattern.kind, fields), span)
    if asked:
        found.handle = handle_of(owner, caller, slot, span)
        _name(context, found, "call", found.handle, found.handle)
        still = build.field_of(content, "open", span)
        after: Term = t.RecordOf(PARKED, (("live", still),), owner.slot, span)
    else:
        after = t.RecordOf(FREE, (), owner.slot, span)
    caller_map = context.world.variables[place.variable].type
    assert isinstance(caller_map, Map)
    shown = t.Place(place.variable, place.steps[:1], caller_map.value, span)
    found.take = (t.Assign(place, after, span), t.Note(shown, late, "received", span))


def _from_operation(
    context: Context, pattern: Pattern, owner: OperationInfo, keys: list[Term], found: Consumption
) -> None:
    span = pattern.span
    content, place = _read(context, name_of(owner), keys, span)
    unique = context.allocator.unique("operation")
    local = t.Local(unique, owner.record, span)
    late = pattern.kind.startswith("late_") and pattern.kind not in {
        outcome.name.text for outcome in owner.entry.outcomes
    }
    conditions: list[Term] = []
    if owner.late:
        flag = t.Field(local, "late", convert.BOOL, span)
        conditions.append(flag if late else build.negation(flag, span))
    _message(context, pattern, found, local)
    conditions += _fields(context, pattern, found, local)
    _bind(found, unique, _available(content, span), conditions, span)
    name = pattern.kind.removeprefix("late_") if late else pattern.kind
    outcome = next(one for one in owner.entry.outcomes if one.name.text == name)
    found.fault = outcome.fault.text if outcome.fault and not late else None
    if not outcome.late:
        found.take = (t.Receive(place, local, "completed", span),)
    else:
        found.take = _stay(owner, place, local, span)


def _stay(
    owner: OperationInfo, place: t.Place, local: t.Local, span: Span
) -> tuple[t.Statement, ...]:
    """Return the timeout of an operation that may still end: it stays, marked late."""
    marked = t.With(local, "late", convert.truth(True, span), owner.record, span)
    if isinstance(owner.content, Sequence):
        oldest = t.Step(key=convert.integer(0, span))
        first = t.Place(place.variable, (*place.steps, oldest), owner.record, span)
        return (t.Assign(first, marked, span), t.Note(place, local, "timed out", span))
    return (
        t.Receive(place, local, "timed out", span),
        t.Send(place, marked, "error", "silent", span),
    )


def _from_timer(
    context: Context, pattern: Pattern, owner: TimerInfo, keys: list[Term], found: Consumption
) -> None:
    """An expiry of a timer that is armed, or one that ran already when its timer was cancelled."""
    span = pattern.span
    content, place = _read(context, name_of(owner), keys, span)
    cancelled: Term = convert.truth(False, span)
    late: t.Place | None = None
    if owner.budget is not None:
        running, late = _read(context, owner.late, keys, span)
        name = context.allocator.binding(CANCELLED)
        cancelled = t.Local(name, convert.BOOL, span)
        found.bindings.append(Binding(name, t.Everything(Set(convert.BOOL), span), None, True))
        content = build.choice(cancelled, running, content, span)
    unique = context.allocator.unique("timer")
    local = t.Local(unique, owner.record, span)
    captured = tuple((name, t.Field(local, name, kind, span)) for name, kind in owner.record.fields)
    whole = _expiry(owner, (*captured, (CANCELLED, cancelled)), span)
    _message(context, pattern, found, whole)
    conditions = _fields(context, pattern, found, whole)
    _bind(found, unique, content, conditions, span)
    found.fair = owner.entry.fair
    found.take = (t.Receive(place, local, "expired", span),)
    if late is not None:
        ran = (
            t.Receive(late, local, "silent", span),
            t.Note(place, local, "ran after cancel", span),
        )
        found.take = (t.If(cancelled, ran, found.take, span),)


def _expiry(owner: TimerInfo, fields: tuple[tuple[str, Term], ...], span: Span) -> Term:
    kind = Record(EXPIRED, kinds_of(owner)[EXPIRED])
    return t.RecordOf(EXPIRED, fields, kind, span)
