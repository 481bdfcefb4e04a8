"""A trace as a Mermaid sequence diagram: who did what, what travelled, what was lost.

Messages are drawn where they arrive or are lost, because that is where they matter, and say in
which step they were sent; those still under way at the end come last. Every step is a note over
its actor.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from checker.report.headline import fault_mark
from checker.report.lanes import Lanes
from checker.report.travels import Journey, Travel, journey
from checker.semantics.values import format_value
from checker.trace.naming import step_name
from checker.trace.trace import Step, Trace


@dataclass(slots=True)
class _Drawing:
    way: Journey
    participants: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def participant(self, name: str) -> str:
        """Return the short name of a lane, opening it where it is new."""
        return self.participants.setdefault(name, f"p{len(self.participants) + 1}")


def sequence(trace: Trace, parties: Lanes, first: int = 1) -> str:
    """Return a Mermaid `sequenceDiagram` of `trace`, from its step `first` on."""
    drawing = _Drawing(journey(trace, parties))
    for step in trace.steps[first:]:
        if trace.loop is not None and step.number == trace.loop.start + 1:
            drawing.lines.append("  loop for ever")
        _draw_step(drawing, step)
    if trace.loop is not None and first - 1 <= trace.loop.start < trace.length:
        drawing.lines.append("  end")
    for travel in drawing.way.travels:
        if travel.ended is None:
            since = "from the beginning" if travel.sent is None else f"sent in {travel.sent}"
            text = f"{format_value(travel.message)} still under way ({since})"
            _arrow(drawing, travel.origin, "--)", travel.target, text)
    heading = ["sequenceDiagram"]
    heading += [
        f"  participant {short} as {escape(name)}" for name, short in drawing.participants.items()
    ]
    return "\n".join(heading + drawing.lines) + "\n"


def _draw_step(drawing: _Drawing, step: Step) -> None:
    note = [f"{step.number} {step_name(step)}"]
    note += [fault_mark(step)] if step.fault is not None else []
    starts: list[Travel] = []
    for travel in drawing.way.travels:
        if travel.ended == step.number and travel.fate == "started":
            starts.append(travel)
        elif travel.ended == step.number:
            _draw_arrival(drawing, travel)
    for event in step.events:
        if event.label in {"sent", "duplicated"}:
            note.append(f"{event.label} {format_value(event.message)}")
    note += [f"{move.machine}: {move.origin} -> {move.target}" for move in step.moves]
    note += [f"illegal: {move.origin} to {move.target}" for move in step.illegal]
    if step.error is not None:
        note.append(step.error)
    actor = drawing.way.actors[step.number]
    text = "<br/>".join(escape(line) for line in note)
    drawing.lines.append(f"  Note over {drawing.participant(actor)}: {text}")
    for travel in starts:
        _arrow(drawing, travel.origin, "-)", travel.target, format_value(travel.message))


def _draw_arrival(drawing: _Drawing, travel: Travel) -> None:
    sent = f" (sent in {travel.sent})" if travel.sent is not None else ""
    whole = format_value(travel.message)
    if travel.fate == "lost":
        _arrow(drawing, travel.origin, "--x", travel.target, f"{whole} lost{sent}")
    elif travel.fate in {"completed", "timed out"}:
        _arrow(drawing, travel.origin, "-->>", travel.target, f"{travel.fate} {whole}")
    else:
        _arrow(drawing, travel.origin, "->>", travel.target, f"{whole}{sent}")


def _arrow(drawing: _Drawing, origin: str, arrow: str, target: str, text: str) -> None:
    ends = f"{drawing.participant(origin)}{arrow}{drawing.participant(target)}"
    drawing.lines.append(f"  {ends}: {escape(text)}")


SYNTAX = str.maketrans({"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "%": "#37;"})


def escape(text: str) -> str:
    """Return `text` with what Mermaid would read as syntax as entities."""
    return text.translate(SYNTAX)
