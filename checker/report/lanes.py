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
    binding that says which of its members is meant; `keyed` for a channel, and the word for a
    party, which of the channel's keys are of the type of its members.
    """

    ends: Mapping[str, tuple[str, str]]
    members: Mapping[str, tuple[str, ...]]
    responses: frozenset[str]
    calls: frozenset[str] = frozenset()
    anew: frozenset[str] = frozenset()
    bound: Mapping[tuple[str, str], str] = field(default_factory=dict)
    keyed: Mapping[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)


def lanes(document: Document, machine: Machine) -> Lanes:
    """Return the lanes that the channels, calls and components of a specification declare."""
    declared: tuple[Channel | Calls, ...] = (*document.channels, *document.calls)
    ends = {
        channel.name.text: (channel.origin.text, channel.target.text)
        for channel in declared
        if channel.origin is not None and channel.target is not None
    }
    kinds = {variable.name.partition(".")[0]: variable.type for variable in machine.variables}
    per = {
        component.name.text: _keys(kinds.get(component.name.text))[:1]
        for component in document.components
        if component.per is not None
    }
    members = {word: _members(keys[0]) if keys else () for word, keys in per.items()}
    keyed = {
        (channel.name.text, word): tuple(
            place for place, key in enumerate(_keys(kinds.get(channel.name.text))) if [key] == keys
        )
        for channel in declared
        for word, keys in per.items()
    }
    responses = frozenset(word.text for calls in document.calls for word in calls.responses)
    travels = frozenset(calls.name.text for calls in document.calls)
    anew = frozenset(fault.name.text for fault in document.faults if fault.begins_anew)
    return Lanes(ends, members, responses, travels, anew, _bound(document), keyed)


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


def _keys(kind: Type | None) -> list[Type]:
    """Return the types of the keys of a variable, the first one first."""
    return [kind.key, *_keys(kind.value)] if isinstance(kind, Map) and kind.total else []


def _members(kind: Type) -> tuple[str, ...]:
    """Return the names of those that a component has one of, from the type of its keys."""
    match kind:
        case Id(_, names, _) | Enum(_, names):
            return names
        case Range(low, high):
            return tuple(str(number) for number in range(low, high + 1))
        case _:
            return ()


def words_of(parties: Lanes, event: Event, step: Step) -> tuple[str, str]:
    """Return the words for the parties that send and receive a message.

    Answers of calls travel the other way. In a channel whoever acts decides: it may carry what is
    said in both directions, and somebody else than it names may send into it, or take out of it:
    an administrator, a group.
    """
    name = event.variable.partition(".")[0]
    origin, target = parties.ends.get(name, ("sender", name))
    if is_answer(parties, event):
        origin, target = target, origin
    actor, sent = step.actor, event.label == "sent"
    if actor is None or not (sent or event.label in ARRIVES):
        return origin, target
    here, there = (origin, target) if sent else (target, origin)
    if actor != there:
        here = actor
    elif name not in parties.calls:
        here, there = there, here
    return (here, there) if sent else (there, here)


def is_answer(parties: Lanes, event: Event) -> bool:
    """Whether a message answers a call."""
    if event.variable.partition(".")[0] not in parties.calls:
        return False
    return isinstance(event.message, RecordValue) and event.message.name in parties.responses


def keys_of(parties: Lanes, word: str, event: Event) -> list[str]:
    """Return those keys of a message's channel that may be a member of a party, in their order."""
    keys = event.channel.partition("[")[2].rstrip("]").replace("][", ",").split(",")
    name = event.variable.partition(".")[0]
    places = parties.keyed.get((name, word), range(len(keys)))
    members = parties.members.get(word, ())
    found = [keys[place].strip() for place in places if place < len(keys)]
    return [key for key in found if key in members]


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
        for key in keys_of(parties, word, event):
            return f"{word} {key}"
    acting = acting_of(parties, word, step)
    if acting is not None:
        return f"{word} {acting}"
    numbered = members[0].isdigit()
    for name, value in step.bindings:
        # Numbers are everywhere; the one that stands for a party is named like it: `l`, `leader`.
        if (not numbered or _like(word, name)) and format_value(value) in members:
            return f"{word} {format_value(value)}"
    if event is not None and isinstance(event.message, RecordValue):
        for name, value in event.message.fields:
            if _like(word, name) and format_value(value) in members:
                return f"{word} {format_value(value)}"
    return word


def _like(word: str, name: str) -> bool:
    """Whether something is called like a party, whose word a used system may have a prefix before.

    `l`, `leader` and `leader_epoch` are of a `leader`, and of a `state_leader`.
    """
    words = word.split("_")
    tails = ["_".join(words[place:]) for place in range(len(words))]
    return any(tail.startswith(name) or f"{name}_".startswith(f"{tail}_") for tail in tails)
