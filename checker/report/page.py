"""`index.html` of a report: one run as one page that needs nothing but itself.

The page of a violation begins with the answer: what is broken, why a user should care, what differs
from the specification's defaults, which part of the property failed. Then the story, as a chart and
as steps; the rest is folded. Everything that a specification says is escaped by the template.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from checker.machine.machine import Machine
from checker.report.chart import Chart, chart
from checker.report.headline import (
    claim,
    counts_by_heading,
    headline,
    loop_end,
    loop_text,
    never_fired,
    reason_text,
    stories,
    title,
)
from checker.report.result import Result
from checker.report.sequence import Lanes, lanes
from checker.semantics.values import format_value
from checker.table.document import Constant, Word
from checker.trace.naming import binding_texts, event_name, place, step_name
from checker.trace.trace import Reason, Step, Trace

TICKET = re.compile(r"\bKAFKA-\d+\b")
TICKETS = "https://issues.apache.org/jira/browse/"


@dataclass(frozen=True, slots=True)
class Setting:
    """A constant: its value here, the specification's own, and what it means.

    `chosen` is one that is no number: a variant, not a size.
    """

    name: str
    value: str
    default: str
    about: str
    differs: bool
    chosen: bool


@dataclass(frozen=True, slots=True)
class StepView:
    """A step as it is read: its name and marks, what happened.

    Its row's prose, source and place are given where the row comes first.
    """

    number: int
    name: str
    marks: tuple[str, ...]
    prose: str
    details: tuple[tuple[str, str], ...]
    wrong: tuple[str, ...]
    source: str
    place: str
    breaks: bool
    loop_begins: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What one trace shows: the property, why it matters, why it has the value it has."""

    name: str
    title: str
    why: str
    verb: str
    reasons: tuple[Reason, ...]
    reason_texts: tuple[str, ...]
    failure: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """A run that is shown once, with all that it is the answer to."""

    number: int
    answers: tuple[Answer, ...]
    chart: Chart | None
    steps: tuple[StepView, ...]
    loop_end: str
    loop_text: tuple[str, ...]
    ending: str
    files: tuple[str, ...]


def page(result: Result, files: dict[str, str]) -> str:
    """Return the page of a run; `files` names the ITF file of each property with a trace."""
    machine, verdict = result.machine, result.verdict
    line = headline(machine, result.exploration, verdict)
    said = claim(verdict)
    shown = settings(result)
    return (
        _environment()
        .get_template("page.html")
        .render(
            result=result,
            machine=machine,
            verdict=verdict,
            claim=said,
            extent=line[len(verdict.overall) + 1 :].strip().removeprefix(said).lstrip(", "),
            differing=sorted(
                (item for item in shown if item.differs), key=lambda item: not item.chosen
            ),
            settings=shown,
            stories=story_views(result, files),
            files=files,
            coverage=counts_by_heading(machine, result.exploration),
            never=never_fired(result.exploration),
            sources=_sources(machine),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("checker.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["linked"] = linked
    environment.filters["coord"] = lambda number: f"{number:.1f}".removesuffix(".0")
    for name, file in (("style", "page.css"), ("script", "page.js")):
        # What stands between the tags is allowed to run by its digest, and nothing else is.
        text = "\n" + environment.get_template(file).render()
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        environment.globals[name] = Markup(text)  # noqa: S704 (files of this package)
        environment.globals[f"{name}_digest"] = digest
    return environment


def linked(text: str) -> Markup:
    """Return prose as HTML, with Kafka's tickets as links."""
    pieces: list[str] = []
    end = 0
    for found in TICKET.finditer(text):
        pieces += [escape(text[end : found.start()])]
        pieces += [Markup('<a href="{}{}">{}</a>').format(TICKETS, found[0], found[0])]
        end = found.end()
    return Markup("").join([*pieces, escape(text[end:])])


def settings(result: Result) -> tuple[Setting, ...]:
    """Return the constants of a run in their order, each beside its default."""
    document = result.document
    declared = {constant.name.text: constant for constant in document.constants}
    set_here = {name for name, _ in result.origin.overrides}
    for entry in document.instances:
        if entry.name.text == result.machine.instance:
            set_here |= {name.text for name, _, _ in entry.settings}
    found = []
    for name, value in result.machine.constants:
        constant = declared.get(name)
        here = format_value(value)
        if constant is None:
            found.append(Setting(name, here, "", "", differs=False, chosen=False))
            continue
        default = _default(constant)
        differs = name in set_here if default is None else here != default
        found.append(
            Setting(
                name=name,
                value=here,
                default="computed" if default is None else default,
                about=constant.about,
                differs=differs,
                chosen=isinstance(constant.value, bool | Word),
            )
        )
    return tuple(found)


def _default(constant: Constant) -> str | None:
    """Return a constant's default as the language writes it; None where it is computed."""
    if constant.ids_count is not None:
        return str(constant.ids_count)
    if isinstance(constant.value, Word):
        return constant.value.text
    return None if constant.value is None else format_value(constant.value)


def story_views(result: Result, files: dict[str, str]) -> tuple[Story, ...]:
    """Return the runs that show something wrong; what the same run shows is told together."""
    parties = lanes(result.document, result.machine)
    same: dict[object, list[Trace]] = {}
    for trace in result.failures:
        same.setdefault((trace.states, trace.length, trace.loop), []).append(trace)
    return tuple(
        _story(number, traces, parties, files) for number, traces in enumerate(same.values(), 1)
    )


def _story(number: int, traces: list[Trace], parties: Lanes, files: dict[str, str]) -> Story:
    trace = traces[0]
    told = stories(trace)
    firsts = {step.row: step.number for step in reversed(trace.steps)}
    names = [item.property_name for item in traces]
    return Story(
        number=number,
        answers=tuple(_answer(item) for item in traces),
        chart=chart(trace, parties),
        steps=tuple(
            _step(trace, step, told.get(step.number, ""), first=firsts[step.row] == step.number)
            for step in trace.steps
        ),
        loop_end=loop_end(trace),
        loop_text=tuple(loop_text(trace)),
        ending=_ending(traces),
        files=tuple(files[name] for name in names if name in files),
    )


def _answer(trace: Trace) -> Answer:
    failure = trace.failure
    return Answer(
        name=trace.property_name,
        title=title(trace),
        why=trace.why,
        verb="holds" if trace.kind == "sometimes" else "fails",
        reasons=trace.reasons,
        reason_texts=tuple(reason_text(reason) for reason in trace.reasons),
        failure=f"{failure.code}: {failure.message}, {failure.place}" if failure else "",
        notes=trace.notes,
    )


def _ending(traces: Iterable[Trace]) -> str:
    """Return what is wrong with the last step, in a sentence; empty for a run that has no end."""
    said = {
        "deadlock": "After this step nothing but a fault can happen.",
        "legal": "This step makes a move that its state table lacks.",
    }
    found = []
    for trace in traces:
        if trace.loop is not None:
            continue
        if trace.failure is not None:
            found.append("Here the evaluation ends with an error.")
        else:
            found.append(said.get(trace.kind, f"This breaks {trace.property_name}."))
    return " ".join(dict.fromkeys(found))


def _step(trace: Trace, step: Step, prose: str, *, first: bool) -> StepView:
    marks = [step.actor] if step.actor else []
    marks += [f"fault: {step.fault}"] if step.fault else []
    marks += ["outside the bounds"] if step.outside_bounds else []
    details = []
    if len(step.bindings) > 1:
        named = ", ".join(f"{name} = {value}" for name, value in binding_texts(step.bindings))
        details.append(("with", named))
    details += [(event.label, event_name(event)) for event in step.events]
    details += [("", str(change).replace(" -> ", " → ")) for change in step.changes]
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
        marks=tuple(marks),
        prose=prose,
        details=tuple(details),
        wrong=tuple(wrong),
        source=step.source if first else "",
        place=place(span).rpartition(":")[0] if first else "",
        breaks=step.number == trace.length and trace.loop is None,
        loop_begins=trace.loop is not None and step.number == trace.loop.start < trace.length,
    )


def _sources(machine: Machine) -> list[str]:
    """Return the files of a system, without where this machine keeps them."""
    return ["/".join(source.name.replace("\\", "/").split("/")[-2:]) for source in machine.sources]
