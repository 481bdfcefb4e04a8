"""A run that shows something wrong, as a page tells it: the answer, why, phases, steps, states."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from checker.frozen import frozen
from checker.machine.machine import Machine
from checker.machine.terms import Read
from checker.machine.types import Map, Type
from checker.machine.walk import walk
from checker.report.causes import causes, concerns, reads_of
from checker.report.chart import Chart, chart, charts
from checker.report.headline import (
    fault_mark,
    loop_end,
    loop_text,
    other_title,
    promise_text,
    reason_text,
    stories,
    title,
)
from checker.report.lanes import Lanes, lanes
from checker.report.phases import Phase, phases
from checker.report.result import Result
from checker.report.telling import grouped, other_file, sentence
from checker.report.travels import Journey, journey
from checker.report.variants import designs_read
from checker.report.vocabulary import vocabulary
from checker.semantics.successor import Event, State
from checker.semantics.values import MapValue, format_value
from checker.trace.blocked import plainly
from checker.trace.difference import is_of_each
from checker.trace.naming import binding_texts, event_name, place, step_name
from checker.trace.trace import Reason, Step, Trace, Waiting, deciding
from checker.visible import json_text

FEW = 2
"""Changes of a step that are shown at once where none is known to tell more than another."""

DECISIVE = 6
"""Parts of a condition that are shown at once; the others are in the whole condition."""

TELLING = 3
"""Telling changes of a step that are shown at once."""


@frozen()
class Detail:
    """A line of a step: a message, or a change of a place that the failed part reads or not."""

    label: str
    text: str
    place: str
    telling: bool


@frozen()
class StepView:
    """A step as it is read: its name and marks, what happened.

    Its row's prose, source and place are given where the row comes first; `designs` are the
    constants on which the row's text depends and that are not the default here. `told` are the
    details that are shown at once. `matters` is why the failed part depends on it; a step that does
    not, of a run where others do, is `aside`.
    """

    number: int
    name: str
    lane: str
    actor: str
    fault: str
    prose: str
    designs: tuple[tuple[str, str], ...]
    details: tuple[Detail, ...]
    told: tuple[Detail, ...]
    wrong: tuple[str, ...]
    source: str
    place: str
    row: str
    breaks: bool
    loop_begins: bool
    outside: bool
    matters: tuple[str, ...]
    aside: bool

    @property
    def folded(self) -> tuple[Detail, ...]:
        """What happened besides."""
        return tuple(item for item in self.details if item not in self.told)

    @property
    def fold(self) -> str:
        """What is behind the fold, in a word or two."""
        if not self.folded:
            return "source"
        return f"{len(self.folded)} more" if self.told else "changes"


@frozen()
class Answer:
    """What one trace shows: the property, why it matters, why it has the value it has.

    `decisive` are the parts that decide, `known` the values in them that they do not say
    themselves, `bindings` for whom, `given` the other parts that hold them up; `chain` is the whole
    condition, part by part. Of a run that stands still `waiting` says what the rows
    lack that come nearest to going on.
    """

    name: str
    title: str
    why: str
    verb: str
    decisive: tuple[tuple[Reason, str, str], ...]
    known: tuple[tuple[str, str], ...]
    bindings: tuple[tuple[str, str], ...]
    given: tuple[str, ...]
    chain: tuple[tuple[Reason, str], ...]
    failure: str
    notes: tuple[str, ...]
    waiting: tuple[Waiting, ...]


@frozen()
class Part:
    """A phase of a run: its steps, what is drawn of them, what happens in a few words."""

    first: int
    last: int
    title: str
    chart: Chart | None
    steps: tuple[StepView, ...]
    open: bool


@frozen()
class Story:
    """A run that is shown once, with all that it is the answer to."""

    number: int
    length: int
    answers: tuple[Answer, ...]
    parts: tuple[Part, ...]
    causes: tuple[StepView, ...]
    loop_end: str
    loop_text: tuple[str, ...]
    promises: tuple[str, ...]
    ending: str
    calm: bool
    files: tuple[str, ...]
    states: str


def story_views(result: Result, files: dict[str, str]) -> tuple[Story, ...]:
    """Return the runs that show something wrong; what the same run shows is told together."""
    parties = lanes(result.document, result.machine)
    return tuple(
        _story(number, traces, parties, files, result)
        for number, traces in enumerate(grouped(result.failures), 1)
    )


def _story(
    number: int, traces: list[Trace], parties: Lanes, files: dict[str, str], result: Result
) -> Story:
    trace = traces[0]
    way = journey(trace, parties)
    parts = phases(trace)
    steps = _steps(traces, way, result, parts)
    drawn = charts(trace, parties, [(part.first, part.last) for part in parts])
    names = [item.property_name for item in traces]
    views = []
    for part, shown in zip(parts, drawn, strict=True):
        low = 0 if part.first == 1 else part.first
        views.append(
            Part(
                first=part.first,
                last=part.last,
                title=part.title,
                chart=shown,
                steps=steps[low : part.last + 1],
                open=part is parts[-1],
            )
        )
    if not parts:
        views = [Part(0, 0, "", None, steps, open=True)]
    matter = tuple(step for step in steps if step.matters)
    return Story(
        number=number,
        length=trace.length,
        answers=tuple(_answer(item) for item in traces),
        parts=tuple(views),
        causes=matter if any(step.aside for step in steps) else (),
        loop_end=loop_end(trace),
        loop_text=tuple(loop_text(trace)),
        promises=tuple(promise_text(trace)),
        ending=_ending(traces),
        calm=any(name in result.calm for name in names),
        files=tuple(files[name] for name in names if name in files),
        states=states_data(trace.machine, trace.steps, traces),
    )


@frozen()
class Other:
    """A further shortest run: what it is like, its chart, the names of its steps."""

    title: str
    number: int
    chart: Chart | None
    names: tuple[str, ...]
    loop_end: str
    file: str


def other_views(result: Result) -> tuple[Other, ...]:
    """Return the further runs that were asked for."""
    parties = lanes(result.document, result.machine)
    return tuple(
        Other(
            other_title(trace),
            number,
            chart(trace, parties),
            tuple(step_name(step) for step in trace.steps),
            loop_end(trace),
            other_file(trace, number),
        )
        for number, trace in enumerate(result.others, 1)
    )


def _answer(trace: Trace) -> Answer:
    failure = trace.failure
    decisive = deciding(trace.reasons)
    # The same part may decide for two: `thread[t].op == o` for t1 and for t2.
    shown = {plainly(reason): (reason, *plainly(reason)) for reason in decisive}
    told = [reason_text(reason) for reason in trace.reasons]
    given = [
        text
        for reason, text in zip(trace.reasons, told, strict=True)
        if reason.values and reason.value == "true" and reason not in decisive
    ]
    chain = tuple(zip(trace.reasons, told, strict=True))
    bindings = tuple(item for reason in trace.reasons for item in reason.bindings)
    return Answer(
        name=trace.property_name,
        title=title(trace),
        why=sentence(trace.why),
        verb="holds" if trace.kind == "sometimes" else "fails",
        decisive=tuple(shown.values())[:DECISIVE],
        known=_known(decisive, dict(bindings)),
        bindings=bindings,
        given=tuple(dict.fromkeys(text.removesuffix(" is true") for text in given)),
        chain=chain if len(chain) > 1 else (),
        failure=f"{failure.code}: {failure.message}, {failure.place}" if failure else "",
        notes=trace.notes,
        waiting=_waiting(trace),
    )


def _waiting(trace: Trace) -> tuple[Waiting, ...]:
    """Return what waits at the end; the prose of a row that ran stands with its first step."""
    ran = {step.row for step in trace.steps}
    return tuple(
        replace(item, about="") if item.name.partition("(")[0] in ran else item
        for item in trace.waiting
    )


def _known(decisive: Iterable[Reason], bindings: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the values in the parts that decide, each once; what those parts say, left out."""
    found = {
        part: value
        for reason in decisive
        for part, value in reason.values
        if bindings.get(part) != value
        and (reason.value, reason.text) not in {("true", f"{part} == {value}"), (value, part)}
    }
    return tuple(found.items())


def _ending(traces: Iterable[Trace]) -> str:
    """Return what is wrong with the last step, in a sentence; empty for a run that has no end."""
    said = {
        "deadlock": "After this step nothing but a fault can happen.",
        "legal": "This step makes a move that its state table lacks.",
    }
    begun = {
        "deadlock": "Nothing but a fault can happen from the beginning.",
        "legal": "A move that its state table lacks makes the initial state.",
    }
    found = []
    for trace in traces:
        if trace.loop is not None:
            continue
        if trace.failure is not None:
            found.append("Here the evaluation ends with an error.")
        elif not trace.length and trace.kind in begun:
            found.append(begun[trace.kind])
        else:
            found.append(said.get(trace.kind, f"This breaks {trace.property_name}."))
    return " ".join(dict.fromkeys(found))


def _steps(
    traces: list[Trace], way: Journey, result: Result, parts: Iterable[Phase]
) -> tuple[StepView, ...]:
    trace = traces[0]
    told = stories(trace)
    for part in parts:  # each of which is read by itself
        told |= stories(replace(trace, steps=trace.steps[part.first : part.last + 1]))
    firsts = {step.row: step.number for step in reversed(trace.steps)}
    reads = reads_of(traces)
    matter = causes(trace, way, reads)
    designs = designs_read(result.document, result.machine)
    values = {name: format_value(value) for name, value in result.machine.constants}
    found = []
    for step in trace.steps:
        first = firsts[step.row] == step.number
        view = _step(trace, step, reads, first=first)
        aside = bool(matter) and step.number not in matter and bool(step.number)
        found.append(
            replace(
                view,
                told=() if aside or not step.number else _told(view.details),
                lane=way.actors.get(step.number, ""),
                prose=told.get(step.number, ""),
                designs=tuple((name, values[name]) for name in designs.get(step.row, ()) if first),
                matters=matter.get(step.number, ()) or (("the end",) if view.breaks else ()),
                aside=aside,
            )
        )
    if not any(item.telling for view in found for item in view.details):
        return tuple(
            view if view.aside or not view.number else replace(view, told=_first(view.details))
            for view in found
        )
    return tuple(found)


def _first(details: Iterable[Detail]) -> tuple[Detail, ...]:
    """Return the first changes; how often something may still happen says little."""
    plain = (item for item in details if not item.label and not item.place.startswith("budget."))
    return tuple(plain)[:FEW]


def _told(details: Iterable[Detail]) -> tuple[Detail, ...]:
    return tuple(item for item in details if item.telling)[:TELLING]


def _step(trace: Trace, step: Step, reads: tuple[str, ...], *, first: bool) -> StepView:
    details = []
    if len(step.bindings) > 1:
        named = ", ".join(f"{name} = {value}" for name, value in binding_texts(step.bindings))
        details.append(Detail("with", named, "", telling=False))
    details += [
        Detail(event.label, event_name(event), event.channel, _read(event, reads))
        for event in step.events
    ]
    details += [
        Detail("", str(change).replace(" -> ", " → "), change.place, concerns(change, reads))
        for change in step.changes
    ]
    wrong = [
        f"illegal {move.kind}: {move.machine} {move.origin} → {move.target} "
        f"is not in table {move.table}"
        for move in step.illegal
    ]
    wrong += [step.error] if step.error is not None else []
    spans = {action.name: action.span for action in trace.machine.actions}
    span = spans.get(step.row, trace.machine.initial.span)
    return StepView(
        number=step.number,
        name=step_name(step),
        lane="",
        actor=step.actor or "",
        fault=fault_mark(step) if step.fault is not None else "",
        prose="",
        designs=(),
        details=tuple(details),
        told=(),
        wrong=tuple(wrong),
        source=step.source if first else "",
        place=place(span).rpartition(":")[0] if first else "",
        row=step.row,
        breaks=step.number == trace.length and trace.loop is None,
        loop_begins=trace.loop is not None and step.number == trace.loop.start < trace.length,
        outside=step.outside_bounds,
        matters=(),
        aside=False,
    )


def _read(event: Event, reads: Iterable[str]) -> bool:
    """Whether the failed part reads the channel that a message goes into or comes out of."""
    return event.variable in {name.partition("[")[0] for name in reads}


def flattened(machine: Machine, state: State) -> dict[str, str]:
    """Return the places of a state with their values; a variable for each member is several."""
    found: dict[str, str] = {}
    for variable, value in zip(machine.variables, state, strict=True):
        kind: Type = variable.type
        component, dot, rest = variable.name.partition(".")
        if isinstance(kind, Map) and kind.total and isinstance(value, MapValue):
            each = is_of_each(machine, variable)
            for key, item in value.items():
                name = format_value(key)
                place = f"{component}[{name}]{dot}{rest}" if each else f"{variable.name}[{name}]"
                found[place] = format_value(item)
        else:
            found[variable.name] = format_value(value)
    return found


def states_data(machine: Machine, steps: Iterable[Step], traces: Iterable[Trace] = ()) -> str:
    """Return the states of a run for the page's script: the places, and what each step changed.

    With the states of each state table's machines, what each property reads, for filters, and what
    expressions may name.
    """
    places: list[str] = []
    before: dict[str, str] = {}
    changed: list[list[list[object]]] = []
    for step in steps:
        here = before if step.state is None else flattened(machine, step.state)
        known = {name: number for number, name in enumerate(places)}
        for name in here:
            if name not in known:
                known[name] = len(places)
                places.append(name)
        gone: list[list[object]] = [[known[name], None] for name in before if name not in here]
        new: list[list[object]] = [
            [known[name], text] for name, text in here.items() if before.get(name) != text
        ]
        changed.append([*gone, *new])
        before = here
    tables = {table.name: list(table.states) for table in machine.tables}
    machines = {
        variable.name: [
            state if isinstance(state, str) else state[0] for state in tables[variable.table]
        ]
        for variable in machine.variables
        if variable.table is not None and variable.table in tables
    }
    wanted = {trace.property_name for trace in traces}
    reads = {
        item.name: sorted(
            {node.variable for node in walk(item.condition) if isinstance(node, Read)}
        )
        for item in machine.properties
        if item.name in wanted or not wanted
    }
    data = {"places": places, "steps": changed, "machines": machines, "reads": reads}
    data |= vocabulary(machine)
    text = json_text(data, dense=True)
    # Within a script element nothing is escaped: no tag can begin, none can end.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
