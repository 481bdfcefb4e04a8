"""Rows nobody writes: loss, duplication and reordering of messages, and ignored messages."""

from __future__ import annotations

from collections.abc import Iterator

from checker.elaborate import build, convert
from checker.elaborate.context import Context, Term, expression
from checker.elaborate.functions import interval
from checker.elaborate.rows import affordable, fairness, inside, spending
from checker.elaborate.triggers import consume, key_words, parse
from checker.elaborate.world import Allocator, ChannelInfo, World
from checker.machine import terms as t
from checker.machine.machine import Action, Binding, Property, Trigger
from checker.machine.relations import item_of
from checker.machine.types import Map, Sequence, Set
from checker.source import Span
from checker.table.document import Unhandled
from checker.table.scopes import POSITION


def channel_faults(world: World) -> Iterator[Action]:
    """Yield the rows of the faults that channels declare and their budgets allow."""
    for channel in world.channels.values():
        name = channel.entry.name.text
        for what, build_fault in (
            ("lose", _lose),
            ("duplicate", _duplicate),
            ("reorder", _reorder),
        ):
            fault = f"{what}_{name}"
            if world.budgets.get(fault, 0) != 0:
                yield build_fault(world, channel, fault)


class _Fault:
    """What the rows of one channel share: keys bound, its content, its place."""

    def __init__(self, world: World, channel: ChannelInfo) -> None:
        self.allocator = Allocator()
        self.bindings: list[Binding] = []
        self.span = span = channel.entry.name.span
        name = channel.entry.name.text
        kind = world.variables[name].type
        content: Term = t.Read(name, kind, span)
        steps: list[t.Step] = []
        for index, key in enumerate(channel.keys):
            assert isinstance(kind, Map)
            unique = self.allocator.unique(key_words(world, channel, index)[0])
            self.bindings.append(Binding(unique, t.Everything(Set(key), span), None, shown=True))
            local = t.Local(unique, key, span)
            kind = kind.value
            content = t.At(content, local, kind, span)
            steps.append(t.Step(key=local))
        self.content = content
        self.place = t.Place(name, tuple(steps), kind, span)

    def message(self, channel: ChannelInfo) -> t.Local:
        """Bind a message of the channel, shown in the step's name."""
        unique = self.allocator.unique("message")
        self.bindings.append(Binding(unique, self.content, None, shown=True))
        return t.Local(unique, channel.message, self.span)

    def position(self, before_end: int) -> Term:
        """Bind a position of a queue, up to the last but `before_end - 1`."""
        end = convert.integer(before_end, self.span)
        last = build.arithmetic("-", build.length(self.content, self.span), end, self.span)
        places = interval(convert.integer(0, self.span), last, self.span)
        kind = item_of(places.type)
        assert kind is not None
        unique = self.allocator.unique(POSITION)
        self.bindings.append(Binding(unique, places, None, shown=True))
        return t.Local(unique, kind, self.span)

    def action(
        self,
        world: World,
        channel: ChannelInfo,
        fault: str,
        guard: list[Term],
        body: list[t.Statement],
    ) -> Action:
        """Return the row."""
        limits = [] if world.budgets[fault] is None else [affordable(world, fault, self.span)]
        return Action(
            name=fault,
            bindings=tuple(self.bindings),
            lets=(),
            shown_lets=(),
            guard=build.conjunction([*limits, *guard], self.span),
            body=(*spending(world, fault, self.span), *body),
            trigger=Trigger("spontaneous", channel.entry.name.text, None),
            fault=fault,
            fair="none",
            generated=True,
            actor=None,
            about=channel.entry.about,
            source="",
            span=self.span,
        )


def _lose(world: World, channel: ChannelInfo, fault: str) -> Action:
    row = _Fault(world, channel)
    if isinstance(row.content.type, Sequence):
        return row.action(world, channel, fault, [], _lose_from_queue(row))
    message = row.message(channel)
    taken = t.Receive(row.place, message, "lost", row.span)
    return row.action(world, channel, fault, [], [taken])


def _lose_from_queue(row: _Fault) -> list[t.Statement]:
    """Bind a position and return its removal: equal messages at two places are not the same."""
    span, content = row.span, row.content
    kind = content.type
    assert isinstance(kind, Sequence)
    here = row.position(1)
    after = build.arithmetic("+", here, convert.integer(1, span), span)
    front = t.Slice(content, None, here, kind, span)
    rest = t.Slice(content, after, None, kind, span)
    both = t.Concatenate(front, rest, Sequence(kind.item, 2 * kind.capacity), span)
    return [
        t.Note(row.place, build.at(content, here, span), "lost", span),
        t.Assign(row.place, t.Cast(both, kind, span), span),
    ]


def _duplicate(world: World, channel: ChannelInfo, fault: str) -> Action:
    row = _Fault(world, channel)
    message = row.message(channel)
    again = t.Send(row.place, message, "block", "duplicated", row.span)
    return row.action(world, channel, fault, [], [again])


def _reorder(world: World, channel: ChannelInfo, fault: str) -> Action:
    """Two different neighbours of a queue change places."""
    row = _Fault(world, channel)
    span, content = row.span, row.content
    assert isinstance(content.type, Sequence)
    here = row.position(2)
    there = build.arithmetic("+", here, convert.integer(1, span), span)
    first, second = build.at(content, here, span), build.at(content, there, span)
    differ = build.negation(build.equal(first, second, span), span)
    held = row.allocator.unique("first")
    body: list[t.Statement] = [
        t.SetLocal(held, first, span),
        t.Assign(_position(row.place, here), second, span),
        t.Assign(_position(row.place, there), t.Local(held, first.type, span), span),
    ]
    return row.action(world, channel, fault, [differ], body)


def _position(place: t.Place, position: Term) -> t.Place:
    assert isinstance(place.type, Sequence)
    steps = (*place.steps, t.Step(key=position))
    return t.Place(place.variable, steps, place.type.item, place.span)


# ------------------------------------------------------------------------ unhandled messages


def ignoring(world: World, entry: Unhandled, name: str) -> Action:
    """Return the row that consumes an ignored message without any effect."""
    allocator, names = Allocator(), dict[str, Term]()
    context = Context(world, entry.message, names, allocator)
    found = consume(context, parse(context, expression(entry.message)))
    names.update(found.late)
    conditions = inside(world, entry.inside, names, allocator)
    return Action(
        name=name,
        bindings=tuple(found.bindings),
        lets=tuple(found.lets),
        shown_lets=tuple(found.shown),
        guard=build.conjunction(conditions, entry.span),
        body=found.take,
        trigger=found.trigger,
        fault=None,
        fair=fairness(world, entry.fair),
        generated=True,
        actor=None,
        about=entry.why,
        source="",
        span=entry.span,
    )


def impossible(world: World, entry: Unhandled, name: str) -> Property:
    """Return the invariant that a message is never there in some states."""
    allocator, names = Allocator(), dict[str, Term]()
    context = Context(world, entry.message, names, allocator)
    found = consume(context, parse(context, expression(entry.message)))
    conditions = inside(world, entry.inside, names, allocator)
    span: Span = entry.span
    generators = tuple(
        t.Generator(binding.name, binding.domain, binding.condition) for binding in found.bindings
    )
    there = build.conjunction(conditions, span)
    arrived = t.Fold("any", generators, there, None, convert.BOOL, span)
    return Property(
        name=name,
        kind="always",
        condition=build.negation(arrived, span),
        premise=None,
        why=entry.why,
        source="",
        span=span,
    )
