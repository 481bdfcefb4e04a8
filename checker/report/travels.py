"""Who acts in each step of a trace, every message on its way, and who waits for what.

Where both ends of a channel are the same kind of party (a broker that asks a broker), the
channel's key is one end; the other is who acts in the step, an id in the message, or whoever
received what is answered.
A party that crashed, or was replaced (a fault that `begins_anew`), is another lane from then on:
what it knew is gone.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Mapping
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
    is_answer,
    keys_of,
    lane,
    words_of,
)
from checker.semantics.successor import Event
from checker.semantics.values import MapValue, RecordValue, format_value
from checker.table.scopes import POSITION
from checker.trace.difference import channels_in
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
    _begun(telling, trace, slots)
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
        _untold(telling, trace, step, actors[step.number])
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


def _begun(telling: _Telling, trace: Trace, slots: Slots) -> None:
    """Take note of what is on its way, or has begun, in the initial state."""
    first = trace.steps[0]
    for event in first.events:
        if event.label == "sent":
            _message(telling, event, first, [], slots)
        elif event.label == "started":
            _started(telling, event, first)
    _untold(telling, trace, first, None)


def _untold(telling: _Telling, trace: Trace, step: Step, actor: str | None) -> None:
    """Take note of messages that a step took out of a channel, or put into it, as out of a set.

    `requests[c].clear()` loses them, with no word of each. Of equal ones those sent first go. Who
    acts is who sends what is put in.
    """
    for place, (variable, content) in _contents(trace, step).items():
        held = Counter(content)
        for (channel, message), waiting in list(telling.waiting.items()):
            if channel != place:
                continue
            kept = held.pop(message, 0)
            if isinstance(content, frozenset) and kept:
                continue  # who sends again what is there adds nothing
            was_read = (channel, message) in telling.read
            for _ in range(len(waiting) - kept):
                gone = waiting.popleft()
                target = telling.here(gone.target)
                if not was_read:
                    telling.ended.append(
                        replace(gone, target=target, ended=step.number, fate="lost")
                    )
            if not waiting:
                telling.read.discard((channel, message))
            held[message] = kept - len(waiting)
        for message in sorted((+held).elements(), key=format_value):
            put = Event("put", place, variable, message)
            ends = _ends(telling.parties, put, step, [])
            ends = actor or ends[0], ends[1]
            going = Travel(place, message, *ends, step.number or None, None, "under way")
            telling.waiting[place, message].append(going)


def _contents(trace: Trace, step: Step) -> dict[str, tuple[str, Collection[object]]]:
    """Return what is in each channel after a step, with the variable that holds it."""
    found: dict[str, tuple[str, Collection[object]]] = {}
    for variable, value in zip(trace.machine.variables, step.state or (), strict=False):
        if variable.origin == "channel":
            for place, content in channels_in(variable.name, value):
                found[place] = variable.name, content
    return found


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
    waiting = telling.waiting[key]
    if event.label == "duplicated" and waiting:
        origin, target = waiting[0].origin.partition(",")[0], waiting[0].target
    if event.label not in ARRIVES and event.label != "lost":
        sent = step.number or None
        going = Travel(*key, telling.here(origin), target, sent, None, "under way")
        waiting.append(going)
        if _is_asked(telling.parties, event):
            wait = Wait(going.origin, step.number, None, format_value(event.message))
            telling.open.append((_call(telling, event, slots), wait))
        return replace(going, origin=origin)
    going = _ended(event, step, waiting, (telling.here(origin), target), older)
    telling.ended.append(replace(going, target=telling.here(going.target)))
    if event.label == "read":
        telling.read.add(key)
    elif not waiting:
        telling.read.discard(key)
    return replace(going, origin=origin)


def _is_asked(parties: Lanes, event: Event) -> bool:
    called = event.variable.partition(".")[0] in parties.calls
    return called and event.label == "sent" and not is_answer(parties, event)


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
    if event.label == "started":
        _started(telling, event, step)
    else:
        _no_longer(telling, (event.channel, event.message), step.number)
    fates: dict[str, Fate] = {"started": "started", "timed out": "timed out"}
    fate = fates.get(event.label, "completed")
    ends = (actor, name) if fate == "started" else (name, actor)
    sent = step.number if fate == "started" else None
    telling.ended.append(Travel(event.channel, event.message, *ends, sent, step.number, fate))


def _started(telling: _Telling, event: Event, step: Step) -> None:
    """Let an operation wait for its end."""
    name = event.variable.partition(".")[0]
    wait = Wait(name, step.number, None, format_value(event.message))
    telling.open.append(((event.channel, event.message), wait))


def _older(trace: Trace, source: Step, step: Step, event: Event) -> int:
    """Return how many equal messages stand before the one that a fault takes from a queue.

    These were sent before it: of equal ones none overtakes another.
    """
    if event.label != "lost" or step.fault is None or not step.bindings:
        return 0
    name, position = step.bindings[-1]
    if name.partition("#")[0] != POSITION or not isinstance(position, int):
        return 0
    _, queue = _contents(trace, source).get(event.channel, ("", ()))
    return queue[:position].count(event.message) if isinstance(queue, tuple) else 0


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
    if sent_one.target.startswith(f"{known} "):  # who it was for was known better
        known = sent_one.target
    return replace(sent_one, target=known, ended=step.number, fate=fate)


def _ends(parties: Lanes, event: Event, step: Step, before: list[Travel]) -> tuple[str, str]:
    """Return the lanes that a message travels between; `before` it in its step went these."""
    words = words_of(parties, event, step)
    if event.variable.partition(".")[0] not in parties.calls:
        between = _between(parties, words, event, step)
        if between is not None:
            return between
    origin, target = (lane(parties, word, step, event) for word in words)
    if words[0] != words[1] or origin != target:
        return origin, target
    members = parties.members.get(words[0], ())
    named = [value for value in _values(event.message) if value in members]
    bound = [value for _, value in step.bindings if value in members]
    others = [f"{words[0]} {value}" for value in (*named, *bound)]
    other = next((name for name in others if name != origin), origin)
    heard = next((item for item in before if item.ended == step.number), None)
    if heard is not None and heard.channel == event.channel and heard.target != origin:
        return heard.target, origin
    return origin, other


def _between(
    parties: Lanes, words: tuple[str, str], event: Event, step: Step
) -> tuple[str, str] | None:
    """Return the ends of a message in a channel whose keys say one or both; None: they do not.

    Both are of one type: whether a key is who sends or who receives only the step says, for who
    acts in it does. Where it does not, one key is who it is for, as in front of an inbox.
    """
    keys, others = (keys_of(parties, word, event) for word in words)
    if keys != others:
        return None
    told = event.label in ARRIVES | {"sent"}
    acts = acting_of(parties, words[event.label != "sent"], step) if told else None
    other = next((key for key in keys if key != acts), None)
    if acts is None and len(keys) == 1 and words[0] != words[1]:
        return lane(parties, words[0], step, None), f"{words[1]} {keys[0]}"
    if acts is None or other is None or (acts not in keys and len(keys) > 1):
        declared = parties.ends.get(event.variable, words)
        pair = keys if words[0] == declared[0] else keys[::-1]  # as the channel names its ends
        return (f"{words[0]} {pair[0]}", f"{words[1]} {pair[1]}") if len(keys) > 1 else None
    sends, receives = (acts, other) if event.label == "sent" else (other, acts)
    return f"{words[0]} {sends}", f"{words[1]} {receives}"


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
            return _ends(parties, there, step, [])[1]
        if word != "budget" and (word in parties.members or "." in change.place):
            return lane(parties, word, step, None)
    return "system"


def _ordinal(number: int) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 not in {11, 12, 13} else 0)
    return f"{number}{suffix or 'th'}"
