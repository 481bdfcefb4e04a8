"""Who takes part in a run: the lanes of its diagrams, and which of them a step or message means.

A lane is a party, or one of its members (`client c1`, `leader 2`). What a specification declares
says most: the ends of its channels, the `actor` of its rows, what its components are `per`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from checker.frozen import frozen
from checker.machine.machine import Machine
from checker.machine.types import Enum, Id, Map, Range, Type
from checker.semantics.successor import Event
from checker.semantics.values import RecordValue, format_value
from checker.table.document import Calls, Channel, Document, TypeName
from checker.trace.trace import Step

ARRIVES = frozenset(("received", "read"))
OPERATIONS = frozenset(("started", "completed", "timed out"))
FIRED = frozenset(("expired", "ran after cancel"))
TIMERS = FIRED | {"armed", "cancelled", "cancelled too late"}


@frozen()
class Lanes:
    """Who is at the ends of each channel, and which members each word for a party stands for.

    `responses` are the answers of calls; `calls` the names of what calls travel on; `anew` the
    faults after which a party is another one. `bound` has for a row, and the word for a party, the
    binding that says which of its members is meant.
    """

    ends: Mapping[str, tuple[str, str]]
    members: Mapping[str, tuple[str, ...]]
    responses: frozenset[str]
    calls: frozenset[str] = frozenset()
    anew: frozenset[str] = frozenset()
    bound: Mapping[tuple[str, str], str] = field(default_factory=dict)


def lanes(document: Document, machine: Machine) -> Lanes:
    """Return the lanes that the channels, calls and components of a specification declare."""
    declared: tuple[Channel | Calls, ...] = (*document.channels, *document.calls)
    ends = {
        channel.name.text: (channel.origin.text, channel.target.text)
        for channel in declared
        if channel.origin is not None and channel.target is not None
    }
    kinds = {variable.name.partition(".")[0]: variable.type for variable in machine.variables}
    members = {
        component.name.text: _members(kinds.get(component.name.text))
        for component in document.components
        if component.per is not None
    }
    responses = frozenset(word.text for calls in document.calls for word in calls.responses)
    travels = frozenset(calls.name.text for calls in document.calls)
    anew = frozenset(fault.name.text for fault in document.faults if fault.begins_anew)
    return Lanes(ends, members, responses, travels, anew, _bound(document))


def _bound(document: Document) -> dict[tuple[str, str], str]:
    """Return the bindings of rows that are of the type which a component has one of each of.

    Where a row has several of that type nothing says which of them it is about.
    """
    found = {}
    for row in document.rows:
        named = [
            (item.name.text, item.node.name)
            for item in row.bindings
            if isinstance(item.node, TypeName)
        ]
        types = [kind for _, kind in named]
        for component in document.components:
            per = component.per
            if isinstance(per, TypeName) and types.count(per.name) == 1:
                found[row.name.text, component.name.text] = named[types.index(per.name)][0]
    return found


def _members(kind: Type | None) -> tuple[str, ...]:
    """Return the names of those that a component has one of, from the type of its variables."""
    match kind:
        case Map(Id(_, names, _), _, _) | Map(Enum(_, names), _, _):
            return names
        case Map(Range(low, high), _, _):
            return tuple(str(number) for number in range(low, high + 1))
        case _:
            return ()


def ends_of(parties: Lanes, event: Event, step: Step) -> tuple[str, str]:
    """Return the sender's and the receiver's lane of a message.

    Somebody else than the channel names may send: an administrator, a group.
    """
    name = event.variable.partition(".")[0]
    origin, target = parties.ends.get(name, ("sender", name))
    if str(format_value(event.message)).partition("(")[0] in parties.responses:
        origin, target = target, origin
    if event.label == "sent" and step.actor is not None and step.actor not in (origin, target):
        origin = step.actor
    return lane(parties, origin, step, event), lane(parties, target, step, event)


def keys_of(event: Event) -> list[str]:
    """Return the values between the brackets of a message's channel."""
    keys = event.channel.partition("[")[2].rstrip("]").replace("][", ",").split(",")
    return [key.strip() for key in keys]


def acting_of(parties: Lanes, word: str, step: Step) -> str | None:
    """Return the one member of a party that a step changes, else the one that its row is about."""
    changed = {
        change.place.partition("[")[2].partition("]")[0]
        for change in step.changes
        if change.place.startswith(f"{word}[")
    }
    if len(changed) == 1:
        return changed.pop()
    bound = dict(step.bindings).get(parties.bound.get((step.row, word), ""))
    return None if bound is None else format_value(bound)


def lane(parties: Lanes, word: str, step: Step, event: Event | None) -> str:
    """Return which of a party's members is meant.

    The key of the channel says it; what the step changed, if that is of one member; a binding;
    a field of the message that is called after the party, such as `leader_epoch`.
    """
    members = parties.members.get(word, ())
    if not members:
        return word
    if event is not None:
        for key in keys_of(event):
            if key in members:
                return f"{word} {key}"
    acting = acting_of(parties, word, step)
    if acting is not None:
        return f"{word} {acting}"
    numbered = members[0].isdigit()
    for name, value in step.bindings:
        # Numbers are everywhere; the one that stands for a party is named like it.
        if format_value(value) in members and (not numbered or word.startswith(name[:1])):
            return f"{word} {format_value(value)}"
    if event is not None and isinstance(event.message, RecordValue):
        for name, value in event.message.fields:
            if name.startswith(word) and format_value(value) in members:
                return f"{word} {format_value(value)}"
    return word
