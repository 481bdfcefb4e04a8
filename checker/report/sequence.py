"""A trace as a Mermaid sequence diagram: who did what, what travelled, what was lost.

Messages are drawn where they arrive or are lost, because that is where they matter, and say in
which step they were sent; those still under way at the end come last. Every step is a note over
its actor.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from checker.machine.machine import Machine
from checker.semantics.successor import Event
from checker.semantics.values import format_value
from checker.table.document import Calls, Channel, Document, TypeName
from checker.trace.naming import step_name
from checker.trace.trace import Step, Trace

ARRIVES = frozenset(("received", "read"))
QUIET = frozenset(("started", "completed", "timed out"))


@dataclass(frozen=True, slots=True)
class Lanes:
    """Who is at the ends of each channel, and which ids each word for a party stands for."""

    ends: Mapping[str, tuple[str, str]]
    members: Mapping[str, tuple[str, ...]]
    responses: frozenset[str]


def lanes(document: Document, machine: Machine) -> Lanes:
    """Return the lanes that the channels, calls and components of a specification declare."""
    ids = {kind.name: kind.members for kind in machine.ids}
    declared: tuple[Channel | Calls, ...] = (*document.channels, *document.calls)
    ends = {
        channel.name.text: (channel.origin.text, channel.target.text)
        for channel in declared
        if channel.origin is not None and channel.target is not None
    }
    members = {
        component.name.text: ids.get(component.per.name, ())
        for component in document.components
        if isinstance(component.per, TypeName)
    }
    responses = frozenset(word.text for calls in document.calls for word in calls.responses)
    return Lanes(ends, members, responses)


@dataclass(slots=True)
class _Drawing:
    lanes: Lanes
    participants: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    under_way: dict[tuple[str, object], deque[tuple[int, str, str]]] = field(
        default_factory=lambda: defaultdict(deque)
    )

    def participant(self, name: str) -> str:
        """Return the short name of a lane, opening it where it is new."""
        return self.participants.setdefault(name, f"p{len(self.participants) + 1}")


def sequence(trace: Trace, parties: Lanes) -> str:
    """Return a Mermaid `sequenceDiagram` of `trace`."""
    drawing = _Drawing(parties)
    for step in trace.steps[1:]:
        if trace.loop is not None and step.number == trace.loop.start + 1:
            drawing.lines.append("  loop for ever")
        _draw_step(drawing, step)
    if trace.loop is not None and trace.loop.start < trace.length:
        drawing.lines.append("  end")
    for (_, message), waiting in drawing.under_way.items():
        for number, origin, target in waiting:
            text = f"{format_value(message)} still under way (sent in {number})"
            _arrow(drawing, origin, "--)", target, text)
    heading = ["sequenceDiagram"]
    heading += [
        f"  participant {short} as {escape(name)}" for name, short in drawing.participants.items()
    ]
    return "\n".join(heading + drawing.lines) + "\n"


def _draw_step(drawing: _Drawing, step: Step) -> None:
    travels = [event for event in step.events if event.label not in QUIET]
    ends = [ends_of(drawing.lanes, event, step) for event in travels]
    actor = _actor(drawing.lanes, step, travels, ends)
    note = [f"{step.number} {step_name(step)}"]
    note += [f"fault: {step.fault}"] if step.fault is not None else []
    for event, (origin, target) in zip(travels, ends, strict=True):
        if event.label in ARRIVES or event.label == "lost":
            _draw_arrival(drawing, event, origin, target)
        else:
            waiting = drawing.under_way[event.channel, event.message]
            waiting.append((step.number, origin, target))
            note.append(f"{event.label} {format_value(event.message)}")
    note += [f"{event.label} {event.variable}" for event in step.events if event.label in QUIET]
    note += [f"{move.machine}: {move.origin} -> {move.target}" for move in step.moves]
    note += [f"illegal: {move.origin} to {move.target}" for move in step.illegal]
    if step.error is not None:
        note.append(step.error)
    text = "<br/>".join(escape(line) for line in note)
    drawing.lines.append(f"  Note over {drawing.participant(actor)}: {text}")


def _draw_arrival(drawing: _Drawing, event: Event, origin: str, target: str) -> None:
    waiting = drawing.under_way[event.channel, event.message]
    sent = ""
    if waiting:
        number, origin, target = waiting[0] if event.label == "read" else waiting.popleft()
        sent = f" (sent in {number})"
    if event.label == "lost":
        _arrow(drawing, origin, "--x", target, f"{format_value(event.message)} lost{sent}")
    else:
        _arrow(drawing, origin, "->>", target, f"{format_value(event.message)}{sent}")


def _arrow(drawing: _Drawing, origin: str, arrow: str, target: str, text: str) -> None:
    ends = f"{drawing.participant(origin)}{arrow}{drawing.participant(target)}"
    drawing.lines.append(f"  {ends}: {escape(text)}")


def ends_of(parties: Lanes, event: Event, step: Step) -> tuple[str, str]:
    """Return the sender's and the receiver's lane of a message."""
    name = event.variable.partition(".")[0]
    origin, target = parties.ends.get(name, ("sender", name))
    if str(format_value(event.message)).partition("(")[0] in parties.responses:
        origin, target = target, origin
    return lane(parties, origin, step, event), lane(parties, target, step, event)


def lane(parties: Lanes, word: str, step: Step, event: Event | None) -> str:
    """Return which of a party's members is meant: by the channel's key, else by a binding."""
    members = parties.members.get(word, ())
    if event is not None:
        keys = event.channel.partition("[")[2].rstrip("]").replace("][", ",").split(",")
        for key in keys:
            if key.strip() in members:
                return f"{word} {key.strip()}"
    for _, value in step.bindings:
        if value in members:
            return f"{word} {value}"
    return word


def _actor(parties: Lanes, step: Step, travels: list[Event], ends: list[tuple[str, str]]) -> str:
    """Return whose step it is: as declared, else who received, else who sent, else who changed."""
    if step.actor is not None:
        return lane(parties, step.actor, step, travels[0] if travels else None)
    for event, (origin, target) in zip(travels, ends, strict=True):
        if event.label in ARRIVES:
            return target
        return origin
    for change in step.changes:
        word = change.place.partition(".")[0].partition("[")[0]
        if word in parties.members or "." in change.place:
            return lane(parties, word, step, None)
    return "system"


SYNTAX = str.maketrans({"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "%": "#37;"})


def escape(text: str) -> str:
    """Return `text` with what Mermaid would read as syntax as entities."""
    return text.translate(SYNTAX)
