"""Who acts in each step of a trace, every message on its way, and who waits for what.

Where both ends of a channel are the same kind of party (a broker that asks a broker), the
channel's key is one end; the other is who acts in the step, an id in the message, or whoever
received what is answered.
A party that crashed, or was replaced (a fault that `begins_anew`), is another lane from then on:
what it knew is gone.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from checker.frozen import frozen
from checker.report.lanes import (
    ARRIVES,
    OPERATIONS,
    TIMERS,
    Lanes,
    acting_of,
    ends_of,
    keys_of,
    lane,
)
from checker.semantics.successor import Event
from checker.semantics.values import MapValue, RecordValue, format_value
from checker.table.scopes import POSITION
from checker.trace.trace import Step, Trace

Fate = Literal["received", "read", "lost", "under way", "started", "completed", "timed out"]

Call = tuple[str, object]
"""What is waited for: the channel of a call with its slot, that of an operation with its record."""

Slots = Mapping[Call, RecordValue]
"""The slots of all calls in a state, and what is in them."""


@frozen()
class Travel:
    """One message on its way between two lanes.

    `sent` is None where it was there from the beginning; `ended` is the step in which it arrived or
    was lost, None while it is `under way`. What goes to an operation, and comes back from it,
    does so within a step.
    """

    channel: str
    message: object
    origin: str
    target: str
    sent: int | None
    ended: int | None
    fate: Fate


@frozen()
class Wait:
    """A lane that waits from one step to another; to the end where `until` is None."""

    lane: str
    since: int
    until: int | None
    what: str


@frozen()
class Journey:
    """A trace as a chart needs it: whose each step is, what travelled, who waited.

    `lives` says of lanes that began or ended within the run in which step.
    """

    actors: Mapping[int, str]
    travels: tuple[Travel, ...]
    waits: tuple[Wait, ...] = ()
    begins: Mapping[str, int] = field(default_factory=dict)
    ends: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Telling:
    """What is known after some steps."""

    parties: Lanes
    waiting: dict[tuple[str, object], deque[Travel]] = field(
        default_factory=lambda: defaultdict(deque)
    )
    read: set[tuple[str, object]] = field(default_factory=set)
    ended: list[Travel] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    open: list[tuple[Call, Wait]] = field(default_factory=list)
    lives: dict[str, int] = field(default_factory=dict)
    begins: dict[str, int] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)

    def here(self, name: str) -> str:
        """Return the lane of a party as it is now."""
        life = self.lives.get(name, 1)
        return name if life == 1 else f"{name}, {_ordinal(life)}"


def journey(trace: Trace, parties: Lanes) -> Journey:
    """Return the actors and travels of `trace`, what ended first, then what is under way."""
    telling = _Telling(parties)
    actors: dict[int, str] = {}
    slots = _slots(trace, trace.steps[0], {})
    for event in trace.steps[0].events:
        if event.label == "sent":  # in the initial state it is there
            _message(telling, event, trace.steps[0], [], slots)
    for source, step in pairwise(trace.steps):
        before, slots = slots, _slots(trace, step, slots)
        _answered(telling, step.number, before, slots)
        mine: list[Travel] = []
        for event in step.events:
            if event.label not in OPERATIONS | TIMERS:
                older = _older(trace, source, step, event)
                mine.append(_message(telling, event, step, mine, slots, older))
        name = _actor(parties, step, mine)
        actors[step.number] = telling.here(name)
        for event in step.events:
            if event.label in OPERATIONS:
                _operation(telling, event, step, actors[step.number])
        if step.fault in parties.anew:
            telling.ends[actors[step.number]] = step.number
            telling.lives[name] = telling.lives.get(name, 1) + 1
            telling.begins[telling.here(name)] = step.number
    left = [
        replace(item, target=telling.here(item.target))
        for key, items in telling.waiting.items()
        if key not in telling.read
        for item in items
    ]
    still = [wait for _, wait in telling.open]
    return Journey(
        actors,
        (*telling.ended, *left),
        tuple(sorted((*telling.waits, *still), key=lambda item: (item.since, item.lane))),
        telling.begins,
        telling.ends,
    )


def _message(
    telling: _Telling,
    event: Event,
    step: Step,
    before: list[Travel],
    slots: Slots,
    older: int = 0,
) -> Travel:
    """Take note of a message; return it with the plain names of its ends.

    So many equal ones that were sent before it are not the one that is lost.
    """
    key = event.channel, event.message
    origin, target = _ends(telling.parties, event, step, before)
    if event.label not in ARRIVES and event.label != "lost":
        sent = step.number or None
        going = Travel(*key, telling.here(origin), target, sent, None, "under way")
        telling.waiting[key].append(going)
        if _is_asked(telling.parties, event):
            wait = Wait(going.origin, step.number, None, format_value(event.message))
            telling.open.append((_call(telling, event, slots), wait))
        return replace(going, origin=origin)
    going = _ended(event, step, telling.waiting[key], (telling.here(origin), target), older)
    telling.ended.append(replace(going, target=telling.here(going.target)))
    if event.label == "read":
        telling.read.add(key)
    return replace(going, origin=origin)


def _is_asked(parties: Lanes, event: Event) -> bool:
    called = event.variable.partition(".")[0] in parties.calls
    return called and event.label == "sent" and not _is_answer(parties, event)


def _is_answer(parties: Lanes, event: Event) -> bool:
    return isinstance(event.message, RecordValue) and event.message.name in parties.responses


def _slots(trace: Trace, step: Step, before: Slots) -> Slots:
    """Return the slots of all calls after a step; those `before` it where it leads nowhere."""
    if step.state is None:
        return before
    found: dict[Call, RecordValue] = {}

    def walk(channel: str, value: object) -> None:
        items = value.items() if isinstance(value, MapValue) else ()
        for key, held in items:
            if isinstance(held, RecordValue):
                found[channel, key] = held
            else:
                walk(f"{channel}[{format_value(key)}]", held)

    for variable, value in zip(trace.machine.variables, step.state, strict=False):
        if variable.origin == "calls":
            walk(variable.name, value)
    return found


def _call(telling: _Telling, event: Event, slots: Slots) -> Call:
    """Return which call a request is that was just sent."""
    waiting = [call for call, _ in telling.open]
    made = (
        call
        for call, held in slots.items()
        if call[0] == event.channel and call not in waiting and _is_of(held, event.message)
    )
    return next(made, (event.channel, None))


def _is_of(held: RecordValue, message: object) -> bool:
    """Whether a request is in a slot, whose connection is open."""
    fields = dict(held.fields)
    return fields.get("request") == message and bool(fields.get("open"))


def _answered(telling: _Telling, number: int, before: Slots, after: Slots) -> None:
    """End the waits for answers that came, or that nobody waits for since a connection is closed.

    A slot is free then, or has something else in it.
    """
    for call, _ in list(telling.open):
        was, held = before.get(call), after.get(call)
        if was is None or held is None:
            continue
        fields, asked = dict(held.fields), dict(was.fields).get("request")
        closed = False in (fields.get("open"), fields.get("live"))
        again = "request" in fields and (asked is None or asked != fields["request"])
        if closed or again or not fields:
            _no_longer(telling, call, number)


def _no_longer(telling: _Telling, call: Call, number: int) -> None:
    """Who waits for a call or an operation does so no more."""
    for place, (waited, wait) in enumerate(telling.open):
        if waited == call:
            del telling.open[place]
            telling.waits.append(replace(wait, until=number))
            return


def _operation(telling: _Telling, event: Event, step: Step, actor: str) -> None:
    """Draw an operation as a lane: who starts it, whom it tells how it ended."""
    name = event.variable.partition(".")[0]
    fate: Fate = "completed"
    if event.label == "started":
        fate = "started"
        wait = Wait(name, step.number, None, format_value(event.message))
        telling.open.append(((event.channel, event.message), wait))
    elif event.label == "timed out":
        fate = "timed out"
    if fate != "started":
        _no_longer(telling, (event.channel, event.message), step.number)
    ends = (actor, name) if fate == "started" else (name, actor)
    sent = step.number if fate == "started" else None
    telling.ended.append(Travel(event.channel, event.message, *ends, sent, step.number, fate))


def _older(trace: Trace, source: Step, step: Step, event: Event) -> int:
    """Return how many equal messages stand before the one that a fault takes from a queue.

    These were sent before it: of equal ones none overtakes another.
    """
    if event.label != "lost" or step.fault is None or source.state is None or not step.bindings:
        return 0
    name, position = step.bindings[-1]
    if name.partition("#")[0] != POSITION or not isinstance(position, int):
        return 0
    names = [variable.name for variable in trace.machine.variables]
    places = [(event.variable, source.state[names.index(event.variable)])]
    for text, value in places:
        if text == event.channel and isinstance(value, tuple):
            return value[:position].count(event.message)
        if isinstance(value, MapValue):
            places += [(f"{text}[{format_value(key)}]", held) for key, held in value.items()]
    return 0


def _ended(
    event: Event, step: Step, waiting: deque[Travel], ends: tuple[str, str], older: int
) -> Travel:
    """Return a message that arrives or is lost in `step`: of equal ones the one sent first.

    One that is lost in the step that sends it had no room: no other one is; and a queue loses one
    than which so many are `older`. Whoever receives it is who it was for, also where the sender
    did not say.
    """
    origin, target = ends
    fate: Fate = "lost" if event.label == "lost" else "received"
    if event.label == "read":
        fate = "read"
    if not waiting:
        # What is lost without having been sent is dropped where it would have been sent.
        sent = step.number if fate == "lost" else None
        return Travel(event.channel, event.message, origin, target, sent, step.number, fate)
    dropped = fate == "lost" and waiting[-1].sent == step.number
    which = len(waiting) - 1 if dropped else min(older, len(waiting) - 1)
    sent_one = waiting[which]
    if fate != "read":
        del waiting[which]
    known = sent_one.target if fate == "lost" else target
    if known.partition(" ")[0] != sent_one.target.partition(" ")[0]:
        known = sent_one.target
    return replace(sent_one, target=known, ended=step.number, fate=fate)


def _ends(parties: Lanes, event: Event, step: Step, before: list[Travel]) -> tuple[str, str]:
    """Return the lanes that a message travels between; `before` it in its step went these."""
    origin, target = ends_of(parties, event, step)
    name = event.variable.partition(".")[0]
    word = parties.ends.get(name, ("", ""))
    if word[0] != word[1] or origin != target:
        return origin, target
    members = parties.members.get(word[0], ())
    if name not in parties.calls:
        between = _between(parties, word[0], event, step)
        if between is not None:
            return between
    named = [value for value in _values(event.message) if value in members]
    bound = [value for _, value in step.bindings if value in members]
    others = [f"{word[0]} {value}" for value in (*named, *bound)]
    other = next((name for name in others if name != origin), origin)
    heard = next((item for item in before if item.ended == step.number), None)
    if heard is not None and heard.channel == event.channel and heard.target != origin:
        return heard.target, origin
    return origin, other


def _between(parties: Lanes, word: str, event: Event, step: Step) -> tuple[str, str] | None:
    """Return the ends of a message in a channel whose keys say one or both; None: they do not.

    Whether a key is who sends or who receives only the step says: who acts in it does.
    """
    members = parties.members.get(word, ())
    keys = [key for key in keys_of(event) if key in members]
    acts = acting_of(parties, word, step) if event.label in ARRIVES | {"sent"} else None
    other = next((key for key in keys if key != acts), None)
    if acts is None or other is None or (acts not in keys and len(keys) > 1):
        return (f"{word} {keys[0]}", f"{word} {keys[1]}") if len(keys) > 1 else None
    ends = (f"{word} {acts}", f"{word} {other}")
    return ends if event.label == "sent" else ends[::-1]


def _values(message: object) -> list[object]:
    return [value for _, value in message.fields] if isinstance(message, RecordValue) else []


def _actor(parties: Lanes, step: Step, mine: list[Travel]) -> str:
    """Return whose step it is: as declared, else who received, else who sent, else who changed."""
    parts = [item.target if item.ended == step.number else item.origin for item in mine]
    if step.actor is not None:
        of_actor = (name for name in parts if name.partition(" ")[0] == step.actor)
        return next(of_actor, None) or lane(parties, step.actor, step, None)
    if parts:
        return parts[0]
    for change in step.changes:
        word = change.place.partition(".")[0].partition("[")[0]
        if word in parties.ends:  # messages that change places do so before whom they are for
            there = Event("reordered", change.place, word, None)
            return lane(parties, parties.ends[word][1], step, there)
        if word != "budget" and (word in parties.members or "." in change.place):
            return lane(parties, word, step, None)
    return "system"


def _ordinal(number: int) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 not in {11, 12, 13} else 0)
    return f"{number}{suffix or 'th'}"
