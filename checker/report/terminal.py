"""The report for the terminal: verdict, steps, why the property failed, coverage, warnings.

At most 100 columns; without colour in pipes and CI. Text of a specification is never read as
markup, so that brackets in it stay what they are.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from checker.errors import Diagnostic
from checker.machine.machine import Machine
from checker.report.headline import (
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
    unknown_text,
)
from checker.report.result import Result
from checker.search.exploration import Exploration
from checker.semantics.successor import IllegalTransition
from checker.trace.naming import binding_texts, event_name, step_name
from checker.trace.trace import Reason, Step, Trace
from checker.verdict.judge import Verdict
from checker.verdict.vacuity import vacuous
from checker.visible import visible

if TYPE_CHECKING:
    from checker.report.dashboard import Line  # what writes pages is slow to import

WIDTH = 100
COLOURS = {
    "holds": "bold green",
    "witnessed": "green",
    "bounded": "bold yellow",
    "inconclusive": "bold yellow",
    "unknown": "yellow",
    "violated": "bold red",
    "unwitnessed": "bold red",
}


def console(file: TextIO | None = None) -> Console:
    """Return a console for results on `file`, by default stdout."""
    file = file or sys.stdout
    terminal = file.isatty()
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 40)).columns) if terminal else WIDTH
    return _Visible(file=file, width=max(width, 40), highlight=False, markup=False, emoji=False)


class _Visible(Console):
    """A console on which only the checker's own styles act, whatever is in a text."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Yield what is printed, texts as they can be seen."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text as it can be seen, so that it is measured as it will be."""
        return super().render_str(visible(text), **options)


def print_result(out: Console, result: Result, witnesses: tuple[str, ...] = ()) -> None:
    """Print everything about one run; `witnesses` names the reached properties to show as well."""
    line = headline(result.machine, result.exploration, result.verdict)
    _print_indented(out, line, 0, COLOURS[result.verdict.overall])
    if result.about:
        _print_indented(out, result.about, 0, "italic")
    _print_properties(out, result.verdict)
    for trace in result.traces:
        if trace.kind != "sometimes" or trace.property_name in witnesses:
            out.print()
            print_trace(out, trace)
    for trace in result.others:
        out.print()
        out.print(Text(f"another shortest run: {other_title(trace)}", style="bold"))
        for step in trace.steps:
            print_step(out, step)
    out.print()
    if result.exploration.stopped_by == "violation":
        _print_coverage_so_far(out, result.exploration)
    else:
        _print_coverage(out, result.machine, result.exploration)
    print_warnings(out, result.machine.warnings)
    for item in vacuous(result.looked):
        _print_indented(out, f"vacuous {item.span}: {item}", 0, "yellow")


def print_trace(out: Console, trace: Trace) -> None:
    """Print a trace: its numbered steps, then why the property has the value it has."""
    out.print(Text(title(trace), style="bold"))
    if trace.why:
        _print_indented(out, trace.why, 2, "italic")
    told = stories(trace)
    for step in trace.steps:
        print_step(out, step, told.get(step.number, ""))
        if trace.loop is not None and step.number == trace.loop.start < trace.length:
            out.print(Text("      the loop:", style="bold yellow"))
    if trace.loop is not None:
        out.print(Text(f"      {loop_end(trace)}", style="bold yellow"))
        for line in (*loop_text(trace), *promise_text(trace)):
            _print_indented(out, line, 8, "yellow")
    failure = trace.failure
    if failure is not None and failure.row is None:
        _print_indented(out, f"{failure.code}: {failure.message} at {failure.place}", 4, "red")
    if trace.reasons:
        verb = "holds" if trace.kind == "sometimes" else "fails"
        out.print(Text(f"{trace.property_name} {verb} here because", style="bold"))
        for reason in trace.reasons:
            _print_reason(out, reason)
    for waiting in trace.waiting:
        _print_indented(out, str(waiting), 0, "yellow")
    for note in trace.notes:
        _print_indented(out, f"note: {note}", 0, "yellow")


def _print_properties(out: Console, verdict: Verdict) -> None:
    if not verdict.properties:
        return
    table = _table("property", "kind", "verdict", "steps")
    for item in verdict.properties:
        steps = "" if item.length is None else str(item.length)
        table.add_row(item.name, item.kind, Text(item.outcome, style=COLOURS[item.outcome]), steps)
    out.print(table)
    for item in verdict.properties:
        if item.within_bounds:
            _print_indented(out, f"{item.name} holds {item.reason}", 0, "yellow")
    for item in verdict.unknown_liveness:
        if item.reason:
            _print_indented(out, f"unknown: {unknown_text(item)}", 0, "yellow")


def print_step(out: Console, step: Step, story: str = "") -> None:
    """Print one step: its name and marks, what it sent, received and changed."""
    heading = Text(f"{step.number:>4}  ")
    heading.append(step_name(step), style="bold cyan")
    marks = [f"actor {step.actor}"] if step.actor else []
    marks += [fault_mark(step)] if step.fault else []
    marks += ["outside the bounds"] if step.outside_bounds else []
    if marks:
        heading.append(f"   [{', '.join(marks)}]", style="dim")
    out.print(heading)
    if story:
        _print_indented(out, story, 6, "italic")
    for text, style in step_details(step):
        _print_indented(out, text, 8, style)


def step_details(step: Step) -> list[tuple[str, str]]:
    """Return the lines under a step's name, each with its rich style."""
    lines = []
    if len(step.bindings) > 1:
        named = [f"{name} = {value}" for name, value in binding_texts(step.bindings)]
        lines.append(("with " + ", ".join(named), "dim"))
    lines += [(f"{event.label} {event_name(event)}", "magenta") for event in step.events]
    lines += [(str(change), "") for change in step.changes]
    if step.number and not step.changes and not step.events and step.error is None:
        lines.append(("nothing changes", "dim"))
    lines += [(illegal_text(move), "bold red") for move in step.illegal]
    if step.error is not None:
        lines.append((step.error, "bold red"))
    return lines


def illegal_text(move: IllegalTransition) -> str:
    """Return a sentence on a move that its table lacks."""
    arrow = f"{move.machine} {move.origin} -> {move.target}"
    return f"illegal {move.kind}: {arrow} is not in table {move.table}"


def _print_reason(out: Console, reason: Reason) -> None:
    indent = 4 + 2 * reason.depth
    _print_indented(out, reason_text(reason), indent, "red")
    if reason.bindings:
        named = ", ".join(f"{name} = {value}" for name, value in reason.bindings)
        _print_indented(out, f"for {named}", indent + 2, "cyan")
    for text, value in reason.values:
        _print_indented(out, f"{text} is {value}", indent + 2, "")
    if reason.values and reason.place:
        _print_indented(out, f"at {reason.place}", indent + 2, "dim")


def _print_indented(out: Console, text: str, indent: int, style: str) -> None:
    for number, line in enumerate(Text(text).wrap(out, max(out.width - indent - 2, 20))):
        out.print(Text(" " * (indent + 2 * (number > 0)) + line.plain.rstrip(), style=style))


def _print_coverage(out: Console, machine: Machine, exploration: Exploration) -> None:
    heads = counted(exploration)[1]
    table = _table("row", *heads)
    for heading, rows in counts_by_heading(machine, exploration):
        if heading:
            table.add_row(Text(heading, style="italic"), *("" for _ in heads))
        for row in rows:
            name = f"  {row.row}" if heading else row.row
            table.add_row(name, *counts_of(exploration, row))
    out.print(table)
    never = never_fired(exploration)
    if never:
        reason = "never" if exploration.exhaustive else "not yet"
        _print_indented(out, f"{reason} fired: {', '.join(never)}", 0, "yellow")


def _print_coverage_so_far(out: Console, exploration: Exploration) -> None:
    """One line: a search that stopped at a violation says little about what can fire."""
    fired = sum(row.fired > 0 for row in exploration.rows)
    text = f"{fired} of {len(exploration.rows)} rows fired before the search stopped"
    out.print(Text(text, style="dim"))


def print_outcomes(out: Console, lines: Sequence[Line]) -> None:
    """Print one line for each verified instance, below the name of its system."""
    wide = max((len(line.instance) for line in lines), default=0)
    for system in dict.fromkeys(line.system for line in lines):
        out.print(Text(system, style="bold"))
        for line in (line for line in lines if line.system == system):
            mark, style = ("ok", "green") if line.met else ("NO", "bold red")
            head = f"  {mark}  {line.instance:<{wide}}  {_figures(line):>26}  "
            texts = textwrap.wrap(
                line.verdict, max(out.width - len(head), 20), break_long_words=False
            )
            out.print(Text(f"  {mark}", style=style) + Text(head[4:]), end="", soft_wrap=True)
            out.print(f"\n{' ' * len(head)}".join(texts), soft_wrap=True)
            for text in line.unlike:
                _print_indented(out, text, 6, "")


def _figures(line: Line) -> str:
    if line.distinct is None:
        return ""
    return f"{line.distinct:,} states, depth {line.depth or 0:>2}"


def print_warnings(out: Console, warnings: Iterable[Diagnostic]) -> None:
    """Print lints, one line each with their place."""
    for warning in warnings:
        text = f"warning[{warning.code}] {warning.span}: {warning.message}"
        _print_indented(out, text, 0, "yellow")


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        numeric = heading in {"steps", "enabled", "fired", "new", "taken"}
        table.add_column(
            heading,
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=numeric,
        )
    return table
