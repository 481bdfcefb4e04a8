"""Who acts in each step of a trace, and every message on its way: sent when, ended when and how.

Where both ends of a channel are the same kind of party (a broker that asks a broker), the
channel's key is one end; the other is an id in the message, or whoever received what is answered.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from checker.report.sequence import ARRIVES, QUIET, Lanes, ends_of, lane
from checker.semantics.successor import Event
from checker.semantics.values import RecordValue
from checker.trace.trace import Step, Trace

Fate = Literal["received", "read", "lost", "under way"]


@dataclass(frozen=True, slots=True)
class Travel:
    """One message on its way between two lanes.

    `sent` is None where it was there from the beginning; `ended` is the step in which it arrived or
    was lost, None while it is `under way`.
    """

    channel: str
    message: object
    origin: str
    target: str
    sent: int | None
    ended: int | None
    fate: Fate


@dataclass(frozen=True, slots=True)
class Journey:
    """A trace as a chart needs it: whose each step is, and what travelled."""

    actors: Mapping[int, str]
    travels: tuple[Travel, ...]


def journey(trace: Trace, parties: Lanes) -> Journey:
    """Return the actors and travels of `trace`, what ended first, then what is under way."""
    waiting: dict[tuple[str, object], deque[Travel]] = defaultdict(deque)
    read: set[tuple[str, object]] = set()
    actors: dict[int, str] = {}
    ended: list[Travel] = []
    for step in trace.steps[1:]:
        mine: list[Travel] = []
        for event in step.events:
            if event.label in QUIET:
                continue
            key = event.channel, event.message
            origin, target = _ends(parties, event, step, mine)
            if event.label not in ARRIVES and event.label != "lost":
                going = Travel(*key, origin, target, step.number, None, "under way")
                waiting[key].append(going)
            else:
                going = _ended(event, step, waiting[key], origin, target)
                ended.append(going)
                if event.label == "read":
                    read.add(key)
            mine.append(going)
        actors[step.number] = _actor(parties, step, mine)
    left = [item for key, items in waiting.items() if key not in read for item in items]
    return Journey(actors, (*ended, *left))


def _ended(event: Event, step: Step, waiting: deque[Travel], origin: str, target: str) -> Travel:
    """Return a message that arrives or is lost in `step`: of equal ones the one sent first."""
    fate: Fate = "lost" if event.label == "lost" else "received"
    if event.label == "read":
        fate = "read"
    if not waiting:
        # What is lost without having been sent is dropped where it would have been sent.
        sent = step.number if fate == "lost" else None
        return Travel(event.channel, event.message, origin, target, sent, step.number, fate)
    sent_one = waiting[0] if fate == "read" else waiting.popleft()
    return replace(sent_one, ended=step.number, fate=fate)


def _ends(parties: Lanes, event: Event, step: Step, before: list[Travel]) -> tuple[str, str]:
    """Return the lanes that a message travels between; `before` it in its step went these."""
    origin, target = ends_of(parties, event, step)
    word = parties.ends.get(event.variable.partition(".")[0], ("", ""))
    if word[0] != word[1] or origin != target:
        return origin, target
    members = parties.members.get(word[0], ())
    named = [value for value in _values(event.message) if value in members]
    bound = [value for _, value in step.bindings if value in members]
    others = [f"{word[0]} {value}" for value in (*named, *bound)]
    other = next((name for name in others if name != origin), origin)
    heard = next((item for item in before if item.ended == step.number), None)
    if heard is not None and heard.channel == event.channel and heard.target != origin:
        return heard.target, origin
    return origin, other


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
        if word in parties.members or "." in change.place:
            return lane(parties, word, step, None)
    return "system"
