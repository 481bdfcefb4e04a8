"""The report that GitHub renders: Markdown with the steps, a sequence diagram and the tables.

Deterministic: no times, no paths of the machine it was made on, so that a committed report
changes only when what it reports changes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from checker.machine.machine import OF_STEPS, Machine
from checker.report import diagrams
from checker.report.causes import LEFT, OUTSIDE, SENT, causes, reads_of
from checker.report.headline import (
    CALM,
    counted,
    counts_by_heading,
    counts_of,
    fault_mark,
    headline,
    loop_end,
    loop_text,
    never_fired,
    other_title,
    promise_text,
    reason_text,
    stories,
    title,
)
from checker.report.lanes import Lanes, lanes
from checker.report.phases import phases
from checker.report.result import Result
from checker.report.sequence import sequence
from checker.report.telling import grouped, other_file
from checker.report.travels import journey
from checker.report.variants import mended, settings
from checker.search.exploration import Exploration
from checker.semantics.values import format_value
from checker.trace.naming import binding_texts, event_name, place, step_name
from checker.trace.trace import Step, Trace
from checker.verdict.judge import PropertyVerdict
from checker.verdict.vacuity import vacuous
from checker.visible import visible, visible_line

STEPS_DRAWN = 60
LETTERS_DRAWN = 50_000
"""Longer texts Mermaid refuses to draw."""

"""Longer traces get no sequence diagram: renderers refuse very large ones."""


SENTENCE = re.compile(r"(?<=[.;])\s+(?=[A-Z])")

INLINE = re.compile(r"\\.|(?P<code>(?P<run>`+)(?!`).+?(?<!`)(?P=run)(?!`))|`+|\]\(")
"""What Markdown looks at within a line: an escape, a code span, lone backticks, a link."""

BEGINS_A_BLOCK = re.compile(
    r"^(?=#{1,6}( |$)|>|~~~|[-+*]( |$)|(?P<rule>[-*_])( ?(?P=rule))*$|==+$|\[([ xX]\] |.*\]:))"
    r"|^\d{1,9}(?=[.)]( |$))"
)
"""What comes before the character by which a line of prose would be a heading, a quotation, a block
of code, an item of a list, a rule, or a definition."""

CAUSES_SHOWN = 3
"""Changes of a step that are named where it is said why it happened."""


def report(result: Result, files: Mapping[str, str]) -> str:
    """Return the report of one run; `files` names the ITF file of each property with a trace."""
    machine, verdict = result.machine, result.verdict
    claim = headline(machine, result.exploration, verdict)[len(verdict.overall) :]
    lines = [
        f"# {machine.name}, instance {machine.instance}",
        "",
        f"**{verdict.overall}**{claim}",
        "",
        *paragraph(machine.about),
        *paragraph(result.about),
        *_differing(result),
        "Check it again:",
        "",
        *fenced("sh", result.origin.command),
    ]
    parties = lanes(result.document, machine)
    for traces in grouped(result.failures):
        lines += _traces(traces, files, parties)
        lines += [CALM, ""] if any(item.property_name in result.calm for item in traces) else []
    for number, trace in enumerate(result.others, 1):
        lines += _other(trace, number, parties)
    why = verdict.why_undecided
    lines += ["## Properties", ""]
    lines += table(
        ("property", "kind", "verdict", "steps", "why a user should care"),
        [
            (code(item.name), item.kind, _outcome(item, why), _steps(item, files), text(item.why))
            for item in verdict.properties
        ],
    )
    lines += [f"Unknown: {text(why)}.", ""] if why else []
    found = vacuous(result.looked)
    lines += ["## Vacuous", ""] if found else []
    lines += [f"* {text(place(item.span))}: {text(str(item))}" for item in found]
    lines += [""] if found else []
    lines += _constants(machine)
    lines += _left_out(result)
    lines += _coverage(machine, result.exploration)
    if machine.warnings:
        lines += ["## Warnings", ""]
        lines += [
            f"* {item.code}, {text(place(item.span))}: {text(item.message)}"
            for item in machine.warnings
        ]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _differing(result: Result) -> list[str]:
    """Return what differs from the variant in which the broken properties hold, or the defaults."""
    broken = [item.declared or item.name for item in result.verdict.broken]
    if not broken:
        return []
    found = mended(result, broken)
    compared = found.settings if found else [item for item in settings(result) if item.differs]
    if not compared:
        return []
    rows = [
        (code(item.name), code(item.value), code(item.default), text(item.about))
        for item in sorted(compared, key=lambda item: not item.chosen)
    ]
    head = ("constant", "here", "there" if found else "default", "meaning")
    other = f"{code(found.name)}, which holds" if found else "the specification's defaults"
    return [f"What differs from {other}:", "", *table(head, rows)]


def _left_out(result: Result) -> list[str]:
    """Return what the model leaves out, the first sentence of each, folded."""
    left_out = result.document.abstractions if result.verdict.broken else ()
    if not left_out:
        return []
    told = [f"* {text(SENTENCE.split(item, maxsplit=1)[0])}" for item in left_out]
    summary = "<summary>Left out of the model, each in a sentence</summary>"
    return ["<details>", summary, "", *told, "", "</details>", ""]


def _why(traces: Sequence[Trace], parties: Lanes) -> list[str]:
    """Return the steps that what failed depends on; nothing where all do, or it is unknown."""
    trace = traces[0]
    found = causes(trace, journey(trace, parties), reads_of(traces))
    if not found or len(found) == trace.length:
        return []
    some = f"{len(found)} of {trace.length} steps changed what the failed part reads or could have,"
    lines = [
        f"Why it happened: {some} sent what such a step received, or came from outside.",
        "",
    ]
    for step in trace.steps:
        if step.number in found:
            told = "; ".join(
                text(item) if item.startswith((SENT, OUTSIDE, LEFT)) else code(item)
                for item in found[step.number][:CAUSES_SHOWN]
            )
            more = len(found[step.number]) - CAUSES_SHOWN
            told += f" and {more} more" if more > 0 else ""
            lines.append(
                f"* step {step.number}, {code(step_name(step))}" + f": {told}" * bool(told)
            )
    return [*lines, ""]


def _traces(traces: Sequence[Trace], files: Mapping[str, str], parties: Lanes) -> list[str]:
    """Tell one run, with all that is wrong with it."""
    lines = []
    for trace in traces:
        lines += [f"## {text(title(trace))}", "", *paragraph(trace.why)]
        failure = trace.failure
        if failure is not None:
            lines += [f"**{failure.code}**: {text(failure.message)}, {text(failure.place)}", ""]
        if trace.reasons:
            where = "step" if trace.kind in OF_STEPS and trace.length else "state"
            reasons = fenced("text", "\n".join(_reason_lines(trace)))
            lines += [f"In the last {where}:", "", *reasons]
        lines += [f"* {text(str(waiting))}" for waiting in trace.waiting]
        lines += [f"* {text(note)}" for note in trace.notes]
        lines += [""] if trace.notes or trace.waiting else []
    lines += _why(traces, parties)
    trace = traces[0]
    told = stories(trace)
    for step in trace.steps:
        lines += _step(step, told.get(step.number, ""))
        if trace.loop is not None and step.number == trace.loop.start < trace.length:
            lines.append("   * **the loop begins here**")
    if trace.loop is not None:
        lines += ["", f"**{loop_end(trace)}**", ""]
        lines += [f"* {text(line)}" for line in (*loop_text(trace), *promise_text(trace))]
    lines.append("")
    lines += _travelled(trace, parties)
    lines += _visited(trace)
    named = [files[item.property_name] for item in traces if item.property_name in files]
    for file in dict.fromkeys(named):
        lines += [f"The trace as ITF JSON: [{file}]({file})", ""]
    return lines


def _travelled(trace: Trace, parties: Lanes) -> list[str]:
    """Draw what was sent; of a run that Mermaid cannot draw whole, the last part."""
    first, heading = 1, "### What travelled"
    if trace.length > STEPS_DRAWN:
        first = phases(trace)[-1].first
        heading += f" from step {first} on"
    drawing = sequence(trace, parties, first)
    if not any(step.events for step in trace.steps[first:]) or len(drawing) > LETTERS_DRAWN:
        return []
    return [heading, "", *fenced("mermaid", drawing)]


def _other(trace: Trace, number: int, parties: Lanes) -> list[str]:
    """Tell a further run in short: its steps by name, and what travelled."""
    lines = [f"## Another shortest run: {text(other_title(trace))}", ""]
    lines += [f"{step.number}. {code(step_name(step))}" for step in trace.steps]
    lines += ["", f"**{loop_end(trace)}**"] if trace.loop is not None else []
    lines.append("")
    if trace.length <= STEPS_DRAWN and any(step.events for step in trace.steps):
        lines += fenced("mermaid", sequence(trace, parties))
    file = other_file(trace, number)
    return [*lines, f"As ITF JSON: [{file}]({file})", ""]


def _reason_lines(trace: Trace) -> list[str]:
    verb = "holds" if trace.kind == "sometimes" else "fails"
    lines = [f"{trace.property_name} {verb} because"]
    for reason in trace.reasons:
        indent = "  " * (reason.depth + 1)
        lines.append(indent + reason_text(reason))
        if reason.bindings:
            named = ", ".join(f"{name} = {value}" for name, value in reason.bindings)
            lines.append(f"{indent}  for {named}")
        lines += [f"{indent}  {part} is {value}" for part, value in reason.values]
    return lines


def _step(step: Step, story: str) -> list[str]:
    marks = [f"actor {step.actor}"] if step.actor else []
    marks += [fault_mark(step)] if step.fault else []
    marks += ["outside the bounds"] if step.outside_bounds else []
    lines = [f"{step.number}. {code(step_name(step))}" + (f" ({', '.join(marks)})" * bool(marks))]
    lines[0] += f": {text(story)}" * bool(story)
    if len(step.bindings) > 1:
        named = ", ".join(f"{name} = {value}" for name, value in binding_texts(step.bindings))
        lines.append(f"   * with {code(named)}")
    lines += [f"   * {event.label} {code(event_name(event))}" for event in step.events]
    lines += [f"   * {code(str(change))}" for change in step.changes]
    lines += [
        f"   * **illegal {move.kind}**: {code(move.machine)} {move.origin} to {move.target} "
        f"is not in table {move.table}"
        for move in step.illegal
    ]
    if step.error is not None:
        lines.append(f"   * **{text(step.error)}**")
    return lines


def _visited(trace: Trace) -> list[str]:
    """Draw each table of which a machine moved, with the states and moves of the trace."""
    steps: dict[str, dict[diagrams.Move, list[int]]] = defaultdict(lambda: defaultdict(list))
    for step in trace.steps:
        for move in step.moves:
            steps[move.table][move.origin, move.target].append(step.number)
    lines = []
    for name in sorted(steps):
        moves = {move: tuple(dict.fromkeys(numbers)) for move, numbers in steps[name].items()}
        visited = sorted({state for move in moves for state in move})
        drawing = diagrams.mermaid(trace.machine.table(name), visited, moves)
        lines += [f"### Table {name}, with the moves of these steps", ""]
        lines += fenced("mermaid", drawing)
    return lines


def _constants(machine: Machine) -> list[str]:
    lines = ["## Constants", ""]
    lines += table(
        ("constant", "value"),
        [(code(name), code(format_value(value))) for name, value in machine.constants],
    )
    if machine.budgets:
        lines += ["Faults happen at most so often:", ""]
        lines += table(
            ("fault", "budget"), [(code(name), str(count)) for name, count in machine.budgets]
        )
    return lines


def _coverage(machine: Machine, exploration: Exploration) -> list[str]:
    told, heads = counted(exploration)
    lines = ["## Coverage", "", told, ""]
    rows: list[tuple[str, ...]] = []
    for heading, counts in counts_by_heading(machine, exploration):
        rows += [(f"*{text(heading)}*", *("" for _ in heads))] if heading else []
        rows += [(code(row.row), *counts_of(exploration, row)) for row in counts]
    lines += table(("row", *heads), rows)
    never = never_fired(exploration)
    if never:
        when = "Never fired" if exploration.exhaustive else "Not fired before the search stopped"
        lines += [f"{when}: {', '.join(code(name) for name in never)}.", ""]
    return lines


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[int] = ()
) -> list[str]:
    """Return the lines of a Markdown table and an empty line; nothing where there are no rows.

    The columns in `right` are of numbers, one below the other.
    """
    body = [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    if not body:
        return ["(none)", ""]
    marks = ("---:" if place in right else "---" for place in range(len(headings)))
    return [f"| {' | '.join(headings)} |", f"| {' | '.join(marks)} |", *body, ""]


def _cell(content: str) -> str:
    """Return a cell on one line; a backslash more before a bar would take back the one it needs."""
    told = re.sub(r"\\*\|", lambda bar: "\\" * (2 - len(bar[0]) % 2) + bar[0], content)
    return visible_line(told)


def fenced(language: str, content: str) -> list[str]:
    """Return a fenced code block and an empty line."""
    fence = "`" * max(3, _longest_run(content) + 1)
    return [f"{fence}{language}", visible(content.rstrip("\n")), fence, ""]


def paragraph(content: str) -> list[str]:
    """Return prose as a paragraph and an empty line; nothing where there is none."""
    return [text(content), ""] if content.strip() else []


def code(content: str) -> str:
    """Return a code span on one line; it may hold backticks."""
    fence = "`" * (_longest_run(content) + 1)
    pad = " " if len(fence) > 1 else ""
    return f"{fence}{pad}{visible_line(content)}{pad}{fence}"


def _longest_run(content: str) -> int:
    """Return how many backticks follow each other somewhere."""
    return max(map(len, re.findall("`+", content)), default=0)


def text(content: str) -> str:
    """Return prose on one line, in which only code spans and emphasis mean something.

    Nothing in it is HTML, a link or an image, or begins a block, wherever a line begins with it.
    """
    line = visible(" ".join(content.split())).replace("<", "&lt;")
    return BEGINS_A_BLOCK.sub(r"\g<0>\\", INLINE.sub(_as_it_stands, line), count=1)


def _as_it_stands(found: re.Match[str]) -> str:
    """Return what stands for itself: backticks that are closed nowhere, what would be a link."""
    if found[0] == "](":
        return r"]\("
    return found[0] if found["code"] or found[0][0] == "\\" else found[0].replace("`", r"\`")


def _outcome(item: PropertyVerdict, told: str) -> str:
    """Return what is said of a property, and why that is unknown, unless that is `told` anyway."""
    if item.outcome == "unknown" and item.reason not in {"", told}:
        return f"{item.outcome}: {text(item.reason)}"
    return f"{item.outcome} {item.reason}" if item.within_bounds else item.outcome


def _steps(item: PropertyVerdict, files: Mapping[str, str]) -> str:
    """Return the length of a property's trace, as a link to it where there is a file."""
    if item.length is None:
        return ""
    return f"[{item.length}]({files[item.name]})" if item.name in files else str(item.length)
