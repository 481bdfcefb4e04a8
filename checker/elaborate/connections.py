"""Reading the state of calls: slots, handles, messages on the way."""

from __future__ import annotations

from checker.elaborate import build, convert
from checker.elaborate.context import Context
from checker.elaborate.world import CallsInfo, World
from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.relations import VALUES_MAX, size
from checker.machine.types import Range, Sequence, Set, Type
from checker.source import Span

Term = t.Term

FREE, REQUESTED, PARKED, ANSWERED = "Free", "Requested", "Parked", "Answered"


def slot_at(context: Context, calls: CallsInfo, caller: Term, slot: Term, span: Span) -> Term:
    """Return the content of one slot of one caller."""
    name = calls.entry.name.text
    read = t.Read(name, context.world.variables[name].type, span)
    return build.at(build.at(read, caller, span), slot, span)


def slot_of(context: Context, calls: CallsInfo, handle: Term, span: Span) -> Term:
    """Return the content of the slot a handle names."""
    caller = build.field_of(handle, "client", span)
    return slot_at(context, calls, caller, build.field_of(handle, "slot", span), span)


def all_slots(calls: CallsInfo, span: Span) -> Term:
    """Return the slots of one caller as a set."""
    return t.Everything(Set(calls.slots), span)


def handle_of(calls: CallsInfo, caller: Term, slot: Term, span: Span) -> Term:
    """Return the handle of a caller's slot."""
    return t.RecordOf(calls.handle.name, (("client", caller), ("slot", slot)), calls.handle, span)


def is_own_call(term: Term, world: World) -> bool:
    """Whether a term is the handle of the call that its row takes, wherever it is passed to."""
    return isinstance(term, t.RecordOf) and any(
        term.type == calls.handle and all(isinstance(part, t.Local) for _, part in term.fields)
        for calls in world.calls.values()
    )


def is_open(context: Context, calls: CallsInfo, handle: Term, span: Span) -> Term:
    """Return `h.open`: whether the connection still stands (E504 where nothing waits there).

    A stored handle is of a parked call; the `call` of a row waits still while its guard is judged.
    """
    slot = slot_of(context, calls, handle, span)
    live = build.field_of(slot, "live", span)
    if not isinstance(handle, t.RecordOf):
        return live
    waiting = build.is_variant(slot, REQUESTED, span)
    return build.choice(waiting, build.field_of(slot, "open", span), live, span)


def parked(context: Context, calls: CallsInfo, caller: Term | None, span: Span) -> Term:
    """Return the handles (of one caller) whose request was taken and is not answered."""
    kind = convert.limited(Set(calls.handle), span)
    assert isinstance(kind, Set)
    walk = _Walk(context, calls, caller, span)
    condition = build.is_variant(walk.content, PARKED, span)
    body = handle_of(calls, walk.caller, walk.slot, span)
    return t.Fold("set", walk.generators(condition), body, None, kind, span)


def on_the_way(
    context: Context, calls: CallsInfo, caller: Term | None, what: str, span: Span
) -> Term:
    """Return `requests(calls)` or `responses(calls)`: the messages on the way, by caller, slot."""
    variant, field = (REQUESTED, "request") if what == "requests" else (ANSWERED, "response")
    walk = _Walk(context, calls, caller, span)
    condition = build.is_variant(walk.content, variant, span)
    body = build.field_of(walk.content, field, span)
    most = size(calls.slots) * (size(calls.key) if caller is None else 1)
    if most > VALUES_MAX:
        raise Wrong("Y306", f"{most} messages; at most {VALUES_MAX} are possible", span)
    kind: Type = Sequence(body.type, most)
    return t.Fold("sequence", walk.generators(condition), body, None, kind, span)


def in_use(context: Context, calls: CallsInfo, caller: Term | None, span: Span) -> Term:
    """Return how many calls (of one caller) are anywhere between sending and answered."""
    walk = _Walk(context, calls, caller, span)
    condition = build.negation(build.is_variant(walk.content, FREE, span), span)
    most = size(calls.slots) * (size(calls.key) if caller is None else 1)
    one = convert.integer(1, span)
    return t.Fold("sum", walk.generators(condition), one, None, Range(0, most), span)


class _Walk:
    """The generators over the slots of one or all callers, and the slot they stand at."""

    def __init__(self, context: Context, calls: CallsInfo, caller: Term | None, span: Span) -> None:
        self._calls, self._span = calls, span
        self._all = caller is None
        self._caller_name = context.allocator.unique("caller") if self._all else ""
        self._slot_name = context.allocator.unique("slot")
        self.caller: Term = caller or t.Local(self._caller_name, calls.key, span)
        self.slot: Term = t.Local(self._slot_name, calls.slots, span)
        self.content = slot_at(context, calls, self.caller, self.slot, span)

    def generators(self, condition: Term) -> tuple[t.Generator, ...]:
        slots = t.Generator(self._slot_name, all_slots(self._calls, self._span), condition)
        if not self._all:
            return (slots,)
        callers = t.Everything(Set(self._calls.key), self._span)
        return (t.Generator(self._caller_name, callers, None), slots)
